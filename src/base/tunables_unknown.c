/* What looks like a tunable and is none: variables of the environment that set nothing, and the
 * names they may have been meant to be. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/arith.h"
#include "base/tunables.h"

enum { LONGEST = 64, FARTHEST = 2 };

static const char prefix[] = "WEIR_";

/* How many letters to change, add, drop or swap with the next one, to get from one to the other. */
static int64_t distance(const char *a, const char *b)
{
    int64_t d[LONGEST][LONGEST];
    const size_t n = strlen(a), m = strlen(b);
    if (n >= LONGEST || m >= LONGEST)
        return LONGEST;
    for (size_t i = 0; i <= n; i++)
        for (size_t j = 0; j <= m; j++) {
            if (!i || !j) {
                d[i][j] = (int64_t)(i + j);
                continue;
            }
            d[i][j] = wr_min(wr_min(d[i - 1][j], d[i][j - 1]) + 1,
                             d[i - 1][j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                d[i][j] = wr_min(d[i][j], d[i - 2][j - 2] + 1);
        }
    return d[n][m];
}

const char *wr_tunables_similar(const char *name)
{
    const char *best = NULL;
    int64_t nearest = wr_min(FARTHEST, (int64_t)strlen(name) / 3) + 1;
    for (const wr_tunable_alias *a = wr_tunable_aliases; a->key; a++)
        if (a->foreign && !strcmp(a->key, name))
            return a->names[0];
    for (const wr_tunable *t = wr_tunable_table; t->name; t++) {
        int64_t far = distance(name, t->name);
        if (far < nearest) {
            nearest = far;
            best = t->name;
        }
    }
    return best;
}

/* Whether WEIR_NAME means something, to the library or to its tests and measurements. */
static bool is_known(const char *name)
{
    static const char *const others[] = {"test_", "bench_"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (!strncmp(name, others[i], strlen(others[i])))
            return true;
    if (!strcmp(name, "hints"))
        return true;
    for (const wr_tunable *t = wr_tunable_table; t->name; t++)
        if (!strcmp(t->name, name))
            return true;
    for (const wr_tunable_alias *a = wr_tunable_aliases; a->key; a++)
        if (!a->foreign && !strcmp(a->key, name))
            return true;
    return false;
}

/* The name of a variable WEIR_NAME=..., in small letters; false: it is another one. */
static bool read_name(const char *variable, char *name)
{
    const size_t skipped = sizeof prefix - 1, length = strcspn(variable, "=");
    if (strncmp(variable, prefix, skipped) != 0 || length - skipped >= LONGEST)
        return false;
    for (size_t i = skipped; i < length; i++)
        *name++ = (char)tolower((unsigned char)variable[i]);
    *name = '\0';
    return true;
}

static void describe(const char *variable, const char *similar, char *line, size_t size)
{
    char meant[LONGEST] = "";
    for (size_t i = 0; similar && similar[i] && i + 1 < LONGEST; i++)
        meant[i] = (char)toupper((unsigned char)similar[i]);
    snprintf(line, size, "%.*s in the environment sets nothing%s%s%s", (int)strcspn(variable, "="),
             variable, similar ? ": is it to be WEIR_" : "", meant, similar ? "?" : "");
}

bool wr_tunables_unknown(int index, char *line, size_t size)
{
    char name[LONGEST];
    for (char **at = environ; at && *at; at++)
        if (read_name(*at, name) && !is_known(name) && index-- == 0) {
            describe(*at, wr_tunables_similar(name), line, size);
            return true;
        }
    return false;
}

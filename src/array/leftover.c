/* Names that the library gives to what is not finished, or is only needed while it works; each ends
 * with a number of its own. */
#include <stddef.h>
#include <string.h>

#include "weir/files.h"

static const struct {
    const char *before; /* the number */
    int digits;         /* hexadecimal; 0: numbers with lines between them */
    int starts;         /* 1: the name begins so; otherwise something is before it */
    const char *what;
} kinds[] = {
    {".partial-", 8, 0, "an array that was not finished"},
    {".partial-", 8, 1, "an array that was not finished"},
    {".dra-", 8, 0, "a label of a disk resident array that did not get its name"},
    {".pointers-", 15, 0, "shared pointers of a file"},
    {".weir-", 16, 0, "a striped file that did not get its name"},
    {".weir-", 16, 1, "a probe of whether a folder is shared"},
    {".weir-costs-", 0, 1, "a file that was measured with"},
    {".weir-doctor-", 0, 1, "a file that weir doctor measured with"},
};

static const char hexadecimal[] = "0123456789abcdef";

/* Whether the rest of a name is such a number. */
static int is_number(const char *rest, int digits)
{
    const size_t length = strlen(rest);
    if (digits)
        return length == (size_t)digits && strspn(rest, hexadecimal) == length;
    return length > 2 && strspn(rest, "0123456789abcdef-") == length;
}

const char *weir_leftover_kind(const char *name)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const char *at = name, *found = NULL;
        while ((at = strstr(at, kinds[i].before)))
            found = at++;
        if (found && (found == name) == kinds[i].starts &&
            is_number(found + strlen(kinds[i].before), kinds[i].digits))
            return kinds[i].what;
    }
    return NULL;
}

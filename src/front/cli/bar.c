/* Texts of progress: each picture of a bar overwrites the one before, with blanks where that was
 * longer. */
#include "bar.h"

#include <string.h>
#include <time.h>

#include "terminal.h"

enum { CELLS = 30, FEWEST = 5 };
static const double interval = 0.2;

double cli_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

void cli_bar_init(cli_bar *bar, FILE *out, const char *name, int64_t bytes, bool lines)
{
    *bar =
        (cli_bar){.out = out, .name = name, .lines = lines, .bytes = bytes, .begun = cli_seconds()};
    bar->shown = bar->begun - (lines ? 0 : interval);
}

static void format_time(char *text, size_t size, double seconds)
{
    const long long s = (long long)(seconds + 0.5), hours = s / 3600;
    if (hours)
        snprintf(text, size, "%lld:%02d:%02d", hours, (int)(s / 60 % 60), (int)(s % 60));
    else
        snprintf(text, size, "%d:%02d", (int)(s / 60), (int)(s % 60));
}

/* What is known of how it goes: "42 %  900 MB/s  0:12 left", "7 iterations  900 MB/s  0:12 so far".
 */
static void describe(const cli_bar *bar, int64_t done, int64_t all, double spent, char *text)
{
    const char *gap = bar->lines ? ", " : "  ";
    const double times = (double)done / (all > 0 ? (double)all : 1);
    const double part = all > 0 && times > 1 ? 1 : times;
    char begun[60], rate[60] = "", time[40];
    if (all > 0)
        snprintf(begun, sizeof begun, "%3d %%", (int)(part * 100));
    else
        snprintf(begun, sizeof begun, "%lld iterations", (long long)done);
    const bool known = part > 0 && spent > 0;
    if (known)
        snprintf(rate, sizeof rate, "%s%.0f MB/s", gap, (double)bar->bytes * part / spent / 1e6);
    format_time(time, sizeof time, all > 0 && known ? spent / part - spent : spent);
    if (all > 0 && !known)
        snprintf(text, CLI_BAR_LONGEST, "%s", begun);
    else
        snprintf(text, CLI_BAR_LONGEST, "%s%s%s%s %s", begun, rate, gap, time,
                 all > 0 ? "left" : "so far");
}

static void show(cli_bar *bar, const char *text)
{
    const int most = cli_terminal_columns(bar->out) - 1;
    int length = (int)strlen(text);
    length = length < most ? length : most;
    fprintf(bar->out, "\r%.*s%*s", length, text, bar->visible > length ? bar->visible - length : 0,
            "");
    fflush(bar->out);
    bar->visible = length;
}

/* In few columns first the bar goes, then the name. A part below 0 has no bar. */
static void show_part(cli_bar *bar, double part, const char *told)
{
    char text[2 * CLI_BAR_LONGEST];
    const int most = cli_terminal_columns(bar->out) - 1;
    const int left = most - (int)(strlen(bar->name) + strlen(told)) - 4;
    const int cells = part < 0 ? 0 : left < CELLS ? left : CELLS;
    int used = left >= -3 ? snprintf(text, sizeof text, "%s ", bar->name) : 0;
    if (cells >= FEWEST) {
        text[used++] = '[';
        for (int i = 0; i < cells; i++)
            text[used++] = i < (int)(part * cells) ? '#' : '.';
        text[used++] = ']';
        text[used++] = ' ';
    }
    snprintf(text + used, sizeof text - (size_t)used, "%s", told);
    show(bar, text);
}

void cli_bar_draw(void *user, int64_t done, int64_t all)
{
    cli_bar *bar = user;
    char told[CLI_BAR_LONGEST];
    const double now = cli_seconds();
    if (now - bar->shown < (bar->lines ? CLI_BAR_MINUTE : interval))
        return;
    bar->shown = now;
    describe(bar, done, all, now - bar->begun, told);
    if (bar->lines)
        fprintf(bar->out, "weir %s: %s\n", bar->name, told + strspn(told, " "));
    else
        show_part(bar, all > 0 ? (double)done / (double)all : -1, told);
}

void cli_bar_say(cli_bar *bar, const char *text)
{
    char told[CLI_BAR_LONGEST];
    snprintf(told, sizeof told, "%s: %s", bar->name, text);
    if (bar->visible)
        show(bar, told);
}

void cli_bar_erase(cli_bar *bar)
{
    if (!bar->visible)
        return;
    fprintf(bar->out, "\r%*s\r", bar->visible, "");
    fflush(bar->out);
    bar->visible = 0;
}

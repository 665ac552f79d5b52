/* Drawing of the bar: each picture overwrites the one before. */
#include "bar.h"

#include <mpi.h>
#include <stdio.h>

enum { CELLS = 30 };
static const double interval = 0.2;

void cli_bar_init(cli_bar *bar, const char *name, int64_t bytes)
{
    *bar = (cli_bar){.name = name, .bytes = bytes, .begun = MPI_Wtime()};
    bar->shown = bar->begun - interval;
}

static void draw_time(double seconds)
{
    const long long s = (long long)(seconds + 0.5), hours = s / 3600;
    if (hours)
        fprintf(stderr, "%lld:%02d", hours, (int)(s / 60 % 60));
    else
        fprintf(stderr, "%d", (int)(s / 60));
    fprintf(stderr, ":%02d", (int)(s % 60));
}

static void draw_part(const cli_bar *bar, double part, double spent)
{
    part = part < 1 ? part : 1;
    fputc('[', stderr);
    for (int i = 0; i < CELLS; i++)
        fputc(i < (int)(part * CELLS) ? '#' : '.', stderr);
    fprintf(stderr, "] %3d %%", (int)(part * 100));
    if (part > 0 && spent > 0) {
        fprintf(stderr, "  %.0f MB/s  ", (double)bar->bytes * part / spent / 1e6);
        draw_time(spent / part - spent);
        fputs(" left", stderr);
    }
}

static void draw_iterations(const cli_bar *bar, int64_t done, double spent)
{
    fprintf(stderr, "%lld iterations", (long long)done);
    if (done > 0 && spent > 0)
        fprintf(stderr, "  %.0f MB/s", (double)bar->bytes * (double)done / spent / 1e6);
    fputs("  ", stderr);
    draw_time(spent);
    fputs(" so far", stderr);
}

void cli_bar_draw(void *user, int64_t done, int64_t all)
{
    cli_bar *bar = user;
    const double now = MPI_Wtime(), spent = now - bar->begun;
    if (now - bar->shown < interval)
        return;
    bar->shown = now;
    bar->visible = true;
    fprintf(stderr, "\r%s ", bar->name);
    if (all > 0)
        draw_part(bar, (double)done / (double)all, spent);
    else
        draw_iterations(bar, done, spent);
    fputs("\033[K", stderr);
}

void cli_bar_erase(cli_bar *bar)
{
    if (bar->visible)
        fputs("\r\033[K", stderr);
    bar->visible = false;
}

/* Charts of a page. The plot is an SVG that stretches to the width there is; labels of axes are
 * HTML beside it, so that their letters do not. */
#ifndef WR_CLI_REPORT_CHART_H
#define WR_CLI_REPORT_CHART_H

#include "report_job.h"

enum { CHART_LEVELS = 8 };
enum { CHART_RANKS, CHART_OFFSETS, CHART_RATES };

/* A map of lines by columns, first line at the bottom, coloured by bytes per second. */
typedef struct chart_map {
    const double *bytes; /* JOB_COLUMNS to a line */
    int lines, columns;
    double seconds; /* of a column */
    double per;     /* what a line is divided by: its ranks, or 1 */
} chart_map;

/* A plot as wide as the page, between chart_begin and chart_end, and its axes. */
typedef struct chart_frame {
    const char *label;  /* for those who cannot see it */
    const char *unit;   /* of the axis on its left */
    int height;         /* px */
    int columns, lines; /* of the plot's own coordinates */
    double time, top;   /* ns at its right edge, and what is at the upper one */
    int axis;           /* what the one on its left has */
    double count;       /* of ranks, from the bottom to the top */
} chart_frame;

void chart_begin(FILE *f, const chart_frame *c);
void chart_end(FILE *f, const chart_frame *c);

/* The level that has the largest rate of maps: the power of two at its upper end, bytes per
 * second. */
double chart_scale(const chart_map *maps, int count);
void chart_put_map(FILE *f, const chart_map *m, double scale);
void chart_put_scale(FILE *f, double scale, const char *what);

/* Bands of phases, `band` lines of the plot each, stacked from the bottom: access, exchange, wait,
 * the program's own time. */
void chart_put_bands(FILE *f, const report_job *job, int band);

/* What all ranks read and write, one on top of the other; `scale` is at the upper edge, bytes per
 * second. */
double chart_total_scale(const report_job *job);
void chart_put_totals(FILE *f, const report_job *job, const chart_frame *c);

#endif

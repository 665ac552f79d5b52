/* A picture in memory: rectangles, and lines and text with smooth edges. */
#ifndef WR_CLI_CANVAS_H
#define WR_CLI_CANVAS_H

#include <stddef.h>

#include "colours.h"

typedef struct cli_canvas {
    int width, height;
    cli_colour *pixel;            /* by rows; owned, like the next */
    unsigned char *ink;           /* how much of each pixel the stroke under way covers */
    int left, top, right, bottom; /* what of these may not be 0 */
} cli_canvas;

/* All white. Returns 0, or WEIR_ENOMEM; to be released either way. */
int cli_canvas_init(cli_canvas *canvas, int width, int height);
void cli_canvas_release(cli_canvas *canvas);

/* Pixels [left, right) of rows [top, bottom), as far as there are such. */
typedef struct cli_box {
    int left, top, right, bottom;
} cli_box;

void cli_canvas_fill(cli_canvas *canvas, cli_box box, cli_colour colour);

/* A line of a stroke, which is painted at its end, each pixel once. */
typedef struct cli_line {
    double x0, y0, x1, y1;
} cli_line;

void cli_canvas_line(cli_canvas *canvas, cli_line line, double thickness);
void cli_canvas_end(cli_canvas *canvas, cli_colour colour);

#endif

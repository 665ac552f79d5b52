/* A picture of an array as people print it: with axes, a scale of colours and a title. */
#ifndef WR_CLI_FIGURE_H
#define WR_CLI_FIGURE_H

#include "canvas.h"
#include "picture.h"

/* Where things are, in pixels. */
typedef struct cli_figure {
    int width, height;
    cli_box plot;
    double unit; /* pixels, where the usual picture has one */
} cli_figure;

/* Before cells are read: sets how many there are, and what the picture takes. Returns NULL, or what
 * is wrong with the size. */
const char *cli_figure_plan(cli_picture *picture, cli_extent size, cli_figure *out);

void cli_figure_draw(const cli_figure *figure, const cli_picture *picture, cli_canvas *canvas);

#endif

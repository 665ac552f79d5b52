/* Letters of lines and curves, for pictures. */
#ifndef WR_CLI_FONT_H
#define WR_CLI_FONT_H

#include "canvas.h"

/* Where text goes: from (x, y) on its base line; `align` 0: begins there, 1: ends there, 0.5: has
 * its middle there. */
typedef struct cli_lettering {
    double size;   /* height of capital letters, in pixels */
    double weight; /* of lines; 1 is usual */
    double align;
    int upwards; /* 1: turned to be read from below */
    cli_colour colour;
} cli_lettering;

/* ASCII, and the sign of multiplication, in UTF-8; what else there is becomes a box. */
double cli_text_width(const char *text, double size);
void cli_text_draw(cli_canvas *canvas, double x, double y, const char *text,
                   const cli_lettering *how);

#endif

/* A picture of an array, of characters. */
#ifndef WR_CLI_TERMINAL_PICTURE_H
#define WR_CLI_TERMINAL_PICTURE_H

#include "picture.h"
#include "terminal.h"

typedef struct cli_terminal_picture {
    FILE *out;
    enum cli_paint paint;
    bool halves;        /* a character shows two places, one above the other */
    int margin;         /* columns left of the picture */
    cli_extent columns; /* of the terminal, and rows */
    cli_extent shown;   /* places of the picture */
} cli_terminal_picture;

/* Before cells are read: sets how many there are. A size that is not given is the terminal's. */
void cli_terminal_plan(cli_picture *picture, cli_extent size, FILE *out,
                       cli_terminal_picture *plan);

void cli_terminal_draw(const cli_terminal_picture *plan, const cli_picture *picture);

#endif

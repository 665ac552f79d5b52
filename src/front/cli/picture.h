/* What a picture of an array shows, on paper or in a terminal. */
#ifndef WR_CLI_PICTURE_H
#define WR_CLI_PICTURE_H

#include "cells.h"
#include "scale.h"

enum { CLI_PICTURE_TEXT = 256, CLI_AXIS_TEXT = 64 };

/* Indices of the array along one side of the picture. */
typedef struct cli_axis {
    int64_t size, first, step;
    const int64_t *list; /* instead of the last two; NULL: none */
    char name[CLI_AXIS_TEXT];
} cli_axis;

typedef struct cli_picture {
    cli_cells cells;
    cli_axis rows, columns;
    bool curve; /* of one dimension: numbers go upwards */
    cli_scale scale;
    cli_colours colours;
    char title[CLI_PICTURE_TEXT], details[CLI_PICTURE_TEXT];
} cli_picture;

/* Width and height, of pixels or of characters. */
typedef struct cli_extent {
    int given, width, height;
} cli_extent;

const char *cli_parse_extent(const char *text, void *out); /* cli_extent: 800x600 */

/* Ticks at most `most` times along an axis; at[] is 0 at the edge of the first index, 1 at that of
 * the last. */
void cli_ticks_of_axis(const cli_axis *axis, int most, cli_ticks *out);

/* One dimension has more than four times as many indices as the other, so that squares would not
 * do. */
bool cli_picture_is_oblong(const cli_picture *picture);

/* Sets how many cells there are along both dimensions, if there is room for so many places, each
 * `tall` times as high as wide, and in *shown how many of these they take. All cells have as many
 * indices as each other, and are square unless the picture is oblong or a curve. */
void cli_picture_fit(cli_picture *picture, cli_extent room, int tall, cli_extent *shown);

#endif

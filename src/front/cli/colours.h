/* Colours for numbers. Equal steps of a number are equal steps to the eye, in OKLab, and sequential
 * ones become lighter all along, so that they can be told apart in print without colours too. */
#ifndef WR_CLI_COLOURS_H
#define WR_CLI_COLOURS_H

typedef struct cli_colour {
    unsigned char red, green, blue;
} cli_colour;

enum { CLI_SHADES = 256 };

/* What a number may be that has no place on a scale. */
enum cli_kind { CLI_NUMBER, CLI_NOT_A_NUMBER, CLI_ABOVE_ALL, CLI_BELOW_ALL, CLI_KINDS };

typedef struct cli_colours {
    cli_colour shade[CLI_SHADES]; /* from the least to the greatest */
    cli_colour kind[CLI_KINDS];   /* not of CLI_NUMBER */
} cli_colours;

enum cli_colour_map { CLI_SEQUENTIAL, CLI_DIVERGING, CLI_GREY };

void cli_colours_init(cli_colours *colours, enum cli_colour_map map);

/* Of 0 to 1. */
cli_colour cli_colours_at(const cli_colours *colours, double place);

#endif

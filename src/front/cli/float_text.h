/* Floats as text: the fewest digits that tell one from its neighbours of the same type. */
#ifndef WR_CLI_FLOAT_TEXT_H
#define WR_CLI_FLOAT_TEXT_H

enum { CLI_FLOAT = 48 }; /* bytes that every such text below 1e17 fits into */

/* Of a finite number: WEIR_F2, WEIR_F4 or WEIR_F8. With at most `places` digits behind the point,
 * rounded if there would be more; without zeros at the end, but with the point: "1." "0.25". Whole
 * numbers have all their digits. */
void cli_float_positional(int type, double value, int places, char *text);

/* The same as "1.e+00", "2.5e-07". */
void cli_float_scientific(int type, double value, int places, char *text);

/* As Python prints a number alone: "1.0", "1e+16", "nan", "-inf". */
void cli_float_print(int type, double value, char *text);

#endif

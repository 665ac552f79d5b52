/* A canvas as a PNG file. */
#ifndef WR_CLI_PNG_FILE_H
#define WR_CLI_PNG_FILE_H

#include <stdbool.h>
#include <stdio.h>

#include "canvas.h"

#define CLI_PNG_BEGINS "\211PNG"

/* Whether libpng was there when the command was built. */
bool cli_png_is_built(void);

/* An error code; `path` is for its text. [local] */
int cli_png_write(FILE *out, const char *path, const cli_canvas *canvas);

#endif

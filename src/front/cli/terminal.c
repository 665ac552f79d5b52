/* Looks at a terminal, and breaks text into its lines. */
#include "terminal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* What the terminal says, or else the environment. */
static int extent(bool rows, FILE *stream, int otherwise, int least)
{
    struct winsize size;
    const char *told = getenv(rows ? "LINES" : "COLUMNS");
    int cells = told ? atoi(told) : 0;
    if (!ioctl(fileno(stream), TIOCGWINSZ, &size) && (rows ? size.ws_row : size.ws_col))
        cells = rows ? size.ws_row : size.ws_col;
    return cells < 1 ? otherwise : cells < least ? least : cells;
}

bool cli_terminal_is(FILE *stream)
{
    struct winsize size;
    return isatty(fileno(stream)) && !ioctl(fileno(stream), TIOCGWINSZ, &size) && size.ws_col;
}

int cli_terminal_columns(FILE *stream)
{
    return extent(false, stream, 80, 20);
}

int cli_terminal_rows(FILE *stream)
{
    return extent(true, stream, 24, 8);
}

bool cli_terminal_colours(FILE *stream)
{
    const char *no = getenv("NO_COLOR"), *kind = getenv("TERM");
    return !(no && *no) && cli_terminal_is(stream) && kind && strcmp(kind, "dumb") != 0;
}

enum cli_paint cli_terminal_paint(FILE *stream)
{
    const char *colours = getenv("COLORTERM"), *kind = getenv("TERM");
    if (!cli_terminal_colours(stream))
        return CLI_NO_PAINT;
    if (colours && (!strcmp(colours, "truecolor") || !strcmp(colours, "24bit")))
        return CLI_ALL_COLOURS;
    return kind && strstr(kind, "256color") ? CLI_256_COLOURS : CLI_NO_PAINT;
}

bool cli_terminal_utf8(void)
{
    static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *value = getenv(names[i]);
        if (value && *value)
            return strcasestr(value, "utf-8") || strcasestr(value, "utf8");
    }
    return false;
}

/* Bytes that begin a character of UTF-8. */
static int width_of(const char *text, size_t length)
{
    int width = 0;
    for (size_t i = 0; i < length; i++)
        width += ((unsigned char)text[i] & 0xc0) != 0x80;
    return width;
}

void cli_print_wrapped(FILE *out, const char *text, int indent, int columns)
{
    int at = indent;
    for (bool first = true; *text;) {
        const size_t length = strcspn(text, " \n");
        const int width = width_of(text, length);
        if (!first && at + 1 + width > columns) {
            fprintf(out, "\n%*s", indent, "");
            at = indent;
            first = true;
        }
        at += fprintf(out, "%s%.*s", first ? "" : " ", (int)length, text) > 0 ? width + !first : 0;
        first = false;
        text += length;
        if (*text == '\n') {
            fprintf(out, "\n%*s", text[1] ? indent : 0, "");
            at = indent;
            first = true;
        }
        text += *text != 0;
    }
    fputc('\n', out);
}

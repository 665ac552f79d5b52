/* A glyph is a path in a grid whose rows are 0 for the top of capitals, 4 for that of small
 * letters, 12 for the base line and 16 for the lowest point. Each point is a column and a row, from
 * 0 to 9 and from A for 10 on; the pen goes in straight lines, or in a curve that a point behind ~
 * bends, and is lifted at spaces. */
#include "font.h"

#include <stdbool.h>

static const double grid = 12, narrow = 0.82, apart = 3.2, blank = 4.5;
enum { CURVE = 8 };

static const char *const glyphs[] = {
    ['!'] = "0008 0C",
    ['"'] = "0003 3033",
    ['#'] = "301C 705C 0484 0888",
    ['$'] = "82~7040~0003~0546~8789~8C4C~1C0A 404E",
    ['%'] = "900C 20~4042~4424~0402~0020 78~989A~9C7C~5C5A~5878",
    ['&'] = "8C13~1030~605317~0709~0C3C~7C87",
    ['\''] = "0003",
    ['('] = "30~0307~0B3E",
    [')'] = "00~3337~3B0E",
    ['*'] = "3137 0266 6206",
    ['+'] = "434B 0787",
    [','] = "1B0E",
    ['-'] = "0757",
    ['.'] = "0C",
    ['/'] = "0D60",
    ['0'] = "40~8086~8C4C~0C06~0040",
    ['1'] = "13404C 1C7C",
    ['2'] = "03~0040~8083~86490C8C",
    ['3'] = "02~1040~7073~7646~8689~8C4C~1C0A",
    ['4'] = "6C600888",
    ['5'] = "701005~1444~8488~8C4C~1C0A",
    ['6'] = "72~6040~0007~0C4C~8C88~8545~0508",
    ['7'] = "00803C",
    ['8'] = "40~7073~7646~1613~1040 46~8689~8C4C~0C09~0646",
    ['9'] = "1A~2C4C~8C85~8040~0004~0747~8784",
    [':'] = "05 0C",
    [';'] = "15 1B0E",
    ['<'] = "73077B",
    ['='] = "0585 0989",
    ['>'] = "03770B",
    ['?'] = "02~0030~6063~653738 3C",
    ['@'] = "8488~8AAA~CAC6~C060~0007~0E7E 87~8464~4447~4A6A~8A87",
    ['A'] = "0C408C 1878",
    ['B'] = "000C4C~8C89~8646 0646 0040~7073~7646",
    ['C'] = "82~7040~0006~0C4C~7C8A",
    ['D'] = "000C3C~8C86~803000",
    ['E'] = "70000C7C 0666",
    ['F'] = "70000C 0666",
    ['G'] = "82~7040~0006~0C4C~8C8747",
    ['H'] = "000C 808C 0686",
    ['I'] = "000C",
    ['J'] = "6069~6C3C~0C09",
    ['K'] = "000C 8007 348C",
    ['L'] = "000C7C",
    ['M'] = "0C0058A0AC",
    ['N'] = "0C008C80",
    ['O'] = "50~A0A6~AC5C~0C06~0050",
    ['P'] = "0C0040~8083~864606",
    ['Q'] = "50~A0A6~AC5C~0C06~0050 69AD",
    ['R'] = "0C0040~8083~864606 468C",
    ['S'] = "82~7040~0003~0546~8789~8C4C~1C0A",
    ['T'] = "0080 404C",
    ['U'] = "0008~0C4C~8C8880",
    ['V'] = "004C80",
    ['W'] = "003C629CC0",
    ['X'] = "008C 800C",
    ['Y'] = "004680 464C",
    ['Z'] = "00800C8C",
    ['['] = "30000E3E",
    ['\\'] = "006D",
    [']'] = "00303E0E",
    ['^'] = "033063",
    ['_'] = "0E8E",
    ['`'] = "0022",
    ['a'] = "747C 78~7444~0408~0C4C~7C78",
    ['b'] = "000C 08~0434~7478~7C3C~0C08",
    ['c'] = "75~6444~0408~0C4C~6C7B",
    ['d'] = "707C 78~7444~0408~0C4C~7C78",
    ['e'] = "0878~7444~0408~0C4C~6C7B",
    ['f'] = "50~20232C 0454",
    ['g'] = "747D~7G4G~1G0F 78~7444~0408~0C4C~7C78",
    ['h'] = "000C 07~0444~74777C",
    ['i'] = "040C 01",
    ['j'] = "343D~3G0G 31",
    ['k'] = "000C 6409 277C",
    ['l'] = "000A~0C2C",
    ['m'] = "040C 07~0434~54575C 57~5484~A4A7AC",
    ['n'] = "040C 07~0444~74777C",
    ['o'] = "44~8488~8C4C~0C08~0444",
    ['p'] = "040G 08~0434~7478~7C3C~0C08",
    ['q'] = "747G 78~7444~0408~0C4C~7C78",
    ['r'] = "040C 08~0444",
    ['s'] = "65~5434~0406~0838~686A~6C3C~1C0B",
    ['t'] = "2129~2C5C 0454",
    ['u'] = "0409~0C3C~7C79 747C",
    ['v'] = "043C64",
    ['w'] = "043C557CA4",
    ['x'] = "046C 640C",
    ['y'] = "043C 641G",
    ['z'] = "04640C6C",
    ['{'] = "40~2023~2707~272B~2E4E",
    ['|'] = "000F",
    ['}'] = "00~2023~2747~272B~2E0E",
    ['~'] = "08~1547~7986",
};

typedef struct place {
    double x, y;
} place;

/* The glyph of the next character, NULL for a blank; *text moves behind it. */
static const char *next_glyph(const char **text)
{
    static const char times[] = "147A 741A", unknown[] = "000C6C6000";
    const unsigned char c = (unsigned char)*(*text)++, next = (unsigned char)**text;
    if (c == ' ')
        return NULL;
    if (c < sizeof glyphs / sizeof *glyphs)
        return glyphs[c] ? glyphs[c] : unknown;
    while (((unsigned char)**text & 0xc0) == 0x80)
        (*text)++;
    return c == 0xc3 && next == 0x97 ? times : unknown;
}

static int digit(char c)
{
    return c >= 'A' ? c - 'A' + 10 : c - '0';
}

static bool is_digit_glyph(const char *glyph)
{
    for (int c = '0'; c <= '9'; c++)
        if (glyphs[c] == glyph)
            return true;
    return false;
}

/* All digits are as wide as each other. */
static double advance(const char *glyph)
{
    int widest = glyph && is_digit_glyph(glyph) ? 8 : 0;
    if (!glyph)
        return blank;
    for (const char *at = glyph; *at; at++) {
        if (*at == ' ' || *at == '~')
            continue;
        widest = digit(*at) > widest ? digit(*at) : widest;
        at++;
    }
    return widest * narrow + apart;
}

double cli_text_width(const char *text, double size)
{
    double width = -apart;
    while (*text)
        width += advance(next_glyph(&text));
    return width * size / grid;
}

typedef struct pen {
    cli_canvas *canvas;
    const cli_lettering *how;
    double x, y, along; /* where text begins, and how far it is, in the grid */
} pen;

static place place_of(const pen *p, double column, double row)
{
    const double unit = p->how->size / grid;
    const double right = (p->along + column * narrow) * unit, down = (row - grid) * unit;
    return p->how->upwards ? (place){p->x + down, p->y - right}
                           : (place){p->x + right, p->y + down};
}

static void line(const pen *p, place a, place b)
{
    cli_canvas_line(p->canvas, (cli_line){a.x, a.y, b.x, b.y},
                    p->how->weight * p->how->size * 0.115);
}

static void curve(const pen *p, place a, place bend, place b)
{
    place last = a;
    for (int i = 1; i <= CURVE; i++) {
        const double t = (double)i / CURVE, u = 1 - t;
        const place now = {u * u * a.x + 2 * u * t * bend.x + t * t * b.x,
                           u * u * a.y + 2 * u * t * bend.y + t * t * b.y};
        line(p, last, now);
        last = now;
    }
}

static void draw_glyph(const pen *p, const char *glyph)
{
    place last = {0}, bend = {0};
    bool down = false, bent = false;
    for (const char *at = glyph; *at; at++) {
        if (*at == ' ') {
            down = false;
            continue;
        }
        const bool control = *at == '~';
        at += control;
        const place here = place_of(p, digit(at[0]), digit(at[1]));
        at++;
        if (control) {
            bend = here;
            bent = true;
            continue;
        }
        if (bent)
            curve(p, last, bend, here);
        else
            line(p, down ? last : here, here); /* a point alone is a dot */
        last = here;
        down = true;
        bent = false;
    }
}

void cli_text_draw(cli_canvas *canvas, double x, double y, const char *text,
                   const cli_lettering *how)
{
    const double back = how->align * cli_text_width(text, how->size);
    pen p = {canvas, how, how->upwards ? x : x - back, how->upwards ? y + back : y, 0};
    while (*text) {
        const char *glyph = next_glyph(&text);
        if (glyph)
            draw_glyph(&p, glyph);
        p.along += advance(glyph);
    }
    cli_canvas_end(canvas, how->colour);
}

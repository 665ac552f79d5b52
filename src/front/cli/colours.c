/* A map is a curve through a few points of OKLab, given as lightness, chroma and hue; its shades
 * are as far from each other along the curve. Chroma that a screen cannot show is reduced.
 * OKLab: B. Ottosson, A perceptual color space for image processing, 2020. */
#include "colours.h"

#include <math.h>

enum { FINE = 1024 };

typedef struct point {
    double lightness, chroma, hue; /* in degrees */
} point;

typedef struct lab {
    double l, a, b;
} lab;

static const point
    sequential[] = {{0.20, 0.055, 300}, {0.35, 0.105, 281}, {0.50, 0.098, 243},
                    {0.65, 0.095, 192}, {0.80, 0.13, 145},  {0.95, 0.125, 106}},
    low_arm[] = {{0.33, 0.10, 262}, {0.52, 0.14, 255}, {0.75, 0.09, 240}, {0.96, 0, 240}},
    high_arm[] = {{0.96, 0, 50}, {0.75, 0.11, 50}, {0.52, 0.16, 32}, {0.33, 0.12, 22}},
    grey[] = {{0.12, 0, 0}, {0.97, 0, 0}};

static double interpolate(double a, double b, double part)
{
    return a + (b - a) * part;
}

/* Through four values at -1, 0, 1 and 2 (Catmull and Rom). */
static double bend(const double *v, double part)
{
    const double in = (v[2] - v[0]) / 2, out = (v[3] - v[1]) / 2;
    const double square = part * part, cube = square * part;
    return (2 * cube - 3 * square + 1) * v[1] + (cube - 2 * square + part) * in +
           (3 * square - 2 * cube) * v[2] + (cube - square) * out;
}

/* Lightness in a straight line, so that it never turns back. */
static point curve(const point *p, int count, double part)
{
    const double at = part * (count - 1);
    const int i = at < count - 1 ? (int)at : count - 2;
    double chroma[4], hue[4];
    for (int k = 0; k < 4; k++) {
        const int near = i + k - 1 < 0 ? 0 : i + k - 1 > count - 1 ? count - 1 : i + k - 1;
        chroma[k] = p[near].chroma;
        hue[k] = p[near].hue;
    }
    return (point){interpolate(p[i].lightness, p[i + 1].lightness, at - i), bend(chroma, at - i),
                   bend(hue, at - i)};
}

static lab lab_of(point p)
{
    const double turn = 0.017453292519943295, chroma = p.chroma > 0 ? p.chroma : 0;
    return (lab){p.lightness, chroma * cos(p.hue * turn), chroma * sin(p.hue * turn)};
}

/* Red, green and blue, in light rather than as screens take them. */
static void light_of(lab c, double *rgb)
{
    const double l = pow(c.l + 0.3963377774 * c.a + 0.2158037573 * c.b, 3);
    const double m = pow(c.l - 0.1055613458 * c.a - 0.0638541728 * c.b, 3);
    const double s = pow(c.l - 0.0894841775 * c.a - 1.2914855480 * c.b, 3);
    rgb[0] = 4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s;
    rgb[1] = -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s;
    rgb[2] = -0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s;
}

static int can_be_shown(point p)
{
    double rgb[3];
    light_of(lab_of(p), rgb);
    for (int i = 0; i < 3; i++)
        if (rgb[i] < -1e-6 || rgb[i] > 1 + 1e-6)
            return 0;
    return 1;
}

static point shown(point p)
{
    double least = 0, most = p.chroma;
    if (can_be_shown(p))
        return p;
    for (int i = 0; i < 24; i++) {
        p.chroma = (least + most) / 2;
        *(can_be_shown(p) ? &least : &most) = p.chroma;
    }
    p.chroma = least;
    return p;
}

static unsigned char level(double light)
{
    const double v = light <= 0.0031308 ? 12.92 * light : 1.055 * pow(light, 1 / 2.4) - 0.055;
    return (unsigned char)(v <= 0 ? 0 : v >= 1 ? 255 : v * 255 + 0.5);
}

static cli_colour colour_of(point p)
{
    double rgb[3];
    light_of(lab_of(shown(p)), rgb);
    return (cli_colour){level(rgb[0]), level(rgb[1]), level(rgb[2])};
}

static double distance(point a, point b)
{
    const lab p = lab_of(shown(a)), q = lab_of(shown(b));
    return sqrt((p.l - q.l) * (p.l - q.l) + (p.a - q.a) * (p.a - q.a) + (p.b - q.b) * (p.b - q.b));
}

/* `count` shades from the first point of a curve to its last. */
static void spread(const point *points, int n, cli_colour *out, int count)
{
    double length[FINE + 1] = {0};
    for (int i = 1; i <= FINE; i++)
        length[i] = length[i - 1] + distance(curve(points, n, (double)(i - 1) / FINE),
                                             curve(points, n, (double)i / FINE));
    for (int i = 0, at = 0; i < count; i++) {
        const double wanted = length[FINE] * i / (count - 1);
        while (at < FINE - 1 && length[at + 1] < wanted)
            at++;
        const double part = (wanted - length[at]) / (length[at + 1] - length[at]);
        out[i] = colour_of(curve(points, n, (at + part) / FINE));
    }
}

#define SPREAD(points, out, count)                                                                 \
    spread(points, (int)(sizeof(points) / sizeof *(points)), out, count)

void cli_colours_init(cli_colours *c, enum cli_colour_map map)
{
    static const cli_colour none = {158, 158, 158}, none_of_greys = {220, 130, 130};
    if (map == CLI_SEQUENTIAL)
        SPREAD(sequential, c->shade, CLI_SHADES);
    else if (map == CLI_GREY)
        SPREAD(grey, c->shade, CLI_SHADES);
    else {
        SPREAD(low_arm, c->shade, CLI_SHADES / 2);
        SPREAD(high_arm, c->shade + CLI_SHADES / 2, CLI_SHADES / 2);
    }
    c->kind[CLI_NUMBER] = c->shade[0];
    c->kind[CLI_NOT_A_NUMBER] = map == CLI_GREY ? none_of_greys : none;
    c->kind[CLI_ABOVE_ALL] = (cli_colour){226, 40, 150};
    c->kind[CLI_BELOW_ALL] = (cli_colour){30, 200, 230};
}

cli_colour cli_colours_at(const cli_colours *c, double place)
{
    const int i = (int)(place * CLI_SHADES);
    return c->shade[i < 0 ? 0 : i >= CLI_SHADES ? CLI_SHADES - 1 : i];
}

/* A pixel's ink follows from its distance to the nearest line of a stroke, so that lines that meet
 * do not darken each other. */
#include "canvas.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <weir/weir.h>

static int least(int a, int b)
{
    return a < b ? a : b;
}

static int most(int a, int b)
{
    return a > b ? a : b;
}

static void forget(cli_canvas *c)
{
    c->left = c->width;
    c->top = c->height;
    c->right = c->bottom = 0;
}

int cli_canvas_init(cli_canvas *c, int width, int height)
{
    const size_t count = (size_t)width * (size_t)height;
    *c = (cli_canvas){.width = width, .height = height};
    c->pixel = malloc(count * sizeof *c->pixel);
    c->ink = calloc(count, 1);
    if (!c->pixel || !c->ink)
        return WEIR_ENOMEM;
    memset(c->pixel, 255, count * sizeof *c->pixel);
    forget(c);
    return 0;
}

void cli_canvas_release(cli_canvas *c)
{
    free(c->pixel);
    free(c->ink);
    *c = (cli_canvas){0};
}

void cli_canvas_fill(cli_canvas *c, cli_box box, cli_colour colour)
{
    for (int y = most(0, box.top); y < least(box.bottom, c->height); y++)
        for (int x = most(0, box.left); x < least(box.right, c->width); x++)
            c->pixel[(size_t)y * (size_t)c->width + (size_t)x] = colour;
}

static double distance(cli_line l, double x, double y)
{
    const double dx = l.x1 - l.x0, dy = l.y1 - l.y0, square = dx * dx + dy * dy;
    double along = square > 0 ? ((x - l.x0) * dx + (y - l.y0) * dy) / square : 0;
    along = along < 0 ? 0 : along > 1 ? 1 : along;
    return hypot(x - l.x0 - along * dx, y - l.y0 - along * dy);
}

void cli_canvas_line(cli_canvas *c, cli_line l, double thickness)
{
    const double reach = thickness / 2 + 0.5;
    const int left = most(0, (int)floor(fmin(l.x0, l.x1) - reach));
    const int right = least(c->width, (int)ceil(fmax(l.x0, l.x1) + reach) + 1);
    const int top = most(0, (int)floor(fmin(l.y0, l.y1) - reach));
    const int bottom = least(c->height, (int)ceil(fmax(l.y0, l.y1) + reach) + 1);
    for (int y = top; y < bottom; y++)
        for (int x = left; x < right; x++) {
            const double ink = reach - distance(l, x + 0.5, y + 0.5);
            unsigned char *at = &c->ink[(size_t)y * (size_t)c->width + (size_t)x];
            const int level = ink <= 0 ? 0 : ink >= 1 ? 255 : (int)(ink * 255 + 0.5);
            *at = (unsigned char)most(*at, level);
        }
    c->left = least(c->left, left);
    c->right = most(c->right, right);
    c->top = least(c->top, top);
    c->bottom = most(c->bottom, bottom);
}

static unsigned char blend(unsigned char under, unsigned char over, int ink)
{
    return (unsigned char)((under * (255 - ink) + over * ink + 127) / 255);
}

void cli_canvas_end(cli_canvas *c, cli_colour colour)
{
    for (int y = c->top; y < c->bottom; y++)
        for (int x = c->left; x < c->right; x++) {
            const size_t at = (size_t)y * (size_t)c->width + (size_t)x;
            cli_colour *p = &c->pixel[at];
            *p = (cli_colour){blend(p->red, colour.red, c->ink[at]),
                              blend(p->green, colour.green, c->ink[at]),
                              blend(p->blue, colour.blue, c->ink[at])};
            c->ink[at] = 0;
        }
    forget(c);
}

/* Reading modes, and applying them step by step. */
#include "file_mode.h"

#include <stdlib.h>
#include <string.h>

enum { ALL = 0777, READ = 0444, EXECUTE = 0111 };

static const char *parse_octal(const char *text, cli_mode *out)
{
    char *end;
    const unsigned long mode = strtoul(text, &end, 8);
    if (*end || mode > ALL)
        return "permissions are up to 777";
    out->count = 1;
    out->step[0] = (struct cli_mode_step){.what = '=', .who = ALL, .bits = (mode_t)mode};
    return NULL;
}

static mode_t parse_who(const char **at, mode_t umask)
{
    mode_t who = 0;
    for (; **at && strchr("ugoa", **at); ++*at)
        who |= **at == 'u' ? 0700 : **at == 'g' ? 0070 : **at == 'o' ? 0007 : ALL;
    return who ? who : ALL & ~umask;
}

/* Letters after one of + - =. */
static bool parse_letters(const char **at, struct cli_mode_step *step)
{
    for (; **at && !strchr(",+-=", **at); ++*at)
        switch (**at) {
        case 'r':
            step->bits |= READ;
            break;
        case 'w':
            step->bits |= 0222;
            break;
        case 'x':
            step->bits |= EXECUTE;
            break;
        case 'X':
            step->x_if_any = true;
            break;
        default:
            return false;
        }
    return true;
}

const char *cli_mode_parse(const char *text, mode_t umask, cli_mode *out)
{
    static const char wrong[] = "permissions are as 640, u+w, go-rwx or a=rX";
    *out = (cli_mode){0};
    if (*text >= '0' && *text <= '7')
        return parse_octal(text, out);
    for (const char *at = text; *at;) {
        const mode_t who = parse_who(&at, umask);
        if (!*at || !strchr("+-=", *at))
            return wrong;
        while (*at && *at != ',') {
            struct cli_mode_step *step = &out->step[out->count];
            if (out->count == CLI_MODE_STEPS || !strchr("+-=", *at))
                return wrong;
            *step = (struct cli_mode_step){.what = *at++, .who = who};
            if (!parse_letters(&at, step))
                return wrong;
            out->count++;
        }
        if (*at == ',' && !*++at)
            return wrong;
    }
    return out->count ? NULL : wrong;
}

mode_t cli_mode_apply(const cli_mode *mode, mode_t old, bool folder)
{
    mode_t now = old & 07777;
    for (int i = 0; i < mode->count; i++) {
        const struct cli_mode_step *s = &mode->step[i];
        mode_t bits = s->bits;
        if (s->x_if_any && (folder || old & EXECUTE))
            bits |= EXECUTE;
        if (folder)
            bits |= (bits & READ) >> 2;
        bits &= s->who;
        if (s->what == '+')
            now |= bits;
        else if (s->what == '-')
            now &= ~bits;
        else
            now = (now & ~s->who) | bits;
    }
    return now;
}

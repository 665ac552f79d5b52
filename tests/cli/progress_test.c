/* Progress in any number of columns, and as lines; the arithmetic of a trial. */
#include <stdlib.h>
#include <string.h>

#include "../../src/front/cli/bar.h"
#include "../../src/front/cli/trial.h"
#include "check.h"

/* What a bar prints that has been at it for some seconds; ask for `columns` by COLUMNS. */
static char *draw(const char *columns, bool lines, double spent, int64_t done, int64_t all)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    cli_bar bar;
    setenv("COLUMNS", columns, 1);
    cli_bar_init(&bar, out, "transpose", 4000000000, lines);
    bar.begun -= spent;
    bar.shown -= spent;
    cli_bar_draw(&bar, done, all);
    cli_bar_draw(&bar, done, all); /* too soon */
    fclose(out);
    return text;
}

static void test_bar(void)
{
    static const struct {
        const char *columns, *text;
    } cases[] = {
        {"80", "\rtranspose [###############...............]  50 %  200 MB/s  0:10 left"},
        {"46", "\rtranspose [###...]  50 %  200 MB/s  0:10 left"},
        {"40", "\rtranspose  50 %  200 MB/s  0:10 left"},
        {"30", "\r 50 %  200 MB/s  0:10 left"},
        {"20", "\r 50 %  200 MB/s  0:"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *text = draw(cases[i].columns, false, 10, 1, 2);
        CHECK(!strcmp(text, cases[i].text));
        CHECK((int)strlen(text) - 1 < atoi(cases[i].columns));
        free(text);
    }
}

/* The longest there is still fits a terminal of 40 columns. */
static void test_longest(void)
{
    char *text = draw("40", false, 400000, 1, 100);
    CHECK(strlen(text) < 41);
    CHECK(strstr(text, "% ") && strstr(text, "left"));
    free(text);
    text = draw("40", false, 10, 12345, 0);
    CHECK(strlen(text) < 41);
    free(text);
}

static void test_lines(void)
{
    char *text = draw("40", true, 59, 1, 2);
    CHECK(!*text);
    free(text);
    text = draw("40", true, 61, 1, 2);
    CHECK(!strcmp(text, "weir transpose: 50 %, 33 MB/s, 1:01 left\n"));
    free(text);
    text = draw("40", true, 61, 3, 0);
    CHECK(!strcmp(text, "weir transpose: 3 iterations, 197 MB/s, 1:01 so far\n"));
    free(text);
}

static bool is_about(double a, double b)
{
    return a > b - 1e-9 && a < b + 1e-9;
}

static void test_trial(void)
{
    cli_trial t = {.before = 1, .anew = 1};
    CHECK(is_about(cli_trial_seconds(&t), 1)); /* nothing to do */
    cli_pace_note(&t.pace, 0.1, 4);
    CHECK(is_about(cli_trial_seconds(&t), 1 + 40));
    cli_pace_note(&t.pace, 0.2, 5);
    CHECK(is_about(cli_trial_seconds(&t), 1 + 25));
    cli_pace_note(&t.pace, 0.3, 5.5);
    cli_pace_note(&t.pace, 0.4, 6);
    CHECK(is_about(cli_trial_seconds(&t), 1 + 5 + 0.8 * 5));
    t.written = 1000;
    t.kept = 2000;
    t.store_price = 0.002;
    CHECK(is_about(cli_trial_seconds(&t), 10 + 2));
    t.kept = 400; /* 600 are stored behind the work */
    CHECK(is_about(cli_trial_seconds(&t), 10 + 0.8));
    t.store_price = 0.02; /* and take longer */
    CHECK(is_about(cli_trial_seconds(&t), 1 + 12 + 8));
    t.store_price = 0;
    t.write_price = 0.001;
    CHECK(is_about(cli_trial_seconds(&t), 10 + 1));
    t.anew = 0.25;
    cli_pace_note(&t.again, 0.5, 1); /* what is read again takes 2 seconds */
    CHECK(is_about(cli_trial_seconds(&t), 1 + 0.25 * 9 + 0.75 * 2 + 1));
}

int main(void)
{
    test_bar();
    test_longest();
    test_lines();
    test_trial();
    return 0;
}

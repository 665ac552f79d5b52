/* Writes docs/tunables.md from the table of tunables. */
#include <stdio.h>

#include "base/tunables.h"

static void print_values(const wr_tunable *t)
{
    switch (t->kind) {
    case WR_CHOICE:
        for (const char *c = t->choices; *c; c++)
            *c == '|' ? printf(", ") : putchar(*c);
        break;
    case WR_SIZE:
        printf("size, at least %lld", (long long)t->min);
        break;
    case WR_COUNT:
        printf("%s, %lld to %lld", t->choices, (long long)t->min, (long long)t->max);
        break;
    case WR_TEXT:
        printf("text");
        break;
    }
}

static void print_alias(const wr_tunable_alias *a)
{
    printf("| `%s` | `%s`", a->key, a->names[0]);
    if (a->names[1])
        printf(", `%s`", a->names[1]);
    printf(" | ");
    for (const char *const *v = a->values; v && *v; v += 2)
        printf("%s`%s` is `%s`", v == a->values ? "" : ", ", v[0], v[1]);
    printf("%s |\n", a->values ? "" : "the same");
}

int main(void)
{
    printf("# Tunables\n\n"
           "Written by `make docs` from `src/base/tunables_table.c`.\n\n"
           "A tunable `name` is set as `weir_name` in an MPI_Info, as `name=value` in the hints "
           "of weir_file_open and in `WEIR_HINTS` (separated by semicolons) or as `WEIR_NAME` in "
           "the environment. Later wins: default, "
           "MPI_Info or hints, WEIR_HINTS, WEIR_NAME. A variable WEIR_... that is no tunable sets "
           "nothing: the log (`WEIR_LOG=warning`) and the command name it. Sizes take K, M, G and "
           "T (powers of 1024). "
           "The room "
           "is the part of the library that obeys it; ARCHITECTURE.md says which rooms exist.\n\n"
           "| name | values | default | room | what it does |\n|---|---|---|---|---|\n");
    for (const wr_tunable *t = wr_tunable_table; t->name; t++) {
        printf("| `%s` | ", t->name);
        print_values(t);
        printf(" | %s%s%s | %s | %s |\n", *t->initial ? "`" : "", t->initial,
               *t->initial ? "`" : "", t->room, t->help);
    }
    printf("\n## Other names\n\nKeys that ROMIO knows are understood in an MPI_Info as they are; "
           "`access` and `collective` work everywhere and set both directions.\n\n"
           "| key | sets | values |\n|---|---|---|\n");
    for (const wr_tunable_alias *a = wr_tunable_aliases; a->key; a++)
        print_alias(a);
    return 0;
}

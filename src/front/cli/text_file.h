/* Files of numbers that are no arrays to the library: text with commas, or elements alone. */
#ifndef WR_CLI_TEXT_FILE_H
#define WR_CLI_TEXT_FILE_H

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <weir/weir.h>

bool cli_is_csv(const char *path);

/* Whether the name is that of a file of elements alone, by rows: "x.bin", "x.raw". */
bool cli_is_bare(const char *path);

/* Whether a name ends so, in large letters or small ones, and has more than that. */
bool cli_name_ends(const char *path, const char *ending);

/* Whether a file begins with a short text. [local] */
bool cli_file_begins(const char *path, const char *text);

/* Numbers in text, with commas, spaces or ends of lines between them; what is behind # in a line
 * does not count. Beside a comma there are numbers, not ends of lines. */
typedef struct cli_text_reader {
    FILE *in;        /* borrowed */
    FILE *copy;      /* NULL, or what is read goes there too; borrowed */
    int64_t line;    /* the one that the latest word is in */
    int64_t in_line; /* and which word of it that is, from 1 on */
    char word[128];
    int next;
} cli_text_reader;

/* An error code. [local] */
int cli_text_open(const char *path, FILE **out);

/* 1: there is a word; 0: there is none; or what is wrong with it. */
enum { CLI_TEXT_LONG = -1, CLI_TEXT_EMPTY = -2 };
int cli_text_next(cli_text_reader *reader);

/* The name of the array that a file's elements alone are: "raw:x.bin:f8:10,20". */
enum { CLI_RAW_NAME = PATH_MAX + 400 };
void cli_raw_name(const char *path, const weir_array_info *info, char out[CLI_RAW_NAME]);

#endif

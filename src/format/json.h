/* JSON read where it stands: a value is a part of the text, so numbers keep all their digits, what
 * is only passed on stays as it was written, and nothing is allocated.
 *
 * Invariant J1: a wr_json is a whole value of a text that wr_json_check accepted, without space
 * around it; a zeroed one is none. The text must outlive it. */
#ifndef WR_FORMAT_JSON_H
#define WR_FORMAT_JSON_H

#include <stdbool.h>
#include <stdint.h>

typedef struct wr_json {
    const char *at, *end;
} wr_json;

/* WEIR_EFORMAT names the byte. Blocks stand in each other up to 500 deep. NaN, Infinity and
 * -Infinity are taken for numbers, as Python writes them. */
int wr_json_check(const char *text, int64_t length, wr_json *out);

/* '{', '[', '"', '0' for a number, 't' for true and false, 'n' for null. */
char wr_json_kind(wr_json value);

/* The next item of a list or object, which `rest` was at first; false after the last. `key` of a
 * list is "". */
bool wr_json_next(wr_json *rest, wr_json *key, wr_json *value);

int64_t wr_json_count(wr_json block);

/* A string, or the text of another value, fit for a message: other characters than printable ASCII
 * become '?', and the end of what is too long "...". */
enum { WR_JSON_NAME = 64 };
void wr_json_name(wr_json value, char name[WR_JSON_NAME]);

/* Whether it is the string `name`, of printable ASCII without '?'. */
bool wr_json_is(wr_json value, const char *name);

bool wr_json_true(wr_json value);

/* Whether it is an integer up to 2^64 - 1 and down to its negative, also as 1e3 or 2.0, then below
 * 2^53. */
bool wr_json_integer(wr_json value, bool *negative, uint64_t *magnitude);
bool wr_json_within(wr_json value, int64_t lo, int64_t hi, int64_t *out);

/* Whether it is a number; infinite if it is too large. */
bool wr_json_double(wr_json value, double *out);

/* What an object may have: of `kinds`, as above. Keys that it must not have are WEIR_EUNSUPPORTED
 * unless it is open; one that is missing, of another kind or there twice is WEIR_EFORMAT. */
typedef struct wr_json_key {
    const char *name, *kinds;
    bool optional;
} wr_json_key;

typedef struct wr_json_form {
    const wr_json_key *keys;
    int count;
    bool open;
} wr_json_form;

/* items[count] by key, zeroed where there is none. */
int wr_json_collect(wr_json object, const wr_json_form *form, wr_json *items);

#endif

/* Items of a JSON object or list that the library gave, which is sound and on one line. */
#ifndef WR_CLI_JSON_ITEMS_H
#define WR_CLI_JSON_ITEMS_H

typedef struct cli_json_item {
    const char *key, *value; /* a key without its quotes */
    int key_length, length;
} cli_json_item;

/* The next item of what *at was at first; 0 after the last. */
int cli_json_next(const char **at, cli_json_item *out);

/* As many of the bytes as are whole characters, at most `most`. */
int cli_json_cut(const char *text, int length, int most);

#endif

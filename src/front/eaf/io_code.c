/* Codes and sentences of EAF and SF: a table, and the reason of the latest failure. */
#include "front/eaf/io_code.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "weir/error.h"

typedef struct sentence {
    int code;
    const char *text;
} sentence;

static const sentence sentences[] = {{0, "no error"},
                                     {WR_IO_FAILED, "a request of the list failed"},
                                     {WR_IO_PENDING, "the file cannot be opened"},
                                     {WR_IO_OFFSET, "no such place in a file"},
                                     {WR_IO_WRITE, "write failed"},
                                     {WR_IO_READ, "read failed"},
                                     {WR_IO_REQUEST, "no such request or file"},
                                     {WR_IO_MODE, "neither reading nor writing"},
                                     {WR_IO_FOLDER, "nothing known of the folder"},
                                     {WR_IO_OPEN, "the shared file cannot be opened"},
                                     {WR_IO_CLOSE, "closing failed"},
                                     {WR_IO_EOF, "end of file"},
                                     {WR_IO_SYNC, "sync failed"},
                                     {WR_IO_MEMORY, "no memory"},
                                     {WR_IO_FILE, "no open file of that number"},
                                     {WR_IO_FULL, "the file in memory is full"},
                                     {WR_IO_REMOVE, "the file cannot be removed"},
                                     {WR_IO_SHORT, "no room for the text"},
                                     {WR_IO_LONG, "the text is too long"},
                                     {WR_IO_FRACTION, "the offset is not a whole number"},
                                     {WR_IO_RESIZE, "the file cannot be cut or extended"},
                                     {WR_IO_LENGTH, "the length is not known"}};

static struct {
    int code;
    char reason[WR_IO_REASON];
} latest;

/* The end of a path says more than its start. */
static const char *name_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

int wr_io_fail(int code)
{
    const weir_error *e = weir_error_last();
    char place[32] = "";
    if (e->offset >= 0)
        snprintf(place, sizeof place, " at %lld", (long long)e->offset);
    latest.code = code;
    snprintf(latest.reason, sizeof latest.reason, "%s%s%s%s",
             e->errnum ? strerror(e->errnum) : e->text, *e->file ? ", " : "",
             *e->file ? name_of(e->file) : "", place);
    return code;
}

int wr_io_refuse(int code, const char *reason, const char *name)
{
    latest.code = code;
    snprintf(latest.reason, sizeof latest.reason, "%s%s%s", reason, name ? ", " : "",
             name ? name_of(name) : "");
    return code;
}

int wr_io_rename(int code)
{
    latest.code = code;
    return code;
}

const char *wr_io_reason(void)
{
    return latest.reason;
}

void wr_io_text(int code, char *text, size_t size)
{
    const char *found = NULL;
    for (size_t i = 0; i < sizeof sentences / sizeof *sentences; i++)
        if (sentences[i].code == code)
            found = sentences[i].text;
    bool why = found && code && latest.code == code && *latest.reason;
    snprintf(text, size, "%s%s%s", found ? found : "", why ? ": " : "", why ? latest.reason : "");
}

/* What EAF and SF return, by the numbers that programs know, and the sentence for each.
 *
 * The latest failure is kept with what the system or the library said about it; a sentence asked
 * for by its code has that too. One thread at a time. */
#ifndef WR_FRONT_EAF_IO_CODE_H
#define WR_FRONT_EAF_IO_CODE_H

#include <stddef.h>

enum wr_io_code {
    WR_IO_FAILED = 1,        /* SF: of a list of requests at least one failed */
    WR_IO_PENDING = -44,     /* a file could not be opened; the sentence says why */
    WR_IO_OFFSET = -2000,    /* an offset or a length that no file has */
    WR_IO_WRITE = -1999,     /* also what a wait for an asynchronous write returns */
    WR_IO_READ = -1997,      /* likewise */
    WR_IO_REQUEST = -1994,   /* a request that was never handed out */
    WR_IO_MODE = -1993,      /* neither read, write nor both */
    WR_IO_FOLDER = -1991,    /* nothing is known about the folder of a file */
    WR_IO_OPEN = -1990,      /* SF: a shared file could not be opened */
    WR_IO_CLOSE = -1986,     /* what was written may not be there */
    WR_IO_EOF = -1977,       /* a read reaches past the end of the file */
    WR_IO_SYNC = -1976,      /* not all is on stable storage */
    WR_IO_MEMORY = -10003,   /* the system gave no memory */
    WR_IO_FILE = -10006,     /* no open file of that number */
    WR_IO_FULL = -10007,     /* a file kept in memory is full */
    WR_IO_REMOVE = -10013,   /* a file could not be removed */
    WR_IO_SHORT = -10016,    /* no room for a text */
    WR_IO_LONG = -10017,     /* a text that is too long */
    WR_IO_FRACTION = -10018, /* an offset that is not a whole number */
    WR_IO_RESIZE = -10019,   /* a file could not be cut or extended */
    WR_IO_LENGTH = -10020    /* the length of a file could not be had */
};

/* Room that a text of EAF has in C, and that a reason takes at most. */
enum { WR_IO_TEXT = 80, WR_IO_REASON = 640 };

/* Keeps why it failed, as the library says it (weir_error_last), and returns the code. */
int wr_io_fail(int code);

/* The same with a reason of its own; `name` may be NULL. */
int wr_io_refuse(int code, const char *reason, const char *name);

/* The latest failure goes by another code, which is returned. */
int wr_io_rename(int code);

/* Why the latest failure came about; valid until the next. */
const char *wr_io_reason(void);

/* The sentence of a code, with the reason of the latest failure if that was its code, cut to fit
 * and terminated; "" for a number that is no code. */
void wr_io_text(int code, char *text, size_t size);

#endif

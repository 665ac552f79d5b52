/* Shared files: temporary files that all processes of a group read and write independently. The
 * pattern is ChemIO's ("Disk Resident Arrays", section 1); names, numbers and codes are those that
 * Global Arrays' programs know.
 *
 * Creating and destroying are collective over GA's default group, everything else is local: each
 * process has the file open by itself, so that it may close and open it when it likes. What a file
 * has already is kept when it is created, for programs that start again. Limits of size and of
 * requests are hints that nothing depends on. */
#include <sf.h>

#include <ga-mpi.h>
#include <ga.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "front/eaf/eaf_names.h"
#include "front/eaf/io_code.h"
#include "front/eaf/own_file.h"
#include "weir/weir.h"

/* Handles are numbers of places, so much lower, so that 0 is none. */
enum { FIRST_HANDLE = -3000 };
enum { BOTH = -1, READING = -3 };

typedef struct shared {
    bool taken;
    char *path;
    wr_own_file *file; /* NULL: closed */
} shared;

static shared *places;
static int room;

/* The lowest free place from `from` on, or -1. */
static int find_free(int from)
{
    int i = from;
    while (i < room && places[i].taken)
        i++;
    if (i < room)
        return i;
    int more = 2 * i + 16;
    shared *grown = realloc(places, (size_t)more * sizeof *places);
    if (!grown)
        return -1;
    memset(grown + room, 0, (size_t)(more - room) * sizeof *places);
    places = grown;
    room = more;
    return i;
}

Integer sfi_get_handle(void)
{
    int place = find_free(0);
    if (place >= 0)
        places[place].taken = true;
    return place;
}

static void release(int place)
{
    free(places[place].path);
    places[place] = (shared){0};
}

void sfi_release_handle(Integer *handle)
{
    Integer place = *handle - FIRST_HANDLE;
    if (place >= 0 && place < room && places[place].taken && !places[place].file)
        release((int)place);
    *handle = 0;
}

static shared *get(int handle)
{
    long place = (long)handle - FIRST_HANDLE;
    if (place >= 0 && place < room && places[place].path)
        return &places[place];
    wr_io_refuse(WR_IO_REQUEST, "no shared file has this handle", NULL);
    return NULL;
}

static shared *get_open(int handle)
{
    shared *s = get(handle);
    if (!s || s->file)
        return s;
    wr_io_refuse(WR_IO_REQUEST, "the shared file is closed", s->path);
    return NULL;
}

/* [collective] The lowest of the codes, and why, known to all. */
static int agree(MPI_Comm comm, int code)
{
    struct {
        int code, rank;
    } mine = {code, 0}, lowest = {0};
    char reason[WR_IO_REASON];
    MPI_Comm_rank(comm, &mine.rank);
    MPI_Allreduce(&mine, &lowest, 1, MPI_2INT, MPI_MINLOC, comm);
    if (!lowest.code)
        return 0;
    snprintf(reason, sizeof reason, "%s", wr_io_reason());
    MPI_Bcast(reason, sizeof reason, MPI_CHAR, lowest.rank, comm);
    return wr_io_refuse(lowest.code, reason, NULL);
}

/* [collective] A place that is free on all processes: the name depends on it. */
static int agree_on_place(MPI_Comm comm)
{
    int ends[2] = {0, 0};
    do {
        int mine = find_free(ends[0]);
        int both[2] = {mine, -mine};
        MPI_Allreduce(both, ends, 2, MPI_INT, MPI_MAX, comm);
        if (-ends[1] < 0)
            return -1;
    } while (ends[0] != -ends[1]);
    return ends[0];
}

/* From the root: it is opened again and removed later, when the program may be in another folder.
 * NULL: no memory for it, or none for the name already. */
static char *path_of(const char *name, int suffix)
{
    char *here = name && *name != '/' ? getcwd(NULL, 0) : NULL;
    size_t size = name ? (here ? strlen(here) : 0) + strlen(name) + 16 : 0;
    char *path = name ? malloc(size) : NULL;
    if (path)
        snprintf(path, size, "%s%s%s.%d", here ? here : "", here ? "/" : "", name, suffix);
    free(here);
    return path;
}

/* [collective] One process creates the file, the others then find it. */
static int open_in_turn(MPI_Comm comm, shared *s)
{
    int rank = 0, first = s->path ? 0 : WR_IO_MEMORY;
    MPI_Comm_rank(comm, &rank);
    if (rank == 0 && !first)
        first = wr_own_file_open(s->path, BOTH, &s->file);
    int code = first;
    MPI_Bcast(&first, 1, MPI_INT, 0, comm);
    if (rank && !first && !code)
        code = wr_own_file_open(s->path, BOTH, &s->file);
    code = agree(comm, first && rank ? 0 : code);
    if (code) {
        wr_own_file_close(s->file);
        s->file = NULL;
    }
    return code;
}

/* [collective] `suffix` NULL: the number of the place. */
static int create(const char *name, const int *suffix, int *handle)
{
    MPI_Comm comm = GA_MPI_Comm_pgroup_default();
    *handle = 0;
    GA_Sync();
    int place = agree_on_place(comm);
    if (place < 0)
        return wr_io_refuse(WR_IO_MEMORY, "creating a shared file", name);
    shared *s = &places[place];
    *s = (shared){.taken = true, .path = path_of(name, suffix ? *suffix : place)};
    int code = open_in_turn(comm, s);
    if (code) {
        release(place);
        return code;
    }
    *handle = place + FIRST_HANDLE;
    return 0;
}

int SF_Create(char *fname, SFsize_t size_hard_limit, SFsize_t size_soft_limit, SFsize_t req_size,
              int *handle)
{
    (void)size_hard_limit, (void)size_soft_limit, (void)req_size;
    return create(fname, NULL, handle);
}

int SF_Create_suffix(char *fname, SFsize_t size_hard_limit, SFsize_t size_soft_limit,
                     SFsize_t req_size, int *handle, int suffix)
{
    (void)size_hard_limit, (void)size_soft_limit, (void)req_size;
    return create(fname, &suffix, handle);
}

int SF_Destroy(int handle)
{
    MPI_Comm comm = GA_MPI_Comm_pgroup_default();
    shared *s = get(handle);
    int rank = 0, code = s ? 0 : WR_IO_REQUEST;
    GA_Sync();
    code = agree(comm, code);
    if (code || !s)
        return code;
    MPI_Comm_rank(comm, &rank);
    code = agree(comm, wr_own_file_close(s->file)); /* before anybody removes it */
    s->file = NULL;
    int removed = 0;
    if (rank == 0) {
        removed = weir_file_remove(s->path);
        removed = removed && removed != WEIR_ENOENT ? wr_io_fail(WR_IO_REMOVE) : 0;
    }
    removed = agree(comm, removed);
    release(handle - FIRST_HANDLE);
    return code ? code : removed;
}

static int close_own(shared *s)
{
    int code = wr_own_file_close(s->file);
    s->file = NULL;
    return code;
}

static int reopen(int handle, int type)
{
    shared *s = get(handle);
    if (!s)
        return WR_IO_REQUEST;
    int code = close_own(s);
    return code ? code : wr_own_file_open(s->path, type, &s->file);
}

int SF_Open(int handle)
{
    return reopen(handle, BOTH);
}

int SF_Rwtor(int handle)
{
    return reopen(handle, READING);
}

int SF_Close(int handle)
{
    shared *s = get(handle);
    return s ? close_own(s) : WR_IO_REQUEST;
}

int SF_Fsync(int handle)
{
    shared *s = get_open(handle);
    return s ? wr_own_file_sync(s->file) : WR_IO_REQUEST;
}

static int start(int handle, bool write, double offset, double bytes, char *buffer, int *req_id)
{
    shared *s = get_open(handle);
    *req_id = WR_OWN_DONE;
    if (!s)
        return WR_IO_REQUEST;
    int code = wr_own_check_range(bytes, 0);
    if (code)
        return code;
    wr_own_access a = {write, offset, buffer, (size_t)bytes};
    return wr_own_file_start(s->file, &a, req_id);
}

int SF_Write(int handle, SFsize_t offset, SFsize_t bytes, char *buffer, int *req_id)
{
    return start(handle, true, offset, bytes, buffer, req_id);
}

int SF_Read(int handle, SFsize_t offset, SFsize_t bytes, char *buffer, int *req_id)
{
    return start(handle, false, offset, bytes, buffer, req_id);
}

int SF_Wait(int *req_id)
{
    int code = wr_own_file_wait(*req_id);
    *req_id = WR_OWN_DONE;
    return code;
}

int SF_Waitall(int *list, int num)
{
    int failed = 0;
    for (int i = 0; i < num; i++)
        if (SF_Wait(&list[i]))
            failed = wr_io_rename(WR_IO_FAILED);
    return failed;
}

void SF_Errmsg(int code, char *msg)
{
    wr_io_text(code, msg, WR_IO_TEXT);
}

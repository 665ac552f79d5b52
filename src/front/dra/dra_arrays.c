/* Creating, opening, closing and deleting disk resident arrays. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dra_state.h"

/* --- the table --- */

static int64_t count_open(const wr_dra_library *library)
{
    int64_t open = 0;
    for (int64_t i = 0; i < library->arrays; i++)
        open += library->array[i] != NULL;
    return open;
}

/* Handles of closed arrays are used again, as GA programs expect small numbers. */
static int take_slot(wr_dra *a)
{
    wr_dra_library *library = &wr_dra_state;
    int64_t slot = 0;
    while (slot < library->arrays && library->array[slot])
        slot++;
    if (slot == library->array_room) {
        int64_t room = 2 * library->array_room + 16;
        wr_dra **grown = realloc(library->array, (size_t)room * sizeof(wr_dra *));
        if (!grown)
            return wr_dra_fail(WEIR_ENOMEM, NULL, "no memory for a disk resident array");
        library->array = grown;
        library->array_room = room;
    }
    library->array[slot] = a;
    library->arrays = slot == library->arrays ? slot + 1 : library->arrays;
    a->handle = (int)(WR_DRA_FIRST + slot);
    return 0;
}

static void forget(wr_dra *a)
{
    wr_dra_state.array[a->handle - WR_DRA_FIRST] = NULL;
    free(a);
}

/* [collective] The name that rank 0 was given counts: programs pass others on other ranks. */
static int name_array(wr_dra *a, const char *file)
{
    const wr_dra_library *library = &wr_dra_state;
    snprintf(a->given, sizeof a->given, "%s", file);
    int code = wr_dra_agree(library->rank == 0 ? wr_dra_absolute(file, a->file) : 0, 0);
    MPI_Bcast(a->given, sizeof a->given, MPI_CHAR, 0, library->comm);
    MPI_Bcast(a->file, sizeof a->file, MPI_CHAR, 0, library->comm);
    return code;
}

static int new_array(const char *file, int mode, wr_dra **out)
{
    wr_dra_library *library = &wr_dra_state;
    const size_t length = file ? strlen(file) : 0;
    if (!library->started)
        return wr_dra_fail(WEIR_EINVAL, NULL, "DRA_Init was not called");
    wr_dra *a = calloc(1, sizeof *a);
    int code = a ? 0 : wr_dra_fail(WEIR_ENOMEM, NULL, "no memory for a disk resident array");
    if (!code && (!length || length > WR_DRA_FILE))
        code = wr_dra_fail(WEIR_EINVAL, NULL, "a file's name has 1 to %d characters, not %zu",
                           WR_DRA_FILE, length);
    if (!code && (mode > WR_DRA_RW || mode < WR_DRA_R))
        code = wr_dra_fail(WEIR_EINVAL, file, "mode %d is none of DRA_RW, DRA_W and DRA_R", mode);
    if (!code && library->most_arrays && count_open(library) >= library->most_arrays)
        code = wr_dra_fail(WEIR_EBUDGET, file, "%lld arrays are open, as many as DRA_Init allows",
                           (long long)library->most_arrays);
    if (!code && a)
        code = take_slot(a);
    code = wr_dra_agree(code, wr_dra_mix(0, mode));
    if (code || !a || !file) {
        if (a && a->handle)
            library->array[a->handle - WR_DRA_FIRST] = NULL;
        free(a);
        return code;
    }
    a->mode = mode;
    code = name_array(a, file);
    if (code)
        forget(a);
    else
        *out = a;
    return code;
}

/* --- creating --- */

static int check_order(const wr_dra_order *o)
{
    const wr_dra_library *library = &wr_dra_state;
    const int type = wr_dra_type(o->ga_type);
    double bytes = (double)weir_type_bytes(type);
    if (!type)
        return wr_dra_fail(WEIR_EINVAL, o->file, "elements of type %d cannot be stored",
                           o->ga_type);
    if (o->dimensions < 1 || o->dimensions > WR_DRA_DIMENSIONS)
        return wr_dra_fail(WEIR_EINVAL, o->file, "%d dimensions: there can be 1 to %d",
                           o->dimensions, WR_DRA_DIMENSIONS);
    for (int i = 0; i < o->dimensions; i++) {
        if (o->shape[i] < 1)
            return wr_dra_fail(WEIR_EINVAL, o->file, "%lld indices in a dimension",
                               (long long)o->shape[i]);
        bytes *= (double)o->shape[i];
    }
    if (bytes > 9e18)
        return wr_dra_fail(WEIR_ERANGE, o->file, "an array of more than 2^63 bytes");
    if (strlen(o->name) > WR_DRA_NAME || strchr(o->name, '\n'))
        return wr_dra_fail(WEIR_EINVAL, o->file, "an array's name has at most %d characters",
                           WR_DRA_NAME);
    if (library->most_bytes && bytes > (double)library->most_bytes)
        return wr_dra_fail(WEIR_EBUDGET, o->file, "%.0f bytes; DRA_Init allows an array %lld",
                           bytes, (long long)library->most_bytes);
    if (library->disk_bytes && bytes + (double)library->disk_used > (double)library->disk_bytes)
        return wr_dra_fail(WEIR_EBUDGET, o->file, "%.0f bytes more; DRA_Init allows %lld on disk",
                           bytes, (long long)library->disk_bytes);
    return 0;
}

static uint64_t hash_order(const wr_dra_order *o)
{
    uint64_t h = wr_dra_mix(wr_dra_mix((uint64_t)o->files, o->io_ranks), wr_dra_type(o->ga_type));
    for (int i = 0; i < o->dimensions && i < WR_DRA_DIMENSIONS; i++)
        h = wr_dra_mix(wr_dra_mix(h, o->shape[i]), o->request[i]);
    return h;
}

/* Local arrays for as many files as asked for, dealt to logical disks if there are any. */
static int spread(const wr_dra_order *o, weir_array_info *info)
{
    const int files = o->files;
    int grid[WEIR_MAX_DIMENSIONS] = {0};
    if (files < 2)
        return 0;
    int code = weir_distribution_grid(files, o->dimensions, grid);
    for (int i = 0; i < o->dimensions && !code; i++)
        info->distribution.grid[i] = grid[i];
    info->members = files;
    return code;
}

/* [collective] Makes the array that is ordered, under the name it is to have until it is closed. */
static int make(wr_dra *a, const wr_dra_order *o)
{
    char hints[WR_DRA_HINTS + 64], disks[1024];
    const char *disk[WR_DRA_DISKS];
    int64_t tile[WEIR_MAX_DIMENSIONS] = {0};
    static const int64_t whole[WEIR_MAX_DIMENSIONS]; /* zeros: one file */
    weir_array_options options = {.overwrite = 1};
    weir_array_info info = {.type = a->type, .dimensions = a->dimensions};
    memcpy(info.shape, a->shape, sizeof a->shape);
    info.columns = wr_dra_by_columns(o, weir_type_bytes(a->type), wr_dra_state.memory);
    snprintf(hints, sizeof hints, "%s", wr_dra_state.hints);
    if (o->io_ranks > 0)
        snprintf(hints, sizeof hints, "%s%saggregators=%d", wr_dra_state.hints,
                 *wr_dra_state.hints ? ";" : "", o->io_ranks);
    int code = spread(o, &info);
    if (!info.members && wr_dra_in_tiles(o, weir_type_bytes(a->type), tile)) {
        info.format = WEIR_ZARR;
        info.columns = 0;
        info.tile = tile;
        info.shard = whole;
    }
    if (!code && info.members)
        code = wr_dra_disks(disks, sizeof disks, &options, disk);
    if (!code && wr_dra_state.rank == 0)
        code = wr_dra_place(a->file, a->made);
    code = wr_dra_agree(code, 0);
    MPI_Bcast(a->made, sizeof a->made, MPI_CHAR, 0, wr_dra_state.comm);
    if (*a->made) /* it is synced when it is moved, if it is kept */
        snprintf(hints + strlen(hints), 32, "%sdurable=disable", *hints ? ";" : "");
    return code ? code
                : weir_array_create(wr_dra_state.comm, *a->made ? a->made : a->file, &info,
                                    &options, *hints ? hints : NULL, &a->array);
}

int wr_dra_create(const wr_dra_order *order, int *handle)
{
    wr_dra *a = NULL;
    int code = new_array(order->file, order->mode, &a);
    if (code || !a)
        return code;
    code = wr_dra_agree(check_order(order), hash_order(order));
    if (!code) {
        a->fresh = true;
        a->ga_type = order->ga_type;
        a->type = wr_dra_type(order->ga_type);
        a->dimensions = order->dimensions;
        memcpy(a->shape, order->shape, sizeof a->shape);
        snprintf(a->name, sizeof a->name, "%s", order->name);
        code = make(a, order);
    }
    if (code) {
        forget(a);
        return code;
    }
    a->bytes = weir_array_get_info(a->array)->bytes;
    wr_dra_state.disk_used += a->bytes;
    *handle = a->handle;
    return 0;
}

/* --- opening --- */

/* What rank 0 sees. */
typedef struct sight {
    int64_t kind;
    wr_dra_label label;
} sight;

static int look(const char *file, sight *s)
{
    char left[WR_DRA_PATH];
    s->kind = wr_dra_look(file, left);
    switch ((enum wr_dra_kind)s->kind) {
    case WR_DRA_NOTHING:
        return wr_dra_fail(WEIR_ENOENT, file, "there is no disk resident array of that name");
    case WR_DRA_UNFINISHED:
        return wr_dra_fail(WEIR_EFORMAT, left,
                           "the array is incomplete: who created it has not closed it; renamed it "
                           "can be opened as it is");
    case WR_DRA_OLD:
        return 0;
    case WR_DRA_ARRAY:
        break;
    }
    int code = wr_dra_label_read(file, &s->label);
    if (!code && s->label.writing)
        code = wr_dra_fail(WEIR_EFORMAT, file,
                           "the array is incomplete: who wrote to it has not closed it; without "
                           "the file beside it that ends with .dra it can be opened as it is");
    return code;
}

static int open_array(wr_dra *a, const sight *s)
{
    const int mode = a->mode == WR_DRA_R ? WEIR_READ : WEIR_READ | WEIR_WRITE;
    const char *hints = wr_dra_state.hints;
    int code = weir_array_open(wr_dra_state.comm, a->file, mode, *hints ? hints : NULL, &a->array);
    if (code)
        return code;
    const weir_array_info *info = weir_array_get_info(a->array);
    a->type = info->type;
    a->dimensions = info->dimensions;
    a->ga_type = wr_dra_ga_type(a->type);
    if (wr_dra_type(s->label.ga_type) == a->type)
        a->ga_type = s->label.ga_type;
    if (!a->ga_type || a->dimensions < 1 || a->dimensions > WR_DRA_DIMENSIONS) {
        weir_array_close(a->array);
        return wr_dra_fail(WEIR_EUNSUPPORTED, a->file,
                           "an array of %d dimensions and type %s, which GA does not have",
                           a->dimensions, weir_type_name(a->type));
    }
    memcpy(a->shape, info->shape, sizeof a->shape);
    snprintf(a->name, sizeof a->name, "%s", s->label.name);
    return 0;
}

int wr_dra_open(const char *file, int mode, int *handle)
{
    sight s = {0};
    wr_dra *a = NULL;
    int code = new_array(file, mode, &a);
    if (code || !a)
        return code;
    if (wr_dra_state.rank == 0)
        code = look(a->file, &s);
    code = wr_dra_agree(code, 0);
    if (!code) {
        MPI_Bcast(&s, sizeof s, MPI_BYTE, 0, wr_dra_state.comm);
        code = s.kind == WR_DRA_OLD ? wr_dra_old_open(a->file, a) : open_array(a, &s);
    }
    if (code) {
        forget(a);
        return code;
    }
    *handle = a->handle;
    return 0;
}

/* --- closing --- */

/* The array is whole and has its name: so does its label. */
static int label_whole(const wr_dra *a)
{
    wr_dra_label label = {.ga_type = a->ga_type};
    snprintf(label.name, sizeof label.name, "%s", a->name);
    int code = wr_dra_state.rank == 0 ? wr_dra_label_write(a->file, &label) : 0;
    return wr_dra_agree(code, 0);
}

/* Its label goes on saying that it is being written; the error says why. */
static int close_unsynced(wr_dra *a)
{
    weir_error error = *weir_error_last();
    char why[WEIR_ERROR_TEXT];
    memcpy(why, error.text, sizeof why);
    snprintf(error.text, sizeof error.text, "it is left marked as incomplete: %.200s", why);
    weir_array_close(a->array);
    return weir_error_raise(&error);
}

/* Of a new array that was not written whole nothing is left: a full disk would stay full. */
static int close_array(wr_dra *a)
{
    if (a->old)
        return wr_dra_old_close(a->old);
    int code = a->marked && !a->failed ? weir_array_sync_durable(a->array) : 0;
    if (code)
        return close_unsynced(a);
    if (!a->fresh || !a->failed)
        return weir_array_close(a->array);
    code = weir_array_discard(a->array);
    wr_dra_state.disk_used -= a->bytes;
    return code ? code
                : wr_dra_fail(WEIR_EIO, a->file, "a write to it has failed, so it is not kept");
}

/* [collective] Bytes that go when the name gets another array, or none: they count no longer. */
static int64_t bytes_at(const char *file)
{
    const wr_dra_library *library = &wr_dra_state;
    char left[WR_DRA_PATH];
    weir_array *array;
    int64_t seen[2] = {0}; /* what it is, and an old one's bytes */
    if (!library->disk_bytes)
        return 0;
    if (library->rank == 0)
        seen[0] = wr_dra_look(file, left);
    if (seen[0] == WR_DRA_OLD)
        seen[1] = wr_dra_old_bytes(file);
    MPI_Bcast(seen, 2, MPI_INT64_T, 0, library->comm);
    const weir_error error = *weir_error_last();
    if (seen[0] == WR_DRA_ARRAY && !weir_array_open(library->comm, file, WEIR_READ, NULL, &array)) {
        seen[1] = weir_array_get_info(array)->bytes;
        weir_array_close(array);
    }
    weir_error_raise(&error);
    return seen[1];
}

int wr_dra_close(int handle)
{
    wr_dra *a = wr_dra_find(handle);
    int code = a ? wr_dra_settle(a) : weir_error_last()->code;
    if (!a)
        return code;
    weir_error error = *weir_error_last();
    const int64_t replaced = a->fresh && !a->failed ? bytes_at(a->file) : 0;
    int closed = close_array(a);
    if (!closed && *a->made)
        closed = wr_dra_move(a->made, a->file);
    if (!closed && a->marked && a->failed)
        closed = wr_dra_fail(WEIR_EIO, a->file,
                             "a write to it has failed, so it is left marked as incomplete");
    if (!closed && (a->fresh || a->marked))
        closed = label_whole(a);
    if (!closed)
        wr_dra_state.disk_used -= replaced;
    forget(a);
    return code ? weir_error_raise(&error) : closed;
}

static void remove_old(const char *file)
{
    char left[WR_DRA_PATH];
    if (wr_dra_state.rank == 0 && wr_dra_look(file, left) == WR_DRA_OLD)
        wr_dra_old_remove(file, false);
}

int wr_dra_delete(int handle)
{
    wr_dra *a = wr_dra_find(handle);
    if (!a)
        return weir_error_last()->code;
    wr_dra_settle(a); /* whatever came of it */
    int code = 0;
    if (a->old)
        code = wr_dra_old_close(a->old);
    else
        code = a->fresh ? weir_array_discard(a->array) : weir_array_close(a->array);
    if (a->fresh)
        wr_dra_state.disk_used -= a->bytes;
    wr_dra_state.disk_used -= bytes_at(a->file);
    remove_old(a->file);
    if (wr_dra_state.rank == 0)
        wr_dra_label_remove(a->file); /* before the others are told anything */
    /* an array that a new one was to replace goes with it */
    int64_t there = access(a->file, F_OK) == 0;
    MPI_Bcast(&there, 1, MPI_INT64_T, 0, wr_dra_state.comm);
    if (there) {
        int removed = weir_array_remove(wr_dra_state.comm, a->file);
        code = code ? code : removed;
    }
    forget(a);
    return code;
}

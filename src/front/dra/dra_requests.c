/* Transfers between global arrays and disk resident ones, all of them in the background.
 *
 * Where each rank has a block of the global array in memory of its own, its part of the section
 * goes straight between there and the file. Otherwise (other distributions, reshaped sections) the
 * section is counted element by element, each rank takes an equal share of the count, and a share
 * goes through memory of the library, in rounds where the budget is smaller. GA may be called by
 * the program's thread only: what is read is put into the global array within wait, probe or flick.
 */
#include <ga.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dra_state.h"

struct wr_dra_request {
    struct wr_dra_request *next;
    int id;
    wr_dra *array;
    wr_dra_transfer transfer;
    bool over;
    int code;
    weir_error error;
    int items, started;
    weir_request **item; /* one; of an old array one a file */

    int64_t element;
    wr_dra_box part; /* of the global array, where it goes straight */
    bool straight, empty;
    char *staging, *bounce;                    /* else: a round of this rank's share */
    int64_t taken;                             /* bytes of the budget */
    int64_t first, last, round, rounds, quota; /* elements, counted as the disk has them */
};

/* --- what a transfer is about --- */

int wr_dra_global_dimensions(int g_a)
{
    return GA_Valid_handle(g_a) ? GA_Ndim(g_a) : 0;
}

static int64_t extent(const wr_dra_box *b, int d)
{
    return b->hi[d] - b->lo[d];
}

static bool is_alike(const wr_dra_transfer *t, int global, int disk)
{
    if (global != disk)
        return false;
    for (int i = 0; i < disk; i++)
        if (extent(&t->disk, i) != extent(&t->global, t->transposed ? disk - 1 - i : i))
            return false;
    return true;
}

static int check_box(const wr_dra_box *box, int dimensions, const int64_t *shape, const char *what)
{
    for (int i = 0; i < dimensions; i++)
        if (box->lo[i] < 0 || box->hi[i] <= box->lo[i] || box->hi[i] > shape[i])
            return wr_dra_fail(
                WEIR_EINVAL, NULL,
                "indices %lld to %lld in dimension %d of the %s array, which has %lld",
                (long long)box->lo[i], (long long)box->hi[i] - 1, i, what, (long long)shape[i]);
    return 0;
}

static int check_mode(const wr_dra_transfer *t, const wr_dra *a)
{
    if (t->write && a->mode == WR_DRA_R)
        return wr_dra_fail(WEIR_EACCESS, a->file, "the array was opened for reading only");
    if (!t->write && a->mode == WR_DRA_W)
        return wr_dra_fail(WEIR_EACCESS, a->file, "the array was opened for writing only");
    return 0;
}

static void take_whole(int dimensions, const int64_t *shape, wr_dra_box *out)
{
    for (int i = 0; i < dimensions; i++) {
        out->lo[i] = 0;
        out->hi[i] = shape[i];
    }
}

/* What is wrong with a transfer, boxes of whole arrays set. */
static int check(wr_dra_transfer *t, wr_dra **array, int *dimensions)
{
    int64_t shape[GA_MAX_DIM];
    int ga_type, n;
    wr_dra *a = *array = wr_dra_find(t->d_a);
    if (!a)
        return weir_error_last()->code;
    *dimensions = wr_dra_global_dimensions(t->g_a);
    if (*dimensions < 1 || *dimensions > WR_DRA_DIMENSIONS)
        return wr_dra_fail(WEIR_EINVAL, a->file, "%d is no global array", t->g_a);
    NGA_Inquire64(t->g_a, &ga_type, &n, shape);
    int code = check_mode(t, a);
    if (!code && wr_dra_type(ga_type) != a->type)
        code = wr_dra_fail(WEIR_EINVAL, a->file,
                           "a global array of type %d does not fit one on disk of type %d", ga_type,
                           a->ga_type);
    if (!code && t->whole) {
        take_whole(n, shape, &t->global);
        take_whole(a->dimensions, a->shape, &t->disk);
        if (!is_alike(t, n, a->dimensions))
            code = wr_dra_fail(WEIR_EINVAL, a->file, "the arrays have different shapes");
    }
    if (!code)
        code = check_box(&t->global, n, shape, "global");
    if (!code)
        code = check_box(&t->disk, a->dimensions, a->shape, "disk resident");
    if (!code && wr_dra_count(n, &t->global) != wr_dra_count(a->dimensions, &t->disk))
        code = wr_dra_fail(WEIR_EINVAL, a->file, "%lld elements of a global array, %lld on disk",
                           (long long)wr_dra_count(n, &t->global),
                           (long long)wr_dra_count(a->dimensions, &t->disk));
    if (!code && t->transposed && !is_alike(t, n, a->dimensions))
        code = wr_dra_fail(WEIR_EINVAL, a->file, "a transposed section of another shape");
    return code;
}

static uint64_t hash(const wr_dra_transfer *t, int global, int disk)
{
    uint64_t h = wr_dra_mix(t->write, t->transposed);
    for (int i = 0; i < global && i < WR_DRA_DIMENSIONS; i++)
        h = wr_dra_mix(wr_dra_mix(h, t->global.lo[i]), t->global.hi[i]);
    for (int i = 0; i < disk; i++)
        h = wr_dra_mix(wr_dra_mix(h, t->disk.lo[i]), t->disk.hi[i]);
    return h;
}

/* Whether each rank's block is in memory of its own. */
static bool has_blocks(int g_a)
{
    return GA_Total_blocks(g_a) < 0 && !GA_Is_mirrored(g_a) &&
           GA_Get_pgroup(g_a) == wr_dra_state.group;
}

/* --- starting --- */

static int start_boxes(wr_dra_request *r, const wr_dra_memory *m)
{
    const wr_dra *a = r->array;
    const bool write = r->transfer.write;
    if (a->old)
        return wr_dra_old_start(a, write, m, r->item);
    int64_t lo[WR_DRA_RANGE_BOXES * WR_DRA_DIMENSIONS], hi[WR_DRA_RANGE_BOXES * WR_DRA_DIMENSIONS];
    const size_t each = (size_t)a->dimensions;
    for (int i = 0; i < m->boxes; i++) {
        memcpy(lo + (size_t)i * each, m->box[i].lo, each * sizeof *lo);
        memcpy(hi + (size_t)i * each, m->box[i].hi, each * sizeof *hi);
    }
    const weir_selection box = {.lo = lo, .hi = hi};
    const weir_selection several = {.boxes = m->boxes, .box_lo = lo, .box_hi = hi};
    const weir_selection *own = m->boxes == 1 ? &box : m->boxes ? &several : NULL;
    const weir_layout layout = {.stride = m->boxes == 1 ? m->stride : NULL};
    return write ? weir_array_write_all(a->array, own, &layout, m->base, r->item)
                 : weir_array_read_all(a->array, own, &layout, m->base, r->item);
}

/* This rank's block of the section, as a box of the disk's and strides of memory. */
static int start_straight(wr_dra_request *r)
{
    const wr_dra_transfer *t = &r->transfer;
    const int n = r->array->dimensions;
    int64_t lo[GA_MAX_DIM], hi[GA_MAX_DIM], ld[GA_MAX_DIM], own[GA_MAX_DIM];
    int64_t stride[WR_DRA_DIMENSIONS];
    wr_dra_box box;
    wr_dra_memory memory = {.box = &box, .stride = stride};
    NGA_Distribution64(t->g_a, wr_dra_state.rank, lo, hi);
    for (int i = 0; i < n; i++) {
        lo[i] = lo[i] > t->global.lo[i] ? lo[i] : t->global.lo[i];
        hi[i] = hi[i] < t->global.hi[i] - 1 ? hi[i] : t->global.hi[i] - 1;
        r->empty = r->empty || hi[i] < lo[i];
    }
    if (r->empty)
        return start_boxes(r, &memory);
    NGA_Access64(t->g_a, lo, hi, &memory.base, ld);
    own[n - 1] = r->element;
    for (int i = n - 2; i >= 0; i--)
        own[i] = own[i + 1] * ld[i];
    for (int i = 0; i < n; i++) {
        const int g = t->transposed ? n - 1 - i : i;
        box.lo[i] = t->disk.lo[i] + lo[g] - t->global.lo[g];
        box.hi[i] = box.lo[i] + hi[g] - lo[g] + 1;
        stride[i] = own[g];
        r->part.lo[i] = lo[i];
        r->part.hi[i] = hi[i];
    }
    memory.boxes = 1;
    return start_boxes(r, &memory);
}

/* --- shares --- */

typedef struct share {
    int disk_boxes, global_boxes;
    wr_dra_box disk[WR_DRA_RANGE_BOXES], global[WR_DRA_RANGE_BOXES];
} share;

static void find_share(const wr_dra_request *r, share *s)
{
    const wr_dra_transfer *t = &r->transfer;
    const int n = r->array->dimensions;
    int64_t first = r->first + r->round * r->quota, last = first + r->quota;
    first = first < r->last ? first : r->last;
    last = last < r->last ? last : r->last;
    s->disk_boxes = wr_dra_range(n, &t->disk, first, last, s->disk);
    if (!t->transposed) {
        s->global_boxes = wr_dra_range(GA_Ndim(t->g_a), &t->global, first, last, s->global);
        return;
    }
    s->global_boxes = s->disk_boxes;
    for (int b = 0; b < s->disk_boxes; b++)
        for (int i = 0; i < n; i++) {
            const int d = n - 1 - i;
            s->global[b].lo[i] = t->global.lo[i] + s->disk[b].lo[d] - t->disk.lo[d];
            s->global[b].hi[i] = t->global.lo[i] + s->disk[b].hi[d] - t->disk.lo[d];
        }
}

/* A dense box to or from one whose dimensions are reversed. */
static int reverse(int n, const wr_dra_box *box, int64_t element, void *from, void *to)
{
    int64_t size[WR_DRA_DIMENSIONS];
    int walk[WR_DRA_DIMENSIONS];
    weir_pattern *reversed = NULL, *dense = NULL;
    for (int i = 0; i < n; i++) {
        size[i] = extent(box, i);
        walk[i] = n - 1 - i;
    }
    const weir_shape array = {.dimensions = n, .element = element, .size = size};
    int code = weir_pattern_section(&array, &(weir_selection){0}, walk, &reversed);
    if (!code)
        code = weir_pattern_contiguous(0, wr_dra_count(n, box) * element, &dense);
    if (!code)
        code = weir_pattern_copy(reversed, from, dense, to);
    weir_pattern_free(reversed);
    weir_pattern_free(dense);
    return code;
}

/* One box of a global array between there and the library's memory. */
static int move_box(const wr_dra_request *r, const wr_dra_box *box, char *memory)
{
    const wr_dra_transfer *t = &r->transfer;
    const int n = GA_Ndim(t->g_a);
    int64_t lo[GA_MAX_DIM], hi[GA_MAX_DIM], ld[GA_MAX_DIM] = {1};
    wr_dra_box turned;
    for (int i = 0; i < n; i++) {
        lo[i] = box->lo[i];
        hi[i] = box->hi[i] - 1;
        turned.lo[i] = 0;
        turned.hi[i] = extent(box, n - 1 - i);
        if (i)
            ld[i - 1] = extent(box, i);
    }
    char *own = t->transposed ? r->bounce : memory;
    int code = 0;
    if (t->write) {
        NGA_Get64(t->g_a, lo, hi, own, ld);
        if (t->transposed)
            code = reverse(n, box, r->element, own, memory);
        return code;
    }
    if (t->transposed)
        code = reverse(n, &turned, r->element, memory, own);
    if (!code)
        NGA_Put64(t->g_a, lo, hi, own, ld);
    return code;
}

static int move_boxes(const wr_dra_request *r, const share *s)
{
    int64_t at = 0;
    int code = 0;
    for (int i = 0; i < s->global_boxes && !code; i++) {
        code = move_box(r, &s->global[i], r->staging + at);
        at += wr_dra_count(GA_Ndim(r->transfer.g_a), &s->global[i]) * r->element;
    }
    return code;
}

static int start_round(wr_dra_request *r)
{
    share s;
    int64_t stride[WR_DRA_DIMENSIONS];
    find_share(r, &s);
    int code = r->transfer.write ? move_boxes(r, &s) : 0;
    wr_dra_memory memory = {.box = s.disk, .base = r->staging};
    memory.boxes = code ? 0 : s.disk_boxes; /* others take part: so must we, with nothing */
    if (memory.boxes == 1) {
        wr_dra_strides(r->array->dimensions, &s.disk[0], r->element, stride);
        memory.stride = stride;
    }
    int started = start_boxes(r, &memory);
    return code ? code : started;
}

/* The share of this rank, and memory for a round of it; the same rounds on all ranks. */
static int prepare_shares(wr_dra_request *r)
{
    enum { LEAST = 64 << 10 };
    wr_dra_library *library = &wr_dra_state;
    const int64_t all = wr_dra_count(r->array->dimensions, &r->transfer.disk);
    const int64_t each = (all + library->ranks - 1) / library->ranks;
    const int64_t times = r->transfer.transposed ? 2 : 1;
    int64_t free_bytes = wr_dra_budget() - library->staged;
    if (free_bytes < LEAST)
        free_bytes = LEAST;
    r->quota = free_bytes / times / r->element;
    r->quota = r->quota < each ? r->quota : each;
    r->rounds = (each + r->quota - 1) / r->quota;
    r->first = each * library->rank < all ? each * library->rank : all;
    r->last = r->first + each < all ? r->first + each : all;
    const int64_t bytes = r->quota * r->element;
    r->staging = malloc((size_t)bytes);
    r->bounce = times > 1 ? malloc((size_t)bytes) : NULL;
    if (!r->staging || (times > 1 && !r->bounce))
        return wr_dra_fail(WEIR_ENOMEM, r->array->file, "no memory for %lld bytes",
                           (long long)bytes * times);
    r->taken = bytes * times;
    return 0;
}

/* --- requests --- */

static void free_request(wr_dra_request *r)
{
    if (!r)
        return;
    wr_dra_state.staged -= r->taken;
    free(r->staging);
    free(r->bounce);
    free(r->item);
    free(r);
}

static int new_request(const wr_dra_transfer *t, wr_dra *a, bool straight, wr_dra_request **out)
{
    wr_dra_request *r = *out = calloc(1, sizeof *r);
    if (!r)
        return wr_dra_fail(WEIR_ENOMEM, a->file, "no memory for a request");
    r->transfer = *t;
    r->array = a;
    r->element = weir_type_bytes(a->type);
    r->straight = straight;
    r->rounds = 1;
    r->items = a->old ? wr_dra_old_files(a->old) : 1;
    r->item = calloc((size_t)r->items, sizeof(weir_request *));
    if (!r->item)
        return wr_dra_fail(WEIR_ENOMEM, a->file, "no memory for a request");
    return straight ? 0 : prepare_shares(r);
}

/* [collective] The label of an array that was opened says that it is being written, until it is
 * closed. */
static int mark(wr_dra *a)
{
    wr_dra_label label = {.ga_type = a->ga_type, .writing = true};
    if (a->fresh || a->marked || a->old)
        return 0;
    snprintf(label.name, sizeof label.name, "%s", a->name);
    int code = wr_dra_agree(wr_dra_state.rank == 0 ? wr_dra_label_write(a->file, &label) : 0, 0);
    a->marked = !code;
    return code;
}

static void enlist(wr_dra_request *r)
{
    wr_dra_library *library = &wr_dra_state;
    wr_dra_request **end = &library->requests;
    while (*end)
        end = &(*end)->next;
    *end = r;
    r->id = library->next_request++;
    if (library->next_request == INT32_MAX)
        library->next_request = 0;
    library->staged += r->taken;
}

/* What went wrong is remembered, but for what was before. */
static void note(wr_dra_request *r, int code)
{
    if (!code || r->code)
        return;
    r->code = code;
    r->error = *weir_error_last();
}

int wr_dra_start(wr_dra_transfer *t, int *request)
{
    wr_dra *a = NULL;
    wr_dra_request *r = NULL;
    int global = 0;
    int code = check(t, &a, &global);
    if (!wr_dra_state.started)
        return code;
    if (!code && a)
        code = new_request(t, a, is_alike(t, global, a->dimensions) && has_blocks(t->g_a), &r);
    code = wr_dra_agree(code, hash(t, global, a ? a->dimensions : 0));
    if (!code && a && t->write)
        code = mark(a);
    if (code || !r) {
        if (r)
            r->taken = 0; /* not counted yet */
        free_request(r);
        return code;
    }
    GA_Sync();
    enlist(r);
    note(r, r->straight ? start_straight(r) : start_round(r));
    *request = r->id;
    return 0;
}

/* What was read reaches the global array; 1 if another round was started. */
static int finish_round(wr_dra_request *r)
{
    const wr_dra_transfer *t = &r->transfer;
    share s;
    if (r->straight) {
        if (!r->empty && !t->write)
            NGA_Release_update64(t->g_a, r->part.lo, r->part.hi);
        else if (!r->empty)
            NGA_Release64(t->g_a, r->part.lo, r->part.hi);
    } else if (!t->write && !r->code) {
        find_share(r, &s);
        note(r, move_boxes(r, &s));
    }
    if (++r->round == r->rounds)
        return 0;
    note(r, start_round(r)); /* also after an error: others take part */
    return 1;
}

static void end(wr_dra_request *r)
{
    note(r, wr_dra_agree(r->code, 0));
    if (r->code && r->transfer.write)
        r->array->failed = true;
    r->over = true;
    GA_Sync();
}

static wr_dra_request *find(int id)
{
    wr_dra_request *r = wr_dra_state.requests;
    while (r && r->id != id)
        r = r->next;
    return r;
}

static int drop(wr_dra_request *r)
{
    wr_dra_request **place = &wr_dra_state.requests;
    while (*place != r)
        place = &(*place)->next;
    *place = r->next;
    int code = r->code ? weir_error_raise(&r->error) : 0;
    free_request(r);
    return code;
}

static int finish(wr_dra_request *r)
{
    while (!r->over) {
        for (int i = 0; i < r->items; i++)
            note(r, weir_request_wait(&r->item[i], NULL));
        if (!finish_round(r))
            end(r);
    }
    return drop(r);
}

/* A request that is not there was waited for before, if it ever was. */
static int check_request(int id)
{
    if (!wr_dra_state.started)
        return wr_dra_fail(WEIR_EINVAL, NULL, "DRA_Init was not called");
    if (id != WR_DRA_INVALID && (id < 0 || id >= wr_dra_state.next_request))
        return wr_dra_fail(WEIR_EINVAL, NULL, "%d is no request", id);
    return 0;
}

int wr_dra_wait(int id)
{
    int code = check_request(id);
    wr_dra_request *r = code ? NULL : find(id);
    return r ? finish(r) : code;
}

int wr_dra_settle(const wr_dra *array)
{
    int code = 0;
    weir_error error = {0};
    for (wr_dra_request *r = wr_dra_state.requests, *next; r; r = next) {
        next = r->next;
        int failed = array && r->array != array ? 0 : finish(r);
        if (failed && !code) {
            code = failed;
            error = *weir_error_last();
        }
    }
    return code ? weir_error_raise(&error) : 0;
}

/* Whether all of a round is done, on this rank. */
static int64_t test(wr_dra_request *r)
{
    for (int i = 0; i < r->items; i++) {
        int over = 1;
        if (r->item[i])
            note(r, weir_request_test(&r->item[i], &over, NULL));
        if (!over)
            return 0;
    }
    return 1;
}

/* A request that is over without an error is forgotten; others tell it when they are waited for. */
int wr_dra_probe(int id, int *done)
{
    int code = check_request(id);
    wr_dra_request *r = code ? NULL : find(id);
    *done = 1;
    if (!r || r->over)
        return code;
    int64_t all, own = test(r);
    if (MPI_Allreduce(&own, &all, 1, MPI_INT64_T, MPI_MIN, wr_dra_state.comm) != MPI_SUCCESS)
        return wr_dra_fail(WEIR_ETRANSPORT, NULL, "ranks could not agree");
    *done = all && !finish_round(r);
    if (!*done)
        return 0;
    end(r);
    if (!r->code)
        drop(r);
    return 0;
}

void wr_dra_flick(void)
{
    int done;
    weir_progress_poll();
    for (wr_dra_request *r = wr_dra_state.requests, *next; r; r = next) {
        next = r->next;
        wr_dra_probe(r->id, &done);
    }
}

/* Forms that do not block: an access becomes a request, which owns copies of its patterns. */
#include <string.h>

#include "base/arith.h"
#include "base/clock.h"
#include "file/inside.h"

enum { ALIGN = 64 };

static int64_t padded(int64_t bytes)
{
    return wr_round_up(bytes, ALIGN);
}

static const weir_pattern *copy(const weir_pattern *p, char *place)
{
    weir_pattern *out = (weir_pattern *)(void *)place;
    memcpy(out, p, (size_t)weir_pattern_footprint(p));
    *out = wr_pattern_attach(out);
    return out;
}

/* A request with the access in it, or NULL. */
static weir_request *make(const wr_access_request *a)
{
    int64_t head = padded(sizeof(weir_request)), where = padded(weir_pattern_footprint(a->file));
    int64_t memory = weir_pattern_footprint(a->memory);
    weir_request *r = wr_alloc(head + where + memory);
    if (!r)
        return NULL;
    *r = (weir_request){.access.a = *a};
    r->access.a.file = copy(a->file, (char *)r + head);
    r->access.a.memory = copy(a->memory, (char *)r + head + where);
    return r;
}

void wr_request_free(weir_request *r)
{
    if (!r)
        return;
    wr_task_free(r->access.op.own);
    wr_task_free(r->access.op.job.own);
    wr_free(r);
}

int wr_request_new_spare(weir_request **out)
{
    weir_request *r = wr_alloc(sizeof *r);
    if (!r)
        return WEIR_ENOMEM;
    *r = (weir_request){.spare = true};
    int code = wr_task_new(&r->access.op.own);
    if (code)
        wr_free(r);
    else
        *out = r;
    return code;
}

/* Takes what was laid by. */
static weir_request *make_spare(weir_file *f, const wr_access_request *a)
{
    weir_request *r = f->spare;
    f->spare = NULL;
    if (!r)
        return NULL;
    const weir_pattern *none = wr_run_pattern_set(&r->nothing, 0, 0);
    r->access.a = (wr_access_request){
        .direction = a->direction, .file = none, .memory = none, .base = a->base};
    r->access.op.code = WEIR_ENOMEM;
    r->access.op.error = *weir_error_last();
    return r;
}

static void enlist(weir_file *f, weir_request *r)
{
    pthread_mutex_lock(&f->lock);
    r->next = f->requests;
    r->place = &f->requests;
    if (r->next)
        r->next->place = &r->next;
    f->requests = r;
    pthread_mutex_unlock(&f->lock);
}

static weir_request *first_of(weir_file *f)
{
    pthread_mutex_lock(&f->lock);
    weir_request *r = f->requests;
    pthread_mutex_unlock(&f->lock);
    return r;
}

static void strike(weir_file *f, weir_request *r)
{
    pthread_mutex_lock(&f->lock);
    *r->place = r->next;
    if (r->next)
        r->next->place = r->place;
    pthread_mutex_unlock(&f->lock);
}

/* Starts it, or frees it. */
static weir_request *start(weir_file *f, weir_request *r, const wr_start *how)
{
    if (!r)
        return NULL;
    r->file = f;
    r->access.group = &f->group;
    r->access.op.together = how->together;
    r->access.form = how->form;
    if (!wr_group_access_start(&r->access))
        return r;
    wr_request_free(r);
    return NULL;
}

/* An error of this rank alone. */
static int refuse(const weir_file *f, int code)
{
    if (f->group.handle.world && !*weir_error_last()->file)
        wr_error_note_file(f->group.handle.storage->path, -1);
    return code;
}

/* What a call has taken that is about the request. */
static void begin_part(weir_request *r, wr_timer *t)
{
    wr_timer_begin(t, &r->file->group.handle.watch, WR_EXCHANGING);
}

static void end_part(weir_request *r, wr_timer *t)
{
    wr_timer_end(t);
    if (!t->watch)
        return;
    r->spent.ns += t->spent.ns;
    for (int i = 0; i < WR_PHASES; i++)
        r->spent.phase[i] += t->spent.phase[i];
}

int wr_file_start(weir_file *f, const wr_access_request *a, const wr_start *how, weir_request **out)
{
    int code = how->code ? how->code : wr_file_check(f, a);
    wr_timer timing;
    if (!f->group.handle.world || (code && !how->together))
        return refuse(f, code);
    wr_timer_begin(&timing, &f->group.handle.watch, WR_EXCHANGING);
    wr_transport_idle(f->group.handle.world->transport);
    if (how->together && !f->spare)
        wr_request_new_spare(&f->spare); /* it is there for who has no memory later */
    weir_request *r = make(a);
    if (r && code) {
        r->access.op.code = code;
        r->access.op.error = *weir_error_last();
    }
    r = start(f, r, how);
    if (!r && how->together)
        r = start(f, make_spare(f, a), how);
    if (!r) {
        wr_timer_end(&timing);
        return refuse(f, WEIR_ENOMEM);
    }
    r->after = how->after;
    enlist(f, r);
    if (how->form == WR_SPLIT)
        wr_group_access_wait_begun(&r->access);
    end_part(r, &timing);
    *out = r;
    return 0;
}

/* It is over: the file forgets it, and its error names the file. */
static void detach(weir_request *r)
{
    weir_file *f = r->file;
    if (!f)
        return;
    strike(f, r);
    wr_file_count(f, &r->access.a,
                  &(wr_over){.code = r->access.op.code,
                             .together = r->access.op.together,
                             .form = r->access.form,
                             .class = r->access.class,
                             .spent = &r->spent});
    if (r->access.op.code && !*r->access.op.error.file) {
        wr_error_raise(&r->access.op.error);
        wr_error_note_file(f->group.handle.storage->path, r->access.op.error.offset);
        wr_error_take(&r->access.op.error);
    }
    r->file = NULL;
}

static int take_result(weir_request **request, int64_t *count)
{
    weir_request *r = *request;
    detach(r);
    int code = r->access.op.code ? wr_error_raise(&r->access.op.error) : 0;
    int64_t moved = r->access.count;
    if (r->after.run)
        code = r->after.run(r->after.user, code, &moved);
    if (count)
        *count = moved;
    wr_request_free(r);
    *request = NULL;
    return code;
}

int weir_request_wait(weir_request **request, int64_t *count)
{
    weir_request *r = *request;
    if (count)
        *count = 0;
    if (!r)
        return 0;
    if (r->file) {
        wr_timer timing;
        begin_part(r, &timing);
        wr_operation_wait(&r->access.op);
        end_part(r, &timing);
    }
    return take_result(request, count);
}

int weir_request_test(weir_request **request, int *over, int64_t *count)
{
    weir_request *r = *request;
    *over = 1;
    if (count)
        *count = 0;
    if (!r)
        return 0;
    if (r->file) {
        wr_timer timing;
        begin_part(r, &timing);
        wr_transport_idle(r->file->group.handle.world->transport);
        *over = wr_operation_is_over(&r->access.op);
        end_part(r, &timing);
    }
    return *over ? take_result(request, count) : 0;
}

int weir_request_wait_for(weir_request **request, double seconds, int *over, int64_t *count)
{
    enum { SHORT_NAPS = 50, LONG_NAP = 1000 }; /* as wr_wait has them */
    const int64_t begin = wr_clock_ns();
    for (int tries = 0;;) {
        weir_request *r = *request;
        int code = weir_request_test(request, over, count);
        if (*over || (double)(wr_clock_ns() - begin) >= 1e9 * seconds)
            return code;
        wr_timer timing;
        begin_part(r, &timing);
        wr_awaited stage = {&r->access.op.stage, wr_word_get(&r->access.op.stage)};
        if (tries < SHORT_NAPS || stage.seen == WR_OVER)
            wr_backoff_on(stage.word, stage.seen, &tries);
        else
            wr_nap_any(1, &stage, LONG_NAP);
        end_part(r, &timing);
    }
}

int weir_request_wait_all(int number, weir_request **requests, int64_t *counts)
{
    weir_error first = {0};
    for (int i = 0; i < number; i++) {
        int code = weir_request_wait(&requests[i], counts ? &counts[i] : NULL);
        if (code && !first.code)
            first = *weir_error_last();
    }
    return first.code ? wr_error_raise(&first) : 0;
}

void wr_file_rest(weir_file *f)
{
    for (weir_request *r = first_of(f); r; r = r->next)
        wr_operation_wait(&r->access.op);
}

bool wr_file_has_failed(weir_file *f)
{
    bool failed = false;
    wr_file_rest(f);
    for (const weir_request *r = first_of(f); r; r = r->next)
        failed =
            failed || (r->access.a.direction == WR_WRITE && wr_write_spoils(r->access.op.code));
    return failed;
}

void wr_file_finish(weir_file *f, bool ended)
{
    weir_request *r;
    while ((r = first_of(f))) {
        if (!ended) {
            wr_operation_wait(&r->access.op);
        } else if (wr_word_get(&r->access.op.stage) != WR_OVER) {
            r->access.op.code = wr_fail(WEIR_ETRANSPORT, "MPI has ended, and closed the file");
            r->access.count = 0;
            r->access.op.error = *weir_error_last();
        }
        detach(r);
    }
}

/* --- the public transfers --- */

static int transfer(weir_file *f, wr_access_request a, bool together, int64_t *count,
                    weir_request **request)
{
    wr_run_pattern nothing;
    int code = wr_file_complete(&a, &nothing);
    if (!request)
        return wr_file_access(f, &a, together, code, count);
    wr_start how = {.together = together, .form = WR_NONBLOCKING, .code = code};
    *request = NULL;
    return wr_file_start(f, &a, &how, request);
}

int weir_file_read_all(weir_file *file, const weir_pattern *where, const weir_pattern *memory,
                       void *base, int64_t *count, weir_request **request)
{
    return transfer(file, wr_request_of(WR_READ, where, memory, base), true, count, request);
}

int weir_file_write_all(weir_file *file, const weir_pattern *where, const weir_pattern *memory,
                        const void *base, int64_t *count, weir_request **request)
{
    return transfer(file, wr_request_of(WR_WRITE, where, memory, base), true, count, request);
}

int weir_file_read(weir_file *file, const weir_pattern *where, const weir_pattern *memory,
                   void *base, int64_t *count, weir_request **request)
{
    return transfer(file, wr_request_of(WR_READ, where, memory, base), false, count, request);
}

int weir_file_write(weir_file *file, const weir_pattern *where, const weir_pattern *memory,
                    const void *base, int64_t *count, weir_request **request)
{
    return transfer(file, wr_request_of(WR_WRITE, where, memory, base), false, count, request);
}

/* Faults during collective calls of all forms, with ranks as threads: whatever transfer fails on
 * whatever rank, or whatever allocation of a rank or its progress thread, all ranks return the same
 * error, nobody hangs, the file holds old or new bytes where it was touched and is as it was
 * elsewhere, and the handle can be used on. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "split_access.h"
#include "storage/storage_support.h"
#include "transport/local.h"

enum { RANKS = 4, PIECES = 64, PIECE = 40, ROW = RANKS * PIECE + 24, BYTES = PIECES * ROW };

/* Piece i of rank r lies at i * ROW + r * PIECE: interleaved, with a hole behind each row. */
typedef struct scene {
    char hints[300];
    wr_tunables tunables;
    bool write;
    enum wr_form form;
    bool warm;          /* not its file's first call */
    int64_t fail_after; /* allocation that fails on the last rank, or -1 */
    int codes[RANKS], culprits[RANKS];
    int64_t counts[RANKS];
    char file[RANKS][WEIR_ERROR_FILE];
    int64_t failed; /* calls that failed for lack of memory */
    bool reached;   /* the allocation that was to fail was made */
    char memory[RANKS][PIECES * PIECE];
} scene;

static const char path[] = "engine-fault";

static char old_byte(int64_t i)
{
    return (char)(i * 7 + 1);
}

static char new_byte(int rank, int64_t i)
{
    return (char)(i * 13 + rank * 3 + 2);
}

static void put_old(void)
{
    static char bytes[BYTES];
    for (int64_t i = 0; i < BYTES; i++)
        bytes[i] = old_byte(i);
    put_file(path, "storage=mem", bytes, BYTES);
}

/* Old or new where touched, old elsewhere; all new if `complete`, at least the counted ones if not.
 * */
static void check_file(const scene *s, bool complete)
{
    static char bytes[BYTES];
    CHECK_EQUAL(get_file(path, "storage=mem", bytes, BYTES), BYTES);
    for (int64_t i = 0; i < BYTES; i++) {
        int64_t piece = i / ROW, rank = i % ROW / PIECE, data = piece * PIECE + i % ROW % PIECE;
        bool touched = s->write && rank < RANKS;
        bool is_new = touched && bytes[i] == new_byte((int)rank, data);
        bool must = complete || (touched && data < s->counts[rank]);
        CHECK(is_new || (bytes[i] == old_byte(i) && !(touched && must)));
    }
}

static int access_all(weir_file *f, scene *s, int rank, const weir_pattern *where,
                      const weir_pattern *memory)
{
    char *base = s->memory[rank];
    weir_request *request;
    int code = 0;
    if (s->form == WR_SPLIT) {
        enum wr_direction direction = s->write ? WR_WRITE : WR_READ;
        code = begin_all(f, wr_request_of(direction, where, memory, base), &request);
        return code ? code : weir_request_wait(&request, &s->counts[rank]);
    }
    if (s->form == WR_NONBLOCKING) {
        code = s->write ? weir_file_write_all(f, where, memory, base, NULL, &request)
                        : weir_file_read_all(f, where, memory, base, NULL, &request);
        return code ? code : weir_request_wait(&request, &s->counts[rank]);
    }
    return s->write ? weir_file_write_all(f, where, memory, base, &s->counts[rank], NULL)
                    : weir_file_read_all(f, where, memory, base, &s->counts[rank], NULL);
}

/* The same call, which changes nothing: then there is memory for the one that fails. */
static void access_before(weir_file *f, const scene *s, int rank, const weir_pattern *where,
                          const weir_pattern *memory)
{
    char old[PIECES * PIECE];
    int64_t count;
    for (int64_t i = 0; i < PIECES * PIECE; i++)
        old[i] = old_byte(i / PIECE * ROW + rank * PIECE + i % PIECE);
    CHECK(!(s->write ? weir_file_write_all(f, where, memory, old, &count, NULL)
                     : weir_file_read_all(f, where, memory, old, &count, NULL)));
}

static void rank_body(wr_transport *t, void *user)
{
    scene *s = user;
    wr_world *w;
    weir_file *f;
    weir_pattern *where, *memory;
    int rank = t->rank;
    CHECK(!weir_pattern_strided(rank * PIECE, PIECES, PIECE, ROW, &where));
    CHECK(!weir_pattern_contiguous(0, PIECES * PIECE, &memory));
    for (int64_t i = 0; i < PIECES * PIECE; i++)
        s->memory[rank][i] = s->write ? new_byte(rank, i) : 0;
    CHECK(!wr_world_open(t, &s->tunables, &w));
    w->process->progress.meter = wr_alloc_meter();
    CHECK(!wr_file_open(w, path, WEIR_READ | WEIR_WRITE, s->hints, &f));
    if (s->warm)
        access_before(f, s, rank, where, memory);
    int64_t before = wr_alloc_count();
    wr_alloc_fail_after(rank == RANKS - 1 ? s->fail_after : -1);
    s->codes[rank] = access_all(f, s, rank, where, memory);
    if (rank == RANKS - 1)
        s->reached = s->fail_after >= 0 && wr_alloc_count() - before > s->fail_after;
    wr_alloc_fail_after(-1);
    s->culprits[rank] = weir_error_last()->rank;
    snprintf(s->file[rank], sizeof s->file[rank], "%s", weir_error_last()->file);
    CHECK(!wr_agree(t, 0, 0));
    if (s->codes[rank]) { /* the handle stays usable; each rank's own fault may still come, once */
        int64_t count = 0;
        char again[PIECES * PIECE];
        for (int i = 0; i < RANKS && weir_file_read_all(f, where, memory, again, &count, NULL); i++)
            ;
        CHECK_EQUAL(count, PIECES * PIECE);
    }
    CHECK(!weir_file_close(f));
    wr_world_release(w);
    weir_pattern_free(where);
    weir_pattern_free(memory);
}

static void run_scene(scene *s)
{
    put_old();
    CHECK(!wr_local_run(RANKS, &s->tunables, rank_body, s));
    for (int i = 1; i < RANKS; i++)
        CHECK_EQUAL(s->codes[i], s->codes[0]);
    check_file(s, s->codes[0] == 0);
    if (!s->codes[0] && !s->write)
        for (int r = 0; r < RANKS; r++)
            for (int64_t i = 0; i < s->counts[r]; i++)
                CHECK(s->memory[r][i] == old_byte(i / PIECE * ROW + r * PIECE + i % PIECE));
    wr_mem_unlink(path);
}

static void set_hints(scene *s, const int *choice, const char *fault, int64_t k)
{
    static const char *const realms[] = {"even", "static", "cyclic", "persistent"};
    static const char *const access[] = {"auto", "sieve", "list"};
    static const char *const exchange[] = {"auto", "p2p", "leaders", "alltoall"};
    static const char *const overlap[] = {"none", "io", "all"};
    static const int per_node[] = {0, 2, 1, -3};
    s->write = choice[0];
    s->form = (enum wr_form)choice[6];
    snprintf(s->hints, sizeof s->hints,
             "storage=mem;collective=always;window=1500;realm_block=1500;aggregators=%d;realms=%s;"
             "access=%s;"
             "exchange=%s;overlap=%s;overlap_memory=%d;fault=%s",
             choice[4] + 1, realms[choice[1]], access[choice[2]], exchange[choice[3]],
             overlap[choice[7]], choice[8] ? 1 << 20 : 3000, fault);
    if (k)
        snprintf(s->hints + strlen(s->hints), sizeof s->hints - strlen(s->hints), ":%lld",
                 (long long)k);
    s->tunables.ranks_per_node = per_node[choice[5]];
    s->fail_after = -1;
}

/* Every transfer in turn fails in every way. */
static void check_transfers(void *user, const int *choice)
{
    static const char *const faults[] = {"eio", "enospc", "short"};
    static const int wanted[] = {WEIR_EIO, WEIR_ENOSPC, WEIR_EIO};
    scene *s = user;
    for (int kind = 0; kind < 3; kind++)
        for (int64_t k = 1, missed = 0; missed < 3 && k < 200; k++) {
            set_hints(s, choice, faults[kind], k);
            run_scene(s);
            if (!s->codes[0]) { /* all transfers done, or a short read completed */
                missed++;
                continue;
            }
            missed = 0;
            s->failed++;
            CHECK_EQUAL(s->codes[0], wanted[kind]);
            for (int i = 0; i < RANKS; i++) {
                CHECK(s->culprits[i] >= 0 && s->culprits[i] == s->culprits[0]);
                CHECK(!strcmp(s->file[i], path));
            }
        }
}

/* Every allocation of one rank in turn fails. */
static void check_allocations(void *user, const int *choice)
{
    scene *s = user;
    set_hints(s, choice, "none", 0);
    s->warm = choice[9];
    for (s->fail_after = 0;; s->fail_after++) {
        run_scene(s);
        if (!s->reached)
            break;
        CHECK(s->codes[0] == 0 || s->codes[0] == WEIR_ENOMEM);
        s->failed += s->codes[0] != 0;
    }
}

int main(void)
{
    scene *s = calloc(1, sizeof *s);
    rng r = {test_seed()};
    int levels[] = {2, 4, 3, 4, 3, 4, 3, 3, 2, 2};
    CHECK(s);
    wr_tunables_init(&s->tunables);
    test_pairwise(&r, 9, levels, check_transfers, s);
    CHECK(s->failed > 100);
    s->failed = 0;
    test_pairwise(&r, 10, levels, check_allocations, s);
    CHECK(s->failed > 20);
    free(s);
    return 0;
}

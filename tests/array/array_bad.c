/* Bad input: every rank gets one error that names the file, nothing crashes, nothing is changed and
 * nothing is left behind. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "array/array.h"
#include "naive_array.h"
#include "transport/local.h"
#include "weir/kernels.h"
#include "weir/plan.h"

enum { RANKS = 3, ROWS = 6, COLUMNS = 5 };

static char folder[100];

static const char *in_folder(const char *name)
{
    static _Thread_local char path[4][200];
    static _Thread_local unsigned turn;
    char *out = path[turn++ % 4];
    snprintf(out, sizeof path[0], "%s/%s", folder, name);
    return out;
}

static void put(const char *name, const void *bytes, size_t count)
{
    FILE *f = fopen(in_folder(name), "w");
    CHECK(f && fwrite(bytes, 1, count, f) == count && !fclose(f));
}

/* A .npy file with a header of version 1.0 and so many bytes of data. */
static void put_npy(const char *name, const char *header, size_t data)
{
    char bytes[1000] = "\x93NUMPY\x01";
    size_t length = strlen(header);
    CHECK(10 + length + data <= sizeof bytes);
    bytes[8] = (char)length;
    memcpy(bytes + 10, header, length);
    memset(bytes + 10 + length, 1, data);
    put(name, bytes, 10 + length + data);
}

/* --- opening --- */

typedef struct refusal {
    const char *name;
    int mode, code;
    const char *file, *text; /* both in what is told */
} refusal;

static void open_body(wr_transport *t, void *user)
{
    const refusal *f = user;
    wr_tunables tunables;
    weir_array *a = NULL;
    wr_world *w;
    wr_tunables_init(&tunables);
    CHECK(!wr_world_open(t, &tunables, &w));
    CHECK_FAILS(wr_array_open(w, in_folder(f->name), f->mode, "", &a), f->code, f->text);
    CHECK(!a && strstr(weir_error_last()->file, f->file));
    wr_world_release(w);
}

static void check_open(refusal f)
{
    if (!f.mode)
        f.mode = WEIR_READ;
    for (int ranks = 1; ranks <= RANKS; ranks += RANKS - 1)
        CHECK(!wr_local_run(ranks, &(wr_tunables){0}, open_body, &f));
}

static void test_files(void)
{
    put("text", "this is no array", 16);
    put("empty", "", 0);
    put("start", "\x93NUMPY\x01\x00", 8);
    put_npy("short", "{'descr': '<f8', 'fortran_order': False, 'shape': (3, 2), }\n", 47);
    put_npy("lies", "{'descr': '<f8', 'fortran_order': False, 'shape': (3, -2), }\n", 48);
    put_npy("huge",
            "{'descr': '<f8', 'fortran_order': False, 'shape': (4611686018427387904, 9), }\n", 48);
    put_npy("object", "{'descr': '|O', 'fortran_order': False, 'shape': (3,), }\n", 48);
    put_npy("struct", "{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (3,), }\n", 48);
    put_npy("keys", "{'descr': '<f8', 'shape': (3,), }\n", 48);
    check_open((refusal){"missing", 0, WEIR_ENOENT, "missing", ""});
    check_open((refusal){"text", 0, WEIR_EFORMAT, "text", ""});
    check_open((refusal){"empty", 0, WEIR_EFORMAT, "empty", ""});
    check_open((refusal){"start", 0, WEIR_EFORMAT, "start", ""});
    check_open((refusal){"short", 0, WEIR_EFORMAT, "short", "cut short"});
    check_open((refusal){"lies", 0, WEIR_EFORMAT, "lies", ""});
    check_open((refusal){"huge", 0, WEIR_ERANGE, "huge", ""});
    check_open((refusal){"object", 0, WEIR_EUNSUPPORTED, "object", "objects"});
    check_open((refusal){"struct", 0, WEIR_EUNSUPPORTED, "struct", "structures"});
    check_open((refusal){"keys", 0, WEIR_EFORMAT, "keys", ""});
    check_open((refusal){"text", WEIR_WRITE, WEIR_EINVAL, "text", "mode"});
    check_open(
        (refusal){"text", WEIR_READ | WEIR_WRITE | WEIR_CREATE, WEIR_EINVAL, "text", "mode"});
    CHECK(!mkfifo(in_folder("pipe"), 0600));
    check_open((refusal){"pipe", 0, WEIR_EFORMAT, "pipe", ""});
}

/* --- sets --- */

static weir_array_info plain_info(int members)
{
    weir_array_info info = {.type = WEIR_F8, .dimensions = 2, .shape = {ROWS, COLUMNS}};
    info.members = members;
    info.distribution.grid[0] = members;
    return info;
}

typedef struct making {
    const char *name;
    weir_array_info info;
    weir_array_options options;
    int code;
    const char *text;
} making;

static void create_body(wr_transport *t, void *user)
{
    const making *m = user;
    double value[ROWS * COLUMNS];
    wr_tunables tunables;
    weir_array *a = NULL;
    wr_world *w;
    wr_tunables_init(&tunables);
    CHECK(!wr_world_open(t, &tunables, &w));
    int code = wr_array_create(w, in_folder(m->name), &m->info, &m->options, "", &a);
    CHECK_EQUAL(code, m->code);
    if (m->code) {
        CHECK(!a && strstr(weir_error_last()->text, m->text));
    } else {
        for (int i = 0; i < ROWS * COLUMNS; i++)
            value[i] = i;
        CHECK(!weir_array_write_all(a, t->rank ? NULL : &(weir_selection){0}, NULL, value, NULL));
        CHECK(!weir_array_close(a));
    }
    wr_world_release(w);
}

static void create(making m)
{
    int before = count_names(in_folder(""));
    CHECK(!wr_local_run(RANKS, &(wr_tunables){0}, create_body, &m));
    if (m.code) /* nothing is left behind */
        CHECK_EQUAL(count_names(in_folder("")), before);
}

static void fresh_set(void)
{
    remove_tree(in_folder("set"));
    create((making){.name = "set", .info = plain_info(4)});
}

static void test_sets(void)
{
    static const char json[] = "{\"weir\": 1, \"type\": \"f8\", \"shape\": [6]}";
    CHECK(!mkdir(in_folder("folder"), 0700));
    check_open((refusal){"folder", 0, WEIR_EFORMAT, "folder", "array.json"});
    put("folder/array.json", json, sizeof json - 1);
    check_open((refusal){"folder", 0, WEIR_EFORMAT, "folder", ""});
    put("folder/array.json", "{\"weir\"", 7);
    check_open((refusal){"folder", 0, WEIR_EFORMAT, "folder", ""});
    fresh_set();
    CHECK(!unlink(in_folder("set/local-2.npy")));
    check_open((refusal){"set", 0, WEIR_ENOENT, "local-2.npy", ""});
    fresh_set();
    put_npy("set/local-3.npy", "{'descr': '<f8', 'fortran_order': False, 'shape': (3, 2), }\n", 48);
    check_open((refusal){"set", 0, WEIR_EFORMAT, "local-3.npy", "shape"});
    fresh_set();
    put_npy("set/local-1.npy", "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 5), }\n", 40);
    check_open((refusal){"set", 0, WEIR_EFORMAT, "local-1.npy", "type or shape"});
    fresh_set();
    put("set/local-0.npy", "foreign", 7);
    check_open((refusal){"set", 0, WEIR_EFORMAT, "local-0.npy", ""});
    fresh_set();
    CHECK(!truncate(in_folder("set/local-1.npy"), 4096 + 79));
    check_open((refusal){"set", 0, WEIR_EFORMAT, "local-1.npy", "cut short"});
    fresh_set();
    put_npy("set/local-2.npy", "{'descr': '>f8', 'fortran_order': False, 'shape': (2, 5), }\n", 80);
    check_open((refusal){"set", 0, WEIR_EUNSUPPORTED, "set", "byte orders"});
}

/* --- creating --- */

static void test_names(void)
{
    weir_array_info wrong = plain_info(0), strange = plain_info(4);
    const char *const disks[] = {"d0"};
    const int map[] = {0, 0, 1, 0};
    create((making){.name = "one.npy", .info = plain_info(0)});
    create((making){"one.npy", plain_info(0), {0}, WEIR_EEXIST, "overwrite was not"});
    create((making){"one.npy", plain_info(4), {0}, WEIR_EEXIST, "overwrite was not"});
    create((making){"one.npy", plain_info(4), {.overwrite = 1}, 0, ""});
    create((making){"one.npy", plain_info(0), {.overwrite = 1}, 0, ""});
    create((making){"one.npy", plain_info(0), {.overwrite = 1}, 0, ""});
    put("folder/own", "mine", 4);
    CHECK(!unlink(in_folder("folder/array.json")));
    create((making){"folder", plain_info(0), {.overwrite = 1}, WEIR_EEXIST, "no array"});
    create((making){"nowhere/array", plain_info(0), {0}, WEIR_ENOENT, ""});
    create((making){"nowhere/array", plain_info(4), {0}, WEIR_ENOENT, ""});
    wrong.type = 99;
    create((making){"new", wrong, {0}, WEIR_EINVAL, ""});
    wrong = plain_info(0);
    wrong.dimensions = 17;
    create((making){"new", wrong, {0}, WEIR_EINVAL, ""});
    wrong = plain_info(0);
    wrong.shape[1] = -1;
    create((making){"new", wrong, {0}, WEIR_EINVAL, ""});
    wrong.shape[0] = wrong.shape[1] = INT64_MAX;
    create((making){"new", wrong, {0}, WEIR_ERANGE, ""});
    strange.members = 5;
    create((making){"new", strange, {0}, WEIR_EINVAL, "local arrays"});
    strange = plain_info(4);
    strange.distribution.grid[1] = -1;
    create((making){"new", strange, {0}, WEIR_EINVAL, "grid"});
    create((making){"new", plain_info(4), {.disks = 2}, WEIR_EINVAL, "disks"});
    create((making){
        "new", plain_info(4), {.disks = 1, .disk = disks, .map = map}, WEIR_EINVAL, "disk"});
}

/* --- sections --- */

/* Refused by all calls, and memory and array stay as they are. */
static void refuse_both(weir_array *a, weir_selection s, const weir_layout *l, const char *text)
{
    double memory[4 * ROWS * COLUMNS];
    weir_request *request = NULL;
    for (size_t i = 0; i < sizeof memory / sizeof *memory; i++)
        memory[i] = -1;
    CHECK_FAILS(weir_array_read(a, &s, l, memory, NULL), WEIR_EINVAL, text);
    CHECK(strstr(weir_error_last()->file, "array"));
    CHECK_FAILS(weir_array_write(a, &s, l, memory, NULL), WEIR_EINVAL, text);
    CHECK_FAILS(weir_array_read_all(a, &s, l, memory, NULL), WEIR_EINVAL, text);
    CHECK_FAILS(weir_array_write_all(a, &s, l, memory, NULL), WEIR_EINVAL, text);
    CHECK(strstr(weir_error_last()->file, "array"));
    CHECK_FAILS(weir_array_read(a, &s, l, memory, &request), WEIR_EINVAL, text);
    CHECK(!request && !weir_array_read_all(a, &s, l, memory, &request));
    CHECK_FAILS(weir_request_wait(&request, NULL), WEIR_EINVAL, text);
    for (size_t i = 0; i < sizeof memory / sizeof *memory; i++)
        CHECK(memory[i] == -1);
}

static void refuse(weir_array *a, weir_selection s, const char *text)
{
    refuse_both(a, s, NULL, text);
}

static void refuse_layout(weir_array *a, weir_layout l, const char *text)
{
    refuse_both(a, (weir_selection){0}, &l, text);
}

static void refuse_sections(weir_array *a)
{
    int64_t lo[] = {0, 0}, hi[] = {ROWS, COLUMNS + 1}, zero[] = {1, 0}, low[] = {-1, 0};
    int64_t back[] = {0, -2}, least[] = {INT64_MIN, 1}, most[] = {INT64_MAX, 1}, far[] = {1, 5};
    int64_t ones[] = {1, 1}, count[] = {2, 0}, bad_count[] = {-1, 0}, twice[] = {3, 3};
    const int64_t *beyond[] = {(int64_t[]){0, ROWS}, NULL}, *below[] = {(int64_t[]){-1, 0}, NULL};
    const int64_t *repeated[] = {twice, NULL};
    int order[] = {1, 1}, wild[] = {0, 2};
    refuse(a, (weir_selection){.lo = lo, .hi = hi}, "index 5 in dimension 1");
    refuse(a, (weir_selection){.lo = low}, "index -1 in dimension 0");
    refuse(a, (weir_selection){.step = zero}, "step 0");
    refuse(a, (weir_selection){.step = least}, "step");
    refuse(a, (weir_selection){.lo = far, .hi = back, .step = (int64_t[]){1, -1}}, "index 5");
    refuse(a, (weir_selection){.lo = least, .hi = most}, "bounds");
    refuse(a, (weir_selection){.index = beyond, .count = count}, "index 6");
    refuse(a, (weir_selection){.index = below, .count = count}, "index -1");
    refuse(a, (weir_selection){.index = beyond}, "length");
    refuse(a, (weir_selection){.index = beyond, .count = bad_count}, "length");
    refuse_layout(a, (weir_layout){.order = order}, "permutation");
    refuse_layout(a, (weir_layout){.order = wild}, "permutation");
    refuse(a, (weir_selection){.local = 1}, "local array 0");
    refuse(a, (weir_selection){.local = -1}, "local array");
    refuse_layout(a, (weir_layout){.type = 77}, "type 77");
    refuse_layout(a, (weir_layout){.type = WEIR_F2}, "");
    refuse(a, (weir_selection){.boxes = 1}, "boxes");
    refuse(a, (weir_selection){.boxes = -1, .box_lo = lo, .box_hi = hi}, "boxes");
    refuse(a, (weir_selection){.boxes = 1, .box_lo = lo, .box_hi = hi}, "index 5");
    refuse_both(a, (weir_selection){.boxes = 1, .box_lo = lo, .box_hi = ones},
                &(weir_layout){.stride = ones}, "strides");
    refuse(a, (weir_selection){.reserved = {1}}, "weir_selection");
    refuse(a, (weir_selection){.boxes = 1, .box_lo = lo, .box_hi = ones, .reserved = {1}},
           "weir_selection");
    refuse_layout(a, (weir_layout){.reserved = {[3] = 1}}, "weir_layout");
    CHECK_FAILS(
        weir_array_write(a, &(weir_selection){.index = repeated, .count = count}, NULL, lo, NULL),
        WEIR_EINVAL, "twice");
    CHECK_FAILS(weir_array_write_all(a, &(weir_selection){.index = repeated, .count = count}, NULL,
                                     lo, NULL),
                WEIR_EINVAL, "twice");
}

/* What later versions may give a meaning to must be 0 now, in whatever struct. */
static void refuse_reserves(wr_world *w, weir_array *a)
{
    weir_array *none = NULL;
    weir_array_info info = plain_info(0), odd_info = info, odd_set = info;
    weir_array_options odd_options = {.reserved = {1}};
    weir_distribution odd_distribution = {.reserved = {0, 1}};
    weir_selection whole = {0};
    double memory[ROWS * COLUMNS];
    int64_t shape[2];
    weir_slabs *slabs = NULL;
    odd_info.reserved[0] = odd_set.distribution.reserved[2] = -1;
    odd_set.members = 1;
    CHECK_FAILS(wr_array_create(w, "none", &odd_info, NULL, NULL, &none), WEIR_EINVAL,
                "reserve of a weir_array_info");
    CHECK_FAILS(wr_array_create(w, "none", &odd_set, NULL, NULL, &none), WEIR_EINVAL,
                "reserve of a weir_distribution");
    CHECK_FAILS(wr_array_create(w, "none", &info, &odd_options, NULL, &none), WEIR_EINVAL,
                "reserve of a weir_array_options");
    CHECK_FAILS(weir_array_read_distributed(a, &odd_distribution, NULL, memory), WEIR_EINVAL,
                "reserve of a weir_distribution");
    CHECK_FAILS(weir_array_read_reuse(a, &whole, NULL, memory, &(weir_held){.reserved = {1}}),
                WEIR_EINVAL, "reserve of a weir_held");
    weir_shift shift = {.distribution = &info.distribution, .count = 1, .reserved = {1}};
    CHECK_FAILS(weir_array_shift(a, &shift, memory, shape), WEIR_EINVAL, "weir_shift");
    weir_slabs_options loop = {.inputs = 1, .input = &a, .reserved = {1}};
    CHECK_FAILS(weir_slabs_begin(&loop, &slabs), WEIR_EINVAL, "weir_slabs_options");
    CHECK_FAILS(weir_array_fill(a, memory, &(weir_work){.reserved = {1}}), WEIR_EINVAL,
                "weir_work");
    weir_relaxation relaxation = {.iterations = 1, .reserved = {1}};
    weir_array *const to[] = {a, a};
    int last;
    CHECK_FAILS(weir_array_relax(a, to, &relaxation, NULL, &last), WEIR_EINVAL, "weir_relaxation");
    weir_plan *plan = NULL;
    weir_plan_request request = {
        .ranks = 1, .patterns = (const weir_pattern *[]){NULL}, .reserved = {1}};
    CHECK_FAILS(weir_plan_new(&request, &plan), WEIR_EINVAL, "weir_plan_request");
    CHECK(!none && !slabs && !plan);
}

static int bad_section(void *user, int rank, weir_selection *out)
{
    out->lo = user;
    return rank == 0;
}

static void sections_body(wr_transport *t, void *user)
{
    weir_array_info info = plain_info(0);
    weir_distribution large = {.grid = {RANKS, 2}}, strange = {.grid = {-1}};
    int64_t low[] = {-1, 0};
    double memory[ROWS * COLUMNS];
    wr_tunables tunables;
    weir_array *a;
    wr_world *w;
    (void)user;
    wr_tunables_init(&tunables);
    CHECK(!wr_world_open(t, &tunables, &w));
    CHECK(!wr_array_create(w, in_folder("array"), &info, NULL, "", &a));
    refuse_sections(a);
    refuse_reserves(w, a);
    CHECK_FAILS(weir_array_write_distributed(a, &large, NULL, memory), WEIR_EINVAL, "grid");
    CHECK_FAILS(weir_array_read_distributed(a, &strange, NULL, memory), WEIR_EINVAL, "grid");
    CHECK_FAILS(weir_array_write_by(a, bad_section, low, NULL, memory), WEIR_EINVAL, "index -1");
    /* one rank's section is bad: all fail, and nothing is written */
    for (int i = 0; i < ROWS * COLUMNS; i++)
        memory[i] = 5;
    weir_selection s = {.lo = t->rank == 1 ? low : NULL};
    CHECK_FAILS(weir_array_write_all(a, &s, NULL, memory, NULL), WEIR_EINVAL, "index -1");
    CHECK_EQUAL(weir_error_last()->rank, 1);
    CHECK(!weir_array_read_all(a, &(weir_selection){0}, NULL, memory, NULL));
    for (int i = 0; i < ROWS * COLUMNS; i++)
        CHECK(memory[i] == 0);
    CHECK(!weir_array_close(a)); /* what was refused has spoiled nothing */
    CHECK(!wr_array_open(w, in_folder("array"), WEIR_READ, "", &a));
    CHECK(weir_array_write_all(a, &(weir_selection){0}, NULL, memory, NULL) < 0);
    CHECK(strstr(weir_error_last()->file, "array"));
    CHECK(weir_array_write(a, &(weir_selection){0}, NULL, memory, NULL) < 0);
    CHECK(!weir_array_close(a));
    wr_world_release(w);
}

/* The file loses its end while it is open: reading tells, in all forms. */
static void cut_body(wr_transport *t, void *user)
{
    double memory[ROWS * COLUMNS];
    wr_tunables tunables;
    weir_array *a;
    wr_world *w;
    weir_request *request;
    wr_tunables_init(&tunables);
    CHECK(!wr_world_open(t, &tunables, &w));
    CHECK(!wr_array_open(w, in_folder("array"), WEIR_READ, user, &a));
    CHECK(!wr_agree(t, 0, 0));
    if (t->rank == 0)
        CHECK(!truncate(in_folder("array"), 4096 + 100));
    CHECK(!wr_agree(t, 0, 0));
    CHECK_FAILS(weir_array_read_all(a, &(weir_selection){0}, NULL, memory, NULL), WEIR_EIO,
                "ended");
    CHECK(strstr(weir_error_last()->file, "array"));
    CHECK_FAILS(weir_array_read(a, &(weir_selection){0}, NULL, memory, NULL), WEIR_EIO, "ended");
    CHECK(!weir_array_read(a, &(weir_selection){0}, NULL, memory, &request));
    CHECK_FAILS(weir_request_wait(&request, NULL), WEIR_EIO, "ended");
    CHECK(!weir_array_close(a));
    CHECK(!wr_agree(t, 0, 0));
    if (t->rank == 0)
        CHECK(!truncate(in_folder("array"), 4096 + ROWS * COLUMNS * 8));
    wr_world_release(w);
}

int main(void)
{
    static const char *const cut[] = {"", "cache=4M", "access=list", "access=sieve;exchange=p2p"};
    snprintf(folder, sizeof folder, "array-bad-%d", (int)getpid());
    CHECK(!mkdir(folder, 0700));
    check_within(100);
    test_files();
    test_sets();
    test_names();
    CHECK(!wr_local_run(RANKS, &(wr_tunables){0}, sections_body, NULL));
    for (int i = 0; i < 4; i++)
        CHECK(!wr_local_run(RANKS, &(wr_tunables){0}, cut_body, (void *)cut[i]));
    remove_tree(folder);
    return 0;
}

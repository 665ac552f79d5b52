/* libweir_mpiio.so itself: the names of MPI-IO, and who serves them.
 *
 * It may be loaded into every program of a site, so it needs nothing but the C library. The first
 * call of MPI decides, once for the process, where all calls go: to libweir_mpiio_engine, which is
 * loaded then from the folder of this library, or to the MPI library's own functions, if the user
 * wants that (WEIR_DOOR=off), or it is another MPI than the engine was built for.
 *
 * The two MPIs have different types for the same handles, so nothing here may know their types:
 * each function passes on the registers of its arguments, which are integers and pointers, as they
 * are. That asks for an ABI in which both are passed alike, as on all 64-bit systems. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/tunables.h"
#include "front/preload/names.h"

typedef long word;
typedef word call(word, word, word, word, word, word);
typedef word long_call(word, word, word, word, word, word, word);

_Static_assert(sizeof(word) == sizeof(void *) && sizeof(word) == 8, "a word is a register");

#define NUMBER(name) NUMBER_##name,
enum { WR_NAMES(NUMBER, NUMBER, NUMBER) NAMES };

#define MPI_NAME(name) "PMPI_" #name,
#define PLAIN_NAME(name) #name,
static const char *const names[] = {WR_NAMES(MPI_NAME, PLAIN_NAME, PLAIN_NAME)};

/* By name, as MPI_ and as PMPI_; a name that is neither stands in both. They differ where the MPI
 * library serves: then a tool that wraps MPI_ names has its turn. */
enum { PMPI, MPI, KINDS };
static call *functions[KINDS][NAMES];
static _Atomic int chosen; /* 1 once they are there: stored last, by choose() */
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* Why the MPI library serves files itself, to be said when there is one; or NULL. */
static const char *reason;
static call *theirs_open[KINDS], *theirs_rank;

/* What no library has, nobody can have been linked with. */
static word missing(word a, word b, word c, word d, word e, word f)
{
    const word any_error = 16;
    (void)a, (void)b, (void)c, (void)d, (void)e, (void)f;
    return any_error;
}

static call *look_up(void *where, const char *name)
{
    call *found = NULL;
    if (where)
        *(void **)(void *)&found = dlsym(where, name);
    return found;
}

static void look_up_all(void *where, int with_tools)
{
    const size_t profiling = strlen("P");
    for (int i = 0; i < NAMES; i++) {
        call *plain = look_up(where, names[i]), *wrapped = NULL;
        if (with_tools && !strncmp(names[i], "PMPI_", 5))
            wrapped = look_up(where, names[i] + profiling);
        functions[PMPI][i] = plain ? plain : missing;
        functions[MPI][i] = wrapped ? wrapped : functions[PMPI][i];
    }
}

/* Where the MPI library is that the program uses: behind us, or, if an interpreter has loaded it
 * for a module of its own, among what is loaded. */
static void *find_mpi(void)
{
    static const char *const libraries[] = {"libmpi.so.40", "libmpich.so.12", "libmpi.so.12"};
    if (look_up(RTLD_NEXT, "PMPI_Init"))
        return RTLD_NEXT;
    for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++) {
        void *handle = dlopen(libraries[i], RTLD_LAZY | RTLD_NOLOAD);
        if (handle)
            return handle;
    }
    return NULL;
}

static int is_off(void)
{
    wr_tunables t;
    wr_tunables_init(&t);
    return !wr_tunables_set_variable(&t, "door") && t.door.which;
}

/* Whether the engine is for this MPI. Of none the engine brings its own. */
static int is_ours(void *mpi)
{
    char version[16384] = ""; /* enough for any MPI, whatever our own says of itself */
    int length = 0;
    call *get = look_up(mpi, "PMPI_Get_library_version");
    if (!get)
        return !mpi;
    get((word)version, (word)&length, 0, 0, 0, 0);
    return strstr(version, WR_MPI_NAME) != NULL;
}

/* The folder of this library comes first: another version may lie where LD_LIBRARY_PATH points. */
static void *load_engine(void)
{
    void *engine = dlopen("$ORIGIN/" WR_ENGINE, RTLD_NOW | RTLD_LOCAL);
    return engine ? engine : dlopen(WR_ENGINE, RTLD_NOW | RTLD_LOCAL);
}

/* What the loader said. */
static const char *why_not_loaded(void)
{
    static char text[400];
    const char *loader = dlerror();
    snprintf(text, sizeof text, "cannot load " WR_ENGINE " (%s)",
             loader ? loader : "no reason given");
    return text;
}

/* A site may load this library for each MPI it has: then one of them serves. */
static int is_another_of_us(call *function)
{
    Dl_info info;
    return dladdr(*(void **)(void *)&function, &info) && strstr(info.dli_fname, "libweir_mpiio");
}

/* Says once who serves files, and why it is not the engine. */
static void say(word comm)
{
    static atomic_flag said = ATOMIC_FLAG_INIT;
    const wr_log always = {.level = WR_LOG_WARN};
    int rank = 0;
    if (!atomic_flag_test_and_set(&said)) {
        if (theirs_rank)
            theirs_rank(comm, (word)&rank, 0, 0, 0, 0);
        if (rank == 0)
            wr_log_line(&always, WR_LOG_WARN, "%s; MPI-IO is the MPI library's own", reason);
    }
}

static word open_pmpi(word comm, word name, word amode, word info, word fh, word unused)
{
    say(comm);
    return theirs_open[PMPI](comm, name, amode, info, fh, unused);
}

static word open_mpi(word comm, word name, word amode, word info, word fh, word unused)
{
    say(comm);
    return theirs_open[MPI](comm, name, amode, info, fh, unused);
}

static void choose(void)
{
    void *mpi = find_mpi(), *engine = NULL;
    int off = is_off();
    if (!off && !is_ours(mpi))
        reason = "this libweir_mpiio is for " WR_MPI_NAME ", and another MPI runs";
    else if (!off)
        engine = load_engine();
    if (!off && !engine && !reason)
        reason = why_not_loaded();
    look_up_all(engine ? engine : mpi, !engine);
    for (int kind = 0; kind < KINDS; kind++)
        theirs_open[kind] = functions[kind][NUMBER_File_open];
    if (!engine && reason && !is_another_of_us(theirs_open[PMPI])) {
        theirs_rank = look_up(mpi, "PMPI_Comm_rank");
        functions[PMPI][NUMBER_File_open] = open_pmpi;
        functions[MPI][NUMBER_File_open] = open_mpi;
    }
    /* releases the table to function(), which looks without a lock */
    atomic_store_explicit(&chosen, 1, memory_order_release);
}

static inline call *function(int kind, int number)
{
    if (__builtin_expect(!atomic_load_explicit(&chosen, memory_order_acquire), 0))
        pthread_once(&once, choose);
    return functions[kind][number];
}

#define EXPORTED __attribute__((visibility("default")))
#define SIX (word a, word b, word c, word d, word e, word f)
#define SEVEN (word a, word b, word c, word d, word e, word f, word g)

#define DEFINE_PLAIN(name)                                                                         \
    EXPORTED word name SIX;                                                                        \
    word name SIX                                                                                  \
    {                                                                                              \
        return function(PMPI, NUMBER_##name)(a, b, c, d, e, f);                                    \
    }

#define DEFINE_MPI(name)                                                                           \
    EXPORTED word PMPI_##name SIX;                                                                 \
    EXPORTED word MPI_##name SIX;                                                                  \
    word PMPI_##name SIX                                                                           \
    {                                                                                              \
        return function(PMPI, NUMBER_##name)(a, b, c, d, e, f);                                    \
    }                                                                                              \
    word MPI_##name SIX                                                                            \
    {                                                                                              \
        return function(MPI, NUMBER_##name)(a, b, c, d, e, f);                                     \
    }

#define DEFINE_LONG(name)                                                                          \
    EXPORTED word name SEVEN;                                                                      \
    word name SEVEN                                                                                \
    {                                                                                              \
        return ((long_call *)(void (*)(void))function(PMPI, NUMBER_##name))(a, b, c, d, e, f, g);  \
    }

/* NOLINTNEXTLINE(readability-function-size): as Fortran calls it */
WR_NAMES(DEFINE_MPI, DEFINE_PLAIN, DEFINE_LONG)

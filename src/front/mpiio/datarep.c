/* The representations there are: three of the standard's, and those that users register. */
#include "front/mpiio/datarep.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "front/mpiio/external32.h"
#include "front/mpiio/mpi_file.h"

static int external32_bytes(const wr_datarep *rep, const wr_kind *kind, int64_t *out)
{
    (void)rep;
    *out = kind->external32;
    return 0;
}

static const wr_datarep standard[] = {{.name = "native"},
                                      {.name = "internal"},
                                      {.name = "external32",
                                       .bytes = external32_bytes,
                                       .encode = wr_external32_encode,
                                       .decode = wr_external32_decode}};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* Only ever added to, under the lock, and walked without: an entry is whole before the pointer to
 * it is stored. */
static wr_datarep *_Atomic registered;

const wr_datarep *wr_datarep_native(void)
{
    return &standard[0];
}

const wr_datarep *wr_datarep_find(const char *name)
{
    for (size_t k = 0; k < sizeof standard / sizeof *standard; k++)
        if (!strcmp(standard[k].name, name))
            return &standard[k];
    for (wr_datarep *r = registered; r; r = r->next)
        if (!strcmp(r->name, name))
            return r;
    return NULL;
}

int wr_datarep_bytes(const wr_datarep *rep, MPI_Datatype type, int64_t *out)
{
    wr_kind kind[WR_MOST_KINDS];
    int count = wr_kinds_get(type, kind), code = count < 0 ? count : 0;
    *out = 0;
    for (int k = 0; !code && k < count; k++) {
        int64_t bytes = 0;
        code = rep->bytes(rep, &kind[k], &bytes);
        *out += bytes;
    }
    return code;
}

static int user_bytes(const wr_datarep *rep, const wr_kind *kind, int64_t *out)
{
    MPI_Aint extent = 0;
    int result = rep->extent(kind->type, &extent, rep->state);
    if (result != MPI_SUCCESS)
        return wr_misuse(MPI_ERR_CONVERSION, "the extent function of %s returns %d", rep->name,
                         result);
    if (extent <= 0 || extent > INT32_MAX)
        return wr_misuse(MPI_ERR_CONVERSION, "an element of %lld bytes in %s", (long long)extent,
                         rep->name);
    *out = extent;
    return 0;
}

static wr_datarep *new_datarep(const char *name, const wr_datarep *like)
{
    size_t length = strlen(name) + 1;
    wr_datarep *rep = wr_alloc((int64_t)(sizeof *rep + length));
    if (!rep)
        return NULL;
    *rep = *like;
    rep->name = memcpy(rep + 1, name, length);
    rep->bytes = user_bytes;
    return rep;
}

static int add(const char *name, const wr_datarep *like)
{
    if (!name || !*name || strlen(name) >= MPI_MAX_DATAREP_STRING)
        return wr_misuse(MPI_ERR_ARG, "the name of a data representation has 1 to %d characters",
                         MPI_MAX_DATAREP_STRING - 1);
    if (!like->extent)
        return wr_misuse(MPI_ERR_ARG, "a data representation without an extent function");
    int code = 0;
    pthread_mutex_lock(&lock);
    wr_datarep *rep = NULL;
    if (wr_datarep_find(name))
        code = wr_misuse(MPI_ERR_DUP_DATAREP, "there is a data representation %s already", name);
    else
        rep = new_datarep(name, like);
    if (rep) {
        rep->next = registered;
        registered = rep;
    }
    pthread_mutex_unlock(&lock);
    return code || rep ? code : WEIR_ENOMEM;
}

WR_EXPORT int PMPI_Register_datarep(const char *name, MPI_Datarep_conversion_function *read,
                                    MPI_Datarep_conversion_function *write,
                                    MPI_Datarep_extent_function *extent, void *state)
{
    const wr_datarep like = {
        .read = {.plain = read}, .write = {.plain = write}, .extent = extent, .state = state};
    return wr_mpi_file_result(NULL, add(name, &like));
}
WR_BOTH_NAMES(Register_datarep)

#if MPI_VERSION >= 4
WR_EXPORT int PMPI_Register_datarep_c(const char *name, MPI_Datarep_conversion_function_c *read,
                                      MPI_Datarep_conversion_function_c *write,
                                      MPI_Datarep_extent_function *extent, void *state)
{
    const wr_datarep like = {
        .read = {.large = read}, .write = {.large = write}, .extent = extent, .state = state};
    return wr_mpi_file_result(NULL, add(name, &like));
}
WR_BOTH_NAMES(Register_datarep_c)
#endif

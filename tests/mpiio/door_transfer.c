/* Every transfer that MPI has, by one call; and every way to wait for requests. */
#include <string.h>

#include "check.h"
#include "mpiio/door_support.h"

/* Which function: direction, who, and which pointer. */
#define KEY(write, together, at, shared) ((write)*8 + (together)*4 + (at)*2 + (shared))

static int key_of(const door_order *o)
{
    return KEY(o->write, o->together, o->at, o->shared);
}

/* Cases of a switch; they use fh, o and `last`. */
#define CASE(key, name, ...)                                                                       \
    case key:                                                                                      \
        return MPI_File_##name(fh, __VA_ARGS__);
#define ITEMS o->buffer, o->count, o->type

#define TWO_WAYS(X, Y, c)                                                                          \
    X(KEY(0, 0, 0, 0), read##c, ITEMS, last)                                                       \
    X(KEY(0, 0, 0, 1), read_shared##c, ITEMS, last)                                                \
    X(KEY(0, 0, 1, 0), read_at##c, o->offset, ITEMS, last)                                         \
    X(KEY(0, 1, 0, 0), read_all##c, ITEMS, last)                                                   \
    X(KEY(0, 1, 1, 0), read_at_all##c, o->offset, ITEMS, last)                                     \
    Y(KEY(1, 0, 0, 0), write##c, ITEMS, last)                                                      \
    Y(KEY(1, 0, 0, 1), write_shared##c, ITEMS, last)                                               \
    Y(KEY(1, 0, 1, 0), write_at##c, o->offset, ITEMS, last)                                        \
    Y(KEY(1, 1, 0, 0), write_all##c, ITEMS, last)                                                  \
    Y(KEY(1, 1, 1, 0), write_at_all##c, o->offset, ITEMS, last)

#define START(key, name, ...) CASE(key, i##name, __VA_ARGS__)

#define FUNCTIONS(c)                                                                               \
    static int block##c(MPI_File fh, const door_order *o, MPI_Status *last)                        \
    {                                                                                              \
        switch (key_of(o)) {                                                                       \
            TWO_WAYS(CASE, CASE, c)                                                                \
            CASE(KEY(0, 1, 0, 1), read_ordered##c, ITEMS, last)                                    \
            CASE(KEY(1, 1, 0, 1), write_ordered##c, ITEMS, last)                                   \
        default:                                                                                   \
            return MPI_ERR_OTHER;                                                                  \
        }                                                                                          \
    }                                                                                              \
    static int start##c(MPI_File fh, const door_order *o, MPI_Request *last)                       \
    {                                                                                              \
        switch (key_of(o)) {                                                                       \
            TWO_WAYS(START, START, c)                                                              \
        default:                                                                                   \
            return MPI_ERR_OTHER;                                                                  \
        }                                                                                          \
    }                                                                                              \
    static int begin##c(MPI_File fh, const door_order *o)                                          \
    {                                                                                              \
        switch (key_of(o)) {                                                                       \
            CASE(KEY(0, 1, 0, 0), read_all_begin##c, ITEMS)                                        \
            CASE(KEY(0, 1, 0, 1), read_ordered_begin##c, ITEMS)                                    \
            CASE(KEY(0, 1, 1, 0), read_at_all_begin##c, o->offset, ITEMS)                          \
            CASE(KEY(1, 1, 0, 0), write_all_begin##c, ITEMS)                                       \
            CASE(KEY(1, 1, 0, 1), write_ordered_begin##c, ITEMS)                                   \
            CASE(KEY(1, 1, 1, 0), write_at_all_begin##c, o->offset, ITEMS)                         \
        default:                                                                                   \
            return MPI_ERR_OTHER;                                                                  \
        }                                                                                          \
    }

FUNCTIONS()
#if MPI_VERSION >= 4
FUNCTIONS(_c)
#define CALL(name, o, ...)                                                                         \
    ((o)->large ? name##_c(fh, o, ##__VA_ARGS__) : name(fh, o, ##__VA_ARGS__))
#else
#define CALL(name, o, ...) name(fh, o, ##__VA_ARGS__)
#endif

int door_end(MPI_File fh, const door_order *o, MPI_Status *last)
{
    switch (key_of(o)) {
        CASE(KEY(0, 1, 0, 0), read_all_end, o->buffer, last)
        CASE(KEY(0, 1, 0, 1), read_ordered_end, o->buffer, last)
        CASE(KEY(0, 1, 1, 0), read_at_all_end, o->buffer, last)
        CASE(KEY(1, 1, 0, 0), write_all_end, o->buffer, last)
        CASE(KEY(1, 1, 0, 1), write_ordered_end, o->buffer, last)
        CASE(KEY(1, 1, 1, 0), write_at_all_end, o->buffer, last)
    default:
        return MPI_ERR_OTHER;
    }
}

int door_begin_split(MPI_File fh, const door_order *o)
{
    return CALL(begin, o);
}

int door_start(MPI_File fh, const door_order *o, MPI_Request *request)
{
    return CALL(start, o, request);
}

int door_transfer(MPI_File fh, const door_order *o, MPI_Status *status)
{
    return CALL(block, o, status);
}

/* One after the other, as they come. */
static void wait_any(int count, MPI_Request *requests, MPI_Status *statuses, bool test)
{
    for (int done = 0; done < count; done++) {
        int index = -1, flag = 1;
        MPI_Status status;
        do
            if (test)
                CHECK_OK(MPI_Testany(count, requests, &index, &flag, &status));
            else
                CHECK_OK(MPI_Waitany(count, requests, &index, &status));
        while (!flag);
        CHECK(index >= 0 && index < count && requests[index] == MPI_REQUEST_NULL);
        statuses[index] = status;
    }
}

static void wait_some(int count, MPI_Request *requests, MPI_Status *statuses, bool test)
{
    enum { MOST = 64 };
    int indices[MOST], found, done = 0;
    MPI_Status some[MOST];
    CHECK(count <= MOST);
    while (done < count) {
        if (test)
            CHECK_OK(MPI_Testsome(count, requests, &found, indices, some));
        else
            CHECK_OK(MPI_Waitsome(count, requests, &found, indices, some));
        CHECK(found >= !test && found <= count);
        for (int i = 0; i < found; i++)
            statuses[indices[i]] = some[i];
        done += found;
    }
}

static void look_then_wait(int count, MPI_Request *requests, MPI_Status *statuses)
{
    for (int i = 0; i < count; i++) {
        int flag = 0;
        while (!flag)
            CHECK_OK(MPI_Request_get_status(requests[i], &flag, &statuses[i]));
        CHECK(requests[i] != MPI_REQUEST_NULL);
        CHECK_OK(MPI_Cancel(&requests[i]));
        CHECK_OK(MPI_Wait(&requests[i], &statuses[i]));
    }
}

void door_wait(int way, int count, MPI_Request *requests, MPI_Status *statuses)
{
    int flag = 0;
    way %= DOOR_WAYS;
    switch (way) {
    case 0:
        for (int i = count - 1; i >= 0; i--)
            CHECK_OK(MPI_Wait(&requests[i], &statuses[i]));
        break;
    case 1:
        CHECK_OK(MPI_Waitall(count, requests, statuses));
        break;
    case 2:
    case 3:
        wait_any(count, requests, statuses, way == 3);
        break;
    case 4:
    case 5:
        wait_some(count, requests, statuses, way == 5);
        break;
    case 6:
        look_then_wait(count, requests, statuses);
        break;
    case 7:
        while (!flag)
            CHECK_OK(MPI_Testall(count, requests, &flag, statuses));
        break;
    default:
        for (int i = 0; i < count; i++)
            for (flag = 0; !flag;)
                CHECK_OK(MPI_Test(&requests[i], &flag, &statuses[i]));
    }
    for (int i = 0; i < count; i++)
        CHECK(requests[i] == MPI_REQUEST_NULL);
}

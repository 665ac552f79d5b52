/* Signals come all the time while ranks of two hosts lock ranges of a file: no lock is interrupted
 * on its way to the server, because GlusterFS's client does not survive two that are. A ring is
 * asked for, too, whose completions would interrupt like signals.
 *
 * usage: interrupted [FILE], in the folder that hosts share */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "check.h"
#include "mpiio/door_support.h"

enum { CALLS = 150, BYTES = 100 };

static volatile sig_atomic_t interrupts;

static void interrupt(int number)
{
    (void)number;
    interrupts = interrupts + 1;
}

/* Every 300 microseconds, until the program ends; SIGALRM is check_within's. */
static void start_signals(void)
{
    struct sigaction action = {.sa_handler = interrupt, .sa_flags = SA_RESTART};
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
    const struct itimerspec every = {{0, 300000}, {0, 300000}};
    timer_t timer;
    CHECK(!sigaction(SIGUSR1, &action, NULL));
    CHECK(!timer_create(CLOCK_MONOTONIC, &event, &timer));
    CHECK(!timer_settime(timer, 0, &every, NULL));
}

int main(int argc, char **argv)
{
    char data[BYTES], seen[BYTES];
    MPI_File fh;
    door_begin(&argc, &argv);
    check_within(60);
    const char *path = argc > 1 ? argv[1] : "interrupted";
    MPI_Info info = door_info("weir_storage=uring");
    CHECK_OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, info, &fh));
    CHECK_OK(MPI_File_set_atomicity(fh, 1));
    memset(data, 'a' + door_rank, BYTES);
    MPI_Barrier(MPI_COMM_WORLD);
    start_signals();
    for (int i = 0; i < CALLS; i++) {
        CHECK_OK(
            MPI_File_write_at(fh, door_rank * BYTES, data, BYTES, MPI_CHAR, MPI_STATUS_IGNORE));
        CHECK_OK(MPI_File_read_at(fh, door_rank * BYTES, seen, BYTES, MPI_CHAR, MPI_STATUS_IGNORE));
        CHECK(!memcmp(seen, data, BYTES));
    }
    CHECK(interrupts > 0);
    MPI_Info_free(&info);
    CHECK_OK(MPI_File_close(&fh));
    if (door_rank == 0)
        CHECK_OK(MPI_File_delete(path, MPI_INFO_NULL));
    MPI_Finalize();
    return 0;
}

/* Threads that each have files of their own, without MPI: what they did is in one trace, which is
 * whole when the process has ended, and a child of theirs leaves it alone. */
#include <dirent.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "weir/weir.h"

enum { THREADS = 4, CALLS = 60, BYTES = 3000 };

static char folder[] = "/tmp/weir_trace_XXXXXX";

static void *work(void *user)
{
    char path[100], data[BYTES] = {0};
    const int number = *(int *)user;
    weir_file *f;
    weir_pattern *where, *memory;
    snprintf(path, sizeof path, "%s/file %d", folder, number);
    CHECK(!weir_file_open(MPI_COMM_NULL, path, WEIR_READ | WEIR_WRITE | WEIR_CREATE, NULL, &f));
    CHECK(!weir_pattern_contiguous(0, BYTES, &memory));
    for (int i = 0; i < CALLS; i++) {
        weir_request *request = NULL;
        weir_totals totals;
        CHECK(!weir_pattern_contiguous((int64_t)i * BYTES, BYTES, &where));
        CHECK(!(i % 3 ? weir_file_write : weir_file_write_all)(f, where, memory, data, NULL,
                                                               i % 2 ? &request : NULL));
        CHECK(!weir_request_wait(&request, NULL));
        CHECK(!weir_file_read(f, where, memory, data, NULL, NULL));
        CHECK(!weir_totals_get(MPI_COMM_NULL, &totals));
        CHECK(totals.io_ns > 0);
        weir_pattern_free(where);
    }
    weir_pattern_free(memory);
    CHECK(!weir_file_close(f));
    CHECK(!weir_file_remove(path));
    return NULL;
}

static void run_threads(void)
{
    pthread_t thread[THREADS];
    int number[THREADS];
    for (int i = 0; i < THREADS; i++) {
        number[i] = i;
        CHECK(!pthread_create(&thread[i], NULL, work, &number[i]));
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
}

/* So that the process ends while the test goes on to look. */
static void run_apart(void)
{
    const pid_t child = fork();
    int status;
    if (child == 0) {
        setenv("WEIR_TRACE", folder, 1);
        run_threads();
        const pid_t grandchild = fork();
        if (grandchild == 0)
            exit(0); /* with its parent's handlers */
        waitpid(grandchild, &status, 0);
        exit(0);
    }
    CHECK(waitpid(child, &status, 0) == child && !status);
}

static void check_file(const char *name)
{
    char path[400], line[10000], direction[10];
    long long count, wanted, moved, calls = 0, bytes = 0, all = 0, complete = 0;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "r");
    CHECK(f != NULL);
    while (fgets(line, sizeof line, f)) {
        complete += !strcmp(line, "complete 1\n");
        if (sscanf(line, "call %*d %*d %9s %*s %*s %lld %lld %lld", direction, &count, &wanted,
                   &moved) == 4) {
            calls += count;
            bytes += wanted;
            all += moved;
        }
    }
    fclose(f);
    unlink(path);
    CHECK_EQUAL(complete, 1);
    CHECK_EQUAL(calls, 2 * THREADS * CALLS);
    CHECK_EQUAL(bytes, 2 * THREADS * CALLS * BYTES);
    CHECK_EQUAL(all, bytes);
}

int main(void)
{
    int files = 0;
    CHECK(mkdtemp(folder) != NULL);
    check_within(60);
    run_apart();
    DIR *d = opendir(folder);
    CHECK(d != NULL);
    for (const struct dirent *e; d && (e = readdir(d));)
        if (e->d_name[0] != '.') {
            check_file(e->d_name);
            files++;
        }
    closedir(d);
    CHECK_EQUAL(files, 1);
    CHECK(!rmdir(folder));
}

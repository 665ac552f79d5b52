#include "open_and_read.h"

#include "check.h"
#include "weir/weir.h"

int64_t open_and_read(const char *path, const char *hints, char *bytes, int64_t room)
{
    weir_file *f;
    weir_pattern *all;
    int64_t count = -1;
    CHECK(!weir_file_open(MPI_COMM_SELF, path, WEIR_READ, hints, &f));
    CHECK(!weir_pattern_contiguous(0, room, &all));
    CHECK(!weir_file_read(f, all, all, bytes, &count, NULL));
    CHECK(!weir_file_close(f));
    weir_pattern_free(all);
    return count;
}

/* Cores by set, and by what control groups leave of them. */
#include "base/cores.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/arith.h"

/* What a folder's own limit is, and INT64_MAX where it says "max", or nothing. */
static int64_t quota_of(const char *folder)
{
    char path[600];
    long long quota, period;
    snprintf(path, sizeof path, "%s/cpu.max", folder);
    FILE *file = fopen(path, "re");
    if (!file)
        return INT64_MAX;
    const bool limited = fscanf(file, "%lld %lld", &quota, &period) == 2 && quota > 0 && period > 0;
    fclose(file);
    return limited ? (quota - 1) / period + 1 : INT64_MAX;
}

/* Its name begins with a slash; that of the unified hierarchy is in the line that begins so. */
static void find_group(const char *groups, char *name, int room)
{
    static const char unified[] = "0::/";
    FILE *file = fopen(groups, "re");
    *name = 0;
    while (file && fgets(name, room, file) && strncmp(name, unified, sizeof unified - 1) != 0)
        *name = 0;
    if (file)
        fclose(file);
    if (!*name)
        return;
    name[strcspn(name, "\n")] = 0;
    memmove(name, name + sizeof unified - 2, strlen(name) - (sizeof unified - 2) + 1);
}

int64_t wr_cores_quota(const char *root, const char *groups)
{
    char folder[512], name[256];
    int64_t least = INT64_MAX;
    find_group(groups, name, sizeof name);
    snprintf(folder, sizeof folder, "%s%s", root, name);
    for (char *end = folder + strlen(folder); end && strlen(folder) >= strlen(root);) {
        least = wr_min(least, quota_of(folder));
        end = strrchr(folder, '/');
        if (end)
            *end = 0;
    }
    return least;
}

int64_t wr_cores_of(const cpu_set_t *cores)
{
    int64_t count = CPU_COUNT(cores);
    if (count == 0)
        count = sysconf(_SC_NPROCESSORS_ONLN);
    return wr_max(1, wr_min(count, wr_cores_quota("/sys/fs/cgroup", "/proc/self/cgroup")));
}

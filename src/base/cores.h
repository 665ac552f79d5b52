/* How many cores a process may use. */
#ifndef WR_BASE_CORES_H
#define WR_BASE_CORES_H

#include <sched.h>
#include <stdint.h>

/* How many cores those who may use these can keep busy, at least 1: all that are online if the set
 * is empty, because it holds no more than 1024; no more than the control group may use. */
int64_t wr_cores_of(const cpu_set_t *cores);

/* How many cores' time a control group may use, rounded up; INT64_MAX if that is not limited. It is
 * the one that the file `groups` names (/proc/self/cgroup), below the folder `root`. */
int64_t wr_cores_quota(const char *root, const char *groups);

#endif

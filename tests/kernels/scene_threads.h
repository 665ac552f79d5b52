/* Random operators with ranks as threads. */
#ifndef WR_TESTS_SCENE_THREADS_H
#define WR_TESTS_SCENE_THREADS_H

#include "kernel_scene.h"

/* So many cases of one of these operators. */
void run_scenes(enum deed first, enum deed last, uint64_t seed, int64_t cases);

#endif

/* Median filters and relaxations of random matrices, with ranks as threads, against loops in
 * memory. */
#include "scene_threads.h"

int main(void)
{
    run_scenes(MEDIAN, RELAX, test_seed(), test_cases(60, 3000));
    return 0;
}

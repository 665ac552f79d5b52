/* Statistics and filling of random arrays, with ranks as threads, against loops in memory. */
#include "scene_threads.h"

int main(void)
{
    run_scenes(REDUCE, FILL, test_seed(), test_cases(150, 5000));
    return 0;
}

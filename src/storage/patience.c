/* Systems forget that a name was missing when they see that its folder has changed, which opening
 * and reading the folder makes them look for; some only after seconds. */
#include "storage/patience.h"

#include <errno.h>
#include <fcntl.h>

#include "base/arith.h"
#include "base/error.h"
#include "base/wait.h"
#include "storage/systems.h"

enum { ALL_US = 3000000, FIRST_US = 1000, LONGEST_US = 250000 };

wr_patience wr_patience_start(bool elsewhere)
{
    return (wr_patience){.left = elsewhere ? ALL_US : 0, .pause = FIRST_US};
}

bool wr_patience_again(wr_patience *p, const char *path)
{
    const weir_error error = *weir_error_last();
    if (p->left <= 0 || (error.errnum != ENOENT && error.errnum != ESTALE))
        return false;
    wr_system_list(AT_FDCWD, path);
    wr_error_raise(&error); /* what is said if this was the last time */
    wr_pause(p->pause);
    p->left -= p->pause;
    p->pause = wr_min(2 * p->pause, LONGEST_US);
    return true;
}

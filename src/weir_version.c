/* The library's name for itself. */
#include "weir/weir.h"

const char *weir_version(void)
{
    return WEIR_VERSION " " WR_MPI_FLAVOUR;
}

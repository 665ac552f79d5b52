/* Every name of the DRA interface: if one were missing here, the linker would take GA's own DRA,
 * and stop at names that are there twice. */
#include <stddef.h>

#include "check.h"
#include "dra/dra_support.h"

#define NAMES(X)                                                                                   \
    X(DRA_Init)                                                                                    \
    X(DRA_Terminate)                                                                               \
    X(DRA_Open)                                                                                    \
    X(DRA_Close)                                                                                   \
    X(DRA_Delete)                                                                                  \
    X(DRA_Wait)                                                                                    \
    X(DRA_Probe)                                                                                   \
    X(DRA_Flick)                                                                                   \
    X(DRA_Set_debug)                                                                               \
    X(DRA_Print_internals)                                                                         \
    X(DRA_Set_default_config)                                                                      \
    X(DRA_uses_fapi)                                                                               \
    X(NDRA_Create)                                                                                 \
    X(NDRA_Create_config)                                                                          \
    X(NDRA_Inquire)                                                                                \
    X(NDRA_Write)                                                                                  \
    X(NDRA_Read)                                                                                   \
    X(NDRA_Write_section)                                                                          \
    X(NDRA_Read_section)                                                                           \
    X(dra_init_)                                                                                   \
    X(dra_terminate_)                                                                              \
    X(dra_create_)                                                                                 \
    X(dra_open_)                                                                                   \
    X(dra_close_)                                                                                  \
    X(dra_delete_)                                                                                 \
    X(dra_inquire_)                                                                                \
    X(dra_write_)                                                                                  \
    X(dra_read_)                                                                                   \
    X(dra_write_section_)                                                                          \
    X(dra_read_section_)                                                                           \
    X(dra_wait_)                                                                                   \
    X(dra_probe_)                                                                                  \
    X(dra_flick_)                                                                                  \
    X(dra_set_debug_)                                                                              \
    X(dra_print_internals_)                                                                        \
    X(dra_set_default_config_)                                                                     \
    X(dra_set_mode_)                                                                               \
    X(ndra_create_)                                                                                \
    X(ndra_create_config_)                                                                         \
    X(ndra_inquire_) X(ndra_write_) X(ndra_read_) X(ndra_write_section_) X(ndra_read_section_)

#define DECLARE(name) void name(void);
#define TAKE(name) name,
NAMES(DECLARE)

int main(int argc, char **argv)
{
    void (*volatile all[])(void) = {NAMES(TAKE)};
    dra_begin(&argc, &argv);
    CHECK_EQUAL((int64_t)(sizeof all / sizeof *all), 44);
    for (int i = 0; i < 44; i++)
        CHECK(all[i] != NULL);
    dra_end();
    return 0;
}

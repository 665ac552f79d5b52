/* Progress inside GA's synchronisation (the DRA paper, section 4), for programs linked with
 * -Wl,--wrap=GA_Sync,--wrap=ga_sync_: nothing else refers to this file. */
#include "weir/weir.h"

/* NOLINTBEGIN(bugprone-reserved-identifier): the linker makes these names */
void __real_GA_Sync(void);
void __wrap_GA_Sync(void);
void __real_ga_sync_(void);
void __wrap_ga_sync_(void);

void __wrap_GA_Sync(void)
{
    weir_progress_poll();
    __real_GA_Sync();
}

void __wrap_ga_sync_(void)
{
    weir_progress_poll();
    __real_ga_sync_();
}
/* NOLINTEND(bugprone-reserved-identifier) */

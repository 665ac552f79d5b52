/* What libraries on top of this one ask of base: the value of a tunable, a line in the log. */
#include <string.h>

#include "base/log.h"
#include "base/tunables.h"
#include "weir/weir.h"

static int settle(const char *hints, wr_tunables *out)
{
    wr_tunables_init(out);
    int code = hints ? wr_tunables_set_hints(out, hints) : 0;
    return code ? code : wr_tunables_set_environment(out);
}

int weir_tunable_get(const char *hints, const char *name, char *text, size_t size)
{
    wr_tunables tunables;
    int code = settle(hints, &tunables);
    return code ? code : wr_tunables_get(&tunables, name, text, size);
}

int weir_tunable_unknown(int index, char *text, size_t size)
{
    return index >= 0 && wr_tunables_unknown(index, text, size);
}

void weir_log(const char *level, const char *line)
{
    const weir_error error = *weir_error_last(); /* often what is logged */
    wr_tunables tunables, wanted;
    wr_tunables_init(&wanted);
    if (settle(NULL, &tunables)) /* what is wrong with the rest may be what is logged */
        wr_tunables_set_variable(&tunables, "log");
    if (!wr_tunables_set(&wanted, "log", level)) {
        const wr_log log = {.level = (int)tunables.log.which};
        wr_log_line(&log, (int)wanted.log.which, "%s", line);
    }
    weir_error_raise(&error);
}

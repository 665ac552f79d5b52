/* Makes the trial of an operator. */
#ifndef WR_CLI_TRIAL_RUN_H
#define WR_CLI_TRIAL_RUN_H

#include "operator.h"
#include "trial.h"

/* Makes first steps as `work` says, which has neither progress nor stop, into the outputs, which
 * are new and must be discarded then; takes about half a second, more where a step does. An input
 * that is mostly not in the page cache is not there afterwards either. `durable`: closing stores
 * what was written. Sets all but `before` and `anew`, on rank 0. Returns 0 or a code.
 * [collective] */
int cli_trial_run(const cli_operator *op, void *options, cli_operands *arrays,
                  const weir_work *work, int durable, cli_trial *out);

#endif

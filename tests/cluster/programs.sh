#!/bin/sh
# Runs MPI programs one after the other in the folder that all hosts share; for tools/cluster
# --script. Ranks are placed in blocks, and by turns where Open MPI can. usage: programs.sh PROGRAM...
set -u
cd "$CLUSTER_SHARED" || exit
weak=
[ "$(stat -f -c %T .)" = tmpfs ] || weak=WEIR_TEST_WEAK=1
status=0
for program; do
    begin=$(date +%s.%N)
    $CLUSTER_RUN env $weak $program 2>&1 || { echo "failed: $program"; status=1; }
    echo "$program $(date +%s.%N) $begin" | awk '{print $1, $2-$3}'
done
exit $status

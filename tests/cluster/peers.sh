#!/bin/sh
# Random programs one by one, for an MPI-IO that may hang or abort: how many are right.
# usage: tools/cluster HOSTS RANKS --fs FS --script tests/cluster/peers.sh PROGRAM FIRST COUNT
# LIMIT: seconds of each. With WEIR_DOOR=off it is the MPI's own, and with OMPI_MCA_io another one of it.
set -u
program=$1 first=$2 count=$3
right=0 wrong=0 failed=0 hung=0
i=$first
while [ "$i" -lt $((first + count)) ]; do
    status=0
    timeout -k 2 "${LIMIT:-20}" $CLUSTER_RUN "$program" "$CLUSTER_SHARED" "$i" 1 mpi \
        >"$CLUSTER_TOOLS/out" 2>&1 || status=$?
    if [ $status = 0 ]; then
        right=$((right + 1))
    elif [ $status = 124 ] || [ $status = 137 ]; then
        hung=$((hung + 1))
    elif grep -q 'bytes wrong, 0 errors' "$CLUSTER_TOOLS/out"; then
        wrong=$((wrong + 1))
    else
        failed=$((failed + 1))
    fi
    i=$((i + 1))
done
echo "$count programs: $right right, $wrong wrong, $failed failed, $hung hung"

#!/bin/sh
# Runs programs one after the other in the folder that all hosts share; for tools/cluster --script.
# A push has few of their cases, test-long as many as one host has in a push. Ranks are placed in
# blocks, and for every other program by turns, where the MPI can. usage: programs.sh PROGRAM...
set -u
cd "$CLUSTER_SHARED" || exit
settings="-u WEIR_TEST_LONG"
[ "${WEIR_TEST_LONG-}" ] || settings="WEIR_TEST_CASES=${WEIR_TEST_CASES-2}"
[ "$(stat -f -c %T .)" = tmpfs ] || settings="$settings WEIR_TEST_WEAK=1"
case $CLUSTER_RUN in
mpirun.openmpi*) other="--map-by node" ;;
*) other= ;;
esac
place= status=0
for program; do
    begin=$(date +%s%N)
    $CLUSTER_RUN $place env $settings "$program" || { echo "failed: $program $place"; status=1; }
    echo "$((($(date +%s%N) - begin) / 1000000)) ms: ${program##*/} $place"
    [ "$place" ] && place= || place=$other
done
left=$(ls)
[ -z "$left" ] || [ $status = 1 ] || { echo "left behind: $left"; status=1; }
exit $status

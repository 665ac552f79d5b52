#!/bin/sh
# weir run on two hosts: all ranks have the library and the settings, and leave traces of one job; for
# tools/cluster --script.
# usage: run_hosts.sh WEIR PROGRAM
set -eu
weir=$1 program=$2
cd "$CLUSTER_SHARED"
fail() { echo "$1"; cat out 2>/dev/null; exit 1; }
look() {
    "$weir" run -q --hints window=1M -- $CLUSTER_RUN \
        sh -c 'echo "$(hostname) ${WEIR_HINTS-} $(grep -c "r-xp.*libweir_mpiio" /proc/self/maps)"' | sort -u >out
    printf '%s\n' 'host1 window=1M 1' 'host2 window=1M 1' | cmp -s - out || fail "$1"
}
look "ranks on two hosts"
# Whoever tells Open MPI by a list what to pass on cannot do so by options. (MPICH alone hangs in some
# of such runs, with its own MPI-IO, too.)
case $CLUSTER_RUN in
mpirun.openmpi*)
    WEIR_TRACE=$PWD/trace "$weir" run --log-level info -- $CLUSTER_RUN "$program" file >out 2>&1 || fail "exit status $?"
    grep -q 'MPI-IO by weir' out || fail "it does not serve"
    "$weir" report trace >out || fail "no report"
    grep -q '^ranks .* on 2 hosts.*; ended in order' out || fail "a report of two hosts"
    CLUSTER_RUN=$(echo "$CLUSTER_RUN" | sed 's/-x [A-Z_]*//g')
    export OMPI_MCA_mca_base_env_list='NOTHING=1'
    look "a list"
    ;;
esac

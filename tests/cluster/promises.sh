#!/bin/sh
# Promises are kept; and, as a control, those named would not be if the file system were trusted; for
# tools/cluster --script. usage: promises.sh PROGRAM [PROMISE...]
set -u
program=$1
shift
$CLUSTER_RUN "$program" || exit 1
if [ $# -gt 0 ]; then # by chance some of them may be kept
    text=$($CLUSTER_RUN env WEIR_COHERENCE=strong "$program" "$@" 2>&1) && {
        echo "$text"
        echo "promises: kept without doing anything for it, so they were not tested"
        exit 1
    }
    echo "$text" | grep -q BROKEN || { echo "$text"; exit 1; }
fi
[ -z "$(ls "$CLUSTER_SHARED")" ] || { echo "left behind: $(ls "$CLUSTER_SHARED")"; exit 1; }

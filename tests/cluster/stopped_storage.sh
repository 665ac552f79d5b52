#!/bin/sh
# The storage host stops for some seconds while programs run, which are slow then, not wrong; for
# tools/cluster --script. usage: stopped_storage.sh SECONDS PROGRAM...
set -u
seconds=$1
shift
"$(dirname "$0")/programs.sh" "$@" &
programs=$!
tries=0
until [ "$(ls "$CLUSTER_SHARED")" ]; do
    tries=$((tries + 1))
    [ $tries -lt 600 ] || { echo "nothing is stored"; exit 1; }
    sleep 0.05
done
kill -STOP $(cat "$CLUSTER_TOOLS/storage.pid")
sleep "$seconds"
kill -0 $programs || { echo "nothing had to wait"; exit 1; }
kill -CONT $(cat "$CLUSTER_TOOLS/storage.pid")
wait $programs

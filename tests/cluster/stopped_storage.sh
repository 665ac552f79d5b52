#!/bin/sh
# The storage host stops for some seconds while a program runs, which is slow then, not wrong; for
# tools/cluster --script. usage: stopped_storage.sh SECONDS PROGRAM...
set -u
seconds=$1
shift
"$(dirname "$0")/programs.sh" "$@" &
program=$!
sleep 2
kill -STOP $(cat "$CLUSTER_TOOLS/storage.pid")
sleep "$seconds"
kill -0 $program || { echo "the program did not wait"; exit 1; }
kill -CONT $(cat "$CLUSTER_TOOLS/storage.pid")
wait $program

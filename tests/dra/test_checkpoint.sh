#!/bin/sh
# The example goes on where it was, on fewer ranks, on more, and after its newest file was damaged.
# usage: test_checkpoint.sh CHECKPOINT LAUNCHER...
set -eu
program=$1
shift
launcher=$*
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

expect() { # LINE RANKS STEPS
    line=$1 ranks=$2 steps=$3
    got=$(timeout 100 $launcher "$ranks" "$program" "$work/state" "$steps" 2>&1) || {
        echo "$ranks ranks, $steps steps: $got"; exit 1; }
    echo "$got" | grep -q "$line" || { echo "\"$got\" without \"$line\""; exit 1; }
}

expect "5 steps after the first 0: right" 3 5
expect "5 steps after the first 4: right" 2 9
expect "2 steps after the first 8: right" 4 10
truncate -s 100 "$work/state.10"
expect "3 steps after the first 8: right" 1 11

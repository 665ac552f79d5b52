#!/bin/sh
# Arrays that some number of ranks wrote, read by another.
# usage: test_counts.sh PROGRAM LAUNCHER...
set -eu
program=$1
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
seed=${WEIR_TEST_SEED:-$(date +%s)}
echo "WEIR_TEST_SEED=$seed"
for pair in "3 1" "1 4" "4 2"; do
    "$@" "${pair% *}" "$program" write "$work/array" "$seed"
    "$@" "${pair#* }" "$program" check "$work/array" "$seed"
done

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
case $* in # MPICH polls: more ranks than cores take their time
*mpich*) pairs="2 1,1 3" ;;
*) pairs="3 1,1 4,4 2" ;;
esac
echo "$pairs" | tr , '\n' | while read -r pair; do
    "$@" "${pair% *}" "$program" write "$work/array" "$seed" </dev/null
    "$@" "${pair#* }" "$program" check "$work/array" "$seed" </dev/null
done

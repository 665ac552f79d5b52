#!/bin/sh
# Replays the kept corpus, then fuzzes for a while in a temporary copy of it.
# usage: short_run.sh TARGET CORPUS
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -r "$2" "$work/corpus"
seconds=4
[ -z "${WEIR_TEST_LONG:-}" ] || seconds=200
cd "$work"
if ! "$1" corpus/* >log 2>&1 || ! "$1" -max_total_time=$seconds -max_len=4096 corpus >log 2>&1; then
    tail -n 50 log
    for input in crash-* leak-* oom-* timeout-*; do
        [ ! -f "$input" ] || { echo "keep this input in the corpus:"; od -An -tx1 "$input"; }
    done
    exit 1
fi
tail -n 1 log

#!/bin/sh
# usage: test_killed.sh PROGRAM LAUNCHER...
set -eu
program=$1
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if "$@" 3 "$program" kill "$work" >"$work/log" 2>&1; then
    echo "the program was not killed"
    exit 1
fi
"$@" 2 "$program" check "$work" || { cat "$work/log"; exit 1; }

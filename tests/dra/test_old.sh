#!/bin/sh
# Arrays that GA's own library wrote, in one file and in several, are read and converted.
# usage: test_old.sh WRITER READER LAUNCHER...
set -eu
writer=$1 reader=$2
shift 2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# try NAME WRITERS READERS OPTIONS DIMENSION...
try() {
    name=$work/$1 writers=$2 readers=$3 options=$4
    launch=$5
    shift 5
    $launch "$writers" "$writer" "$name" "$@" $options || { echo "cannot write $name"; exit 1; }
    $launch "$readers" "$reader" "$name" "$@"
}

try line 2 1 "" "$*" 50000
try plane 4 3 "" "$*" 700 501
try planes 4 2 "-f 4" "$*" 700 501
try solid 3 2 "" "$*" 61 70 83
try solids 3 4 "-f 3" "$*" 61 70 83
try many 2 3 "" "$*" 9 20 30 7 8

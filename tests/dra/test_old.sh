#!/bin/sh
# Arrays that GA's own library wrote, in one file and in several, are read and converted.
# usage: test_old.sh WRITER READER CONVERT LAUNCHER...
set -eu
writer=$1 reader=$2 convert=$3
shift 3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# try NAME WRITERS READERS OPTIONS DIMENSION...
try() {
    name=$work/$1 writers=$2 readers=$3 options=$4
    launch=$5
    shift 5
    $launch "$writers" "$writer" "$name" "$@" $options || { echo "cannot write $name"; exit 1; }
    $launch 2 "$convert" "$name" "$name.converted"
    $launch 1 "$reader" "$name.converted" "$@"
    $launch "$readers" "$reader" "$name" "$@"
}

try planes 4 2 "-f 4" "$*" 300 211
try solid 3 2 "" "$*" 31 40 53
try many 2 3 "" "$*" 9 10 12 7 8

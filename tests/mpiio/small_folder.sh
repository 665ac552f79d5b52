#!/bin/sh
# Runs a command with one more argument: a folder on a file system of 256 KiB, or nothing where none
# can be mounted.
folder=$(mktemp -d)
trap 'umount "$folder" 2>/dev/null; rmdir "$folder"' EXIT
if mount -t tmpfs -o size=256k tmpfs "$folder" 2>/dev/null; then
    "$@" "$folder"
else
    "$@"
fi

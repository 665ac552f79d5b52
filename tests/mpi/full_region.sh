#!/bin/sh
# Runs a command with WEIR_REGION_FOLDER on a file system of 16 KiB; skipped where none can be mounted.
folder=$(mktemp -d)
if ! mount -t tmpfs -o size=16k tmpfs "$folder" 2>/dev/null; then
    rmdir "$folder"
    echo "cannot mount a small tmpfs here"
    exit 77
fi
WEIR_REGION_FOLDER=$folder "$@"
status=$?
left=$(ls "$folder")
umount "$folder"
rmdir "$folder"
[ -z "$left" ] || { echo "left behind: $left"; exit 1; }
exit $status

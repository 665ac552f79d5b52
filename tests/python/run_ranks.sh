#!/bin/sh
# Runs a command in which all ranks share a folder, WEIR_TEST_FOLDER.
set -eu
WEIR_TEST_FOLDER=$(mktemp -d)
export WEIR_TEST_FOLDER
trap 'rm -rf "$WEIR_TEST_FOLDER"' EXIT
"$@"

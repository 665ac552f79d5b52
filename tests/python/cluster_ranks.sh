#!/bin/sh
# Runs test_ranks.py on hosts that share a folder, with few of its cases; for tools/cluster --script.
# usage: cluster_ranks.sh PYTEST...
set -eu
folder=$CLUSTER_SHARED/ranks
mkdir "$folder"
trap 'rm -rf "$folder"' EXIT
$CLUSTER_RUN env WEIR_TEST_FOLDER="$folder" WEIR_TEST_SHARE=4 PYTHONPATH="$PYTHONPATH" \
    PYTHONDONTWRITEBYTECODE=1 "$@"

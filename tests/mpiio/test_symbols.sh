#!/bin/sh
# test_symbols.sh DOOR ENGINE: the door defines everything that the MPI library its engine is linked
# with has for files, under both names, and all that waits for requests; and what the engine has.
set -eu
mpi=$(ldd "$2" | sed -n 's/.*lib\(mpi\|mpich\)\.so[^ ]* => \([^ ]*\) .*/\2/p' | head -n 1)
[ -n "$mpi" ] || { echo "no MPI library in $2"; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
defined() { nm -D --defined-only "$1" | awk '{ print $3 }' | sort -u; }
wanted='MPI_File_[a-z0-9_]*|MPI_Register_datarep(_c)?|MPI_(Wait|Test)(all|any|some)?'
wanted="P?($wanted|MPI_Request_get_status|MPI_Request_free|MPI_Cancel)"
defined "$mpi" | grep -Ex "$wanted" >"$work/theirs"
defined "$1" >"$work/ours"
defined "$2" >"$work/engine"
missing=$(comm -23 "$work/theirs" "$work/ours")
[ -z "$missing" ] || { echo "missing:" $missing; exit 1; }
differ=$(comm -3 "$work/engine" "$work/ours")
[ -z "$differ" ] || { echo "not in both:" $differ; exit 1; }
count=$(wc -l <"$work/theirs")
[ "$count" -ge 146 ] || { echo "only $count functions found in $mpi"; exit 1; }
echo "$count functions"

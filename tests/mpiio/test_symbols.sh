#!/bin/sh
# test_symbols.sh DOOR: the door defines everything that the MPI library it is linked with has for
# files, under both names, and all that waits for requests.
set -eu
mpi=$(ldd "$1" | sed -n 's/.*lib\(mpi\|mpich\)\.so[^ ]* => \([^ ]*\) .*/\2/p' | head -n 1)
[ -n "$mpi" ] || { echo "no MPI library in $1"; exit 1; }
defined() { nm -D --defined-only "$1" | awk '{ print $3 }' | sort -u; }
wanted='MPI_File_[a-z0-9_]*|MPI_Register_datarep(_c)?|MPI_(Wait|Test)(all|any|some)?'
wanted="P?($wanted|MPI_Request_get_status|MPI_Request_free|MPI_Cancel)"
defined "$mpi" | grep -Ex "$wanted" >theirs.txt
defined "$1" >ours.txt
missing=$(comm -23 theirs.txt ours.txt)
count=$(wc -l <theirs.txt)
rm -f theirs.txt ours.txt
[ -z "$missing" ] || { echo "missing:" $missing; exit 1; }
[ "$count" -ge 146 ] || { echo "only $count functions found in $mpi"; exit 1; }
echo "$count functions"

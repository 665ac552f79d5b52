#!/bin/sh
# Builds the library for MPICH, and runs the tests of Fortran with it.
# usage: test_mpich.sh SOURCE BUILD
set -eu
source=$1 build=$2
command -v mpiexec.mpich >/dev/null || { echo "skipped: no MPICH"; exit 77; }
command -v mpifort.mpich >/dev/null || { echo "skipped: no Fortran for MPICH"; exit 77; }
cmake -G Ninja -S "$source" -B "$build" -DWEIR_MPI=mpich -DCMAKE_C_COMPILER=gcc >"$build.log" 2>&1 ||
    { cat "$build.log"; exit 1; }
targets='fortran_heat fortran_restart fortran_overlap fortran_ends'
for binding in mpi mpi_f08; do
    targets="$targets fortran_model_$binding fortran_calls_$binding"
done
cmake --build "$build" --target $targets >"$build.log" 2>&1 || { cat "$build.log"; exit 1; }
cd "$build"
ctest --output-on-failure --no-tests=error -L push -R '^fortran_(model|calls|python|examples)'

#!/bin/sh
# Python and Fortran with MPICH, where a build for Open MPI is tested. The build that lint makes for
# MPICH is used, if it is there; otherwise one is made.
# usage: test_mpich.sh SOURCE BUILD
set -eu
source=$1 build=$source/build/lint-clang
command -v mpiexec.mpich >/dev/null || { echo "skipped: no MPICH"; exit 77; }
command -v mpifort.mpich >/dev/null || { echo "skipped: no Fortran for MPICH"; exit 77; }
if [ ! -e "$build/build.ninja" ]; then
    build=$2
    mkdir -p "$build"
    cmake -G Ninja -S "$source" -B "$build" -DWEIR_MPI=mpich -DCMAKE_C_COMPILER=gcc -DCMAKE_BUILD_TYPE=Debug \
        >"$build.log" 2>&1 || { cat "$build.log"; exit 1; }
fi
targets='fortran_heat fortran_restart fortran_overlap fortran_ends weir_python'
for binding in mpi mpi_f08; do
    targets="$targets fortran_model_$binding fortran_calls_$binding"
done
cmake --build "$build" --target $targets >"$2.log" 2>&1 || { cat "$2.log"; exit 1; }
cd "$build"
ctest --output-on-failure --no-tests=error --parallel 2 -L push \
    -R '^(fortran_(model|calls|python|examples)|python_ranks_2)'

#!/bin/sh
# Installs into a temporary folder, then builds and runs an example the two ways a user would.
# usage: test_install.sh SOURCE BUILD MPI
set -eu
source=$1 build=$2 mpi=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cmake --install "$build" --prefix "$work/prefix" >/dev/null

export PKG_CONFIG_PATH="$work/prefix/lib/pkgconfig:$work/prefix/lib/$(gcc -print-multiarch)/pkgconfig"
gcc -o "$work/section" "$source/examples/strided_section.c" $(pkg-config --cflags --libs "weir-$mpi") \
    -Wl,-rpath,"$(pkg-config --variable=libdir "weir-$mpi")"
"$work/section" >/dev/null

mkdir "$work/project"
cat >"$work/project/CMakeLists.txt" <<END
cmake_minimum_required(VERSION 3.20)
project(user C)
find_package(weir-$mpi REQUIRED)
add_executable(section "$source/examples/strided_section.c")
target_link_libraries(section PRIVATE weir::$mpi)
END
cmake -G Ninja -S "$work/project" -B "$work/project/build" \
    -DCMAKE_PREFIX_PATH="$work/prefix" >/dev/null
cmake --build "$work/project/build" >/dev/null
"$work/project/build/section" >/dev/null

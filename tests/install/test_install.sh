#!/bin/sh
# Installs into a temporary folder, then builds and runs an example the two ways a user would, and
# programs in C++, Fortran and Python; the documents that the command names are there.
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

# The name that programs ask for, and the versions that CMake takes for one that fits, change with
# the minor version while the major one is 0.
number() { sed -n "s/#define WEIR_VERSION_$1 //p" "$work/prefix/include/weir/version.h"; }
major=$(number MAJOR) minor=$(number MINOR)
[ "$(pkg-config --modversion "weir-$mpi")" = "$major.$minor.$(number PATCH)" ]
[ "$major" -gt 0 ] || major="0.$minor"
readelf -d "$work/section" | grep -q "\[libweir_$mpi.so.$major\]" || { readelf -d "$work/section"; exit 1; }

mkdir "$work/project"
cat >"$work/project/CMakeLists.txt" <<END
cmake_minimum_required(VERSION 3.20)
project(user C)
find_package(weir-$mpi $major QUIET)
if(NOT weir-${mpi}_FOUND)
  message(FATAL_ERROR "weir $major is not found")
endif()
find_package(weir-$mpi 0.$((minor - 1)) QUIET)
if(weir-${mpi}_FOUND)
  message(FATAL_ERROR "weir 0.$((minor - 1)) is found")
endif()
find_package(weir-$mpi REQUIRED)
add_executable(section "$source/examples/strided_section.c")
target_link_libraries(section PRIVATE weir::$mpi)
END
cmake -G Ninja -S "$work/project" -B "$work/project/build" \
    -DCMAKE_PREFIX_PATH="$work/prefix" >/dev/null
cmake --build "$work/project/build" >/dev/null
"$work/project/build/section" >/dev/null

# A project that has no C at all.
mkdir "$work/cxx"
cat >"$work/cxx/CMakeLists.txt" <<END
cmake_minimum_required(VERSION 3.20)
project(user CXX)
find_package(weir-$mpi REQUIRED)
add_executable(version version.cc)
target_link_libraries(version PRIVATE weir::$mpi)
END
cat >"$work/cxx/version.cc" <<END
#include <cstdio>
#include <weir/weir.h>
int main(int argc, char **argv)
{
    weir_array *array;
    MPI_Init(&argc, &argv);
    int code = weir_array_open(MPI_COMM_WORLD, "/nonexistent", WEIR_READ, nullptr, &array);
    std::printf("%s\n", weir_version());
    return MPI_Finalize() || code != WEIR_ENOENT;
}
END
cmake -G Ninja -S "$work/cxx" -B "$work/cxx/build" -DCMAKE_PREFIX_PATH="$work/prefix" >/dev/null
cmake --build "$work/cxx/build" >/dev/null
"$work/cxx/build/version" | grep -q "^[0-9.]* $mpi"

# A program in Fortran, by pkg-config and in a project that has no other language; where the module
# was built.
if [ -e "$build/fortran/weir.mod" ]; then
    mkdir "$work/fortran"
    cat >"$work/fortran/missing.f90" <<END
program missing
  use mpi_f08
  use weir
  type(weir_array) :: array
  integer :: ierr
  call MPI_Init()
  call weir_open(MPI_COMM_WORLD, '/nonexistent', array, ierr=ierr)
  print '(a)', weir_version()
  call MPI_Finalize()
  if (ierr /= weir_enoent) error stop 'another error'
end program
END
    cat >"$work/fortran/CMakeLists.txt" <<END
cmake_minimum_required(VERSION 3.20)
project(user Fortran)
find_package(weir-$mpi REQUIRED)
add_executable(missing missing.f90)
target_link_libraries(missing PRIVATE weir::fortran_$mpi)
END
    mpifort=$(command -v "mpifort.$mpi" || echo mpifort)
    "$mpifort" -o "$work/missing" "$work/fortran/missing.f90" \
        $(pkg-config --cflags --libs "weir-fortran-$mpi") \
        -Wl,-rpath,"$(pkg-config --variable=libdir "weir-$mpi")"
    "$work/missing" | grep -q "^[0-9.]* $mpi"
    cmake -G Ninja -S "$work/fortran" -B "$work/fortran/build" \
        -DCMAKE_PREFIX_PATH="$work/prefix" >/dev/null
    cmake --build "$work/fortran/build" >/dev/null
    "$work/fortran/build/missing" | grep -q "^[0-9.]* $mpi"
fi

# Python's package, where it was built, with the library that was installed with it.
package=$(find "$work/prefix" -path "*weir-$mpi/python/weir/__init__.py")
if [ -e "$build/python/weir/__init__.py" ]; then
    python=${package%/weir/__init__.py}
    ldd "$python/weir/_weir.abi3.so" | grep -q "libweir_$mpi.* => $work/" || {
        ldd "$python/weir/_weir.abi3.so"; exit 1; }
    PYTHONPATH=$python PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 - "$work/a.npy" <<END
import sys, numpy, weir
numpy.save(sys.argv[1], numpy.arange(5))
with weir.open(sys.argv[1]) as a:
    assert a[2:].tolist() == [2, 3, 4]
assert weir.__version__ == "$(pkg-config --modversion "weir-$mpi")"
END
fi

# The command uses the library that was installed with it.
ldd "$work/prefix/bin/weir.$mpi" | grep -q "libweir_$mpi.* => $work/" || { ldd "$work/prefix/bin/weir.$mpi"; exit 1; }

documents="$work/prefix/share/doc/weir"
{ "$work/prefix/bin/weir.$mpi" --help; cat "$work/prefix"/include/weir/*.h; } | grep -o 'docs/[a-z-]*\.md' | sort -u >"$work/named"
[ -s "$work/named" ] || { echo "no documents named"; exit 1; }
while read -r name; do
    [ -s "$documents/$name" ] || { echo "$name is not in $documents"; exit 1; }
done <"$work/named"
"$work/prefix/bin/weir.$mpi" --help | grep -q share/doc/weir

# The MPI-IO door finds its engine where it is installed.
mpicc=$(command -v "mpicc.$mpi" || echo mpicc)
"$mpicc" -o "$work/door" "$source/tests/client/tool_client.c"
door=$(find "$work/prefix" -name "libweir_mpiio_$mpi.so")
env OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 WEIR_LOG=info LD_PRELOAD="$door" \
    "$work/door" "$work/file" 2>&1 | grep -q 'MPI-IO by weir' || { echo "the door does not serve"; exit 1; }

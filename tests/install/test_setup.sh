#!/bin/sh
# What make setup would install on a machine that has nothing, for each other goal, and that without
# setup every goal says so in one line and installs nothing.
# usage: test_setup.sh SOURCE
set -eu
source=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "$1"; exit 1; }

# Nothing is installed, we are root, and what apt-get is told is kept.
mkdir "$work/shims"
printf '#!/bin/sh\nexit 1\n' >"$work/shims/dpkg-query"
printf '#!/bin/sh\necho 0\n' >"$work/shims/id"
printf '#!/bin/sh\necho "$@" >>%s/asked\n' "$work" >"$work/shims/apt-get"
chmod +x "$work/shims"/*

# set_up GOAL... runs the one set-up of this make; its words go to $work/said.
set_up() {
    rm -f "$work/asked"
    setup=$(make -n -C "$source" "$@" | grep -o 'tools/setup.*' | sort -u)
    [ "$(echo "$setup" | wc -l)" = 1 ] || fail "make $*: not one setup: $setup"
    (cd "$source" && PATH="$work/shims:$PATH" sh $setup) >"$work/said" 2>&1
}
announces() {
    for package; do
        case "$(cat "$work/said") " in *" $package "*) ;; *) fail "$package is not announced" ;; esac
    done
}

# asks GOAL... sets $asked to the packages that make setup GOAL... would install; they are also what
# make GOAL... asks for.
asks() {
    set_up setup "$@"
    asked=" $(sed -n 's/.*install -y --no-install-recommends //p' "$work/asked") "
    announces $asked
    ! set_up "$@" || fail "make $*: goes on without packages"
    [ ! -e "$work/asked" ] || fail "make $*: installs $(cat "$work/asked")"
    [ "$(grep -c . "$work/said")" = 1 ] && grep -q 'make setup.* sudo apt-get install' "$work/said" ||
        fail "make $*: says $(cat "$work/said")"
    announces $asked
}
has() { for package; do case $asked in *" $package "*) ;; *) fail "no $package in$asked" ;; esac; done; }
lacks() { for package; do case $asked in *" $package "*) fail "$package in$asked" ;; esac; done; }

tests='libglobalarrays-dev gfortran clang python3-numpy strace iproute2 libpnetcdf-dev'
for goal in all demo install docs; do
    asks $goal
    has cmake ninja-build pkg-config libcjson-dev openmpi-bin libopenmpi-dev libhdf5-openmpi-dev
    lacks $tests mpich libmpich-dev clang-tidy git
done
asks all MPI=mpich
has cmake mpich libmpich-dev libhdf5-mpich-dev
lacks $tests openmpi-bin
for goal in test test-long bench; do
    asks $goal
    has cmake $tests openmpi-bin libmpich-dev
    lacks clang-tidy
done
asks deb
has cmake dpkg-dev libopenmpi-dev python3-dev gfortran
lacks strace libmpich-dev
asks all test # what several goals need together
has cmake $tests openmpi-bin libmpich-dev
asks lint
has cmake $tests openmpi-bin libmpich-dev clang-format clang-tidy git

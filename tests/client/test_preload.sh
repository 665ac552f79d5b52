#!/bin/sh
# test_preload.sh DOOR OTHER_CLIENT TOOL_CLIENT LAUNCHER...: what libweir_mpiio does before it loads
# the engine, and who serves if it does not.
set -eu
door=$1 other=$2 program=$3
shift 3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "failed: $*"; cat "$work/said" "$work/errors" 2>/dev/null; exit 1; }

# a program without MPI has one library more
plain=$(ldd /bin/true | wc -l)
loaded=$(LD_PRELOAD=$door ldd /bin/true | wc -l)
[ "$loaded" -eq $((plain + 1)) ] || fail "/bin/true loads $loaded libraries instead of $plain"
LD_PRELOAD=$door LD_BIND_NOW=1 /bin/true || fail "/bin/true with LD_BIND_NOW"

# other MPI: its own functions, and one line
LD_PRELOAD=$door "$other" >"$work/said" 2>"$work/errors" || fail "a program of another MPI"
[ "$(cat "$work/said")" = served ] || fail "a program of another MPI"
[ "$(wc -l <"$work/errors")" -eq 1 ] && grep -q "another MPI runs" "$work/errors" ||
    fail "not one line on another MPI"
WEIR_DOOR=off LD_PRELOAD=$door "$other" >"$work/said" 2>"$work/errors" || fail "WEIR_DOOR=off"
[ ! -s "$work/errors" ] || fail "WEIR_DOOR=off says something"

# run LINES PATTERN SETTING...: so many lines with the pattern on standard error, and files work
run() {
    lines=$1 pattern=$2
    shift 2
    "$@" "$program" "$work/file" >"$work/said" 2>"$work/errors" || fail "$*"
    [ "$(grep -c "$pattern" "$work/errors")" -eq "$lines" ] || fail "$*: not $lines of '$pattern'"
}
run 1 "MPI-IO by weir" "$@" 2 env WEIR_LOG=info "LD_PRELOAD=$door"
# a program that has nothing under way while it is in MPI has the thread level it asks for
run 0 MPI_THREAD_MULTIPLE "$@" 2 env WEIR_LOG=info "LD_PRELOAD=$door"
run 1 "MPI_THREAD_MULTIPLE, as mpi_threads" "$@" 2 env WEIR_LOG=info WEIR_MPI_THREADS=multiple \
    "LD_PRELOAD=$door"
run 0 weir "$@" 2 env WEIR_LOG=info WEIR_DOOR=OFF WEIR_WINDOW=wrong "LD_PRELOAD=$door"
run 1 "warning: WEIR_WINDWO.*WEIR_WINDOW?" "$@" 2 env WEIR_LOG=warning WEIR_WINDWO=4K "LD_PRELOAD=$door"
run 0 WEIR_WINDWO "$@" 2 env WEIR_WINDWO=4K "LD_PRELOAD=$door"
! "$@" 1 env WEIR_LOG=error WEIR_HINTS=windwo=1 "LD_PRELOAD=$door" "$program" "$work/file" \
    >"$work/said" 2>"$work/errors" || fail "a hint that is none"
grep -q "weir: error: .*windwo: is it to be window?" "$work/errors" || fail "a hint that is none"
cp "$door" "$work/libweir_mpiio.so"
run 1 "weir: warning: cannot load" "$@" 2 env WEIR_LOG=info "LD_PRELOAD=$work/libweir_mpiio.so"
cp "$(dirname "$door")"/libweir_mpiio_engine_* "$work"
run 1 "MPI-IO by weir" "$@" 2 env WEIR_LOG=info "LD_PRELOAD=$work/libweir_mpiio.so"

#!/bin/sh
# weir run: programs have Weir's MPI-IO and end as they would; what cannot be is refused in one line.
# usage: test_run.sh WEIR PROGRAM LAUNCHER..., an MPI-IO program that takes a file
set -eu
weir=$1 program=$2
shift 2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
fail() { echo "$1"; cat out err 2>/dev/null; exit 1; }
library=$(realpath "$(dirname "$weir")/../lib/libweir_mpiio.so")
case $("$weir" --version) in
*openmpi) mpi='Open MPI' other=MPICH other_name=mpich other_library=libmpich.so.12 ;;
*) mpi=MPICH other='Open MPI' other_name=openmpi other_library=libmpi.so.40 ;;
esac

# run STATUS ARGUMENT...: out and err are what it prints.
run() {
    wanted=$1 status=0
    shift
    "$weir" run "$@" >out 2>err || status=$?
    [ $status = "$wanted" ] || fail "$*: exit status $status, not $wanted"
}
# refuses TEXT ARGUMENT...: one line, and status 2
refuses() {
    text=$1
    shift
    run 2 "$@"
    [ ! -s out ] && [ "$(grep -c . err)" = 1 ] && grep -q -- "^weir run: .*$text" err || fail "$*: not '$text'"
}

test_serves() {
    run 0 --log-level info -- "$@" 2 "$program" file
    grep -q '^weir: info: MPI-IO by weir' err || fail "it does not serve"
    [ "$(grep -c '^weir run: ' err)" = 2 ] && grep -q "of $mpi: MPI-IO by weir.*: $library$" err || fail "report"
    run 0 -q -- "$@" 2 "$program" file
    [ ! -s err ] || fail "-q"
    # what the program does with its level
    run 0 -- env -u NOTHING A=b "$program" file
    grep -q 'thread level as the program asks' err || fail "thread level"
    WEIR_MPI_THREADS=multiple run 0 --dry-run -- "$program" file
    grep -q 'MPI_THREAD_MULTIPLE, as mpi_threads' err || fail "mpi_threads"
    WEIR_DOOR=off run 0 --log-level info -- "$program" file
    [ "$(grep -c . err)" = 1 ] && grep -q 'WEIR_DOOR=off' err || fail "WEIR_DOOR=off"
    run 0 --trace "a folder" --stats -- "$@" 2 "$program" file
    grep -q 'weir report a folder' err && [ "$(grep -c '^weir: ' err)" = 5 ] || fail "--stats"
    "$weir" report "a folder" >out 2>err || fail "--trace"
    # of ranks that start themselves one tells
    "$@" 2 "$weir" run --log-level info -- "$program" file >out 2>err
    [ "$(grep -c '^weir run: ' err)" = 2 ] && grep -q 'MPI-IO by weir' err || fail "inside a launcher"
}

# Status, signals, arguments and what was preloaded before are the program's.
test_becomes() {
    run 5 -- sh -c 'exit 5'
    grep -q 'its MPI is not to be seen' err || fail "a shell"
    printf '#!/bin/sh\nprintf "<%%s>" "$@" "$LD_PRELOAD" "${WEIR_HINTS-none}"\n' >script
    chmod +x script
    LD_PRELOAD=libm.so.6 run 0 -- ./script 'a  b' --help '' --
    [ "$(cat out)" = "<a  b><--help><><--><$library:libm.so.6><none>" ] || fail "arguments"
    LD_PRELOAD=$library WEIR_HINTS=window=1M run 0 --hints 'window=2M;log=none' -- ./script
    [ "$(cat out)" = "<$library><window=2M;log=none;window=1M>" ] || fail "variables"
    "$weir" run -q -- sleep 60 &
    sleep 0.3
    kill $!
    status=0
    wait $! || status=$?
    [ $status = 143 ] || fail "a signal: status $status"
}

test_dry() {
    run 0 --dry-run --trace "a b" --stats --hints window=1M --log-level info -- "$@" 2 "$program" file
    grep -q "WEIR_TRACE='$work/a b'.*$program file$" out && grep -q ' WEIR_STATS=1 ' out || fail "--dry-run"
    run 0 -q --dry-run -- touch ran
    [ ! -e ran ] || fail "--dry-run runs"
    run 0 -q --dry-run --log-level info -- "$@" 2 "$program" file
    sh -eu out 2>err || fail "what it prints does not run"
    grep -q 'MPI-IO by weir' err || fail "what it prints does not serve"
    for closed in '>&-' '>/dev/full'; do
        status=0
        sh -c '"$0" run -q --dry-run -- true '"$closed" "$weir" 2>err || status=$?
        [ $status = 1 ] && grep -q 'standard output cannot be written' err || fail "$closed: $status"
    done
}

test_refusals() {
    refuses 'comes after --'
    refuses 'comes after --' "$program"
    refuses 'comes after --' --log-level info --
    refuses 'perhaps --log-level' --log-levle info -- true
    refuses 'nonsense: there is no such program' -- nonsense
    refuses "$work: there is no such program" -- "$work"
    refuses 'log=loud' --log-level loud -- true
    refuses 'no tunable is called speed' --hints speed=high -- true
    refuses 'would take the place of ours' -- "$@" 2 env LD_PRELOAD=libm.so.6 "$program" file
    echo 'int main(void) { return 0; }' >main.c
    gcc -static -o static main.c
    refuses 'linked statically' -- "$@" 2 ./static
    # a library that has the other MPI's name is loaded by another
    echo 'int MPI_Init(void) { return 0; }' | gcc -shared -xc -o "$other_library" - "-Wl,-soname,$other_library"
    echo 'int MPI_Init(void); int other(void) { return MPI_Init(); }' |
        gcc -shared -xc -o libother.so - -L. "-l:$other_library"
    gcc -o other main.c -Wl,--no-as-needed -L. -lother -Wl,-rpath,"$work" -Wl,-rpath-link,"$work"
    LD_LIBRARY_PATH=$work refuses "other is of $other, and this is for $mpi: use weir.$other_name run" -- ./other
    head -c 3000 "$program" >cut
    head -c 18 "$program" >foreign
    printf '\363\000' >>foreign
    tail -c +21 "$program" >>foreign
    chmod +x cut foreign
    refuses 'cut short' -- "$@" 2 ./cut
    refuses 'another kind of processor' -- ./foreign
    if [ "$(id -u)" = 0 ]; then
        cp "$program" other_user
        chown 65534 other_user
        chmod u+s other_user
        refuses 'other rights than yours' -- ./other_user
    fi
    ! command -v "mpirun.$other_name" >/dev/null ||
        refuses "of $other, and this is for $mpi" -- "mpirun.$other_name" -n 2 "$program"
}

# An installation that is not whole.
test_loading() {
    mkdir bin lib
    cp "$weir" bin/weir
    cp "$(dirname "$library")"/libweir_*mpi*.so.0* lib
    status=0
    bin/weir run -- true 2>err || status=$?
    [ $status = 1 ] && grep -q 'cannot be loaded: .*libweir_mpiio_' err || fail "no library: $status"
    cp "$library" lib
    bin/weir run -- true 2>err && fail "no engine"
    grep -q 'cannot be loaded: .*engine' err || fail "no engine"
}

processes= status=0
for part in serves becomes dry refusals loading; do
    mkdir $part
    (cd $part && work=$work/$part && "test_$part" "$@") >$part.log 2>&1 &
    processes="$processes $!"
done
for process in $processes; do
    wait $process || status=1
done
[ $status = 0 ] || cat ./*.log
exit $status

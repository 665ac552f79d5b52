# What tests of commands for arrays share; they say `. harness.sh` with WEIR LAUNCHER... as arguments.
# A part of a test runs in a folder of its own, beside others, on some number of ranks.
weir=$1
shift
launcher=$*
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
here=$(dirname "$(realpath "$0")")
fail() { echo "$ranks ranks: $1"; exit 1; }
claim() { echo "$1" >>claims; }
check_claims() { /usr/bin/python3 "$here/claims.py" claims || fail "see above"; }

# One line on standard error, nothing on standard output, that status, and the folder as it was.
# The launcher adds lines of its own where a program fails.
refuses() {
    wanted=$1 text=$2 status=0
    shift 2
    ls -a >../before
    run "$@" >../out 2>../err || status=$?
    ls -a >../after
    [ $status = "$wanted" ] || fail "$*: exit status $status: $(cat ../err)"
    [ "$(grep -c '^weir ' ../err)" = 1 ] && grep -q -- "^weir $1: .*$text" ../err || fail "$*: $(cat ../err)"
    [ $ranks -gt 1 ] || [ "$(grep -c . ../err)" = 1 ] || fail "$*: $(cat ../err)"
    [ $ranks -gt 1 ] || [ ! -s ../out ] || fail "$*: printed $(cat ../out)"
    cmp -s ../before ../after || fail "$*: left behind: $(diff ../before ../after)"
}

# What tests keep beside the arrays is a part's own, too, and so are mpirun's sessions: one that ends
# removes the folder that others begin in.
prepare() {
    mkdir -p "$work/$1/here" "$work/$1/sessions"
    export OMPI_MCA_orte_tmpdir_base="$work/$1/sessions"
    cd "$work/$1/here"
    [ $ranks = 1 ] && start= || start="$launcher $ranks"
}
run() { $start "$weir" "$@"; }

make_bad_arrays() {
    "$weir" create a.npy --shape 4,4 --iota
    "$weir" create c8.npy --shape 4 --dtype c8
    "$weir" create set --shape 4,4 --grid 2,2
    "$weir" create gap --shape 4,4 --grid 2,2
    rm gap/local-3.npy
    head -c -8 a.npy >short.npy
    echo hello >hello.npy
    mkdir folder
}

# Arguments: a subcommand, and what follows the array.
cases_of_bad_arrays() {
    refuses 2 'No such file' $1 none.npy $2
    refuses 2 'gap/.*local-3.npy: ' $1 gap $2
    refuses 1 'hello.npy: ' $1 hello.npy $2
    refuses 1 'cut short' $1 short.npy $2
    refuses 1 'folder' $1 folder $2
}

# Side by side: most of the time goes by while MPI starts. Each argument is a function and what it
# takes. A part whose end says nothing still says that it has failed.
run_parts() {
    processes= status=0
    for part; do
        $part >"$work/$(echo $part | tr ' ' -).log" 2>&1 &
        processes="$processes $!"
    done
    for process in $processes; do
        part=$1
        shift
        wait $process || { status=1; echo "failed: $part"; }
    done
    [ $status = 0 ] || cat "$work"/*.log
    exit $status
}

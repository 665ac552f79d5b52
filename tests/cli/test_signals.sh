#!/bin/sh
# Operators that are interrupted or killed: inputs are as they were, and under the name of the output
# there is nothing, or what was there before, or the whole of it. What is interrupted leaves nothing
# else behind. usage: test_signals.sh WEIR LAUNCHER...
set -eu
. "$(dirname "$0")/harness.sh"
shared=$work/shared/here
seed=${WEIR_TEST_SEED:-$$}

make_shared() {
    ranks=1
    prepare shared
    run create u.npy --shape 300,300 --dtype u1 --random 1
    run convert u.npy a.npy --dtype f8 # products are exact
    run transpose a.npy transpose.npy
    run laplace a.npy laplace.npy --iterations 2 >told
    run matmul a.npy a.npy matmul.npy
    cp -r . "$work/before"
}

command_of() {
    case $1 in
    transpose) echo transpose $shared/a.npy x.npy --memory 64K ;;
    laplace) echo laplace $shared/a.npy x.npy --memory 64K --iterations 2 ;;
    matmul) echo matmul $shared/a.npy $shared/a.npy x.npy --memory 64K ;;
    esac
}

# Nothing, or all of it. Measured costs are no array.
check_whole() {
    [ ! -e x.npy ] || cmp x.npy $shared/$1.npy || fail "$1: what is called x.npy is not whole"
    diff -r -x '.weir-costs*' $shared "$work/before" || fail "$1 has changed an input"
}
check_clean() {
    check_whole $1
    ! ls | grep partial || fail "$1: left behind, seed $seed"
}

# await_array NAME: the array is being written under another name, or has one of those given.
await_array() {
    for wait in $(seq 1000); do
        ls | grep -q "$1" && return
        sleep 0.01
    done
    fail "nothing to interrupt: $(cat told err)"
}

trace() {
    status=0
    strace -qq -y -o calls "$@" "$weir" $(command_of $command) >told 2>err || status=$?
}

# Calls that make, remove or name a new array: each kind, and its number among all of that kind.
list_calls() {
    trace -e trace=ftruncate,unlinkat,renameat2
    awk '{ kind = $0; sub(/\(.*/, "", kind); k[kind]++ } /partial/ { print kind ":" k[kind] }' calls
    rm x.npy
}

# A signal comes with one of them. While the array is made it waits until that can be undone,
# afterwards until it has its name.
at_calls() {
    ranks=1 command=$1
    prepare calls-$command
    strace -qq -o calls true || return 0
    places=$(list_calls)
    [ "$(echo "$places" | grep -c .)" = $2 ] || fail "$command: calls $places"
    for place in $places; do
        call=${place%:*}
        trace -e trace=$call -e inject=$call:signal=TERM:when=${place#*:}
        check_clean $command
        found=$([ ! -e x.npy ] || echo whole)
        case $call in
        ftruncate) wanted='1 1' ;;
        *) wanted='143 0 whole' ;;
        esac
        [ "$(echo $status $(grep -c '^weir ' err) $found)" = "$wanted" ] ||
            fail "$command, $place: $status $found $(cat err)"
        grep -B 1 SIGTERM calls | grep -q partial || fail "$command, $place: $(cat calls)"
        rm -f x.npy
    done
}

# Starts a command, the transfers of which take some time; pid-N becomes the process of rank N.
start_ranks() {
    $launcher $ranks sh -c 'echo $$ >pid-${OMPI_COMM_WORLD_RANK:-$PMI_RANK}; exec "$@"' sh \
        "$weir" $(command_of $1) --hints fault=delay:$2 >told 2>err &
    process=$!
}

# All ranks get a signal, at any moment from the making of the array to so many seconds later.
at_moment() {
    ranks=2
    prepare moment-$1-$2
    start_ranks $1 2000
    await_array 'partial\|^x.npy$' # on a busy machine it may be whole before anybody looks
    sleep $(awk -v seed=$seed -v most=$2 'BEGIN { srand(seed); print rand() * most }')
    kill -TERM $(cat pid-*) 2>none || true
    wait $process || true
    check_clean $1
}

# One rank is killed, and the launcher ends the others. The next run is not disturbed by what is left.
killed() {
    ranks=3
    prepare killed-$1-$2
    start_ranks $1 100000
    await_array partial
    kill -KILL $(cat pid-$2)
    ! wait $process || fail "$1 without rank $2 ends well"
    [ ! -e x.npy ] || fail "$1: a name in spite of a rank that was killed"
    check_whole $1
    left=$(ls | grep partial || true)
    run $(command_of $1) >told
    check_whole $1
    [ -e x.npy ] && [ "$(ls | grep partial)" = "$left" ] || fail "$1 does not work after a rank was killed"
}

kib_written() { du -ck *.partial-* 2>/dev/null | tail -n 1 | cut -f 1; }

# What is there of the new array is gone, and the old one as it was. A launcher has a
# status of its own, and kills what does not end soon, which then leaves something.
interrupted() {
    ranks=$1
    prepare interrupted-$1
    cp $shared/a.npy x.npy
    for command in "transpose $shared/a.npy new.npy" "transpose $shared/a.npy x.npy --overwrite" \
        'create new.npy --shape 300,300 --fill 1'; do
        $start "$weir" $command --memory 32K --hints fault=delay:100000 2>err &
        process=$!
        for wait in $(seq 400); do
            [ "$(kib_written)" -le 16 ] || break
            sleep 0.05
        done
        [ "$(kib_written)" -gt 16 ] || fail "nothing to interrupt: $(cat err)"
        kill -TERM $process
        status=0
        wait $process || status=$?
        [ ! -e new.npy ] || fail 'an interrupted command finishes its array'
        [ $ranks = 1 ] || { rm -f *.partial-*; continue; }
        ! ls | grep partial || fail 'an interrupted command leaves something'
        [ "$status $(cat err)" = "1 weir ${command%% *}: interrupted" ] || fail "$status $(cat err)"
    done
    cmp $shared/a.npy x.npy || fail 'an interrupted command has damaged an array'
}

make_shared
run_parts 'at_calls transpose 2' 'at_calls laplace 4' 'interrupted 1' 'interrupted 3' \
    'at_moment transpose 0' 'at_moment laplace 0' 'at_moment laplace 0.2' 'at_moment transpose 0.4' \
    'killed transpose 0' 'killed matmul 1' 'killed laplace 2'

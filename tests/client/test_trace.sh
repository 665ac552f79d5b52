#!/bin/sh
# test_trace.sh DOOR CLIENT CHECK WEIR LAUNCHER...: what WEIR_TRACE and WEIR_STATS leave of a program of
# MPI-IO, and of the command.
set -eu
door=$1 client=$2 check=$3 weir=$4
shift 4
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "failed: $*"; cat said 2>/dev/null; exit 1; }
bytes=65536 writes=7 reads=6

# preloaded RANKS SETTING... -- ARGUMENTS
preloaded() {
    ranks=$1
    shift
    settings=
    while [ "$1" != -- ]; do
        settings="$settings $1"
        shift
    done
    shift
    timeout 60 $launcher "$ranks" env "LD_PRELOAD=$door" $settings "$client" "$@" >said 2>&1 ||
        fail "$ranks ranks, $settings, $*"
}
launcher=$*

# Sums are those of the job, with one node and with two, data by shared memory and by messages.
sums() {
    preloaded 4 WEIR_TRACE=t4 WEIR_EVENTS=e4 -- all f
    [ ! -s said ] || fail "it says something"
    "$check" t4 4 $((4 * writes * bytes)) $((4 * reads * bytes)) e4
    grep -q '^call .* together split ' t4/*.0.weir && grep -q '^call .* alone nonblocking ' t4/*.3.weir ||
        fail "forms: $(grep ^call t4/*.0.weir)"
    preloaded 4 WEIR_TRACE=t2 WEIR_EVENTS=e2 WEIR_RANKS_PER_NODE=2 -- all f
    "$check" t2 4 $((4 * writes * bytes)) $((4 * reads * bytes)) e2
    grep -q '^node 1$' t2/*.2.weir || fail "nodes"
}

# Five lines for all, from one rank.
five() {
    [ "$(grep -c '^weir: ' said)" = 5 ] && [ "$(grep -c . said)" = 5 ] || fail "not five lines"
    grep -q "^weir: $1, " said || fail "of $1"
    grep -q "^weir: read $2, wrote $3, .*/s while in I/O" said || fail "bytes"
    grep -q '^weir: in I/O .* at most, .* on average, .* % of the run$' said || fail "time"
    grep -q '^weir: amplification [0-9.]* reading, [0-9.]* writing$' said || fail "amplification"
    grep -q '^weir: 0 errors in ' said || fail "errors"
}
numbers() {
    preloaded 1 WEIR_TRACE=t1 WEIR_EVENTS=e1 WEIR_STATS=1 -- all f
    "$check" t1 1 $((writes * bytes)) $((reads * bytes)) e1
    five "1 rank" "384 KiB" "448 KiB"
    preloaded 3 WEIR_STATS=1 -- all f
    five "3 ranks" "1.1 MiB" "1.3 MiB"
    WEIR_STATS=1 WEIR_TRACE=tc "$weir" create a.npy --shape 300,400 --iota 2>said
    grep -q '^weir: 1 rank, ' said && grep -q 'wrote 938 KiB' said || fail "the command"
    "$check" tc 1 960000 0
}

# Not all ranks take part: nobody waits for the others, and one line is enough.
parts() {
    preloaded 4 WEIR_STATS=1 WEIR_TRACE=ts -- some f
    [ "$(grep -c . said)" = 1 ] && grep -q '^weir: 2 of 4 ranks, the first is 0: read 768 KiB' said ||
        fail "some"
    "$check" ts 2/4 $((2 * writes * bytes)) $((2 * reads * bytes))
    preloaded 4 WEIR_STATS=1 WEIR_TRACE=tself -- self f
    [ "$(grep -c . said)" = 1 ] && grep -q '^weir: 1 of 4 ranks, the first is 0: ' said || fail "self"
    "$check" tself 4 $((4 * writes * bytes)) $((4 * reads * bytes))
}

# What cannot be written is said once, and changes nothing else. A job that is killed
# leaves what it did so far.
failures() {
    preloaded 2 WEIR_TRACE=/dev/null/t -- all f
    [ "$(grep -c . said)" = 1 ] && grep -q '^weir: no trace: cannot write /dev/null/t/' said || fail "a trace nowhere"
    preloaded 2 WEIR_TRACE=/dev/null/t WEIR_LOG=warning -- all f
    [ "$(grep -c 'no trace: cannot write' said)" = 1 ] || fail "no warning"
    $launcher 2 env "LD_PRELOAD=$door" WEIR_TRACE=tk "$client" long f >said 2>&1 &
    job=$! tries=0
    while [ "$(ls tk/*.weir 2>/dev/null | wc -l)" -lt 2 ]; do
        tries=$((tries + 1))
        [ $tries -lt 300 ] || fail "a long job has no trace"
        sleep 0.1
    done
    kill $job
    wait $job || true
    "$check" tk 2 killed
}

# side by side: most of the time goes by while MPI starts
processes=
for part in sums numbers parts failures; do
    mkdir "$work/$part"
    (cd "$work/$part" && export OMPI_MCA_orte_tmpdir_base="$PWD" && $part) & # sessions of its own
    processes="$processes $!"
done
status=0
for process in $processes; do
    wait $process || status=1
done
exit $status

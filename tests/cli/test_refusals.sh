#!/bin/sh
# What operators refuse, and what is left when they fail: one line that says why, and all as it was.
# usage: test_refusals.sh WEIR LAUNCHER...
set -eu
. "$(dirname "$0")/harness.sh"

# Every operator, with the name of what it makes.
commands_making() {
    for command in 'transpose big.npy' 'copy big.npy' 'convert big.npy' 'median big.npy' 'laplace big.npy' \
        'matmul big.npy big.npy'; do
        echo "$command $1"
    done
    echo "laplace big.npy $1 --halo file"
    echo "matmul big.npy big.npy $1 --layout gaxpy"
}

# The storage fails at some transfer.
cases_of_failures() {
    cp big.npy out.npy
    cp big.npy filled.npy
    { commands_making 'out.npy --overwrite'; echo reduce big.npy; echo fill filled.npy 1; } >../commands
    [ $ranks = 1 ] && faults="enospc:9 eio:1 eio:12" || faults=enospc:4
    for fault in $faults; do
        case $fault in
        eio*) text='Input/output error' ;;
        *) text='No space left' ;;
        esac
        while read -r command; do
            refuses 1 "$text" $command --memory 64K --hints fault=$fault </dev/null
        done <../commands
    done
    cmp big.npy out.npy || fail 'what failed has damaged an array'
    rm out.npy filled.npy
}

cases_of_full_disk() {
    mkdir disk
    mount -t tmpfs -o size=300k tmpfs disk 2>/dev/null || { rmdir disk && return 0; }
    trap 'umount disk; rmdir disk' EXIT
    cp a.npy disk
    { commands_making disk/x.npy; echo "copy big.npy disk/a.npy --overwrite"; } >../commands
    while read -r command; do
        refuses 1 'disk/.*No space left' $command --memory 64K </dev/null
        [ "$(ls disk)" = a.npy ] && cmp a.npy disk/a.npy || fail "$command, a full disk: $(ls disk)"
    done <../commands
    umount disk
    rmdir disk
    trap - EXIT
}

cases_of_memory() {
    for command in 'transpose a.npy x.npy' 'matmul a.npy a.npy x.npy' 'median a.npy x.npy' \
        'laplace a.npy x.npy' 'copy a.npy x.npy' 'reduce a.npy' 'fill a.npy 1'; do
        refuses 1 'the least that would do is [0-9]' $command --memory 10
        refuses 1 'the least that would do is [0-9]' $command --memory 10 --dry-run
        least=$(sed -n 's/.*would do is \([0-9]*\).*/\1/p' ../err)
        run $command --memory $least --dry-run >../out || fail "$command: $least bytes do not do"
        refuses 1 'the least that would do is [0-9]' $command --memory $((least - 1))
    done
}

cases_of_words() {
    refuses 2 'no permutation\|each dimension once' transpose a.npy x.npy --axes 1,1
    refuses 2 'each dimension once' transpose a.npy x.npy --axes 0,99999999999
    refuses 2 'each dimension' transpose a.npy x.npy --axes 0,1,2
    refuses 2 '--axes: must be dimensions' transpose a.npy x.npy --axes 1,-1
    refuses 2 '--order: must be C or F' transpose a.npy x.npy --order A
    refuses 2 '--access: must be collective or direct' transpose a.npy x.npy --access both
    refuses 2 'takes two arrays' transpose a.npy
    refuses 2 'takes matrices' matmul a.npy c8.npy x.npy
    refuses 2 'takes matrices' matmul point.npy point.npy x.npy
    refuses 2 'point.npy is not a matrix' laplace point.npy x.npy
    refuses 2 'point.npy is not a matrix' median point.npy x.npy
    refuses 2 'three matrices' matmul a.npy a.npy
    refuses 2 '--layout: must be' matmul a.npy a.npy x.npy --layout rows
    refuses 2 '--iterations: must be a count' laplace a.npy x.npy --iterations 0
    refuses 2 '--tolerance: must be' laplace a.npy x.npy --tolerance -1
    refuses 2 '--tolerance: must be' laplace a.npy x.npy --tolerance nan
    refuses 2 '--halo: must be' laplace a.npy x.npy --halo none
    refuses 2 '--window: must be a count' median a.npy x.npy --window x
    refuses 2 'value "x": must be a number' fill a.npy x
    refuses 2 'value "1.5": must be a whole number' fill i4.npy 1.5
    refuses 2 'value "1e999": is beyond' fill a.npy 1e999
    refuses 2 'takes an array and a value' fill a.npy
    refuses 2 '--memory: must be a size' laplace a.npy x.npy --memory 0
    refuses 2 '--memory: must be a size' median a.npy x.npy --memory -5
    refuses 2 '--hints: needs a value' matmul a.npy a.npy x.npy --hints
    refuses 2 'no name for an array' transpose '' x.npy
    refuses 2 'no name for an array' copy a.npy ''
    refuses 2 'takes one array' reduce a.npy a.npy
    refuses 2 'need --axis' reduce a.npy --overwrite
    refuses 2 '"-": an array needs a name' reduce a.npy --axis 0 -o -
    refuses 2 '"-": an array needs a name' copy a.npy -
    refuses 2 'whole array' reduce 'a.npy[0]' --axis 0 -o x.npy
    refuses 2 'need --grid' copy set x --block 1,1
}

# What only the library can tell, and all ranks must.
cases_of_operands() {
    refuses 1 'exists, and --overwrite was not given' transpose a.npy a.npy
    refuses 1 'exists, and --overwrite was not given' transpose a.npy a.npy --dry-run
    refuses 1 'exists, and --overwrite was not given' laplace a.npy set
    refuses 1 'left alone\|not overwritten' median a.npy folder --overwrite
    refuses 2 'No such file' transpose a.npy none/x.npy
    refuses 2 'c8.npy: elements of type c8 cannot become f8' transpose c8.npy x.npy --dtype f8
    refuses 2 'a.npy is 4 x 4 and long.npy is 5 x 4: 4 columns, 5 rows$' matmul a.npy long.npy x.npy
    refuses 2 'differ in type' matmul a.npy i4.npy x.npy
    refuses 2 'i4 is not f4' matmul i4.npy i4.npy x.npy
    refuses 2 'i4.npy is not a matrix of f4' laplace i4.npy x.npy
    refuses 2 'c8.npy is not a matrix' laplace c8.npy x.npy
    refuses 2 'c8.npy is not a matrix' median c8.npy x.npy
    refuses 2 'window of 2 is not odd' median a.npy x.npy --window 2
    refuses 2 'c8.npy has complex' reduce c8.npy
    refuses 2 'there is no std of c8.npy, which is c8' reduce c8.npy --axis 0 --kind std -o x.npy
}

cases_of_inputs() {
    cases_of_bad_arrays matmul 'a.npy x.npy'
    for command in transpose laplace median copy; do
        cases_of_bad_arrays $command x.npy
    done
    cases_of_bad_arrays reduce ''
    cases_of_bad_arrays fill 1
}

# The argument says which cases; arrays are as they were afterwards.
bad() {
    ranks=$1
    prepare bad-$1-$2
    mkdir arrays
    cd arrays
    make_bad_arrays
    run create i4.npy --shape 4,4 --dtype i4
    run create long.npy --shape 5,4
    run create point.npy --shape '()'
    run create big.npy --shape 300,300 --iota
    cp -r . ../kept
    cases_of_$2
    diff -r -x '.weir-costs*' . ../kept || fail "$2: arrays have changed"
}

run_parts 'bad 1 words' 'bad 1 inputs' 'bad 1 memory' 'bad 1 operands' 'bad 1 failures' 'bad 1 full_disk' \
    'bad 3 operands' 'bad 3 failures'

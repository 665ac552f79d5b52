#!/bin/sh
# The operators as subcommands, alone and on several ranks, against NumPy, on arrays many times their
# memory; what they would do, how far they are, and what is left when they fail.
# usage: test_operators.sh WEIR LAUNCHER...
set -eu
. "$(dirname "$0")/harness.sh"
shared=$work/shared
budget=1048576

# Arrays of 24 MiB, and what NumPy makes of them.
make_shared() {
    ranks=1
    prepare shared
    run create m.npy --shape 1536,2048 --random 1
    run create f.npy --shape 2048,3072 --dtype f4 --order F --random 2
    run create t.npy --shape 96,256,512 --dtype i2 --iota
    run create u.npy --shape 1536,2048 --dtype u1 --random 3
    run create v.npy --shape 2048,300 --dtype u1 --random 4
    run convert u.npy a.npy --dtype f8
    run convert v.npy b.npy --dtype f8 --order F
    run convert m.npy set --grid 2,3 --block 0,100
    claim "save('c', load('a.npy') @ load('b.npy'))"
    claim "save('median', median(load('m.npy'), 3))"
    claim "save('laplace', laplace(load('m.npy'), 5))"
    claim "save('nans', np.where(load('m.npy') < 0.25, np.nan, load('m.npy')))"
    check_claims
}

cases_of_transpose() {
    try transpose $shared/m.npy t.npy
    claim "same(load('t.npy'), load('$shared/m.npy').T, 'C')"
    try transpose $shared/f.npy f.npy --order C --dtype f8
    claim "same(load('f.npy'), load('$shared/f.npy').T.astype('f8'), 'C')"
    try transpose $shared/t.npy axes.npy --axes 2,0,1
    claim "same(load('axes.npy'), load('$shared/t.npy').transpose(2, 0, 1), 'C')"
    try transpose $shared/set s.npy --order F
    claim "same(load('s.npy'), load('$shared/m.npy').T, 'F')"
}

cases_of_copy() {
    try copy $shared/f.npy copy.npy
    claim "same(load('copy.npy'), load('$shared/f.npy'), 'F')"
    try copy $shared/set copied
    diff -r -x '.weir-costs*' $shared/set copied || fail 'copy of a set'
    try convert copied whole.npy
    claim "same(load('whole.npy'), load('$shared/m.npy'), 'C')"
    try fill copied -2.5
    run convert copied filled.npy
    claim "same(load('filled.npy'), np.full((1536, 2048), -2.5))"
}

cases_of_matmul() {
    try matmul $shared/a.npy $shared/b.npy panels.npy
    try matmul $shared/a.npy $shared/b.npy gaxpy.npy --layout gaxpy
    claim "same(load('panels.npy'), load('$shared/c.npy'), 'C')"
    claim "same(load('gaxpy.npy'), load('$shared/c.npy'), 'C')"
}

cases_of_median() {
    try median $shared/m.npy median.npy --window 3
    claim "same(load('median.npy'), load('$shared/median.npy'), 'C')"
    try median $shared/set median-set.npy
    claim "same(load('median-set.npy'), load('$shared/median.npy'), 'C')"
}

cases_of_laplace() {
    for halo in exchange file; do
        try laplace $shared/m.npy laplace.npy --iterations 5 --halo $halo >laplace
        claim "same(load('laplace.npy'), load('$shared/laplace.npy'), 'C')"
        claim "open('laplace').read() == told(load('$shared/m.npy'), 5)"
        check_claims
        rm claims laplace.npy
    done
}

cases_of_reduce() {
    try reduce $shared/t.npy --json >reduce.json
    claim "told_of('reduce.json', load('$shared/t.npy'))"
    try reduce $shared/nans.npy --json >nans.json
    claim "told_of('nans.json', load('$shared/nans.npy'))"
    try reduce $shared/set >reduce
    [ "$(wc -l <reduce)" = 6 ] && grep -q '^count  3145728$' reduce || fail "$(cat reduce)"
}

# Opening an array measures its folder, which so gets another time.
look() { find . -type f -printf '%p %s %T@\n' | sort; }

# What a command would take in little memory, on `ranks` ranks.
ask() {
    look >../before-$ranks
    run "$@" --dry-run >../plan-$ranks
    look >../after-$ranks
    cmp ../before-$ranks ../after-$ranks || fail "$*: --dry-run has changed something"
    [ "$(grep -c '^  \(in\|in place\|out\|scratch\|read\|written\|accesses\) ' ../plan-$ranks)" -gt 3 ] ||
        fail "$*: $(cat ../plan-$ranks)"
    grep -q '^  plan  *[a-z].*, [0-9]* step' ../plan-$ranks || fail "$*: $(cat ../plan-$ranks)"
    planned=$(awk '$1 == "memory" { print $(NF - 1) }' ../plan-$ranks)
    [ "$planned" -gt 0 ] && [ "$planned" -le $budget ] || fail "$*: takes $planned bytes"
}

try() {
    [ $ranks = 3 ] || ask "$@" --memory $budget --access $access
    run "$@" --memory $budget --access $access
}

large() {
    ranks=$1 access=$2
    prepare large-$ranks-$access
    cases_of_transpose
    cases_of_copy
    cases_of_matmul
    cases_of_reduce
    cases_of_median
    check_claims
    rm claims
    cases_of_laplace
    ! ls | grep partial || fail "left behind"
    cd ..
    rm -r large-$ranks-$access
}

# Ranks that have nothing to do, and arrays of which there is hardly anything.
small() {
    ranks=$1 access=collective
    prepare small-$ranks
    for shape in 2,9 1,1 3,0; do
        run create x-$shape.npy --shape $shape --random 5 --dtype f4
        run create y-$shape.npy --shape ${shape#*,},2 --dtype f4 --iota
        run transpose x-$shape.npy t-$shape.npy
        run matmul x-$shape.npy y-$shape.npy p-$shape.npy
        run matmul x-$shape.npy y-$shape.npy g-$shape.npy --layout gaxpy
        run median x-$shape.npy m-$shape.npy --window 5
        run laplace x-$shape.npy l-$shape.npy --tolerance 0.1 >told-$shape
        run reduce x-$shape.npy --json >reduce-$shape
        run copy x-$shape.npy c-$shape.npy
        run fill c-$shape.npy 7
        claim "same(load('t-$shape.npy'), load('x-$shape.npy').T)"
        claim "np.allclose(load('p-$shape.npy'), load('x-$shape.npy') @ load('y-$shape.npy'))"
        claim "np.allclose(load('g-$shape.npy'), load('x-$shape.npy') @ load('y-$shape.npy'))"
        claim "same(load('m-$shape.npy'), median(load('x-$shape.npy'), 5))"
        claim "same(load('l-$shape.npy'), load('x-$shape.npy'))"
        claim "told_of('reduce-$shape', load('x-$shape.npy'))"
        claim "same(load('c-$shape.npy'), np.full(($shape), 7, 'f4'))"
    done
    run create square.npy --shape 7,7 --dtype f8 --order F --random 1
    run laplace square.npy square.npy --overwrite --tolerance 0.01 >told
    claim "same(load('square.npy'), laplace(random(1, (7, 7), 'f8'), 0, 0.01), 'F')"
    check_claims
}

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
    refuses 2 '--overwrite: unknown' reduce a.npy --overwrite
    refuses 2 'need --grid' copy set x --block 1,1
}

# What only the library can tell, and all ranks must.
cases_of_operands() {
    refuses 1 'overwriting was not asked for' transpose a.npy a.npy
    refuses 1 'overwriting was not asked for' transpose a.npy a.npy --dry-run
    refuses 1 'overwriting was not asked for' laplace a.npy set
    refuses 1 'left alone\|not overwritten' median a.npy folder --overwrite
    refuses 2 'No such file' transpose a.npy none/x.npy
    refuses 2 'c8' transpose c8.npy x.npy --dtype f8
    refuses 2 '4 x 4 times 5 x 4' matmul a.npy long.npy x.npy
    refuses 2 'differ in type' matmul a.npy i4.npy x.npy
    refuses 2 'i4 is not f4' matmul i4.npy i4.npy x.npy
    refuses 2 'i4.npy is not a matrix of f4' laplace i4.npy x.npy
    refuses 2 'c8.npy is not a matrix' laplace c8.npy x.npy
    refuses 2 'c8.npy is not a matrix' median c8.npy x.npy
    refuses 2 'window of 2 is not odd' median a.npy x.npy --window 2
    refuses 2 'c8.npy has complex' reduce c8.npy
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
    run create big.npy --shape 300,300 --iota
    cp -r . ../kept
    cases_of_$2
    diff -r -x '.weir-costs*' . ../kept || fail "$2: arrays have changed"
}

# A terminal, or who asks for it, sees a bar that goes away again.
bar() {
    ranks=$1
    prepare bar-$ranks
    run create a.npy --shape 300,300
    run transpose a.npy b.npy --memory 32K 2>none
    run transpose a.npy c.npy --memory 32K --progress --quiet 2>>none
    [ ! -s none ] || fail "a bar that nobody asked for: $(cat none)"
    run transpose a.npy d.npy --memory 32K --progress 2>bar
    /usr/bin/python3 -c 'import pty, sys; pty.spawn(sys.argv[1:])' \
        "$weir" transpose a.npy e.npy --memory 32K >terminal
    run transpose a.npy f.npy --memory 32K --progress --hints fault=delay:10000 2>slow
    for text in bar terminal; do
        grep -q 'transpose \[.*\] .* %  .* MB/s  .*:.. left' $text || fail "$text: $(cat $text)"
        [ "$(tail -c 4 $text | od -An -c | tr -d ' ')" = '\r033[K' ] || fail "$text: does not end"
    done
    [ "$(tr '\r' '\n' <slow | grep -c left)" -gt 2 ] || fail "slow: $(cat slow)"
    cases_of_no_end
}

# Nobody knows how many iterations there will be: they are counted. One moves 2 x 28800 bytes.
cases_of_no_end() {
    run create r.npy --shape 60,60 --random 1
    run laplace r.npy l.npy --tolerance 0.03 --progress --hints fault=delay:3000 >told 2>endless
    tr '\r' '\n' <endless | grep iterations >pictures
    awk -v most=$(sed 's/[^0-9]*\([0-9]*\).*/\1/' told) '
        !/^laplace [0-9]+ iterations  ([0-9]+ MB\/s  )?0:0[0-9] so far/ { exit 1 }
        NR > 1 && ($2 <= before || $2 > most || $4 < 1 || $4 > $2 * 0.0576 / 0.2) { exit 1 }
        { before = $2 }
        END { if (NR < 3) exit 1 }' pictures || fail "no end: $(cat told pictures)"
}

make_shared
run_parts 'large 1 collective' 'large 2 direct' 'large 3 collective' 'large 3 direct' 'small 4' 'bar 1' \
    'bad 1 words' 'bad 1 inputs' 'bad 1 memory' 'bad 1 operands' 'bad 1 failures' 'bad 1 full_disk' \
    'bad 3 operands' 'bad 3 failures'

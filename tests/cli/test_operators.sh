#!/bin/sh
# The operators as subcommands, alone and on several ranks, against NumPy, on arrays many times their
# memory; what they would do, and how far they are.
# usage: test_operators.sh WEIR LAUNCHER...
set -eu
. "$(dirname "$0")/harness.sh"
shared=$work/shared/here
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
    run $(echo "$*" | sed 's/ --json//') --dry-run >../plan-$ranks
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
    cd "$work"
    rm -r large-$ranks-$access
}

# Ranks that have nothing to do, and arrays of which there is hardly anything.
small() {
    ranks=$1 access=collective
    prepare small-$ranks
    for shape in 2,9 1,1 3,0 0,3; do
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
    run create point.npy --shape '()' --fill 3
    run transpose point.npy turned.npy
    run copy turned.npy filled.npy
    run fill filled.npy 4
    run reduce turned.npy --json >point
    claim "same(load('turned.npy'), np.array(3.)) and same(load('filled.npy'), np.array(4.))"
    claim "told_of('point', load('turned.npy'))"
    run create square.npy --shape 7,7 --dtype f8 --order F --random 1
    run laplace square.npy square.npy --overwrite --tolerance 0.01 >told
    claim "same(load('square.npy'), laplace(random(1, (7, 7), 'f8'), 0, 0.01), 'F')"
    check_claims
    each_its_own
}

# What is synced is one decision, whatever the environment of a rank says.
each_its_own() {
    for rank in 0 1; do
        timeout 30 $start sh -c 'case ${OMPI_COMM_WORLD_RANK:-$PMI_RANK} in
            $0) WEIR_DURABLE=disable ;; *) WEIR_DURABLE=enable ;; esac
            export WEIR_DURABLE; exec "$@"' $rank "$weir" fill square.npy 3 || fail "rank $rank alone: $?"
    done
}

make_shared
run_parts 'large 1 direct' 'large 3 collective' 'small 4' \
    ${WEIR_TEST_LONG:+'large 1 collective' 'large 2 direct' 'large 3 direct'}

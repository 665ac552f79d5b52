#!/bin/sh
# Peak memory of every rank of every operator, on arrays of 64 MiB: as for a small array, with the
# budget, and 32 MiB for exchange, or 4 where every rank goes alone. usage: test_memory.sh WEIR LAUNCHER...
set -eu
. "$(dirname "$0")/harness.sh"
shared=$work/shared/here
budget=8

make_shared() {
    ranks=1
    prepare shared
    run create small.npy --shape 8,8
    run create big.npy --shape 4096,2048 --random 1
    run create thin.npy --shape 2048,16 --random 2
    /usr/bin/python3 -c 'import numpy; numpy.save("swapped", numpy.ones((4096, 2048), ">f8"))'
}

# KiB of the rank that takes most.
peak_of() {
    rm -f peaks
    $launcher $ranks "$here/peak.py" peaks "$weir" "$@" --memory ${budget}M >told
    [ "$(wc -l <peaks)" = $ranks ] || fail "$*: $(cat peaks)"
    sort -n peaks | tail -1
}

# First comes what a small case takes.
check_peak() {
    most=$(($1 + (budget + beyond) * 1024))
    shift
    peak=$(peak_of "$@")
    [ $peak -le $most ] || fail "$*: $peak KiB, at most $most"
    echo "$*: $peak KiB, at most $most"
}

peaks() {
    ranks=$1
    [ $2 = direct ] && beyond=4 || beyond=32
    prepare peaks-$1-$2
    cp $shared/swapped.npy filled.npy
    base=$(peak_of copy $shared/small.npy s.npy)
    blas=$(peak_of matmul $shared/small.npy $shared/small.npy p.npy) # BLAS takes memory of its own
    how="x.npy --overwrite --access $2"
    check_peak $base transpose $shared/big.npy $how
    check_peak $base transpose $shared/big.npy $how --dtype f4
    check_peak $base transpose $shared/swapped.npy $how --order F
    check_peak $base copy $shared/big.npy $how --order F
    check_peak $base median $shared/big.npy $how
    check_peak $base laplace $shared/big.npy $how --iterations 2 --halo exchange
    check_peak $base laplace $shared/big.npy $how --iterations 2 --halo file
    check_peak $blas matmul $shared/big.npy $shared/thin.npy $how
    check_peak $blas matmul $shared/big.npy $shared/thin.npy $how --layout gaxpy
    check_peak $base reduce $shared/big.npy --access $2
    check_peak $base reduce "$shared/big.npy[::-1, 1:]" --access $2
    check_peak $base diff $shared/big.npy "$shared/big.npy[::-1]" --access $2 --atol 1
    check_peak $base hist $shared/swapped.npy --access $2
    check_peak $base quantile $shared/big.npy --access $2
    check_peak $base fill filled.npy 2 --access $2
    [ $2 = direct ] && return
    check_peak $base get "$shared/big.npy[:, ::2]" -o x.npy --overwrite
    check_peak $base get "$shared/big.npy[:, ::2]" -o x.npy --overwrite --hints 'prefetch=2'
}

make_shared
run_parts 'peaks 1 collective' 'peaks 1 direct' 'peaks 2 collective' 'peaks 2 direct'

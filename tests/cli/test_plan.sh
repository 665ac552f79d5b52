#!/bin/sh
# weir plan: what it says, that it says the same twice, its picture, and bad input.
# usage: test_plan.sh WEIR
set -eu
weir=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "$1"; exit 1; }
plan() { "$weir" plan --array 4096,4096 --dtype f4 --order F --ranks 16 "$@"; }

plan --section '1+32p:16+32p:1, 1:4096:1' --svg "$work/a.svg" >"$work/a"
plan --section '1+32p:16+32p:1, 1:4096:1' >"$work/b"
cmp -s "$work/a" "$work/b" || fail "two plans differ"
for text in '^input [0-9a-f]' '16 ranks' '^plan: together' '^realm 0 of rank 0' 'window 0:' '^in all:' \
    '4194304 wanted' '^time: about 0\.0' '^memory: 2 windows'; do
    grep -q "$text" "$work/a" || fail "no $text in: $(cat "$work/a")"
done
grep -q '^<svg' "$work/a.svg" && tail -n 1 "$work/a.svg" | grep -q '</svg>' || fail "no picture"
for text in '16 ranks read 4 MiB: together' 'because: cheaper together' 'offset, MiB' '>16<' '>rank 15<' '256 KiB, 4096 runs' \
    '>aggregator 0<' 'realm of ' 'windows\? by [a-z]*: [0-9]' '<title>round 1, bytes ' 'wanted, by rank' 'window and its round' \
    'the file has 64 MiB'; do
    grep -q "$text" "$work/a.svg" || fail "no $text in the picture"
done
[ $(wc -c <"$work/a.svg") -lt 400000 ] || fail "a picture of $(wc -c <"$work/a.svg") bytes"
plan --section '[0:100, ::2]' --hints 'realms=cyclic;access=list;collective=always' >"$work/c"
grep -q 'by list: access=list' "$work/c" || fail "hints: $(cat "$work/c")"
for pair in '[32p:32p+16]/[32p:32p+16, :]' '[..., 3]/[:, 3]' '[p, ...]/[p, :]' '[1, ..., 2,]/[1, 2]' '[...]/[:, :]' \
    '[5,]/[5, :]'; do
    plan --section "${pair%/*}" >"$work/a"
    plan --section "${pair#*/}" | cmp -s - "$work/a" || fail "$pair differ"
done
plan --section '1:16:1, 1+p:1+p:1' --op write | grep -q 'write, 16 ranks' || fail "write"

# Each rank for itself: the way, what else is tried, locks, who moves it.
says() {
    text=$1
    shift
    plan "$@" >"$work/out" || fail "$*"
    grep -q "^$text" "$work/out" || fail "$* does not say: $text: $(cat "$work/out")"
}
columns='1+32p:16+32p:1, 1:1024:1'
says 'way: mapped, or else list$' --section "$columns" --alone
says 'way: sieve, or else list$' --section "$columns" --alone --op write --hints access=sieve
says 'locks: windows, or else lease or range$' --section "$columns" --alone --op write --hints access=sieve
says 'way: columns$' --section "$columns" --alone --hints 'access=sieve;sieve_unit=column'
says 'moved by: the caller$' --section "$columns" --alone
says 'moved by: the thread$' --section "$columns" --alone --form nonblocking
says 'moved by: the caller$' --section '1:16:1, 1:1:1' --alone --form nonblocking # it is brief
says 'moved by: callers$' --section "$columns" --form nonblocking --hints progress=poll
says 'moved by: callers, storage left to the thread' --section '1:4096:1, 1+256p:256+256p:1' --form split --op write --hints 'overlap=io;collective=always'
says 'plan: alone, because: an access of one rank$' --section "$columns" --alone
same='400:800:1, 400:800:1'
says 'plan: per node, because: cheaper per node; together' --section "$same" --ranks-per-node 4 --svg "$work/n.svg"
says 'node 3: 2572816 bytes' --section "$same" --ranks-per-node 4
says 'realm 0 of rank 12: ' --section "$same" --ranks-per-node 4
says '  costs: .*between nodes 20000 ns a message, 10485760 ns a MiB' --section "$same" --ranks-per-node 4 --hints link=100
says 'plan: together, because: collective=always' --section "$same" --ranks-per-node 4 --hints collective=always
says 'between nodes: 0 messages, 0 bytes; 16 messages to agree$' --section "$same" --ranks-per-node 4
says 'between nodes: at least [1-9][0-9]* messages to agree$' --section "$same" --ranks-per-node 4 --hints 'collective=always;exchange=alltoall'
plan --section "$same" | grep -q 'between nodes' && fail "one node, with others"
grep -q 'rank 15, node 3' "$work/n.svg" || fail "realms of nodes in the picture"
# Alone the windows of each rank; of many ranks the first and the last ones.
plan --section "$columns" --alone --op write --hints access=sieve --svg "$work/s.svg" >"$work/out"
grep -q 'rank 15<' "$work/s.svg" && grep -q 'windows, ' "$work/s.svg" || fail "no windows of ranks alone"
"$weir" plan --array 10000,100 --ranks 1000 --section '[10p:10p+10]' --hints collective=always --svg "$work/m.svg" >"$work/out"
grep -q '>rank 999<' "$work/m.svg" && grep -q '>992 more<' "$work/m.svg" && ! grep -q '>rank 500<' "$work/m.svg" ||
    fail "the picture of 1000 ranks"
/usr/bin/python3 -c 'import sys, xml.dom.minidom as x; [x.parse(f) for f in sys.argv[1:]]' "$work"/?.svg || fail "a picture is no XML"
plan --section "$columns" --alone | grep -q '^exchange' && fail "alone, with an exchange"
# A picture is replaced by a picture, and nothing else is.
plan --section "$columns" --svg "$work/s.svg" >"$work/out" || fail "a picture again"
plan --section "$columns" --svg - | cmp - "$work/s.svg" || fail "--svg -"
echo data >"$work/data.svg"
mkdir "$work/folder.svg"
for pair in "$work/data.svg:.*is something else" '/dev/full:.*No space left' "$work/none/s.svg:.*No such file" \
    "$work/folder.svg:.*is no file" "--svg: must be a name in .svg"; do
    ! plan --section "$columns" --svg "${pair%%:*}" >"$work/out" 2>"$work/err" || fail "$pair is accepted"
    grep -q "^weir plan: $pair" "$work/err" || fail "$pair: $(cat "$work/err")"
done
[ "$(cat "$work/data.svg")" = data ] && [ -z "$(ls "$work" | grep partial)" ] || fail "left: $(ls "$work")"

refuses() {
    text=$1
    shift
    status=0
    "$@" >"$work/out" 2>"$work/err" || status=$?
    [ $status = 2 ] && [ "$(grep -c . "$work/err")" = 1 ] && grep -q -- "$text" "$work/err" &&
        [ ! -s "$work/out" ] || fail "$*: $status: $(cat "$work/err" "$work/out")"
}
refuses 'outside the array at character' plan --section '1:5000:1, 1:2:1'
refuses 'stride must be at least 1' plan --section '1:2:-1, 1:2:1'
refuses 'fewer ranges than dimensions: it ends at character 4' plan --section '1:2'
refuses 'comma is missing' plan --section '1:2 3:4'
refuses 'more than the array' plan --section '1:2, 1, 1'
refuses 'more ranges than dimensions' plan --section '[1:2, 1, 1]'
refuses 'no lists of indices' plan --section '[[0, 2]]'
refuses 'number is missing' plan --section '[]'
refuses 'number is missing' plan --section '[, 1]'
refuses '\.\.\. comes twice' plan --section '[..., ...]'
refuses 'or \] is missing' plan --section '[1, 1'
refuses 'number is missing' plan --section 'x, 1'
refuses 'number is too large' plan --section '1, 9223372036854775807P'
refuses 'must be read or write' plan --section '1, 1' --op both
refuses 'must be blocking, split or nonblocking' plan --section '1, 1' --form late
refuses 'are needed' "$weir" plan --array 4,4
refuses 'no dimensions' "$weir" plan --array '()' --section '[...]'
refuses 'sizes such as' "$weir" plan --array 4,x --section 1,1
refuses 'no tunable is called speed' plan --section '1, 1' --hints speed=1

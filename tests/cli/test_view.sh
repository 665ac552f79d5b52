#!/bin/bash
# weir view: what it draws, in files and in terminals, the same on all numbers of ranks, in little memory, and what
# it refuses. usage: test_view.sh WEIR LAUNCHER...
set -eu
. "$(dirname "$0")/harness.sh"

properties() {
    ranks=1
    prepare properties
    /usr/bin/python3 "$here/view.py" "$weir" || fail "see above"
}

# Cells are computed by different ranks, in boxes cut in both dimensions, of every order and format.
same() {
    ranks=1
    prepare same
    run create a.npy --shape 2,3333 --random 1
    run create f.npy --shape 331,457 --order F --random 1
    run create z.zarr --shape 331,457 --chunk 50,60 --random 1
    run create set --shape 331,457 --grid 2,2 --random 1
    for of in "f.npy mean" "z.zarr max" "set nearest" "a.npy[1] mean"; do
        set -- $of
        run view "$1" --reduce $2 --memory 20K --size 400x300 -o 1.png
        for n in 2 3; do
            $launcher $n "$weir" view "$1" --reduce $2 --memory 20K --size 400x300 -o $n.png
            cmp 1.png $n.png || fail "$of: another picture on $n ranks"
        done
    done
    mkdir more
    run view z.zarr --reduce max --size 400x300 -o more/1.png # all in one box
    run view z.zarr --reduce max --memory 20K --size 400x300 -o 1.png
    cmp 1.png more/1.png || fail "another picture with more memory"
    [ -z "$(ls | grep partial)" ] || fail "left: $(ls)"
}

# Of 8 GiB one element in thousands is read.
little() {
    ranks=1
    prepare little
    run create a.npy --shape 4,4
    run create huge.npy --shape 32768,32768
    "$here/peak.py" peaks "$weir" view a.npy -o a.png
    "$here/peak.py" peaks "$weir" view huge.npy --reduce nearest --size 500x400 -o a.png
    [ $(tail -1 peaks) -le $(($(head -1 peaks) + 40 * 1024)) ] || fail "KiB: $(cat peaks)"
    WEIR_EVENTS=$PWD/events "$weir" view huge.npy --reduce nearest --size 500x400 -o a.png
    moved=$(sed -n 's/.* read .* bytes=\([0-9]*\) .*/\1/p' events | awk '{n += $1} END {print n + 0}')
    [ $moved -gt 0 ] && [ $moved -lt $((4 << 20)) ] || fail "$moved bytes were read"
    interrupted
    run create tall.npy --shape 3000000,4 --dtype f4 # 48 MB, in 1 MB
    "$here/peak.py" peaks "$weir" view tall.npy --memory 1M -o a.png
    [ $(tail -1 peaks) -le $(($(head -1 peaks) + 12 * 1024)) ] || fail "KiB: $(cat peaks)"
}

# All of it takes seconds; nothing is left.
interrupted() {
    "$weir" view huge.npy -o i.png 2>err &
    child=$!
    for i in $(seq 100); do ls i.png.partial-* >/dev/null 2>&1 && break || sleep 0.05; done
    kill -TERM $child
    ! wait $child || fail "interrupted, and no failure"
    grep -q '^weir view: interrupted' err && [ -z "$(ls i.png* 2>/dev/null)" ] || fail "interrupted: $(cat err) $(ls)"
}

# What a terminal of some size shows, with its colours; more words are environment.
screen() {
    columns=$1 screens=$((${screens:-0} + 1))
    socket=weir-$$-$screens
    shift
    tmux -L $socket -f /dev/null new-session -d -x $columns -y 24 \
        "env -u NO_COLOR -u COLORTERM LC_ALL=C.UTF-8 $* '$weir' view a.npy; touch shown; sleep 9"
    for i in $(seq 80); do [ -e shown ] && break || sleep 0.1; done
    sleep 0.2
    tmux -L $socket capture-pane -p >plain
    tmux -L $socket capture-pane -pe >painted
    tmux -L $socket kill-server
    rm -f shown
    grep -q 'mean of each' plain && grep -q '^ *0 ' plain && tail -n +2 plain | grep -q '500' || fail "$columns: $(cat plain)"
}

terminals() {
    ranks=1
    prepare terminals
    run create a.npy --shape 1000,600 --random 1
    block=$(printf '\342\226\200')
    for columns in 40 100; do
        screen $columns COLORTERM=truecolor TERM=screen-256color
        grep -q "$block$block$block" plain && grep -q '\[48;2;' painted || fail "$columns: no 24 bits"
    done
    screen 40 TERM=screen-256color
    grep -q "$block" plain && grep -q '\[48;5;' painted || fail "no 256 colours"
    for words in NO_COLOR=1 TERM=dumb 'COLORTERM= TERM=vt100'; do
        screen 40 COLORTERM=truecolor TERM=screen-256color $words
        ! grep -q "$block" plain && ! grep -q "$(printf '\033')\[[34]8" painted && grep -q '[-=+*]\{9\}' plain ||
            fail "$words: $(cat plain)"
    done
    screen 100 COLORTERM=24bit TERM=screen-256color LC_ALL=C
    ! grep -q "$block" plain && grep -q '\[48;2;' painted || fail "half blocks without UTF-8"
    # Neighbours, the greatest and the smallest numbers: every scale has an end.
    /usr/bin/python3 -c 'import numpy; numpy.save("near", [[1e17, 1e17 + 32], [1.7e308, 5e-324]])'
    for section in '[0]' '[1]' '[1, 1:]' ''; do
        timeout 10 "$weir" view "near.npy$section" >out || fail "near$section: $?"
        timeout 10 "$weir" view "near.npy$section" -o near.png || fail "near$section -o: $?"
    done
    run view a.npy >out
    ! grep -q "$(printf '\033')" out || fail "colours in a pipe"
    run view a.npy | head -1 >out || true
    ! "$weir" view a.npy 2>err >/dev/full || fail "a full device is no failure"
    grep -q '^weir view: standard output cannot be written' err || fail "$(cat err)"
}

bad() {
    ranks=$1
    prepare bad-$1
    mkdir arrays disk
    cd arrays
    make_bad_arrays
    mkdir folder.png
    run create cube.npy --shape 3,4,5
    run create point.npy --shape '()'
    run create empty.npy --shape 0,5
    refuses 2 "cube.npy: 3 dimensions, and a picture has 1 or 2: take a slice, such as 'cube.npy\[0\]'" view cube.npy
    refuses 1 'folder.png: .*is no file' view a.npy -o folder.png
    if [ $ranks = 1 ]; then
        words
        cases_of_bad_arrays view '-o x.png'
    else
        refuses 1 'cut short' view short.npy -o x.png
    fi
    full_disk
    [ "$(id -u)" != 0 ] || not_permitted
}

words() {
    refuses 2 ': 0 dimensions' view 'cube.npy[0, 0, 0]' -o x.png
    refuses 2 'point.npy: 0 dimensions' view point.npy -o x.png
    refuses 2 'empty.npy: .*the section is empty' view empty.npy -o x.png
    refuses 2 'outside' view 'a.npy[9]' -o x.png
    refuses 2 'No such file' view a.npy -o none/x.png
    refuses 2 '-o: must be a name in .png' view a.npy -o x.npy
    refuses 2 '-o: must be a name in .png' view a.npy -o .png
    cp a.npy a.png
    refuses 1 'a.png: .*is something else' view a.npy -o a.png
    cmp a.npy a.png || fail "an array was replaced by a picture"
    : >b.png
    run view a.npy -o - >../dash.png
    run view a.npy -o b.png && cmp b.png ../dash.png && run view a.npy -o b.png || fail "a picture again"
    refuses 2 '--reduce: must be mean, min, max or nearest; see' view a.npy --reduce sigma
    refuses 2 '--colours: must be .* or grey, perhaps grey; see' view a.npy --colours gray
    refuses 2 '--range: must be two numbers' view a.npy --range 3
    refuses 2 '--range: must be the smaller' view a.npy --range 3,1
    refuses 2 '--percentile: must be numbers from 0 to 100' view a.npy --percentile 2,198
    refuses 2 '--range and --percentile' view a.npy --range 0,1 --percentile 2,98
    refuses 2 'begins above 0' view a.npy --range 0:1 --log
    refuses 2 '--size: must be a width' view a.npy --size 800
    refuses 2 '--size: must be at least' view a.npy --size 100000x100000
    refuses 2 '--size: there is no room' view a.npy --size 60x40 -o x.png
    refuses 2 'takes one array' view a.npy a.npy
}

full_disk() {
    mount -t tmpfs -o size=8k tmpfs ../disk 2>/dev/null || return 0
    trap 'umount ../disk' EXIT
    refuses 1 'disk/x.png: .*No space left' view a.npy -o ../disk/x.png
    [ -z "$(ls ../disk)" ] || fail "left on a full disk: $(ls ../disk)"
    umount ../disk
    trap - EXIT
}

# As another user, in a folder that is not his.
not_permitted() {
    [ $ranks = 1 ] || return 0
    chmod 711 "$work" ..
    status=0
    HOME=/ setpriv --reuid 65534 --regid 65534 --clear-groups "$weir" view a.npy -o x.png 2>../err || status=$?
    [ $status = 1 ] && grep -q 'x.png: .*Permission denied' ../err && [ ! -e x.png ] || fail "not permitted: $status $(cat ../err)"
    for name in x.npy x.zarr x.nc:/x 'x --grid 2,2'; do
        ! HOME=/ setpriv --reuid 65534 --regid 65534 --clear-groups "$weir" create ./$name --shape 4,4 2>../err &&
            grep -q "^weir create: \./${name%%[: ]*}: cannot .*Permission denied" ../err || fail "not permitted: $(cat ../err)"
    done
}

run_parts properties same little terminals 'bad 1' 'bad 3'

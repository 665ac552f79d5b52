#!/bin/bash
# Arrays as files: ls, du, cp, mv, rm, chmod and clean take an array of several files as one, on one
# file system and across, and touch nothing else. usage: test_files.sh WEIR LAUNCHER...
set -eu
. "$(dirname "$0")/harness.sh"
far=$(mktemp -d -p /dev/shm) # another file system, mostly

trap 'rm -rf "$work" "$far"' EXIT
# A folder on another file system, too.
prepare_both() {
    prepare $1
    there=$far/$1
    mkdir "$there"
}

# One array of each kind, and what they must read as.
kinds='a.npy set spread x.zarr v2 group x.h5 x.nc kept.npy old several striped'
make_arrays() {
    run create a.npy --shape 30,20 --random 1
    run create set --shape 8,8 --grid 2,2 --iota
    mkdir d0 d1
    run create spread --shape 8,8 --grid 2,2 --disks d0:d1 --iota
    run create x.zarr --shape 8,8 --chunk 4,4 --codec gzip --random 2
    run create v2 --format zarr2 --shape 8,8 --chunk 4,4 --random 3
    mkdir -p group/below
    echo '{"zarr_format": 3, "node_type": "group", "attributes": {}}' | tee group/zarr.json >group/below/zarr.json
    cp -r x.zarr group/below/data
    run create x.h5:/g/one --shape 8,8 --random 4 2>../none || cp a.npy x.h5 # a build without HDF5
    run create x.h5:/two --shape 9 --dtype i4 --iota 2>../none || true
    run create x.nc:/v --shape 8,8 --iota
    cp a.npy kept.npy
    printf 'weir dra 1\ntype 1\nstate whole\nname kept\n' >kept.npy.dra
    make_old_dra
    make_striped striped
}

# As libga has them.
make_old_dra() {
    tail -c 48 a.npy >old
    printf '2 2 3 1013 1 2 3 1\nname\n' >old.info
    cp old several.0
    cp old several.1
    printf '2 2 6 1013 1 2 3 2\nname\n' >several.info
}

# As an older version has left it, in d0 and d1: it does not say whose the parts are.
make_striped() {
    head -c 1500 /dev/urandom >d0/$1.weir-0123456789abcdef-0
    head -c 1000 /dev/urandom >d1/$1.weir-0123456789abcdef-1
    cat d?/$1.weir-0123456789abcdef-? >../data
    printf 'weir striped file 1\nblock 500\nid 0123456789abcdef\npart %s\npart %s\nend\n' \
        "$PWD/d0/$1.weir-0123456789abcdef-0" "$PWD/d1/$1.weir-0123456789abcdef-1" >$1
}

# All files of an array, one after the other, in an order that does not depend on names of disks.
contents() {
    case ${1##*/} in
    *spread*) run get "$1" ;;
    *several*) cat "$1.0" "$1.1" "$1.info" ;;
    *old*) cat "$1" "$1.info" ;;
    *striped*) parts "$1" ;;
    *) { [ ! -d "$1" ] || (cd "$1" && find . | LC_ALL=C sort); } && find "$1" -type f | LC_ALL=C sort | xargs -d '\n' cat
        [ ! -e "$1.dra" ] || cat "$1.dra" ;;
    esac
}
parts() { sed -n 's/^part //p' "$1" | xargs -d '\n' cat; }
sums() { for a in $kinds; do echo $a $(contents "$1/$a" | cksum); done; }
same() {
    sums "$1" >../now
    cmp -s ../sums ../now || fail "after $2: $(diff ../sums ../now)"
    ! find . "$there" | grep -e partial- -e '\.weir-................$' || fail "$2 leaves something"
}
gone() {
    for a in $kinds; do ! ls "$1/$a" "$1/$a.info" "$1/$a.dra" 2>../none || fail "$2 leaves $a"; done
}

# Every kind by cp and mv, on one file system and to another, then rm.
round() {
    ranks=1
    prepare_both round-$1
    make_arrays
    sums . >../sums
    ranks=$1 start=${2:+$launcher $1}
    mkdir copies
    run cp $kinds copies && same copies cp
    run mv $kinds "$there" && ranks=1 start= && same "$there" mv && gone . mv
    ranks=$1 start=${2:+$launcher $1}
    (cd "$there" && run mv $kinds "$work/round-$1/here") && ranks=1 start= && same . 'mv back' && gone "$there" 'mv back'
    ranks=$1 start=${2:+$launcher $1}
    (cd copies && run cp $kinds "$there") && ranks=1 start= && same "$there" 'cp to another file system'
    for a in spread several a.npy; do run mv $a r.$a && run mv r.$a copies/r.$a && run mv copies/r.$a $a; done
    same . rename
    for folder in . copies "$there"; do (cd "$folder" && run rm --disks "$work/round-$1/here/d0:$work/round-$1/here/d1" $kinds) && gone "$folder" rm; done
    [ -z "$(find . "$there" -type f)" ] || fail "rm leaves $(find . "$there" -type f)"
}

listing() {
    ranks=1
    prepare_both listing
    make_arrays
    echo hello >hello.txt
    mkdir folder
    mkfifo pipe
    ln -s nowhere link
    head -c 5000 a.npy >cut.npy
    mkdir group/bad && echo '{"zarr_format": 3, "node_type": "array"}' >group/bad/zarr.json
    run ls >../ls
    grep -q ' group/bad  (zarr.json: ' ../ls || fail "ls: $(cat ../ls)"
    for name in a.npy set spread x.zarr v2 group/below/data x.nc:/v kept.npy; do
        grep -q " $name\$" ../ls || fail "ls lacks $name: $(cat ../ls)"
    done
    ! grep -e hello -e folder -e d0 -e pipe -e link -e '\.dra' ../ls || fail 'ls lists what is no array'
    grep -q 'cut.npy  (the file is cut short' ../ls || fail "ls: $(grep cut ../ls)"
    mkdir torn torn.zarr && echo '{' | tee torn/array.json >torn.zarr/zarr.json
    [ "$(run ls | grep -c ' torn.*json: malformed')" = 2 ] && rm -r torn torn.zarr || fail "ls of torn descriptions: $(run ls)"
    # elements that nobody here can decode: files are files
    run create other.zarr --shape 8 --chunk 4 --random 1 --format zarr2 && sed -i 's/"compressor": null/"compressor": {"id": "lzma"}/; s/"<f8"/"<U7"/' other.zarr/.zarray
    ! run info other.zarr 2>../none && run du -b other.zarr | grep -q ' 3 files  other.zarr$' && run mv other.zarr group/other && run du group >../none &&
        run rm group/other && [ ! -e group/other ] || fail "what cannot be decoded: $(ls -a other.zarr group)"
    mkdir group/worse && echo '{"zarr_format": 3, "node_type": "array", "beyond": {}}' >group/worse/zarr.json
    ! run du group 2>../err && grep -q 'group/worse: zarr.json: ' ../err && rm -r group/worse || fail "du: $(cat ../err)"
    if run info x.h5:/two >../none 2>&1; then
        grep -q '^hdf5    i4    9  *36 B  x.h5:/two$' ../ls && grep -q x.h5:/g/one ../ls || fail "ls: $(cat ../ls)"
    fi
    grep -q '^npy     f8    30,20  *4.7 KiB  a.npy$' ../ls || fail "ls: $(cat ../ls)"
    run ls -a | grep -q hello.txt || fail 'ls -a lacks a file'
    run ls --long set | grep -q "^set .*drwx.* 5  set\$" || fail "ls -l: $(run ls -l set)"
    run ls --json . >../json
    /usr/bin/python3 - ../json <<'END' || fail 'ls --json'
import json, sys
arrays = {a["name"]: a for a in json.load(open(sys.argv[1]))["arrays"]}
assert arrays["set"]["shape"] == [8, 8] and arrays["set"]["bytes"] == 512 and "problem" in arrays["cut.npy"]
END
    (cd spread && run ls . | grep -q '^set ') || fail 'ls in the folder of an array'
    ln -s . group/one && ln -s . group/two && [ "$(timeout 20 "$weir" ls group | grep -c data)" = 1 ] && rm group/one group/two || fail 'ls of a group in itself'
    run du --bytes spread a.npy >../du
    [ "$(awk '{ print $2, $3, $NF }' ../du | tr '\n' ' ')" = "$(echo $(($(cat d?/spread* spread/array.json | wc -c))) 5 spread \
        $(wc -c <a.npy) 1 a.npy $(($(cat d?/spread* spread/array.json a.npy | wc -c))) 6 total) " ] || fail "du: $(cat ../du)"
    run du | grep -q 'x.h5$' || fail 'du of a folder'
    run du --json a.npy | grep -q '"files": 1}$' || fail 'du --json'
    truncate -s 100M sparse && run du -b raw:sparse:u1:104857600 | awk '{ exit !($1 < 100000 && $2 == 104857600) }' ||
        fail "du of a sparse file"
    run cp raw:sparse:u1:104857600 sparse.copy
    [ $(du -k sparse.copy | cut -f 1) -lt 100 ] || fail 'cp fills holes'
    run cp -r a.npy told.npy --json >../json && /usr/bin/python3 - ../json <<'END' || fail "cp --json: $(cat ../json)"
import json, sys
told = json.load(open(sys.argv[1]))
assert told["copied"] == told["read"] == told["written"] and told["amplification"] == 1 and told["memory"] >= 0
END
    run mv told.npy told2.npy -v 2>&1 | grep -q '0.0 MB written' || fail 'what mv tells'
    chmod 640 a.npy && touch -d 2020-01-02 a.npy && run cp a.npy mode.npy
    [ "$(stat -c '%a %Y' mode.npy)" = "$(stat -c '%a %Y' a.npy)" ] || fail 'cp changes permissions or times'
}

# Local arrays on other disks: where they go, and that descriptions stay true.
disks() {
    ranks=1
    prepare_both disks
    mkdir d0 d1 sub
    run create spread --shape 8,8 --grid 2,2 --disks d0:d1 --iota
    run get spread >../wanted
    run cp spread copy --disks d1 && run get copy | cmp - ../wanted && [ "$(ls d1 | grep -c copy)" = 4 ] || fail "cp --disks: $(ls d0 d1)"
    run cp copy inside && [ "$(ls inside | grep -c local-)" = 4 ] && run get inside | cmp - ../wanted || fail "cp: $(ls inside)"
    rm -r inside
    run mv copy sub --disks d0:d1 && run get sub/copy | cmp - ../wanted && [ "$(ls d0 d1 | grep -c copy)" = 4 ] || fail "mv --disks: $(ls d0 d1)"
    refuses 1 'local arrays in .*d0; name that' rm sub/copy
    export WEIR_DISKS=d0:d1
    refuses 2 "the same array's" mv spread spread --disks d1:d0 --overwrite
    unset WEIR_DISKS
    run get spread | cmp - ../wanted || fail 'mv of a set to itself'
    run cp spread sub/copy --disks d0 2>../err && fail 'cp replaces without being told' || true
    WEIR_DISKS=d0:d1 run rm sub/copy && ! ls d0 d1 | grep copy || fail "rm: $(ls d0 d1)"
    mv d1 d2 && refuses 1 'on .*d1: No such file' rm -f spread --disks d0:d2 && [ "$(ls d0 d2 | grep -c spread)" = 4 ] && mv d2 d1 || fail 'rm without a disk'
    mv d1 d2
    for words in 'du:not counted' 'chmod u+w:is left'; do
        status=0
        run ${words%:*} spread >../told 2>../err || status=$?
        [ $status = 1 ] && grep -q "spread: on .*d1: No such file.*${words#*:}" ../err || fail "$words: $(cat ../err)"
    done
    mv d2 d1
    # disks that are named from the set's folder; the description stays the same file
    sed "s,$PWD,..,g" spread/array.json >../text && cat ../text >spread/array.json
    run mv spread sub && run get sub/spread | cmp - ../wanted || fail 'mv of a set with relative disks'
    # another array takes its place, from another folder: nothing is left on its disks
    run create other.zarr --shape 4 --iota && run cp sub/spread gone --disks d0:d1 && sed "s,$PWD,..,g" gone/array.json >../text && cat ../text >gone/array.json
    mkdir -p deep/down && mv gone deep/gone && sed 's,\.\.,../..,g' ../text >deep/gone/array.json
    WEIR_DISKS=d0:d1 run mv other.zarr deep/gone --overwrite && ! ls d0 d1 | grep gone && [ "$(ls deep)" = "$(printf 'down\ngone')" ] && run get deep/gone >../none ||
        fail "mv over a set: $(ls d0 d1 deep)"
    chmod 640 sub/spread/array.json && chmod 700 sub/spread && run cp sub/spread kept && [ "$(stat -c %a kept kept/array.json | tr '\n' ' ')" = '700 640 ' ] && rm -r kept ||
        fail "permissions of a copy: $(ls -la kept)"
    run mv sub/spread "$there" && run get "$there/spread" | cmp - ../wanted && [ "$(ls d0 d1 | grep -c npy)" = 4 ] || fail "mv: $(ls d0 d1)"
    # a copy of the folder by cp -r is no owner
    cp -r "$there/spread" twin && run mv twin sub/twin && run mv sub/twin "$there/twin" && run get "$there/twin" | cmp - ../wanted || fail 'a twin'
    run rm "$there/twin" 2>../err && grep -q 'left 4 files' ../err && run get "$there/spread" | cmp - ../wanted || fail "rm of a twin: $(cat ../err)"
}

is_whole() { parts $1 | cmp - ../data; }

# Parts of a striped file go with its description, and with no copy of that.
striped() {
    ranks=1
    prepare_both striped
    mkdir d0 d1 e0 e1 sub
    make_striped old
    run cp old s && is_whole s || fail 'cp of a striped file'
    cp s twin && run rm twin 2>../err && grep -q "left 2 files .* another's" ../err && is_whole s || fail "rm of a copy: $(cat ../err)"
    cp s x.weir-0123456789abcdef && touch -d 2020-01-02 s x.weir* d?/* && run clean -f . >../none && is_whole s && [ ! -e x.weir-0123456789abcdef ] ||
        fail 'clean of a copy'
    ln s twin && run rm twin 2>../err && is_whole s || fail 'rm of a second name'
    chmod 400 s && run cp s twin && [ $(stat -c %a twin) = 400 ] && run rm -f twin || fail 'permissions of a copy'
    # its owner may not write it
    as_nobody="setpriv --reuid=65534 --regid=65534 --clear-groups"
    if $as_nobody test -x "$weir" 2>../none && chmod 777 . .. ../.. "$there" "$far" d0 d1 && chown 65534 s d?/s.weir*; then
        $as_nobody "$weir" mv s "$there/s" && $as_nobody "$weir" mv "$there/s" s && [ $(stat -c %a s) = 400 ] && is_whole s || fail 'mv of what is read-only'
        run cp s twin && run rm s && [ "$(ls d0 d1 | grep -c '^s\.')" = 0 ] && run mv twin s || fail 'who owns the parts'
    fi
    chmod 600 s
    # to another file system and back its description is another file, and stays the owner
    run mv s "$there/s" && run mv "$there/s" sub && is_whole sub/s && cp sub/s twin && run mv twin "$there" || fail 'mv'
    run rm "$there/twin" 2>../err && grep -q 'left 2' ../err && is_whole sub/s || fail "rm of a moved copy: $(cat ../err)"
    run mv sub/s t --disks e0:e1 && is_whole t && [ "$(ls e0 e1 | grep -c weir-) $(ls d0 d1 | grep -c weir-)" = '2 2' ] || fail "mv --disks: $(ls ??)"
    refuses 1 'exists, and --overwrite was not given' cp old t
    refuses 1 'a striped file is not replaced' cp old t --overwrite
    run create a.npy --shape 4 && run cp old a.npy --overwrite && is_whole a.npy || fail 'cp over a file'
    [ "$(run cp t u --json --disks e0:e1 | grep -c '"copied": 2500[,}]')" = 1 ] || fail 'what cp of a striped file copies'
    # an older version's does not say whose the parts are
    cp old twin && run rm twin 2>../err && grep -q 'left 2' ../err && run rm old --disks d0:d1 2>../err && [ ! -s ../err ] || fail "rm of an old one: $(cat ../err)"
    # a disk that is away
    mv e1 e2 && refuses 1 "on $PWD/e1: No such file" rm t && refuses 1 "on $PWD/e1: No such file" rm -f t && ls e0/t.weir* >../none || fail 'rm without a disk'
    run rm -f --disks "$PWD/e1" t && mv e2 e1 && ls e1/t.weir* >../none && rm e1/t.weir* && run rm u a.npy || fail 'rm without a disk, by force'
    [ -z "$(find . "$there" -type f)" ] || fail "rm leaves $(find . "$there" -type f)"
    # killed, it leaves what clean finds
    strace -qq -o ../none true 2>../none || return 0
    make_striped old
    strace -f -qq -o ../none -e trace=copy_file_range -e inject=copy_file_range:signal=KILL:when=2 "$weir" cp old new 2>../none || true
    [ ! -e new ] && ls d1/new.weir-* >../none && run clean -f --older 0 . >../none && ! find . | grep new || fail "a killed cp: $(find .)"
}

refusals() {
    ranks=1
    prepare_both refusals-$1
    make_bad_arrays
    run create x.h5:/data --shape 4 2>../none || true
    ranks=$1 start=${2:+$launcher $1}
    if [ $ranks -gt 1 ]; then
        refuses 2 'none' cp none.npy x
        refuses 1 'no array' rm folder
        refuses 2 'weir copy' mv x.h5:/data y.h5
        refuses 2 'permissions are' chmod u+q a.npy
        return
    fi
    for command in "cp none.npy x" "mv none.npy x" "rm none.npy" "chmod 600 none.npy" "ls none" "du none"; do
        refuses 2 'none' $command
    done
    for command in "cp hello.npy x" "mv hello.npy x" "rm hello.npy" "rm folder" "cp folder x" "mv folder x" \
        "chmod 600 folder" "du hello.npy" "ls hello.npy"; do
        refuses 1 'no array' $command
    done
    for command in 'cp a.npy c8.npy' 'mv a.npy set' 'cp set gap' 'mv set gap'; do
        refuses 1 'exists, and --overwrite was not given' $command
    done
    refuses 1 'no array' cp a.npy hello.npy --overwrite
    refuses 2 'weir copy' cp x.h5:/data y.h5
    refuses 2 'weir copy' mv x.h5:/data y.h5
    refuses 2 'name the file' rm x.h5:/data
    refuses 2 'names another format; weir copy' cp a.npy new.zarr
    "$weir" create there.zarr --shape 4 && refuses 2 'names another format; weir copy' mv a.npy there.zarr --overwrite
    refuses 2 'takes' cp a.npy
    refuses 2 'takes' rm
    refuses 2 'permissions are' chmod u+q a.npy
    refuses 2 'permissions are' chmod 1000 a.npy
    refuses 2 'folder' cp a.npy c8.npy set
    refuses 2 'no such folder' cp a.npy nowhere/
    refuses 2 'no such folder' mv a.npy nowhere/
    refuses 2 'itself' cp set set/inner
    refuses 2 'itself' mv set set/inner
    refuses 1 'more than this array' rm raw:a.npy:u1:8
    refuses 2 'none' clean none
    refuses 2 'older' clean . --older soon
    run rm -f || fail 'rm -f of nothing'
    run chmod -R 640 a.npy && [ "$(stat -c %a a.npy)" = 640 ] && run chmod --recursive 644 a.npy || fail 'chmod -R'
    refuses 2 '-1: unknown option' ls -1
    refuses 2 '-5.npy: unknown option' rm -5.npy
    refuses 2 'takes arrays' rm
    run rm -f none.npy && run cp gap gap2 && run mv gap2 gap3 && run rm gap3 || fail 'a damaged set'
    [ ! -e gap3 ] || fail 'a damaged set stays'
    run cp short.npy short2.npy && cmp short.npy short2.npy && run rm short2.npy || fail 'a cut file'
    mkdir locked && cp a.npy locked && chmod 555 locked && chmod 777 . .. ../..
    as_nobody="setpriv --reuid=65534 --regid=65534 --clear-groups"
    if $as_nobody test -x "$weir" 2>../none; then
        $as_nobody test -r a.npy || fail 'nobody can look here'
        start=$as_nobody
        refuses 1 'ermission denied' cp a.npy locked/new.npy
        refuses 1 'ermission denied' mv locked/a.npy new.npy
        refuses 1 'ermission denied' rm locked/a.npy
        refuses 1 'not permitted' chmod 600 a.npy
        chmod 600 c8.npy && refuses 1 'ermission denied' cp c8.npy new.npy
        run create own --shape 8,8 --grid 2,2 && run chmod 000 own && refuses 1 'ermission' du own && run chmod 700 own &&
            run get own >../none || fail 'an array that was closed to its owner'
        run create own.npy --shape 8 --iota && run create own.zarr --shape 8 --iota
        for a in own own.npy own.zarr; do
            run chmod 000 $a && run chmod 640 $a && run chmod 000 $a && run chmod g+r $a
            [ "$(stat -c %a $a)" = $([ -d $a ] && echo 50 || echo 40) ] || fail "chmod g+r: $(stat -c %a $a)"
            run chmod 640 $a && run get $a >../none || fail "$a was closed to its owner"
        done
        mkdir inner.zarr && echo '{"zarr_format": 3, "node_type": "group"}' >inner.zarr/zarr.json && chown -R 65534 inner.zarr
        for i in 1 2; do run create inner.zarr/$i --shape 4 --format zarr; done
        find inner.zarr >../before
        run chmod 000 inner.zarr && run chmod 750 inner.zarr && find inner.zarr | cmp - ../before && run get inner.zarr/1 >../none ||
            fail "a closed group: $(ls -laR inner.zarr)"
        chown root inner.zarr/2/zarr.json && chmod 600 inner.zarr/2/zarr.json && chmod 100 inner.zarr
        ! run chmod g+r inner.zarr 2>../err && [ "$(stat -c %a inner.zarr)" = 100 ] || fail "open after a failure: $(stat -c %a inner.zarr)"
        chmod 000 hello.npy && refuses 1 'hello.npy' chmod 640 hello.npy && [ "$(stat -c %a hello.npy)" = 0 ] && chmod 640 hello.npy ||
            fail "what is no array: $(stat -c %a hello.npy)"
        start=
    fi
    mkdir disk
    mount -t tmpfs -o size=300k tmpfs disk 2>/dev/null || return 0
    trap 'umount disk' EXIT
    run create big.npy --shape 90000 --random 1
    run create tiles.zarr --shape 90000 --chunk 9000 --random 1
    for a in big.npy tiles.zarr; do
        refuses 1 'No space left' cp $a disk
        refuses 1 'No space left' mv $a disk/moved
        [ -z "$(ls -A disk)" ] || fail "a full disk: $(ls -A disk)"
    done
    run get tiles.zarr >../none || fail 'an array that could not be moved'
    # a label that does not fit, beside an array that does
    run create label.npy --shape 10000 --iota
    { echo 'weir dra 1' && head -c 400K </dev/zero; } >label.npy.dra
    refuses 1 'No space left' cp label.npy disk
    refuses 1 'No space left' mv label.npy disk
    [ -z "$(ls -A disk)" ] || fail "a label on a full disk: $(ls -A disk)"
    run create disk/label.npy --shape 4 && echo 'weir dra 1' >disk/label.npy.dra && cksum disk/* >../label
    refuses 1 'No space left' cp label.npy disk --overwrite
    cksum disk/* | cmp - ../label || fail "what was not replaced: $(ls -A disk)"
    rm disk/*
    head -c 200K </dev/zero | tee several.0 >several.1
    printf '2 2 25600 1013 1 2 25600 2\nname\n' >several.info
    refuses 1 'No space left' mv several disk
    [ "$(ls several.*) $(ls -A disk)" = "$(printf 'several.0\nseveral.1\nseveral.info ')" ] || fail "some files have moved: $(ls -A disk)"
}

# Nothing that is not the array's goes, whatever leads to it.
others() {
    ranks=1
    prepare_both others
    mkdir outside && echo precious >outside/file && run create outside/a.npy --shape 4
    run create set --shape 4,4 --grid 2,2
    echo note >set/README
    ln -s ../outside set/way
    ln -sf ../outside/a.npy set/local-9.npy
    run rm set 2>../err || fail "rm: $(cat ../err)"
    grep -q 'left 3 that are not' ../err && [ "$(LC_ALL=C ls set | tr '\n' ' ')" = 'README local-9.npy way ' ] || fail "rm: $(cat ../err; ls set)"
    run create x.zarr --shape 8,8 --chunk 4,4 --random 1
    rm -r x.zarr/c && ln -s ../outside x.zarr/c
    run rm x.zarr 2>../err
    [ -e outside/file ] && [ -e outside/a.npy ] && [ -L x.zarr/c ] || fail 'rm follows a link'
    run create a.npy --shape 4 && ln -s a.npy link.npy && run mv link.npy link2.npy && [ -L link2.npy ] || fail 'mv of a link'
    run cp link2.npy copy.npy && [ ! -L copy.npy ] && cmp a.npy copy.npy || fail 'cp of a link'
    refuses 2 "the same array's" mv link2.npy a.npy --overwrite && cmp a.npy copy.npy || fail 'mv of a link onto its array'
    ln -s a.npy l1 && ln -s l1 l2 && refuses 2 "the same array's" mv l2 l1 --overwrite && cmp l1 a.npy && rm l1 l2 || fail 'mv of links to one array'
    run create over --shape 4 --grid 2 && ln -s over over.link && refuses 2 "the same array's" mv over.link over --overwrite && run get over >../none && rm -r over over.link ||
        fail 'mv of a link onto its set'
    run cp a.npy "$there/far.npy" && ln -s "$PWD/a.npy" far && refuses 1 'exists' mv far "$there/far.npy" && run mv far "$there/far.npy" --overwrite &&
        [ -L "$there/far.npy" ] && [ ! -L far ] && cmp "$there/far.npy" a.npy && rm "$there/far.npy" || fail 'mv of a link over an array'
    run rm link2.npy && [ -e a.npy ] && [ ! -L link2.npy ] || fail 'rm of a link'
    run create real --shape 4 --grid 2 && ln -s real way && run rm way/ && [ -d real ] && [ ! -L way ] || fail 'rm of a link with a slash'
    cp a.npy k.npy && echo mine >k.npy.dra && run mv k.npy k2.npy && [ -e k.npy.dra ] && run rm k2.npy && [ -e k.npy.dra ] || fail 'no label'
    make_old_dra && echo 'weir dra 1' >n.dra && run mv old n --overwrite && [ -e n.info ] && [ -e n.dra ] && run rm n several || fail 'an old array beside a label'
    ln -s outside/file foreign && refuses 1 'leads to no array' rm foreign
    ln -s a.npy set2 && run chmod 600 set2 && [ $(stat -c %a a.npy) = 600 ] || fail 'chmod of a link'
    # a forged description leads to others' files
    mkdir forged && sed 's/"name": "local"/"name": "a"/; s/"disks": \["."\]/"disks": ["..\/outside"]/' >forged/array.json <<'END'
{"weir": "local-array set", "version": 1, "type": "f8", "order": "C", "shape": [4], "grid": [1], "name": "local", "disks": ["."], "map": [0]}
END
    cp a.npy outside/a-0.npy
    run rm forged 2>../err && [ -e outside/a-0.npy ] && grep -q 'may be another' ../err || fail "rm of a forged set: $(cat ../err)"
    # strange names
    for name in 'a b.npy' '-*.npy' "$(printf 'a\nb.npy')" '§:.npy'; do
        run cp -- a.npy "$name" && run mv -- "$name" "./2$name" && run cp "./2$name" outside && run ls >../none &&
            cmp a.npy "outside/2$name" && run rm -- "./2$name" "outside/2$name" || fail "the name $name"
    done
    run create set --shape 4,4 --grid 2,2 --overwrite 2>../none || { rm -r set && run create set --shape 4,4 --grid 2,2; }
    run chmod 640 set && [ "$(stat -c %a set set/array.json set/local-3.npy | tr '\n' ' ')" = '750 640 640 ' ] || fail "chmod: $(ls -la set)"
    run chmod g-r,o=r set && [ "$(stat -c %a set set/local-0.npy | tr '\n' ' ')" = '705 604 ' ] || fail "chmod: $(ls -la set)"
    run cp a.npy set --overwrite && cmp a.npy set || fail 'cp over a set'
    run create b --shape 4,4 --grid 2,2 --iota && run mv b set --overwrite && [ "$(run get 'set[3, 3]')" = 15.0 ] && [ ! -e b ] ||
        fail 'mv of a set over a file'
}

# A signal that comes while data are copied: nothing of the new array, and the old one as it was.
interrupted() {
    ranks=1
    prepare_both interrupted
    cd "$there"
    strace -qq -o ../none true 2>../none || return 0
    run create a.npy --shape 5000000 --random 1 --dtype u1
    head -c 20M </dev/zero | tr '\0' x >raw.bin
    run create z.zarr --shape 64,64 --chunk 8,8 --random 1
    for case in "cp raw:raw.bin:u1:20971520 new:2" "cp z.zarr new:9" "mv z.zarr $work/interrupted/here/new:9"; do
        status=0
        strace -f -qq -o calls -e trace=copy_file_range -e inject=copy_file_range:signal=TERM:when=${case##*:} \
            "$weir" ${case%:*} 2>err || status=$?
        [ "$status $(grep -v strace err)" = "1 weir ${case%% *}: interrupted" ] || fail "$case: $status $(cat err)"
        ! ls . "$work/interrupted/here" | grep -e partial -e new || fail "$case leaves something"
        run get 'z.zarr[0, 0]' >../none || fail "$case has damaged its array"
    done
    # which of both files has an error
    strace -f -qq -o calls -P "$PWD/raw.bin" -e inject=copy_file_range,pread64:error=EIO "$weir" cp raw:raw.bin:u1:20971520 new 2>err && fail 'cp of what cannot be read' || true
    grep -q 'raw.bin: .*read' err || fail "cp of what cannot be read: $(cat err)"
    # read-only folders, by who is not root
    as_nobody="setpriv --reuid=65534 --regid=65534 --clear-groups"
    $as_nobody test -x "$weir" 2>../none || as_nobody=
    chmod 555 z.zarr/c/? && mkdir open && chmod 777 open . .. "$far" && cd open
    for signal in TERM KILL; do
        strace -f -qq -o /dev/null -e trace=copy_file_range -e inject=copy_file_range:signal=$signal:when=20 $as_nobody "$weir" cp ../z.zarr new 2>../err || true
        [ $signal = TERM ] || $as_nobody "$weir" clean -f --older 0 . >../told 2>&1 || fail "clean: $(cat ../told)"
        [ -z "$(ls)" ] || fail "$signal leaves $(find . | head) $(cat ../err)"
    done
    cd .. && chmod 755 z.zarr/c/?
    # of many that only get another name, those after the signal keep theirs
    mkdir names && for i in 0 1 2 3 4 5 6 7; do cp a.npy $i.npy; done
    strace -f -qq -o calls -e trace=renameat2 -e inject=renameat2:signal=TERM:when=3 "$weir" mv ?.npy names 2>err || true
    [ "$(ls names | wc -l)" = 3 ] && rm -r ?.npy names && run create a.npy --shape 5000000 --random 1 --dtype u1 || fail "mv of many: $(ls names) $(cat err)"
    # killed, it leaves what clean finds
    make_old_dra
    strace -f -qq -o calls -e trace=copy_file_range -e inject=copy_file_range:signal=KILL:when=2 "$weir" cp several new 2>err || true
    [ "$(ls | grep -c '^new') $(ls | grep -c '^new.*\.partial-')" = '2 2' ] && run clean -f --older 0 . >../none && ! ls | grep new || fail "a killed cp: $(ls)"
    # a file system that cannot rename without replacing
    for a in several a.npy; do
        (stat -c %i $a* | sort) >inodes
        strace -f -qq -o calls -e trace=renameat2 -e inject=renameat2:error=EINVAL "$weir" mv $a new 2>err || fail "mv: $(cat err)"
        (stat -c %i new* | sort) | cmp - inodes && rm new* || fail 'mv copies where it could rename'
    done
    strace -f -qq -o calls -e trace=copy_file_range -e inject=copy_file_range:signal=KILL:when=9 "$weir" cp z.zarr new 2>err || true
    [ ! -e new ] && ls -d new.partial-* >../none || fail 'a killed cp'
    run clean --older 0 | grep -q 'new.partial-' || fail 'clean does not find it'
    ls -d new.partial-* >../none || fail 'clean removes without --force'
    run clean -f --older 0 . >../none && ! ls | grep partial || fail "clean leaves $(ls)"
}

# What killed jobs leave of every kind, among other things.
cleaning() {
    ranks=1
    prepare_both cleaning
    mkdir -p below/disk
    "$weir" create below/whole.npy --shape 200,200
    "$weir" get below/whole.npy -o below/text.csv --memory 32K --hints fault=delay:1000000 >../none 2>&1 &
    processes=$!
    for what in "a.npy" "set --grid 2,2" "spread --grid 2,2 --disks $PWD/below/disk" "x.zarr --chunk 50,50" "b.nc:/v"; do
        "$weir" create below/$what --shape 200,200 --random 1 --memory 32K --hints fault=delay:1000000 >../none 2>&1 &
        processes="$processes $!"
    done
    for wait in $(seq 1000); do [ "$(ls below | grep -c '.partial-........$')" = 6 ] && break; sleep 0.02; done
    for wait in $(seq 1000); do ls below/disk | grep -q 'spread.*-3.npy' && break; sleep 0.02; done
    run clean below --older 0 >../used
    grep -q '6 in use' ../used || fail "clean of a running job: $(cat ../used)"
    kill -KILL $processes
    wait $processes 2>../none || true
    : >below/x.pointers-0123456789abcde
    : >below/.weir-0123456789abcdef
    : >below/.weir-costs-77-1234
    echo 'weir dra 1' >below/k.dra-01234567
    mkdir below/notes.partial-01234567 && echo mine >below/notes.partial-01234567/text
    for keep in x.partial x.partial-12345 x.partial-0123456z x.pointers-1 weir-costs; do : >below/$keep; done
    run clean below --older 0 >../shown
    [ "$(grep -c '(' ../shown)" = 11 ] && grep -q 'nothing is removed' ../shown || fail "clean: $(cat ../shown)"
    run clean below | grep -q '11 changed lately' || fail 'clean does not look at the time'
    status=0
    run clean --force --older 0 below >../none 2>../err || status=$?
    [ $status = 1 ] && grep -q 'notes.partial-01234567: it holds what no array has' ../err || fail "clean: $status $(cat ../err)"
    [ "$(find below -type f | grep -v keep | sed 's,.*/,,' | LC_ALL=C sort | tr '\n' ' ')" = \
        'text weir-costs whole.npy x.partial x.partial-0123456z x.partial-12345 x.pointers-1 ' ] || fail "clean leaves: $(find below)"
}

# A job that has written only to other disks of late, or has these open.
busy() {
    ranks=1
    prepare_both busy
    mkdir d0 d1
    run create spread --shape 8,8 --grid 2,2 --disks d0:d1
    mv spread spread.partial-01234567
    age() { touch -d '2 hours ago' d?/* spread.partial-01234567/array.json spread.partial-01234567; }
    age && touch d1/*-1.npy && run clean -f . >../told && grep -q '1 changed lately' ../told && [ "$(ls d0 d1 | grep -c npy)" = 4 ] || fail "clean: $(cat ../told)"
    age
    sleep 60 <"$(ls d1/*-1.npy)" &
    process=$!
    sleep 0.2
    run clean -f . >../told && grep -q '1 in use' ../told && [ "$(ls d0 d1 | grep -c npy)" = 4 ] || fail "clean: $(cat ../told)"
    kill $process && wait $process || true
    age && mv d1 d2 && status=0 && run clean -f . >../none 2>../err || status=$?
    [ $status = 1 ] && grep -q 'is away' ../err && [ -e spread.partial-01234567/array.json ] || fail "clean without a disk: $(cat ../err)"
    mv d2 d1 && run clean -f . >../told && ! find . -type f | grep . || fail "clean leaves $(find .)"
}

# Answers to a command that is typed into a shell, which stays and has the terminal, too.
typed() {
    printf "$1" | SHELL=/bin/sh script -qec "'$weir' $2; exit \$?" /dev/null >../../told || fail "$2: $(cat ../../told)"
}

# 1500 files that are no arrays and as many that are: in a second or so, in a terminal with somebody to ask.
many() {
    ranks=1
    prepare_both many
    run create a.npy --shape 4
    /usr/bin/python3 -c 'import os; [(os.link("a.npy", f"{i}.npy"), open(f"{i}.txt", "w")) for i in range(1500)]'
    [ "$(run ls | wc -l)" = 1501 ] || fail 'ls of many'
    run ls | head -n 1 >../none || fail 'a closed pipe'
    mkdir some && cp 1.npy 2.npy some && cd some
    typed 'n\ny\n' 'rm 1.npy 2.npy'
    grep -q 'remove 1.npy, 1 file of' ../../told && [ "$(ls)" = 1.npy ] || fail "rm asks: $(cat ../../told)"
    : >x.pointers-0123456789abcde
    typed 'n\n' 'clean . --older 0'
    grep -q 'remove this?' ../../told && ls x.pointers* >../none || fail "clean asks: $(cat ../../told)"
    typed 'y\n' 'clean . --older 0'
    ! ls | grep pointers || fail 'clean does not obey'
}

run_parts 'round 1' 'round 3 ranks' listing disks striped 'refusals 1' 'refusals 2 ranks' others interrupted cleaning busy many

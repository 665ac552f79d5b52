#!/bin/sh
# weir create, info, get and convert, alone and on several ranks, against NumPy; and bad input.
# usage: test_arrays.sh WEIR LAUNCHER...
set -eu
. "$(dirname "$0")/harness.sh"

# Numbers of every type; each is made on some number of ranks, and all are what NumPy says.
cases_of_create() {
    for type in bool i1 i2 i4 i8 u1 u2 u4 u8 f2 f4 f8 c8 c16; do
        [ $type = bool ] && dtype='?' || dtype=$type
        case $ranks in
        1) run create iota-$type.npy --shape 5,7,60 --dtype $type --iota
            claim "same(load('iota-$type.npy'), iota((5, 7, 60), '$dtype'))" ;;
        3) run create random-$type.npy --shape 60,5,7 --dtype $type --random 7 --order F
            claim "same(load('random-$type.npy'), random(7, (60, 5, 7), '$dtype'), 'F')" ;;
        esac
    done
}

cases_of_few() {
    run create zero.npy --shape 9
    run create minus.npy --shape 3,4 --dtype i2 --fill -5
    claim "same(load('minus.npy'), np.full((3, 4), -5, 'i2'))"
    run create fill.npy --shape 3,4
    run create fill-c.npy --shape 3,4 --dtype c8 --fill 1.5-2j --order F
    run create fill-f2.npy --shape 11 --dtype f2 --fill 0.1
    export WEIR_EVENTS="$PWD/events"
    run create noted.npy --shape 100,100 --iota --memory 16K
    unset WEIR_EVENTS
    [ "$(sed -n 's/.* rank=\([0-9]*\) .* file=.*noted.npy.*/\1/p' events | sort -u | wc -l)" = $ranks ] ||
        fail "events: $(cat events)"
    run create none.npy --shape 3,0,5 --dtype f4 --iota
    run create single.npy --shape '()' --dtype int32 --fill 42 --memory 64KB
    run create long.npy --shape 300,1000 --dtype f4 --random 18446744073709551615 --memory 16K
    run create columns.npy --shape 300,1000 --dtype f4 --random 18446744073709551615 --order F
    claim "same(load('zero.npy'), np.zeros(9))"
    claim "same(load('fill-c.npy'), np.full((3, 4), 1.5-2j, 'c8'), 'F')"
    claim "same(load('fill-f2.npy'), np.full(11, 0.1, 'f2'))"
    claim "same(load('none.npy'), np.zeros((3, 0, 5), 'f4'))"
    claim "same(load('single.npy'), np.array(42, 'i4'))"
    claim "same(load('long.npy'), random(2**64 - 1, (300, 1000), 'f4'), 'C')"
    claim "same(load('columns.npy'), load('long.npy'), 'F')"
    run create fill.npy --shape 2x2 --dtype uint8 --fill 255 --overwrite --memory 64MiB
    claim "same(load('fill.npy'), np.full((2, 2), 255, 'u1'))"
}

# What is claimed of a bracket is that bracket, in Python.
cases_of_brackets() {
    number=${number:-0}
    for bracket in '' '[...]' '[2]' '[-1,3,-8]' '[0:10, ::2]' '[::-1]' '[4:1:-2,...,::3]' '[..., 5]' \
        '[:, 1:1]' '[-100:100, 6:-100:-3, 7]' '[1:5:2, :, -3:,]' '[5:0:-1, ::-7, 99999999999999999999::-1]' \
        '[[0, 2]]' '[:, [6,-1,0,6,],1:]' '[[5], :, 1]' '[1, [2,0]]' '[::-2, ..., [-8, 7]]' '[[]]'; do
        number=$((number + 1))
        run get "$1$bracket" -o get-$number.npy --memory 8800
        claim "same(load('get-$number.npy'), iota((6, 7, 8), 'i4')${bracket:-[...]}, '$2')"
        [ $ranks = 1 ] || continue
        run get "$1$bracket" --plain --memory 80 >text-$number
        claim "same(text('text-$number', 'i4'), iota((6, 7, 8), 'i4')${bracket:-[...]}.ravel())"
    done
}

cases_of_text() {
    for type in bool u8 f2 f4 f8 c8 c16; do
        run create t-$type.npy --shape 20 --dtype $type --random 3
        run get --plain "t-$type.npy[::-1]" >text-$type
        claim "same(text('text-$type', load('t-$type.npy').dtype), load('t-$type.npy')[::-1])"
    done
    claim "lines('text-1') == (([8] * 7 + [0]) * 6)[:-1]"
    claim "lines('text-3') == [8] * 7 and lines('text-4') == [1]"
    run create big.npy --shape 1001,1000 --dtype u1
    run get big.npy --plain --memory 10K >text-big
    [ "$(wc -w <text-big) $(wc -l <text-big)" = '1001000 1001' ] || fail "long text: $(wc text-big)"
}

cases_of_get() {
    run create c.npy --shape 6,7,8 --dtype i4 --iota
    run create f.npy --shape 6,7,8 --dtype i4 --iota --order F
    run create g --shape 6,7,8 --dtype i4 --iota --grid 2,1,3 --block 0,0,2
    case $ranks in
    1) cases_of_brackets c.npy C
        cases_of_text
        cases_of_brackets g C ;;
    2) cases_of_brackets g C ;;
    3) cases_of_brackets f.npy F ;;
    esac
    /usr/bin/python3 -c 'import numpy; numpy.save("swapped", numpy.arange(12.).reshape(3,4).astype(">f4"))'
    run get 'swapped.npy[1:, ::2]' -o native.npy
    claim "same(load('native.npy'), np.arange(12, dtype='f4').reshape(3, 4)[1:, ::2])"
}

cases_of_convert() {
    mkdir disk-a
    run create from.npy --shape 60,70 --dtype i4 --random 1
    run convert from.npy from-f.npy --order F --memory 32K
    claim "same(load('from-f.npy'), load('from.npy'), 'F')"
    run convert from.npy from-set --grid 2,2 --block 0,3 --disks "disk-a:$PWD/disk-b"
    [ "$(ls disk-a disk-b | grep -c npy)" = 4 ] || fail "disks: $(ls disk-a disk-b)"
    run convert from-set from-set-f --grid 3,1 --order F --dtype f8
    run convert from-set-f back.npy --dtype i4 --order C
    claim "same(load('back.npy'), load('from.npy'), 'C')"
    claim "same(load('from-set-f/local-1.npy'), load('from.npy')[20:40].astype('f8'), 'F')"
    run convert from.npy from-u1.npy --dtype u1
    claim "same(load('from-u1.npy'), load('from.npy').clip(0, 255).astype('u1'))"
    refuses 1 'a disk that this call does not name' convert from-set from-set --grid 1,5 --overwrite
    run convert from-set from-set --grid 1,5 --disks "disk-a:disk-b" --overwrite
    run convert from-set from-set.npy
    claim "same(load('from-set.npy'), load('from.npy'))"
    [ "$(ls disk-a disk-b | grep -c npy)" = 5 ] || fail "disks: $(ls disk-a disk-b)"
    run convert from.npy raw:from.bin:i4:60,70
    claim "same(np.fromfile('from.bin', 'i4').reshape(60, 70), load('from.npy'))"
    run create empty-set --shape 0,5 --grid 2,2 --iota
    run convert empty-set empty.npy
    claim "same(load('empty.npy'), np.zeros((0, 5)))"
}

cases_of_info() {
    run info c.npy g single.npy swapped.npy >info
    for line in '^g$' 'kind  *local-array set' 'shape  *6,7,8' 'dtype  *i4' 'bytes  *1.3 KiB, 1344 bytes' \
        'grid  *2,1,3' 'block  *0,0,2' 'local arrays  *6' 'shape  *()' 'byte order  *swapped'; do
        grep -q "$line" info || fail "no $line in: $(cat info)"
    done
    run info --json f.npy g swapped.npy >info.json
    claim "objects('info.json')[0] == dict(path='f.npy', kind='file', format='npy', shape=[6, 7, 8], dtype='i4', \
order='F', bytes=1344, swapped=False, grid=None, block=None, members=0, names=[], attributes={})"
    claim "objects('info.json')[1] == dict(path='g', kind='set', format='set', shape=[6, 7, 8], dtype='i4', \
order='C', bytes=1344, swapped=False, grid=[2, 1, 3], block=[0, 0, 2], members=6, names=[], attributes={})"
    claim "len(objects('info.json')) == 3 and objects('info.json')[2]['swapped']"
    run ls --long --json f.npy g >ls.json
    claim "[a['files'] for a in objects('ls.json')[0]['arrays']] == [1, 7]"
    [ $ranks = 1 ] || return 0
    odd=$(printf 'b\377"\001.npy')
    cp f.npy "$odd"
    for command in info ls du; do
        run $command --json "$odd" >odd-$command.json
        claim "[o.get('path') or o['arrays'][0]['name'] for o in objects('odd-$command.json')] == \
['b' + chr(0xfffd) + chr(34) + chr(1) + '.npy']"
    done
    mkdir disk
    head -c 1500 c.npy >disk/striped.weir-0123456789abcdef-0
    head -c 1000 c.npy >disk/striped.weir-0123456789abcdef-1
    printf 'weir striped file 1\nblock 500\nid 0123456789abcdef\npart %s-0\npart %s-1\nend\n' \
        "$PWD/disk/striped.weir-0123456789abcdef" "$PWD/disk/striped.weir-0123456789abcdef" >striped
    run ls --json striped >striped.json
    claim "(objects('striped.json')[0]['arrays'][0]['format'], objects('striped.json')[0]['arrays'][0]['bytes']) == ('striped', 2500)"
}

# What ranks find out together, or only one of them.
cases_of_bad_collectives() {
    refuses 1 'exists, and --overwrite was not given' create a.npy --shape 4
    refuses 1 'exists, and --overwrite was not given' get 'a.npy[0]' -o short.npy
    refuses 1 'exists, and --overwrite was not given' convert a.npy folder --grid 2,2
    refuses 1 'left alone\|not overwritten' convert a.npy folder --grid 2,2 --overwrite
    refuses 1 'memory' create x.npy --shape 4,4 --iota --memory 10
    refuses 1 'memory' create x.npy --shape 4,4 --fill 1 --memory 2
    refuses 1 'memory' create x --shape 4,4 --iota --memory 10 --grid 2,2
    refuses 1 'memory' get 'a.npy[1:]' -o x.npy --memory 10
    refuses 1 'memory' convert a.npy x.npy --memory 10
    refuses 2 'c8.npy: elements of type c8 cannot become f8' convert c8.npy x.npy --dtype f8
    refuses 2 'a.npy: elements of type f8 cannot become f2' transpose a.npy x.npy --dtype f2
    refuses 1 'v.nc:/v: exists, and --overwrite was not given' create v.nc:/v --shape 4
    refuses 2 'v.nc:/w: there is no such variable in the file; it has v' info v.nc:/w
    refuses 2 'none.nc: .*No such file' info none.nc:/v
    if [ -e v.h5 ]; then
        refuses 1 'v.h5:/g/v: exists, and --overwrite was not given' create v.h5:/g/v --shape 4
        refuses 2 'v.h5:/w: there is no such dataset' get v.h5:/w
        ! grep -q text v.h5 || refuses 1 'v.h5:/text: the dataset holds text' info v.h5:/text
    fi
    for group in group.zarr group2; do
        refuses 1 "$group: a group of Zarr arrays, which weir ls $group lists" info $group
    done
    refuses 2 'too many elements' create x --shape 4000000000,4000000000 --grid 2,2
    refuses 2 '3 indices, but the array has 2 dimensions: one too many at character 6;' get 'a.npy[1,2,3]'
    refuses 2 '--disks must be' create x --shape 4,4 --grid 2,2 --disks :a
    refuses 2 'no name for an array' info ''
    refuses 2 '"x.h5": weir does not write HDF5' convert a.npy x.h5
    refuses 1 'y.h5: weir does not read HDF5' info y.h5
    refuses 2 'hints: "speed" is not NAME=VALUE' create x.npy --shape 4 --hints speed
    refuses 2 'no tunable is called speed' create x.npy --shape 4 --hints speed=1
    refuses 2 'No such file' create none/x.npy --shape 4
    claim "same(load('a.npy'), iota((4, 4), 'f8'))"
}

cases_of_bad_input() {
    (
        ulimit -f 200000
        trap '' XFSZ
        refuses 1 'File too large' create x.npy --shape 1000000,10000
        refuses 1 'File too large' create x --shape 1000000,10000 --grid 2,2
    )
    cases_of_bad_arrays info ''
    cases_of_bad_arrays get ''
    cases_of_bad_arrays convert x.npy
    refuses 2 'index 4 is outside dimension 0, which has 4, at character 2;' get 'a.npy[4]'
    refuses 2 'a.npy: "\[4\]": index 4 is outside' diff cube.npy 'a.npy[4]'
    refuses 2 'a.npy\[0\]\]: there is no such array; "\[0\]\]": a \] too many at character 4$' get 'a.npy[0]]'
    refuses 2 'a.npy\[0\]: there is no such array, and no section is taken here$' info 'a.npy[0]'
    refuses 2 'is a \] missing' get 'a.npy[0'
    refuses 2 'cube.npy: 3 dimensions, and csv' get cube.npy -o -
    refuses 1 'a.npy: memory is too little' get a.npy --memory 1
    refuses 1 'a.npy: 10 bytes of memory are too little' hist a.npy --memory 10
    refuses 2 'a.npy: from .* there are no 10 bins' hist a.npy --range 0,5e-324
    refuses 2 'index -5 is outside dimension 1, which has 4, at character 7;' get 'a.npy[::2, -5]'
    refuses 2 'index 4 is outside dimension 1, which has 4, at character 9;' get 'a.npy[:, [0, 4]]'
    refuses 2 'one list of indices at most: a second at character 10;' get 'a.npy[[0, 1], [0, 1]]'
    refuses 2 'indices and commas only: not understood at character 4;' get 'a.npy[[0:2]]'
    refuses 2 'number is missing at character 3;' get 'a.npy[[[0]]]'
    refuses 2 'not understood at character 5;' get 'a.npy[[0]1]'
    refuses 2 'beside the indices, or come first: not as at character 13;' get 'cube.npy[:, 1, ..., [0, 1]]'
    refuses 2 'beside the indices, or come first: not as at character 8;' get 'cube4.npy[1, :, [0, 1]]'
    refuses 2 'a step is 0 at character 4;' get 'a.npy[::0]' -o x.npy
    refuses 2 'number is missing at character 2;' get 'a.npy[x]'
    refuses 2 'number is missing at character 2;' get 'a.npy[,2]'
    refuses 2 'not understood at character 4;' get 'a.npy[1 2]'
    refuses 2 'not understood at character 6;' get 'a.npy[1,2,3...]'
    refuses 2 'index is missing at character 2;' get 'a.npy[]'
    refuses 2 '\.\.\. comes twice: again at character 6;' get 'a.npy[...,...]'
    refuses 2 '\.\.\. comes twice: again at character 6;' get 'a.npy[...,...,...,...]'
    refuses 2 '\.\.\. comes twice: again at character 8;' get 'a.npy[0,...,...,...]'
    refuses 2 '\.\.\. comes twice: again at character 5;' get 'a.npy[......]'
    refuses 2 '--format: must be auto, npy, zarr or zarr2, perhaps zarr2\?;' create x.npy --shape 4 --format zarr3
    refuses 2 '--dtype: must be' create x.npy --shape 4 --dtype f3
    refuses 2 '--shape: must be sizes' create x.npy --shape 4x
    refuses 2 '--memory: must be a size' create x.npy --shape 4 --memory 64MiBs
    refuses 2 '--dtype: must be' convert a.npy x.npy --dtype '>f4'
    refuses 2 '--shape: must be sizes' create x.npy --shape 4,,4
    refuses 2 '--shape: must be sizes' create x.npy --shape 99999999999999999999
    refuses 2 '--shape: has too many' create x.npy --shape 1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1
    refuses 2 'too many elements' create x.npy --shape 4000000000,4000000000
    refuses 2 '--shape is needed' create x.npy
    refuses 2 '--order: must be C or F' create x.npy --shape 4 --order R
    refuses 2 'exclude each other' create x.npy --shape 4 --iota --fill 1
    refuses 2 '--fill: is beyond' create x.npy --shape 4 --dtype u1 --fill 256
    refuses 2 'beyond' create x.npy --shape 4 --dtype i8 --fill 9223372036854775808
    refuses 2 '--fill: must be 0 or 1, or False or True' create x.npy --shape 4 --dtype bool --fill yes
    refuses 2 '--fill: must be a number' create x.npy --shape 4 --fill 1j
    refuses 2 '--fill: is beyond' create x.npy --shape 4 --fill -1e999
    refuses 2 '--fill: is beyond' create x.npy --shape 4 --dtype f4 --fill 1e39
    refuses 2 '--fill: is beyond' create x.npy --shape 4 --dtype f2 --fill 65520
    refuses 2 '--memory: must be a size' create x.npy --shape 4 --memory 1Q
    refuses 2 '--memory: needs a value' create x.npy --shape 4 --memory
    refuses 2 '--grid must be counts' create x --shape 4,4 --grid 0,1
    refuses 2 'size for each dimension' create x --shape 4,4 --grid 2
    refuses 2 'need --grid' create x --shape 4,4 --block 2,2
    refuses 2 '--quick: unknown option' create x.npy --shape 4 --quick
    refuses 2 'name of one array' create --shape 4
    refuses 2 'no folder' create x.npy/ --shape 4
    run get a.npy -o bare.nc:/x.bin && run diff a.npy bare.nc:/x.bin && rm bare.nc || fail 'a variable x.bin'
    for name in x.hdf5 x.nc x.NC4 x.npz x.zip x.tiff x.npy.gz x.csv x.raw x.BIN; do
        refuses 2 'weir does not write [A-Za-z]' create $name --shape 4
    done
    refuses 2 'weir does not write netCDF' get 'a.npy[1]' -o x.nc
    refuses 2 'weir does not write TIFF' transpose a.npy x.tif
    for command in convert copy transpose median laplace; do
        refuses 2 'x.raw": weir does not write bare data, only .* raw:FILE:TYPE:SHAPE; get -o and put' $command a.npy x.raw
    done
    refuses 1 'bare.bin: weir does not read bare data, only .* raw:FILE:TYPE:SHAPE; get -o and put' info bare.bin
    refuses 2 'weir does not write N5' create x.n5/ --shape 4,4 --grid 2,2
    refuses 2 'weir does not write HDF5' convert a.npy a.h5 --overwrite
    refuses 1 'folder.zarr: a folder without array.json, zarr.json or .zarray' get folder.zarr
    refuses 1 'y.h5: weir does not read HDF5' convert y.h5 x.npy
    refuses 2 'No such file' info none.h5
    refuses 2 'takes two arrays' convert a.npy
}

# Folders end as wanted of what they were, with nothing added; also one that is shut to its owner.
cases_of_chmod() {
    run create z.zarr --shape 4,4 --chunk 2,2 --fill 1
    chmod 555 z.zarr
    chmod 057 z.zarr/c
    setpriv --bounding-set -dac_override,-dac_read_search "$weir" chmod o-r z.zarr
    [ "$(stat -c %a z.zarr z.zarr/c z.zarr/c/0 | tr '\n' ' ')" = "550 52 $(stat -c %a z.zarr/c/1) " ] ||
        fail "chmod: $(stat -c '%a %n' z.zarr z.zarr/c)"
    chmod -R u+rwx z.zarr
}

good() {
    ranks=$1
    prepare good-$ranks
    cases_of_create
    cases_of_few
    cases_of_get
    cases_of_convert
    cases_of_info
    [ $ranks -gt 1 ] || cases_of_chmod
    ! ls | grep partial || fail "left behind"
    check_claims
}

bad() {
    ranks=$1
    prepare bad-$ranks
    mkdir arrays
    cd arrays
    make_bad_arrays
    run create cube.npy --shape 2,2,2
    run create cube4.npy --shape 2,2,2,2
    printf '\211HDF\r\n\032\n' >y.h5
    run create v.nc:/v --shape 4
    run create v.h5:/g/v --shape 4 2>../none || true # a build without HDF5
    [ ! -e v.h5 ] || /usr/bin/python3 -c 'import h5py; h5py.File("v.h5", "a")["text"] = "one"' 2>../none || true
    mkdir group.zarr group2
    echo '{"zarr_format": 3, "node_type": "group"}' >group.zarr/zarr.json
    run create group.zarr/a --shape 4 --format zarr
    echo '{"zarr_format": 2}' >group2/.zgroup
    head -c 128 /dev/zero >bare.bin
    mkdir folder.zarr
    cases_of_bad_collectives
    if [ $ranks = 1 ]; then
        cases_of_bad_input
    else
        cases_of_bad_arrays info ''
    fi
    check_claims
}

run_parts 'good 1' 'good 3' 'bad 1' 'bad 3' ${WEIR_TEST_LONG:+'good 2'}

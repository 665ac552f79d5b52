#!/bin/bash
# Trouble: what every command does with files that are missing, folders, of another kind, cut short or
# not to be read, where a disk is full, and where nobody reads what it prints. One line, `weir COMMAND:
# FILE: CAUSE`, the status, and nothing changed or left. Every command must have its lines here.
# usage: test_trouble.sh WEIR LAUNCHER...
set -eu
. "$(dirname "$0")/harness.sh"

# Exit statuses with @ a file that is not there, a folder, a file that is no array, one that is cut
# short, one that may not be read; "-": not asked. From "+" on also under a launcher.
inputs() {
    cat <<'END'
2 0 1 1 1   ls @
2 0 1 0 1   du @
2 1 1 1 1 + info @
2 1 1 1 1 + get @
2 1 1 1 1 + get @ -o x.npy
2 1 1 1 1 + view @ -o x.png
2 2 2 2 2 + diff @ a.npy
2 2 2 2 2   diff a.npy @
2 1 1 1 1 + hist @
2 1 1 1 1 + quantile @
2 1 1 1 1 + reduce @
2 1 1 1 1 + put @ --value 1
2 1 1 1 1   put a.npy @
2 1 1 1 1 + fill @ 1
2 1 1 1 1 + convert @ x.npy
2 1 1 1 1 + copy @ x.npy
2 1 1 1 1 + transpose @ x.npy
2 1 1 1 1 + matmul @ a.npy x.npy
2 1 1 1 1 + matmul a.npy @ x.npy
2 1 1 1 1 + median @ x.npy
2 1 1 1 1 + laplace @ x.npy
2 1 1 - 1   cp @ x.npy
2 1 1 - -   mv @ x.npy
0 1 1 - -   rm -f @
2 1 1 - -   chmod a+r @
2 - 2 - -   clean @
2 - 2 - - + doctor @
2 2 2 - -   run -- @
2 1 1 - -   report @
END
}

# What makes @ on a disk too small for it.
outputs() {
    cat <<'END'
create @ --shape 300,300 --iota
create @ --shape 300,300 --fill 1
get big.npy -o @
convert big.npy @
copy big.npy @
transpose big.npy @
matmul big.npy big.npy @
median big.npy @
laplace big.npy @
cp big.npy @
END
}

# What prints.
printing() {
    cat <<'END'
ls .
du .
info a.npy
get a.npy
get a.npy -o y.npy --json --overwrite
view a.npy
diff a.npy a.npy --json
diff a.npy b.npy
hist a.npy
quantile a.npy --json
reduce a.npy
reduce a.npy --json
put a.npy --value 2 --json
create y.npy --shape 4,4 --json --overwrite
fill a.npy 1 --json
convert a.npy y.npy --json --overwrite
copy a.npy z.npy --dry-run
transpose a.npy z.npy --dry-run --json
matmul a.npy a.npy y.npy --json --overwrite
median a.npy y.npy --json --overwrite
laplace a.npy y.npy --overwrite
plan --array 4,4 --section [p:p+1,:] --ranks 2
doctor .
clean .
help
help get
--help
--version
get --help
completion bash
END
}

# Of these only words can be wrong, or a test of their own has it all.
elsewhere='plan help completion run'

every_command_has_lines() {
    { inputs | sed 's/^[-0-9 +]*//'; outputs; printing; echo "$elsewhere" | tr ' ' '\n'; } |
        cut -d ' ' -f 1 | sort -u >"$work/tested"
    for command in $("$weir" help --names); do
        grep -qx "$command" "$work/tested" || { echo "no line for weir $command"; exit 1; }
    done
}

# one STATUS FILE LINE
one() {
    local status=0 wanted=$1 file=$2
    set -- ${3//@/$file}
    $drop run "$@" </dev/null >../out 2>../err || status=$?
    [ $status = $wanted ] || fail "weir $*: exit status $status: $(cat ../err)"
    [ $wanted = 0 ] || [ "$(grep -c "^weir $1: .*$file.*: ." ../err)" = 1 ] || fail "weir $*: $(cat ../err)"
    [ $wanted = 0 ] || [ $ranks -gt 1 ] || [ "$(grep -c . ../err)" = 1 ] || fail "weir $*: $(cat ../err)"
}
# Root may read everything, unless it gives that up.
run_as_other() {
    shift # run
    setpriv --bounding-set -dac_override,-dac_read_search "$weir" "$@"
}

# bad_inputs RANKS FILES...: which of the columns.
bad_inputs() {
    ranks=$1 drop=
    shift
    prepare "bad-$ranks-$(echo $* | tr -d ' ')"
    mkdir arrays
    cd arrays
    make_bad_arrays
    cp a.npy denied.npy
    chmod 0 denied.npy
    find . | sort >../kept
    while read -r none folder hello short denied rest; do
        [ $ranks = 1 ] || [ "${rest#+}" != "$rest" ] || continue
        rest=${rest#+ }
        for file; do
            [ ${!file} != - ] || continue
            drop=$([ $file != denied ] || echo run_as_other)
            one ${!file} $([ $file = folder ] && echo folder || echo $file.npy) "$rest"
            find . | sort | cmp -s - ../kept || fail "$file, $rest: left $(find . | sort | diff - ../kept)"
        done
    done < <(inputs)
}

full_disk() {
    ranks=$1
    prepare "full-$ranks"
    mkdir arrays
    cd arrays
    "$weir" create big.npy --shape 300,300 --iota
    mkdir disk
    mount -t tmpfs -o size=300k tmpfs disk 2>/dev/null || return 0 # not allowed here
    trap "umount '$PWD/disk'" EXIT
    while read -r line; do
        [ $ranks = 1 ] || [ "${line%% *}" != cp ] || continue
        status=0
        run ${line//@/disk/x.npy} $([ "${line%% *}" = cp ] || echo --memory 64K) </dev/null >../out 2>../err ||
            status=$?
        [ $status = 1 ] || fail "$line: exit status $status: $(cat ../err)"
        [ "$(grep -c "^weir ${line%% *}: .*disk/x.npy.*: .*No space left" ../err)" = 1 ] || fail "$line: $(cat ../err)"
        [ -z "$(ls disk)" ] || fail "$line: left $(ls disk)"
    done < <(outputs)
}

# Nobody reads: a signal ends it, or it ends by itself; no line. A device that is full: a line.
closed_pipe() {
    ranks=1
    prepare pipe
    mkdir arrays
    cd arrays
    "$weir" create a.npy --shape 4,4 --iota
    "$weir" create b.npy --shape 4,4
    while read -r line; do
        { sleep 0.05; status=0; "$weir" $line 2>../err || status=$?; echo $status >../status; } | true
        case "$(cat ../status) $line" in
        "0 "* | "141 "* | '1 diff a.npy b.npy') ;;
        *) fail "$line, a closed pipe: $(cat ../status)" ;;
        esac
        [ ! -s ../err ] || fail "$line, a closed pipe: $(cat ../err)"
        status=0
        "$weir" $line >/dev/full 2>../err || status=$?
        [ "${line%% *}" = diff ] && wanted='2 1' || wanted='1 1' # as diff has it
        [ "$status $(grep -c '^weir.*: standard output cannot be written' ../err)" = "$wanted" ] ||
            fail "$line, a full device: $status $(cat ../err)"
    done < <(printing)
    "$weir" diff a.npy b.npy --dry-run >../out || fail "diff --dry-run: exit status $?"
    "$weir" create wide.npy --shape 2000,50 --random 1
    # a limit of files, and what may only be read is replaced
    for name in x.raw x.csv; do
        status=0
        (ulimit -f 8 && "$weir" get wide.npy -o $name) 2>../err || status=$?
        [ $status = 1 ] && [ "$(grep -c "^weir get: .*$name: .*: File too large" ../err)" = 1 ] && ! ls $name* 2>../none ||
            fail "a limit, $name: $status $(cat ../err)"
        : >$name && chmod 444 $name && run_as_other run get wide.npy -o $name --overwrite && [ -s $name ] &&
            [ $(stat -c %a $name) = 444 ] && rm -f $name || fail "$name, read-only"
    done
    [ "$("$weir" get wide.npy --plain 2>../err | head -n 2 | wc -l)" = 2 ] && [ ! -s ../err ] ||
        fail "get and head: $(cat ../err)"
}

# What only rank 0 finds wrong ends all of them, with one line.
many() {
    ranks=2
    prepare many
    refuses 2 'outside the array' plan --array 4,4 --ranks 2 --section '[9]'
    refuses 2 'no?ne.npy: .*No such file' get "$(printf 'no\nne.npy')"
    status=0
    run gett a.npy 2>err || status=$?
    [ $status = 2 ] && [ "$(grep -c '^weir: no command' err)" = 1 ] || fail "no command: $status $(cat err)"
}

# Names with what a terminal obeys are shown without it, so that an error is one line.
odd_names() {
    ranks=1
    prepare odd
    mkdir here
    cd here
    odd=$(printf 'no\nne\033.npy')
    for line in 'get @' 'ls @' 'rm @' 'cp @ x' 'clean @' 'report @' 'run -- @' 'create @/x.npy --shape 4'; do
        set -- $line
        refuses 2 'no?ne?.npy.*: .' "${@/@/$odd}"
    done
    ! "$weir" "$odd" 2>../err && [ "$(cat ../err)" = 'weir: no command is called no?ne?.npy; see weir --help' ] ||
        fail "$(cat ../err)"
}

every_command_has_lines
run_parts 'bad_inputs 1 none folder hello' 'bad_inputs 1 short denied' 'bad_inputs 2 none' \
    'bad_inputs 3 short' 'full_disk 1' 'full_disk 2' closed_pipe many odd_names

#!/bin/bash
# Help: every subcommand tells what it takes, and its examples work; what is made of the same table:
# manual pages, completion, words that are nearest to a misspelt one.
# usage: test_help.sh WEIR PROGRAM LAUNCHER...   PROGRAM does MPI-IO
set -eu
weir=$1 program=$2
shift 2
. "$(dirname "$0")/harness.sh" "$weir" "$@"
commands=$("$weir" help --names)
[ "$(echo "$commands" | wc -l)" -gt 10 ] || { echo "help names only: $commands"; exit 1; }

# What examples have at hand.
make_folder() {
    mkdir "$work/shims" "$work/home" "$work/folder"
    printf '#!/bin/sh\nshift\nexec %s "$@"\n' "$launcher" >"$work/shims/mpirun" # -n 2 weir ...
    chmod +x "$work/shims/mpirun"
    ln -s "$weir" "$work/shims/weir"
    PATH=$work/shims:$PATH
    cd "$work/folder"
    weir create a.npy --shape 1000,600 --random 1
    weir create b.npy --shape 600,400 --random 2
    weir create cube.npy --shape 32,48,64 --dtype f4 --random 3
    weir create set --shape 4,4 --grid 2,2 --iota
    weir create x.zarr --shape 64,64 --dtype f4 --chunk 32,32 --codec zstd:3 --random 4
    weir create x.h5:/data --shape 100,100 --random 5
    WEIR_TRACE=trace mpirun -n 2 weir transpose a.npy t.npy
    rm t.npy
    cp "$program" program
}

# One after the other, as who tries them does, in a copy: they change things.
examples_of() {
    "$weir" $1 --help | sed -n '/^examples$/,$s/^  //p' >"$work/examples.$1"
    [ "$(grep -c . "$work/examples.$1")" -ge 2 ] || fail "$1: fewer than two examples"
    cp -r "$work/folder" "$work/copy.$1"
    cd "$work/copy.$1"
    while read -r line; do
        HOME=$work/home bash -c "set -o pipefail; $line" >../out.$1 2>../err.$1 </dev/null ||
            fail "$line: status $?: $(head -5 ../err.$1)"
    done <"$work/examples.$1"
    rm -rf "$work/copy.$1"
}

# A line for each option, whole words, in any width; the same in the manual page.
form_of() {
    for columns in 40 80 200; do
        COLUMNS=$columns "$weir" $1 --help >"$work/$1.$columns"
        grep -q "^usage: weir $1" "$work/$1.$columns" || fail "$1: no usage"
        ! sed '/^usage/d; /^  *-/d; /^examples$/,$d' "$work/$1.$columns" | grep ".\{$((columns + 1))\}" ||
            fail "$1: a line is longer than $columns"
    done
    [ "$(tr -s ' \n' ' ' <"$work/$1.40")" = "$(tr -s ' \n' ' ' <"$work/$1.200")" ] ||
        fail "$1: help depends on the width"
    "$weir" help --man $1 >"$work/$1.man"
    grep -q '^\.TH "WEIR-' "$work/$1.man" || fail "$1: no manual page"
    [ "$(grep -c '^  *-' "$work/$1.200")" = "$(grep -c '^\.B .*\\-\\-' "$work/$1.man")" ] ||
        fail "$1: options of help and manual page differ"
    cmp -s "$work/$1.80" <("$weir" help $1) || fail "$1: weir help $1 is another text"
}

part_of_examples() {
    ranks=2
    for command; do examples_of $command; done
}

part_of_forms() {
    ranks=1
    for shell in bash zsh fish; do "$weir" completion $shell >"$work/completion.$shell"; done
    for command in $commands; do
        form_of $command
        for shell in bash zsh fish; do
            grep -q "\<$command\>" "$work/completion.$shell" || fail "$command: not completed by $shell"
        done
    done
    # An option means the same wherever it is: a letter is one name's, and a name takes a value or none.
    {
        cat "$work"/*.200 | sed -n 's/^  -\([a-zA-Z]\), \(--[a-z-]*\).*/\1 \2/p'
        cat "$work"/*.200 | sed 's/^  -., /  /' |
            sed -n 's/^  \(--[a-z-]*\) [^ ].*/\1 VALUE/p; s/^  \(--[a-z-]*\)\(  .*\)\?$/\1/p'
    } | sort -u | cut -d ' ' -f 1 | uniq -d >"$work/twice"
    [ ! -s "$work/twice" ] || fail "two meanings: $(cat "$work/twice")"
    "$weir" completion bash | bash -n
    [ "$("$weir" | md5sum)" = "$("$weir" --help | md5sum)" ] || fail "weir alone"
    ! "$weir" >/dev/null || fail "weir alone is no success"
    ! "$weir" --help | grep -q "$(printf '\033')" || fail "colours in a pipe"
}

# What was said, and what must be suggested.
part_of_words() {
    ranks=1
    prepare words
    while IFS='|' read -r said meant; do
        "$weir" $said 2>err && fail "$said: is accepted" || status=$?
        [ $status = 2 ] && grep -q "perhaps .*$meant" err || fail "$said: status $status: $(cat err)"
    done <<END
trasnpose|weir transpose
tranpose|weir transpose
inf|weir info
convrt|weir convert
list|weir ls
delete|weir rm
move|weir mv
plot|weir view
mean|weir reduce
size|weir du
--versoin|weir --version
--hlep|weir --help
ls --hepl|--help
completion --hlep|--help
get a.npy --ouput=x|--output
create x.npy --shpe 3|--shape
create x.npy --overwite|--overwrite
END
    for said in xyzzy v -v -x; do
        "$weir" $said 2>err || :
            grep -q "^weir: .* $said; see weir --help" err || fail "$(cat err)"
    done
    for said in 'create x.npy --op 3' 'get a.npy --sctn'; do
        ! "$weir" $said 2>err && ! grep perhaps err || fail "$said: $(cat err)"
    done
    refuses 2 'takes no value' create x.npy --shape=3 --iota=1
    refuses 2 'needs a value' create x.npy --shape
    "$weir" create ./-x.npy --shape=3 --iota
    "$weir" get -- ./-x.npy | grep -q 2 || fail "-- ends options"
}

# Under a launcher one process tells, whatever needs no MPI.
part_of_launchers() {
    ranks=3
    prepare launched
    while read -r said; do
        "$weir" $said >one 2>one.err || :
        run $said >all 2>all.err </dev/null || :
        grep '^weir ' all.err >told || :
        cmp one all && cmp one.err told || fail "$said: $(cat all all.err)"
    done <<END
help ls
--help
--version
ls --help
completion bash
completion zsh fish
help ls ls
run --dry-run -q -- true
run --quick
END
}

ranks=1
make_folder
set -- $commands
part=$((($# + 3) / 4))
run_parts "part_of_examples ${*:1:part}" "part_of_examples ${*:part+1:part}" "part_of_examples ${*:2*part+1:part}" \
    "part_of_examples ${*:3*part+1}" part_of_forms part_of_words part_of_launchers

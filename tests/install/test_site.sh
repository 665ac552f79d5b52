#!/bin/sh
# What an administrator gets with an installation: the plain name of the command, manual pages,
# completion in three shells, module files, weir run, and the recipe for Spack.
# usage: test_site.sh SOURCE BUILD MPI PROGRAM, an MPI-IO program that takes a file
set -eu
source=$1 build=$2 mpi=$3 program=$4
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "$1"; cat "$work/out" "$work/err" 2>/dev/null || :; exit 1; }
install() { # COMPONENT...
    for component; do
        cmake --install "$build" --prefix "$work/prefix" --component $component >/dev/null
    done
}
prefix=$work/prefix bin=$work/prefix/bin
export HOME="$work"

test_names() {
    [ "$(readlink "$bin/weir")" = "weir.$mpi" ] || fail "the plain name"
    "$bin/weir" --version | grep -q " $mpi\$" || fail "the plain name does not run"
    # the one that came first stays
    ln -sf weir.other "$bin/weir"
    install links
    [ "$(readlink "$bin/weir")" = weir.other ] || fail "the plain name was taken over"
    ln -sf "weir.$mpi" "$bin/weir"
    PATH=$bin:$PATH weir run --log-level info -- "$program" "$work/file" >"$work/out" 2>"$work/err" || fail "weir run"
    grep -q "MPI-IO by weir.*: $prefix/.*/*libweir_mpiio_$mpi.so" "$work/err" &&
        grep -q '^weir: info: MPI-IO by weir' "$work/err" || fail "weir run does not serve"
}

# Of every command, without a warning; man finds them by PATH.
test_pages() {
    "$bin/weir" help --names >"$work/commands"
    [ "$(grep -c . "$work/commands")" -gt 10 ] || fail "no commands"
    for page in weir $(sed 's/^/weir-/' "$work/commands"); do
        groff -man -Tutf8 -ww "$prefix/share/man/man1/$page.1" >"$work/page" 2>"$work/err" || fail "$page"
        [ ! -s "$work/err" ] && grep -q "^WEIR.*(1)" "$work/page" || fail "$page"
    done
    found=$(env -u MANPATH PATH="$bin:$PATH" man -w weir-get) || fail "man finds no weir-get"
    [ "$found" = "$prefix/share/man/man1/weir-get.1" ] || fail "man finds $found"
}

# A shell, as users have it, offers these words after those.
test_bash() {
    cat >"$work/complete.bash" <<'SH'
. /usr/share/bash-completion/bash_completion
offer() { # of the command $1 the last word of the line
    COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMP_LINE="$*" COMP_POINT=${#COMP_LINE}
    COMPREPLY=()
    _completion_loader "$1"
    "$(complete -p "$1" | sed 's/.*-F \([^ ]*\) .*/\1/')"
    echo "${COMPREPLY[@]}"
}
offer weir tr
offer weir run --dr
offer "weir.$1" run --log-level de
SH
    XDG_DATA_DIRS=$prefix/share bash "$work/complete.bash" "$mpi" >"$work/out" 2>"$work/err"
    printf 'transpose\n--dry-run\ndebug\n' | cmp -s - "$work/out" || fail bash
}
test_fish() {
    PATH=$bin:$PATH XDG_DATA_DIRS=$prefix/share fish -c "complete -C 'weir tr'; complete -C 'weir run --dr'
        complete -C 'weir.$mpi run --log-level de'" >"$work/out" 2>"$work/err"
    cut -f 1 "$work/out" | tr '\n' ' ' | grep -q '^transpose --dry-run debug $' || fail fish
}
test_zsh() {
    cat >"$work/complete.zsh" <<'SH'
zmodload zsh/zpty
zpty shell zsh -f -i
settle() { # what it prints until it is done
    local line all=
    while zpty -r -m shell line "*$1*"; do all+=$line; [[ $line == *$1* ]] && break; done
    print -r -- $all
}
zpty -w shell "PS1= fpath=($1 \$fpath); autoload -U compinit; compinit -u -D
zstyle ':completion:*' insert-tab false; echo read''y" # what is typed behind does not make a tab of it
settle ready >/dev/null
for words in "weir tr" "weir run --dr" "weir.$2 run --log-level de"; do
    zpty -w -n shell "$words"$'\t'
    zpty -w shell ' ; echo end""ed'
    settle ended
done
SH
    timeout 30 zsh -f "$work/complete.zsh" "$prefix/share/zsh/site-functions" "$mpi" >"$work/out" 2>"$work/err" || fail zsh
    for word in 'weir transpose' 'weir run --dry-run' '--log-level debug'; do
        grep -q -- "$word" "$work/out" || fail "zsh: no $word"
    done
}

test_modules() {
    for command in /usr/lib/*/modulecmd.tcl; do :; done
    export MODULEPATH="$prefix/share/modulefiles"
    for name in weir weir-mpiio; do
        tclsh "$command" sh load "$name/$(version)-$mpi" >"$work/out" 2>"$work/err" || fail "module load $name"
        ! grep -qi error "$work/err" || fail "module load $name"
        cat "$work/out" >>"$work/loaded"
    done
    tclsh "$command" sh whatis weir 2>&1 | grep -q "for $mpi" || fail "module whatis"
    (
        . "$work/loaded"
        [ "$(command -v weir)" -ef "$bin/weir.$mpi" ] || fail "module: weir is $(command -v weir)"
        case $LD_PRELOAD in *"/libweir_mpiio_$mpi.so") [ -e "$LD_PRELOAD" ] ;; *) false ;; esac || fail "module: preload"
        pkg-config --exists "weir-$mpi" || fail "module: pkg-config"
    )
}
version() { sed -n 's/#define WEIR_VERSION "\(.*\)"/\1/p' "$source/include/weir/version.h"; }

install library command common links dev
test_names
processes= status=0
for part in pages bash fish zsh modules; do
    mkdir "$work/$part"
    (work=$work/$part && test_$part) &
    processes="$processes $!"
done
for process in $processes; do
    wait $process || status=1
done
[ $status = 0 ] || exit 1
/usr/bin/python3 "$source/tests/install/spack_recipe.py" "$source"

#!/bin/sh
# weir doctor, alone and on several ranks, and what it says to bad input.
# usage: test_doctor.sh WEIR LAUNCHER...
set -eu
weir=$1
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "$1"; exit 1; }

# One line on standard error, nothing on standard output, exit status 2.
refuses() {
    text=$1
    shift
    status=0
    "$@" >"$work/out" 2>"$work/err" || status=$?
    [ $status = 2 ] || fail "$*: exit status $status"
    [ "$(grep -c . "$work/err")" = 1 ] && grep -q -- "$text" "$work/err" || fail "$*: $(cat "$work/err")"
    [ ! -s "$work/out" ] || fail "$*: printed $(cat "$work/out")"
}

"$weir" doctor "$work" >"$work/report"
for line in weir MPI threads ranks meeting folder io_uring O_DIRECT cached 'will use'; do
    grep -q "^$line " "$work/report" || fail "no line $line: $(cat "$work/report")"
done
[ "$(ls "$work" | wc -l)" = 1 ] || fail "left behind: $(ls -a "$work")"
# Of several processes that another MPI's launcher has started, each is alone.
if [ -n "${OMPI_ALLOW_RUN_AS_ROOT:-}" ]; then
    refuses 'started 3 times by the launcher of another MPI' env PMI_SIZE=3 PMI_RANK=0 "$weir" doctor "$work"
fi
"$@" 2 "$weir" doctor "$work" >"$work/report"
grep -q '^ranks *2 on 1 node' "$work/report" || fail "two ranks: $(cat "$work/report")"
# For programs: one object in a line, whatever the folder is called.
odd=$(printf '%s/a "\\ \377 folder' "$work")
mkdir "$odd"
"$@" 2 "$weir" doctor --json "$odd" >"$work/report"
/usr/bin/python3 - "$work" <<'PY' || fail "JSON: $(cat "$work/report")"
import json, sys
[line] = open(sys.argv[1] + "/report", encoding="utf-8")
found = json.loads(line)
assert found["ranks"] == 2 and found["nodes"] == 1 and found["folder"] == sys.argv[1] + '/a "\\ \ufffd folder'
assert found["cached"]["write"]["mb_per_s"] > 0 and found["will_use"]["storage"]
assert (found["direct"] is not None) == found["o_direct"]
PY
rmdir "$odd"
WEIR_RANKS_PER_NODE=1 "$@" 2 "$weir" doctor "$work" >"$work/report"
grep -q '^ranks *2 on 2 nodes' "$work/report" || fail "two nodes: $(cat "$work/report")"
# Cores are those of the node's ranks together, wherever each is bound.
if taskset -c 0 true 2>/dev/null && taskset -c 1 true 2>/dev/null; then
    cat >"$work/bound" <<'SH'
#!/bin/sh
exec taskset -c "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" "$@"
SH
    chmod +x "$work/bound"
    "$@" 2 "$work/bound" "$weir" doctor "$work" >"$work/report"
    [ "$(nproc)" = 1 ] || grep -q '^ranks.* 2 cores' "$work/report" || fail "bound: $(cat "$work/report")"
fi
WEIR_STORAGE=posix "$weir" doctor "$work" | grep -q 'storage=posix' || fail "storage=posix"
WEIR_WINDWO=4K "$@" 2 "$weir" doctor "$work" >"$work/report" 2>"$work/err"
[ "$(grep -c 'WEIR_WINDWO.*WEIR_WINDOW?' "$work/err")" = 1 ] || fail "misspelt: $(cat "$work/err")"
"$weir" --version | grep -q '^weir [0-9]' || fail "version"
"$weir" --help | grep -q 'doctor' || fail "help"
# Many at once: alone they have nothing in common.
for worker in 1 2 3 4; do
    (for i in 1 2 3 4 5 6; do "$weir" plan --array 4 --section 1 >/dev/null || touch "$work/lost"; done) 2>>"$work/err" &
done
wait
[ ! -e "$work/lost" ] || fail "many at once: $(head -n 20 "$work/err")"
# Alone it starts no other program, such as Open MPI's daemon.
if strace -o "$work/programs" -f -qq -e trace=execve true 2>/dev/null; then
    env -i PATH="$PATH" strace -o "$work/programs" -f -qq -e trace=execve "$weir" doctor "$work" >/dev/null
    [ "$(grep -c execve "$work/programs")" = 1 ] || fail "other programs: $(cat "$work/programs")"
fi
# Nothing is written into a folder to read from it, what reading costs is found out by the way.
mkdir "$work/data"
"$weir" create "$work/data/a.npy" --shape 512,512 --iota
export WEIR_COSTS_FOLDER="$work/costs"
if strace -o "$work/programs" -qq true 2>/dev/null; then
    "$@" 2 strace -ff -y -qq -e trace=file -o "$work/calls" "$weir" reduce "$work/data/a.npy" >/dev/null
    cat "$work"/calls.* | grep "$work/data" >"$work/found" || fail "no calls were seen"
    ! grep -v 'O_RDONLY\|O_PATH\|^[a-z]*stat\|^statx\|^access\|^readlink\|^execve\|^getxattr' "$work/found" ||
        fail "written to read"
fi
if unshare -m true 2>/dev/null; then
    unshare -m sh -c 'mount --bind "$1" "$1" && mount -o remount,bind,ro "$1" && shift && exec "$@"' sh "$work/data" \
        "$weir" reduce "$work/data/a.npy" >/dev/null || fail "read-only folder"
fi
unset WEIR_COSTS_FOLDER
[ "$(ls -A "$work/data")" = a.npy ] || fail "left: $(ls -A "$work/data")"
refuses 'no command is called nonsense' "$weir" nonsense
refuses 'No such file' "$weir" doctor "$work/none"
refuses 'one folder at most' "$weir" doctor a b
refuses 'perhaps --json' "$weir" doctor --jsno
refuses 'No such file' "$weir" doctor --json "$work/none"
refuses 'window=wide: must be a size' env WEIR_WINDOW=wide "$weir" doctor "$work"
refuses 'no tunable is called speed' env WEIR_HINTS=speed=high "$weir" doctor "$work"

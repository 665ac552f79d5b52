#!/bin/sh
# All ranks of one host are killed in the middle of collective writes: the others end in time, what
# was in the file's place is as it was, and nothing but the unfinished array is left; for tools/cluster
# --script. usage: killed_host.sh COLLECTIVE_WRITER
set -u
writer=$1
cd "$CLUSTER_SHARED" || exit
fail() { echo "killed_host: $1"; exit 1; }
run() { $CLUSTER_RUN "$writer" "$@"; }
# soon SECONDS COMPLAINT COMMAND...
soon() {
    tries=$(($1 * 20)) wanted=$2
    shift 2
    until "$@"; do
        tries=$((tries - 1))
        [ $tries -gt 0 ] || { cat "$marks/log"; fail "$what: $wanted"; }
        sleep 0.05
    done
}
told() { [ "$(cat "$1"/host* 2>/dev/null | wc -l)" = 4 ]; }
gone() {
    for pid in $(cat "$1"/host*); do kill -0 "$pid" 2>/dev/null && return 1; done
    return 0
}

run make old.npy || fail "make"
for what in array door; do
    marks=$CLUSTER_TOOLS/$what
    mkdir "$marks"
    run $what old.npy "$marks" >"$marks/log" 2>&1 &
    job=$!
    soon 30 "no writes" told "$marks"
    sleep 0.2
    kill -9 $(cat "$marks"/host2-*)
    soon 20 "others go on, or wait for ever" gone "$marks"
    wait $job && fail "$what: nobody was killed"
    grep "not true\|in time" "$marks/log" && fail "$what: see above"
done
run check old.npy || fail "after that"
ls | grep -v '^old.npy\(.partial-[^/]*\|-blocks\)\?$' && fail "left behind"
[ "$(ls -d old.npy.partial-* | wc -l)" = 1 ] || fail "unfinished arrays: $(ls)"

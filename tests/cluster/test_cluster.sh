#!/bin/sh
# What tools/cluster promises: a program has its arguments, folder, input and exit status; hosts
# have their own memory and links; a machine that cannot do it says so in one line, with status 77;
# and nothing is left behind, in whatever way it ends. usage: test_cluster.sh CLUSTER MPI LINK_SPEED
set -eu
tool=$(realpath "$1") mpi=$2 link_speed=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "test_cluster: $1"; exit 1; }
run() { timeout 60 "$tool" "$@"; }
run 1 1 --mpi "$mpi" true || exit

# --- what a program sees ---

test_program() {
    mkdir "$work/a folder"
    cd "$work/a folder"
    status=0
    echo input | run 1 1 --mpi "$mpi" sh -c 'cat; pwd; for a; do echo "<$a>"; done; exit 5' \
        sh 'a  b' '*' '' >../got 2>../said || status=$?
    [ $status = 5 ] || fail "status $status, not 5: $(cat ../said)"
    printf '%s\n' input "$PWD" '<a  b>' '<*>' '<>' | diff - ../got || fail "it sees other things"
    cd ..
    status=0
    run 1 1 --mpi "$mpi" --script sh -c 'kill -9 $$' || status=$?
    [ $status = 137 ] || fail "status $status, not that of SIGKILL"
}

# In blocks of ranks; memory and its size are each host's own.
test_hosts() {
    run 8 16 --mpi "$mpi" --shm 1m sh -c '
        [ $(df -k /dev/shm | sed "1d;s/[^ ]* *//;s/ .*//") = 1024 ] || echo "size of /dev/shm"
        mkdir /dev/shm/$(hostname) || :
        sleep 0.2
        [ $(ls -d /dev/shm/host* | wc -l) = 1 ] || echo "the same /dev/shm"
        hostname' >"$work/hosts" 2>/dev/null
    for host in 1 2 3 4 5 6 7 8; do printf "host$host\nhost$host\n"; done |
        sort | (sort "$work/hosts" | diff - /dev/fd/3) 3<&0 || fail "hosts of ranks"
}

test_links() {
    run 2 2 --mpi "$mpi" --rate 100mbit "$link_speed" >"$work/rate"
    speed=$(sed 's/.* us, \(.*\) MB.*/\1/' "$work/rate")
    [ "$speed" -lt 30 ] || fail "100mbit are $(cat "$work/rate")"
    run 2 2 --mpi "$mpi" --script sh -c 'cd "$CLUSTER_TOOLS"; ./on 2 hostname; ./on 3 true' \
        >"$work/on" 2>&1 || :
    printf '%s\n' host2 'there is no host 3' | diff - "$work/on" || fail "on HOST"
}

# --- where it cannot be ---

# skips TEXT COMMAND...
skips() {
    text=$1 status=0
    shift
    timeout 60 "$@" >"$work/out" 2>"$work/err" || status=$?
    [ $status = 77 ] && [ "$(wc -l <"$work/err")" = 1 ] && [ ! -s "$work/out" ] &&
        grep -q "not on this machine: .*$text" "$work/err" ||
        fail "$*: $status: $(cat "$work/out" "$work/err")"
}
test_skips() {
    chmod 755 "$work"
    cp "$tool" "$work/cluster"
    mkdir "$work/bin"
    for command in env python3 mount; do ln -s /usr/bin/$command "$work/bin"; done
    skips 'no command ip' env "PATH=$work/bin" "$tool" 1 1 true
    skips 'need root' setpriv --reuid 65534 --clear-groups \
        env PATH=/usr/bin:/bin "$work/cluster" 1 1 true
    skips 'namespaces: ' setpriv --bounding-set -sys_admin "$tool" 1 1 true
    [ "$mpi" = openmpi ] || return 0
    skips 'GlusterFS mount' unshare --mount sh -c \
        'mount --bind /dev/null /dev/fuse && exec "$@"' sh "$tool" 2 2 --fs gluster true
    tc qdisc add dev lo root netem delay 1us 2>/dev/null && tc qdisc del dev lo root ||
        skips 'netem' "$tool" 1 1 --delay 20us true
}

# --- what is left ---

# ends SIGNAL WHEN FS: that signal, after some seconds, or as soon as the program runs; an
# interrupt comes to the whole group, as from a terminal.
ends() {
    name=$1-$2-$3
    [ "$1" = INT ] && group=- || group=
    CLUSTER_MARK=$work/$name setsid "$tool" 2 2 --mpi "$mpi" --fs "$3" \
        sh -c "touch '$work/$name'; exec sleep 20" >/dev/null 2>&1 &
    cluster=$!
    tries=0
    until [ "$2" != running ] || [ -e "$work/$name" ]; do
        tries=$((tries + 1))
        [ $tries -lt 300 ] || fail "$name: it does not start"
        sleep 0.1
    done
    [ "$2" = running ] || sleep "$2"
    kill -s "$1" -- "$group$cluster"
    status=0
    wait $cluster || status=$?
    [ $status -gt 128 ] && [ "$(kill -l $status)" = "$1" ] || fail "$name: status $status"
    none_left "$name"
}

# Processes by a mark in their environment. A namespace lives as long as a process or a mount in it.
none_left() {
    tries=0
    while others=$(grep -lsz "^CLUSTER_MARK=$work/$1\$" /proc/[0-9]*/environ | grep -v "/$$/"); do
        tries=$((tries + 1))
        [ $tries -lt 100 ] || fail "$1: left behind: $others"
        sleep 0.1
    done
}
test_ends() {
    for signal in KILL INT TERM HUP; do
        ends $signal running local
    done
    for when in 0.1 0.3; do
        ends KILL $when local
        ends TERM $when local
    done
}
test_storage_ends() {
    ends TERM 0.7 gluster
    ends INT running gluster-strict
    ends KILL running gluster
}
test_files() {
    find /run /var/lib/glusterd /var/log/glusterfs -name '*luster*' -newer "$work/stamp" 2>/dev/null || :
    find /tmp -maxdepth 1 -name '*.host[0-9]*' -newer "$work/stamp"
    grep -E 'luster|nsfs.*weir' /proc/self/mounts || :
    ls /sys/class/net | grep weir || :
}

touch "$work/stamp"
parts="program hosts links skips ends"
[ "$mpi" = openmpi ] && parts="$parts storage_ends"
processes= status=0
for part in $parts; do
    test_$part &
    processes="$processes $!"
done
for process in $processes; do
    wait "$process" || status=1
done
left=$(test_files)
[ -z "$left" ] || fail "left behind: $left"
exit $status

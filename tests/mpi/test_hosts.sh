#!/bin/sh
# Programs on two hosts: network namespaces with addresses, names and shared memory of their own.
# usage: test_hosts.sh MPIRUN RANKS PROGRAM...
# Exit status 77: this machine does not allow namespaces.
set -eu
mpirun=$1
ranks=$2
shift 2
name=weir$$
net=10.213.$(($$ % 250)).
work=$(mktemp -d)
clean() {
    ip netns del "$name-a" 2>/dev/null || :
    ip netns del "$name-b" 2>/dev/null || :
    rm -rf "$work"
}
trap clean EXIT
skip() {
    echo "skipped: $1"
    exit 77
}
[ "$(id -u)" = 0 ] || skip "namespaces need root"
command -v ip >/dev/null || skip "there is no ip command"
ip netns add "$name-a" 2>/dev/null || skip "network namespaces are not allowed"
ip netns add "$name-b"
ip link add wa$$ netns "$name-a" type veth peer name wb$$ netns "$name-b" 2>/dev/null ||
    skip "virtual links are not allowed"
for end in a:1 b:2; do
    host=${end%:*}
    ip -n "$name-$host" addr add "$net${end#*:}/24" dev "w$host$$"
    ip -n "$name-$host" link set "w$host$$" up
    ip -n "$name-$host" link set lo up
done
# A command on a host: nothing but the files is shared.
cat >"$work/on" <<SH
#!/bin/sh
host=\$1
shift
exec ip netns exec $name-\$host unshare --mount --uts --ipc sh -c '
    mount -t tmpfs tmpfs /dev/shm && hostname weir-'\$host' && exec "\$@"' sh "\$@"
SH
# What mpirun starts on the other host.
cat >"$work/agent" <<SH
#!/bin/sh
while [ "\${1#10.}" = "\$1" ]; do shift; done
shift
exec $work/on b sh -c "\$*"
SH
chmod +x "$work/on" "$work/agent"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
"$work/on" a "$mpirun" --mca plm_rsh_agent "$work/agent" --mca plm_rsh_no_tree_spawn 1 \
    --mca btl self,vader,tcp --mca btl_tcp_if_include "${net}0/24" \
    --mca oob_tcp_if_include "${net}0/24" --mca pml ob1 --oversubscribe --bind-to none \
    --host "${net}1:$ranks,${net}2:$ranks" --map-by node -n "$ranks" "$@"

#!/bin/sh
# Where shared memory is short, cannot be had, or was left by killed ranks, nothing fails, and nothing stays.
# usage: full_region.sh shm|folder|killed|apart WEIR LAUNCHER... RANKS PROGRAM
# Skipped where nothing can be mounted.
set -u
if [ "${FULL_REGION_INSIDE-}" = "" ]; then
    unshare -m true 2>/dev/null || { echo "cannot have mounts of its own here"; exit 77; }
    FULL_REGION_INSIDE=yes exec unshare -m "$0" "$@"
fi
part=$1 weir=$2
shift 2
work=$(mktemp -d)
trap 'cd /; umount -l "$work/memory" 2>/dev/null; rm -rf "$work"' EXIT
mkdir "$work/memory" "$work/kept"
cd "$work" || exit 1
fail() { echo "$1"; exit 1; }

# with FOLDER OPTIONS COMMAND...: where a tmpfs with these options is mounted.
with() {
    folder=$1 options=$2
    shift 2
    mount -t tmpfs -o "$options" tmpfs "$folder" || { echo "cannot mount a tmpfs here"; exit 77; }
    timeout 150 "$@" >out 2>&1
    status=$?
    left=$(ls "$folder")
    umount -l "$folder" # MPI's daemon may still be there
    [ $status = 0 ] || fail "$folder with $options: $* ended with $status: $(cat out)"
    [ -z "$left" ] || fail "$folder with $options: $* left $left"
}

# What MPI itself shares lies elsewhere, of which only Open MPI can be told.
in_shm() {
    export OMPI_MCA_btl_vader_backing_directory="$work"
    "$weir" create a.npy --shape 10,10 >/dev/null || fail "weir create"
    with /dev/shm size=4k "$weir" info a.npy
    with /dev/shm ro "$weir" info a.npy
    with /dev/shm size=64m "$@" many 12
    with /dev/shm ro "$@" many 3
}

in_folder() {
    export WEIR_REGION_FOLDER="$work/memory"
    with "$work/memory" size=64m "$@" many 12
    with "$work/memory" size=3m "$@" many 3   # smaller windows
    with "$work/memory" size=600k "$@" many 3 # no memory for windows
    with "$work/memory" ro "$@" many 3
    unset WEIR_REGION_FOLDER
    "$@" many 3 3000000 >out 2>&1 || fail "files of 3 MB at most: $(cat out)"
    "$@" many 3 1200000 >out 2>&1 || fail "files of 1.2 MB at most: $(cat out)"
}

# An unnamed segment leaves nothing; a file is removed by the next who makes one; so is a pointer.
in_time() {
    "$@" killed >out 2>&1 && fail "was to be killed"
    ls /dev/shm | grep weir-region && fail "left in /dev/shm"
    export WEIR_REGION_FOLDER="$work/kept"
    "$@" killed >out 2>&1
    [ "$(ls kept | wc -l)" = 1 ] || fail "nothing was left: $(ls kept)"
    "$@" many 1 >out 2>&1 || fail "after a kill: $(cat out)"
    [ -z "$(ls kept)" ] || fail "left for good: $(ls kept)"
    export WEIR_RANKS_PER_NODE=1
    "$@" pointer killed >out 2>&1 && fail "was to be killed"
    [ "$(ls | grep -c 'full-region-pointer\.')" = 1 ] || fail "no pointer was left: $(ls)"
    "$@" pointer >out 2>&1 || fail "pointer: $(cat out)"
    [ -z "$(ls | grep full-region-pointer)" ] || fail "left for good: $(ls)"
}

# Ranks that MPI calls one node, each in a container of its own: memory without a name is nobody else's, and
# what has a name is where all see one /dev/shm. MPI itself goes by TCP.
# contained FIRST SIZE: with a /dev/shm of that size, where each rank does FIRST before it starts.
contained() {
    export BEFORE="$1"
    with /dev/shm "size=$2" $launcher "$work/contained" many 2
    grep -q '4 ranks, 2 files' out || fail "did nothing: $(cat out)"
}
in_containers() {
    all="$*" alone="cannot .* shared memory: the ranks of a node exchange messages"
    launcher=${all% *}
    unshare -m -p -f --mount-proc true 2>/dev/null || { echo "no processes of its own here"; exit 77; }
    export OMPI_MCA_btl=self,tcp OMPI_MCA_pml=ob1 WEIR_LOG=warning WEIR_AGGREGATORS=16
    cat >contained <<SH
#!/bin/sh
exec unshare -m -p -f --mount-proc --kill-child sh -c 'eval "\$BEFORE"; exec "\$@"' sh "${all##* }" "\$@"
SH
    chmod +x contained
    contained : 64m
    grep -q "$alone\| 0.0 MiB shared" out && fail "one /dev/shm was not used: $(cat out)"
    contained : 8m # smaller windows
    grep -q "$alone\| [01]\.[0-9] MiB shared" out && fail "a small /dev/shm was not used: $(cat out)"
    contained 'mount -t tmpfs tmpfs /dev/shm' 64m
    [ "$(grep -c "$alone" out)" = 1 ] || fail "not said once: $(cat out)"
    export WEIR_REGION_FOLDER="$work/none"
    contained : 64m
    [ "$(grep -c "$alone" out)" = 1 ] || fail "not said once: $(cat out)"
}

case $part in
shm) in_shm "$@" ;;
folder) in_folder "$@" ;;
killed) in_time "$@" ;;
apart) in_containers "$@" ;;
esac

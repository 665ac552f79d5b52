#!/bin/sh
# A power failure right after a command has returned 0. An image of a mounted file system holds what
# that has sent to its device so far; a copy is mounted as after the crash, and the new array is
# there, whole. usage: test_crash.sh WEIR LAUNCHER...
set -eu
# In a mount namespace of its own: one that another process makes meanwhile would keep the image
# mounted, and XFS mounts no copy beside it.
if [ -z "${CRASH_INSIDE-}" ]; then
    unshare -m true 2>/dev/null || { echo 'cannot have mounts of its own here'; exit 77; }
    CRASH_INSIDE=yes exec unshare -m "$0" "$@"
fi
weir=$1
shift
launcher=$*
work=$(mktemp -d)
unset WEIR_DURABLE # which other tests do without
skip() { echo "$1"; exit 77; }
fail() { echo "$system: $1"; exit 1; }
leave() {
    umount "$work/now" 2>"$work/none" || true
    rm -rf "$work"
}
trap leave EXIT
mkdir "$work/now"

mount_image() {
    rm -f "$work/image"
    truncate -s 320M "$work/image"
    command -v mkfs.$system >"$work/log" && mkfs.$system -q "$work/image" >>"$work/log" 2>&1 &&
        mount -o loop "$work/image" "$work/now" 2>>"$work/log"
}

# Arguments: the value of all elements and the place of an array, and the command that makes it. The
# copy is mounted in place of the image: disks are known by where they are.
outlasts() {
    wanted=$1 path=$2
    shift 2
    (cd "$work/now" && "$@") >"$work/told" 2>&1 || fail "$*: $(cat "$work/told")"
    cp --sparse=always "$work/image" "$work/copy"
    umount "$work/now"
    mount -o loop "$work/copy" "$work/now" || fail 'the copy cannot be mounted'
    "$weir" reduce "$work/now/$path" >"$work/told" 2>&1 || fail "after a crash, $*: $(cat "$work/told")"
    grep -q "^max *$wanted$" "$work/told" && grep -q "^min *$wanted$" "$work/told" ||
        fail "after a crash, $*: not $wanted: $(cat "$work/told")"
    umount "$work/now"
    mount -o loop "$work/image" "$work/now"
    ! ls "$work/now" | grep partial || fail "$*: left behind"
}

tried=
for system in ext4 xfs btrfs; do
    mount_image || { echo "$system is not tried: $(tail -1 "$work/log")"; continue; }
    tried=$system
    outlasts 3 a.npy "$weir" create a.npy --shape 400,500 --fill 3
    outlasts 4 a.npy "$weir" create a.npy --shape 500,400 --fill 4 --overwrite
    outlasts 4 set "$weir" convert a.npy set --grid 2,2
    outlasts 5 set "$weir" create set --shape 300,300 --fill 5 --grid 1,3 --disks d:e --overwrite
    outlasts 6 set "$weir" fill set 6
    outlasts 6 b.npy $launcher 2 "$weir" transpose set b.npy
    umount "$work/now"
done
[ "$tried" ] || skip 'no image can be mounted'

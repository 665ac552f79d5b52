#!/bin/sh
# Debian packages of both flavours, installed beside each other on a copy of this system that is thrown
# away: they serve, either can go first, and nothing is left of them. For MPICH the build that lint makes
# is used, if it is there. usage: test_deb.sh SOURCE BUILD, for Open MPI
set -eu
if [ "${1:-}" != inside ]; then
    source=$(realpath "$1") build=$(realpath "$2")
    command -v dpkg-shlibdeps >/dev/null || { echo "skipped: no dpkg-shlibdeps"; exit 77; }
    [ "$(id -u)" = 0 ] || { echo "skipped: dpkg needs root"; exit 77; }
    work=$(mktemp -d)
    export DPKG_DEB_COMPRESSOR_TYPE=none # time counts here, and not room
    trap 'rm -rf "$work"' EXIT
    cp -r "$source/tests/client/tool_client.c" "$source/examples/strided_section.c" "$work"
    (
        mpich=$source/build/lint-clang
        [ -e "$mpich/bin/weir" ] || { echo "one flavour only: make lint has not built the other"; exit 0; }
        cmake --build "$mpich" --target weir weir_mpiio weir_command weir_hdf5 weir_dra weir_fortran \
            >"$work/mpich.log" 2>&1 || { cat "$work/mpich.log"; exit 1; }
        "$source/packaging/debian/build" "$mpich" mpich library dev command >"$work/mpich"
    ) &
    "$source/packaging/debian/build" "$build" openmpi >"$work/openmpi"
    wait $!
    mkdir "$work/deb" "$work/root"
    for file in $(cat "$work/openmpi" "$work/mpich" 2>/dev/null); do cp "$file" "$work/deb"; done
    status=0
    unshare -m --propagation private "$(realpath "$0")" inside "$work" || status=$?
    exit $status
fi

# --- in a mount namespace of its own: what is written goes to memory ---
work=$2
if [ "${3:-}" != root ]; then
    mount -t tmpfs tmpfs "$work/root"
    cd "$work/root"
    mkdir new scratch system
    mount -t overlay -o "lowerdir=/,upperdir=$PWD/new,workdir=$PWD/scratch" overlay system 2>/dev/null || {
        echo "skipped: no overlay file system"; exit 77; }
    mkdir -p "system$work"
    cp -r "$work"/*.c "$work/deb" "$0" "system$work"
    for folder in proc dev sys; do mount --rbind /$folder system/$folder; done
    rm -f system/var/lib/man-db/auto-update # which takes longer than all the rest
    chroot system "$work/$(basename "$0")" inside "$work" root
    left=$(find new -path "new$work" -prune -o -name '*weir*' ! -name '*.pyc' ! -name __pycache__ -print)
    [ -z "$left" ] || { echo "left behind: $left"; exit 1; }
    exit
fi

# --- on that system ---
cd "$work"
fail() { echo "$1"; cat out 2>/dev/null; exit 1; }
packages() { dpkg "$@" >out 2>&1 || fail "dpkg $*"; }
is_weir() { [ "$(weir --version 2>&1)" = "$(weir."$1" --version)" ] || fail "weir is not that of $1"; }

# serves MPI COMMAND: as a library, and as other programs' MPI-IO
serves() {
    gcc -o "section.$1" strided_section.c $(pkg-config --cflags --libs "weir-$1")
    ldd "section.$1" | grep -q " /lib/libweir_$1\| /usr/lib/libweir_$1" || fail "$1: another library"
    ./section.$1 >out 2>&1 || fail "$1: section"
    "mpicc.$1" -o "client.$1" tool_client.c
    "weir.$1" run --log-level info -- "./client.$1" file >out 2>&1 || fail "$1: weir run"
    grep -q "^weir run: .*: /usr/lib/libweir_mpiio_$1.so" out && grep -q '^weir: info: MPI-IO by weir' out || fail "$1: run"
}
unset PYTHONPATH LD_LIBRARY_PATH PKG_CONFIG_PATH
PATH=/usr/sbin:/usr/bin:/sbin:/bin
dpkg-deb -f deb/weir_*.deb Depends | grep -q 'libweir-openmpi0 (= .*libopenmpi' || fail "what weir needs"
packages -i $(ls deb/*.deb | grep -v mpich)
is_weir openmpi
serves openmpi
PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 - >out 2>&1 <<'PY' || fail "import weir"
import numpy, weir
numpy.save("a.npy", numpy.arange(5))
assert weir.open("a.npy")[2:].tolist() == [2, 3, 4]
PY
weir doctor . >out 2>&1 || fail "doctor"
for file in man/man1/weir-get.1 bash-completion/completions/weir.openmpi zsh/vendor-completions/_weir \
    fish/vendor_completions.d/weir.fish doc/weir/docs/tunables.md; do
    [ -s /usr/share/$file ] || fail "no /usr/share/$file"
done
if ls deb/*mpich* >/dev/null 2>&1; then
    packages -i deb/*mpich*.deb
    is_weir openmpi
    serves mpich
    update-alternatives --set weir /usr/bin/weir.mpich >/dev/null
    is_weir mpich
    update-alternatives --auto weir >/dev/null
    packages --purge weir python3-weir libweir-openmpi-dev libweir-openmpi0
    is_weir mpich
    weir run -q -- ./client.mpich file >out 2>&1 || fail "mpich alone"
    packages --purge weir-mpich libweir-mpich-dev libweir-mpich0
else
    packages --purge weir python3-weir libweir-openmpi-dev libweir-openmpi0
fi
packages --purge libweir-headers weir-common
[ ! -L /usr/bin/weir ] || fail "weir is still there"

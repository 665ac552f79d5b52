#!/bin/sh
# Runs the commands in the documents, and looks for what the documents say they print.
# usage: test_documents.sh GROUP WEIR SOURCE LAUNCHER...
#
# A block ```sh is run as from the project's root after `make`, without lines that call make. Of a
# block ```text right behind it every line but "..." must be found, in this order, in lines that were
# printed. A block ```fortran or ```python that begins with "! PATH" or "# PATH" becomes that file. /tmp becomes a folder of our
# own, so that two builds can be tested at once.
set -eu
group=$1 weir=$2 source=$3
shift 3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

mkdir -p "$work/root/build" "$work/shims"
ln -s "$(dirname "$(dirname "$weir")")" "$work/root/build/openmpi"

# What the documents call mpirun, mpicc and mpifort is this build's. They must work where there are
# fewer cores than ranks.
cat >"$work/shims/mpirun" <<END
#!/bin/sh
case "\$*" in
--oversubscribe\ * | "-n 1 "*) ;;
*) echo "mpirun \$*: --oversubscribe is missing"; exit 1 ;;
esac
while [ "\$1" != -n ]; do shift; done
shift
exec $* "\$@"
END
for compiler in mpicc mpifort; do
    printf '#!/bin/sh\nexec %s.%s "$@"\n' $compiler "${1##*.}" >"$work/shims/$compiler"
done
for config in /usr/lib/*/ga/"${1##*.}"/bin/ga-config; do
    printf '#!/bin/sh\nexec %s "$@"\n' "$config" >"$work/shims/ga-config"
done
chmod +x "$work/shims"/*
PATH="$work/shims:$PATH"

# Cuts a document into $work/NUMBER.sh and, where there is one, NUMBER.text; prints how many.
cut_blocks() {
    sed "s|/tmp/|$work/|g" "$1" | awk -v work="$work" '
        kind && /^```/ { behind = kind == "sh"; kind = ""; next }
        /^```sh$/ { kind = "sh"; name = work "/" ++count ".sh"; printf "" >name; next }
        /^```(fortran|python)$/ { kind = "file"; name = ""; next }
        kind == "file" && !name { name = $2; if (!/^[!#] \//) kind = "other"; else printf "" >name }
        /^```text$/ && behind { kind = "text"; name = work "/" count ".text"; next }
        /^```/ { kind = "other" }
        !kind && NF { behind = 0 }
        kind == "text" || kind == "file" || (kind == "sh" && !/^make/) { print >name }
        END { print kind ? 0 : count + 0 }'
}

# Whether the lines of the first file lie, in order, within lines of the second; prints the first
# that does not.
find_lines() {
    awk 'FNR == NR { if (NF && $0 != "...") wanted[++count] = $0; next }
        at < count && index($0, wanted[at + 1]) { at++ }
        END { if (at < count) { print wanted[at + 1]; exit 1 } }' "$1" "$2"
}

# What makes files runs twice, as readers do it: nothing that the first time has left must be in the way.
check() {
    rm -f "$work"/*.sh "$work"/*.text
    blocks=$(cut_blocks "$source/$1")
    [ "$blocks" -gt 0 ] || { echo "$1: no commands, or a block without an end"; exit 1; }
    for number in $(seq "$blocks") $(cd "$work" && grep -l "$work/" [0-9]*.sh | sed 's/.sh//' | sort -n); do
        script=$work/$number.sh
        (cd "$work/root" && sh -eu "$script") >"$work/out" 2>"$work/err" || {
            echo "$1: exit status $? of:"; cat "$script" "$work/out" "$work/err"; exit 1; }
        [ ! -e "$work/$number.text" ] || find_lines "$work/$number.text" "$work/out" >"$work/missing" || {
            echo "$1: does not print: $(cat "$work/missing")"; cat "$script" "$work/out"; exit 1; }
    done
}

case $group in
first) for document in README.md docs/command.md docs/admin.md; do check $document; done ;;
arrays) for document in arrays formats operators realms plan covers; do check docs/$document.md; done ;;
calls)
    for document in agreement overlap mpi-io mpi-io-differences; do check docs/$document.md; done
    # Global Arrays may not be there; with MPICH they need what docs/dra.md says.
    case $1 in *mpich) export ARMCI_USE_WIN_ALLOCATE=0 ;; esac
    [ ! -e "$work/root/build/openmpi/lib/libweir_dra.a" ] || { check docs/eaf.md; check docs/dra.md; }
    [ ! -e "$work/root/build/openmpi/lib/libweir_fortran.a" ] || check docs/fortran.md
    # mpi4py has Open MPI.
    case $1 in *mpich) exit ;; esac
    [ ! -e "$work/root/build/openmpi/python" ] || check docs/python.md
    ;;
*) echo "no group of documents is called $group"; exit 1 ;;
esac

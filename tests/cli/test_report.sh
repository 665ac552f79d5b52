#!/bin/bash
# weir report: what it says of traces that are made here, as text, JSON and a page, which a browser
# shows; what it says of folders, files and names that are not as they should be.
# usage: test_report.sh WEIR LAUNCHER...
set -eu
. "$(dirname "$0")/harness.sh" "$@"
make_traces() { /usr/bin/python3 "$here/traces.py" "$@"; }
check() { /usr/bin/python3 "$here/check_report.py" "$1" || fail "figures of $1"; }
job=00000000000000aa
export COLUMNS=400 # a line is a sentence

# As it was when somebody last looked at it; sums as the traces have them.
part_of_figures() {
    ranks=1
    prepare figures
    make_traces trace 2 $job 26
    run report trace --json >report.json
    cmp report.json "$here/report.json" || fail "not as in tests/cli/report.json"
    check trace <report.json
    make_traces many 1000 $job 30
    run report many --json | check many
    run report trace >text
    [ "$(wc -l <text)" -le 25 ] && grep -q '^ranks    2 on 1 host, 830 ms; ended in order$' text ||
        fail "$(cat text)"
    grep -q 'try aggregators=2 (cb_nodes)' text || fail "no advice: $(cat text)"
    # Opens of ranks far apart, and bins of different widths.
    sed -i 's/^start .*/start 1790000007000000000/; s/^bins .*/bins 26 64000000/; s/^length .*/length 1664000000/' \
        trace/$job.1.weir
    run report trace --json >report.json
    check trace <report.json
    grep -q '"length": 8664000000' report.json || fail "rank 1 is later"
}

# Traces of a job that did run.
part_of_real() {
    ranks=2
    prepare real
    run create a.npy --shape 500,400 --random 1
    WEIR_TRACE=trace run transpose a.npy t.npy
    run report trace --json >report.json
    check trace <report.json
    /usr/bin/python3 -c 'import json, sys
r = json.load(sys.stdin)
sys.exit([r["ranks"], r["complete"], r["program"], r["damaged_lines"], r["wanted"]] !=
         [2, True, "weir", 0, {"read": 1600000, "write": 1600000}] or
         not {"a.npy", "t.npy"} <= {f["file"].split("/")[-1] for f in r["offsets"]})' <report.json ||
        fail "$(head -c 700 report.json)"
    WEIR_TRACE=none/trace run get a.npy >out 2>err || fail "a trace that cannot be written: $(cat err)"
    [ "$(cat err)" = "weir: no trace: cannot write $(grep -o '/.*weir:' err) No such file or directory" ] ||
        fail "a trace that cannot be written: $(cat err)"
}

# A newer job is taken, another if it is named.
part_of_jobs() {
    ranks=1
    prepare jobs
    make_traces trace 2 $job 26
    make_traces trace 3 00000000000000ab 26
    sed -i 's/^start 179/start 180/' trace/00000000000000ab.*
    run report trace | grep -q '^job      00000000000000ab.*newest of 2' || fail "not the newest"
    run report trace --job $job | grep -q '^ranks    2 ' || fail "not the one that was named"
    refuses 2 'trace: has several jobs' report trace --job 0000
    refuses 2 'trace: has no job' report trace --job ff
    # The number of ranks is what most traces say.
    sed -i 's/^rank 1 3/rank 1 2000000/' trace/00000000000000ab.1.weir
    run report trace | grep -q '^ranks    3 ' || fail "one says another number"
}

# What can be read is told, and what could not.
part_of_damage() {
    ranks=1
    prepare damage
    make_traces trace 6 $job 26
    rm trace/$job.5.weir
    head -c 700 trace/$job.4.weir >cut && mv cut trace/$job.4.weir
    : >trace/$job.3.weir
    sed -i 's/^complete 1/complete 0/' trace/$job.2.weir
    printf 'time wait 0 99999999999999999999\ncell 9 read 0 0 1\n\0\0\n' >>trace/$job.1.weir
    sed -i 's/^span 0 .*/span 0 -5/' trace/$job.1.weir
    mkfifo trace/$job.7.weir
    mkdir trace/$job.8.weir
    echo other >trace/notes.txt
    run report trace >text || fail "status $?"
    grep -q 'did not end in order on 2 of 6 ranks, first on rank 2, and traces of 2 are missing' text ||
        fail "$(cat text)"
    run report trace --json | /usr/bin/python3 -c 'import json, sys
r = json.load(sys.stdin)
sys.exit([r[k] for k in ("ranks", "traces", "unreadable", "cut", "unfinished", "complete")] !=
         [6, 4, 3, 1, 1, False] or not r["damaged_lines"])' || fail "$(run report trace --json | head -c 500)"
    run report trace -o page.html
    grep -q 'damaged lines were left out' page.html || fail "the page does not say so"
    head -c 3000 /dev/urandom >trace/$job.0.weir
    run report trace >text || fail "noise: status $?"
    for i in 1 2 4; do echo 'weir-trace 1' >trace/$job.$i.weir; done
    refuses 1 'trace: no trace of job.*can be read' report trace
}

# On several ranks one of them does it, and all say so.
part_of_ranks() {
    ranks=$1
    prepare ranks-$ranks
    make_traces trace 2 $job 26
    refuses 2 'none: .*No such file' report none
    run report trace -o page.html >out
    [ ! -s out ] && [ "$(ls)" = "$(printf 'out\npage.html\ntrace')" ] || fail "$(ls; cat out)"
    run report trace --json | check trace
}

part_of_refusals() {
    ranks=1
    prepare refusals
    make_traces trace 2 $job 26
    mkdir empty
    refuses 1 'trace/.*weir: .*Not a directory' report trace/$job.0.weir
    refuses 1 'empty: has no traces' report empty
    refuses 2 'none/page.html: cannot be made.*No such file' report trace -o none/page.html
    mkdir empty.html
    refuses 1 'empty.html: .*is no file' report trace -o empty.html
    cp trace/$job.0.weir other.htm
    refuses 1 'other.htm: .*is something else' report trace -o other.htm
    refuses 2 '-o: must be a name in .html or .htm;' report trace -o page.txt
    refuses 2 '-o: must be a name in .html or .htm;' report trace -o trace/.html
    refuses 2 'both go to standard output' report trace -o - --json
    refuses 2 'takes the folder' report
    refuses 2 'takes the folder' report trace trace
    refuses 2 '--speed' report trace --speed
    mkdir disk
    if mount -t tmpfs -o size=8k tmpfs disk 2>/dev/null; then
        trap 'umount disk' EXIT
        refuses 1 'disk/page.html: cannot be written.*No space left' report trace -o disk/page.html
        [ -z "$(ls -A disk)" ] || fail "a full disk: $(ls -A disk)"
        umount disk
        trap - EXIT
    fi
    run report trace -o /dev/stdout | grep -q '^</style>' || fail "/dev/stdout"
    run report trace -o /dev/stdout >page.html && run report trace -o page.html || fail "a page again"
    run report trace -o - | cmp - page.html || fail "-o -"
    ! run report trace -o - >/dev/full 2>err || fail "-o -: /dev/full is no error"
    rm page.html
    ! run report trace --json >/dev/full 2>err || fail "/dev/full is no error"
    grep -q 'standard output cannot be written' err || fail "$(cat err)"
    { run report trace --json || :; } 2>err | head -c 1 >out
    [ "$(wc -l <err)" -le 1 ] || fail "closed pipe: $(cat err)"
    chmod 700 trace
    if [ "$(id -u)" = 0 ] && chmod 755 "$work" . && chown 0 trace; then
        ! setpriv --reuid 65534 --clear-groups "$weir" report trace 2>err || fail "read without permission"
        grep -q 'trace: .*Permission denied' err || fail "$(cat err)"
    fi
}

# usage: browse PAGE WIDTH; what is left of the page after its script has run is in dom.
browse() {
    timeout 60 chromium --headless --no-sandbox --disable-gpu --disable-quic --no-first-run \
        --disable-background-networking --disable-component-update --disable-sync --user-data-dir="$PWD/browser" \
        --enable-logging=stderr --window-size=$2,2000 --dump-dom "file://$PWD/$1" >dom 2>log || fail "chromium: $?"
    ! grep 'CONSOLE\|Uncaught\|Refused to' log || fail "the browser complains of $1"
}

# The page as a browser has it: charts that are inside, wide as the window is, nothing from elsewhere, and
# no element that a name of a file or a program could have added.
part_of_pages() {
    ranks=1
    prepare pages
    make_traces trace 70 $job 26
    sed -i 's|^program .*|program <script>evil()</script>"\x27\&amp;\xff\x01|
            s|^plan 1 .*|plan 1 </pre><img src=x onerror=evil()>\\n-->]]>|
            s|checkpoint.h5$|</title></style><svg onload=evil()>.h5|' trace/$job.*
    run report trace -o page.html
    [ "$(wc -c <page.html)" -lt 200000 ] || fail "the page is large"
    ! grep -o '<[a-z][^>]* \(src\|href\)="\?[^#">]\+' page.html || fail "something is not in the page"
    command -v chromium >/dev/null || { echo "no browser"; return 0; }
    for width in 1200 500; do
        # The page itself says what it became: the last line of its script, for this test.
        sed 's|</body>|<script>const plot = document.querySelectorAll(".plot")[3], box = plot.getBoundingClientRect();\
            plot.querySelector("path").dispatchEvent(new PointerEvent("pointermove", {bubbles: true,\
            clientX: box.left + box.width / 2, clientY: box.bottom - 1}));\
            document.title = [document.querySelectorAll(".plot svg").length,\
            document.querySelectorAll("script, img, svg").length, document.querySelectorAll("path[d^=M]").length > 20,\
            document.documentElement.scrollWidth <= innerWidth,\
            [...document.querySelectorAll(".plot svg")].every(s => s.getBoundingClientRect().height > 50 \
            \&\& s.getBoundingClientRect().width > innerWidth / 2), \
            document.querySelectorAll("#call-table tbody tr, details pre").length,\
            getComputedStyle(document.querySelector("path.wait")).fill != "rgb(0, 0, 0)",\
            document.getElementById("tip").textContent]</script></body>|' \
            page.html >seen.html
        browse seen.html $width
        # Six charts: all ranks, read, written, phases, offsets of two files.
        grep -q "<title>6,8,true,true,true,4,true,432.0 ms, rank 0: the program's own time</title>" dom || fail "$width: $(grep -o '<title>.*</title>' dom)"
    done
    grep -q 'evil()' dom || fail "the names are gone"
}

run_parts part_of_pages part_of_real part_of_figures part_of_jobs part_of_damage part_of_refusals \
    "part_of_ranks 1" "part_of_ranks 2" "part_of_ranks 3"

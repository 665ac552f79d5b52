#!/bin/sh
# The rule of docs/extending.md works as the page says: file and lines are taken from there.
# usage: test_extending.sh SOURCE COMPILER
set -eu
source=$1
compiler=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -r "$source/src" "$source/include" "$source/tests" "$work"
/usr/bin/python3 - "$source/docs/extending.md" "$work" <<'PYTHON'
import pathlib
import re
import sys

page, work = pathlib.Path(sys.argv[1]).read_text(), pathlib.Path(sys.argv[2])
blocks = dict(re.findall(r"```(c|diff)\n(.*?)```", page, re.S))
(work / "src/plan/realms_light.c").write_text(blocks["c"])
lines = len(blocks["c"].splitlines())
assert lines <= 40, f"the example has {lines} lines"
for part in blocks["diff"].split("--- a/")[1:]:
    name, old, new = part.splitlines()[0], [], []
    for line in part.splitlines()[3:]:
        if not line.startswith("+"):
            old.append(line[1:])
        if not line.startswith("-"):
            new.append(line[1:])
    path, before, after = work / name, "\n".join(old) + "\n", "\n".join(new) + "\n"
    text = path.read_text()
    assert text.count(before) == 1, f"{name} has not exactly once:\n{before}"
    path.write_text(text.replace(before, after))
PYTHON
cat >"$work/show.c" <<'C'
#include <stdio.h>
#include "weir/plan.h"
int main(void)
{
    static char text[10000];
    weir_pattern *all;
    weir_plan *plan;
    if (weir_pattern_contiguous(3, 1090, &all))
        return 1;
    weir_plan_request request = {.ranks = 6, .patterns = (const weir_pattern *[6]){all},
                                 .hints = "realms=light;realm_align=10;collective=always;aggregators=6"};
    if (weir_plan_new(&request, &plan) || weir_plan_print(plan, text, sizeof text) < 0)
        return 1;
    fputs(text, stdout);
    return 0;
}
C
cd "$work"
common="src/base/*.c src/pattern/*.c src/plan/*.c"
flags="-std=gnu11 -D_GNU_SOURCE -O1 -Iinclude -Isrc -Itests -pthread"
# shellcheck disable=SC2086
"$compiler" $flags $common show.c -o show -lm
# shellcheck disable=SC2086
"$compiler" $flags $common tests/check.c tests/pattern/random_pattern.c tests/plan/plan_model.c -o model -lm
./show >shown
grep -q 'realm 0 of rank 0: 97 bytes from 3 on' shown || { cat shown; exit 1; }
grep -q 'realm 5 of rank 5: 193 bytes from 900 on' shown || { cat shown; exit 1; }
./model

#!/usr/bin/python3
"""Draws docs/speed.svg from docs/benchmarks.md: every collective read and write of the suites etp
and hpio, how many times as fast as the faster of OMPIO and ROMIO. usage: docs/speed.py"""
import math
import pathlib
import re

FOLDER = pathlib.Path(__file__).parent
SUITES = (("etp", "sections of an array"), ("hpio", "small regular pieces"))
LEFT, WIDTH, ROW, LEAST, MOST = 126, 580, 20, 0.2, 200
STYLE = """text{fill:#24292f}.t{font-weight:600}.s{fill:#57606a}.g{stroke:#d0d7de}.e{stroke:#24292f}
.d{fill:#2f6fb7;fill-opacity:.45}.m{fill:#d1242f}.k{stroke:#24292f;stroke-width:2.5}
@media(prefers-color-scheme:dark){text{fill:#e6edf3}.s{fill:#9198a1}.g{stroke:#3d444d}
.e,.k{stroke:#e6edf3}.d{fill:#6aa5e8;fill-opacity:.55}.m{fill:#ff7b72}}"""


def place(ratio):
    span = math.log(MOST / LEAST)
    return LEFT + WIDTH * math.log(min(max(ratio, LEAST), MOST) / LEAST) / span


def rows_of(page, suite):
    """(op, ranks) -> medians, and the means the page gives."""
    text = re.search(rf"<!-- suite {suite} \(openmpi\) -->(.*?)<!-- end -->", page, re.S).group(1)
    medians, means = {}, {}
    for line in text.splitlines():
        cell = [part.strip() for part in line.strip("|").split("|")]
        if len(cell) < 8 or cell[1] not in ("read", "write"):
            continue
        key = cell[1], int(re.search(r"(\d+) ranks", cell[0]).group(1))
        if cell[0].startswith("geometric mean"):
            means[key] = float(cell[4].split()[0])
        elif cell[6] in ("ompio", "romio321"):
            medians.setdefault(key, []).append(float(cell[4]))
    return {key: (medians[key], means[key]) for key in sorted(medians)}


def draw_row(out, y, name, medians, mean):
    out.append(f'<text x="{LEFT - 10}" y="{y + 4}" text-anchor="end">{name}</text>')
    for ratio in medians:
        kind = "m" if ratio < 1 else "d"
        out.append(f'<circle class="{kind}" cx="{place(ratio):.1f}" cy="{y}" r="4.5"/>')
    x = place(mean)
    out.append(f'<path class="k" d="M{x:.1f} {y - 8}V{y + 8}"/>')
    out.append(f'<text x="{LEFT + WIDTH + 8}" y="{y + 4}">{mean:.1f}</text>')


def main():
    page = (FOLDER / "benchmarks.md").read_text()
    rows, y, cases, missed = [], 58, 0, 0
    for suite, title in SUITES:
        rows.append(f'<text class="t" x="12" y="{y + 4}">{title}</text>')
        y += ROW
        for (op, ranks), (medians, mean) in rows_of(page, suite).items():
            draw_row(rows, y, f"{op}, {ranks} ranks", medians, mean)
            cases, missed = cases + len(medians), missed + sum(m < 1 for m in medians)
            y += ROW
        y += 8
    bottom, height = y - 14, y + 64
    grid = []
    for tick in (0.5, 1, 2, 5, 10, 20, 50, 100):
        x = place(tick)
        grid.append(f'<path class="{"e" if tick == 1 else "g"}" d="M{x:.1f} 66V{bottom}"/>')
        grid.append(f'<text x="{x:.1f}" y="{bottom + 18}" text-anchor="middle">{tick:g}</text>')
    head = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 780 {height}" role="img" '
        'font-family="system-ui, sans-serif" font-size="13" '
        'aria-label="Speed of collective reads and writes against OMPIO and ROMIO">',
        f"<style>{STYLE}</style>",
        '<text class="t" x="12" y="22">How many times as fast as the faster of OMPIO and ROMIO</text>',
        f'<text class="s" x="{LEFT + WIDTH + 8}" y="62">mean</text>',
    ]
    foot = [
        f'<text class="s" x="12" y="{bottom + 42}">Each dot is one case, red where Weir is slower '
        f"({missed} of {cases}); bars are geometric means.</text>",
        f'<text class="s" x="12" y="{bottom + 60}">One node with 2 cores, Open MPI, data in the page '
        "cache. Every figure is in docs/benchmarks.md.</text>",
        "</svg>",
        "",
    ]
    (FOLDER / "speed.svg").write_text("\n".join(head + grid + rows + foot))


main()

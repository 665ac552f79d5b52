"""Turns the rows of benchmark figures into TSV files, a web page, a document and a table.

A row is a dict of strings with the keys COLUMNS. Kind `note` is a remark: its text is in `figure`.
"""
import html
import math
import operator
import re

COLUMNS = ("suite case figure kind goal unit ours reference n min median max spread "
           "ours_median reference_median result").split()
COMPARE = {">=": operator.ge, "<=": operator.le, ">": operator.gt, "<": operator.lt}
FLAVOURS = {"openmpi": "Open MPI", "mpich": "MPICH"}
NICE = [m * 10.0**e for e in range(-12, 13) for m in (1, 2, 5)]


def goal_parts(goal):
    """(operator, bound), or None for no goal."""
    if goal == "-":
        return None
    match = re.fullmatch(r"(>=|<=|>|<)(\d+(?:\.\d+)?(?:e[+-]?\d+)?)", goal)
    if not match:
        raise ValueError(f"bad goal: {goal}")
    return match[1], float(match[2])


def measured(mpi, cores):
    return f"{FLAVOURS[mpi]} on {cores} core{'s' * (cores != 1)}"


def write_tsv(path, rows):
    lines = [COLUMNS] + [[row[column] for column in COLUMNS] for row in rows]
    path.write_text("".join("\t".join(line) + "\n" for line in lines), encoding="utf-8")


def read_tsv(path):
    header, *lines = path.read_text(encoding="utf-8").rstrip("\n").split("\n")
    return [dict(zip(header.split("\t"), line.split("\t"))) for line in lines]


def number(value):
    size = abs(value)
    if size >= 100:
        return f"{value:,.0f}"
    return f"{value:.2f}" if size >= 0.1 or not size else f"{value:.3g}"


def quantity(text, unit):
    """A measured value with its unit, seconds scaled to be read."""
    if text == "-":
        return "-"
    value = float(text)
    if unit == "s":
        for unit, factor in (("s", 1), ("ms", 1e3), ("µs", 1e6), ("ns", 1e9)):
            if abs(value) * factor >= 1:
                break
        value *= factor
    return f"{number(value)} {unit}"


def shown(row, column):
    """The field of a row as a reader wants it."""
    text = row[column]
    if column == "spread":
        return f"{float(text) * 100:.1f} %"
    if column in ("min", "median", "max"):
        return quantity(text, row["unit"]) if row["kind"] == "value" else number(float(text))
    if column == "goal" and row["kind"] == "value" and text != "-":
        return f"{text} {row['unit']}"
    if column == "reference" and row["kind"] == "slowdown":
        return f"{text} (slowdown)"
    return text


def split(rows):
    """(figures, notes)"""
    return ([row for row in rows if row["kind"] != "note"],
            [row for row in rows if row["kind"] == "note"])


def plain_table(rows):
    columns = ("case", "figure", "goal", "median", "spread", "result")
    table = [columns] + [[shown(row, c) for c in columns] for row in split(rows)[0]]
    widths = [max(map(len, column)) for column in zip(*table)]
    return "\n".join("  ".join(map(str.ljust, line, widths)).rstrip() for line in table)


# The document: one section a suite and flavour, each replaced only when its suite was run.

DOCS_HEADER = """\
# Benchmarks

Each figure is a ratio to a peer or a limit measured in the same run, or a plain value where a unit
stands next to it. A ratio says how many times as fast as the column `against`, or, where that
column says slowdown, how many times the reference's time. The goal is judged on the median of the
repetitions; the minimum is that of the figure. The spread is the distance between the quartiles
over the median. `miss` marks a goal not met.

This page is written by `make bench`.
"""


def docs_section(name, title, rows, mpi, measured_on):
    def cell(text):
        return text.replace("|", "\\|").replace("<!", "&lt;!")

    columns = ("case", "figure", "goal", "min", "median", "spread", "reference", "result")
    figures, notes = split(rows)
    lines = [f"<!-- suite {name} ({mpi}) -->", f"## {title}", "", f"Measured with {measured_on}."]
    if figures:
        lines += ["", "| case | figure | goal | min | median | spread | against | result |",
                  "|---|---|---|--:|--:|--:|---|---|"]
    lines += ["| " + " | ".join(cell(shown(row, c)) for c in columns) + " |" for row in figures]
    lines += [""] * bool(notes) + [f"- {cell(row['case'])}: {cell(row['figure'])}" for row in notes]
    return "\n".join(lines + ["<!-- end -->"])


def update_docs(path, titles, results, mpi, measured_on):
    old = path.read_text(encoding="utf-8") if path.exists() else ""
    marked = re.finditer(r"<!-- suite (\S+) \((\S+)\) -->\n.*?<!-- end -->", old, re.DOTALL)
    sections = {(match[1], match[2]): match[0] for match in marked}
    for name, rows in results.items():
        sections[name, mpi] = docs_section(name, titles[name], rows, mpi, measured_on)
    order = {name: place for place, name in enumerate(titles)}
    keys = sorted(sections, key=lambda key: (order.get(key[0], len(order)), key))
    text = "\n".join([DOCS_HEADER] + [sections[key] + "\n" for key in keys])
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


# The page.

STYLE = """\
:root { color-scheme: light dark;
  --paper: #fff; --ink: #1c2024; --soft: #626a73; --line: #e2e5e9; --grid: #eceef1;
  --ok: #2a8a6a; --miss: #d1551f; --none: #8f99a5; --mark: #1c2024; }
@media (prefers-color-scheme: dark) { :root {
  --paper: #15181b; --ink: #e6e9ec; --soft: #9aa3ad; --line: #31363c; --grid: #262b30;
  --ok: #3fae88; --miss: #ee7a45; --none: #727c88; --mark: #f4f6f8; } }
body { background: var(--paper); color: var(--ink); max-width: 60rem; margin: 0 auto;
  padding: 2.5rem 1.5rem 4rem; font: 15px/1.5 system-ui, -apple-system, "Segoe UI", sans-serif; }
h1 { font-size: 1.7rem; line-height: 1.2; margin: 0 0 .3rem; letter-spacing: -.01em; }
h2 { font-size: 1.2rem; margin: 3rem 0 .3rem; padding-top: 1.2rem;
  border-top: 1px solid var(--line); }
h3 { font-size: .85rem; font-weight: 600; margin: 1.4rem 0 .2rem; }
h3 span, .sub, .note, .legend { color: var(--soft); font-weight: 400; }
p { margin: .2rem 0; } .note { font-size: .82rem; margin-top: .6rem; }
.legend { font-size: .85rem; margin-top: .8rem; }
.legend svg { width: 1.6rem; height: .8rem; margin: 0 .3rem 0 1rem; vertical-align: -.05rem; }
.legend svg:first-child { margin-left: 0; }
.chart { display: block; width: 100%; height: auto; font-size: 13px; }
.chart text { fill: var(--ink); } .chart .soft { fill: var(--soft); font-size: 11.5px; }
.ok { fill: var(--ok); } .miss { fill: var(--miss); } .none { fill: var(--none); }
.grid { stroke: var(--grid); } .one { stroke: var(--soft); stroke-dasharray: 3 3; }
.whisker { stroke: var(--ink); stroke-width: 1.25; fill: none; }
.goal { stroke: var(--mark); stroke-width: 3; }
.chart .value { font-weight: 600; } .chart .value.miss { fill: var(--miss); }
.scroll { overflow-x: auto; margin-top: 1rem; }
table { border-collapse: collapse; width: 100%; font-size: .82rem; line-height: 1.35;
  font-variant-numeric: tabular-nums; }
th { text-align: left; font-weight: 600; color: var(--soft); }
th, td { padding: .35rem .9rem .35rem 0; border-bottom: 1px solid var(--line);
  vertical-align: top; }
th:last-child, td:last-child { padding-right: 0; }
.r { text-align: right; white-space: nowrap; } .w { white-space: nowrap; }
td small { display: block; color: var(--soft); font-size: .75rem; }
td.is-ok { color: var(--ok); } td.is-miss { color: var(--miss); font-weight: 600; }
"""

LEFT, RIGHT, WIDTH, STEP = 250, 810, 912, 40  # chart columns and row height, in SVG units

HEADINGS = {
    "speed": ("Times as fast as the reference", "longer is better"),
    "slowdown": ("Times the time of the reference", "shorter is better"),
}
LEGEND = """<p class="legend">
<svg viewBox="0 0 24 12"><rect class="ok" width="24" height="12" rx="2"/></svg>goal met
<svg viewBox="0 0 24 12"><rect class="miss" width="24" height="12" rx="2"/></svg>goal missed
<svg viewBox="0 0 24 12"><rect class="none" width="24" height="12" rx="2"/></svg>no goal
<svg viewBox="0 0 24 12"><path class="goal" d="M12 0v12"/></svg>goal
<svg viewBox="0 0 24 12"><path class="whisker" d="M2 6h20M2 2v8M22 2v8"/></svg>minimum to maximum
</p>"""


class Scale:
    """Ratio to horizontal place. Linear from 0 while that shows all bars; else logarithmic, with
    bars that leave 1 to either side, because there a bar has no other natural start."""

    def __init__(self, medians, others):
        values = medians + others
        self.log = max(values) > 8 * min(medians)
        if self.log:
            low, high = min(values + [1]), max(values + [1])
            self.low = max(tick for tick in NICE if tick <= low)
            self.high = min(tick for tick in NICE if tick >= high)
            ticks = [tick for tick in NICE if self.low <= tick <= self.high]
            decades = [tick for tick in ticks if f"{tick:e}".startswith("1.0")]
            self.ticks = ticks if len(ticks) <= 10 else decades
            self.start = 1
        else:
            step = next(tick for tick in NICE if max(values) <= 6 * tick)
            count = math.ceil(max(values) / step)
            self.low, self.high, self.start = 0, count * step, 0
            self.ticks = [k * step for k in range(count + 1)]

    def place(self, value):
        if self.log:
            part = math.log(value / self.low) / math.log(self.high / self.low)
        else:
            part = value / self.high
        return round(LEFT + part * (RIGHT - LEFT), 1)


def clipped(text, room):
    text = text if len(text) <= room else text[:room - 1] + "…"
    return html.escape(text)


def bar(row, scale, top):
    low, middle, high = (scale.place(float(row[c])) for c in ("min", "median", "max"))
    start, centre = scale.place(scale.start), top + STEP / 2
    style = row["result"] if row["result"] != "-" else "none"
    left, width = min(start, middle), max(abs(middle - start), 2)
    out = [f'<g><title>{html.escape(row["case"])}: {html.escape(row["figure"])}</title>',
           f'<text x="0" y="{centre - 2}">{clipped(row["case"], 34)}</text>',
           f'<text class="soft" x="0" y="{centre + 13}">{clipped(row["figure"], 40)}</text>',
           f'<rect class="{style}" x="{left}" y="{centre - 9}" width="{width:.1f}" height="18"'
           ' rx="2"/>',
           f'<path class="whisker" d="M{low} {centre}H{high}M{low} {centre - 4}v8'
           f'M{high} {centre - 4}v8"/>']
    goal = goal_parts(row["goal"])
    if goal:
        out.append(f'<path class="goal" d="M{scale.place(goal[1])} {centre - 13}v26"/>')
    verdict = " miss" if style == "miss" else ""
    out.append(f'<text class="value{verdict}" x="{WIDTH}" y="{centre + 4}" text-anchor="end">'
               f'{shown(row, "median")}×{verdict}</text></g>')
    return "\n".join(out)


def chart(rows, kind):
    rows = [row for row in rows if row["kind"] == kind]
    if not rows:
        return ""
    goals = [parts[1] for parts in (goal_parts(row["goal"]) for row in rows) if parts]
    scale = Scale([float(row["median"]) for row in rows],
                  [float(row[c]) for row in rows for c in ("min", "max")] +
                  [goal for goal in goals if goal > 0])
    bottom = 8 + STEP * len(rows)
    axis = ", logarithmic scale" if scale.log else ""
    out = [f"<h3>{HEADINGS[kind][0]} <span>({HEADINGS[kind][1]}{axis})</span></h3>",
           f'<svg class="chart" role="img" viewBox="0 0 {WIDTH} {bottom + 22}">']
    for tick in scale.ticks:
        x = scale.place(tick)
        out.append(f'<path class="grid" d="M{x} 8V{bottom}"/><text class="soft" x="{x}" '
                   f'y="{bottom + 16}" text-anchor="middle">{tick:g}</text>')
    if scale.low < 1 < scale.high:
        out.append(f'<path class="one" d="M{scale.place(1)} 8V{bottom}"/>')
    out += [bar(row, scale, 8 + STEP * k) for k, row in enumerate(rows)]
    return "\n".join(out + ["</svg>"])


def page_table(rows):
    def cell(text, style=""):
        return f'<td class="{style}">{"–" if text == "-" else text}</td>'

    def named(row, side):
        value = row[side + "_median"]
        if value == "-":
            return cell("-")
        return cell(f'{quantity(value, row["unit"])}<small>{html.escape(row[side])}</small>', "w")

    out = ['<div class="scroll"><table>', "<tr><th>case<th>figure<th>goal"
           + "".join(f'<th class="r">{c}' for c in ("n", "min", "median", "max", "spread"))
           + "<th>ours<th>reference<th>result</tr>"]
    for row in rows:
        cells = [cell(html.escape(row[c])) for c in ("case", "figure")]
        cells.append(cell(html.escape(shown(row, "goal")), "w"))
        cells += [cell(shown(row, c), "r") for c in ("n", "min", "median", "max", "spread")]
        cells += [named(row, "ours"), named(row, "reference")]
        cells.append(cell(row["result"], "is-" + row["result"].strip("-")))
        out.append("<tr>" + "".join(cells) + "</tr>")
    return "\n".join(out + ["</table></div>"])


def page_section(title, rows):
    figures, notes = split(rows)
    out = [f"<section><h2>{html.escape(title)}</h2>", chart(figures, "speed"),
           chart(figures, "slowdown"), page_table(figures) if figures else ""]
    out += [f'<p class="note">{html.escape(row["case"])}: {html.escape(row["figure"])}</p>'
            for row in notes]
    return "\n".join(part for part in out + ["</section>"] if part)


def write_page(folder, titles, measured_on, quick):
    """Rebuilds index.html from all TSV files of the folder, in the order of the suites."""
    found = {path.stem: read_tsv(path) for path in sorted(folder.glob("*.tsv"))}
    names = [name for name in titles if name in found] + [n for n in found if n not in titles]
    results = [row["result"] for name in names for row in split(found[name])[0]]
    counts = (f"{len(results)} figures: {results.count('ok')} met their goal, "
              f"{results.count('miss')} missed it, {results.count('-')} without one")
    hurry = " Last run quick: few repetitions." if quick else ""
    sections = "\n".join(page_section(titles.get(name, name), found[name]) for name in names)
    (folder / "index.html").write_text(f"""<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>Weir benchmarks</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>
{STYLE}</style></head><body>
<h1>Weir benchmarks</h1>
<p class="sub">{measured_on}. {counts}.{hurry}</p>
{LEGEND}
{sections}
</body></html>
""", encoding="utf-8")

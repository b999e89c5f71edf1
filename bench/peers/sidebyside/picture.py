# SPDX-License-Identifier: Apache-2.0
"""The picture: a dot plot on a logarithmic axis, a line a workload, in SVG for light and dark pages."""

from dataclasses import dataclass
from html import escape
from math import floor, log10

from . import aims

WIDTH, LABELS, RIGHT, TOP, LINE, BOTTOM = 920, 290, 40, 74, 34, 46
STYLE = """
  text { font: 13px system-ui, -apple-system, 'Segoe UI', Helvetica, Arial, sans-serif; fill: #24292f; }
  .small { font-size: 11px; fill: #57606a; }
  .title { font-size: 15px; font-weight: 600; }
  .grid { stroke: #d0d7de; stroke-width: 1; }
  .limit { stroke: #57606a; stroke-width: 1.5; stroke-dasharray: 4 3; }
  .penstock { fill: #0969da; stroke: #0969da; }
  .one { fill: none; stroke: #0969da; stroke-width: 2; }
  .peer { fill: #bc4c00; stroke: #bc4c00; }
  .usual { fill: none; stroke: #bc4c00; stroke-width: 2; }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3; } .small { fill: #9198a1; }
    .grid { stroke: #3d444d; } .limit { stroke: #9198a1; }
    .penstock { fill: #58a6ff; stroke: #58a6ff; } .one { stroke: #58a6ff; }
    .peer { fill: #f0883e; stroke: #f0883e; } .usual { stroke: #f0883e; }
  }
"""


@dataclass(frozen=True)
class Mark:
    """Whose figure a mark is: its shape and color, and the configurations among which the best one counts."""

    label: str
    style: str
    shape: str
    pattern: str


MARKS = [
    Mark("Penstock, 2 workers", "penstock", "circle", r"Penstock w2"),
    Mark("Penstock, 1 worker", "one", "circle", r"Penstock w1"),
    Mark("the best peer, loops included", "peer", "diamond", r"(PyTorch|NumPy|webdataset) .*"),
    Mark("PyTorch, webdataset, 2 workers", "usual", "diamond", r"PyTorch (item|pad_sequence) w2|webdataset bytes w2"),
]


def rows_of(run, figures):
    """(title, [(mark, share of the C limit, low, high)]) for each workload that has a limit in C."""
    for workload in run["workloads"]:
        limit = figures.best(workload["name"], aims.C_1, "saturated", "samples_per_second")
        if limit is None:
            continue
        found = [(mark, s.median / limit.median, s.low / limit.median, s.high / limit.median) for mark in MARKS
                 if (s := figures.best(workload["name"], mark.pattern, "saturated", "samples_per_second"))]
        if found:
            yield workload["title"], found


def shape(mark, x, y, size=6):
    if mark.shape == "circle":
        return f'<circle class="{mark.style}" cx="{x:.1f}" cy="{y:.1f}" r="{size}"/>'
    points = " ".join(f"{x + dx * size * 1.2:.1f},{y + dy * size * 1.2:.1f}"
                      for dx, dy in ((0, -1), (1, 0), (0, 1), (-1, 0)))
    return f'<polygon class="{mark.style}" points="{points}"/>'


def two_lines(title):
    """What is loaded, and how."""
    head, comma, rest = title.partition(", batch ")
    return [head, f"batch {rest}"] if comma else [title]


def svg(run, figures):
    rows = list(rows_of(run, figures))
    shares = [share for _, marks in rows for _, share, low, high in marks for share in (low, high)] or [0.1, 1]
    first, last = floor(log10(min(shares))), log10(max(2, *shares)) + 0.05
    height = TOP + LINE * len(rows) + BOTTOM

    def x_of(share):
        return LABELS + (WIDTH - LABELS - RIGHT) * (log10(share) - first) / (last - first)

    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" '
           f'aria-label="Throughput of Penstock and of its peers as a share of one C thread">',
           f"<style>{STYLE}</style>",
           '<text class="title" x="12" y="24">Throughput, one C thread = 1 (logarithmic axis)</text>']
    x = 18.0
    for mark in MARKS:
        out += [shape(mark, x, 46), f'<text x="{x + 12:.0f}" y="50">{escape(mark.label)}</text>']
        x += 34 + 7.2 * len(mark.label)
    bottom = TOP + LINE * len(rows)
    for power in range(first, 1):
        for factor in (1, 2, 5):
            share = factor * 10.0 ** power
            if share > max(2, *shares):
                continue
            style = "limit" if share == 1 else "grid"
            out += [f'<line class="{style}" x1="{x_of(share):.1f}" y1="{TOP - 8}" x2="{x_of(share):.1f}" '
                    f'y2="{bottom}"/>',
                    f'<text class="small" x="{x_of(share):.1f}" y="{bottom + 18}" text-anchor="middle">'
                    f'{f"{share:.3f}".rstrip("0").rstrip(".")}</text>']
    for number, (title, marks) in enumerate(rows):
        y = TOP + LINE * number + LINE / 2
        lines = two_lines(title)
        for i, line in enumerate(lines):
            out.append(f'<text class="{"small" if i else "label"}" x="12" '
                       f'y="{y + 4 + (i - (len(lines) - 1) / 2) * 14:.0f}">{escape(line)}</text>')
        for mark, share, low, high in marks:
            out.append(f'<line class="{mark.style}" stroke-width="1.5" x1="{x_of(low):.1f}" y1="{y}" '
                       f'x2="{x_of(high):.1f}" y2="{y}"/>')
            out.append(shape(mark, x_of(share), y))
    out += [f'<text class="small" x="12" y="{height - 10}">Marks are medians, lines reach from the slowest to the '
            f"fastest round; {escape(run['machine']['processor'])}, {run['machine']['cpus']} CPUs.</text>", "</svg>"]
    return "\n".join(out) + "\n"

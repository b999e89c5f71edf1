# SPDX-License-Identifier: Apache-2.0
"""The report in Markdown: what must hold, then every figure behind it."""

from . import aims
from .figures import CALIBRATIONS
from .workloads import at_commit

BEGIN = "<!-- side by side: begin; written by bench/peers/run.py -->"
END = "<!-- side by side: end -->"


def three(value):
    """Three significant digits, without an exponent."""
    if value is None:
        return ""
    if value == 0:
        return "0"
    if abs(value) >= 100:
        return f"{value:,.0f}"
    text = f"{value:.3g}"
    return text if "e" not in text else f"{value:.6f}".rstrip("0")


def table(head, rows, left=1):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * left + "---:|" * (len(head) - left)]
    return lines + ["| " + " | ".join(row) + " |" for row in rows]


def verdict(row):
    if row.ratio is None:
        return "not measured"
    if row.reached is None:
        return ""
    return ("**yes**" if row.reached else "**no**") + (", within the spread" if row.in_spread else "")


def aim_rows(outcomes):
    for row in outcomes:
        limit, unit = row.aim.limit, row.aim.unit
        measured = row.ratio is not None
        over = f"{row.aim.over} ({row.theirs})" if row.theirs and row.theirs != row.aim.over else row.aim.over
        yield [f"{row.aim.what} ({row.ours})" if measured else row.aim.what, over,
               f"{three(row.ratio)}{unit}{' †' if row.directional else ''}" if measured else "",
               f"{three(row.low)} to {three(row.high)}" if measured else "",
               f"{three(row.best)}{unit}" if measured else "",
               "" if limit is None else f"{'≥' if row.aim.at_least else '≤'} {three(limit)}{unit}", verdict(row)]


def span(series):
    return f"{three(series.low)} to {three(series.high)}"


def rates(figures, workload):
    """A throughput workload: a row a configuration, and the share of each of the C limit's and of the best peer's."""
    name, tokens = workload["name"], workload["tokens"]
    limit = figures.best(name, aims.C_1, "saturated", "samples_per_second")
    peer = figures.best(name, "(?!Penstock|C ).*", "saturated", "samples_per_second")
    cost = "CPU s a million tokens" if tokens else "CPU µs a sample"
    head = ["configuration", f"{workload['unit']}/s, median", "min to max, the best", "the consumer reads the batch", cost,
            "`next()` µs p50", "p99"]
    head += ["of C, 1 thread"] * bool(limit) + ["× the best peer"] * bool(peer)
    rows = []
    for config in figures.configs(name):
        rate, read, cpu, p50, p99 = (
            figures.series(name, config, kind, metric) for kind, metric in
            (("saturated", "samples_per_second"), ("read", "samples_per_second"),
             ("saturated", "cpu_seconds_a_million_samples"), ("saturated", "next_p50_us"),
             ("saturated", "next_p99_us")))
        row = [config, three(rate.median) + " †" * rate.directional, span(rate), three(read.median) if read else "",
               three(cpu.median / tokens if tokens else cpu.median), three(p50.median) if p50 else "",
               three(p99.median) if p99 else ""]
        row += [three(rate.median / limit.median)] if limit else []
        row += [three(rate.median / peer.median)] if peer else []
        rows.append(row)
    return table(head, rows)


def overheads(figures, workload):
    name = workload["name"]
    rows = []
    for config in figures.configs(name):
        batch, heap = (figures.series(name, config, "saturated", metric)
                       for metric in ("microseconds_a_batch", "heap_bytes_a_batch"))
        rows.append([config, three(batch.median) + " †" * batch.directional, span(batch),
                     three(heap.median) if heap else ""])
    return table(["configuration", "µs a batch, median", "min to max", "bytes of heap a batch"], rows)


def single(figures, workload, kind, metric, head):
    name = workload["name"]
    found = [figures.series(name, config, kind, metric) for config in figures.configs(name, kind)]
    return table(["configuration", head, "min to max"],
                 [[s.config, three(s.median) + " †" * s.directional, span(s)] for s in found])


def steps(figures, workload):
    name = workload["name"]
    rows = []
    for config in figures.configs(name, "step"):
        p50, p99 = (figures.series(name, config, "step", metric) for metric in ("next_p50_us", "next_p99_us"))
        rows.append([config, three(p50.median) + " †" * p50.directional, span(p50), three(p99.median)])
    return table(["beside a step of 5 ms", "`next()` µs p50", "min to max", "p99"], rows) if rows else []


def section(figures, workload):
    name = workload["name"]
    if name == "empty":
        body = overheads(figures, workload)
    elif name == "first":
        body = single(figures, workload, "first", "first_batch_ms", "ms, median")
    elif name == "memory":
        body = single(figures, workload, "memory", "megabytes", "MB, median")
    elif name.startswith("cold"):
        body = single(figures, workload, "cold", "megabytes_per_second", "MB/s, median")
    else:
        body = rates(figures, workload)
        beside = steps(figures, workload)
        body += ["", *beside] if beside else []
    return ["", f"#### {workload['title']}", "", *body]


def introduction(run, figures):
    settings, machine = run["settings"], run["machine"]
    calibrations = {name: [r[name] for r in run["records"] if name in r] for name in CALIBRATIONS}
    copies = calibrations["memcpy_gigabytes_per_second"]
    label = "**Directional: a quick run of one short round.** " if settings["quick"] else ""
    return [
        f"{label}{machine['processor']}, {machine['cpus']} CPUs, {machine['system']}; {'; '.join(run['versions'])}. "
        f"{run['date']}, {settings['rounds']} rounds of {settings['seconds']} s by turns, the engine in a new JVM "
        f"every {settings['engine_rounds']} rounds, {settings['heap']}; data in the page cache but where it says cold. "
        + (f"A copy of 64 MiB beside each measurement: {min(copies):.1f} to {max(copies):.1f} GB/s, median "
           f"{figures.medians['memcpy_gigabytes_per_second']:.1f}. " if copies else "")
        + f"Disturbed measurements that were dropped: {figures.dropped}."
        + (" † directional: others disturbed most of the rounds." if figures.directional else ""),
        "", f"    {run['command']}"]


def markdown(run, figures, picture=None):
    outcomes = aims.outcomes(figures, run["asked"])
    lines = introduction(run, figures)
    if picture:
        lines += ["", f"![What each loader reaches, by workload]({picture})"]
    lines += ["", "### What must hold", ""]
    lines += table(["workload", "over", "ratio of medians", "min to max by round", "of best rounds", "aim", "reached"],
                   aim_rows(outcomes), left=2)
    reached = [row.reached for row in outcomes if row.reached is not None]
    lines += ["", f"{sum(reached)} of {len(reached)} aims that were measured are reached."]
    lines += against(run, figures)
    if run["skipped"]:
        lines += ["", "Left out:", "", *(f"- {line}" for line in run["skipped"])]
    lines += ["", "### Every figure"]
    for workload in run["workloads"]:
        lines += section(figures, workload)
    return "\n".join(lines) + "\n"


def against(run, figures):
    """Penstock as it is over Penstock at another commit: a row a configuration that both have."""
    commit = run.get("against")
    if not commit:
        return []
    rows = []
    for workload in run["workloads"]:
        name = workload["name"]
        for config in figures.configs(name, "saturated", "Penstock .*"):
            now, before = (figures.series(name, each, "saturated", "samples_per_second")
                           for each in (config, config + at_commit(commit)))
            if now and before:
                rows.append([workload["title"], config,
                             three(now.median / before.median) + " †" * (now.directional or before.directional),
                             three(now.high / before.high)])
    return ["", f"### Against commit {commit}", "", *table(["workload", "configuration", "ratio of medians",
                                                           "of best rounds"], rows, left=2)]


def rewrite(page, text):
    """Puts the report between the two markers of a page."""
    begin, end = page.find(BEGIN), page.find(END)
    if begin < 0 or end < begin:
        raise ValueError(f"no {BEGIN} … {END} in the page")
    return page[:begin] + BEGIN + "\n\n" + text + "\n" + page[end:]

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures Penstock, its peers and the limits in C side by side, and writes one table and one picture.

    python bench/peers/run.py                                          everything, about a quarter of an hour
    python bench/peers/run.py --quick                                  one short round: directional, three minutes
    python bench/peers/run.py --only tokens-narrow memory --rounds 3   some workloads
    python bench/peers/run.py --against                                beside Penstock as it was at the baseline commit
    python bench/peers/run.py --only pictures --turbojpeg libturbojpeg.so.0.5.0       images, from files to batches
    python bench/peers/run.py --render target/bench/side-by-side.json --page docs/performance.md

Builds what is needed and makes the data first (bench/prepare.sh, Maven). Sides answer by turns, round after round;
beside each measurement a copy of memory and a loop are timed, and the CPU time of all others is counted; measurements
that were disturbed are dropped, unless that is most of them. Takes the standard library alone; the peers need torch,
numpy, webdataset, torchdata in the Python that --python names, and are left out where they are missing. See
bench/README.md.
"""

import argparse
import json
import os
import shlex
import sys
import time
from datetime import datetime, timezone
from functools import partial
from pathlib import Path

from sidebyside import cold, measuring, picture, preparing, report, workloads
from sidebyside.figures import Figures
from sidebyside.sides import Request, SideFailed

THROUGHPUT = {
    "tokens-narrow": lambda setup: workloads.tokens(setup, "narrow"),
    "tokens-i64": lambda setup: workloads.tokens(setup, "i64"),
    "images-64-u8": lambda setup: workloads.images(setup, 64, "u8"),
    "images-224-u8": lambda setup: workloads.images(setup, 224, "u8"),
    "images-64-f32": lambda setup: workloads.images(setup, 64, "f32"),
    "images-224-f32": lambda setup: workloads.images(setup, 224, "f32"),
    **{f"pictures-{mode}": partial(workloads.pictures, mode=mode)
       for mode in ("rrc", "eval", "rrc-jitter", "rrc-rotate", "rrc-randaugment")},
    "augment-steps": workloads.steps,
    "documents": workloads.documents,
    "webdataset": workloads.webdataset,
    "empty": workloads.empty,
}
ALL = [*THROUGHPUT, "first", "memory", "cold"]
GROUPS = {"pictures": ["pictures-rrc", "pictures-eval", "augment-steps", "images-224-u8", "images-224-f32"]}
MEMORY_SECONDS = 1.5
BASELINE = "678722013"  # a build whose windows were as fast as any before or since; losses add up beside it
ASKED = {"cold": ["cold-random", "cold-sequential"]}


def say(text):
    print(f"\r\033[K{text}" if sys.stderr.isatty() else text, end="" if sys.stderr.isatty() else "\n",
          file=sys.stderr, flush=True)


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=[*ALL, *GROUPS], default=ALL, metavar="WORKLOAD",
                        help=", ".join(ALL) + "".join(f"; {name}: {' '.join(each)}" for name, each in GROUPS.items()))
    parser.add_argument("--quick", action="store_true", help="one short round of the main configurations: directional")
    parser.add_argument("--rounds", type=int, help="5, or 1 of a quick run")
    parser.add_argument("--seconds", type=float, help="of a round: 0.4, or 0.3")
    parser.add_argument("--warmup", type=float, help="the most seconds until three rounds of the engine agree: 60, or 5")
    parser.add_argument("--against", nargs="?", const=BASELINE, default="", metavar="COMMIT",
                        help=f"also measures Penstock as it was at this commit; without one: {BASELINE}")
    parser.add_argument("--engine-rounds", type=int, default=2, help="rounds of one JVM (2)")
    parser.add_argument("--python", default=sys.executable, help="the interpreter that has the peers")
    parser.add_argument("--java", help="a JDK's java; without it JAVA_HOME, the path, the usual places")
    parser.add_argument("--heap", default="-Xmx512m", help="the JVM's heap option")
    parser.add_argument("--turbojpeg", default="", help="libturbojpeg of version 3, beside the system's")
    parser.add_argument("--class-path", help="the engine and the benchmarks, built elsewhere")
    parser.add_argument("--render", type=Path, metavar="JSON", help="measures nothing: reports what such a file holds")
    parser.add_argument("--json", type=Path, help="everything that was measured (target/bench/side-by-side.json)")
    parser.add_argument("--markdown", type=Path, help="the report (target/bench/side-by-side.md)")
    parser.add_argument("--svg", type=Path, help="the picture (target/bench/side-by-side.svg)")
    parser.add_argument("--page", type=Path, help="a page with the two markers: the report is written between them")
    options = parser.parse_args()
    options.only = [workload for name in options.only for workload in GROUPS.get(name, [name])]
    quick = options.quick
    options.rounds = options.rounds or (1 if quick else 5)
    options.seconds = options.seconds or (0.3 if quick else 0.4)
    options.warmup = options.warmup or (5.0 if quick else 60.0)
    for name in ("json", "markdown", "svg"):
        suffix = {"markdown": "md"}.get(name, name)
        setattr(options, name, getattr(options, name) or preparing.FOLDER / f"side-by-side.{suffix}")
    return options


def set_up(options):
    found = preparing.installed(options.python)
    if not options.class_path:
        preparing.build_classes(say)
    classes = preparing.class_path(preparing.ROOT)
    against, against_classes = preparing.build_against(options.against, say) if options.against else ("", "")
    setup = workloads.Setup(
        against=against, against_class_path=against_classes,
        java=options.java or preparing.find_java(), jvm_flags=preparing.jvm_flags(), heap=options.heap,
        class_path=options.class_path or classes, python=options.python, installed=frozenset(found),
        folder=preparing.FOLDER, cpus=os.cpu_count(), turbojpeg=options.turbojpeg)
    preparing.make_data(setup, say)
    return setup, found


def requests(options):
    return [Request("saturated", options.seconds), Request("read", options.seconds, read=True),
            Request("step", max(1.0, options.seconds), step_ms=workloads.STEP_MS)]


def sides_of(workload, options):
    return [side for side in workload.sides if side.quick or not options.quick]


def measure_one(name, setup, options):
    """(records, workloads, lines on what was left out)"""
    if name == "cold":
        return cold.measure(setup, min(3, options.rounds), 2 * options.seconds, say)
    if name == "first":
        archive = preparing.make_archive(setup, say)
        workload = workloads.first(setup, archive)
    else:
        workload = workloads.memory(setup) if name == "memory" else THROUGHPUT[name](setup)
    meter = measuring.Meter(workload.name, say)
    sides = sides_of(workload, options)
    if name == "first":
        measuring.first_batches(meter, sides, options.rounds)
    elif name == "memory":
        measuring.memory(meter, sides, min(3, options.rounds), MEMORY_SECONDS)
    else:
        measuring.by_turns(meter, sides, requests(options), options.rounds, options.warmup, options.engine_rounds)
    left_out = meter.left_out + (["an AOT cache: this JVM makes none"] if name == "first" and not archive else [])
    described = {"name": workload.name, "title": workload.title, "unit": workload.unit, "tokens": workload.tokens}
    return meter.records, [described], left_out


def measure(options):
    begin = time.monotonic()
    setup, found = set_up(options)
    run = {
        "date": datetime.now(timezone.utc).strftime("%Y-%m-%d"), "command": command(),
        "machine": preparing.machine(), "versions": preparing.versions(setup, found),
        "settings": {"quick": options.quick, "rounds": options.rounds, "seconds": options.seconds,
                     "warmup": options.warmup, "engine_rounds": options.engine_rounds, "heap": options.heap},
        "against": setup.against,
        "skipped": preparing.skipped(found, options.python), "workloads": [], "records": [],
        "asked": [workload for name in options.only for workload in ASKED.get(name, [name])]}
    for name in options.only:
        try:
            records, described, left_out = measure_one(name, setup, options)
        except SideFailed as reason:                # the figures of the other workloads are kept
            say(f"{name}: left out: {reason}")
            run["skipped"].append(f"{name}, of which a side failed")
            run["failed"] = True
            continue
        run["records"] += records
        run["workloads"] += described
        run["skipped"] += left_out
        save(options.json, run)
    run["took_seconds"] = round(time.monotonic() - begin)
    save(options.json, run)
    return run


def command():
    """As it would be typed: what names places of this machine is left out."""
    words = []
    private = {"--python", "--java", "--class-path", "--turbojpeg", "--json", "--markdown", "--svg", "--page"}
    arguments = iter(sys.argv[1:])
    for word in arguments:
        if word in private:
            next(arguments, None)
        else:
            words.append(word)
    return " ".join(["python bench/peers/run.py", *map(shlex.quote, words)])


def save(path, run):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(run, indent=1) + "\n")


def write_report(options, run):
    figures = Figures(run["records"])
    options.svg.parent.mkdir(parents=True, exist_ok=True)
    options.svg.write_text(picture.svg(run, figures))
    base = options.page or options.markdown
    text = report.markdown(run, figures, os.path.relpath(options.svg, base.parent))
    options.markdown.write_text(text)
    if options.page:
        options.page.write_text(report.rewrite(options.page.read_text(), text))
    return text


def main():
    options = parse()
    try:
        run = json.loads(options.render.read_text()) if options.render else measure(options)
        text = write_report(options, run)
    except (preparing.Unusable, SideFailed, OSError, ValueError) as reason:
        print(f"\nrun: {reason}", file=sys.stderr)
        return 3
    print(text)
    print(f"{options.json}, {options.markdown}, {options.svg}: written"
          f"{'' if options.render else f''' in {run['took_seconds']} s'''}", file=sys.stderr)
    return 3 if run.get("failed") and not options.render else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The benchmark of record: every workload with every peer, one page, one picture, the goals beside the results.

    python bench/peers/record.py                            everything, about an hour and a half
    python bench/peers/record.py --quick                    everything once and short: directional, about 20 minutes
    python bench/peers/record.py --only loaders csv         some parts
    python bench/peers/record.py --render                   measures nothing: writes the page from what was measured

Runs `run.py` and the programs of the formats, media and text, each of which takes turns with its peers, and keeps what
they say in target/bench/record.json. Parts that are measured again replace what was there. Writes docs/benchmark.md,
shortfalls first, and docs/images/benchmark.svg. A part whose peer or tool is missing is left out, and the page says so.
The page says whether the machine was quiet: the CPU time that others took before and after each part.

Takes the standard library alone; the peers need the packages of PACKAGES in the Python that --python names.
"""

import argparse
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from datetime import datetime, timezone
from pathlib import Path
from xml.sax.saxutils import escape

from sidebyside import aims, preparing
from sidebyside.figures import Figures
from sidebyside.report import table, three

ROOT = preparing.ROOT
FOLDER = preparing.FOLDER
PACKAGES = ("torch", "torchvision", "numpy", "pandas", "pyarrow", "webdataset", "h5py", "lmdb", "PIL", "av",
            "soundfile", "tokenizers", "tiktoken", "transformers")
QUIET_CORES = 0.15
NUMBER = r"([\d,.]+)"


class Missing(Exception):
    """What a part needs is not there, or its program failed."""


class Bench:
    """How the programs of both sides are started."""

    def __init__(self, options):
        self.python, self.quick = options.python, options.quick
        self.java = options.java or preparing.find_java()
        self.options = options
        if options.class_path:
            self.class_path = options.class_path
        else:
            preparing.build_classes(say)
            self.class_path = preparing.run("sh", "bench/class-path").strip()

    def run(self, *command):
        """Standard output of a command in the project's folder."""
        environment = {**os.environ, "JAVA_HOME": str(Path(self.java).parents[1])}
        done = subprocess.run([str(word) for word in command], cwd=ROOT, env=environment, text=True,
                              capture_output=True)
        if done.returncode != 0:
            last = (done.stderr.strip() or done.stdout.strip() or "no message").splitlines()[-1]
            raise Missing(f"`{Path(command[0]).name} {Path(str(command[1])).name}` ended with {done.returncode}: "
                          f"{last.replace(str(ROOT) + '/', '')}")
        return done.stdout

    def peer(self, script, *arguments):
        return self.run(self.python, f"bench/peers/{script}", *arguments)

    def jvm(self, program, *arguments, flags=("-Xmx2g",)):
        return self.run(*self.java_command(flags), f"io.penstock.bench.{program}", *arguments)

    def jmh(self, name):
        """What JMH measured: one fork, three iterations."""
        with tempfile.NamedTemporaryFile(suffix=".json") as file:
            self.run(*self.java_command(()), "org.openjdk.jmh.Main", name, "-f", "1", "-i", "3", "-rf", "json", "-rff",
                     file.name)
            return json.load(file)

    def java_command(self, flags=("-Xmx2g",)):
        return [self.java, "--enable-native-access=ALL-UNNAMED", *preparing.jvm_flags(), *flags, "-cp", self.class_path]

    def jtokkit(self):
        """The jar that has the vocabularies."""
        for part in [*self.class_path.split(os.pathsep), "bench/target/lib/*"]:
            folder = ROOT / part.removesuffix("*")
            jars = [folder] if folder.name.startswith("jtokkit") else sorted(folder.glob("jtokkit-*.jar"))
            if jars:
                return jars[0]
        raise Missing("no jtokkit-*.jar beside the classes")

    def corpus(self):
        corpus = FOLDER / "record-text.jsonl"
        if not corpus.exists():
            self.peer("text_corpus.py", "--out", corpus, "--megabytes", "10")
        return corpus


def say(text):
    print(text, file=sys.stderr, flush=True)


def number(text):
    return float(text.replace(",", ""))


def found(pattern, text):
    """Every match's groups, numbers as such."""
    return [[number(group) if re.fullmatch(NUMBER, group) else group for group in match.groups()]
            for match in re.finditer(pattern, text, re.MULTILINE)]


def result(what, over, ratio, ours="", theirs="", aim=None, at_least=True, unit=""):
    return {"what": what, "over": over, "ratio": ratio, "ours": ours, "theirs": theirs, "aim": aim,
            "at_least": at_least, "unit": unit}


def loaders(bench):
    """The side by side of `run.py`: tokens, images, pictures, documents, shards, overhead, memory, the first batch."""
    file = FOLDER / "record-side-by-side.json"
    command = ["run.py", "--python", bench.python, "--java", bench.java, "--json", file, "--markdown",
               FOLDER / "record-side-by-side.md", "--svg", FOLDER / "record-side-by-side.svg"]
    command += ["--quick"] if bench.quick else []
    command += ["--only", *bench.options.workloads] if bench.options.workloads else []
    command += ["--class-path", bench.class_path] if bench.options.class_path else []
    try:
        bench.peer(*command)
    except Missing:
        if not file.exists():
            raise                                           # else a side failed, and the report names it
    run = json.loads(file.read_text())
    figures = Figures(run["records"])
    rows = [result(row.aim.what, row.aim.over, row.ratio, row.ours, row.theirs, row.aim.limit, row.aim.at_least,
                   row.aim.unit) for row in aims.outcomes(figures, run["asked"])
            if row.ratio is not None and not row.aim.what.startswith("the same of")]
    return rows, [f"loaders: {line}" for line in run["skipped"]]


def csv(bench):
    out = bench.peer("csv_read.py", FOLDER, *bench.java_command(("-Xmx1g",)), "io.penstock.bench.CsvRates")
    peers = {}
    for name, rate in found(rf"^(.*): {NUMBER} MB a CPU second$", out):
        peers.setdefault(name, []).append(rate)
    ours = statistics.median(each[0] for each in found(rf"file to tensors {NUMBER} best", out))
    what = "CSV of 1,000,000 × 20 numbers to `f32`, one thread"
    rows = [result(what, name, ours / statistics.median(rates)) for name, rates in peers.items()]
    return [result(what, "", ours, aim=300, unit=" MB a CPU second"), *rows], []


def parquet(bench):
    peers = found(rf"^ids-(\S+)\.parquet .*a CPU second {NUMBER} best, {NUMBER} median",
                  bench.peer("parquet_read.py", FOLDER))
    ours = {name: median for name, _, median in found(
        rf"^ids-(\S+)\.parquet .*a CPU second\s+{NUMBER} best,\s+{NUMBER} median",
        bench.jvm("ParquetDecode", *sorted(FOLDER.glob("ids-*.parquet"))))}
    rows = [result(f"Parquet, lists of tokens, {name}, decoded on one thread", "pyarrow", ours[name] / median)
            for name, _, median in peers]
    pattern = rf"^(rows|tokens)-snappy\.parquet: \S+ {NUMBER} MB a CPU second best, {NUMBER} median; \w+ {NUMBER}" \
              rf" rows a CPU second best, {NUMBER} median"
    theirs = {kind: (scan, take) for kind, _, scan, _, take in found(pattern, bench.peer("parquet_rows.py", FOLDER))}
    for kind, _, scan, _, take in found(pattern, bench.jvm("ParquetRows", *sorted(FOLDER.glob("*-snappy.parquet")))):
        if kind in theirs:
            what = "2,000,000 rows of eight numbers" if kind == "rows" else "50,000 rows of 1,024 tokens"
            rows += [result(f"Parquet, {what}, a block-shuffled epoch", "pyarrow's scan", scan / theirs[kind][0],
                            aim=0.8),
                     result(f"Parquet, {what}, rows at random", "pyarrow's `Table.take`", take / theirs[kind][1])]
    return rows, []


def arrow(bench):
    bench.peer("arrow_rows.py", FOLDER, "100000")
    out = bench.jvm("ArrowRows", "--rounds", "3" if bench.quick else "12", "--folder", FOLDER)
    ratio = found(rf"^median: npy {NUMBER}, arrow {NUMBER}, ratio {NUMBER}", out)[0][2]
    return [result("Arrow, random rows through the loader", "the same of `.npy`", ratio, aim=0.8)], []


def hdf5(bench):
    if not (FOLDER / "rows.h5").exists():
        bench.peer("hdf5_rows.py", "write", FOLDER)
    out = bench.jvm("RandomRows", FOLDER, "5" if bench.quick else "20")
    ours = {name: (share, rate) for name, share, rate in found(
        rf"^rows\.h5 /(\w+): .* {NUMBER} of \S+; {NUMBER} rows/s", out)}
    peers = dict(found(rf"^(h5py .*): {NUMBER} rows/s", bench.peer("hdf5_rows.py", "measure", FOLDER, "--rounds", "3")))
    return [result("HDF5, contiguous, random rows", "the same of `.npy`", ours["contiguous"][0], aim=0.8),
            result("HDF5, contiguous, random rows", "h5py, `read_direct`",
                   ours["contiguous"][1] / peers["h5py contiguous, read_direct"]),
            result("HDF5, gzip, random rows once decoded", "h5py, a row at a time",
                   ours["gzip"][1] / peers["h5py gzip, a row at a time"])], []


def lmdb(bench):
    modes = {}
    out = bench.peer("lmdb_get.py", "--store", FOLDER / "lmdb", "--rounds", "3" if bench.quick else "5")
    for line in out.splitlines():
        said = json.loads(line)
        modes.setdefault(said["mode"], []).append(said["records_per_s"])
    scores = {each["benchmark"].rpartition(".")[2]: each["primaryMetric"]["score"]
              for each in bench.jmh("LmdbRandomGet")}
    theirs = statistics.median(modes["copy"])
    return [result("LMDB, random records by position", "py-lmdb, `txn.get`, copied", scores["byPosition"] / theirs),
            result("LMDB, random records by key", "py-lmdb, `txn.get`, copied", scores["byKey"] / theirs)], []


def clips(bench):
    seconds = ["--rounds", "1", "--seconds", "1", "--warmup", "3"] if bench.quick else ["--rounds", "4", "--warmup",
                                                                                        "6"]
    out = bench.peer("clips.py", *seconds, "--java", bench.java, "--classes", bench.class_path)
    names = {"frames": "clips of video, 16 frames at stride 4", "apart": "clips of video, 16 frames in a row",
             "together": "clips of video, 8 of a batch decoded together", "sound": "clips of sound, 5 s of FLAC"}
    rows = []
    for work, c, fast, pyav in found(rf"^\| (\w+) \|(?: [^|]*\|){{4}} {NUMBER} \| {NUMBER} \| {NUMBER} \|", out):
        rows += [result(names[work], "C over the same libraries", c, aim=0.9),
                 result(names[work], "PyAV", pyav, aim=1.1)]
        if work != "sound":
            rows.append(result(names[work], "C with swscale's default, which does less", fast))
    return rows, []


def speech(bench):
    times = ["--rounds", "1", "--seconds", "1", "--warmup", "3"] if bench.quick else []
    out = bench.peer("speech.py", *times, "--java", bench.java, "--classes", bench.class_path)
    aim = {"C": 0.9, "soundfile and torch": 1.3, "DataLoader, 2 workers": 3}
    names = {"C": "C over FFmpeg and FFTW", "DataLoader, 2 workers": "PyTorch's DataLoader, 2 workers"}
    return [result(f"speech to log-mel, 5 s of {kind}" + ("" if ours.startswith("Penstock") else ", isolated"),
                   names.get(over, over), ratio, ours, aim=aim.get(over))
            for kind, ours, over, ratio in found(rf"^(\S+): ([^/\n]+) / ([^:\n]+): {NUMBER}$", out)], []


def sound(bench):
    out = bench.jvm("SoundRates", "--python", bench.python, "--rounds", "5" if bench.quick else "20")
    return [result(f"sound, {work}, 30 s", "torch and soundfile", ratio)
            for work, ratio in found(rf"^(\S+)\s+penstock .* {NUMBER} x, ", out)], []


def images(bench):
    seconds = ["--rounds", "1", "--seconds", "0.5", "--warmup", "1.5"] if bench.quick else []
    out = bench.peer("images.py", *seconds, "--java", bench.java, "--classes", bench.class_path)
    return [result(f"images, {name}, {work}", "Pillow", ratio)
            for name, work, ratio in found(rf"^\| (small|large|png) \| (\S+) \| .* \| {NUMBER} \|$", out)], []


def tokenizers(bench):
    out = bench.jvm("TokenizerRates", "--corpus", bench.corpus(), "--python", bench.python, "--rounds",
                    "1" if bench.quick else "3")
    rows = []
    for encoding in ("gpt2", "cl100k_base", "o200k_base"):
        text = out[out.index(f"{encoding}:"):].split("read vocabulary")[1] if f"{encoding}:" in out else ""
        sides = {}
        for line in re.findall(r"round \d+: (.*) MB a CPU second", text):
            for side, rate in re.findall(rf"(\w+) {NUMBER}(?:,|$)", line):
                sides.setdefault(side, []).append(number(rate))
        rows += [result(f"text to ids, {encoding}, one thread", side, statistics.median(sides["penstock"])
                        / statistics.median(rates)) for side, rates in sides.items() if side != "penstock"]
    return rows, []


def chats(bench):
    command = " ".join([*bench.java_command(("-Xmx1g",)), "io.penstock.cli.Penstock"])
    times, rounds = ("2", "1") if bench.quick else ("8", "3")
    out = bench.peer("chat_rates.py", bench.corpus(), bench.jtokkit(), "--times", times, "--rounds", rounds,
                     "--command", command)
    rates = dict(found(rf"^(chat|joined|transformers): {NUMBER} ", out))
    what = "conversations to ids and masks, one thread"
    return [result(what, "transformers' `apply_chat_template`", rates["chat"] / rates["transformers"]),
            result(what, "`tokenize` of the same text, joined", rates["chat"] / rates["joined"])], []


PARTS = {each.__name__: each for each in (loaders, csv, parquet, arrow, hdf5, lmdb, images, clips, sound, speech,
                                          tokenizers, chats)}


def busy_seconds():
    """CPU seconds that all processes have used since the start of the machine."""
    fields = [int(field) for field in Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:]]
    return (sum(fields[:8]) - fields[3] - fields[4]) / os.sysconf("SC_CLK_TCK")


def others(seconds=3):
    """Cores that others keep busy while this program sleeps."""
    before, start = busy_seconds(), time.monotonic()
    time.sleep(seconds)
    return (busy_seconds() - before) / (time.monotonic() - start)


def versions(bench):
    program = ("import importlib.metadata as m, importlib.util as u, platform, sys\nprint('Python', "
               "platform.python_version())\nfor n in sys.argv[1:]:\n  if u.find_spec(n):\n"
               "    print(n, m.version(m.packages_distributions()[n][0]))")
    said = subprocess.run([bench.python, "-W", "ignore", "-c", program, *PACKAGES], capture_output=True,
                          text=True).stdout
    java = subprocess.run([bench.java, "-version"], capture_output=True, text=True).stderr.splitlines()[1]
    return [f"JVM {java.partition('(build ')[2].rstrip(')')}", *said.splitlines()]


def measure(options, record):
    bench = Bench(options)
    preparing.FOLDER.mkdir(parents=True, exist_ok=True)
    if set(options.only) - {"loaders"}:
        preparing.run("sh", "bench/prepare.sh") if shutil.which("gcc") else None
    record.update(machine=preparing.machine(), versions=versions(bench))
    for name in options.only:
        busy, begin = others(), time.monotonic()
        say(f"{name}: others keep {busy:.2f} cores busy")
        try:
            rows, left_out = PARTS[name](bench)
        except (Missing, preparing.Unusable, KeyError, IndexError, statistics.StatisticsError) as reason:
            rows, left_out = [], [f"{name}: {str(reason).splitlines()[0]}"]
            say(f"{name}: left out: {reason}")
        record["parts"][name] = {
            "date": datetime.now(timezone.utc).strftime("%Y-%m-%d"), "quick": options.quick, "rows": rows,
            "left_out": left_out, "others": [round(busy, 2), round(others(), 2)],
            "seconds": round(time.monotonic() - begin)}
        options.json.write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n")


def reached(row):
    if row["aim"] is None:
        return None
    return row["ratio"] >= row["aim"] if row["at_least"] else row["ratio"] <= row["aim"]


def of_aim(row):
    """How much of its goal a row has: 1 is the goal, less is a shortfall."""
    if row["ratio"] == 0 or row["aim"] == 0:
        return 1.0 if reached(row) else 0.1
    return row["ratio"] / row["aim"] if row["at_least"] else row["aim"] / row["ratio"]


def value(row, unit=True):
    return three(row["ratio"]) + (row["unit"] if row["unit"] else " ×" if unit and row["over"] else "")


def cells(row):
    limit = "" if row["aim"] is None else f"{'≥' if row['at_least'] else '≤'} {three(row['aim'])}{row['unit']}"
    return [row["what"], row["over"] + (f" ({row['theirs']})" if row["theirs"] else ""), value(row), limit]


def page(record, svg):
    parts = record["parts"]
    rows = [row for part in parts.values() for row in part["rows"]]
    asked = sorted((row for row in rows if row["aim"] is not None), key=of_aim)
    missed = [row for row in asked if not reached(row)]
    kept = [row for row in asked if reached(row)]
    told = [row for row in rows if row["aim"] is None]
    busy = [each for part in parts.values() for each in part["others"]]
    quiet = bool(busy) and max(busy) <= QUIET_CORES
    quick = [name for name, part in parts.items() if part["quick"]]
    brief = f" Quick runs, one short round of each: {', '.join(quick)}." if quick else ""
    dates = sorted({part["date"] for part in parts.values()})
    machine = record["machine"]
    state = (f"The machine was **quiet**: before and after each part others kept at most {max(busy):.2f} cores busy."
             if quiet else
             f"The machine was **shared**: before and after the parts others kept {min(busy):.2f} to {max(busy):.2f}"
             " of its cores busy. So these figures are directional, ratios included.")
    lines = [
        "# The benchmark of record", "",
        "All workloads beside all peers, goals beside results, shortfalls first. One command measures it and writes "
        "this page:", "", "    python bench/peers/record.py", "",
        f"{machine['processor']}, {machine['cpus']} CPUs, {machine['system']}; {'; '.join(record['versions'])}. "
        f"{' to '.join(dates[:1] + dates[1:][-1:])}. {state}"
        + brief, "",
        f"{len(kept)} of {len(asked)} goals are reached. A ratio is ours over the peer's of what is said, sides by "
        "turns; [how it is measured](../bench/README.md#side-by-side), and [all figures with their "
        "history](performance.md).", "",
        f"![Results over their goals, shortfalls first]({svg})", ""]
    head = ["workload", "over", "result", "goal"]
    lines += ["## Shortfalls", ""]
    lines += (table(head, map(cells, missed), left=2) if missed else ["None."]) + ["", "## Goals that are reached", ""]
    lines += (table(head, map(cells, reversed(kept)), left=2) if kept else ["None."]) + [""]
    if told:
        lines += ["## Without a goal", ""] + table(head[:3], (cells(row)[:3] for row in told), left=2) + [""]
    left_out = [line for part in parts.values() for line in part["left_out"]]
    left_out += [f"{name}: not measured in this run" for name in PARTS if name not in parts]
    if left_out:
        lines += ["## Left out", "", *(f"- {line}" for line in left_out), ""]
    lines += ["## The parts", ""] + table(
        ["part", "day", "seconds", "cores busy by others, before and after"],
        ([name, part["date"], str(part["seconds"]), " and ".join(f"{each:.2f}" for each in part["others"])]
         for name, part in parts.items()))
    return "\n".join(lines) + "\n", asked


STYLE = """text { font: 12px system-ui, sans-serif; fill: #24292f } .small { font-size: 11px; fill: #57606a }
.title { font-size: 14px; font-weight: 600 } .grid { stroke: #d0d7de } .goal { stroke: #24292f; stroke-width: 1.5 }
.yes { fill: #1a7f37 } .no { fill: #cf222e }
@media (prefers-color-scheme: dark) { text { fill: #e6edf3 } .small { fill: #9198a1 } .grid { stroke: #3d444d }
.goal { stroke: #e6edf3 } .yes { fill: #3fb950 } .no { fill: #f85149 } }"""
LEFT, RIGHT, LINE, TOP = 470, 60, 19, 58
WIDTH = 960


def picture(rows):
    """A bar a goal, from the goal to the result, on a logarithmic axis; shortfalls, to the left, come first."""
    from math import log10
    low, high = 0.1, 10.0
    span = WIDTH - LEFT - RIGHT

    def x_of(share):
        return LEFT + span * (log10(min(high, max(low, share))) - log10(low)) / (log10(high) - log10(low))

    bottom = TOP + LINE * len(rows)
    height = bottom + 34
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" '
           'aria-label="Results over their goals">', f"<style>{STYLE}</style>",
           '<text class="title" x="12" y="24">Result over goal (logarithmic; the line is the goal)</text>']
    for share in (0.1, 0.2, 0.5, 1, 2, 5, 10):
        out.append(f'<line class="{"goal" if share == 1 else "grid"}" x1="{x_of(share):.1f}" y1="{TOP - 14}" '
                   f'x2="{x_of(share):.1f}" y2="{bottom}"/>')
        out.append(f'<text class="small" x="{x_of(share):.1f}" y="{bottom + 16}" text-anchor="middle">{share:g}</text>')
    for index, row in enumerate(rows):
        y = TOP + LINE * index
        share = of_aim(row)
        left, right = sorted((x_of(1), x_of(share)))
        style = "yes" if reached(row) else "no"
        label = row["what"].replace("`", "")
        label = label if len(label) <= 70 else label[:69] + "…"
        out.append(f'<text class="small" x="{LEFT - 12}" y="{y + 4}" text-anchor="end">{escape(label)}</text>')
        out.append(f'<rect class="{style}" x="{left:.1f}" y="{y - 5}" width="{max(2.0, right - left):.1f}" height="10" '
                   'rx="2"/>')
        out.append(f'<text class="small" x="{WIDTH - RIGHT + 6}" y="{y + 4}">{escape(value(row, False))}</text>')
    return "\n".join([*out, "</svg>"]) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS), metavar="PART", help=", ".join(PARTS))
    parser.add_argument("--workloads", nargs="+", metavar="WORKLOAD", help="of loaders: some of those of run.py")
    parser.add_argument("--quick", action="store_true", help="short rounds: directional")
    parser.add_argument("--render", action="store_true", help="measures nothing")
    parser.add_argument("--python", default=sys.executable, help="the interpreter that has the peers")
    parser.add_argument("--java", help="a JDK's java; without it JAVA_HOME, the path, the usual places")
    parser.add_argument("--class-path", help="the engine and the benchmarks, built elsewhere")
    parser.add_argument("--json", type=Path, default=FOLDER / "record.json")
    parser.add_argument("--page", type=Path, default=ROOT / "docs/benchmark.md")
    parser.add_argument("--svg", type=Path, default=ROOT / "docs/images/benchmark.svg")
    options = parser.parse_args()
    record = json.loads(options.json.read_text()) if options.json.exists() else {"parts": {}}
    try:
        if not options.render:
            options.json.parent.mkdir(parents=True, exist_ok=True)
            measure(options, record)
    except preparing.Unusable as reason:
        print(f"record: {reason}", file=sys.stderr)
        return 3
    if not record["parts"]:
        print(f"record: {options.json} has no part that was measured", file=sys.stderr)
        return 3
    text, asked = page(record, os.path.relpath(options.svg, options.page.parent))
    options.svg.write_text(picture(asked))
    options.page.write_text(text)
    print(f"{options.page}, {options.svg}: written", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Runs the C limit, Penstock and PyTorch by turns on one store, and prints a Markdown table.

    python bench/peers/compare.py --modes narrow i64 --rounds 5 --seconds 2

Every measurement is a process of its own with its own warm-up. Before each, a memcpy of the store is timed; during it,
the CPU time that other processes took is counted. A measurement with a slow memcpy or with company is dropped as
disturbed, unless that is most of them: then all stay, and the row is marked as directional. Takes the standard library
alone; the PyTorch side needs torch and numpy in the interpreter that --python names. See bench/README.md.
"""

import argparse
import json
import os
import platform
import re
import resource
import statistics
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MAIN_CLASS = "io.penstock.bench.LoaderThroughput"
# What docs/guide.md advises and the launcher passes: the loop that widens is vectorised when compiled by itself.
JVM_FLAGS = ["-XX:CompileCommand=quiet", "-XX:CompileCommand=dontinline,io.penstock.collate.Integers::store*"]
SLOW_MEMCPY = 0.75  # of the run's median speed
BUSY_OTHERS = 0.15  # cores in use by others


class Unusable(Exception):
    """Something that the person who runs this must do first."""


def limits(options, *arguments):
    return [str(options.bench_dir / "limits"), "--store", str(options.store), *arguments]


def common(options, mode):
    step = ["--step-ms", options.step_ms] if float(options.step_ms) else []
    return ["--mode", mode, "--rounds", "1", "--seconds", options.seconds, "--warmup", options.warmup,
            "--store", str(options.store), *step, *(["--read"] if options.read else [])]


def c_commands(options, mode):
    if float(options.step_ms):
        return  # the limit has no trainer to wait for
    read = ["--read"] if options.read else []
    for threads in ("1", "2"):
        yield limits(options, "--mode", mode, "--threads", threads, "--rounds", "1", "--seconds", options.seconds,
                     *read)


def penstock_commands(options, mode):
    for workers in options.workers:
        yield [options.java, "--enable-native-access=ALL-UNNAMED", *JVM_FLAGS, options.heap, "-cp", options.class_path, MAIN_CLASS,
               "--workers", workers, *common(options, mode)]


def torch_commands(options, mode):
    script = str(ROOT / "bench/peers/torch_loader.py")
    for fetch, workers, threads in [
            ("item", "0", "0"), ("item", "0", "1"), ("item", "1", "0"), ("item", "2", "0"),
            ("rows", "0", "0"), ("rows", "2", "0"), ("take", "0", "0"), ("take", "2", "0")]:
        yield [options.python, script, "--fetch", fetch, "--workers", workers, "--threads", threads,
               *common(options, mode)]


SIDES = {"c": c_commands, "penstock": penstock_commands, "torch": torch_commands}


def output_of(command):
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    if done.returncode != 0:
        raise Unusable(f"exit status {done.returncode} from: {' '.join(command)}\n{done.stderr.strip()}")
    return done.stdout


def json_lines(command):
    return [json.loads(line) for line in output_of(command).splitlines() if line.startswith("{")]


def busy_seconds():
    """CPU time of the whole machine since it started; nothing where /proc does not say."""
    try:
        user, nice, system, _, _, irq, softirq, steal = map(int, Path("/proc/stat").read_text().split()[1:9])
    except (OSError, ValueError):
        return None
    return (user + nice + system + irq + softirq + steal) / os.sysconf("SC_CLK_TCK")


def children_seconds():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def measure_one(command):
    """The measurement, and how many cores other processes used meanwhile."""
    busy, own, begin = busy_seconds(), children_seconds(), time.perf_counter()
    result = json_lines(command)[-1]
    seconds = time.perf_counter() - begin
    if busy is not None:
        result["other_cores"] = round((busy_seconds() - busy - (children_seconds() - own)) / seconds, 3)
    return result


def check_sides(options):
    """Before hours of measuring: is everything there?"""
    for needed in (options.bench_dir / "limits", options.store):
        if not needed.exists():
            raise Unusable(f"{needed} is not there: run bench/prepare.sh first")
    if "penstock" in options.sides:
        main_class = MAIN_CLASS.replace(".", "/") + ".class"
        if not any((Path(part) / main_class).exists() for part in options.class_path.split(os.pathsep)):
            raise Unusable(
                f"{MAIN_CLASS} is not in {options.class_path}: run mvn -Pbench validate test-compile first "
                "(or leave Penstock out: --sides c torch)")
        version = subprocess.run([options.java, "-version"], capture_output=True, text=True).stderr
        found = re.search(r'version "(\d+)', version)
        if not found or int(found[1]) < 25:
            raise Unusable(f"{options.java} is not a JDK 25: set JAVA_HOME, or name one with --java")
    if "torch" in options.sides:
        output_of([options.python, "-c", "import numpy, torch"])


def measure(options):
    results = []
    commands = [(mode, command) for mode in options.modes for side in options.sides
                for command in SIDES[side](options, mode)]
    total = options.rounds * len(commands)
    for round_number in range(1, options.rounds + 1):
        for mode, command in commands:
            print(f"\r{len(results) + 1}/{total}", end="", file=sys.stderr, flush=True)
            copies = json_lines(limits(options, "--mode", "copy", "--rounds", "3"))
            result = measure_one(command)
            result["round"] = round_number
            result["memcpy_gigabytes_per_second"] = statistics.median(c["gigabytes_per_second"] for c in copies)
            results.append(result)
            if options.json:
                with open(options.json, "a") as log:
                    log.write(json.dumps(result) + "\n")
    print(file=sys.stderr)
    return results


def bytes_a_sample(mode, window):
    return {"narrow": (window + 1) * 2, "i32": 2 * window * 4, "i64": 2 * window * 8}[mode]


def summarise(results):
    """A row a configuration, without its disturbed rounds, or with all where most are disturbed."""
    speeds = [r["memcpy_gigabytes_per_second"] for r in results]
    floor = SLOW_MEMCPY * statistics.median(speeds)
    rows = {}
    for r in results:
        row = rows.setdefault((r["mode"], r["side"], r["config"]), {"kept": [], "disturbed": []})
        disturbed = r["memcpy_gigabytes_per_second"] < floor or r.get("other_cores", 0) > BUSY_OTHERS
        row["disturbed" if disturbed else "kept"].append(r)
    for row in rows.values():
        row["directional"] = len(row["disturbed"]) > len(row["kept"])
        if row["directional"]:
            row["kept"] += row["disturbed"]
    return rows, speeds


def best(rows, mode, side, only=""):
    """The fastest configuration of a side, as (name, samples a second); nothing where there is none."""
    rates = [(statistics.median(r["samples_per_second"] for r in row["kept"]), config)
             for (m, s, config), row in rows.items() if m == mode and s == side and only in config]
    return max(rates, default=(None, None))


def median(kept, field):
    values = [r[field] for r in kept if field in r]
    return statistics.median(values) if values else None


def number(value, pattern):
    return "" if value is None else format(value, pattern)


def ratio(rate, reference):
    return number(rate / reference if rate and reference else None, ".3g")


def processor():
    try:
        return re.search(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text())[1]
    except (OSError, TypeError):
        return platform.processor() or platform.machine()


def print_report(options, rows, speeds):
    dropped = sum(len(row["disturbed"]) for row in rows.values() if not row["directional"])
    step = f", after a step of {options.step_ms} ms" if float(options.step_ms) else ""
    print(f"{processor()}, {os.cpu_count()} CPUs, {platform.system()} {platform.release().partition('-')[0]}. "
          f"Store {options.store.name}, {options.store.stat().st_size / 1e6:.0f} MB, in the page cache; windows of "
          f"{options.window}+1, batch 32; the consumer {'reads every word of' if options.read else 'does not read'} "
          f"the batch{step}. {options.rounds} rounds of {options.seconds} s by turns, JVM with {options.heap}; "
          f"memcpy of the store {min(speeds):.1f} to {max(speeds):.1f} GB/s, median {statistics.median(speeds):.1f}; "
          f"{dropped} disturbed measurements dropped.\n")
    columns = ["tokens", "configuration", "samples/s, median", "min to max", "GB/s out", "CPU s per 1 M tokens",
               "next() p50 ms", "p99 ms"]
    saturated = not float(options.step_ms)
    if saturated:
        columns += ["of C, 1 thread", "× torch item, best", "× torch, best"]
    print("| " + " | ".join(columns) + " |")
    print("|---|---|" + "---:|" * (len(columns) - 2))
    for (mode, side, config), row in rows.items():
        kept = row["kept"]
        rates = [r["samples_per_second"] for r in kept]
        rate = statistics.median(rates)
        cells = [
            mode, config, f"{rate:,.0f}" + (" †" if row["directional"] else ""),
            f"{min(rates):,.0f} to {max(rates):,.0f}",
            f"{rate * bytes_a_sample(mode, options.window) / 1e9:.2f}",
            f"{statistics.median(r['cpu_seconds'] / (r['samples'] * options.window) * 1e6 for r in kept):.2g}",
            number(median(kept, "next_p50_ms"), ".3f"), number(median(kept, "next_p99_ms"), ".3f")]
        if saturated:
            cells += [ratio(rate, best(rows, mode, *peer)[0])
                      for peer in (("c", "1 thread"), ("torch", "item"), ("torch",))]
        print("| " + " | ".join(cells) + " |")
    if any(row["directional"] for row in rows.values()):
        print("\n† directional: other processes disturbed most of its rounds")
    if saturated:
        print()
        for mode in options.modes:
            for name, only in (("item by item", "item"), ("any fetch", "")):
                rate, config = best(rows, mode, "torch", only)
                if rate:
                    print(f"- {mode}: PyTorch's best, {name}: {config}, {rate:,.0f} samples/s")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    java_home = os.environ.get("JAVA_HOME")
    parser.add_argument("--sides", nargs="+", choices=SIDES, default=list(SIDES))
    parser.add_argument("--modes", nargs="+", choices=["narrow", "i32", "i64"], default=["narrow", "i64"])
    parser.add_argument("--workers", nargs="+", default=["1", "2"], help="Penstock's worker counts")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", default="2")
    parser.add_argument("--warmup", default="2")
    parser.add_argument("--step-ms", default="0", help="a trainer's step between batches: then next() is what counts")
    parser.add_argument("--read", action="store_true", help="the consumer reads every word of the batch")
    parser.add_argument("--bench-dir", type=Path, default=ROOT / "target/bench")
    parser.add_argument("--store", type=Path, help="raw u16 tokens (default: tokens.bin in the bench dir)")
    parser.add_argument("--python", default=sys.executable, help="the interpreter that has torch")
    parser.add_argument("--java", default=os.path.join(java_home, "bin", "java") if java_home else "java")
    parser.add_argument("--heap", default="-Xmx512m", help="the JVM's heap option")
    class_path = os.pathsep.join(str(ROOT / "target" / folder) for folder in ("test-classes", "classes"))
    parser.add_argument("--class-path", default=class_path)
    parser.add_argument("--json", help="append every measurement to this file, a JSON object a line")
    options = parser.parse_args()
    options.store = (options.store or options.bench_dir / "tokens.bin").resolve()
    options.window = 1024
    try:
        check_sides(options)
        rows, speeds = summarise(measure(options))
        print_report(options, rows, speeds)
    except Unusable as reason:
        print(f"compare: {reason}", file=sys.stderr)
        return 3
    return 0


if __name__ == "__main__":
    sys.exit(main())

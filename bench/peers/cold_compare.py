# SPDX-License-Identifier: Apache-2.0
"""Reads a file that is not in the page cache, by fio and by Penstock's loader by turns, and prints a Markdown table.

    python bench/peers/cold_compare.py --store target/bench/cold.bin --rounds 5 --seconds 2

The store is made if it is not there (3 GB of noise). Random windows: fio's random read of the same size, depth 32, past
the page cache (direct) and through it, beside the loader in each configuration. Sequential: a whole epoch, beside fio's
sequential read of the whole file. Before each round the file is dropped from the page cache, and how much of it is
still there is written down. The engine's side is one process for all rounds, warmed up, that waits for its turn.
Takes the standard library alone, and fio. See bench/README.md.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
from pathlib import Path

from sidebyside import preparing

ROOT = Path(__file__).resolve().parents[2]
MAIN_CLASS = "io.penstock.bench.ColdReads"
DEPTHS = {"direct": ["--direct=1"], "buffered": ["--direct=0", "--invalidate=1"]}


class Unusable(Exception):
    """Something that the person who runs this must do first."""


def make_store(path, size):
    """Noise: what compresses, or is a hole, a device may read without reading."""
    print(f"writing {path}", file=sys.stderr)
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "wb") as out:
        for _ in range(size >> 20):
            out.write(os.urandom(1 << 20))
        os.fsync(out.fileno())


def drop(path):
    """Has the page cache let go of the file; returns nothing, the engine's side tells how much is left."""
    with open(path, "rb") as file:
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


class Fio:
    def __init__(self, options, order, config, arguments):
        self.order, self.config = order, config
        size = options.window_bytes if order == "random" else None
        self.command = [options.fio, "--name=cold", f"--filename={options.store}", "--readonly",
                        "--output-format=json", *arguments]
        if order == "random":
            self.command += ["--rw=randread", f"--bs={size}", f"--runtime={options.seconds}", "--time_based"]
        else:
            self.command += ["--rw=read", "--bs=1m"]
        self.store = options.store

    def round(self):
        drop(self.store)
        done = subprocess.run(self.command, capture_output=True, text=True)
        if done.returncode:
            raise Unusable(f"exit status {done.returncode} from: {' '.join(self.command)}\n{done.stderr.strip()}")
        job = json.loads(done.stdout)["jobs"][0]
        read = job["read"]
        return {"side": "fio", "config": self.config, "order": self.order, "bytes": read["io_bytes"],
                "seconds": read["runtime"] / 1e3, "bytes_per_second": read["bw_bytes"],
                "cpu_seconds": (job["usr_cpu"] + job["sys_cpu"]) / 100 * read["runtime"] / 1e3}

    def close(self):
        pass


class Penstock:
    """One process for a configuration: it waits for a line on its standard input before each round."""

    def __init__(self, options, order, mode, workers):
        command = [options.java, "--enable-native-access=ALL-UNNAMED", options.heap, "-cp", options.class_path,
                   MAIN_CLASS, "--store", str(options.store), "--turns", "--modes", mode, "--workers", str(workers),
                   "--rounds", str(options.rounds), "--order", order, "--window-bytes", str(options.window_bytes),
                   "--batch", str(options.batch),
                   "--seconds", str(options.seconds if order == "random" else 600)]
        self.process = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def round(self):
        try:
            self.process.stdin.write("\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass
        line = self.process.stdout.readline()
        if not line:
            raise Unusable(f"{MAIN_CLASS} ended with {self.process.wait()}")
        return json.loads(line)

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def sides(options, order):
    if order == "random":
        yield Fio(options, order, "fio direct, depth 32", ["--ioengine=io_uring", "--iodepth=32", *DEPTHS["direct"]])
        yield Fio(options, order, "fio buffered, depth 32",
                  ["--ioengine=io_uring", "--iodepth=32", *DEPTHS["buffered"]])
        yield Fio(options, order, "fio buffered, depth 1", ["--ioengine=psync", *DEPTHS["buffered"]])
    else:
        yield Fio(options, order, "fio direct, depth 4", ["--ioengine=io_uring", "--iodepth=4", *DEPTHS["direct"]])
        yield Fio(options, order, "fio buffered", ["--ioengine=psync", *DEPTHS["buffered"]])
    for workers in options.workers:
        for mode in options.modes:
            yield Penstock(options, order, mode, workers)


def measure(options):
    """All rounds of all sides, as the dictionaries that they print."""
    results = []
    for order in options.orders:
        open_sides = []
        try:
            open_sides.extend(sides(options, order))
            for round_number in range(1, options.rounds + 1):
                for number, side in enumerate(open_sides, 1):
                    print(f"\r{order} {round_number}/{options.rounds}, {number}/{len(open_sides)} ", end="",
                          file=sys.stderr, flush=True)
                    results.append({**side.round(), "round": round_number})
        finally:
            for side in open_sides:
                side.close()
    print(file=sys.stderr)
    return results


def summarise(results):
    """A row for each order and configuration: medians, spread, and the ratio to each fio row of the same order."""
    rows = {}
    for result in results:
        rows.setdefault((result["order"], result["side"], result["config"]), []).append(result)
    summary = []
    for (order, side, config), rounds in rows.items():
        rates = sorted(r["bytes_per_second"] for r in rounds)
        summary.append({
            "order": order, "side": side, "config": config, "rounds": len(rates),
            "bytes_per_second": statistics.median(rates), "least": rates[0], "most": rates[-1],
            "cpu_seconds_per_gigabyte": statistics.median(r["cpu_seconds"] / r["bytes"] * 1e9 for r in rounds),
            "resident_before": max(r.get("resident_before", 0) for r in rounds)})
    for row in summary:
        for kind in ("direct", "buffered"):
            peer = [p for p in summary if p["order"] == row["order"] and p["side"] == "fio"
                    and kind in p["config"] and "depth 1" not in p["config"]]
            row["of_" + kind] = row["bytes_per_second"] / peer[0]["bytes_per_second"]
    return summary


def table(summary):
    lines = ["| order | configuration | MB/s, median | least to most | of fio direct | of fio buffered | CPU s a GB |",
             "|---|---|---|---|---|---|---|"]
    for row in summary:
        lines.append(f"| {row['order']} | {'Penstock ' if row['side'] == 'penstock' else ''}{row['config']} "
                     f"| {row['bytes_per_second'] / 1e6:,.0f} | {row['least'] / 1e6:,.0f} to {row['most'] / 1e6:,.0f} "
                     f"| {row['of_direct']:.2f} | {row['of_buffered']:.2f} "
                     f"| {row['cpu_seconds_per_gigabyte']:.2f} |")
    return "\n".join(lines)


def parse(arguments):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--store", type=Path, default=ROOT / "target/bench/cold.bin")
    parser.add_argument("--store-bytes", type=int, default=3 << 30)
    parser.add_argument("--window-bytes", type=int, default=16384)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=2)
    parser.add_argument("--orders", nargs="+", default=["random", "sequential"], choices=["random", "sequential"])
    parser.add_argument("--workers", nargs="+", type=int, default=[1, 2])
    parser.add_argument("--modes", nargs="+", default=["auto", "pread:0", "mmap:0"],
                        help="a read mode each, with the bytes to read ahead behind a colon if not the default")
    parser.add_argument("--java", default=os.path.join(os.environ["JAVA_HOME"], "bin/java")
                        if "JAVA_HOME" in os.environ else "java")
    parser.add_argument("--heap", default="-Xmx256m")
    parser.add_argument("--class-path", default=preparing.class_path(ROOT))
    parser.add_argument("--fio", default="fio")
    parser.add_argument("--json", type=Path, help="append every measurement to this file")
    return parser.parse_args(arguments)


def main(arguments=None):
    options = parse(arguments)
    if not options.store.exists():
        make_store(options.store, options.store_bytes)
    results = measure(options)
    if options.json:
        with open(options.json, "a") as log:
            log.writelines(json.dumps(result) + "\n" for result in results)
    print(table(summarise(results)))


if __name__ == "__main__":
    try:
        main()
    except (Unusable, OSError) as problem:
        sys.exit(f"{Path(sys.argv[0]).name}: {problem}")

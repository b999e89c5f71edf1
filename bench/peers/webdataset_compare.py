"""Runs Penstock and the webdataset library by turns on the same shards, and prints a Markdown table of medians.

    python bench/peers/webdataset_compare.py --rounds 5

Every measurement is a process of its own with its own warm-up. The shards (8 of 2,000 samples of 20 KB, 330 MB) are
written first, and read once so that they are in the page cache. See bench/README.md.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MAIN_CLASS = "io.penstock.bench.WebDatasetThroughput"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", default="target/bench/webdataset")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", default="2")
    parser.add_argument("--warmup", default="2")
    parser.add_argument("--java", default=os.path.join(os.environ["JAVA_HOME"], "bin/java")
                        if "JAVA_HOME" in os.environ else "java")
    parser.add_argument("--class-path", default=os.pathsep.join(("target/classes", "target/test-classes")))
    parser.add_argument("--python", default=sys.executable)
    options = parser.parse_args()
    java = [options.java, "--enable-native-access=ALL-UNNAMED", "-Xmx512m", "-cp", options.class_path, MAIN_CLASS]
    if not Path(ROOT / options.data).exists():
        subprocess.run([*java, "--write", options.data], cwd=ROOT, check=True)
    for shard in sorted((ROOT / options.data).glob("*.tar")):
        shard.read_bytes()
    timed = ["--data", options.data, "--seconds", options.seconds, "--warmup", options.warmup]
    peer = [options.python, str(ROOT / "bench/peers/webdataset_loader.py")]
    commands = [[*java, *timed, "--path", path, "--workers", str(workers)]
                for path, workers in (("loader", 1), ("loader", 2), ("full", 2), ("stream", 1), ("store", 1))]
    commands += [[*peer, *timed, "--workers", str(workers), "--batch", batch]
                 for batch in ("bytes", "array") for workers in (0, 1, 2)]
    found = {}
    for _ in range(options.rounds):
        for command in commands:
            done = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
            result = json.loads(done.stdout.strip().splitlines()[-1])
            found.setdefault((result["side"], result["config"]), []).append(
                (result["samples_per_second"], result["cpu_us_per_sample"]))
            print(result, file=sys.stderr)
    rates = {key: statistics.median(rate for rate, _ in values) for key, values in found.items()}
    costs = {key: statistics.median(cost for _, cost in values) for key, values in found.items()}
    fastest = max(rate for (side, _), rate in rates.items() if side == "webdataset")
    cheapest = min(cost for (side, _), cost in costs.items() if side == "webdataset")
    print("| configuration | samples/s, median | min to max | × webdataset, fastest | CPU µs a sample "
          "| webdataset's least, × |\n|---|---:|---:|---:|---:|---:|")
    for key, values in found.items():
        print(f"| {key[1]} | {rates[key]:,.0f} | {min(values)[0]:,.0f} to {max(values)[0]:,.0f} "
              f"| {rates[key] / fastest:.3g} | {costs[key]:.3g} | {cheapest / costs[key]:.3g} |")


if __name__ == "__main__":
    main()

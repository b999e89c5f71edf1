# SPDX-License-Identifier: Apache-2.0
"""The whole command `penstock tokenize`, with one thread and with several by turns: CPU seconds, wall clock, their ratio.

    python3 bench/peers/text_corpus.py --out target/bench/text.jsonl --megabytes 40
    python3 bench/peers/tokenize_command.py target/bench/text.jsonl --times 20 --threads 1,2 --rounds 3

The corpus is repeated --times times, so that the start of the JVM counts for little. --command says how penstock is run.
With each round, a loop without memory says what several processes get of this machine: as many times the work of one.
"""

import argparse
import json
import os
import pathlib
import shlex
import statistics
import subprocess
import sys
import tempfile
import time


def run(command, corpus, folder, encoding, threads):
    """CPU seconds, wall-clock seconds and the result of one run."""
    before = os.times()
    start = time.monotonic()
    answer = subprocess.run([*command, "tokenize", corpus, "-o", folder / "out", "--force", "--append-eot", "--encoding",
                             encoding, "--threads", str(threads), "--json"], check=True, capture_output=True).stdout
    wall = time.monotonic() - start
    after = os.times()
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    return cpu, wall, json.loads(answer)


def machine(count):
    """How many times the work of one process so many do, in a loop that needs nothing but a core."""
    def seconds(processes):
        start = time.monotonic()
        loops = [subprocess.Popen([sys.executable, "-c", "for i in range(30_000_000): i * i"]) for _ in range(processes)]
        for loop in loops:
            loop.wait()
        return time.monotonic() - start
    return count * seconds(1) / seconds(count)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("corpus", type=pathlib.Path)
    parser.add_argument("--times", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--encodings", default="gpt2,cl100k_base")
    parser.add_argument("--command", default="./penstock")
    options = parser.parse_args()
    counts = [int(count) for count in options.threads.split(",")]
    with tempfile.TemporaryDirectory(dir=options.corpus.parent) as name:
        folder = pathlib.Path(name)
        corpus = folder / "corpus.jsonl"
        with open(corpus, "wb") as out:
            for _ in range(options.times):
                out.write(options.corpus.read_bytes())
        for encoding in options.encodings.split(","):
            runs = {count: [] for count in counts}
            loops = {count: [] for count in counts}
            for _ in range(options.rounds):
                for count in counts:
                    cpu, wall, found = run(shlex.split(options.command), corpus, folder, encoding, count)
                    runs[count].append((found["text_bytes"] / 1e6 / cpu, found["text_bytes"] / 1e6 / wall))
                    loops[count].append(machine(count))
                    print(f"{encoding}, {count} threads: {found['text_bytes'] / 1e6:.0f} MB, {cpu:.2f} CPU s,"
                          f" {wall:.2f} s", flush=True)
            for count in counts:
                per_cpu, per_wall = zip(*runs[count])
                print(f"{encoding}, {count} threads: {statistics.median(per_cpu):.1f} ({min(per_cpu):.1f} to"
                      f" {max(per_cpu):.1f}) MB a CPU second, {statistics.median(per_wall):.1f} MB/s,"
                      f" {statistics.median(per_wall) / statistics.median(w for _, w in runs[counts[0]]):.2f} times"
                      f" {counts[0]}; a loop {statistics.median(loops[count]):.2f} times")


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: Apache-2.0
"""What a peer in Python does to be measured by turns with others: it says when its first batch is there, then answers
each line `SECONDS READ STEP_MS` of standard input with a round, a JSON line.
"""

import json
import multiprocessing
import os
import statistics
import sys
import time


def cpu_seconds():
    """Of this process and its live workers."""
    total = sum(os.times()[:2])
    tick = os.sysconf("SC_CLK_TCK")
    for child in multiprocessing.active_children():
        with open(f"/proc/{child.pid}/stat") as stat:
            fields = stat.read().rpartition(")")[2].split()
        total += (int(fields[11]) + int(fields[12])) / tick
    return total


def run_round(batches, seconds, step_seconds, read):
    """Takes batches for the time given; the seconds of each next() and the whole."""
    waits = []
    begin = time.perf_counter()
    end = begin + seconds
    now = begin
    while now < end:
        batch = next(batches)
        got = time.perf_counter()
        waits.append(got - now)
        if read:
            read(batch)
        if step_seconds:
            time.sleep(step_seconds)
        now = time.perf_counter()
    return waits, now - begin


def serve(batches, batch_samples, read, check=None):
    """Until standard input ends. `batches` is an iterator without an end, `read` reads the whole of one."""
    first = next(batches)
    if check:
        check(first)
    del first
    print(json.dumps({"ready": True}), flush=True)
    for line in sys.stdin:
        seconds, wants_read, step_ms = line.split()
        cpu = cpu_seconds()
        waits, took = run_round(batches, float(seconds), float(step_ms) / 1e3, read if wants_read == "1" else None)
        cpu = cpu_seconds() - cpu
        quantiles = statistics.quantiles(waits, n=100, method="inclusive") if len(waits) > 1 else waits * 99
        samples = len(waits) * batch_samples
        print(json.dumps({
            "batches": len(waits), "samples": samples, "seconds": round(took, 6),
            "samples_per_second": round(samples / took, 1), "cpu_seconds": round(cpu, 6),
            "next_p50_ms": round(quantiles[49] * 1e3, 5), "next_p99_ms": round(quantiles[98] * 1e3, 5)}), flush=True)

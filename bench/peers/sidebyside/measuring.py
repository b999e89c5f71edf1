# SPDX-License-Identifier: Apache-2.0
"""Rounds by turns, and what is recorded beside each: how fast the machine was, and who else used it."""

import os
import time
from dataclasses import replace
from pathlib import Path

from .sides import Request

CALIBRATION_BYTES = 64 << 20
SPIN = 200_000
PEER_WARMUP_SECONDS = 0.4


class Calibration:
    """A copy of memory and a loop of the interpreter: slow phases of a shared machine hit them differently."""

    def __init__(self):
        self.source = memoryview(bytearray(os.urandom(1 << 20) * (CALIBRATION_BYTES >> 20)))
        self.target = memoryview(bytearray(CALIBRATION_BYTES))
        self.take()

    def take(self):
        begin = time.perf_counter()
        self.target[:] = self.source
        copied = time.perf_counter()
        total = 0
        for i in range(SPIN):
            total += i
        spun = time.perf_counter()
        return {"memcpy_gigabytes_per_second": round(CALIBRATION_BYTES / (copied - begin) / 1e9, 3),
                "spins_per_second": round(SPIN / (spun - copied))}


def busy_seconds():
    """CPU time of the whole machine since it started, what its host took included; None where nothing says it."""
    try:
        user, nice, system, _, _, irq, softirq, steal = map(int, Path("/proc/stat").read_text().split()[1:9])
    except (OSError, ValueError):
        return None
    return (user + nice + system + irq + softirq + steal) / os.sysconf("SC_CLK_TCK")


class Meter:
    """Takes measurements, each a record: what the side answered, and the machine's state around it."""

    def __init__(self, workload, say):
        self.workload = workload
        self.say = say
        self.calibration = Calibration()
        self.records = []

    def record(self, side, kind, round_number, answer, **more):
        self.records.append({**answer, "workload": self.workload, "group": side.group, "config": side.config,
                             "kind": kind, "round": round_number, **more})

    def measure(self, running, request, round_number, **more):
        self.say(f"{self.workload}: round {round_number}, {running.side.config}, {request.kind}")
        before = self.calibration.take()
        busy, begin = busy_seconds(), time.perf_counter()
        answer = running.round(request)
        took = time.perf_counter() - begin
        own = answer.pop("process_cpu_seconds", answer["cpu_seconds"])
        if busy is not None:
            others = busy_seconds() - busy - own
            more["other_cores"] = round(max(0.0, others / took), 3)
        after = self.calibration.take()
        slower = {name: min(before[name], after[name]) for name in before}
        self.record(running.side, request.kind, round_number, answer, **slower, **more)


def by_turns(meter, sides, requests, rounds, warmup, engine_rounds):
    """
    Every side answers every request of its kinds, round after round. Peers stay in memory and rest meanwhile. The
    engine is started anew every so many rounds, since what the compiler makes of it differs from JVM to JVM.
    """
    running, slots = {}, {}
    try:
        for round_number in range(1, rounds + 1):
            for side in sides:
                anew = side.group == "penstock" and (round_number - 1) % engine_rounds == 0
                if side not in running or anew:
                    if side in running:
                        running.pop(side).stop()
                    meter.say(f"{meter.workload}: starting {side.config}")
                    running[side] = side.start()
                    slots[side.config] = running[side].ready.get("slots")
                    warm(running[side], requests, warmup)
                if side.ring_of:
                    running[side].ring = slots[side.ring_of]
                for request in requests:
                    if request.kind in side.kinds:
                        meter.measure(running[side], request, round_number)
    finally:
        for each in running.values():
            each.stop()


def warm(running, requests, warmup):
    """The engine until its loops are compiled; a peer, which interprets, for a moment."""
    if running.pid is None:
        return
    seconds = warmup if running.side.group == "penstock" else min(warmup, PEER_WARMUP_SECONDS)
    for request in requests:
        if request.kind in running.side.kinds:
            running.round(replace(request, seconds=seconds))
            seconds = min(seconds, PEER_WARMUP_SECONDS)


def first_batches(meter, sides, rounds):
    """The time from the start of a process until its first batch is there."""
    for round_number in range(0, rounds + 1):  # round 0 brings files in
        for side in sides:
            meter.say(f"{meter.workload}: round {round_number}, {side.config}")
            machine = meter.calibration.take()
            running = side.start()
            if round_number:
                meter.record(side, "first", round_number, {"first_batch_ms": round(running.ready_seconds * 1e3, 2)},
                             **machine)
            running.stop()


def memory(meter, sides, rounds, warmup):
    """Memory of a side's processes that is not a page of its store, once it has run for a while."""
    for round_number in range(1, rounds + 1):
        for side in sides:
            meter.say(f"{meter.workload}: round {round_number}, {side.config}")
            running = side.start()
            running.round(Request("saturated", warmup))
            meter.record(side, "memory", round_number, proportional_set(running.pid, side.maps))
            running.stop()


def processes_below(pid):
    found = [pid]
    for thread in Path(f"/proc/{pid}/task").iterdir():
        for child in (thread / "children").read_text().split():
            found += processes_below(int(child))
    return found


def proportional_set(pid, store):
    """PSS of a process and those below it in bytes: all of it, and the pages of the store within it."""
    store = [os.path.realpath(path) for path in store]
    total = mapped = 0
    processes = processes_below(pid)
    for process in processes:
        name = ""
        for line in Path(f"/proc/{process}/smaps").read_text().splitlines():
            fields = line.split(None, 5)
            if "-" in fields[0] and not fields[0].endswith(":"):
                name = fields[5] if len(fields) > 5 else ""
            elif fields[0] == "Pss:":
                bytes_here = int(fields[1]) * 1024
                total += bytes_here
                mapped += bytes_here if name in store else 0
    return {"processes": len(processes), "pss_bytes": total, "store_pss_bytes": mapped,
            "pss_above_store_bytes": total - mapped}

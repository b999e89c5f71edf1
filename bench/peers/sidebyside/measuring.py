# SPDX-License-Identifier: Apache-2.0
"""Rounds by turns, and what is recorded beside each: how fast the machine was, and who else used it."""

import os
import time
from dataclasses import replace
from pathlib import Path

from .sides import Request, SideFailed

CALIBRATION_BYTES = 64 << 20
SPIN = 200_000
PEER_WARMUP_SECONDS = 0.4
WARMUP_ROUND_SECONDS = 0.5
AGREEING = 3
SPREAD = 1.05  # of rounds that agree


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
        self.left_out = []

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
    sides = list(sides)
    try:
        for round_number in range(1, rounds + 1):
            for side in list(sides):
                anew = side.group == "penstock" and (round_number - 1) % engine_rounds == 0
                try:
                    if side not in running or anew:
                        if side in running:
                            running.pop(side).stop()
                        meter.say(f"{meter.workload}: starting {side.config}")
                        running[side] = side.start()
                        slots[side.config] = running[side].ready.get("slots")
                        warm(meter, running[side], requests, warmup, round_number)
                    if side.ring_of:
                        running[side].ring = slots[side.ring_of]
                    for request in requests:
                        if request.kind in side.kinds:
                            meter.measure(running[side], request, round_number)
                except SideFailed as reason:
                    if not side.optional:
                        raise
                    meter.left_out.append(f"{meter.workload}, {side.config}: {reason.in_short()}")
                    meter.records = [r for r in meter.records if r["config"] != side.config]
                    sides.remove(side)
    finally:
        for each in running.values():
            each.stop()


def warm(meter, running, requests, most, round_number):
    """
    The engine until rounds agree, as on a slow day its loops are compiled late; a peer, which interprets, for a moment.
    Records how long the engine took, from the start of its process to the end of the first round that agreed.
    """
    if running.pid is None:
        return
    asked = [request for request in requests if request.kind in running.side.kinds]
    if running.side.group == "penstock" and asked:
        first, *asked = asked
        took, agreed = until_rounds_agree(
            lambda: running.round(replace(first, seconds=WARMUP_ROUND_SECONDS))["samples_per_second"], most)
        meter.record(running.side, "warm-up", round_number,
                     {"full_speed_seconds": round(running.ready_seconds + took, 2), "rounds_agreed": agreed})
    for request in asked:
        running.round(replace(request, seconds=min(most, PEER_WARMUP_SECONDS)))


def until_rounds_agree(rate, most, clock=time.perf_counter):
    """(seconds until the first of the last rounds, whether they agreed before there were too many seconds)"""
    rates, ends, begin = [], [], clock()
    while True:
        rates.append(rate())
        ends.append(clock() - begin)
        last = rates[-AGREEING:]
        agreed = len(last) == AGREEING and max(last) <= SPREAD * min(last)
        if agreed or ends[-1] >= most:
            return ends[-len(last)], agreed


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


def memory(meter, sides, rounds, seconds):
    """Memory of a side's processes that is not a page of its store, once it has run for a while."""
    for round_number in range(1, rounds + 1):
        for side in sides:
            meter.say(f"{meter.workload}: round {round_number}, {side.config}")
            running = side.start()
            running.round(Request("saturated", seconds))
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

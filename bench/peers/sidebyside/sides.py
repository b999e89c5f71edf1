# SPDX-License-Identifier: Apache-2.0
"""Sides: processes that are measured, a round at a time."""

import json
import os
import resource
import select
import signal
import subprocess
import tempfile
import time
from dataclasses import dataclass

READY_SECONDS = 120
ROUND_SLACK_SECONDS = 60
STOP_SECONDS = 5


class SideFailed(Exception):
    """A side did not start, or ended before it was asked to. Its first line without the command is for reports."""

    def in_short(self):
        return str(self).split("\n", 1)[0].split(": ", 1)[0]


@dataclass(frozen=True)
class Request:
    """One round: how long, whether the consumer reads every word of each batch, the trainer's step between batches."""

    kind: str
    seconds: float
    read: bool = False
    step_ms: float = 0

    def line(self):
        return f"{self.seconds} {int(self.read)} {self.step_ms}\n"


@dataclass(frozen=True)
class Side:
    """
    What is measured.

    group    whose it is: c, penstock, torch, numpy, webdataset
    config   what tells it from others of the workload; unique in it
    command  the process: for the C limits without seconds and --read
    maps     the files that it maps: not counted as its memory
    quick    whether a quick run has it too
    kinds    the kinds of request that it takes part in
    ring_of  for the C limits: the config whose number of slots is the number of their output buffers
    optional whether the workload is measured without it if it fails, as what an older library or an older Penstock lacks
    """

    group: str
    config: str
    command: tuple
    maps: tuple = ()
    quick: bool = True
    kinds: tuple = ("saturated",)
    ring_of: str = ""
    optional: bool = False

    def start(self):
        return OneShot(self) if self.group == "c" else Server(self)


def children_seconds():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


class OneShot:
    """The limits in C: a process a round, which warms up by itself."""

    pid = None
    ready = {}

    def __init__(self, side):
        self.side = side
        self.ring = 8

    def round(self, request):
        command = [*self.side.command, "--ring", str(self.ring), "--rounds", "1", "--seconds", str(request.seconds)]
        if request.read:
            command.append("--read")
        before = children_seconds()
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            raise SideFailed(f"exit status {done.returncode} from: {' '.join(command)}\n{done.stderr.strip()}")
        answer = json.loads(done.stdout.strip().splitlines()[-1])
        return {**answer, "process_cpu_seconds": children_seconds() - before, "ring": self.ring}

    def stop(self):
        pass


class Server:
    """A process that has its loader open, and answers each request with a round."""

    def __init__(self, side):
        self.side = side
        self.errors = tempfile.TemporaryFile()
        begin = time.perf_counter()
        self.process = subprocess.Popen(side.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=self.errors, start_new_session=True)
        self.pid = self.process.pid
        self.pending = b""
        self.ready = self.answer(READY_SECONDS)
        self.ready_seconds = time.perf_counter() - begin

    def answer(self, seconds):
        """The next line of JSON."""
        end = time.perf_counter() + seconds
        while True:
            while b"\n" in self.pending:
                line, _, self.pending = self.pending.partition(b"\n")
                if line.startswith(b"{"):
                    return json.loads(line)
            ready = select.select([self.process.stdout], [], [], max(0, end - time.perf_counter()))[0]
            more = os.read(self.process.stdout.fileno(), 1 << 16) if ready else b""
            if not more:
                self.fail("ended" if ready else f"said nothing for {seconds} s")
            self.pending += more

    def fail(self, why):
        self.errors.seek(0)
        said = self.errors.read().decode(errors="replace").strip()
        self.stop()
        raise SideFailed(f"{self.side.config} {why}: {' '.join(self.side.command)}\n{said}")

    def round(self, request):
        try:
            self.process.stdin.write(request.line().encode())
            self.process.stdin.flush()
        except BrokenPipeError:
            self.fail("ended")
        return self.answer(request.seconds + ROUND_SLACK_SECONDS)

    def stop(self):
        """Ends the process as it would end by itself, and whatever is left of its session."""
        try:
            self.process.stdin.close()
            self.process.wait(STOP_SECONDS)
        except (BrokenPipeError, subprocess.TimeoutExpired):
            pass
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait()
        self.process.stdout.close()
        self.errors.close()

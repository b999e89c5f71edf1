# SPDX-License-Identifier: Apache-2.0
"""Reads past the page cache, which `bench/peers/cold_compare.py` measures beside fio: its records as ours."""

import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from .workloads import HERE

TITLES = {"random": "Cold: random windows of 16 KiB", "sequential": "Cold: a sequential epoch"}


def measure(setup, rounds, seconds, say):
    """(records, workloads, lines on what was left out)"""
    script = HERE / "cold_compare.py"
    if not script.exists():
        return [], [], ["cold reads: there is no cold_compare.py"]
    if not shutil.which("fio"):
        return [], [], ["cold reads: no `fio` on the path"]
    say("cold reads beside fio")
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "cold.jsonl"
        command = [sys.executable, str(script), "--store", str(setup.folder / "cold.bin"), "--rounds", str(rounds),
                   "--seconds", str(seconds), "--modes", "auto", "--java", setup.java, f"--heap={setup.heap}",
                   "--class-path", setup.class_path, "--json", str(log)]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0 or not log.exists():
            return [], [], [f"cold reads: {(done.stderr.strip().splitlines() or ['nothing was written'])[-1]}"]
        found = [json.loads(line) for line in log.read_text().splitlines()]
    records = []
    for record in found:
        config = record["config"]
        records.append({**record, "workload": f"cold-{record['order']}", "kind": "cold",
                        "group": record["side"],
                        "config": f"Penstock {config}" if record["side"] == "penstock" else config})
    orders = list(dict.fromkeys(record["order"] for record in found))
    return records, [{"name": f"cold-{order}", "title": TITLES[order], "unit": "bytes", "tokens": 0}
                     for order in orders], []

# SPDX-License-Identifier: Apache-2.0
"""Medians and spread of what was measured, without the rounds that others disturbed."""

import re
import statistics
from dataclasses import dataclass

SLOW_CALIBRATION = 0.75  # of the run's median
BUSY_OTHERS = 0.15  # cores that others used
CALIBRATIONS = ("memcpy_gigabytes_per_second", "spins_per_second")

METRICS = {
    "samples_per_second": lambda r: r["samples_per_second"],
    "samples_per_cpu_second": lambda r: r["samples"] / r["cpu_seconds"] if r["cpu_seconds"] else None,
    "cpu_seconds_a_million_samples": lambda r: r["cpu_seconds"] / r["samples"] * 1e6,
    "microseconds_a_batch": lambda r: r["seconds"] / r["batches"] * 1e6,
    "next_p50_us": lambda r: r["next_p50_ms"] * 1e3,
    "next_p99_us": lambda r: r["next_p99_ms"] * 1e3,
    "heap_bytes_a_batch": lambda r: r["heap_bytes_per_batch"],
    "cpu_ms_an_image": lambda r: r["cpu_ms"],
    "full_speed_seconds": lambda r: r["full_speed_seconds"],
    "first_batch_ms": lambda r: r["first_batch_ms"],
    "megabytes_per_second": lambda r: r["bytes_per_second"] / 1e6,
    "megabytes": lambda r: r["pss_above_store_bytes"] / 1e6,
}


@dataclass(frozen=True)
class Series:
    """One metric of one configuration, by round."""

    config: str
    values: dict
    directional: bool

    @property
    def median(self):
        return statistics.median(self.values.values())

    @property
    def low(self):
        return min(self.values.values())

    @property
    def high(self):
        return max(self.values.values())


class Figures:
    """All records of a run."""

    def __init__(self, records):
        self.medians = {name: statistics.median(found) for name in CALIBRATIONS
                        if (found := [r[name] for r in records if name in r])}
        self.rows = {}
        for record in records:
            row = self.rows.setdefault((record["workload"], record["config"], record["kind"]), [])
            row.append((record, self.is_disturbed(record)))

    def is_disturbed(self, record):
        slow = any(record.get(name, median) < SLOW_CALIBRATION * median for name, median in self.medians.items())
        return slow or record.get("other_cores", 0) > BUSY_OTHERS

    @property
    def dropped(self):
        return sum(disturbed for row in self.rows.values() if not mostly_disturbed(row) for _, disturbed in row)

    @property
    def directional(self):
        return any(mostly_disturbed(row) for row in self.rows.values())

    def configs(self, workload, kind="saturated", pattern=".*"):
        return [c for w, c, k in self.rows if w == workload and k == kind and re.fullmatch(pattern, c)]

    def series(self, workload, config, kind, metric):
        """None where nothing was measured. Of a row of which most is disturbed all rounds count."""
        row = self.rows.get((workload, config, kind), [])
        directional = mostly_disturbed(row)
        values = {}
        for record, disturbed in row:
            if directional or not disturbed:
                try:
                    value = METRICS[metric](record)
                except KeyError:
                    value = None
                if value is not None:
                    values[record["round"]] = value
        return Series(config, values, directional) if values else None

    def best(self, workload, pattern, kind, metric, choose=max):
        """The series of the configuration with the best median, among those whose names match."""
        found = [s for config in self.configs(workload, kind, pattern)
                 if (s := self.series(workload, config, kind, metric))]
        return choose(found, key=lambda series: series.median, default=None)


def mostly_disturbed(row):
    return 2 * sum(disturbed for _, disturbed in row) > len(row)

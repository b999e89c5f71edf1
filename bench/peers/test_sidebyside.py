# SPDX-License-Identifier: Apache-2.0
"""The parts of the side-by-side runner that no measurement would show wrong; `python -m unittest discover -s bench/peers`."""

import json
import os
import subprocess
import sys
import tempfile
import time
import unittest
import xml.etree.ElementTree as ET
from pathlib import Path
from unittest import mock

import run
from sidebyside import aims, measuring, picture, report, workloads
from sidebyside.aims import Aim, Pick
from sidebyside.figures import Figures
from sidebyside.sides import Request, Side, SideFailed


def record(config, round_number, rate, workload="tokens-narrow", kind="saturated", **more):
    return {"workload": workload, "group": config.split()[0].lower(), "config": config, "kind": kind,
            "round": round_number, "samples_per_second": rate, "samples": rate, "batches": rate / 32, "seconds": 1.0,
            "cpu_seconds": 2.0, "next_p50_ms": 0.004, "next_p99_ms": 0.01, "heap_bytes_per_batch": 56.0,
            "memcpy_gigabytes_per_second": 10.0, "spins_per_second": 1e7, "other_cores": 0.0, **more}


def rounds(config, *rates, **more):
    return [record(config, number, rate, **more) for number, rate in enumerate(rates, 1)]


def run_of(records):
    return {"date": "2026-01-01", "command": "run", "machine": {"processor": "a <CPU>", "cpus": 2, "system": "Linux"},
            "versions": ["JVM 25"], "skipped": ["this: not there"], "records": records, "asked": ["tokens-narrow"],
            "settings": {"quick": False, "rounds": 3, "seconds": 1, "engine_rounds": 2, "heap": "-Xmx512m"},
            "workloads": [{"name": "tokens-narrow", "title": "Windows, batch 32", "unit": "windows", "tokens": 1024}]}


class FiguresTest(unittest.TestCase):

    def series(self, records, config="Penstock w1"):
        return Figures(records).series("tokens-narrow", config, "saturated", "samples_per_second")

    def test_a_round_with_company_is_dropped(self):
        records = rounds("Penstock w1", 100, 110, 10)
        records[2]["other_cores"] = 0.5
        series = self.series(records)
        self.assertEqual((105, {1: 100, 2: 110}, False), (series.median, series.values, series.directional))
        self.assertEqual(1, Figures(records).dropped)

    def test_a_round_on_a_slow_machine_is_dropped_by_either_calibration(self):
        for name, slow in (("memcpy_gigabytes_per_second", 7.0), ("spins_per_second", 7e6)):
            records = rounds("Penstock w1", 100, 110, 10)
            records[2][name] = slow
            self.assertEqual({1: 100, 2: 110}, self.series(records).values)

    def test_a_row_of_which_most_is_disturbed_is_kept_whole_and_called_directional(self):
        records = rounds("C 1 thread", 1, 1, 1, 1, 1) + rounds("Penstock w1", 100, 110, 10)
        for disturbed in records[-2:]:
            disturbed["other_cores"] = 0.5
        series = self.series(records)
        self.assertEqual((100, 3, True), (series.median, len(series.values), series.directional))
        self.assertEqual(0, Figures(records).dropped)

    def test_the_best_configuration_is_that_of_the_best_median(self):
        records = rounds("PyTorch item w0", 5, 100, 5) + rounds("PyTorch item w2", 6, 6, 6)
        best = Figures(records).best("tokens-narrow", aims.PYTORCH_ITEM, "saturated", "samples_per_second")
        self.assertEqual("PyTorch item w2", best.config)

    def test_what_a_side_does_not_tell_has_no_series(self):
        records = [{k: v for k, v in r.items() if k != "heap_bytes_per_batch"} for r in rounds("C 1 thread", 1, 2)]
        figures = Figures(records)
        self.assertIsNone(figures.series("tokens-narrow", "C 1 thread", "saturated", "heap_bytes_a_batch"))
        self.assertIsNone(figures.series("tokens-narrow", "C 9 threads", "saturated", "samples_per_second"))


class AimsTest(unittest.TestCase):

    def outcome(self, limit, ours, theirs, **more):
        aim = Aim("what", "over", Pick("tokens-narrow", "Penstock w1"), Pick("tokens-narrow", "C 1 thread"), limit,
                  **more)
        return aims.outcome(aim, Figures(rounds("Penstock w1", *ours) + rounds("C 1 thread", *theirs)))

    def test_a_ratio_is_of_medians_and_its_spread_is_of_rounds(self):
        row = self.outcome(0.9, (80, 90, 100), (100, 100, 200))
        self.assertEqual((0.9, 0.5, 0.9), (row.ratio, row.low, row.high))
        self.assertTrue(row.reached)
        self.assertTrue(row.in_spread)

    def test_an_aim_is_missed_below_it_or_above_it(self):
        self.assertFalse(self.outcome(0.9, (80, 80), (100, 100)).reached)
        self.assertTrue(self.outcome(0.9, (80, 80), (100, 100), at_least=False).reached)
        self.assertFalse(self.outcome(0.5, (80, 80), (100, 100), at_least=False).reached)

    def test_the_best_rounds_are_compared_too(self):
        self.assertEqual(0.5, self.outcome(0.9, (80, 90, 100), (100, 100, 200)).best)
        records = [record(config, number, 1, "first", "first", first_batch_ms=ms)
                   for config, each in (("Penstock java -cp", (50, 40)), ("PyTorch item w2", (300, 200)))
                   for number, ms in enumerate(each, 1)]
        self.assertEqual(5, aims.outcome(aims.sooner("Penstock java -cp", ""), Figures(records)).best)

    def test_how_many_times_sooner_is_theirs_over_ours(self):
        self.assertEqual(4, self.outcome(5, (50,), (200,), inverse=True).ratio)

    def test_an_aim_without_measurements_is_neither_reached_nor_missed(self):
        row = aims.outcome(Aim("what", "over", Pick("empty", "Penstock w1"), None, 2), Figures(rounds("C 1 thread", 1)))
        self.assertIsNone(row.reached)
        self.assertEqual("not measured", report.verdict(row))

    def test_only_aims_of_the_workloads_asked_for_are_told(self):
        rows = aims.outcomes(Figures(rounds("Penstock w1", 1)), ["memory"])
        self.assertEqual({"memory"}, {row.aim.ours.workload for row in rows})


class ReportTest(unittest.TestCase):

    RUN = run_of(rounds("Penstock w1", 90, 95, 97) + rounds("Penstock w2", 150, 160, 170)
                 + rounds("C 1 thread", 100, 100, 100) + rounds("PyTorch take w0, 1 thread", 30, 31, 32))

    def test_three_significant_digits(self):
        told = [report.three(value) for value in (0, 0.0001234, 0.0456, 1.005, 12.34, 99.96, 1234567.8)]
        self.assertEqual(["0", "0.000123", "0.0456", "1", "12.3", "100", "1,234,568"], told)

    def test_every_configuration_and_every_aim_has_a_row_of_as_many_cells_as_the_head(self):
        text = report.markdown(self.RUN, Figures(self.RUN["records"]), "picture.svg")
        for config in ("Penstock w2", "C 1 thread", "PyTorch take w0, 1 thread"):
            self.assertIn(f"| {config} |", text)
        self.assertIn("not measured", text)
        self.assertIn("- this: not there", text)
        width = None
        for line in text.splitlines():
            cells = line.count("|")
            self.assertTrue(cells == 0 or width in (None, cells), line)
            width = cells or None

    def test_a_workload_without_a_peer_or_a_limit_has_a_table_without_their_columns(self):
        alone = run_of(rounds("Penstock w1", 90, 95, 97))
        text = report.markdown(alone, Figures(alone["records"]), "picture.svg")
        self.assertIn("| Penstock w1 |", text)
        self.assertNotIn("the best peer |", text)

    def test_a_run_against_a_commit_compares_each_configuration_with_itself(self):
        run_of_two = {**run_of(rounds("Penstock w1", 90, 95, 99) + rounds("Penstock w1 at abc", 100, 100, 110)
                               + rounds("Penstock w2", 1, 1, 1)), "against": "abc"}
        text = report.markdown(run_of_two, Figures(run_of_two["records"]))
        self.assertIn("| Windows, batch 32 | Penstock w1 | 0.95 | 0.9 |", text)
        self.assertNotIn("| Windows, batch 32 | Penstock w2 |", text)

    def test_a_page_is_rewritten_between_its_markers_and_nowhere_else(self):
        page = f"before\n{report.BEGIN}\nold\n{report.END}\nafter\n"
        once = report.rewrite(page, "new\n")
        self.assertEqual(f"before\n{report.BEGIN}\n\nnew\n\n{report.END}\nafter\n", once)
        self.assertEqual(once, report.rewrite(once, "new\n"))
        with self.assertRaises(ValueError):
            report.rewrite("no markers", "new")

    def test_the_picture_is_well_formed_and_its_marks_lie_where_the_shares_are(self):
        root = ET.fromstring(picture.svg(self.RUN, Figures(self.RUN["records"])))
        space = "{http://www.w3.org/2000/svg}"
        limit = [float(line.get("x1")) for line in root.iter(space + "line") if line.get("class") == "limit"]
        dots = [float(dot.get("cx")) for dot in root.iter(space + "circle") if float(dot.get("cy")) > picture.TOP]
        self.assertEqual(1, len(limit))
        self.assertEqual([False, True], sorted(x > limit[0] for x in dots))  # 1 worker at 0.95, 2 workers at 1.6
        self.assertIn("a <CPU>", "".join(root.itertext()))


ANSWERS = """
import sys
print("a line of somebody's log")
print('{"ready": true, "slots": 4}', flush=True)
for line in sys.stdin:
    seconds, read, step = line.split()
    print('{"cpu_seconds": 0, "asked": [%s, %s, %s]}' % (seconds, read, step), flush=True)
"""


class SidesTest(unittest.TestCase):

    def side(self, program, **more):
        return Side("numpy", "a side", (sys.executable, "-c", program), **more)

    def test_a_side_answers_every_request_until_it_is_stopped(self):
        running = self.side(ANSWERS).start()
        self.assertEqual(4, running.ready["slots"])
        self.assertEqual([0.5, 1, 5], running.round(Request("read", 0.5, True, 5))["asked"])
        self.assertEqual([0.1, 0, 0], running.round(Request("saturated", 0.1))["asked"])
        running.stop()
        self.assertEqual(0, running.process.returncode)

    def test_a_side_that_ends_is_told_with_what_it_said(self):
        with self.assertRaisesRegex(SideFailed, "no such store"):
            self.side("raise SystemExit('no such store')").start()

    def measured(self, *sides):
        meter = measuring.Meter("tokens-narrow", lambda text: None)
        measuring.by_turns(meter, sides, [Request("saturated", 0.01)], 2, 1, 2)
        return meter

    def test_an_optional_side_that_fails_is_left_out_and_named_and_the_others_are_measured(self):
        broken = Side("numpy", "an older one", (sys.executable, "-c", "raise SystemExit('no such option')"),
                      optional=True)
        meter = self.measured(self.side(ANSWERS), broken)
        self.assertEqual({"a side"}, {r["config"] for r in meter.records})
        self.assertEqual(1, len(meter.left_out))
        self.assertIn("tokens-narrow, an older one: an older one ended", meter.left_out[0])

    def test_a_side_that_is_not_optional_ends_the_workload(self):
        with self.assertRaises(SideFailed):
            self.measured(self.side("raise SystemExit('no such store')"))

    def test_the_engine_is_warm_when_three_rounds_agree(self):
        def warm(rates, most):
            answers, times = iter(rates), iter(range(100))
            return measuring.until_rounds_agree(lambda: next(answers), most, lambda: next(times))

        # The clock is read at the start and after each round: rounds take a second each.
        self.assertEqual((3, True), warm((10, 50, 100, 101, 103, 200), 60))
        self.assertEqual((3, False), warm((10, 20, 30, 40, 50, 60), 5))

    def test_workers_do_not_outlive_a_side(self):
        running = self.side("import subprocess, sys\nchild = subprocess.Popen(['sleep', '60'])\n"
                            "print('{\"ready\": true, \"child\": %d}' % child.pid, flush=True)\n"
                            "sys.stdin.read()").start()
        child = running.ready["child"]
        self.assertEqual([running.pid, child], measuring.processes_below(running.pid))
        running.stop()
        end = time.monotonic() + 20
        while state_of(child) not in ("", "Z") and time.monotonic() < end:
            time.sleep(0.01)
        self.assertIn(state_of(child), ("", "Z"))

    def test_pages_of_the_store_are_told_from_other_memory(self):
        megabyte = 1 << 20
        with tempfile.NamedTemporaryFile() as store:
            store.write(os.urandom(8 * megabyte))
            store.flush()
            program = ("import mmap, sys\n"
                       f"file = open({store.name!r}, 'rb')\n"
                       "store = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)\n"
                       "touched = sum(store[i] for i in range(0, len(store), 4096))\n"
                       f"own = bytearray(b'x' * {16 * megabyte})\n"
                       "print('{\"ready\": true}', flush=True)\nsys.stdin.read()")
            running = self.side(program).start()
            memory = measuring.proportional_set(running.pid, (store.name,))
            running.stop()
        self.assertEqual(8 * megabyte, memory["store_pss_bytes"])
        self.assertGreater(memory["pss_above_store_bytes"], 16 * megabyte)
        self.assertLess(memory["pss_above_store_bytes"], 48 * megabyte)


def state_of(pid):
    """Of a process; nothing once it is gone."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return ""


class CommandTest(unittest.TestCase):

    def test_a_workload_of_which_a_side_fails_is_left_out_and_the_others_are_saved(self):
        def measured(name, setup, options):
            if name == "empty":
                raise SideFailed("exit status 2 from: a program")
            return rounds("Penstock w1", 100.0), ReportTest.RUN["workloads"], []

        with tempfile.TemporaryDirectory() as folder, \
                mock.patch.object(run, "set_up", lambda options: (workloads.Setup("", (), "", "", "", frozenset(), Path(), 2), {})), \
                mock.patch.object(run, "measure_one", measured), \
                mock.patch.multiple(run.preparing, machine=dict, versions=lambda *_: [], skipped=lambda *_: []), \
                mock.patch.object(sys, "argv", ["run.py", "--only", "empty", "tokens-narrow", "--json",
                                                f"{folder}/run.json"]):
            found = run.measure(run.parse())
            self.assertEqual(found, json.loads((Path(folder) / "run.json").read_text()))
        self.assertEqual(["empty, of which a side failed"], found["skipped"])
        self.assertEqual(1, len(found["records"]))
        self.assertTrue(found["failed"])

    def test_a_report_is_rendered_again_from_what_was_saved(self):
        with tempfile.TemporaryDirectory() as folder:
            saved, page = Path(folder) / "run.json", Path(folder) / "page.md"
            saved.write_text(json.dumps(ReportTest.RUN))
            page.write_text(f"{report.BEGIN}\n{report.END}\n")
            done = subprocess.run(
                [sys.executable, str(Path(__file__).with_name("run.py")), "--render", str(saved), "--markdown",
                 f"{folder}/run.md", "--svg", f"{folder}/images/run.svg", "--page", str(page)],
                capture_output=True, text=True)
            self.assertEqual(0, done.returncode, done.stderr)
            self.assertIn("(images/run.svg)", page.read_text())
            self.assertIn((Path(folder) / "run.md").read_text(), page.read_text())


if __name__ == "__main__":
    unittest.main()

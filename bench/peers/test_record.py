# SPDX-License-Identifier: Apache-2.0
"""What record.py reads of what the programs print, and the page; `python -m unittest discover -s bench/peers`."""

import tempfile
import unittest
import xml.etree.ElementTree as ET
from pathlib import Path
from unittest import mock

import record

SAID = {
    "csv_read.py": """pyarrow, types found: 66 MB a CPU second
pandas, float32: 64 MB a CPU second
Penstock: index 215 best, 210 median; file to tensors 175 best, 170 median MB a CPU second (sum 1.5e+06)
pyarrow, types found: 70 MB a CPU second
pandas, float32: 60 MB a CPU second
Penstock: index 215 best, 210 median; file to tensors 136 best, 130 median MB a CPU second (sum 1.5e+06)
""",
    "parquet_read.py": "ids-zstd-plain.parquet  73 MB  1579 MB/s best, 1550 median; a CPU second 560 best, 400 "
                       "median\n",
    "ParquetDecode": "ids-zstd-plain.parquet           872 MB/s best,   802 median; a CPU second   880 best,   800 "
                     "median\n",
    "parquet_rows.py": """rows-plain.parquet: scan 999 MB a CPU second best, 999 median; take 9 rows a CPU second \
best, 9 median
rows-snappy.parquet: scan 721 MB a CPU second best, 400 median; take 150000 rows a CPU second best, 100000 median
tokens-snappy.parquet: scan 218 MB a CPU second best, 200 median; take 120000 rows a CPU second best, 100000 median
""",
    "ParquetRows": """rows-snappy.parquet: block-shuffled 125 MB a CPU second best, 100 median; random 3200000 rows \
a CPU second best, 3000000 median
tokens-snappy.parquet: block-shuffled 223 MB a CPU second best, 220 median; random 2800000 rows a CPU second best, \
2000000 median
""",
    "arrow_rows.py": "",
    "ArrowRows": "round 1: npy 6345407 rows/s, arrow 5308463 rows/s, ratio 0.837\nmedian: npy 6345407, arrow 5308463, "
                 "ratio 0.840\n",
    "hdf5_rows.py": """numpy memmap, one indexing a batch: 1,000,000 rows/s, 1 to 2
h5py contiguous, read_direct: 20,000 rows/s, 1 to 2
h5py gzip, a row at a time: 200 rows/s, 1 to 2
""",
    "RandomRows": """rows.npy: 5162263 rows a CPU second (4963548 to 5189451), 1.00 of rows.npy; 5102054 rows/s
rows.h5 /contiguous: 5169563 rows a CPU second (5076778 to 5203209), 1.00 of rows.npy; 5000000 rows/s
rows.h5 /gzip: 4463767 rows a CPU second (4143010 to 4511346), 0.86 of rows.npy; 4000000 rows/s
""",
    "lmdb_get.py": '{"peer": "py-lmdb", "mode": "bytes", "records_per_s": 1}\n'
                   '{"peer": "py-lmdb", "mode": "copy", "records_per_s": 800000}\n',
    "images.py": """small: 16 of 500x375, 25 KB on average
| small | decode | 2,737 (2,700 to 2,800) | 689 (680 to 690) | 2,377 (2,300 to 2,400) | 1.15 |
| png | decode | 201 (200 to 210) |  | 215 (210 to 220) | 0.94 |
""",
    "clips.py": """| work | Penstock | C | C, fast scaling | PyAV | × C | × C, fast | × PyAV | decoded for one | read |
|---|---:|
| apart | 21.3 (20 to 22) | 18.4 (18 to 19) | 24.0 (23 to 25) | 13.5 (13 to 14) | 1.27 | 0.92 | 1.58 | 2.7 | 278 |
| sound | 346.0 (340 to 350) | 388.0 (380 to 390) | 388.0 (380 to 390) | 205.0 (200 to 210) | 0.90 | 0.90 | 1.69 |
""",
    "speech.py": """flac-16k-mono: differs from torch by 1.2e-06, C by 1.5e-06
| flac-16k-mono | Penstock, one thread | 510 | 500 to 520 |
flac-16k-mono: Penstock, one thread / C: 0.77
flac-16k-mono: Penstock, one thread / soundfile and torch: 1.50
flac-16k-mono: the same, isolated / Penstock, 1 worker: 0.65
flac-16k-mono: Penstock, 2 workers / DataLoader, 2 workers: 1.75
""",
    "SoundRates": "read     penstock   0.74 (  0.80)  python   6.10 (  6.20)  8.2 x, differs by 0.0\n",
    "TokenizerRates": """gpt2: 14.5 MB in 1124 documents, read vocabulary in 0.10 CPU s
  round 1: penstock 75.0, jtokkit 18.0, tiktoken 15.0 MB a CPU second
  round 2: penstock 77.0, jtokkit 20.0, tiktoken 15.0 MB a CPU second
cl100k_base: 14.5 MB in 1124 documents, read vocabulary in 0.10 CPU s
  round 1: penstock 60.0, jtokkit 20.0, tiktoken 15.0 MB a CPU second
""",
    "chat_rates.py": """1000 conversations, 184 MB of JSON; MB of it a CPU second:
chat: 16.8 (16.4 to 18.7)
joined: 21.0 (19.8 to 23.6)
transformers: 1.5 (1.2 to 1.9)
chat is 0.79 (0.71 to 0.83) of joined
""",
}


class Said:
    """A bench whose programs have said all that before."""

    python, java, class_path, quick = "python", "java", "classes", True

    def peer(self, script, *arguments):
        return SAID[script]

    def jvm(self, program, *arguments, **options):
        return SAID[program]

    def jmh(self, name):
        return [{"benchmark": f"io.penstock.{name}.{each}", "primaryMetric": {"score": score}}
                for each, score in (("byPosition", 1_200_000), ("byKey", 800_000), ("bareCopy", 2_500_000))]

    def java_command(self, flags=()):
        return ["java"]

    def corpus(self):
        return "text.jsonl"

    def jtokkit(self):
        return "jtokkit.jar"


def ratios(part):
    rows, left_out = record.PARTS[part](Said())
    assert not left_out
    return {(row["what"], row["over"]): round(row["ratio"], 3) for row in rows}


class PartsTest(unittest.TestCase):
    def test_what_programs_print_becomes_ratios(self):
        csv = ratios("csv")
        self.assertEqual(155.5, csv["CSV of 1,000,000 × 20 numbers to `f32`, one thread", ""])
        self.assertEqual(2.287, csv["CSV of 1,000,000 × 20 numbers to `f32`, one thread", "pyarrow, types found"])
        self.assertEqual({("Parquet, lists of tokens, zstd-plain, decoded on one thread", "pyarrow"): 2.0,
                          ("Parquet, 2,000,000 rows of eight numbers, a block-shuffled epoch", "pyarrow's scan"): 0.25,
                          ("Parquet, 2,000,000 rows of eight numbers, rows at random", "pyarrow's `Table.take`"): 30.0,
                          ("Parquet, 50,000 rows of 1,024 tokens, a block-shuffled epoch", "pyarrow's scan"): 1.1,
                          ("Parquet, 50,000 rows of 1,024 tokens, rows at random", "pyarrow's `Table.take`"): 20.0},
                         ratios("parquet"))
        self.assertEqual([0.84], list(ratios("arrow").values()))
        self.assertEqual([1.0, 250.0, 20000.0], list(ratios("hdf5").values()))
        self.assertEqual([1.5, 1.0], list(ratios("lmdb").values()))
        self.assertEqual([1.15, 0.94], list(ratios("images").values()))
        self.assertEqual([1.27, 1.58, 0.92, 0.9, 1.69], list(ratios("clips").values()))
        speech = ratios("speech")
        self.assertEqual([0.77, 1.5, 0.65, 1.75], list(speech.values()))
        self.assertEqual(0.77, speech["speech to log-mel, 5 s of flac-16k-mono", "C over FFmpeg and FFTW"])
        self.assertEqual(1.75, speech["speech to log-mel, 5 s of flac-16k-mono", "PyTorch's DataLoader, 2 workers"])
        self.assertEqual([8.2], list(ratios("sound").values()))
        self.assertEqual({("text to ids, gpt2, one thread", "jtokkit"): 4.0,
                          ("text to ids, gpt2, one thread", "tiktoken"): 5.067,
                          ("text to ids, cl100k_base, one thread", "jtokkit"): 3.0,
                          ("text to ids, cl100k_base, one thread", "tiktoken"): 4.0}, ratios("tokenizers"))
        self.assertEqual([11.2, 0.8], list(ratios("chats").values()))


class PageTest(unittest.TestCase):
    def measured(self, others, **more):
        rows = [record.result("windows", "C", 0.5, aim=0.8), record.result("images", "PyTorch", 3.0, aim=2.0),
                record.result("overhead", "", 4.0, aim=2.0, at_least=False, unit=" µs"),
                record.result("heap", "", 0.0, aim=0.0, at_least=False, unit=" B"),
                record.result("text", "jtokkit", 4.0)]
        return {"machine": {"processor": "a CPU", "cpus": 2, "system": "Linux"}, "versions": ["JVM 25"],
                "parts": {"loaders": {"date": "2026-01-01", "quick": False, "rows": rows, "left_out": ["that: missing"],
                                      "others": others, "seconds": 60, **more}}}

    def test_shortfalls_come_first_and_the_machine_is_marked(self):
        text, asked = record.page(self.measured([0.1, 0.9]), "images/benchmark.svg")
        self.assertEqual(["overhead", "windows", "heap", "images"], [row["what"] for row in asked])
        self.assertIn("**shared**", text)
        self.assertIn("2 of 4 goals are reached", text)
        self.assertLess(text.index("## Shortfalls"), text.index("## Goals that are reached"))
        self.assertIn("| windows | C | 0.5 × | ≥ 0.8 |", text)
        self.assertIn("- that: missing", text)
        self.assertIn("- chats: not measured in this run", text)
        self.assertIn("**quiet**", record.page(self.measured([0.01, 0.02]), "x")[0])
        self.assertIn("Quick runs, one short round of each: loaders.", record.page(self.measured([0.01], quick=True), "x")[0])

    def test_the_picture_is_well_formed_and_has_a_bar_a_goal(self):
        _, asked = record.page(self.measured([0.0]), "x")
        svg = ET.fromstring(record.picture(asked))
        bars = svg.findall("{http://www.w3.org/2000/svg}rect")
        self.assertEqual(["no", "no", "yes", "yes"], [bar.get("class") for bar in bars])

    def test_it_renders_what_was_measured(self):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            (folder / "record.json").write_text(record.json.dumps(self.measured([0.0])))
            with mock.patch("sys.argv", ["record.py", "--render", "--json", str(folder / "record.json"), "--page",
                                         str(folder / "page.md"), "--svg", str(folder / "page.svg")]):
                self.assertEqual(0, record.main())
            self.assertIn("![Results over their goals, shortfalls first](page.svg)", (folder / "page.md").read_text())


if __name__ == "__main__":
    unittest.main()

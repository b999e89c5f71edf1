# SPDX-License-Identifier: Apache-2.0
"""Speech: files of 5 seconds to Whisper's log-mel, in batches of 16, by turns. Prints tables.

    python bench/peers/speech.py --rounds 3 --seconds 3     needs torch, numpy, soundfile, the benchmark classes, a C
                                                            compiler, FFmpeg's program, the headers of its libraries
                                                            and those of FFTW

One thread, by its CPU time: Penstock, C (`bench/native/speech.c`: FFmpeg's libraries, a sinc filter, FFTW), and
soundfile with torch in one process. With workers, by the clock: Penstock and PyTorch's DataLoader, two each; Penstock
decoding in processes of their own (not FLAC, which needs none). With `--cpu`, by the CPU time of all threads and workers,
for a machine that other work shares. The first result is compared with torch's.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import time

from sidebyside import preparing

ROOT = pathlib.Path(__file__).resolve().parents[2]
LENGTH, BATCH, FILES = 80_000, 16, 48
KINDS = {"flac-44k-stereo": (44100, 2), "flac-16k-mono": (16000, 1)}


def make(folder):
    for kind, (rate, channels) in KINDS.items():
        (folder / kind).mkdir(parents=True, exist_ok=True)
        for i in range(FILES):
            file = folder / kind / f"{i:03}.flac"
            if not file.exists():
                subprocess.run(["ffmpeg", "-v", "error", "-f", "lavfi", "-i",
                                f"anoisesrc=sample_rate={rate}:color=pink:seed={i},tremolo=f={1 + i % 7}:d=0.9",
                                "-t", "5", "-ac", str(channels), "-sample_fmt", "s16", str(file)], check=True)


class Speech:
    """A torch dataset; workers import it."""

    def __init__(self, folder):
        self.paths = sorted(pathlib.Path(folder).iterdir())
        self.tools = None

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, i):
        import soundfile
        import torch
        if self.tools is None:
            from sound_rates import log_mel, resampler
            torch.set_num_threads(1)
            self.tools = resampler(), log_mel(80)
        samples, rate = soundfile.read(self.paths[i], dtype="float32")
        one = torch.as_tensor(samples)
        one = one.mean(1) if one.dim() == 2 else one
        one = self.tools[0](one) if rate != 16000 else one
        return self.tools[1](torch.nn.functional.pad(one[:LENGTH], (0, max(0, LENGTH - len(one)))))


def cpu_time(processes):
    ticks = 0
    for process in processes:
        fields = pathlib.Path(f"/proc/{process}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def torch_side(folder, workers, seconds, result, cpu):
    import torch
    torch.set_num_threads(1)
    speech = Speech(folder)
    if result:
        speech[0].numpy().astype("<f4").tofile(result)
    sampler = torch.utils.data.RandomSampler(speech, replacement=True, num_samples=1_000_000)
    loader = torch.utils.data.DataLoader(speech, batch_size=BATCH, sampler=sampler, num_workers=workers)
    clock = time.perf_counter if workers else time.thread_time
    with torch.inference_mode():
        batches = iter(loader)
        if workers and cpu:
            processes = [os.getpid(), *(worker.pid for worker in batches._workers)]

            def clock():
                return cpu_time(processes)
        for _ in range(6):
            next(batches)
        start, count = clock(), 0
        while clock() - start < seconds:
            count += len(next(batches))
        print(json.dumps({"samples_per_second": count / (clock() - start)}))
    sys.stdout.flush()
    os._exit(0)


def run(*command):
    out = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, check=True, text=True)
    return json.loads(out.stdout.splitlines()[-1])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=3)
    parser.add_argument("--warmup", type=float, default=4)
    parser.add_argument("--classes", help="class path; default: that of bench/class-path")
    parser.add_argument("--java", default=os.path.join(os.environ["JAVA_HOME"], "bin", "java")
                        if "JAVA_HOME" in os.environ else "java")
    parser.add_argument("--cpu", action="store_true")
    parser.add_argument("--torch", nargs=2, metavar=("FOLDER", "WORKERS"), help=argparse.SUPPRESS)
    parser.add_argument("--result", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.torch:
        torch_side(args.torch[0], int(args.torch[1]), args.seconds, args.result, args.cpu)
    import numpy as np
    folder = ROOT / "target" / "bench" / "speech"
    make(folder)
    program = folder.parent / "speech-c"
    subprocess.run([os.environ.get("CC", "gcc"), "-O3", "-march=native", "-ffast-math", ROOT / "bench/native/speech.c",
                    "-o", program, "-lavformat", "-lavcodec", "-lavutil", "-lfftw3f", "-lm"], check=True)
    classes = args.classes or preparing.class_path(ROOT)

    cpu = ["--cpu"] if args.cpu else []

    def penstock(kind, workers, *more):
        return run(args.java, "--enable-native-access=ALL-UNNAMED", "-Xmx512m", "-cp", classes,
                   "io.penstock.bench.SpeechRates", "--store", folder / kind, "--workers", workers, "--seconds",
                   args.seconds, "--warmup", args.warmup, *(cpu and ("--cpu", "1")), *more)["samples_per_second"]

    def torch(kind, workers, *more):
        return run(sys.executable, __file__, "--torch", folder / kind, workers, "--seconds", args.seconds,
                   *cpu, *more)["samples_per_second"]

    def in_c(kind, *more):
        return run(program, folder / kind, args.seconds, *more)["samples_per_cpu_second"]

    sides = {
        "Penstock, one thread": lambda kind: penstock(kind, 0),
        "C": in_c,
        "soundfile and torch": lambda kind: torch(kind, 0),
        "Penstock, 1 worker": lambda kind: penstock(kind, 1),
        "the same, isolated": lambda kind: penstock(kind, 1, "--isolated", "1"),
        "Penstock, 2 workers": lambda kind: penstock(kind, 2),
        "DataLoader, 2 workers": lambda kind: torch(kind, 2)}
    for kind in KINDS:
        results = [folder.parent / f"speech-{side}.f32" for side in ("penstock", "c", "torch")]
        penstock(kind, 0, "--result", results[0])
        in_c(kind, results[1])
        torch(kind, 0, "--result", results[2])
        ours, c, theirs = (np.fromfile(result, "<f4") for result in results)
        print(f"{kind}: differs from torch by {abs(ours - theirs).max():.1e}, C by {abs(c - theirs).max():.1e}")
        rates = [{name: side(kind) for name, side in sides.items()} for _ in range(args.rounds)]
        for name in sides:
            of = [rate[name] for rate in rates]
            print(f"| {kind} | {name} | {statistics.median(of):,.0f} | {min(of):,.0f} to {max(of):,.0f} |")
        for name, other in (("Penstock, one thread", "C"), ("Penstock, one thread", "soundfile and torch"),
                            ("the same, isolated", "Penstock, 1 worker"),
                            ("Penstock, 2 workers", "DataLoader, 2 workers")):
            print(f"{kind}: {name} / {other}: {statistics.median(r[name] / r[other] for r in rates):.2f}", flush=True)


if __name__ == "__main__":
    main()

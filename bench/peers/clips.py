# SPDX-License-Identifier: Apache-2.0
"""Clips in a second of CPU time, one thread: Penstock, C and PyAV by turns. Prints a table.

    python bench/peers/clips.py --rounds 3 --seconds 2      needs PyAV, the benchmark classes, a C compiler, FFmpeg's
                                                            program and the headers of its libraries

FFmpeg's program makes the files from its test source: 640x360, 30 frames a second, 20 s, H.264 with B-frames and a key
every 60 frames; and FLAC of 44.1 kHz stereo. Both sides decode the same frames: PyAV opens the file, seeks and decodes. C is
`bench/native/clips.c`, which feeds packets from memory and skips frames that no other needs; it converts as Penstock
does (all chroma, rounded), and once more by swscale's faster default (half of the chroma, truncated).
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import time

import av

from sidebyside import preparing

ROOT = pathlib.Path(__file__).resolve().parents[2]
SIDE = 224
FRAMES = 600


def make(folder):
    for kind in ("video", "sound"):
        (folder / kind).mkdir(parents=True, exist_ok=True)
    for i in range(2):
        video = folder / "video" / f"{i}.mp4"
        if not video.exists():
            subprocess.run(["ffmpeg", "-v", "error", "-f", "lavfi", "-i",
                            f"testsrc2=size=640x360:rate=30,noise=alls=8:all_seed={i}", "-frames:v", str(FRAMES),
                            "-c:v", "libx264", "-preset", "medium", "-g", "60", "-bf", "3", "-pix_fmt", "yuv420p",
                            str(video)], check=True)
        sound = folder / "sound" / f"{i}.flac"
        if not sound.exists():
            subprocess.run(["ffmpeg", "-v", "error", "-f", "lavfi", "-i",
                            f"anoisesrc=sample_rate=44100:color=pink:seed={i},aformat=channel_layouts=stereo",
                            "-t", "60", str(sound)], check=True)


def spaced(possible):
    return [i * (possible - 1) // 7 for i in range(8)]


def frames(path, wanted):
    with av.open(str(path)) as container:
        stream = container.streams.video[0]
        stream.thread_type = "NONE"
        stream.codec_context.thread_count = 1
        step = int(1 / (stream.time_base * 30))
        container.seek(wanted[0] * step, stream=stream)
        left = set(wanted)
        for frame in container.decode(stream):
            number = frame.pts // step
            if number in left:
                frame.reformat(SIDE, SIDE, "rgb24").to_ndarray()
                left.remove(number)
                if not left:
                    return
        raise SystemExit(f"{path}: {left} are missing")


def sound(path, first, count):
    with av.open(str(path)) as container:
        stream = container.streams.audio[0]
        container.seek(int(first / stream.rate / stream.time_base), stream=stream)
        have = 0
        for frame in container.decode(stream):
            frame.to_ndarray()
            at = int(frame.pts * stream.time_base * stream.rate)
            have = at + frame.samples
            if have >= first + count:
                return
        raise SystemExit(f"{path}: ends at {have}")


def jobs(folder, work):
    for path in sorted(folder.iterdir()):
        if work == "sound":
            for first in spaced(60 * 44100 - 5 * 44100 + 1):
                yield lambda path=path, first=first: sound(path, first, 5 * 44100)
        elif work == "frames":
            for first in spaced(FRAMES - 60):
                yield lambda path=path, first=first: frames(path, [first + 4 * i for i in range(16)])
        else:
            for first in range(0, FRAMES - 15, 16):
                yield lambda path=path, first=first: frames(path, [first + i for i in range(16)])


def pyav(folder, work, seconds):
    all_jobs = list(jobs(folder, work))
    all_jobs[0]()
    start, count = time.thread_time(), 0
    while time.thread_time() - start < seconds:
        all_jobs[count % len(all_jobs)]()
        count += 1
    return count / (time.thread_time() - start)


def compile_c(folder):
    program = folder / "clips-c"
    subprocess.run([os.environ.get("CC", "gcc"), "-O3", "-march=native", ROOT / "bench/native/clips.c", "-o", program,
                    "-lavformat", "-lavcodec", "-lswscale", "-lavutil"], check=True)
    return program


def in_c(program, folder, work, scale, seconds):
    out = subprocess.run([program, "--store", folder, "--work", work, "--way", "skip", "--scale", scale, "--seconds",
                          str(seconds)], stdout=subprocess.PIPE, check=True, text=True)
    return json.loads(out.stdout)["clips_per_cpu_second"]


def penstock(folder, work, args):
    classes = args.classes or preparing.class_path(ROOT)
    out = subprocess.run([args.java, "--enable-native-access=ALL-UNNAMED", "-Xmx512m", "-cp", classes,
                          "io.penstock.bench.ClipRates", "--store", str(folder), "--work", work,
                          "--seconds", str(args.seconds), "--warmup", str(args.warmup)],
                         stdout=subprocess.PIPE, check=True, text=True)
    line = json.loads(out.stdout.splitlines()[-1])
    return line


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=2)
    parser.add_argument("--warmup", type=float, default=2)
    parser.add_argument("--classes", help="class path; default: that of bench/class-path")
    parser.add_argument("--java", default=os.path.join(os.environ["JAVA_HOME"], "bin", "java")
                        if "JAVA_HOME" in os.environ else "java")
    args = parser.parse_args()
    folder = ROOT / "target" / "bench" / "clips"
    make(folder)
    program = compile_c(folder)
    print(f"PyAV {av.__version__}, avcodec {'.'.join(map(str, av.library_versions['libavcodec']))}")
    print("| work | Penstock | C | C, fast scaling | PyAV | × C | × C, fast | × PyAV | decoded for one "
          "| read, KiB a clip | heap, B a clip |")
    print("|---|" + 10 * "---:|")
    for work in ("frames", "apart", "together", "sound"):
        home = folder / ("sound" if work == "sound" else "video")
        rates, line = [], {}
        for _ in range(args.rounds):
            line = penstock(home, work, args)
            rates.append((line["clips_per_cpu_second"], in_c(program, home, work, "full", args.seconds),
                          in_c(program, home, work, "fast", args.seconds), pyav(home, work, args.seconds)))
        shown = [f"{statistics.median(r):,.1f} ({min(r):,.1f} to {max(r):,.1f})" for r in zip(*rates)]
        ratios = [f"{statistics.median(ours / other[i] for ours, *other in rates):.2f}" for i in range(3)]
        print(f"| {work} | {' | '.join(shown + ratios)} | {line['decoded_for_one']} | {line['read_kib_a_clip']} | "
              f"{line['heap_bytes_a_clip']} |", flush=True)


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: Apache-2.0
"""Images in a second of CPU time, one thread: Penstock by libturbojpeg and the JDK, Pillow; by turns. Prints a table.

    python bench/peers/images.py --rounds 3 --seconds 2        needs Pillow and numpy, and the benchmark classes

The images are made here, the same everywhere: clouds of noise at all scales, as photographs have, in JPEG of quality 85,
4:2:0, and PNG.
"""
import argparse
import io
import json
import os
import pathlib
import statistics
import subprocess
import time

import numpy as np
from PIL import Image

from sidebyside import preparing

ROOT = pathlib.Path(__file__).resolve().parents[2]
CROP = 224
SHORTER = 256


def picture(width, height, rng):
    total = np.zeros((height, width, 3))
    scale = 2
    while scale <= max(width, height):
        noise = rng.integers(0, 256, (max(2, scale * height // width), scale, 3), dtype=np.uint8)
        total += np.asarray(Image.fromarray(noise).resize((width, height), Image.Resampling.BICUBIC), float) * scale ** -0.55
        scale *= 2
    total = (total - total.min()) / (total.max() - total.min())
    return Image.fromarray((total * 255).astype(np.uint8))


def make(folder):
    for name, size, count, suffix in (("small", (500, 375), 16, "jpg"), ("large", (2000, 1500), 4, "jpg"),
                                      ("png", (500, 375), 8, "png")):
        home = folder / name
        home.mkdir(parents=True, exist_ok=True)
        rng = np.random.default_rng(1)
        for i in range(count):
            image = picture(*size, rng)
            image.save(home / f"{i:02}.{suffix}", **({"quality": 85} if suffix == "jpg" else {}))
        sizes = [f.stat().st_size for f in home.iterdir()]
        print(f"{name}: {count} of {size[0]}x{size[1]}, {sum(sizes) / count / 1000:.0f} KB on average")


def pillow(folder, work, args):
    stored = [f.read_bytes() for f in sorted(folder.iterdir())]

    def one(data):
        image = Image.open(io.BytesIO(data))
        if work == "decode":
            return image.convert("RGB").load()
        if work == "crop":
            image.draft("RGB", (2 * SHORTER, 2 * SHORTER))
        image = image.convert("RGB")
        w, h = image.size
        w, h = (SHORTER * w // h, SHORTER) if w > h else (SHORTER, SHORTER * h // w)
        left, top = round((w - CROP) / 2), round((h - CROP) / 2)
        return image.resize((w, h), Image.Resampling.BILINEAR).crop((left, top, left + CROP, top + CROP)).load()

    def run(seconds):
        start, count = time.thread_time(), 0
        while time.thread_time() - start < seconds:
            one(stored[count % len(stored)])
            count += 1
        return count / (time.thread_time() - start)

    run(args.warmup / 2)
    return run(args.seconds)


def penstock(folder, work, library, args):
    classes = args.classes or preparing.class_path(ROOT)
    out = subprocess.run([args.java, "--enable-native-access=ALL-UNNAMED", "-Xmx512m", "-cp", classes,
                          "io.penstock.bench.ImageRates", "--images", str(folder), "--library", library, "--work", work,
                          "--rounds", "1", "--seconds", str(args.seconds), "--warmup", str(args.warmup)],
                         stdout=subprocess.PIPE, check=True, text=True)
    return json.loads(out.stdout.splitlines()[-1])["images_per_cpu_second"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=2)
    parser.add_argument("--warmup", type=float, default=2)
    parser.add_argument("--classes", help="class path; default: that of bench/class-path")
    parser.add_argument("--java", default=os.path.join(os.environ["JAVA_HOME"], "bin", "java")
                        if "JAVA_HOME" in os.environ else "java")
    args = parser.parse_args()
    folder = ROOT / "target" / "bench" / "images"
    make(folder)
    print("| images | work | Penstock, libturbojpeg | Penstock, JDK | Pillow | × Pillow |")
    print("|---|---|---:|---:|---:|---:|")
    for name, work in (("small", "decode"), ("small", "exact-crop"), ("large", "decode"), ("large", "exact-crop"),
                       ("large", "crop"), ("png", "decode")):
        rates = {"turbojpeg": [], "jdk": [], "pillow": []}
        for _ in range(args.rounds):
            for library in ("turbojpeg", "jdk"):
                if name != "png" or library == "turbojpeg":
                    rates[library].append(penstock(folder / name, work, library, args))
            rates["pillow"].append(pillow(folder / name, work, args))
        shown = [f"{statistics.median(r):,.0f} ({min(r):,.0f} to {max(r):,.0f})" if r else "" for r in rates.values()]
        ratio = statistics.median(rates["turbojpeg"]) / statistics.median(rates["pillow"])
        print(f"| {name} | {work} | {' | '.join(shown)} | {ratio:.2f} |", flush=True)


if __name__ == "__main__":
    main()

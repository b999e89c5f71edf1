# SPDX-License-Identifier: Apache-2.0
"""Writes the JPEGs of the workloads `pictures`: clouds of noise at all scales, gradients and shapes, as photographs
have them; most of 500 x 375, quality 85 to 90, 4:2:0, 57 KB on average. Also as one tar.

    python bench/peers/make_pictures.py target/bench/jpegs          needs Pillow and numpy
"""
import io
import pathlib
import sys
import tarfile

import numpy as np
from PIL import Image, ImageDraw

COUNT = 192
SIZES = [(500, 375)] * 8 + [(375, 500)] * 3 + [(500, 333), (640, 480), (300, 400), (500, 500)]


def picture(width, height, rng):
    total = np.zeros((height, width, 3), np.float32)
    scale = 2
    while scale <= max(width, height):
        noise = rng.integers(0, 256, (max(2, scale * height // width), scale, 3), dtype=np.uint8)
        cloud = Image.fromarray(noise).resize((width, height), Image.Resampling.BICUBIC)
        total += np.asarray(cloud, np.float32) * scale ** -0.12
        scale *= 2
    total += np.linspace(0, 100 * rng.random(), width, dtype=np.float32)[None, :, None]
    total = (total - total.min()) / (total.max() - total.min())
    image = Image.fromarray((total * 255).astype(np.uint8))
    draw = ImageDraw.Draw(image)
    for _ in range(rng.integers(2, 8)):
        x, y = rng.integers(0, width), rng.integers(0, height)
        box = (int(x), int(y), int(x + rng.integers(10, width // 2)), int(y + rng.integers(10, height // 2)))
        color = tuple(int(v) for v in rng.integers(0, 256, 3))
        (draw.ellipse if rng.random() < 0.5 else draw.rectangle)(box, outline=color, width=int(rng.integers(1, 9)))
    return image


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(1)
    with tarfile.open(folder / "pictures.tar", "w", format=tarfile.USTAR_FORMAT) as tar:
        for i in range(COUNT):
            out = io.BytesIO()
            picture(*SIZES[i % len(SIZES)], rng).save(out, "JPEG", quality=int(rng.integers(85, 91)))
            (folder / f"{i:04}.jpg").write_bytes(out.getvalue())
            info = tarfile.TarInfo(f"{i:04}.jpg")
            info.size = len(out.getvalue())
            out.seek(0)
            tar.addfile(info, out)
    sizes = [f.stat().st_size for f in folder.glob("*.jpg")]
    print(f"{folder}: {len(sizes)} pictures, {sum(sizes) / len(sizes) / 1000:.0f} KB on average")


if __name__ == "__main__":
    main()

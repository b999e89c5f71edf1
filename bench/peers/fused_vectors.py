# SPDX-License-Identifier: Apache-2.0
"""A second implementation of `fused` in docs/spec/augment.md, by numpy, and its vectors.

    python bench/peers/fused_vectors.py docs/spec/vectors/augment-fused.json

Needs numpy. Nothing is shared with the engine, and nothing is skipped: whole images are reduced and read.
"""
import base64
import json
import math
import pathlib
import sys

import numpy as np

F = np.float32


def sine(degrees):
    quarters = round(degrees / 90)
    x = (degrees - 90 * quarters) * (math.pi / 180)

    def series(last):
        total = 1.0
        for k in range(last, 1, -2):
            total = 1 - x * x * (1 / (k * (k - 1))) * total
        return total
    return (x * series(19), series(20), -(x * series(19)), -series(20))[quarters % 4]


def turned(h, w, angle, right=0, down=0, scale=1, shear_x=0, shear_y=0):
    """The map of points that `rotate` and `affine` make."""
    tan = sine(shear_x) / sine(shear_x + 90)
    a = sine(angle - shear_y + 90) / sine(shear_y + 90)
    b = -(a * tan + sine(angle))
    c = sine(angle - shear_y) / sine(shear_y + 90)
    d = sine(angle + 90) - c * tan
    xx, xy, yx, yy = d / scale, -b / scale, -c / scale, a / scale
    u = -(xx * right + xy * down) + (w - 1) / 2 + 0.5
    v = -(yx * right + yy * down) + (h - 1) / 2 + 0.5
    whole = xx * yy - xy * yx
    p, q, r, s = yy / whole, -xy / whole, -yx / whole, xx / whole
    return [p, q, w / 2 - p * u - q * v, r, s, h / 2 - r * u - s * v, 0, 0, 1]


def adjugate(m):
    return [m[4] * m[8] - m[5] * m[7], m[2] * m[7] - m[1] * m[8], m[1] * m[5] - m[2] * m[4],
            m[5] * m[6] - m[3] * m[8], m[0] * m[8] - m[2] * m[6], m[2] * m[3] - m[0] * m[5],
            m[3] * m[7] - m[4] * m[6], m[1] * m[6] - m[0] * m[7], m[0] * m[4] - m[1] * m[3]]


def cornered(h, w, moves):
    """The map of points that `perspective` makes: of the corners of pixel indices to where they move."""
    x0, y0, x1, y1, x2, y2, x3, y3 = moves
    corners = [(x0, y0), (w - 1 - x1, y1), (w - 1 - x2, h - 1 - y2), (x3, h - 1 - y3)]
    rows, targets = [], []
    for (x, y), (u, v) in zip([(0, 0), (w - 1, 0), (w - 1, h - 1), (0, h - 1)], corners):
        rows += [[x, y, 1, 0, 0, 0, -u * x, -u * y], [0, 0, 0, x, y, 1, -v * x, -v * y]]
        targets += [u, v]
    return [*np.linalg.solve(np.array(rows, float), np.array(targets, float)).tolist(), 1]


def composed(h, w, steps):
    """The map of the image's points to those of the result, and the result's size."""
    m = [1, 0, 0, 0, 1, 0, 0, 0, 1]

    def then(n):
        nonlocal m
        m = [n[i - i % 3] * m[i % 3] + n[i - i % 3 + 1] * m[3 + i % 3] + n[i - i % 3 + 2] * m[6 + i % 3]
             for i in range(9)]

    def cut(top, left, height, width):
        nonlocal h, w
        then([1, 0, -left, 0, 1, -top, 0, 0, 1])
        h, w = height, width

    def scale(height, width):
        nonlocal h, w
        then([width / w, 0, 0, 0, height / h, 0, 0, 0, 1])
        h, w = height, width
    for name, settings, values in steps:
        if name == "randomResizedCrop":
            cut(*values)
            scale(*settings)
        elif name == "resize":
            scale(*settings)
        elif name == "centerCrop":
            cut(round((h - settings[0]) / 2), round((w - settings[1]) / 2), *settings)
        elif name == "randomCrop":
            cut(values[0] - settings[2], values[1] - settings[2], settings[0], settings[1])
        elif name == "pad":
            cut(-settings[0], -settings[0], h + 2 * settings[0], w + 2 * settings[0])
        elif name == "horizontalFlip":
            then([-1, 0, w, 0, 1, 0, 0, 0, 1])
        elif name == "verticalFlip":
            then([1, 0, 0, 0, -1, h, 0, 0, 1])
        elif name == "rotate":
            then(turned(h, w, -values[0]))
        elif name == "affine":
            then(turned(h, w, *values))
        elif name == "perspective":
            then(cornered(h, w, values))
    return m, h, w


def weighed(image, outputs, step, begin):
    """Weighs rows of `image` by a triangle."""
    out = []
    for k in range(outputs):
        center, reach = begin + (k + 0.5) * step, max(abs(step), 1)
        first = max(math.floor(center - reach + 0.5), 0)
        end = min(math.floor(center + reach + 0.5), len(image))
        weights = [max(1 - abs(i + 0.5 - center) / reach, 0) for i in range(first, end)]
        total = 0.0
        for weight in weights:
            total += weight
        line = np.zeros(image.shape[1:], F)
        for i, weight in zip(range(first, end), weights):
            line = line + F(weight / total) * image[i]
        out.append(line)
    return np.stack(out)


def both(image, rows, columns):
    """Weighs columns, then rows."""
    return weighed(weighed(image, *rows).swapaxes(0, 1), *columns).swapaxes(0, 1)


def fused(image, steps, fill):
    height, width, _ = image.shape
    m, h, w = composed(height, width, steps)
    m = adjugate(m)
    values = image.astype(F)

    def inside(step, begin, outputs, inputs):
        ends = (begin, begin + step * outputs)
        return min(ends) >= -1e-6 and max(ends) <= inputs + 1e-6
    if m[1] == m[3] == m[6] == m[7] == 0:
        across, down = (m[0] / m[8], m[2] / m[8]), (m[4] / m[8], m[5] / m[8])
        if inside(*across, w, width) and inside(*down, h, height):
            return np.rint(both(values, (h, *down), (w, *across))).astype(np.uint8)
    x, y = w / 2, h / 2
    divisor = m[6] * x + m[7] * y + m[8]

    def step(row):
        place = (m[row] * x + m[row + 1] * y + m[row + 2]) / divisor
        return math.sqrt(((m[row] - place * m[6]) / divisor) ** 2 + ((m[row + 1] - place * m[7]) / divisor) ** 2)
    small_w, small_h = (max(1, math.floor(size * 1.5 / s)) if s > 1.5 else size
                        for size, s in ((width, step(0)), (height, step(3))))
    if (small_h, small_w) != (height, width):
        values = both(values, (small_h, height / small_h, 0), (small_w, width / small_w, 0))
        m = [m[i] * small_w / width if i < 3 else m[i] * small_h / height if i < 6 else m[i] for i in range(9)]
    f = [F(v / m[8]) for v in m]
    y = (np.arange(h, dtype=F) + F(0.5))[:, None]
    x = (np.arange(w, dtype=F) + F(0.5))[None, :]
    divisor = f[6] * x + f[7] * y + F(1)
    return bilinear(values, (f[3] * x + f[4] * y + f[5]) / divisor - F(0.5),
                    (f[0] * x + f[1] * y + f[2]) / divisor - F(0.5), fill)


def bilinear(values, row, column, fill):
    h, w, c = values.shape
    y, x = np.floor(row), np.floor(column)
    down, right = row - y, column - x
    y, x = y.astype(int), x.astype(int)
    value, covered = np.zeros((*row.shape, c), F), np.zeros(row.shape, F)
    outside = np.zeros(row.shape, bool)
    for tap in range(4):
        ty, tx = y + (tap >> 1), x + (tap & 1)
        weight = (right if tap & 1 else F(1) - right) * (down if tap >> 1 else F(1) - down)
        there = (ty >= 0) & (ty < h) & (tx >= 0) & (tx < w)
        weight = np.where(there, weight, F(0))
        outside |= ~there
        value = value + weight[..., None] * values[np.clip(ty, 0, h - 1), np.clip(tx, 0, w - 1)]
        covered = covered + weight
    rest = np.where(outside, (F(1) - covered) * F(fill), F(0))
    return np.rint(value + rest[..., None]).astype(np.uint8)


def images():
    rng = np.random.default_rng(19)
    y, x = np.mgrid[0:61, 0:47]
    waves = np.stack([128 + 100 * np.sin(x * 0.9 + y * 0.3), x * 5, 255 - y * 4], -1).astype(np.uint8)
    return {"noise": rng.integers(0, 256, (23, 31, 3), dtype=np.uint8), "waves": waves,
            "gray": rng.integers(0, 256, (40, 40, 1), dtype=np.uint8),
            "four": rng.integers(0, 256, (19, 33, 4), dtype=np.uint8), "dot": np.full((1, 1, 3), 200, np.uint8)}


CASES = (
    ("noise", [("randomResizedCrop", [12, 14], [3, 5, 16, 20]), ("horizontalFlip", [], [1])]),
    ("noise", [("randomResizedCrop", [12, 14], [3, 5, 16, 20]), ("rotate", [], [17.5])]),
    ("noise", [("rotate", [], [-40])], 90),
    ("noise", [("rotate", [], [90])]),
    ("noise", [("horizontalFlip", [], [1]), ("verticalFlip", [], [1])]),
    ("noise", [("randomCrop", [24, 30, 3], [0, 5])], 7),
    ("noise", [("pad", [2], []), ("affine", [], [12, 3, -2, 1.3, 8, -4]), ("centerCrop", [17, 20], [])], 255),
    ("noise", [("perspective", [], [3, 2, 0, 5, 4, 1, 2, 3])]),
    ("waves", [("randomResizedCrop", [16, 12], [0, 0, 61, 47]), ("rotate", [], [30])]),
    ("waves", [("resize", [20, 15], []), ("centerCrop", [14, 14], [])]),
    ("waves", [("resize", [11, 40], []), ("rotate", [], [5]), ("verticalFlip", [], [1])], 33),
    ("waves", [("affine", [], [-20, 0, 0, 0.3, 0, 0]), ("perspective", [], [6, 9, 2, 0, 7, 3, 0, 5])], 128),
    ("waves", [("randomResizedCrop", [30, 60], [20, 10, 9, 15]), ("affine", [], [3, 5, 0, 1, 0, 0])]),
    ("gray", [("affine", [], [0, 0, 0, 0.25, 0, 0]), ("rotate", [], [45])], 12),
    ("gray", [("rotate", [], [45]), ("resize", [13, 13], [])]),
    ("four", [("perspective", [], [0, 4, 5, 0, 2, 2, 6, 1]), ("resize", [8, 12], [])], 70),
    ("dot", [("rotate", [], [30]), ("resize", [3, 5], [])], 50),
    ("dot", [("resize", [4, 3], [])]),
)


def main():
    made, lines = images(), []
    for name, image in made.items():
        lines.append(json.dumps({"image": name, "shape": image.shape, "pixels": base64.b64encode(image).decode()}))
    for name, steps, *fill in CASES:
        fill = fill[0] if fill else 0
        result = fused(made[name], steps, fill)
        lines.append(json.dumps({"of": name, "fill": fill, "steps": [
            {"operation": operation, "settings": settings, "values": values} for operation, settings, values in steps],
            "shape": result.shape, "pixels": base64.b64encode(np.ascontiguousarray(result)).decode()}))
    pathlib.Path(sys.argv[1]).write_text('{"fused": [\n' + ",\n".join(lines) + "\n]}\n")


if __name__ == "__main__":
    main()

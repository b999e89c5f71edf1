# SPDX-License-Identifier: Apache-2.0
"""The draws of docs/spec/augment.md in plain Python, and its vectors.

    python3 src/test/python/spec_augment.py > docs/spec/vectors/augment.json
"""

import json
import math
import pathlib
import struct
import sys

sys.dont_write_bytecode = True

from spec_permutation import SplitMix64
from spec_randomness import Words

TRIES = 10


def double(words):
    return (words.next() >> 11) / 2 ** 53


def uniform(words, low, high):
    return low + (high - low) * double(words)


def resized_crop(words, height, width, scale=(0.08, 1.0), ratio=(3 / 4, 4 / 3)):
    for _ in range(TRIES):
        area = height * width * uniform(words, *scale)
        aspect = math.exp(uniform(words, math.log(ratio[0]), math.log(ratio[1])))
        w, h = round(math.sqrt(area * aspect)), round(math.sqrt(area / aspect))
        if 0 < w <= width and 0 < h <= height:
            top = words.below(height - h + 1)
            return [top, words.below(width - w + 1), h, w]
    h, w = height, width
    if width / height < ratio[0]:
        h = min(max(round(width / ratio[0]), 1), height)
    elif width / height > ratio[1]:
        w = min(max(round(height * ratio[1]), 1), width)
    return [(height - h) // 2, (width - w) // 2, h, w]


def erasing(words, height, width, probability, scale=(0.02, 0.33), ratio=(0.3, 3.3)):
    if double(words) >= probability:
        return [0, 0, 0, 0]
    for _ in range(TRIES):
        area = height * width * uniform(words, *scale)
        aspect = math.exp(uniform(words, math.log(ratio[0]), math.log(ratio[1])))
        h, w = round(math.sqrt(area * aspect)), round(math.sqrt(area / aspect))
        if h < height and w < width:
            top = words.below(height - h + 1)
            return [top, words.below(width - w + 1), h, w]
    return [0, 0, 0, 0]


def jitter(words, brightness, contrast, saturation, hue):
    order = [0, 1, 2, 3]
    for i in (3, 2, 1):
        j = words.below(i + 1)
        order[i], order[j] = order[j], order[i]
    factors = [uniform(words, max(1 - x, 0), 1 + x) for x in (brightness, contrast, saturation)]
    return order + factors + [uniform(words, -hue, hue)]


def policy(words, height, width, operations, fixed_bin, shear, degrees, factor, lost_bits):
    values = []
    for _ in range(operations):
        operation = words.below(14)
        step = words.below(31) if fixed_bin is None else fixed_bin
        negative = words.next() >> 63
        across = 32 if fixed_bin is None else 150 / 331 * width
        down = 32 if fixed_bin is None else 150 / 331 * height
        magnitude = {1: shear * step / 30, 2: shear * step / 30, 3: math.floor(across * step / 30),
                     4: math.floor(down * step / 30), 5: degrees * step / 30, 10: 8 - round(step * lost_bits / 30),
                     11: 255 * (30 - step) / 30, **dict.fromkeys((6, 7, 8, 9), factor * step / 30)}.get(operation, 0)
        values += [operation, -magnitude if negative and 1 <= operation <= 9 else magnitude]
    return values


def affine(words, height, width):
    angle = uniform(words, -15.0, 15.0)
    x, y = 0.25 * width, 0.1 * height
    shift = [round(-x + 2 * x * double(words)), round(-y + 2 * y * double(words))]
    return [angle] + shift + [uniform(words, *bounds) for bounds in ((0.8, 1.2), (-5, 5), (-10, 10))]


def perspective(words, height, width, distortion, probability):
    applied = double(words) < probability and height > 1 and width > 1
    moves = [int(distortion * (width // 2)), int(distortion * (height // 2))] * 4
    drawn = [words.below(move + 1) for move in moves]
    return drawn if applied else [0] * 8


def sometimes(words, probability, ranges, unchanged):
    applied = double(words) < probability
    drawn = [uniform(words, *bounds) for bounds in ranges]
    return drawn if applied else unchanged


def magnitude(operation, step, height, width, shift, bits):
    return {1: 0.3 * step / 9, 2: 0.3 * step / 9, 3: math.floor(shift * width * step / 9),
            4: math.floor(shift * height * step / 9), 5: 30 * step / 9, 10: bits - round(step * 4 / 9),
            11: 255 * (9 - step) / 9, **dict.fromkeys((6, 7, 8, 9), 0.9 * step / 9)}.get(operation, 0)


def signed(words, operation, value):
    return -value if words.next() >> 63 and 1 <= operation <= 9 else value


def pairs(policy):
    """The table of a policy, 0 to 2, in docs/spec/augment.md."""
    page = pathlib.Path(__file__).parents[3] / "docs/spec/augment.md"
    rows = page.read_text().split("| pair |")[1].split("\n\n")[0].splitlines()[2:]
    return [[trial.split() for trial in row.split("|")[2 + policy].split(",")] for row in rows]


def auto_augment(words, height, width, policy):
    table = pairs(policy)
    values = []
    for operation, probability, step in table[words.below(len(table))]:
        operation = int(operation) if double(words) < float(probability) else 0
        values += [operation, signed(words, operation, magnitude(operation, int(step), height, width, 150 / 331, 8))]
    return values


def normal(words):
    while True:
        a, b = 2 * double(words) - 1, 2 * double(words) - 1
        q = a * a + b * b
        if 0 < q < 1:
            return a * math.sqrt(-2 * math.log(q) / q)


def log_gamma(words, shape):
    boost = 0
    if shape < 1:
        boost, shape = math.log(1 - double(words)) / shape, shape + 1
    k = shape - 1 / 3
    c = 1 / math.sqrt(9 * k)
    while True:
        x = normal(words)
        t = 1 + c * x
        if t > 0:
            v = t * t * t
            if math.log(1 - double(words)) < 0.5 * x * x + k - k * v + k * math.log(v):
                return math.log(k) + math.log(v) + boost


def beta(words, shape):
    g, h = log_gamma(words, shape), log_gamma(words, shape)
    return 1 / (1 + math.exp(h - g))


def aug_mix(words, height, width, severity, chains, depth, alpha):
    original = beta(words, alpha)
    logs = [log_gamma(words, alpha) for _ in range(chains)]
    shares = [math.exp(g - max(logs)) for g in logs]
    operations, magnitudes = [], []
    for _ in range(chains):
        length = depth or 1 + words.below(3)
        for i in range(3):
            operation = 1 + words.below(13) if i < length else 0
            operations.append(operation)
            magnitudes.append(signed(words, operation, magnitude(operation, words.below(severity), height, width,
                                                                 1 / 3, 4)) if i < length else 0)
    return [original] + [share / sum(shares) * (1 - original) for share in shares] + operations + magnitudes


def batch_mix(words, height, width, mix, cut, probability):
    applied = double(words) < probability
    cuts = words.next() >> 63
    if not applied:
        return [0, 1, 0, 0, 0, 0], [1, 1, 1]
    if not cuts:
        weights = [beta(words, mix) for _ in range(3)]
        return [1, weights[0], 0, 0, 0, 0], weights
    row, column = words.below(height), words.below(width)
    r = 0.5 * math.sqrt(1 - beta(words, cut))
    top, left = max(row - int(r * height), 0), max(column - int(r * width), 0)
    bottom, right = min(row + int(r * height), height), min(column + int(r * width), width)
    weight = 1 - (bottom - top) * (right - left) / (width * height)
    return [2, weight, top, left, bottom, right], [weight] * 3


def f32(x):
    return struct.unpack("f", struct.pack("f", x))[0]


def inverse_normal(p):
    a = (-3.969683028665376e+01, 2.209460984245205e+02, -2.759285104469687e+02, 1.383577518672690e+02,
         -3.066479806614716e+01, 2.506628277459239e+00)
    b = (-5.447609879822406e+01, 1.615858368580409e+02, -1.556989798598866e+02, 6.680131188771972e+01,
         -1.328068155288572e+01, 1)
    c = (-7.784894002430293e-03, -3.223964580411365e-01, -2.400758277161838e+00, -2.549732539343734e+00,
         4.374664141464968e+00, 2.938163982698783e+00)
    d = (7.784695709041462e-03, 3.224671290700398e-01, 2.445134137142996e+00, 3.754408661907416e+00, 1)

    def polynomial(coefficients, x):
        value = 0
        for coefficient in coefficients:
            value = value * x + coefficient
        return value
    if p < 0.02425:
        q = math.sqrt(-2 * math.log(p))
        return polynomial(c, q) / polynomial(d, q)
    q = p - 0.5
    return polynomial(a, q * q) * q / polynomial(b, q * q)


def noisy(key, sigma, i, p):
    words = SplitMix64(key)
    for _ in range(i // 4 + 1):
        word = words.next()
    k = (word >> 16 * (i % 4) & 0xFFFF) >> 4
    number = f32(inverse_normal((k + 0.5) / 4096)) if k < 2048 else -f32(inverse_normal((4095 - k + 0.5) / 4096))
    return round(min(max(f32(p + f32(f32(255 * sigma) * number)), 0), 255))


def main():
    lines = []
    for seed, epoch in ((0, 0), (42, 3), (-1, 2 ** 40)):
        for position in (0, 1, 7, 2 ** 33 + 5):
            def words(step):
                return Words(seed, epoch, position, "penstock.augment." + step)
            for height, width in ((375, 500), (33, 64), (1, 1), (10, 2000), (2000, 10), (4, 1)):
                top = words("randomCrop")
                values = {
                    "randomResizedCrop": resized_crop(words("randomResizedCrop"), height, width),
                    "randomErasing": erasing(words("randomErasing"), height, width, 0.75),
                    "randomCrop": [top.below(height + 2 * 4 - 5), top.below(width + 2 * 4 - 4)],
                    "rotate": [uniform(words("rotate"), -30.0, 30.0)],
                    "affine": affine(words("affine"), height, width),
                    "randAugment": policy(words("randAugment"), height, width, 2, 9, 0.3, 30, 0.9, 4),
                    "trivialAugmentWide": policy(words("trivialAugmentWide"), height, width, 1, None, 0.99, 135, 0.99,
                                                 6),
                    "horizontalFlip": [int(double(words("horizontalFlip")) < 0.5)],
                    "horizontalFlip.2": [int(double(words("horizontalFlip.2")) < 0.25)],
                    "colorJitter": jitter(words("colorJitter"), 0.4, 0.4, 1.5, 0.1),
                    "perspective": perspective(words("perspective"), height, width, 0.5, 0.75),
                    "gaussianBlur": [uniform(words("gaussianBlur"), 0.1, 2.0)],
                    "gamma": sometimes(words("gamma"), 0.5, ((0.8, 1.2),), [1]),
                    "brightnessContrast": sometimes(words("brightnessContrast"), 0.5, ((1 - 0.3, 1 + 0.3),
                                                                                       (-0.2, 0.2)), [1, 0]),
                    "gaussianNoise": (lambda w: [uniform(w, 0.05, 0.2), w.next() >> 11])(words("gaussianNoise")),
                    "autoAugment": auto_augment(words("autoAugment"), height, width, 0),
                    "autoAugment.2": auto_augment(words("autoAugment.2"), height, width, 1),
                    "autoAugment.3": auto_augment(words("autoAugment.3"), height, width, 2),
                    "augMix": aug_mix(words("augMix"), height, width, 3, 3, 0, 1),
                    "augMix.2": aug_mix(words("augMix.2"), height, width, 10, 2, 2, 0.4)}
                values["penstock.batchMix"], values["weights"] = batch_mix(
                    Words(seed, epoch, position, "penstock.batchMix"), height, width, 0.2, 1, 0.9)
                lines.append(json.dumps({"seed": seed, "epoch": epoch, "position": position, "image": [height, width],
                                         "values": values}))
    noise = [json.dumps({"key": key, "sigma": sigma, "bytes": [noisy(key, sigma, i, 128) for i in range(12)]})
             for key in (0, 1, 2 ** 53 - 1) for sigma in (0.02, 0.1, 1.0)]
    print('{"draws": [\n' + ",\n".join(lines) + '\n],\n"noise": [\n' + ",\n".join(noise) + "\n]}")


if __name__ == "__main__":
    main()

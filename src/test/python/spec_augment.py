# SPDX-License-Identifier: Apache-2.0
"""The draws of docs/spec/augment.md in plain Python, and its vectors.

    python3 src/test/python/spec_augment.py > docs/spec/vectors/augment.json
"""

import json
import math
import sys

sys.dont_write_bytecode = True

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
                    "colorJitter": jitter(words("colorJitter"), 0.4, 0.4, 1.5, 0.1)}
                lines.append(json.dumps({"seed": seed, "epoch": epoch, "position": position, "image": [height, width],
                                         "values": values}))
    print('{"draws": [\n' + ",\n".join(lines) + "\n]}")


if __name__ == "__main__":
    main()

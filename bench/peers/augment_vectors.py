# SPDX-License-Identifier: Apache-2.0
"""Writes the test vectors of io.penstock.augment: what torchvision (transforms v2), Pillow and OpenCV make of small
images, masks, boxes, keypoints and batches. Where docs/spec/augment.md computes in another order than they do, a vector
also has the bytes that the specification gives instead, by numpy in f32: `exact`, places and values.

    python bench/peers/augment_vectors.py src/test/resources/io/penstock/augment/vectors.json.gz

Needs torch, torchvision, numpy, Pillow and opencv-python-headless. With a CPU build of torch, torchvision's compiled
operators do not load, so the two that its import asks for are declared here; the transforms are plain torch.
"""
import base64
import gzip
import json
import math
import pathlib
import sys

import cv2
import numpy as np
import torch
from PIL import Image

declared = torch.library.Library("torchvision", "DEF")
for operator in ("nms", "qnms"):
    declared.define(operator + "(Tensor dets, Tensor scores, float t) -> Tensor")

import torchvision  # noqa: E402
from torchvision import tv_tensors  # noqa: E402
from torchvision.transforms.v2 import (AugMix, CutMix, InterpolationMode, MixUp, RandAugment,  # noqa: E402
                                       functional as F)


def images():
    rng = np.random.default_rng(15)
    noise = rng.integers(0, 256, (17, 23, 3), dtype=np.uint8)
    y, x = np.mgrid[0:13, 0:9]
    gradient = np.stack([x * 28, y * 20, (x + y) * 9 + 20], -1).astype(np.uint8)
    lines = np.full((10, 17, 3), 90, np.uint8)
    lines[4] = (255, 0, 0)
    lines[:, 11] = (0, 255, 30)
    lines[7, 3::2] = 255
    gray = rng.integers(30, 201, (19, 21, 1), dtype=np.uint8)
    dull = (rng.integers(0, 40, (14, 8, 3)) ** 2 // 10 + 40).astype(np.uint8)
    colors = np.array([(r, g, b) for r in (0, 1, 127, 254, 255) for g in (0, 1, 128, 255) for b in (0, 2, 128, 255)],
                      np.uint8).reshape(8, 10, 3)
    ramp = np.repeat(np.arange(256, dtype=np.uint8).reshape(16, 16, 1), 3, -1)
    return {"noise": noise, "ramp": ramp, "gradient": gradient, "lines": lines, "gray": gray, "dull": dull,
            "colors": colors, "flat": np.full((5, 4, 3), 77, np.uint8), "dot": np.full((1, 1, 3), 200, np.uint8)}


POLICY = ("Identity", "ShearX", "ShearY", "TranslateX", "TranslateY", "Rotate", "Brightness", "Color", "Contrast",
          "Sharpness", "Posterize", "Solarize", "AutoContrast", "Equalize", "Invert")


def policy(t, operation, magnitude, mode):
    if POLICY[operation] == "Solarize":
        magnitude /= 255
    return RandAugment(interpolation=mode)._apply_image_or_video_transform(
        t, POLICY[operation], magnitude, mode, {torch.Tensor: None})


# docs/spec/augment.md, "Pixels"

def f32(x):
    return np.float32(x)


def sine(degrees):
    quarters = round(degrees / 90)
    rest = math.radians(degrees - 90 * quarters)
    return (math.sin(rest), math.cos(rest), -math.sin(rest), -math.cos(rest))[quarters % 4]


def affine_map(h, w, angle, right=0, down=0, scale=1, shear_x=0, shear_y=0):
    tan = sine(shear_x) / sine(shear_x + 90)
    a = sine(angle - shear_y + 90) / sine(shear_y + 90)
    b = -(a * tan + sine(angle))
    c = sine(angle - shear_y) / sine(shear_y + 90)
    d = sine(angle + 90) - c * tan
    xx, xy, yx, yy = d / scale, -b / scale, -c / scale, a / scale
    return [xx, xy, -(xx * right + xy * down) + (w - 1) / 2, yx, yy, -(yx * right + yy * down) + (h - 1) / 2]


def warped(image, row, column, mode, fill):
    h, w, _ = image.shape
    if mode == "NEAREST":
        y, x = np.rint(row).astype(int), np.rint(column).astype(int)
        inside = (y >= 0) & (y < h) & (x >= 0) & (x < w)
        found = image[np.clip(y, 0, h - 1), np.clip(x, 0, w - 1)]
        return np.where(inside[..., None], found, np.uint8(fill))
    y, x = np.floor(row), np.floor(column)
    down, right = row - y, column - x
    y, x = y.astype(int), x.astype(int)
    value, covered = np.zeros(image.shape, np.float32), np.zeros((h, w), np.float32)
    for tap in range(4):
        ty, tx = y + (tap >> 1), x + (tap & 1)
        weight = (right if tap & 1 else f32(1) - right) * (down if tap >> 1 else f32(1) - down)
        weight = np.where((ty >= 0) & (ty < h) & (tx >= 0) & (tx < w), weight, f32(0))
        value += weight[..., None] * image[np.clip(ty, 0, h - 1), np.clip(tx, 0, w - 1)].astype(np.float32)
        covered += weight
    value += ((f32(1) - covered) * f32(fill))[..., None]
    return np.rint(value).astype(np.uint8)


def affine(image, m, mode, fill):
    h, w, _ = image.shape
    m = [f32(v) for v in m]
    y = (np.arange(h, dtype=np.float32) - f32((h - 1) / 2))[:, None]
    x = (np.arange(w, dtype=np.float32) - f32((w - 1) / 2))[None, :]
    return warped(image, m[3] * x + m[4] * y + m[5], m[0] * x + m[1] * y + m[2], mode, fill)


def perspective(image, moves, mode, fill):
    h, w, _ = image.shape
    x0, y0, x1, y1, x2, y2, x3, y3 = moves
    corners = [(x0, y0), (w - 1 - x1, y1), (w - 1 - x2, h - 1 - y2), (x3, h - 1 - y3)]
    rows, targets = [], []
    for (x, y), (u, v) in zip(corners, [(0, 0), (w - 1, 0), (w - 1, h - 1), (0, h - 1)]):
        rows += [[x, y, 1, 0, 0, 0, -u * x, -u * y], [0, 0, 0, x, y, 1, -v * x, -v * y]]
        targets += [u, v]
    m = [f32(v) for v in np.linalg.solve(np.array(rows, float), np.array(targets, float))]
    y = (np.arange(h, dtype=np.float32) + f32(0.5))[:, None]
    x = (np.arange(w, dtype=np.float32) + f32(0.5))[None, :]
    divisor = m[6] * x + m[7] * y + f32(1)
    return warped(image, (m[3] * x + m[4] * y + m[5]) / divisor - f32(0.5),
                  (m[0] * x + m[1] * y + m[2]) / divisor - f32(0.5), mode, fill)


def blurred(image, size, sigma):
    reach = size // 2
    weights = [math.exp(-0.5 * ((k - reach) / sigma) ** 2) for k in range(size)]
    weights = [f32(weight / sum(weights)) for weight in weights]
    padded = np.pad(image, ((reach, reach), (reach, reach), (0, 0)), mode="reflect").astype(np.float32)
    h, w, _ = image.shape
    sums = weights[0] * padded[:h]
    for k in range(1, size):
        sums = sums + weights[k] * padded[k:k + h]
    smooth = weights[0] * sums[:, :w]
    for k in range(1, size):
        smooth = smooth + weights[k] * sums[:, k:k + w]
    return np.rint(smooth).astype(np.uint8)


def operated(image, operation, magnitude, mode):
    """An operation of a policy: those that move pixels by the specification, the others by torchvision."""
    h, w, _ = image.shape
    name = POLICY[operation]
    if name in ("ShearX", "ShearY"):
        m = affine_map(h, w, 0)
        m[1 if name == "ShearX" else 3] = magnitude
        m[2 if name == "ShearX" else 5] += magnitude * (h if name == "ShearX" else w) / 2
    elif name in ("TranslateX", "TranslateY"):
        m = affine_map(h, w, 0, *((magnitude, 0) if name == "TranslateX" else (0, magnitude)))
    elif name == "Rotate":
        m = affine_map(h, w, -magnitude)
    else:
        return array(policy(tensor(image), operation, magnitude, InterpolationMode[mode]))
    return affine(image, m, mode, 0)


def mixed(image, original, weights, chains):
    total = f32(original) * image.astype(np.float32)
    for weight, chain in zip(weights, chains):
        changed = image
        for operation, magnitude in chain:
            changed = operated(changed, operation, magnitude, "BILINEAR")
        total = total + f32(weight) * changed.astype(np.float32)
    return np.minimum(total, 255).astype(np.uint8)


def specified(image, operation, settings, parameters):
    """What the specification gives where others compute in another order; None for operations that all agree on."""
    h, w, _ = image.shape
    values = list((parameters or {}).values())
    if operation == "rotate":
        return affine(image, affine_map(h, w, -values[0]), settings["interpolation"], settings["fill"])
    if operation == "affine":
        return affine(image, affine_map(h, w, *values), settings["interpolation"], settings["fill"])
    if operation == "perspective":
        return perspective(image, values, settings["interpolation"], settings["fill"])
    if operation == "gaussianBlur":
        return blurred(image, settings["size"], values[0])
    if operation == "augMix":
        chains = [values[i:i + 7] for i in range(1, len(values), 7)]
        return mixed(image, values[0], [chain[0] for chain in chains],
                     [list(zip(chain[1::2], chain[2::2])) for chain in chains])
    if operation in ("trivialAugmentWide", "randAugment", "autoAugment"):
        for i in range(0, len(values), 2):
            image = operated(image, values[i], values[i + 1], settings["interpolation"])
        return image
    return None


def exact_places(exact, found):
    return [[int(place), int(exact.flat[place])] for place in np.flatnonzero(exact != found)]


class FixedAugMix(AugMix):
    """AugMix with given draws: the chains' operations are the identity behind their depth."""

    def __init__(self, original, weights, chains):
        super().__init__(severity=1, mixture_width=len(chains), chain_depth=3)
        self.shares = [torch.tensor([[original, 1 - original]]),
                       torch.tensor([weights]) / (1 - original)]
        self.operations = [step for chain in chains for step in chain]

    def _sample_dirichlet(self, params):
        return self.shares.pop(0)

    def _get_random_item(self, space):
        operation, size = self.operations.pop(0)
        size = size / 255 if POLICY[operation] == "Solarize" else size
        return POLICY[operation], (lambda bins, height, width: torch.tensor([size], dtype=torch.float64), False)


def tensor(image):
    return torch.from_numpy(image.transpose(2, 0, 1).copy())


def array(result):
    return np.ascontiguousarray(result.numpy().transpose(1, 2, 0))


def text(image):
    return base64.b64encode(image.tobytes()).decode()


def pillow(image):
    return Image.fromarray(image[:, :, 0] if image.shape[2] == 1 else image)


def unpillow(image):
    found = np.asarray(image)
    return found[:, :, None] if found.ndim == 2 else found


def cases(all_images):
    """Yields the image's name, the operation, its settings, the parameters, and the result."""
    for name, image in all_images.items():
        t = tensor(image)
        h, w, c = image.shape
        yield name, "horizontalFlip", {}, {"applied": 1}, array(F.horizontal_flip(t))
        yield name, "verticalFlip", {}, {"applied": 1}, array(F.vertical_flip(t))
        yield name, "invert", {}, {"applied": 1}, array(F.invert(t))
        yield name, "autocontrast", {}, {"applied": 1}, array(F.autocontrast(t))
        yield name, "equalize", {}, {"applied": 1}, array(F.equalize(t))
        if c == 3:
            yield name, "grayscale", {}, {"applied": 1}, array(F.rgb_to_grayscale(t, 3))
        for bits in (1, 4, 7):
            yield name, "posterize", {"bits": bits}, {"applied": 1}, array(F.posterize(t, bits))
        for threshold in (64, 127.5, 255):
            yield name, "solarize", {"threshold": threshold}, {"applied": 1}, array(F.solarize(t, threshold))
        for factor in (0.0, 0.3, 1.0, 2.0):
            yield name, "sharpness", {"factor": factor}, {"applied": 1}, array(F.adjust_sharpness(t, factor))
        for factor in (0.0, 0.37, 1.0, 1.4, 2.0):
            yield name, "brightness", {}, {"brightness": factor}, array(F.adjust_brightness(t, factor))
            yield name, "contrast", {}, {"contrast": factor}, array(F.adjust_contrast(t, factor))
            yield name, "saturation", {}, {"saturation": factor}, array(F.adjust_saturation(t, factor))
        for turn in (-0.5, -0.13, 0.0, 0.1, 0.5):
            yield name, "hue", {}, {"hue": turn}, array(F.adjust_hue(t, turn))
        if name == "ramp":
            continue
        jitter = F.adjust_brightness(F.adjust_hue(F.adjust_contrast(F.adjust_saturation(t, 1.3), 0.8), 0.07), 1.1)
        yield (name, "colorJitter", {}, {"first": 2, "second": 1, "third": 3, "fourth": 0, "brightness": 1.1,
                                         "contrast": 0.8, "saturation": 1.3, "hue": 0.07}, array(jitter))
        crop_h, crop_w = max(1, h // 2), max(1, w - 4)
        for mode in ("constant", "edge", "reflect", "symmetric"):
            pad = 3
            if mode == "reflect" and min(h, w) <= pad or mode == "symmetric" and min(h, w) < pad:
                continue
            fill = 9 if mode == "constant" else 0
            for top, left in ((0, 0), (2, 3), (h + 2 * pad - crop_h, w + 2 * pad - crop_w)):
                padded = F.pad(t, [pad] * 4, fill=fill, padding_mode=mode)
                yield (name, "randomCrop", {"height": crop_h, "width": crop_w, "padding": pad, "mode": mode.upper(),
                                            "fill": fill}, {"top": top, "left": left},
                       array(F.crop(padded, top, left, crop_h, crop_w)))
        centered = F.center_crop(t, [crop_h, crop_w])
        yield name, "centerCrop", {"height": crop_h, "width": crop_w}, None, array(centered)
        for top, left, part_h, part_w in ((0, 0, h, w), (h // 3, w // 4, max(1, h // 2), max(1, w // 3)),
                                          (h - 1, w - 1, 1, 1)):
            part = pillow(image).crop((left, top, left + part_w, top + part_h))
            yield (name, "randomResizedCrop", {"height": 9, "width": 12},
                   {"top": top, "left": left, "height": part_h, "width": part_w},
                   unpillow(part.resize((12, 9), Image.Resampling.BILINEAR)))
        shorter = F.resize(pillow(image), [7])
        yield name, "resize", {"shorter": 7}, {}, unpillow(shorter)
        if c == 3 and h > 1:
            for mode, fill in ((InterpolationMode.NEAREST, [9.0]), (InterpolationMode.BILINEAR, None)):
                settings = {"interpolation": mode.name, "fill": 9 if fill else 0}
                for angle in (0, 90, 180, 45, -33.3):
                    turned = F.rotate(t, angle, interpolation=mode, fill=fill)
                    yield name, "rotate", settings, {"angle": angle}, array(turned)
                for angle, x, y, scale, sx, sy in ((0, 2, -3, 1, 0, 0), (20, 1, 2, 0.6, 10, -5),
                                                   (-70, 0, 0, 1.5, 0, 40)):
                    moved = F.affine(t, angle, [x, y], scale, [sx, sy], interpolation=mode, fill=fill)
                    yield (name, "affine", settings, {"angle": angle, "translateX": x, "translateY": y, "scale": scale,
                                                      "shearX": sx, "shearY": sy}, array(moved))
        if name in ("noise", "lines", "gray"):
            for mode in (InterpolationMode.NEAREST, InterpolationMode.BILINEAR):
                for operation, magnitude in enumerate((0, 0.2913, -0.7071, 3, -2, 27.53, -0.3, 0.6, -0.99, 0.9, 3, 99,
                                                       0, 0)):
                    yield (name, "trivialAugmentWide", {"interpolation": mode.name},
                           {"operation1": operation, "magnitude1": magnitude},
                           array(policy(t, operation, magnitude, mode)))
            two = policy(policy(t, 1, 0.09, InterpolationMode.NEAREST), 13, 0, InterpolationMode.NEAREST)
            yield (name, "randAugment", {"interpolation": "NEAREST"},
                   {"operation1": 1, "magnitude1": 0.09, "operation2": 13, "magnitude2": 0}, array(two))
            two = policy(policy(t, 14, 0, InterpolationMode.NEAREST), 5, -16.7, InterpolationMode.NEAREST)
            yield (name, "autoAugment", {"interpolation": "NEAREST"},
                   {"operation1": 14, "magnitude1": 0, "operation2": 5, "magnitude2": -16.7}, array(two))
            for original, weights, chains in ((0.5, (0.125, 0.25, 0.125), (((11, 99.0), (0, 0), (0, 0)), (
                    (6, 0.3), (13, 0), (9, -0.6)), ((10, 4), (0, 0), (0, 0)))), (0.3, (0.1, 0.2, 0.4), (
                        ((3, 2.0), (8, 0.27), (0, 0)), ((14, 0), (4, -3.0), (12, 0)), ((7, 0.9), (0, 0), (0, 0))))):
                parameters = {"original": original}
                for i, chain in enumerate(chains):
                    parameters["weight%d" % (i + 1)] = weights[i]
                    for k, (operation, size) in enumerate(chain):
                        parameters["operation%d%d" % (i + 1, k + 1)] = operation
                        parameters["magnitude%d%d" % (i + 1, k + 1)] = size
                yield name, "augMix", {}, parameters, array(FixedAugMix(original, weights, chains)(t))
        for gamma in (0.0, 0.5, 0.8, 1.0, 1.2, 2.2):
            yield name, "gamma", {}, {"gamma": gamma}, array(F.adjust_gamma(t, gamma))
        for contrast, brightness in ((1, 0), (0.83, 0.13), (1.2, -0.2), (0, 0.5), (2, 0.2)):
            line = cv2.addWeighted(image, contrast, np.zeros_like(image), 0, brightness * 255)
            yield (name, "brightnessContrast", {}, {"contrast": contrast, "brightness": brightness},
                   line.reshape(image.shape))
        for size, sigma in ((3, 0.1), (3, 0.8), (5, 1.1), (9, 2.0)):
            if min(h, w) > size // 2:
                yield name, "gaussianBlur", {"size": size}, {"sigma": sigma}, array(F.gaussian_blur(t, size, sigma))
        if min(h, w) > 5:
            for mode, fill in ((InterpolationMode.NEAREST, [9.0]), (InterpolationMode.BILINEAR, None)):
                for moves in ((1, 1, 0, 1, 0, 0, 1, 0), (0, 2, 1, 0, 2, 1, 0, 0),
                              (w // 3, h // 4, w // 5, 0, 1, h // 3, w // 4, 1)):
                    x0, y0, x1, y1, x2, y2, x3, y3 = moves
                    start = [[0, 0], [w - 1, 0], [w - 1, h - 1], [0, h - 1]]
                    end = [[x0, y0], [w - 1 - x1, y1], [w - 1 - x2, h - 1 - y2], [x3, h - 1 - y3]]
                    seen = F.perspective(t, start, end, interpolation=mode, fill=fill)
                    yield (name, "perspective", {"interpolation": mode.name, "fill": 9 if fill else 0},
                           dict(zip(CORNERS, moves)), array(seen))
        for mode in ("constant", "edge", "reflect", "symmetric"):
            if mode != "reflect" and min(h, w) >= 2 or min(h, w) > 2:
                yield (name, "pad", {"padding": 2, "mode": mode.upper(), "fill": 7 if mode == "constant" else 0}, {},
                       array(F.pad(t, [2] * 4, fill=7 if mode == "constant" else 0, padding_mode=mode)))
        for new_h, new_w in ((7, 5), (h, 2 * w + 1), (3 * h, max(1, w // 2)), (h + 4, w + 3)):
            for which in ("BOX", "BILINEAR", "BICUBIC"):
                yield (name, "resize", {"height": new_h, "width": new_w, "filter": which}, {},
                       unpillow(pillow(image).resize((new_w, new_h), Image.Resampling[which])))
            yield (name, "resize", {"height": new_h, "width": new_w, "filter": "NEAREST"}, {},
                   array(F.resize(t, [new_h, new_w], interpolation=InterpolationMode.NEAREST)))
        erased = t.clone()
        erased[:, h // 3:h // 3 + h // 2, w // 4:w // 4 + w // 2] = 33
        yield (name, "randomErasing", {"value": 33},
               {"top": h // 3, "left": w // 4, "height": h // 2, "width": w // 2}, array(erased))


CORNERS = ("topLeftX", "topLeftY", "topRightX", "topRightY", "bottomRightX", "bottomRightY", "bottomLeftX",
           "bottomLeftY")
BOXES = ((0, 0, 40, 30), (3.5, 2.25, 17, 29), (31, 0, 33.5, 4), (20, 10, 21, 11), (-5, -3, 60, 50))
POINTS = ((0.5, 0.5), (20, 15), (39.75, 29.5), (3.25, 27))


def targets():
    """Yields the operation, its settings, the parameters, and a function of an image, a mask, boxes or keypoints."""
    yield "horizontalFlip", {}, {"applied": 1}, F.horizontal_flip
    yield "verticalFlip", {}, {"applied": 1}, F.vertical_flip
    yield "pad", {"padding": 3, "mode": "CONSTANT", "fill": 0}, {}, lambda x: F.pad(x, [3] * 4)
    yield ("randomCrop", {"height": 13, "width": 22, "padding": 0, "mode": "CONSTANT", "fill": 0},
           {"top": 5, "left": 11}, lambda x: F.crop(x, 5, 11, 13, 22))
    yield ("randomResizedCrop", {"height": 24, "width": 36}, {"top": 4, "left": 9, "height": 20, "width": 18},
           lambda x: F.resized_crop(x, 4, 9, 20, 18, [24, 36]))
    yield "resize", {"height": 45, "width": 17, "filter": "BILINEAR"}, {}, lambda x: F.resize(x, [45, 17])
    for angle in (90, 30, -12.5):
        yield ("rotate", {"interpolation": "NEAREST", "fill": 0}, {"angle": angle},
               lambda x, angle=angle: F.rotate(x, angle))
    for angle, x, y, scale, sx, sy in ((0, 2, -3, 1, 0, 0), (20, 1, 2, 0.6, 10, -5), (-70, 0, 0, 1.5, 0, 40)):
        yield ("affine", {"interpolation": "NEAREST", "fill": 0},
               {"angle": angle, "translateX": x, "translateY": y, "scale": scale, "shearX": sx, "shearY": sy},
               lambda t, a=(angle, [x, y], scale, [sx, sy]): F.affine(t, *a))
    for moves in ((5, 3, 2, 6, 0, 1, 9, 0), (0, 0, 10, 7, 3, 0, 1, 5)):
        x0, y0, x1, y1, x2, y2, x3, y3 = moves
        start = [[0, 0], [39, 0], [39, 29], [0, 29]]
        end = [[x0, y0], [39 - x1, y1], [39 - x2, 29 - y2], [x3, 29 - y3]]
        yield ("perspective", {"interpolation": "BILINEAR", "fill": 0}, dict(zip(CORNERS, moves)),
               lambda t, a=(start, end): F.perspective(t, *a))


def target_lines():
    rng = np.random.default_rng(16)
    mask = rng.integers(0, 9, (30, 40), dtype=np.uint8)
    mask[8:20, 5:30] = 7
    boxes = tv_tensors.BoundingBoxes(torch.tensor(BOXES, dtype=torch.float64), format="XYXY", canvas_size=(30, 40))
    points = tv_tensors.KeyPoints(torch.tensor(POINTS, dtype=torch.float64), canvas_size=(30, 40))
    yield json.dumps({"mask": text(mask), "shape": mask.shape, "boxes": BOXES, "points": POINTS})
    for operation, settings, parameters, function in targets():
        moved = function(tv_tensors.Mask(torch.from_numpy(mask)))
        line = {"operation": operation, "settings": settings, "parameters": parameters, "shape": moved.shape,
                "mask": text(moved.numpy()), "boxes": function(boxes).tolist()}
        exact = specified(mask[..., None], operation, {**settings, "interpolation": "NEAREST", "fill": 0}, parameters)
        if exact is not None:
            line["exact"] = exact_places(exact[..., 0], moved.numpy())
        if "Flip" not in operation:         # of keypoints, torchvision mirrors pixel indices
            line["points"] = function(points).tolist()
        yield json.dumps(line)


def batch_lines():
    rng = np.random.default_rng(17)
    images = torch.from_numpy(rng.standard_normal((5, 3, 6, 7)).astype(np.float32))
    labels = torch.tensor([3, 0, 3, 3, 1])

    def floats(values):
        return base64.b64encode(values.numpy().tobytes()).decode()
    yield json.dumps({"images": floats(images), "shape": images.shape, "labels": labels.tolist()})
    for weight in (0.0, 0.2871, 0.5, 0.9, 1.0):
        mix = MixUp(num_classes=4)
        parameters = {"labels": labels, "batch_size": 5, "lam": weight}
        yield json.dumps({"mixUp": weight, "images": floats(mix.transform(images, parameters)),
                          "labels": floats(mix.transform(labels, parameters))})
    for top, left, bottom, right in ((0, 0, 6, 7), (2, 1, 5, 6), (3, 3, 3, 3), (0, 5, 2, 7)):
        cut = CutMix(num_classes=4)
        weight = 1 - (right - left) * (bottom - top) / (6 * 7)
        parameters = {"labels": labels, "batch_size": 5, "lam_adjusted": weight, "box": (left, top, right, bottom)}
        yield json.dumps({"cutMix": weight, "rectangle": [top, left, bottom, right],
                          "images": floats(cut.transform(images, parameters)),
                          "labels": floats(cut.transform(labels, parameters))})


def main():
    all_images = images()
    lines = []
    for name, image in all_images.items():
        lines.append(json.dumps({"image": name, "shape": image.shape, "pixels": text(image)}))
    for name, operation, settings, parameters, result in cases(all_images):
        line = {"of": name, "operation": operation, "settings": settings, "parameters": parameters,
                "shape": result.shape, "pixels": text(result)}
        exact = specified(all_images[name], operation, settings, parameters)
        if exact is not None:
            line["exact"] = exact_places(exact, result)
        lines.append(json.dumps(line))
    pathlib.Path(sys.argv[1]).write_bytes(gzip.compress((
        '{"made_by": "torchvision %s, torch %s, Pillow %s, OpenCV %s", "lines": [\n%s\n],\n"targets": [\n%s\n],\n'
        '"batches": [\n%s\n]}\n' % (torchvision.__version__, torch.__version__, Image.__version__, cv2.__version__,
                                   ",\n".join(lines), ",\n".join(target_lines()), ",\n".join(batch_lines()))).encode(),
        mtime=0))


if __name__ == "__main__":
    main()

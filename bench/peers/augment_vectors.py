# SPDX-License-Identifier: Apache-2.0
"""Writes the test vectors of io.penstock.augment: what torchvision (transforms v2) and Pillow make of small images.

    python bench/peers/augment_vectors.py src/test/resources/io/penstock/augment/vectors.json

Needs torch, torchvision, numpy and Pillow. With a CPU build of torch, torchvision's compiled operators do not load, so
the two that its import asks for are declared here; the transforms are plain torch.
"""
import base64
import json
import pathlib
import sys

import numpy as np
import torch
from PIL import Image

declared = torch.library.Library("torchvision", "DEF")
for operator in ("nms", "qnms"):
    declared.define(operator + "(Tensor dets, Tensor scores, float t) -> Tensor")

import torchvision  # noqa: E402
from torchvision.transforms.v2 import InterpolationMode, RandAugment, functional as F  # noqa: E402


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
          "Sharpness", "Posterize", "Solarize", "AutoContrast", "Equalize")


def policy(t, operation, magnitude, mode):
    if POLICY[operation] == "Solarize":
        magnitude /= 255
    return RandAugment(interpolation=mode)._apply_image_or_video_transform(
        t, POLICY[operation], magnitude, mode, {torch.Tensor: None})


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
        erased = t.clone()
        erased[:, h // 3:h // 3 + h // 2, w // 4:w // 4 + w // 2] = 33
        yield (name, "randomErasing", {"value": 33},
               {"top": h // 3, "left": w // 4, "height": h // 2, "width": w // 2}, array(erased))


def main():
    all_images = images()
    lines = []
    for name, image in all_images.items():
        lines.append(json.dumps({"image": name, "shape": image.shape, "pixels": text(image)}))
    for name, operation, settings, parameters, result in cases(all_images):
        lines.append(json.dumps({"of": name, "operation": operation, "settings": settings, "parameters": parameters,
                                 "shape": result.shape, "pixels": text(result)}))
    pathlib.Path(sys.argv[1]).write_text(
        '{"made_by": "torchvision %s, torch %s, Pillow %s", "lines": [\n%s\n]}\n' % (
            torchvision.__version__, torch.__version__, Image.__version__, ",\n".join(lines)))


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: Apache-2.0
"""JPEG files to batches of f32[64, 3, 224, 224] by one thread: torchvision's transforms v2 on tensors or on Pillow's
images, or OpenCV; a round for each line of standard input, as rounds.py says.

    echo 2 0 0 | python bench/peers/torch_pictures.py --store target/bench/jpegs --mode rrc --via tensors

The files are in memory, and there is no DataLoader: what is left is the pictures' own. OpenCV does not antialias.
"""

import argparse
import io
import math
import random
import sys
from pathlib import Path

import numpy as np
import torch
from PIL import Image

import rounds

BATCH, SIDE, SHORTER = 64, 224, 256
MEAN, DEVIATION = [0.485, 0.456, 0.406], [0.229, 0.224, 0.225]


def torchvision_v2():
    """Declares torchvision's operators, which are not compiled for every build of torch: the transforms do not need
    them, its import does."""
    declared = torch.library.Library("torchvision", "DEF")
    for operator in ("nms", "qnms"):
        try:
            declared.define(operator + "(Tensor dets, Tensor scores, float t) -> Tensor")
        except RuntimeError:
            pass  # it is compiled
    from torchvision.transforms import v2
    return v2, declared


def torchvision_steps(mode, via):
    v2, library = torchvision_v2()
    steps = [v2.PILToTensor()] if via == "tensors" else []
    if mode == "eval":
        steps += [v2.Resize(SHORTER, antialias=True), v2.CenterCrop(SIDE)]
    else:
        steps += [v2.RandomResizedCrop(SIDE, antialias=True), v2.RandomHorizontalFlip()]
    steps += {"rrc-jitter": [v2.ColorJitter(0.4, 0.4, 0.4, 0.1)], "rrc-rotate": [v2.RandomRotation(
        30, v2.InterpolationMode.BILINEAR)], "rrc-randaugment": [v2.RandAugment()]}.get(mode, [])
    steps += [] if via == "tensors" else [v2.PILToTensor()]
    transform = v2.Compose(steps + [v2.ToDtype(torch.float32, scale=True), v2.Normalize(MEAN, DEVIATION)])

    def one(data, out, _keep=library):
        out.copy_(transform(Image.open(io.BytesIO(data)).convert("RGB")))
    return one


def random_crop(height, width):
    for _ in range(10):
        area = height * width * random.uniform(0.08, 1)
        ratio = math.exp(random.uniform(math.log(3 / 4), math.log(4 / 3)))
        w, h = round(math.sqrt(area * ratio)), round(math.sqrt(area / ratio))
        if 0 < w <= width and 0 < h <= height:
            return random.randint(0, height - h), random.randint(0, width - w), h, w
    return 0, 0, height, width


def opencv_steps(mode):
    import cv2
    cv2.setNumThreads(1)
    scale = np.array([1 / (255 * d) for d in DEVIATION], np.float32)
    shift = np.array([m / d for m, d in zip(MEAN, DEVIATION)], np.float32)

    def one(data, out):
        image = cv2.cvtColor(cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_COLOR), cv2.COLOR_BGR2RGB)
        height, width = image.shape[:2]
        if mode == "eval":
            w, h = (SHORTER, SHORTER * height // width) if width < height else (SHORTER * width // height, SHORTER)
            image = cv2.resize(image, (w, h), interpolation=cv2.INTER_LINEAR)
            top, left = round((h - SIDE) / 2), round((w - SIDE) / 2)
            image = image[top:top + SIDE, left:left + SIDE]
        else:
            top, left, h, w = random_crop(height, width)
            image = cv2.resize(image[top:top + h, left:left + w], (SIDE, SIDE), interpolation=cv2.INTER_LINEAR)
            if random.random() < 0.5:
                image = cv2.flip(image, 1)
        for plane, channel, s, b in zip(out.numpy(), cv2.split(image), scale, shift):
            cv2.addWeighted(channel, s, channel, 0, -b, dst=plane, dtype=cv2.CV_32F)
    return one


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--store", type=Path, required=True, help="a folder of JPEGs")
    parser.add_argument("--mode", default="rrc", choices=["rrc", "eval", "rrc-jitter", "rrc-rotate", "rrc-randaugment"])
    parser.add_argument("--via", default="tensors", choices=["tensors", "pil", "opencv"])
    options = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    one = opencv_steps(options.mode) if options.via == "opencv" else torchvision_steps(options.mode, options.via)
    files = [file.read_bytes() for file in sorted(options.store.glob("*.jpg"))]

    def batches():
        done = 0
        ring = [torch.empty(BATCH, 3, SIDE, SIDE) for _ in range(2)]
        while True:
            batch = ring[done // BATCH % 2]
            for out in batch:
                one(files[done % len(files)], out)
                done += 1
            yield batch
    rounds.serve(batches(), BATCH, lambda batch: batch.sum())


if __name__ == "__main__":
    sys.exit(main())

# SPDX-License-Identifier: Apache-2.0
"""The side of torch and soundfile in SoundRates, on one thread.

    python3 bench/peers/sound_rates.py FILE.wav

It writes the file: 30 seconds of stereo at 44.1 kHz, 16 bits. Lines on standard input: `round WORK`, answered with the
CPU nanoseconds of one pass; `compare WORK RESULT.f32`, answered with the greatest difference from that file's values.
The resampling is torchaudio's `transforms.Resample` (its kernel, by conv1d), the log-mel Whisper's, written out again.

    pip install torch numpy soundfile
"""

import math
import sys
import time

import numpy as np
import soundfile
import torch

RATE, NEW_RATE, SECONDS = 44100, 16000, 30


def write(path):
    t = np.arange(RATE * SECONDS) / RATE
    left = 0.4 * np.sin(2 * np.pi * (50 * t + 3500 * t * t / SECONDS)) + 0.2 * np.sin(2 * np.pi * 440 * t)
    noise = np.random.default_rng(3).uniform(-0.05, 0.05, (2, len(t)))
    soundfile.write(path, np.stack([left + noise[0], 0.7 * left + noise[1]], 1), RATE, subtype="PCM_16")


def resampler():
    divisor = math.gcd(RATE, NEW_RATE)
    old, new = RATE // divisor, NEW_RATE // divisor
    base = min(old, new) * 0.99
    width = math.ceil(6 * old / base)
    taps = torch.arange(-width, width + old, dtype=torch.float64)[None, None] / old
    t = (torch.arange(0, -new, -1, dtype=torch.float64)[:, None, None] / new + taps) * base
    t = t.clamp(-6, 6)
    window = torch.cos(t * math.pi / 6 / 2) ** 2
    t = t * math.pi
    kernel = (torch.where(t == 0, torch.tensor(1.0, dtype=torch.float64), t.sin() / t) * window * base / old).float()

    def resample(samples):
        padded = torch.nn.functional.pad(samples[None, None], (width, width + old))
        rows = torch.nn.functional.conv1d(padded, kernel, stride=old)
        return rows.transpose(1, 2).reshape(-1)[:math.ceil(new * len(samples) / old)]
    return resample


def mel_filters(bands):
    def hertz(mel):
        return np.where(mel >= 15, 1000 * np.exp(math.log(6.4) / 27 * (mel - 15)), mel * 200 / 3)
    points = hertz(np.linspace(0, 15 + math.log(8) * 27 / math.log(6.4), bands + 2))
    slopes = points[None] - np.linspace(0, 8000, 201)[:, None]
    widths = np.diff(points)
    triangles = np.maximum(0, np.minimum(-slopes[:, :-2] / widths[:-1], slopes[:, 2:] / widths[1:]))
    return torch.as_tensor((triangles * 2 / (points[2:] - points[:-2])).T).float()


def log_mel(bands):
    window, filters = torch.hann_window(400), mel_filters(bands)

    def compute(samples):
        spectrum = torch.stft(samples, 400, 160, window=window, return_complex=True)
        mel = filters @ spectrum[:, :-1].abs() ** 2
        logs = torch.clamp(mel, min=1e-10).log10()
        return (torch.maximum(logs, logs.max() - 8) + 4) / 4
    return compute


def main():
    torch.set_num_threads(1)
    path = sys.argv[1]
    write(path)
    resample, mel = resampler(), log_mel(80)
    one = torch.as_tensor(soundfile.read(path, dtype="float32")[0]).mean(1)
    at_16 = resample(one)

    def read():
        return torch.as_tensor(soundfile.read(path, dtype="float32")[0])
    works = {"read": read, "resample": lambda: resample(one), "mel": lambda: mel(at_16),
             "all": lambda: mel(resample(read().mean(1)))}
    print("ready", flush=True)
    with torch.inference_mode():
        for line in sys.stdin:
            words = line.split()
            if words[0] == "compare":
                found = torch.as_tensor(np.fromfile(words[2], "<f4"))
                print(float((works[words[1]]().reshape(-1) - found).abs().max()), flush=True)
                continue
            start = time.thread_time_ns()
            works[words[1]]()
            print(time.thread_time_ns() - start, flush=True)


if __name__ == "__main__":
    main()

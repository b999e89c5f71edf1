# SPDX-License-Identifier: Apache-2.0
"""Writes small files of uncompressed sound by FFmpeg and libsndfile, for PcmReaderTest, with what FFmpeg reads of them.

    python3 bench/peers/sound_files.py media/src/test/resources/sound/pcm

Each line of pcm.tsv: name, rate, channels, samples, SHA-256 of `ffmpeg -i FILE -f f32le -`.

    pip install numpy soundfile; apt install ffmpeg
"""

import hashlib
import os
import subprocess
import sys

import numpy as np
import soundfile

BY_FFMPEG = {
    "u8.wav": "pcm_u8", "s16.wav": "pcm_s16le", "s24.wav": "pcm_s24le", "s32.wav": "pcm_s32le", "f32.wav": "pcm_f32le",
    "f64.wav": "pcm_f64le", "alaw.wav": "pcm_alaw", "mulaw.wav": "pcm_mulaw", "s8.aiff": "pcm_s8", "s16.aiff": "pcm_s16be",
    "s24.aiff": "pcm_s24be", "s32.aiff": "pcm_s32be", "f32.aiff": "pcm_f32be", "f64.aiff": "pcm_f64be",
    "alaw.aiff": "pcm_alaw", "mulaw.aiff": "pcm_mulaw", "sowt.aiff": "pcm_s16le"}
BY_SNDFILE = {
    "snd-s16.wav": ("WAV", "PCM_16"), "snd-f32.wav": ("WAV", "FLOAT"), "snd-s24.rf64": ("RF64", "PCM_24"),
    "snd-s24-extensible.wav": ("WAVEX", "PCM_24"), "snd-mulaw-extensible.wav": ("WAVEX", "ULAW"),
    "snd-s8.aiff": ("AIFF", "PCM_S8"), "snd-s24.aiff": ("AIFF", "PCM_24"), "snd-f32.aiff": ("AIFF", "FLOAT")}
RATE, CHANNELS, SAMPLES = 22050, 2, 301


def ffmpeg(*arguments, data=None):
    return subprocess.run(["ffmpeg", "-v", "error", "-y", *arguments], input=data, check=True, capture_output=True).stdout


def main():
    folder = sys.argv[1]
    sound = np.random.default_rng(7).uniform(-1, 1, (SAMPLES, CHANNELS)).astype("<f4")
    sound[0], sound[1] = -1, 1
    for name, codec in BY_FFMPEG.items():
        ffmpeg("-f", "f32le", "-ar", str(RATE), "-ac", str(CHANNELS), "-i", "-", "-c:a", codec, "-bitexact",
               os.path.join(folder, name), data=sound.tobytes())
    ffmpeg("-f", "f32le", "-ar", str(RATE), "-ac", str(CHANNELS), "-i", "-", "-rf64", "always", "-bitexact",
           os.path.join(folder, "s16.rf64.wav"), data=sound.tobytes())
    for name, (form, subtype) in BY_SNDFILE.items():
        soundfile.write(os.path.join(folder, name), sound, RATE, format=form, subtype=subtype)
    with open(os.path.join(folder, "pcm.tsv"), "w", encoding="utf-8") as table:
        for name in sorted([*BY_FFMPEG, *BY_SNDFILE, "s16.rf64.wav"]):
            read = ffmpeg("-i", os.path.join(folder, name), "-f", "f32le", "-")
            assert len(read) == SAMPLES * CHANNELS * 4, name
            print(name, RATE, CHANNELS, SAMPLES, hashlib.sha256(read).hexdigest(), sep="\t", file=table)


if __name__ == "__main__":
    main()

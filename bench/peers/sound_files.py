# SPDX-License-Identifier: Apache-2.0
"""Writes small files of sound by FFmpeg and libsndfile, for PcmReaderTest or FlacReaderTest, with what FFmpeg reads.

    python3 bench/peers/sound_files.py media/src/test/resources/sound/pcm
    python3 bench/peers/sound_files.py media/src/test/resources/sound/flac

Each line of pcm.tsv and flac.tsv: name, rate, channels, samples, SHA-256 of `ffmpeg -i FILE -f f32le -`.

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
FLAC_BY_FFMPEG = {
    "left-side.flac": (2, "-sample_fmt s16 -ch_mode left_side"),
    "side-right.flac": (2, "-sample_fmt s16 -ch_mode right_side"),
    "middle-side.flac": (2, "-sample_fmt s16 -ch_mode mid_side"), "fixed.flac": (1, "-sample_fmt s16 -lpc_type fixed"),
    "s24.flac": (2, "-sample_fmt s32 -compression_level 8"), "six.flac": (6, "-sample_fmt s16 -compression_level 0"),
    "order32.flac": (1, "-sample_fmt s16 -lpc_type cholesky -min_prediction_order 30 -max_prediction_order 32"),
    "s24-order32.flac": (1, "-sample_fmt s32 -lpc_type cholesky -min_prediction_order 30 -max_prediction_order 32"),
    "blocks-of-192.flac": (1, "-sample_fmt s16 -frame_size 192"), "wasted-bits.flac": (1, "-sample_fmt s16")}
FLAC_BY_SNDFILE = {"snd-s8.flac": "PCM_S8", "snd-s16.flac": "PCM_16", "snd-s24.flac": "PCM_24"}


def ffmpeg(*arguments, data=None):
    return subprocess.run(["ffmpeg", "-v", "error", "-y", *arguments], input=data, check=True, capture_output=True).stdout


def flac(folder):
    samples = 1500
    random = np.random.default_rng(8)
    time = np.arange(samples)[:, None] / RATE
    with open(os.path.join(folder, "flac.tsv"), "w", encoding="utf-8") as table:
        for name in sorted([*FLAC_BY_FFMPEG, *FLAC_BY_SNDFILE]):
            channels, options = FLAC_BY_FFMPEG.get(name, (2, ""))
            sound = (0.4 * np.sin(2 * np.pi * 300 * time * (1 + time)) + 0.2 * np.sin(2 * np.pi * 1000 * time)
                     + 0.01 * random.standard_normal((samples, channels)))
            sound[1200:1400] = 0
            sound[1400:] = random.uniform(-1, 1, (samples - 1400, channels))
            if name == "wasted-bits.flac":
                sound = np.round(sound * 2048) / 2048
            file = os.path.join(folder, name)
            if options:
                ffmpeg("-f", "f32le", "-ar", str(RATE), "-ac", str(channels), "-i", "-", *options.split(), "-bitexact",
                       "-metadata_header_padding", "0", file, data=sound.astype("<f4").tobytes())
            else:
                soundfile.write(file, sound, RATE, format="FLAC", subtype=FLAC_BY_SNDFILE[name], compression_level=1.0)
            read = ffmpeg("-i", file, "-f", "f32le", "-")
            assert len(read) == samples * channels * 4, name
            print(name, RATE, channels, samples, hashlib.sha256(read).hexdigest(), sep="\t", file=table)


def main():
    folder = sys.argv[1]
    if os.path.basename(folder) == "flac":
        return flac(folder)
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

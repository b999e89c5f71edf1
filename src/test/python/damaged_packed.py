# SPDX-License-Identifier: Apache-2.0
"""Writes src/test/resources/packed: a text packed by gzip, zstd and lz4, each in two parts, and what the tools make of
each file when it is cut after each byte, and when each byte is damaged.

pip install zstandard; the commands gzip, zstd and lz4
python src/test/python/damaged_packed.py src/test/resources/packed

NAME.verdicts has a line "cut" with a letter for each length from 0, and a line for each of the values that a byte is
XORed with, with a letter for each byte: s, the same text; p, the text of the first part alone, successfully; e, an error
of any tool (for gzip and zstd also of Python's module). Anything else would be an oracle that loses text, and stops this script.
"""

import binascii
import gzip
import io
import os
import struct
import subprocess
import sys
import zlib

import zstandard

FLIPS = (0x01, 0x80, 0xFF)
FIRST = b"the first part: " + b"one two three " * 12 + b"\n"
SECOND = b"the second part: " + b"a b c d e f " * 14 + b"\n"


def gzip_member(text, extra):
    head = b"\x1f\x8b\x08" + (b"\x1e" if extra else b"\x00") + struct.pack("<I", 1700000000) + b"\x00\x03"
    if extra:
        head += struct.pack("<H", 6) + b"ab\x02\x00xy" + b"name.txt\0" + b"a comment\0"
        head += struct.pack("<H", binascii.crc32(head) & 0xFFFF)
    deflate = zlib.compressobj(9, zlib.DEFLATED, -15)
    data = deflate.compress(text) + deflate.flush()
    return head + data + struct.pack("<II", zlib.crc32(text), len(text))


def zstd_frame(text):
    parameters = zstandard.ZstdCompressionParameters.from_level(19, write_checksum=True, write_content_size=True)
    return zstandard.ZstdCompressor(compression_params=parameters).compress(text)


def lz4_frame(text):
    return subprocess.run(["lz4", "-9", "-c", "--content-size", "-BX"], input=text, stdout=subprocess.PIPE,
                          check=True).stdout


SKIPPABLE = struct.pack("<II", 0x184D2A53, 5) + b"skip!"
FILES = {
    "text.gz": (gzip_member(FIRST, True) + gzip_member(SECOND, False) + bytes(5), ["gzip", "-dc"]),
    "text.zst": (zstd_frame(FIRST) + SKIPPABLE + zstd_frame(SECOND), ["zstd", "-dc"]),
    "text.lz4": (lz4_frame(FIRST) + SKIPPABLE + lz4_frame(SECOND), ["lz4", "-dc"]),
}


def verdict(packed, command):
    if not packed:
        return "e"  # lz4 makes nothing of nothing
    run = subprocess.run(command, input=packed, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    if run.returncode:
        return "e"
    if command[0] == "gzip":
        try:
            if gzip.GzipFile(fileobj=io.BytesIO(packed)).read() != run.stdout:
                return "e"
        except (OSError, EOFError, zlib.error):
            return "e"
    if command[0] == "zstd":
        try:
            zstandard.ZstdDecompressor().stream_reader(io.BytesIO(packed), read_across_frames=True).read()
        except zstandard.ZstdError:
            return "e"
    if run.stdout == FIRST + SECOND:
        return "s"
    if run.stdout == FIRST:
        return "p"
    sys.exit(command[0] + " gives another text, successfully")


for name, (whole, command) in FILES.items():
    path = os.path.join(sys.argv[1], name)
    os.makedirs(sys.argv[1], exist_ok=True)
    with open(path, "wb") as out:
        out.write(whole)
    lines = ["cut " + "".join(verdict(whole[:n], command) for n in range(len(whole)))]
    for flip in FLIPS:
        letters = "".join(verdict(whole[:at] + bytes([whole[at] ^ flip]) + whole[at + 1:], command)
                          for at in range(len(whole)))
        lines.append("%02x %s" % (flip, letters))
    with open(path + ".verdicts", "w") as out:
        out.write("\n".join(lines) + "\n")
    print(name, len(whole), *lines, sep="\n")

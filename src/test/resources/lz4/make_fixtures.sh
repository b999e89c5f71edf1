#!/bin/sh
# Writes LZ4 frames of every kind with the lz4 command line (1.9.4), each beside the text that it decodes to.
set -e
cd "$1"
python3 - <<'P'
import random
random.seed(5)
words = ["penstock", "turbine", "a", "of", "loader", "\n", "batch 17", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "é"]
text = " ".join(random.choice(words) for _ in range(60000)).encode()
open("text", "wb").write(text[:200000])
open("small", "wb").write(text[:4096])
open("noise", "wb").write(random.randbytes(70000))
open("runs", "wb").write(b"".join(bytes([65 + i % 9]) * (i * 37 % 900) + b"xyzab"[: i % 5 + 1] * (i % 60) for i in range(300)))
open("empty", "wb").write(b"")
P
for plain in text small noise runs empty; do
    lz4 -q -f -1 $plain $plain.independent.lz4
    lz4 -q -f -9 -BD -B4 --content-size $plain $plain.linked.lz4
    lz4 -q -f -B4 -BX --no-frame-crc $plain $plain.checked.lz4
done
cat small.linked.lz4 small.checked.lz4 > two.lz4
cat small small > two
for frames in *.lz4; do
    sha256sum "${frames%%.*}" | cut -d' ' -f1 | sed "s/$/ $(wc -c < ${frames%%.*}) $frames/"
done > truth
rm -f text small noise runs empty two

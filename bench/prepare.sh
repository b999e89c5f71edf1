#!/bin/sh
# Builds the C limits into target/bench and writes the benchmarks' store there: 200 million u16 tokens, 400 MB.
set -eu
cd "$(dirname "$0")/.."
out=target/bench
mkdir -p "$out"
flags="-O3 -march=native -std=gnu11 -Wall -Wextra -Werror"
${CC:-gcc} $flags -shared -fPIC -o "$out/libgather.so" bench/native/gather.c
${CC:-gcc} $flags -pthread -o "$out/limits" bench/native/limits.c bench/native/gather.c
[ -f "$out/tokens.bin" ] || "$out/limits" store "$out/tokens.bin"
echo "$out: $(ls "$out" | tr '\n' ' ')"

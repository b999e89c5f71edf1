#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds the C limits and the tests' simulated CUDA runtime into target/bench and writes the benchmarks' stores there,
# 1.1 GB: tokens (400 MB), images of two sizes (246 and 301 MB), documents (120 MB). What is there already is kept.
set -eu
cd "$(dirname "$0")/.."
out=target/bench
mkdir -p "$out"
flags="-O3 -march=native -std=gnu11 -Wall -Wextra -Werror"
${CC:-gcc} $flags -shared -fPIC -o "$out/libgather.so" bench/native/gather.c
${CC:-gcc} $flags -pthread -o "$out/limits" bench/native/limits.c bench/native/stores.c bench/native/gather.c -lm
${CC:-gcc} $flags -o "$out/pictures" bench/native/pictures.c -lm -ldl
${CC:-gcc} -O2 -shared -fPIC -pthread -o "$out/libcudart-simulated.so" src/test/native/sim/*.c
[ -f "$out/tokens.bin" ] || "$out/limits" tokens "$out/tokens.bin"
[ -f "$out/images-64.npy" ] || "$out/limits" images "$out/images-64.npy" 20000 64
[ -f "$out/images-224.npy" ] || "$out/limits" images "$out/images-224.npy" 2000 224
[ -f "$out/documents.idx" ] || "$out/limits" documents "$out/documents" 200000
echo "$out: $(ls "$out" | tr '\n' ' ')"

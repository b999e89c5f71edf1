// SPDX-License-Identifier: Apache-2.0
// The benchmarks' stores: written from a seed, the same everywhere, and opened for the loops of gather.h.
#ifndef PENSTOCK_BENCH_STORES_H
#define PENSTOCK_BENCH_STORES_H

#include <stddef.h>
#include <stdint.h>

// Says what is wrong with which file and ends the process with 3.
_Noreturn void fail(const char *what, const char *name);

// SplitMix64 (Steele, Lea, Flood 2014): word i of the stream of seed 0.
uint64_t mix(uint64_t i);

// 200 million u16 tokens, 400 MB: the SplitMix64 stream, four tokens a word, little-endian.
void write_tokens(const char *path);

// A .npy of u8[count][3][side][side], the same stream.
void write_images(const char *path, size_t count, size_t side);

// A Megatron pair PREFIX.bin, PREFIX.idx: `count` documents of u16 tokens, their lengths log-normal with a mean of
// about 300 and a standard deviation of 1 in the logarithm, at least 16 and at most 2048.
void write_documents(const char *prefix, size_t count);

struct mapping {
    const uint8_t *bytes;
    size_t size;
};

// Maps a whole file, its pages brought in.
struct mapping map_file(const char *path);

// The rows of a .npy of u8: how many there are, and the dimensions of one, which is [channels][...].
struct rows {
    const uint8_t *bytes;
    size_t count, channels, plane_bytes;
};

struct rows open_images(const char *path);

// The documents of a Megatron pair of u16, opened by its prefix; `starts` has one entry more than there are documents.
struct documents {
    const uint16_t *tokens;
    uint64_t *starts;
    size_t count, longest;
};

struct documents open_documents(const char *prefix);

#endif

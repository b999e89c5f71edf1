// SPDX-License-Identifier: Apache-2.0
// The limit of one core: the loops that a loader cannot beat, with nothing around them.
//
// Every loop reads `batches` batches of `batch_*` samples, in the order that the caller drew, and writes batch b to
// buffer b % `ring_buffers` of `ring`. Each loop runs on the caller's thread and returns the nanoseconds it took.
#ifndef PENSTOCK_BENCH_GATHER_H
#define PENSTOCK_BENCH_GATHER_H

#include <stddef.h>
#include <stdint.h>

// Windows. Window k of the run starts at token `starts[k]` of the store and holds `window_tokens` tokens, so the store
// must reach `starts[k] + window_tokens`.
//
// A buffer is tokens[batch_windows][window_tokens], at the store's width.
uint64_t gather_narrow(const uint16_t *tokens, const uint64_t *starts, size_t batches, size_t batch_windows,
                       size_t window_tokens, uint16_t *ring, size_t ring_buffers);

// A buffer is ids[batch_windows][S] followed by labels[batch_windows][S], S = window_tokens - 1; labels are the ids
// shifted by one token.
uint64_t gather_i32(const uint16_t *tokens, const uint64_t *starts, size_t batches, size_t batch_windows,
                    size_t window_tokens, int32_t *ring, size_t ring_buffers);

uint64_t gather_i64(const uint16_t *tokens, const uint64_t *starts, size_t batches, size_t batch_windows,
                    size_t window_tokens, int64_t *ring, size_t ring_buffers);

// Rows of equal length, images among them. Row k of the run is row `order[k]` of `rows`; a buffer is
// u8[batch_rows][row_bytes].
uint64_t gather_rows(const uint8_t *rows, const uint64_t *order, size_t batches, size_t batch_rows, size_t row_bytes,
                     uint8_t *ring, size_t ring_buffers);

// The same for images of `channels` planes of `plane_bytes` each; a buffer is f32[batch_rows][channels][plane_bytes].
// A byte p of channel c becomes p * scale[c] + shift[c], which is (p / 255 - mean[c]) / deviation[c] up to rounding and
// the least work that a normalization can be.
uint64_t gather_scaled(const uint8_t *rows, const uint64_t *order, size_t batches, size_t batch_rows, size_t channels,
                       size_t plane_bytes, const float *scale, const float *shift, float *ring, size_t ring_buffers);

// The same by torchvision's steps, each rounded: p / 255, less the mean, by the deviation.
uint64_t gather_normalized(const uint8_t *rows, const uint64_t *order, size_t batches, size_t batch_rows,
                           size_t channels, size_t plane_bytes, const float *mean, const float *deviation, float *ring,
                           size_t ring_buffers);

// Documents. Document d holds tokens `starts[d]` to `starts[d + 1]` of the store; document k of the run is `order[k]`.
// With B documents in a batch, the longest of T tokens, a buffer has
//
//     ids       [B, T]    each row a document's tokens, then `pad_value`
//     mask      u8[B, T]  1 where a token is, 0 behind
//     lengths   i32[B]
//
// Mask and lengths start at the next multiple of 256 bytes, as the fields of a slab do, and a buffer begins every
// `buffer_bytes`: the layout that `padded_batch` tells.
uint64_t gather_padded_narrow(const uint16_t *tokens, const uint64_t *starts, const uint64_t *order, size_t batches,
                              size_t batch_documents, int64_t pad_value, void *ring, size_t ring_buffers,
                              size_t buffer_bytes);

uint64_t gather_padded_i32(const uint16_t *tokens, const uint64_t *starts, const uint64_t *order, size_t batches,
                           size_t batch_documents, int64_t pad_value, void *ring, size_t ring_buffers,
                           size_t buffer_bytes);

uint64_t gather_padded_i64(const uint16_t *tokens, const uint64_t *starts, const uint64_t *order, size_t batches,
                           size_t batch_documents, int64_t pad_value, void *ring, size_t ring_buffers,
                           size_t buffer_bytes);

struct padded {
    size_t length, mask_offset, lengths_offset, bytes;  // T tokens; bytes from the buffer's start
};

struct padded padded_batch(size_t documents, size_t length, size_t token_bytes);

// A WebDataset shard, read from front to back: members `*.bin` of up to `row_bytes` are copied to u8[samples][row_bytes],
// members `*.cls` are read as decimal numbers into labels[samples]. Starts at byte `at`, which is a header's, and
// returns the byte behind the last sample's members; `*done` says how many samples there were, fewer than `samples`
// only at the end of the tar.
size_t walk_tar(const uint8_t *tar, size_t tar_bytes, size_t at, size_t samples, size_t row_bytes, uint8_t *rows,
                int64_t *labels, size_t *done);

// `repetitions` times one memcpy of `bytes`: the calibration beside every other figure.
uint64_t copy_bytes(void *to, const void *from, size_t bytes, size_t repetitions);

// What a consumer that reads the whole batch does: the sum of its 64-bit words. A last part of a word is left out.
uint64_t sum_words(const void *batch, size_t bytes);

#endif

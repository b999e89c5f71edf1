// The limit of one core: the loops that a loader cannot beat, with nothing around them.
//
// Every loop reads `batches` batches of `batch_windows` windows. Window k of the run starts at token `starts[k]` of the
// store and holds `window_tokens` tokens, so the store must reach `starts[k] + window_tokens`. Batch b is written to
// buffer b % `ring_buffers` of `ring`. Each loop runs on the caller's thread and returns the nanoseconds it took.
#ifndef PENSTOCK_BENCH_GATHER_H
#define PENSTOCK_BENCH_GATHER_H

#include <stddef.h>
#include <stdint.h>

// A buffer is tokens[batch_windows][window_tokens], at the store's width.
uint64_t gather_narrow(const uint16_t *tokens, const uint64_t *starts, size_t batches, size_t batch_windows,
                       size_t window_tokens, uint16_t *ring, size_t ring_buffers);

// A buffer is ids[batch_windows][S] followed by labels[batch_windows][S], S = window_tokens - 1; labels are the ids
// shifted by one token.
uint64_t gather_i32(const uint16_t *tokens, const uint64_t *starts, size_t batches, size_t batch_windows,
                    size_t window_tokens, int32_t *ring, size_t ring_buffers);

uint64_t gather_i64(const uint16_t *tokens, const uint64_t *starts, size_t batches, size_t batch_windows,
                    size_t window_tokens, int64_t *ring, size_t ring_buffers);

// `repetitions` times one memcpy of `bytes`: the calibration beside every other figure.
uint64_t copy_bytes(void *to, const void *from, size_t bytes, size_t repetitions);

// What a consumer that reads the whole batch does: the sum of its 64-bit words. `bytes` is a multiple of 8.
uint64_t sum_words(const void *batch, size_t bytes);

#endif

#include "gather.h"

#include <string.h>
#include <time.h>

static uint64_t now_nanos(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

uint64_t gather_narrow(const uint16_t *tokens, const uint64_t *starts, size_t batches, size_t batch_windows,
                       size_t window_tokens, uint16_t *ring, size_t ring_buffers) {
    const size_t buffer_tokens = batch_windows * window_tokens;
    const uint64_t begin = now_nanos();
    for (size_t b = 0; b < batches; b++) {
        uint16_t *out = ring + (b % ring_buffers) * buffer_tokens;
        for (size_t w = 0; w < batch_windows; w++) {
            memcpy(out + w * window_tokens, tokens + *starts++, window_tokens * sizeof(uint16_t));
        }
    }
    return now_nanos() - begin;
}

// A pass an output: the second reads the window from L1, and each is one widening move and one store. (Writing both
// in one pass was 5 to 10 % slower with gcc 12 on Zen 5.)
#define GATHER_WIDENED(name, wide_t)                                                                                  \
    static void widen_##name(const uint16_t *restrict from, wide_t *restrict to, size_t length) {                     \
        for (size_t i = 0; i < length; i++) {                                                                         \
            to[i] = from[i];                                                                                          \
        }                                                                                                             \
    }                                                                                                                 \
                                                                                                                      \
    uint64_t name(const uint16_t *tokens, const uint64_t *starts, size_t batches, size_t batch_windows,               \
                  size_t window_tokens, wide_t *ring, size_t ring_buffers) {                                          \
        const size_t length = window_tokens - 1;                                                                      \
        const size_t field = batch_windows * length;                                                                  \
        const uint64_t begin = now_nanos();                                                                           \
        for (size_t b = 0; b < batches; b++) {                                                                        \
            wide_t *ids = ring + (b % ring_buffers) * 2 * field;                                                      \
            for (size_t w = 0; w < batch_windows; w++) {                                                              \
                const uint16_t *window = tokens + *starts++;                                                          \
                widen_##name(window, ids + w * length, length);                                                       \
                widen_##name(window + 1, ids + field + w * length, length);                                           \
            }                                                                                                         \
        }                                                                                                             \
        return now_nanos() - begin;                                                                                   \
    }

GATHER_WIDENED(gather_i32, int32_t)
GATHER_WIDENED(gather_i64, int64_t)

uint64_t copy_bytes(void *to, const void *from, size_t bytes, size_t repetitions) {
    const uint64_t begin = now_nanos();
    for (size_t r = 0; r < repetitions; r++) {
        memcpy(to, from, bytes);
        __asm__ volatile("" : : "r"(to) : "memory");  // or the compiler may keep the last copy alone
    }
    return now_nanos() - begin;
}

uint64_t sum_words(const void *batch, size_t bytes) {
    const uint64_t *words = batch;
    uint64_t sum = 0;
    for (size_t i = 0; i < bytes / sizeof(uint64_t); i++) {
        sum += words[i];
    }
    return sum;
}

// SPDX-License-Identifier: Apache-2.0
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

uint64_t gather_rows(const uint8_t *rows, const uint64_t *order, size_t batches, size_t batch_rows, size_t row_bytes,
                     uint8_t *ring, size_t ring_buffers) {
    const uint64_t begin = now_nanos();
    for (size_t b = 0; b < batches; b++) {
        uint8_t *out = ring + (b % ring_buffers) * batch_rows * row_bytes;
        for (size_t r = 0; r < batch_rows; r++) {
            memcpy(out + r * row_bytes, rows + *order++ * row_bytes, row_bytes);
        }
    }
    return now_nanos() - begin;
}

// `first` and `second` are what the expression knows of the channel: scale and shift, or mean and deviation.
#define GATHER_IMAGES(name, first, second, expression)                                                                \
    static void plane_##name(const uint8_t *restrict from, float *restrict to, size_t length, float first,            \
                             float second) {                                                                          \
        for (size_t i = 0; i < length; i++) {                                                                         \
            const float pixel = from[i];                                                                              \
            to[i] = expression;                                                                                       \
        }                                                                                                             \
    }                                                                                                                 \
                                                                                                                      \
    uint64_t name(const uint8_t *rows, const uint64_t *order, size_t batches, size_t batch_rows, size_t channels,     \
                  size_t plane_bytes, const float *first, const float *second, float *ring, size_t ring_buffers) {    \
        const size_t row_bytes = channels * plane_bytes;                                                              \
        const uint64_t begin = now_nanos();                                                                           \
        for (size_t b = 0; b < batches; b++) {                                                                        \
            float *out = ring + (b % ring_buffers) * batch_rows * row_bytes;                                          \
            for (size_t r = 0; r < batch_rows; r++) {                                                                 \
                const uint8_t *row = rows + *order++ * row_bytes;                                                     \
                for (size_t c = 0; c < channels; c++) {                                                               \
                    plane_##name(row + c * plane_bytes, out + r * row_bytes + c * plane_bytes, plane_bytes, first[c], \
                                 second[c]);                                                                          \
                }                                                                                                     \
            }                                                                                                         \
        }                                                                                                             \
        return now_nanos() - begin;                                                                                   \
    }

GATHER_IMAGES(gather_scaled, scale, shift, pixel * scale + shift)
GATHER_IMAGES(gather_normalized, mean, deviation, (pixel / 255.0f - mean) / deviation)

static size_t align_field(size_t bytes) {
    return (bytes + 255) & ~(size_t)255;
}

struct padded padded_batch(size_t documents, size_t length, size_t token_bytes) {
    struct padded p = {.length = length};
    p.mask_offset = align_field(documents * length * token_bytes);
    p.lengths_offset = align_field(p.mask_offset + documents * length);
    p.bytes = p.lengths_offset + documents * sizeof(int32_t);
    return p;
}

#define GATHER_PADDED(name, id_t)                                                                                     \
    static void row_##name(const uint16_t *restrict from, id_t *restrict to, size_t tokens, size_t length, id_t pad) { \
        for (size_t i = 0; i < tokens; i++) {                                                                         \
            to[i] = from[i];                                                                                          \
        }                                                                                                             \
        for (size_t i = tokens; i < length; i++) {                                                                    \
            to[i] = pad;                                                                                              \
        }                                                                                                             \
    }                                                                                                                 \
                                                                                                                      \
    uint64_t name(const uint16_t *tokens, const uint64_t *starts, const uint64_t *order, size_t batches,              \
                  size_t batch_documents, int64_t pad_value, void *ring, size_t ring_buffers, size_t buffer_bytes) {  \
        const uint64_t begin = now_nanos();                                                                           \
        for (size_t b = 0; b < batches; b++, order += batch_documents) {                                              \
            size_t longest = 0;                                                                                       \
            for (size_t d = 0; d < batch_documents; d++) {                                                            \
                const size_t document = starts[order[d] + 1] - starts[order[d]];                                      \
                longest = document > longest ? document : longest;                                                    \
            }                                                                                                         \
            const struct padded p = padded_batch(batch_documents, longest, sizeof(id_t));                             \
            uint8_t *buffer = (uint8_t *)ring + (b % ring_buffers) * buffer_bytes;                                    \
            for (size_t d = 0; d < batch_documents; d++) {                                                            \
                const size_t document = starts[order[d] + 1] - starts[order[d]];                                      \
                row_##name(tokens + starts[order[d]], (id_t *)buffer + d * longest, document, longest,                \
                           (id_t)pad_value);                                                                          \
                memset(buffer + p.mask_offset + d * longest, 1, document);                                            \
                memset(buffer + p.mask_offset + d * longest + document, 0, longest - document);                       \
                ((int32_t *)(buffer + p.lengths_offset))[d] = (int32_t)document;                                      \
            }                                                                                                         \
        }                                                                                                             \
        return now_nanos() - begin;                                                                                   \
    }

GATHER_PADDED(gather_padded_narrow, uint16_t)
GATHER_PADDED(gather_padded_i32, int32_t)
GATHER_PADDED(gather_padded_i64, int64_t)

enum { TAR_BLOCK = 512, TAR_NAME = 100, TAR_SIZE = 124, TAR_SIZE_DIGITS = 11, TAR_TYPE = 156 };

static size_t octal(const uint8_t *digits, size_t count) {
    size_t value = 0;
    for (size_t i = 0; i < count && digits[i] >= '0' && digits[i] <= '7'; i++) value = value * 8 + (digits[i] - '0');
    return value;
}

size_t walk_tar(const uint8_t *tar, size_t tar_bytes, size_t at, size_t samples, size_t row_bytes, uint8_t *rows,
                int64_t *labels, size_t *done) {
    size_t images = 0, numbers = 0;
    while ((images < samples || numbers < samples) && at + TAR_BLOCK <= tar_bytes && tar[at]) {
        const uint8_t *header = tar + at, *body = header + TAR_BLOCK;
        const size_t size = octal(header + TAR_SIZE, TAR_SIZE_DIGITS);
        const char *dot = memchr(header, '.', TAR_NAME);
        if (size > tar_bytes - at - TAR_BLOCK) break;
        if (dot && memcmp(dot, ".bin", 5) == 0 && images < samples) {
            memcpy(rows + images++ * row_bytes, body, size < row_bytes ? size : row_bytes);
        } else if (dot && memcmp(dot, ".cls", 5) == 0 && numbers < samples) {
            int64_t label = 0;
            for (size_t i = 0; i < size; i++) label = label * 10 + (body[i] - '0');
            labels[numbers++] = label;
        }
        at += TAR_BLOCK + (size + TAR_BLOCK - 1) / TAR_BLOCK * TAR_BLOCK;
    }
    *done = images < numbers ? images : numbers;
    return at;
}

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

// SPDX-License-Identifier: Apache-2.0
/*
 * A producer of DLPack tensors, written from the published layout alone. It makes what it is told to, right or wrong,
 * with elements 1, 2, 3 and so on, a byte each; and counts what comes back.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    void *data;
    int32_t device_type, device_id, ndim;
    uint8_t code, bits;
    uint16_t lanes;
    int64_t *shape, *strides;
    uint64_t byte_offset;
} tensor;

typedef struct managed {
    tensor t;
    void *manager_ctx;
    void (*deleter)(struct managed *);
} managed;

typedef struct versioned {
    uint32_t major, minor;
    void *manager_ctx;
    void (*deleter)(struct versioned *);
    uint64_t flags;
    tensor t;
} versioned;

static int deleted;

int producer_deleted(void) {
    return deleted;
}

static void release(tensor *t, void *context) {
    free(t->shape);
    free(t->strides);
    free(context);
    deleted++;
}

static void delete_managed(managed *self) {
    release(&self->t, self->manager_ctx);
    free(self);
}

static void delete_versioned(versioned *self) {
    release(&self->t, self->manager_ctx);
    free(self);
}

static int64_t *copy(const int64_t *from, int n) {
    if (!from) return NULL;
    int64_t *to = malloc(n * sizeof *to + 1);
    memcpy(to, from, n * sizeof *to);
    return to;
}

/* The context is the block that the data is in; major is -1 for the unversioned struct, bytes is 0 for no data. */
void *producer_make(int major, uint64_t flags, int device_type, int device_id, int code, int bits, int lanes, int ndim,
        const int64_t *shape, const int64_t *strides, uint64_t byte_offset, int64_t bytes) {
    unsigned char *block = NULL;
    if (bytes > 0) {
        block = aligned_alloc(256, (bytes + byte_offset + 255) / 256 * 256);
        for (int64_t i = 0; i < bytes; i++) block[byte_offset + i] = (unsigned char) (i + 1);
    }
    tensor t = {block, device_type, device_id, ndim, (uint8_t) code, (uint8_t) bits, (uint16_t) lanes,
            copy(shape, ndim < 0 ? 0 : ndim), copy(strides, ndim < 0 ? 0 : ndim), byte_offset};
    if (major < 0) {
        managed *made = malloc(sizeof *made);
        *made = (managed) {t, block, delete_managed};
        return made;
    }
    versioned *made = malloc(sizeof *made);
    *made = (versioned) {(uint32_t) major, 0, block, delete_versioned, flags, t};
    return made;
}

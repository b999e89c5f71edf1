// SPDX-License-Identifier: Apache-2.0
/*
 * The functions of cuBLAS that the trainer calls, as simple loops that run on the threads of the simulated runtime's
 * streams. What a product reads and writes is told to the simulation, so that one that is not ordered behind what it
 * needs is a violation, and so is a matrix that is not inside of memory that is allocated.
 */
#include "sim.h"

#include <stdlib.h>
#include <string.h>

enum { TYPE_F32 = 0, COMPUTE_F32 = 68, DEFAULT_ALGORITHM = -1 };
enum { NOT_INITIALIZED = 1, INVALID = 7, NOT_SUPPORTED = 15 };

typedef struct { void *stream; char *workspace; size_t workspace_bytes; } context;

/* c = alpha op(a) op(b) + beta c, by columns. */
typedef struct {
    int64_t transposes_a, transposes_b, m, n, k, count;
    const float *a, *b;
    float *c;
    int64_t lda, a_stride, ldb, b_stride, ldc, c_stride;
    double alpha, beta;
} product;

_Static_assert(sizeof(product) <= MAX_WORDS * sizeof(int64_t), "a product is more than the words of a kernel");

const char *cublasGetStatusName(int status) {
    switch (status) {
        case SUCCESS: return "CUBLAS_STATUS_SUCCESS";
        case NOT_INITIALIZED: return "CUBLAS_STATUS_NOT_INITIALIZED";
        case INVALID: return "CUBLAS_STATUS_INVALID_VALUE";
        default: return "CUBLAS_STATUS_NOT_SUPPORTED";
    }
}

int cublasCreate_v2(context **handle) {
    *handle = calloc(1, sizeof **handle);
    return SUCCESS;
}

int cublasDestroy_v2(context *handle) {
    free(handle);
    return SUCCESS;
}

int cublasSetStream_v2(context *handle, void *stream) {
    handle->stream = stream;
    handle->workspace = NULL;
    return SUCCESS;
}

int cublasSetWorkspace_v2(context *handle, char *workspace, size_t bytes) {
    pthread_mutex_lock(&sim_lock);
    int known = sim_memory(DEVICE_MEMORY, workspace, bytes) != NULL;
    pthread_mutex_unlock(&sim_lock);
    handle->workspace = workspace;
    handle->workspace_bytes = bytes;
    return known ? SUCCESS : INVALID;
}

static void multiply(const void *words, int64_t blocks) {
    const product *p = words;
    (void) blocks;
    for (int64_t i = 0; i < p->count; i++) {
        const float *a = p->a + i * p->a_stride, *b = p->b + i * p->b_stride;
        for (int64_t column = 0; column < p->n; column++) {
            float *c = p->c + i * p->c_stride + column * p->ldc;
            for (int64_t row = 0; row < p->m; row++) c[row] = p->beta == 0 ? 0 : (float) p->beta * c[row];
            for (int64_t l = 0; l < p->k; l++) {
                float by = (float) p->alpha * (p->transposes_b ? b[column + l * p->ldb] : b[l + column * p->ldb]);
                if (p->transposes_a) {
                    for (int64_t row = 0; row < p->m; row++) c[row] += a[l + row * p->lda] * by;
                } else {
                    for (int64_t row = 0; row < p->m; row++) c[row] += a[row + l * p->lda] * by;
                }
            }
        }
    }
}

/* Where the bytes are of matrices in device memory that are not used in vain; null if they are not all inside of it. */
static float *find(const float *address, int64_t rows, int64_t columns, int64_t ld, int64_t stride, int64_t count,
        int writes, sim_resource *stream, uint64_t number) {
    size_t size = ((count - 1) * stride + (columns - 1) * ld + rows) * sizeof(float);
    sim_resource *memory = sim_memory(DEVICE_MEMORY, (const char *) address, size);
    if (!memory || ld < rows) {
        sim_violation("a product's matrices of %zu bytes at %p, rows %lld apart, are not in device memory", size,
                (const void *) address, (long long) ld);
        return NULL;
    }
    sim_use(memory, (const char *) address, size, writes, stream, number);
    return (float *) (memory->bytes + ((const char *) address - memory->address));
}

int cublasGemmStridedBatchedEx(context *handle, int transposes_a, int transposes_b, int m, int n, int k,
        const float *alpha, const float *a, int a_type, int lda, long long a_stride,
        const float *b, int b_type, int ldb, long long b_stride, const float *beta,
        float *c, int c_type, int ldc, long long c_stride, int count, int compute, int algorithm) {
    if (a_type != TYPE_F32 || b_type != TYPE_F32 || c_type != TYPE_F32 || compute != COMPUTE_F32
            || algorithm != DEFAULT_ALGORITHM) return NOT_SUPPORTED;
    if (m < 1 || n < 1 || k < 1 || count < 1 || (transposes_a | transposes_b) > 1) return INVALID;
    pthread_mutex_lock(&sim_lock);
    sim_resource *stream = sim_stream(handle->stream);
    int status = !stream || !handle->workspace ? NOT_INITIALIZED : SUCCESS;
    if (!status) {
        sim_work *work = sim_enqueue(stream, LAUNCH);
        sim_log("product %d x %d x %d, %d times, stream %d", m, n, k, count, stream->place);
        product p = {transposes_a, transposes_b, m, n, k, count,
                find(a, transposes_a ? k : m, transposes_a ? m : k, lda, a_stride, count, 0, stream, work->number),
                find(b, transposes_b ? n : k, transposes_b ? k : n, ldb, b_stride, count, 0, stream, work->number),
                find(c, m, n, ldc, c_stride, count, 1, stream, work->number),
                lda, a_stride, ldb, b_stride, ldc, c_stride, *alpha, *beta};
        if (!p.a || !p.b || !p.c) p.count = 0;
        work->run = multiply;
        memcpy(work->words, &p, sizeof p);
    }
    pthread_mutex_unlock(&sim_lock);
    return status;
}

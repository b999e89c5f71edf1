// SPDX-License-Identifier: Apache-2.0
/*
 * A consumer of DLPack tensors, written from the published layout alone: what the compiler makes of these structs is
 * what the engine's must be.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

typedef struct { uint32_t major, minor; } version;
typedef struct { int32_t type, id; } device;
typedef struct { uint8_t code, bits; uint16_t lanes; } datatype;

typedef struct {
    void *data;
    device on;
    int32_t ndim;
    datatype dtype;
    int64_t *shape, *strides;
    uint64_t byte_offset;
} tensor;

typedef struct managed {
    tensor t;
    void *manager_ctx;
    void (*deleter)(struct managed *);
} managed;

typedef struct versioned {
    version v;
    void *manager_ctx;
    void (*deleter)(struct versioned *);
    uint64_t flags;
    tensor t;
} versioned;

static tensor *tensor_of(void *self, int is_versioned) {
    return is_versioned ? &((versioned *) self)->t : &((managed *) self)->t;
}

/* Every field of the struct, in order, then shape and strides: 13 + 2 ndim numbers. */
void consumer_describe(void *self, int is_versioned, int64_t *out) {
    versioned *v = self;
    tensor *t = tensor_of(self, is_versioned);
    *out++ = is_versioned ? (int64_t) v->v.major : -1;
    *out++ = is_versioned ? (int64_t) v->v.minor : -1;
    *out++ = is_versioned ? (int64_t) v->flags : -1;
    *out++ = (is_versioned ? (void *) v->deleter : (void *) ((managed *) self)->deleter) != NULL;
    *out++ = (int64_t) t->data;
    *out++ = t->on.type;
    *out++ = t->on.id;
    *out++ = t->ndim;
    *out++ = t->dtype.code;
    *out++ = t->dtype.bits;
    *out++ = t->dtype.lanes;
    *out++ = (int64_t) t->byte_offset;
    *out++ = t->shape != NULL && t->strides != NULL;
    for (int d = 0; d < t->ndim; d++) *out++ = t->shape[d];
    for (int d = 0; d < t->ndim; d++) *out++ = t->strides[d];
}

/* The sum of the elements of an unsigned 16-bit tensor, found by its strides. */
static uint64_t sum(const tensor *t) {
    uint64_t total = 0;
    int64_t count = 1;
    for (int d = 0; d < t->ndim; d++) count *= t->shape[d];
    const uint16_t *elements = (const uint16_t *) ((const char *) t->data + t->byte_offset);
    for (int64_t i = 0; i < count; i++) {
        int64_t rest = i, at = 0;
        for (int d = t->ndim - 1; d >= 0; d--) {
            at += rest % t->shape[d] * t->strides[d];
            rest /= t->shape[d];
        }
        total += elements[at];
    }
    return total;
}

uint64_t consumer_sum(void *self, int is_versioned) {
    return sum(tensor_of(self, is_versioned));
}

static void delete(void *self, int is_versioned) {
    if (is_versioned) {
        ((versioned *) self)->deleter(self);
    } else {
        ((managed *) self)->deleter(self);
    }
}

typedef struct { void *self; int is_versioned, times; } deletion;

static void *run_deletion(void *argument) {
    deletion *d = argument;
    for (int i = 0; i < d->times; i++) delete(d->self, d->is_versioned);
    return NULL;
}

/* Deletes a tensor, once or more often, on a thread that the JVM does not know; returns when that has ended. */
int consumer_delete(void *self, int is_versioned, int times) {
    deletion d = {self, is_versioned, times};
    pthread_t thread;
    if (pthread_create(&thread, NULL, run_deletion, &d)) return -1;
    return pthread_join(thread, NULL);
}

/* ---- threads that take tensors from a queue, sum them, and delete them */

enum { MAX_QUEUED = 64, MAX_THREADS = 8 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static void *queued[MAX_QUEUED];
static int first, count, ending, threads;
static uint64_t total;
static pthread_t thread[MAX_THREADS];

static void *work(void *unused) {
    (void) unused;
    pthread_mutex_lock(&lock);
    for (;;) {
        while (count == 0 && !ending) pthread_cond_wait(&changed, &lock);
        if (count == 0) break;
        versioned *taken = queued[first];
        first = (first + 1) % MAX_QUEUED;
        count--;
        pthread_cond_broadcast(&changed);
        pthread_mutex_unlock(&lock);
        uint64_t found = sum(&taken->t);
        taken->deleter(taken);
        pthread_mutex_lock(&lock);
        total += found;
    }
    pthread_mutex_unlock(&lock);
    return NULL;
}

int consumer_start(int wanted) {
    total = 0;
    ending = 0;
    for (threads = 0; threads < wanted && threads < MAX_THREADS; threads++) {
        if (pthread_create(&thread[threads], NULL, work, NULL)) return -1;
    }
    return 0;
}

void consumer_put(void *self) {
    pthread_mutex_lock(&lock);
    while (count == MAX_QUEUED) pthread_cond_wait(&changed, &lock);
    queued[(first + count++) % MAX_QUEUED] = self;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

/* The sum of all that was put in; returns when all is deleted. */
uint64_t consumer_stop(void) {
    pthread_mutex_lock(&lock);
    ending = 1;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    for (int i = 0; i < threads; i++) pthread_join(thread[i], NULL);
    return total;
}

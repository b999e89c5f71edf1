// SPDX-License-Identifier: Apache-2.0
/*
 * A simulated CUDA 13 runtime that is stricter than the real one.
 *
 * It stands in for libcudart.so.13 where there is no GPU, so that the code that drives one runs unchanged. Streams are
 * threads, so work is asynchronous; copies can be slowed, held back and made to fail. What a GPU lets pass, and now and
 * then punishes with wrong bytes, is reported here each time as a violation:
 *
 *   - device or pinned memory that two pieces of work use, at least one of them writing, without an order between them;
 *     known at the call, from vector clocks over streams, events and the host (order.c), not from what happened to run
 *     at the same time;
 *   - host memory that changes while a copy reads it: by checksum, and by what a test announces that it writes;
 *   - an asynchronous copy whose host side is not pinned, or whose device side is another device's;
 *   - memory, streams and events that are not open; memory or a stream that is released before its work is known to
 *     have ended;
 *   - a copy that is enqueued, or a resource that is released, by a thread whose current device is another one;
 *   - a time between two events that the host has not seen reached, or whose marks are in the wrong order;
 *   - while a graph is captured: calls that a capture forbids, on its stream or on a thread that is not exempt;
 *   - what is still open at the end of the process.
 *
 * A test may set the device's clock. From then on work takes as long as the test has said, whatever it takes really: a
 * stream begins its next work when its last has ended, but not before it was enqueued, nor before what it waits for.
 *
 *   state.c    resources, violations, faults on command
 *   order.c    which work happens before which
 *   stream.c   the threads that run the work
 *   runtime.c  CUDA's functions
 *   kernels.c  those for kernels
 *   nvjpeg.c   those of nvJPEG
 *   control.c  what tests set and ask
 *
 * With SIM_CUDA_LOG set, the file that it names gets a line for each piece of work, in the order of the calls.
 */
#ifndef SIM_H
#define SIM_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#ifndef VERSION
#define VERSION 13000
#endif

enum {
    SUCCESS = 0, INVALID_VALUE = 1, MEMORY_ALLOCATION = 2, INSUFFICIENT_DRIVER = 35, NO_DEVICE = 100,
    INVALID_DEVICE = 101, INVALID_HANDLE = 400, NOT_READY = 600, CAPTURE_UNSUPPORTED = 900, CAPTURE_ISOLATION = 905
};

enum { MAX_DEVICES = 8, MAX_STREAMS = 64, MAX_WORDS = 32 };

/* What a capture recorded: the kernels that read device memory, in order. */
typedef struct sim_node { char *address; int64_t size, micros; struct sim_node *next; } sim_node;
typedef struct { sim_node *first, *last; int device, global; } sim_graph;

typedef enum { STREAM, EVENT, DEVICE_MEMORY, PINNED_MEMORY } sim_kind;

/* What happens before a point: of each stream, the number of the last piece of work. */
typedef struct { uint64_t upto[MAX_STREAMS]; } sim_clock;

/* A piece of work that uses memory, until everything that may come is known to be behind it. */
typedef struct sim_access {
    size_t begin, end;
    int writes;
    int stream;
    uint64_t number;
    struct sim_access *next;
} sim_access;

typedef enum { COPY, WAIT, RECORD, KERNEL, LAUNCH, FAULT } sim_work_kind;

/* A kernel of the engine's, compiled for the CPU. */
typedef void (*sim_kernel)(const void *words, int64_t blocks);

typedef struct sim_work {
    sim_work_kind kind;
    uint64_t number;
    char *to;
    const char *from;
    size_t bytes;
    int to_device;                  /* COPY */
    int awaited_stream;             /* WAIT: what the event marked when the wait was enqueued */
    uint64_t awaited_number;
    int64_t micros;                 /* KERNEL: how long it reads */
    sim_kernel run;                 /* LAUNCH */
    int64_t words[MAX_WORDS], blocks;
    int status;                     /* FAULT */
    int64_t enqueued_at;            /* by the device's clock */
    struct sim_work *next;
} sim_work;

typedef struct sim_resource {
    sim_kind kind;
    int device;
    unsigned flags;
    /* memory: its address for the caller, and where the bytes are: device memory cannot be touched at its address */
    char *address, *bytes;
    size_t size;
    sim_access *accesses;
    /* a stream: its place in clocks, and the work that is enqueued */
    int place;
    int closing;
    int64_t time;                   /* when its last work ended */
    sim_graph *capture;             /* what is captured of it; null if it is not */
    pthread_t thread;
    sim_work *first, *last;
    /* a stream's or an event's */
    sim_clock clock;
    /* an event: what it marks; place -1 if it was never recorded */
    uint64_t number;
    struct sim_resource *next;
} sim_resource;

/* Everything below is guarded by this lock; the condition says that something changed. */
extern pthread_mutex_t sim_lock;
extern pthread_cond_t sim_changed;

extern sim_resource *sim_resources;
extern int sim_driver_version, sim_device_count;
extern size_t sim_device_bytes, sim_pinned_bytes;
extern int sim_fault[MAX_DEVICES];                  /* the sticky error of each device */
extern int64_t sim_bytes_per_micro, sim_latency_micros;
extern int sim_held;
extern int64_t sim_copies_begun, sim_copies_ended;      /* since the last reset */
extern int64_t sim_now_nanos;                       /* what a test has set the clock to; -1 for the machine's clock */
extern uint64_t sim_enqueued[MAX_STREAMS], sim_done[MAX_STREAMS];
extern sim_clock sim_host;                          /* what the host knows to have ended */
extern __thread int sim_current_device, sim_capture_mode;
extern int64_t sim_foreign_wait_count;
extern int sim_global_captures;
extern int sim_engine;                              /* whether nvJPEG has an engine for batches */
extern int sim_jpeg_objects;                        /* of nvJPEG: handles, states, headers that are open */

/* state.c */
void sim_violation(const char *format, ...) __attribute__((format(printf, 1, 2)));
int sim_enter(const char *call);
void sim_log(const char *format, ...) __attribute__((format(printf, 1, 2)));
sim_resource *sim_add(sim_kind kind, size_t size, unsigned flags);
void sim_drop(sim_resource *resource);
sim_resource *sim_handle(sim_kind kind, const void *handle);
sim_resource *sim_memory(sim_kind kind, const char *address, size_t size);
size_t sim_allocated(sim_kind kind, int device);

/*
 * How a function that a program calls begins: it takes the lock, counts the call, and returns the status that a test has
 * ordered, if it has.
 */
#define ENTER() \
    do { \
        pthread_mutex_lock(&sim_lock); \
        int ordered = sim_enter(__func__); \
        if (ordered) return leave(ordered); \
    } while (0)

static inline int leave(int status) {
    pthread_mutex_unlock(&sim_lock);
    return status;
}

/* order.c */
void sim_join(sim_clock *into, const sim_clock *from);
uint64_t sim_next_number(sim_resource *stream);
void sim_use(sim_resource *memory, const char *address, size_t size, int writes, sim_resource *stream, uint64_t number);
int sim_in_use(sim_resource *memory);
int sim_seen(const sim_resource *event);
void sim_host_use(const char *address, size_t size, int writes);

/* stream.c */
int sim_forbids(const char *call);
int sim_start_stream(sim_resource *stream);
sim_resource *sim_stream(void *handle);
sim_work *sim_enqueue(sim_resource *stream, sim_work_kind kind);
void sim_stop_stream(sim_resource *stream);
int sim_await(int device, int place, uint64_t number);
int64_t sim_ended_at(int place, uint64_t number);

#endif

// SPDX-License-Identifier: Apache-2.0
/* The threads that run the work of streams, one each. */
#include "sim.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

int64_t sim_bytes_per_micro, sim_latency_micros;
int sim_held;
int64_t sim_copies_begun, sim_copies_ended;
int64_t sim_now_nanos = -1;

/* When the latest work of each stream ended. */
enum { ENDS = 4096 };
static int64_t ends[MAX_STREAMS][ENDS];

/* The copy engines: one a device and direction, one copy at a time. */
static pthread_mutex_t engines[MAX_DEVICES][2];

__attribute__((constructor)) static void begin(void) {
    for (int i = 0; i < MAX_DEVICES * 2; i++) pthread_mutex_init(&engines[i / 2][i % 2], NULL);
}

static void pause_micros(int64_t micros) {
    if (micros > 0) {
        struct timespec time = {micros / 1000000, micros % 1000000 * 1000};
        nanosleep(&time, NULL);
    }
}

static int64_t now(void) {
    struct timespec time;
    if (sim_now_nanos >= 0) return sim_now_nanos;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000LL + time.tv_nsec;
}

/* What a test has said that a copy takes. */
static int64_t copy_nanos(const sim_work *work) {
    int64_t micros = sim_bytes_per_micro ? (int64_t) work->bytes / sim_bytes_per_micro : 0;
    return 1000 * (sim_latency_micros + micros);
}

/* Notes when work has ended, with the lock. */
static void end(sim_resource *stream, const sim_work *work) {
    if (sim_now_nanos < 0) {
        stream->time = now();
    } else {
        int64_t begin = stream->time > work->enqueued_at ? stream->time : work->enqueued_at;
        int64_t awaited = work->kind == WAIT ? sim_ended_at(work->awaited_stream, work->awaited_number) : 0;
        if (begin < awaited) begin = awaited;
        stream->time = begin + (work->kind == COPY ? copy_nanos(work) : work->kind == KERNEL ? 1000 * work->micros : 0);
    }
    ends[stream->place][work->number % ENDS] = stream->time;
}

static uint64_t checksum(const char *from, size_t bytes) {
    uint64_t sum = bytes, word;
    size_t at = 0;
    for (; at + 8 <= bytes; at += 8) {
        memcpy(&word, from + at, 8);
        sum = (sum ^ word) * 0x9E3779B97F4A7C15u;
        sum ^= sum >> 29;
    }
    for (; at < bytes; at++) sum = (sum ^ (unsigned char) from[at]) * 0x100000001B3u;
    return sum;
}

static void changed(const char *what, const sim_work *work) {
    pthread_mutex_lock(&sim_lock);
    sim_violation("%zu bytes of %s changed while work %llu read them", work->bytes, what,
            (unsigned long long) work->number);
    pthread_mutex_unlock(&sim_lock);
}

/* In two halves, with the time that it takes before each, so that what changes the source meanwhile is seen. */
static void copy(int device, const sim_work *work) {
    pthread_mutex_t *engine = &engines[device][work->to_device];
    pthread_mutex_lock(engine);
    uint64_t sum = checksum(work->from, work->bytes);
    pthread_mutex_lock(&sim_lock);
    sim_copies_begun++;
    while (sim_held && work->to_device && !sim_fault[device]) pthread_cond_wait(&sim_changed, &sim_lock);
    int64_t micros = sim_bytes_per_micro ? (int64_t) work->bytes / sim_bytes_per_micro : 0;
    int64_t latency = sim_latency_micros;
    if (sim_now_nanos >= 0) micros = latency = 0;       /* takes its time by the test's clock alone */
    pthread_mutex_unlock(&sim_lock);
    pause_micros(latency + micros / 2);
    size_t half = work->bytes / 2;
    memcpy(work->to, work->from, half);
    int same = checksum(work->from, work->bytes) == sum;
    pause_micros(micros - micros / 2);
    memcpy(work->to + half, work->from + half, work->bytes - half);
    same &= checksum(work->from, work->bytes) == sum;
    pthread_mutex_unlock(engine);
    pthread_mutex_lock(&sim_lock);
    sim_copies_ended++;
    pthread_mutex_unlock(&sim_lock);
    if (!same) changed(work->to_device ? "pinned memory" : "device memory", work);
}

static void compute(const sim_work *work) {
    uint64_t sum = checksum(work->from, work->bytes);
    pause_micros(sim_now_nanos < 0 ? work->micros : 0);
    if (checksum(work->from, work->bytes) != sum) changed("device memory", work);
}

/* Runs one piece of work; without the lock, unless it waits. */
static void run(int device, const sim_work *work) {
    switch (work->kind) {
        case COPY: copy(device, work); break;
        case KERNEL: compute(work); break;
        case LAUNCH: work->run(work->words, work->blocks); break;
        case RECORD: break;
        case WAIT:
            pthread_mutex_lock(&sim_lock);
            sim_await(device, work->awaited_stream, work->awaited_number);
            pthread_mutex_unlock(&sim_lock);
            break;
        case FAULT:
            pthread_mutex_lock(&sim_lock);
            sim_fault[device] = work->status;
            pthread_cond_broadcast(&sim_changed);
            pthread_mutex_unlock(&sim_lock);
            break;
    }
}

static void *serve(void *argument) {
    sim_resource *stream = argument;
    pthread_mutex_lock(&sim_lock);
    for (;;) {
        while (!stream->first && !stream->closing) pthread_cond_wait(&sim_changed, &sim_lock);
        sim_work *work = stream->first;
        if (!work) break;
        int dead = sim_fault[stream->device];           /* after a sticky error nothing runs */
        pthread_mutex_unlock(&sim_lock);
        if (!dead) run(stream->device, work);
        pthread_mutex_lock(&sim_lock);
        end(stream, work);
        sim_done[stream->place] = work->number;
        stream->first = work->next;
        free(work);
        pthread_cond_broadcast(&sim_changed);
    }
    pthread_mutex_unlock(&sim_lock);
    return NULL;
}

/* ---- with the lock ---- */

int sim_start_stream(sim_resource *stream) {
    char taken[MAX_STREAMS] = {0};
    for (sim_resource *r = sim_resources; r; r = r->next) {
        if (r->kind == STREAM && r->place >= 0) taken[r->place] = 1;
    }
    for (int place = 0; place < MAX_STREAMS; place++) {
        if (!taken[place]) {
            stream->place = place;
            stream->clock.upto[place] = sim_enqueued[place];    /* a stream that was here before has ended */
            return pthread_create(&stream->thread, NULL, serve, stream) == 0;
        }
    }
    return 0;
}

/* The stream of a handle, or null. 0 and 1 are the current device's default stream, 2 is taken as one a device too. */
sim_resource *sim_stream(void *handle) {
    if ((uintptr_t) handle > 2) return sim_handle(STREAM, handle);
    size_t which = (uintptr_t) handle == 2;
    for (sim_resource *r = sim_resources; r; r = r->next) {
        if (r->kind == STREAM && !r->flags && r->device == sim_current_device && r->number == which) return r;
    }
    sim_resource *stream = sim_add(STREAM, 0, 0);
    stream->number = which;
    return sim_start_stream(stream) ? stream : NULL;
}

sim_work *sim_enqueue(sim_resource *stream, sim_work_kind kind) {
    sim_work *work = calloc(1, sizeof *work);
    work->kind = kind;
    work->number = sim_next_number(stream);
    work->enqueued_at = now();
    if (stream->first) {
        stream->last->next = work;
    } else {
        stream->first = work;
    }
    stream->last = work;
    pthread_cond_broadcast(&sim_changed);
    return work;
}

/* Lets the stream's thread end when its work has, and waits for it. */
void sim_stop_stream(sim_resource *stream) {
    stream->closing = 1;
    pthread_cond_broadcast(&sim_changed);
    pthread_mutex_unlock(&sim_lock);
    pthread_join(stream->thread, NULL);
    pthread_mutex_lock(&sim_lock);
}

/* When one of the latest pieces of work of a stream ended. */
int64_t sim_ended_at(int place, uint64_t number) { return ends[place][number % ENDS]; }

/* Waits for work to end; the sticky error of the device, if that ends the wait. */
int sim_await(int device, int place, uint64_t number) {
    while (sim_done[place] < number && !sim_fault[device]) pthread_cond_wait(&sim_changed, &sim_lock);
    return sim_fault[device];
}

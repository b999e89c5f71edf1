// SPDX-License-Identifier: Apache-2.0
/* What tests set and ask. The names are not CUDA's. */
#include "sim.h"

#include <stdlib.h>
#include <string.h>

#define SET(name, type, variable) \
    void name(type value) { \
        pthread_mutex_lock(&sim_lock); \
        variable = value; \
        pthread_cond_broadcast(&sim_changed); \
        pthread_mutex_unlock(&sim_lock); \
    }

SET(sim_set_driver, int, sim_driver_version)
SET(sim_set_devices, int, sim_device_count)
SET(sim_set_device_bytes, int64_t, sim_device_bytes)
SET(sim_set_pinned_bytes, int64_t, sim_pinned_bytes)
SET(sim_set_bytes_per_micro, int64_t, sim_bytes_per_micro)
SET(sim_set_latency_micros, int64_t, sim_latency_micros)
/* The device's clock; -1 goes back to the machine's. */
SET(sim_set_now_nanos, int64_t, sim_now_nanos)
/* Holds copies to devices back: those that start read their source, and go on when this is 0 again. */
SET(sim_set_held, int, sim_held)
SET(sim_set_engine, int, sim_engine)

/* How many copies have begun to read, or have ended. */
int64_t sim_copies(int ended) {
    pthread_mutex_lock(&sim_lock);
    int64_t copies = ended ? sim_copies_ended : sim_copies_begun;
    pthread_mutex_unlock(&sim_lock);
    return copies;
}

int sim_get_current_device(void) { return sim_current_device; }

/* How often a thread waited for what another device does than the one that is current on it. */
int64_t sim_foreign_waits(void) {
    pthread_mutex_lock(&sim_lock);
    int64_t waits = sim_foreign_wait_count;
    pthread_mutex_unlock(&sim_lock);
    return waits;
}

/* The device that an open handle or allocation was made on, or -1; its flags are in the upper half. */
int64_t sim_origin(void *handle) {
    int64_t origin = -1;
    pthread_mutex_lock(&sim_lock);
    for (sim_resource *r = sim_resources; r; r = r->next) {
        if (r == handle || (r->size && r->address == handle)) origin = (int64_t) r->flags << 32 | r->device;
    }
    pthread_mutex_unlock(&sim_lock);
    return origin;
}

/* Announces that the calling thread writes, or reads, pinned memory. */
void sim_host_uses(const char *address, int64_t size, int writes) {
    pthread_mutex_lock(&sim_lock);
    sim_host_use(address, size, writes);
    pthread_mutex_unlock(&sim_lock);
}

/* Enqueues what a kernel would do that reads device memory for a time. With the lock. */
static int launch(sim_resource *stream, char *address, int64_t size, int64_t micros) {
    sim_resource *memory = stream ? sim_memory(DEVICE_MEMORY, address, size) : NULL;
    int status = !stream ? INVALID_HANDLE : sim_fault[stream->device];
    if (!memory || memory->device != stream->device) {
        sim_violation("a kernel reads %p, which is not allocated on its device", (void *) address);
        status = INVALID_VALUE;
    }
    if (!status) {
        sim_work *work = sim_enqueue(stream, KERNEL);
        work->from = memory->bytes + (address - memory->address);
        work->bytes = size;
        work->micros = micros;
        sim_use(memory, address, size, 0, stream, work->number);
    }
    return status;
}

/* Enqueues such a kernel, or adds it to the graph that is captured of the stream. */
int sim_launch(void *handle, char *address, int64_t size, int64_t micros) {
    int status = SUCCESS;
    pthread_mutex_lock(&sim_lock);
    sim_resource *stream = sim_stream(handle);
    sim_graph *graph = stream ? stream->capture : NULL;
    if (graph) {
        sim_node *node = calloc(1, sizeof *node);
        *node = (sim_node) {address, size, micros, NULL};
        *(graph->last ? &graph->last->next : &graph->first) = node;
        graph->last = node;
    } else {
        status = launch(stream, address, size, micros);
    }
    pthread_mutex_unlock(&sim_lock);
    return status;
}

/* Begins to capture what is launched on a stream; a global capture forbids calls to all threads that are not exempt. */
void sim_begin_capture(void *handle, int global) {
    pthread_mutex_lock(&sim_lock);
    sim_resource *stream = sim_stream(handle);
    stream->capture = calloc(1, sizeof *stream->capture);
    stream->capture->device = stream->device;
    stream->capture->global = global;
    sim_global_captures += global;
    pthread_mutex_unlock(&sim_lock);
}

void *sim_end_capture(void *handle) {
    pthread_mutex_lock(&sim_lock);
    sim_resource *stream = sim_stream(handle);
    sim_graph *graph = stream->capture;
    sim_global_captures -= graph->global;
    stream->capture = NULL;
    pthread_mutex_unlock(&sim_lock);
    return graph;
}

/* Enqueues the kernels of a graph, which are checked as if they were launched one by one. */
int sim_launch_graph(sim_graph *graph, void *handle) {
    int status = SUCCESS;
    pthread_mutex_lock(&sim_lock);
    sim_resource *stream = sim_stream(handle);
    for (sim_node *node = graph->first; node && !status; node = node->next) {
        status = launch(stream, node->address, node->size, node->micros);
    }
    pthread_mutex_unlock(&sim_lock);
    return status;
}

void sim_free_graph(sim_graph *graph) {
    for (sim_node *node = graph->first; node; ) {
        sim_node *next = node->next;
        free(node);
        node = next;
    }
    free(graph);
}

/* Enqueues a kernel that ends with a sticky error, as one does that reads an illegal address. */
int sim_launch_fault(void *handle, int status) {
    pthread_mutex_lock(&sim_lock);
    sim_resource *stream = sim_stream(handle);
    if (stream) sim_enqueue(stream, FAULT)->status = status;
    pthread_mutex_unlock(&sim_lock);
    return stream ? SUCCESS : INVALID_HANDLE;
}

// SPDX-License-Identifier: Apache-2.0
/*
 * CUDA's functions, those that Penstock's bindings need, with CUDA's signatures and statuses. Each one takes the lock,
 * counts the call, and returns the status that a test has ordered, if it has.
 */
#include "sim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LEAVE(status) return leave(status)

/* A call that releases something does so also when it is to fail, as CUDA's do when they report an earlier error. */
#define ENTER_RELEASE() \
    pthread_mutex_lock(&sim_lock); \
    int ordered = sim_enter(__func__)

#define LEAVE_RELEASE(status) \
    do { \
        int status_ = status; \
        return leave(ordered ? ordered : status_); \
    } while (0)

/* The end of a call that is forbidden while a graph is captured. */
#define UNSAFE() if (sim_forbids(__func__)) LEAVE(CAPTURE_UNSUPPORTED)

/* The end of a call that is not for a stream that is being captured. */
#define OUTSIDE(stream) \
    if (stream->capture) { \
        sim_violation("%s: stream %d is being captured", __func__, stream->place); \
        LEAVE(CAPTURE_ISOLATION); \
    }

/* A handle that is open, or the end of the call. */
#define OPEN(variable, found, handle) \
    sim_resource *variable = found; \
    if (!variable) { \
        sim_violation("%s: %p is not open", __func__, (void *) (handle)); \
        LEAVE(INVALID_HANDLE); \
    }

/* ---- the library and its devices ---- */

int cudaRuntimeGetVersion(int *version) { *version = VERSION; return SUCCESS; }

/* Without a driver this succeeds, unlike all else. */
int cudaDriverGetVersion(int *version) {
    pthread_mutex_lock(&sim_lock);
    int ordered = sim_enter(__func__);
    *version = sim_driver_version;
    LEAVE(sim_driver_version ? ordered : SUCCESS);
}

int cudaGetDeviceCount(int *count) {
    ENTER();
    if (sim_driver_version < VERSION / 1000 * 1000) LEAVE(INSUFFICIENT_DRIVER);
    if (sim_device_count == 0) LEAVE(NO_DEVICE);
    *count = sim_device_count;
    LEAVE(SUCCESS);
}

static int is_device(int device) { return device >= 0 && device < sim_device_count; }

int cudaSetDevice(int device) {
    ENTER();
    if (!is_device(device)) LEAVE(INVALID_DEVICE);
    sim_current_device = device;
    LEAVE(SUCCESS);
}

int cudaMemGetInfo(size_t *free_bytes, size_t *total_bytes) {
    ENTER();
    *free_bytes = sim_device_bytes - sim_allocated(DEVICE_MEMORY, sim_current_device) + sim_current_device;
    *total_bytes = (size_t) 80 << 30;
    LEAVE(SUCCESS);
}

int cudaDeviceGetAttribute(int *value, int attribute, int device) {
    ENTER();
    if (!is_device(device)) LEAVE(INVALID_DEVICE);
    switch (attribute) {
        case 40: *value = 3; break;             /* cudaDevAttrAsyncEngineCount */
        case 75: *value = 9; break;             /* cudaDevAttrComputeCapabilityMajor */
        case 76: *value = 0; break;             /* cudaDevAttrComputeCapabilityMinor */
        case 134: *value = device; break;       /* cudaDevAttrHostNumaId */
        default: LEAVE(INVALID_VALUE);
    }
    LEAVE(SUCCESS);
}

int cudaDeviceGetPCIBusId(char *id, int length, int device) {
    ENTER();
    if (!is_device(device)) LEAVE(INVALID_DEVICE);
    if (length < 13) LEAVE(INVALID_VALUE);
    snprintf(id, length, "0000:%02X:00.0", 0x1B + device);
    LEAVE(SUCCESS);
}

/* Fills in the name, which comes first in cudaDeviceProp. */
int cudaGetDeviceProperties(char *properties, int device) {
    ENTER();
    if (!is_device(device)) LEAVE(INVALID_DEVICE);
    snprintf(properties, 256, "Simulated GPU %d", device);
    LEAVE(SUCCESS);
}

/* ---- memory ---- */

static int allocate(sim_kind kind, size_t limit, void **address, size_t size, unsigned flags) {
    if (!is_device(sim_current_device)) return INVALID_DEVICE;
    if (sim_fault[sim_current_device]) return sim_fault[sim_current_device];
    if (size > limit - sim_allocated(kind, sim_current_device)) return MEMORY_ALLOCATION;
    sim_resource *added = sim_add(kind, size, flags);
    if (!added) return MEMORY_ALLOCATION;
    *address = added->address;
    return SUCCESS;
}

int cudaMalloc(void **address, size_t size) {
    ENTER();
    UNSAFE();
    LEAVE(allocate(DEVICE_MEMORY, sim_device_bytes, address, size, 0));
}

int cudaHostAlloc(void **address, size_t size, unsigned flags) {
    ENTER();
    UNSAFE();
    LEAVE(allocate(PINNED_MEMORY, sim_pinned_bytes, address, size, flags));
}

/* On a thread that never chose a device, a call that releases something starts a context on device 0 first. */
static void check_current(const char *call, const sim_resource *released) {
    if (sim_current_device != released->device) {
        sim_violation("%s: of device %d, and current is device %d", call, released->device, sim_current_device);
    }
}

/* After a sticky error memory is released, and the error reported all the same. */
static int release(const char *call, sim_kind kind, char *address) {
    sim_resource *memory = sim_resources;
    while (memory && !(memory->kind == kind && memory->address == address)) memory = memory->next;
    if (!memory) {
        sim_violation("%s: %p is not allocated", call, (void *) address);
        return INVALID_VALUE;
    }
    check_current(call, memory);
    int fault = sim_fault[memory->device];
    if (!fault && sim_in_use(memory)) {
        sim_violation("%s: the host has not seen the end of all work that uses %p", call, (void *) address);
    }
    sim_drop(memory);
    return fault;
}

int cudaFree(void *address) { ENTER_RELEASE(); LEAVE_RELEASE(release(__func__, DEVICE_MEMORY, address)); }
int cudaFreeHost(void *address) { ENTER_RELEASE(); LEAVE_RELEASE(release(__func__, PINNED_MEMORY, address)); }

int cudaMemcpyAsync(void *dst, const void *src, size_t size, int kind, void *handle) {
    ENTER();
    OPEN(stream, sim_stream(handle), handle);
    OUTSIDE(stream);
    if (kind != 1 && kind != 2) LEAVE(INVALID_VALUE);
    if (sim_fault[stream->device]) LEAVE(sim_fault[stream->device]);
    int to_device = kind == 1;
    char *device_address = to_device ? dst : (char *) src, *host_address = to_device ? (char *) src : dst;
    sim_resource *host = sim_memory(PINNED_MEMORY, host_address, size);
    sim_resource *device = sim_memory(DEVICE_MEMORY, device_address, size);
    if (!host || !device) {
        sim_violation("cudaMemcpyAsync: %zu bytes at %p are not in %s memory that is allocated", size,
                (void *) (host ? device_address : host_address), host ? "device" : "pinned");
        LEAVE(INVALID_VALUE);
    }
    if (size && device->device != stream->device) {
        sim_violation("cudaMemcpyAsync: memory of device %d on a stream of device %d", device->device, stream->device);
    }
    if (sim_current_device != stream->device) {
        sim_violation("cudaMemcpyAsync: on a stream of device %d, and current is device %d", stream->device,
                sim_current_device);
    }
    sim_work *work = sim_enqueue(stream, COPY);
    char *on_device = device->bytes + (device_address - device->address);
    work->to = to_device ? on_device : host_address;
    work->from = to_device ? host_address : on_device;
    work->bytes = size;
    work->to_device = to_device;
    sim_log("copy %zu bytes to %s, stream %d", size, to_device ? "device" : "host", stream->place);
    if (size) {
        sim_use(device, device_address, size, to_device, stream, work->number);
        sim_use(host, host_address, size, !to_device, stream, work->number);
    }
    LEAVE(SUCCESS);
}

/* ---- streams ---- */

int cudaStreamCreateWithFlags(void **stream, unsigned flags) {
    ENTER();
    if (sim_fault[sim_current_device]) LEAVE(sim_fault[sim_current_device]);
    if (flags != 1) {
        sim_violation("cudaStreamCreateWithFlags: a stream that waits for the default stream");
        LEAVE(INVALID_VALUE);
    }
    sim_resource *added = sim_add(STREAM, 0, flags);
    if (!sim_start_stream(added)) {
        sim_drop(added);
        LEAVE(MEMORY_ALLOCATION);
    }
    *stream = added;
    LEAVE(SUCCESS);
}

int cudaStreamDestroy(void *handle) {
    ENTER_RELEASE();
    OPEN(stream, sim_handle(STREAM, handle), handle);
    check_current(__func__, stream);
    int fault = sim_fault[stream->device];
    if (!fault && sim_host.upto[stream->place] < sim_enqueued[stream->place]) {
        sim_violation("cudaStreamDestroy: the host has not seen the end of stream %d", stream->place);
    }
    sim_stop_stream(stream);
    sim_drop(stream);
    LEAVE_RELEASE(fault);
}

int cudaStreamQuery(void *handle) {
    ENTER();
    UNSAFE();
    OPEN(stream, sim_stream(handle), handle);
    if (sim_fault[stream->device]) LEAVE(sim_fault[stream->device]);
    if (sim_done[stream->place] < sim_enqueued[stream->place]) LEAVE(NOT_READY);
    sim_join(&sim_host, &stream->clock);
    LEAVE(SUCCESS);
}

int cudaStreamSynchronize(void *handle) {
    ENTER();
    UNSAFE();
    OPEN(stream, sim_stream(handle), handle);
    sim_foreign_wait_count += stream->device != sim_current_device;
    sim_clock seen = stream->clock;
    int status = sim_await(stream->device, stream->place, sim_enqueued[stream->place]);
    if (!status) sim_join(&sim_host, &seen);
    LEAVE(status);
}

int cudaStreamWaitEvent(void *handle, void *awaited, unsigned flags) {
    ENTER();
    OPEN(stream, sim_stream(handle), handle);
    OUTSIDE(stream);
    OPEN(event, sim_handle(EVENT, awaited), awaited);
    if (flags != 0) LEAVE(INVALID_VALUE);
    if (sim_fault[stream->device]) LEAVE(sim_fault[stream->device]);
    if (event->place < 0) LEAVE(SUCCESS);
    sim_join(&stream->clock, &event->clock);
    sim_work *work = sim_enqueue(stream, WAIT);
    work->awaited_stream = event->place;
    work->awaited_number = event->number;
    sim_log("wait for stream %d, stream %d", event->place, stream->place);
    LEAVE(SUCCESS);
}

/* The mode of the thread is exchanged for the one that is given. */
int cudaThreadExchangeStreamCaptureMode(int *mode) {
    ENTER();
    int before = sim_capture_mode;
    sim_capture_mode = *mode;
    *mode = before;
    LEAVE(SUCCESS);
}

/* ---- events ---- */

int cudaEventCreateWithFlags(void **event, unsigned flags) {
    ENTER();
    if (sim_fault[sim_current_device]) LEAVE(sim_fault[sim_current_device]);
    *event = sim_add(EVENT, 0, flags);
    LEAVE(SUCCESS);
}

int cudaEventDestroy(void *handle) {
    ENTER_RELEASE();
    OPEN(event, sim_handle(EVENT, handle), handle);
    check_current(__func__, event);
    int fault = sim_fault[event->device];
    sim_drop(event);
    LEAVE_RELEASE(fault);
}

int cudaEventSynchronize(void *handle) {
    ENTER();
    UNSAFE();
    OPEN(event, sim_handle(EVENT, handle), handle);
    sim_foreign_wait_count += event->device != sim_current_device;
    if (event->place < 0) LEAVE(sim_fault[event->device]);
    sim_clock seen = event->clock;
    int status = sim_await(event->device, event->place, event->number);
    if (!status) sim_join(&sim_host, &seen);
    LEAVE(status);
}

#ifndef WITHOUT_EVENTS
int cudaEventQuery(void *handle) {
    ENTER();
    UNSAFE();
    OPEN(event, sim_handle(EVENT, handle), handle);
    if (sim_fault[event->device]) LEAVE(sim_fault[event->device]);
    if (event->place < 0) LEAVE(SUCCESS);
    if (sim_done[event->place] < event->number) LEAVE(NOT_READY);
    sim_join(&sim_host, &event->clock);
    LEAVE(SUCCESS);
}

int cudaEventRecord(void *handle, void *stream_handle) {
    ENTER();
    OPEN(event, sim_handle(EVENT, handle), handle);
    OPEN(stream, sim_stream(stream_handle), stream_handle);
    OUTSIDE(stream);
    if (event->device != stream->device) {
        sim_violation("cudaEventRecord: an event of device %d on a stream of device %d", event->device,
                stream->device);
        LEAVE(INVALID_HANDLE);
    }
    if (sim_fault[stream->device]) LEAVE(sim_fault[stream->device]);
    event->number = sim_enqueue(stream, RECORD)->number;
    event->place = stream->place;
    event->clock = stream->clock;
    sim_log("record, stream %d", stream->place);
    LEAVE(SUCCESS);
}

/* The time may be asked for once the host has seen both marks, the later one last. */
int cudaEventElapsedTime(float *millis, void *from_handle, void *to_handle) {
    ENTER();
    OPEN(from, sim_handle(EVENT, from_handle), from_handle);
    OPEN(to, sim_handle(EVENT, to_handle), to_handle);
    if (sim_fault[to->device]) LEAVE(sim_fault[to->device]);
    if (from->device != to->device || (from->flags | to->flags) & 2 || from->place < 0 || to->place < 0) {
        LEAVE(INVALID_HANDLE);
    }
    if (!sim_seen(from) || !sim_seen(to)) {
        sim_violation("cudaEventElapsedTime: the host has not seen both events reached");
        LEAVE(NOT_READY);
    }
    if (from->place == to->place && from->number > to->number) {
        sim_violation("cudaEventElapsedTime: the first event was recorded behind the second");
    }
    *millis = (sim_ended_at(to->place, to->number) - sim_ended_at(from->place, from->number)) / 1e6f;
    LEAVE(SUCCESS);
}
#endif

/* ---- errors ---- */

const char *cudaGetErrorName(int status) {
    switch (status) {
        case SUCCESS: return "cudaSuccess";
        case INVALID_VALUE: return "cudaErrorInvalidValue";
        case MEMORY_ALLOCATION: return "cudaErrorMemoryAllocation";
        case 4: return "cudaErrorCudartUnloading";
        case INSUFFICIENT_DRIVER: return "cudaErrorInsufficientDriver";
        case 46: return "cudaErrorDevicesUnavailable";
        case NO_DEVICE: return "cudaErrorNoDevice";
        case INVALID_DEVICE: return "cudaErrorInvalidDevice";
        case 200: return "cudaErrorInvalidKernelImage";
        case 209: return "cudaErrorNoKernelImageForDevice";
        case INVALID_HANDLE: return "cudaErrorInvalidResourceHandle";
        case 222: return "cudaErrorUnsupportedPtxVersion";
        case 500: return "cudaErrorSymbolNotFound";
        case NOT_READY: return "cudaErrorNotReady";
        case 700: return "cudaErrorIllegalAddress";
        case 719: return "cudaErrorLaunchFailure";
        case CAPTURE_UNSUPPORTED: return "cudaErrorStreamCaptureUnsupported";
        case CAPTURE_ISOLATION: return "cudaErrorStreamCaptureIsolation";
        case 801: return "cudaErrorNotSupported";
        default: return "unrecognized error code";
    }
}

const char *cudaGetErrorString(int status) { return status == SUCCESS ? "no error" : "as the simulation has it"; }

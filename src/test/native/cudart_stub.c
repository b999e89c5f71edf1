/*
 * A stand-in for libcudart.so.13 on machines without a GPU: the functions that Penstock's CUDA device calls, with
 * CUDA's signatures and statuses, over malloc and memcpy. Copies are done when the call returns, so every event is
 * complete. It shows that the calls are made as they should be; that they are ordered rightly is shown by the host
 * device and by a GPU.
 *
 * Unlike the real runtime it is strict where that costs nothing: a handle that is not open, or a range outside its
 * allocation, is an error, and what is open at the end can be counted.
 *
 * Built with -DVERSION=12000 it is another major version, with -DWITHOUT_EVENTS it lacks functions.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#ifndef VERSION
#define VERSION 13000
#endif

enum {
    SUCCESS = 0, INVALID_VALUE = 1, MEMORY_ALLOCATION = 2, INSUFFICIENT_DRIVER = 35, NO_DEVICE = 100,
    INVALID_DEVICE = 101, INVALID_HANDLE = 400, NOT_READY = 600
};

typedef enum { STREAM, EVENT, DEVICE_MEMORY, PINNED_MEMORY, KINDS } kind_t;

typedef struct resource {
    kind_t kind;
    int device;
    unsigned flags;
    char *memory;
    size_t size;
    struct resource *next;
} resource;

static resource *open_resources;
static int lock;
static int driver_version = VERSION;
static int device_count = 1;
static char failing_call[64];
static int failing_status;
static __thread int current_device;

/* ---- what the tests set and ask ---- */

void stub_set_driver(int version) { driver_version = version; }
void stub_set_devices(int count) { device_count = count; }
int stub_current_device(void) { return current_device; }

/* Makes one function return a status from now on; an empty name ends that. */
void stub_fail(const char *call, int status) {
    strncpy(failing_call, call, sizeof failing_call - 1);
    failing_status = status;
}

static void acquire(void) { while (__atomic_exchange_n(&lock, 1, __ATOMIC_ACQUIRE)) { } }
static void release(void) { __atomic_store_n(&lock, 0, __ATOMIC_RELEASE); }

int stub_open(int kind) {
    int count = 0;
    acquire();
    for (resource *r = open_resources; r; r = r->next) count += r->kind == (kind_t) kind;
    release();
    return count;
}

/* The device that an open handle or allocation was made on, or -1; its flags are in the upper half. */
int64_t stub_origin(void *handle) {
    int64_t origin = -1;
    acquire();
    for (resource *r = open_resources; r; r = r->next) {
        if (r == handle || r->memory == handle) origin = (int64_t) r->flags << 32 | r->device;
    }
    release();
    return origin;
}

/* ---- resources ---- */

static int failure(const char *call) {
    if (driver_version == 0) return INSUFFICIENT_DRIVER;
    return strcmp(call, failing_call) == 0 ? failing_status : SUCCESS;
}

#define ENTER() do { int status = failure(__func__); if (status) return status; } while (0)

static resource *add(kind_t kind, size_t size, unsigned flags) {
    resource *r = calloc(1, sizeof *r);
    r->kind = kind;
    r->device = current_device;
    r->flags = flags;
    r->size = size;
    if (size && posix_memalign((void **) &r->memory, 4096, size)) {
        free(r);
        return NULL;
    }
    acquire();
    r->next = open_resources;
    open_resources = r;
    release();
    return r;
}

static int drop(kind_t kind, void *handle) {
    acquire();
    resource **at = &open_resources;
    while (*at && !((*at)->kind == kind && (*at == handle || (*at)->memory == handle))) at = &(*at)->next;
    resource *r = *at;
    if (r) *at = r->next;
    release();
    if (!r) return 0;
    free(r->memory);
    free(r);
    return 1;
}

static resource *find(kind_t kind, const void *handle) {
    acquire();
    resource *r = open_resources;
    while (r && !(r->kind == kind && r == handle)) r = r->next;
    release();
    return r;
}

static int inside(kind_t kind, const char *address, size_t size) {
    acquire();
    resource *r = open_resources;
    while (r && !(r->kind == kind && address >= r->memory && address + size <= r->memory + r->size)) r = r->next;
    release();
    return r != NULL;
}

/* Null, 1 and 2 are the default streams. */
static int is_stream(const void *stream) { return (uintptr_t) stream <= 2 || find(STREAM, stream); }

/* ---- the runtime ---- */

int cudaRuntimeGetVersion(int *version) { *version = VERSION; return SUCCESS; }
int cudaDriverGetVersion(int *version) { *version = driver_version; return SUCCESS; }

int cudaGetDeviceCount(int *count) {
    ENTER();
    if (driver_version < VERSION / 1000 * 1000) return INSUFFICIENT_DRIVER;
    if (device_count == 0) return NO_DEVICE;
    *count = device_count;
    return SUCCESS;
}

int cudaSetDevice(int device) {
    ENTER();
    if (device < 0 || device >= device_count) return INVALID_DEVICE;
    current_device = device;
    return SUCCESS;
}

int cudaMalloc(void **address, size_t size) {
    ENTER();
    resource *r = size > (size_t) 1 << 40 ? NULL : add(DEVICE_MEMORY, size, 0);
    if (!r) return MEMORY_ALLOCATION;
    *address = r->memory;
    return SUCCESS;
}

int cudaHostAlloc(void **address, size_t size, unsigned flags) {
    ENTER();
    resource *r = size > (size_t) 1 << 40 ? NULL : add(PINNED_MEMORY, size, flags);
    if (!r) return MEMORY_ALLOCATION;
    *address = r->memory;
    return SUCCESS;
}

int cudaFree(void *address) { ENTER(); return drop(DEVICE_MEMORY, address) ? SUCCESS : INVALID_VALUE; }
int cudaFreeHost(void *address) { ENTER(); return drop(PINNED_MEMORY, address) ? SUCCESS : INVALID_VALUE; }

int cudaStreamCreateWithFlags(void **stream, unsigned flags) {
    ENTER();
    *stream = add(STREAM, 0, flags);
    return SUCCESS;
}


int cudaStreamDestroy(void *stream) { ENTER(); return drop(STREAM, stream) ? SUCCESS : INVALID_HANDLE; }
int cudaStreamQuery(void *stream) { ENTER(); return is_stream(stream) ? SUCCESS : INVALID_HANDLE; }
int cudaStreamSynchronize(void *stream) { ENTER(); return is_stream(stream) ? SUCCESS : INVALID_HANDLE; }

int cudaStreamWaitEvent(void *stream, void *event, unsigned flags) {
    ENTER();
    if (flags != 0) return INVALID_VALUE;
    return is_stream(stream) && find(EVENT, event) ? SUCCESS : INVALID_HANDLE;
}

int cudaEventCreateWithFlags(void **event, unsigned flags) { ENTER(); *event = add(EVENT, 0, flags); return SUCCESS; }
int cudaEventDestroy(void *event) { ENTER(); return drop(EVENT, event) ? SUCCESS : INVALID_HANDLE; }
int cudaEventSynchronize(void *event) { ENTER(); return find(EVENT, event) ? SUCCESS : INVALID_HANDLE; }

#ifndef WITHOUT_EVENTS
int cudaEventQuery(void *event) { ENTER(); return find(EVENT, event) ? SUCCESS : INVALID_HANDLE; }

int cudaEventRecord(void *event, void *stream) {
    ENTER();
    return is_stream(stream) && find(EVENT, event) ? SUCCESS : INVALID_HANDLE;
}
#endif

int cudaMemcpyAsync(void *dst, const void *src, size_t size, int kind, void *stream) {
    ENTER();
    if (!is_stream(stream)) return INVALID_HANDLE;
    int to_device = kind == 1, to_host = kind == 2;
    if (!to_device && !to_host) return INVALID_VALUE;
    if (!inside(to_device ? DEVICE_MEMORY : PINNED_MEMORY, dst, size)) return INVALID_VALUE;
    if (!inside(to_device ? PINNED_MEMORY : DEVICE_MEMORY, src, size)) return INVALID_VALUE;
    memcpy(dst, src, size);
    return SUCCESS;
}

int cudaMemGetInfo(size_t *free_bytes, size_t *total_bytes) {
    ENTER();
    *free_bytes = ((size_t) 60 << 30) + current_device;
    *total_bytes = (size_t) 80 << 30;
    return SUCCESS;
}

int cudaDeviceGetAttribute(int *value, int attribute, int device) {
    ENTER();
    if (device < 0 || device >= device_count) return INVALID_DEVICE;
    switch (attribute) {
        case 40: *value = 3; return SUCCESS;            /* cudaDevAttrAsyncEngineCount */
        case 75: *value = 9; return SUCCESS;            /* cudaDevAttrComputeCapabilityMajor */
        case 76: *value = 0; return SUCCESS;            /* cudaDevAttrComputeCapabilityMinor */
        case 134: *value = device; return SUCCESS;      /* cudaDevAttrHostNumaId */
        default: return INVALID_VALUE;
    }
}

int cudaDeviceGetPCIBusId(char *id, int length, int device) {
    ENTER();
    if (length < 13) return INVALID_VALUE;
    memcpy(id, "0000:1B:00.0", 13);
    id[6] += device;
    return SUCCESS;
}

/* Fills in the name, which comes first in cudaDeviceProp. */
int cudaGetDeviceProperties(char *properties, int device) {
    ENTER();
    strcpy(properties, "Stub GPU 0");
    properties[9] += device;
    return SUCCESS;
}

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
        case INVALID_HANDLE: return "cudaErrorInvalidResourceHandle";
        case NOT_READY: return "cudaErrorNotReady";
        case 700: return "cudaErrorIllegalAddress";
        default: return "unrecognized error code";
    }
}

const char *cudaGetErrorString(int status) { return status == SUCCESS ? "no error" : "as the stub was told"; }

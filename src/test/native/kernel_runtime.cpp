/*
 * A CUDA 13 runtime whose device is the CPU and whose kernels are the engine's own source, compiled here: it shows that
 * the fatbin is loaded, kernels are found and arguments arrive as they should. Work is done when the call returns, so
 * it shows nothing about order.
 *
 * The variable KERNEL_RUNTIME_FAIL makes calls fail: cudaLibraryGetKernel=209. Built with -DWITHOUT_KERNELS it can only
 * copy.
 */
#include "../../main/native/kernels.cu"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    SUCCESS = 0, INVALID_VALUE = 1, INVALID_IMAGE = 200, NO_IMAGE = 209, UNSUPPORTED_PTX = 222, INVALID_HANDLE = 400,
    SYMBOL_NOT_FOUND = 500, ILLEGAL_ADDRESS = 700
};

static int failure(const char *call) {
    const char *setting = getenv("KERNEL_RUNTIME_FAIL");
    size_t length = strlen(call);
    return setting != nullptr && strncmp(setting, call, length) == 0 && setting[length] == '='
            ? atoi(setting + length + 1) : SUCCESS;
}

#define ENTER() do { int failed_ = failure(__func__); if (failed_ != SUCCESS) return failed_; } while (0)

extern "C" {

int kernel_runtime_loads;
int kernel_runtime_unloads;

int cudaRuntimeGetVersion(int *version) { *version = 13000; return SUCCESS; }
int cudaDriverGetVersion(int *version) { *version = 13000; return SUCCESS; }
int cudaGetDeviceCount(int *count) { *count = 1; return SUCCESS; }
int cudaSetDevice(int device) { return device == 0 ? SUCCESS : INVALID_VALUE; }
int cudaMalloc(void **address, size_t size) {
    ENTER();
    *address = aligned_alloc(256, (size + 255) / 256 * 256);
    return SUCCESS;
}
int cudaHostAlloc(void **address, size_t size, unsigned) {
    *address = aligned_alloc(4096, (size + 4095) / 4096 * 4096);
    return SUCCESS;
}
int cudaFree(void *address) { free(address); return SUCCESS; }
int cudaFreeHost(void *address) { free(address); return SUCCESS; }
int cudaStreamCreateWithFlags(void **stream, unsigned) { *stream = malloc(1); return SUCCESS; }
int cudaStreamDestroy(void *stream) { free(stream); return SUCCESS; }
int cudaStreamQuery(void *) { return SUCCESS; }
int cudaStreamSynchronize(void *) { return SUCCESS; }
int cudaStreamWaitEvent(void *, void *, unsigned) { return SUCCESS; }
int cudaEventCreateWithFlags(void **event, unsigned) { *event = malloc(1); return SUCCESS; }
int cudaEventDestroy(void *event) { free(event); return SUCCESS; }
int cudaEventSynchronize(void *) { return SUCCESS; }
int cudaEventQuery(void *) { return SUCCESS; }
int cudaEventRecord(void *, void *) { return SUCCESS; }
int cudaMemcpyAsync(void *to, const void *from, size_t size, int, void *) { memcpy(to, from, size); return SUCCESS; }
int cudaMemGetInfo(size_t *available, size_t *total) { *available = *total = 1 << 30; return SUCCESS; }
int cudaDeviceGetAttribute(int *value, int, int) { *value = 9; return SUCCESS; }
int cudaDeviceGetPCIBusId(char *id, int length, int) { snprintf(id, length, "0000:00:00.0"); return SUCCESS; }
int cudaGetDeviceProperties(char *properties, int) { strcpy(properties, "CPU"); return SUCCESS; }
int cudaGetLastError(void) { return SUCCESS; }
int cudaPeekAtLastError(void) { return SUCCESS; }

const char *cudaGetErrorName(int status) {
    switch (status) {
        case SUCCESS: return "cudaSuccess";
        case INVALID_VALUE: return "cudaErrorInvalidValue";
        case INVALID_IMAGE: return "cudaErrorInvalidKernelImage";
        case NO_IMAGE: return "cudaErrorNoKernelImageForDevice";
        case UNSUPPORTED_PTX: return "cudaErrorUnsupportedPtxVersion";
        case INVALID_HANDLE: return "cudaErrorInvalidResourceHandle";
        case SYMBOL_NOT_FOUND: return "cudaErrorSymbolNotFound";
        case ILLEGAL_ADDRESS: return "cudaErrorIllegalAddress";
        default: return "cudaErrorUnknown";
    }
}

const char *cudaGetErrorString(int) { return "as the test has it"; }

#ifndef WITHOUT_KERNELS

struct dim3 { unsigned x, y, z; };

struct kernel {
    const char *name;
    void (*run)(const void *words, int64_t blocks);
    size_t bytes;
};

#define ENTRY(name) {#name, name, sizeof(int64_t) * (size_t) name##_words}

static const kernel kernels[] = {
    ENTRY(penstock_causal_lm), ENTRY(penstock_documents), ENTRY(penstock_document_starts),
    ENTRY(penstock_packed_positions), ENTRY(penstock_cumulative_lengths), ENTRY(penstock_attention_mask),
    ENTRY(penstock_images), ENTRY(penstock_cast), ENTRY(penstock_gather_rows), ENTRY(penstock_pad_rows),
};

static const void *const LIBRARY = kernels;

/* Reads every byte of the image, as its header says how many there are. */
int cudaLibraryLoadData(const void **library, const void *code, void *, void *, unsigned, void *, void *, unsigned) {
    ENTER();
    const uint32_t *words = (const uint32_t *) code;
    uint64_t body;
    memcpy(&body, words + 2, sizeof body);
    uint32_t sum = 0;
    for (uint64_t i = 0; i < 16 + body; i++) {
        sum += ((const uint8_t *) code)[i];
    }
    if (words[0] != 0xBA55ED50u || sum == 0) {
        return INVALID_IMAGE;
    }
    kernel_runtime_loads++;
    *library = LIBRARY;
    return SUCCESS;
}

int cudaLibraryUnload(const void *library) {
    ENTER();
    kernel_runtime_unloads++;
    return library == LIBRARY ? SUCCESS : INVALID_HANDLE;
}

int cudaLibraryGetKernel(const void **found, const void *library, const char *name) {
    ENTER();
    if (library != LIBRARY) {
        return INVALID_HANDLE;
    }
    for (const kernel &each : kernels) {
        if (strcmp(each.name, name) == 0) {
            *found = &each;
            return SUCCESS;
        }
    }
    return SYMBOL_NOT_FOUND;
}

int cudaFuncGetAttributes(void *, const void *found) {
    ENTER();
    return found >= kernels && found < kernels + sizeof kernels / sizeof *kernels ? SUCCESS : INVALID_HANDLE;
}

/* Runs the kernel on a copy of its arguments, which are no longer than it says. */
int cudaLaunchKernel(const void *found, dim3 grid, dim3 block, void **arguments, size_t shared, void *stream) {
    ENTER();
    if (stream == nullptr || shared != 0 || block.x != BLOCK_THREADS || block.y != 1 || block.z != 1 || grid.x < 1
            || grid.y != 1 || grid.z != 1) {
        return INVALID_VALUE;
    }
    const kernel *launched = (const kernel *) found;
    int64_t words[32];
    memset(words, 0xEE, sizeof words);
    memcpy(words, arguments[0], launched->bytes);
    launched->run(words, grid.x);
    return SUCCESS;
}

#endif
}

// SPDX-License-Identifier: Apache-2.0
/*
 * Kernels: the engine's own source, compiled for the CPU into the library that SIM_CUDA_KERNELS names, and run on the
 * threads of streams.
 *
 * A kernel's arguments are 64-bit words. Which of them are addresses is seen from their values: a word in device memory
 * that is allocated is one, and is turned into where the bytes are. How far a kernel goes from there is not known; its
 * first byte counts as read, or as written if outputs.cpp says that it is an output, so that a copy that overwrites it
 * too early, or fills it too late, is a violation, and so is a reader that comes before the kernel has run.
 */
#include "sim.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { INVALID_IMAGE = 200, SYMBOL_NOT_FOUND = 500, NOT_SUPPORTED = 801, MAX_KERNELS = 32, BLOCK_THREADS = 256 };

typedef struct { unsigned x, y, z; } dim3;

/* A kernel that was looked up; its handle is its address. */
typedef struct { char name[64]; sim_kernel run; int64_t words; const int64_t *outputs; } found_kernel;

static found_kernel kernels[MAX_KERNELS];
static int kernel_count;
static void *code;
static int libraries;

int cudaLibraryLoadData(void **library, const uint32_t *image, void *options, void *values, unsigned count,
        void *library_options, void *library_values, unsigned library_count) {
    (void) options, (void) values, (void) count, (void) library_options, (void) library_values, (void) library_count;
    ENTER();
    if (image[0] != 0xBA55ED50u) return leave(INVALID_IMAGE);
    const char *file = getenv("SIM_CUDA_KERNELS");
    if (!code) code = file ? dlopen(file, RTLD_NOW | RTLD_LOCAL) : NULL;
    if (!code) {
        fprintf(stderr, "simulated CUDA: no kernels: %s\n", file ? dlerror() : "SIM_CUDA_KERNELS is not set");
        return leave(NOT_SUPPORTED);
    }
    libraries++;
    *library = &libraries;
    return leave(SUCCESS);
}

int cudaLibraryUnload(void *library) {
    ENTER();
    if (library != &libraries || libraries == 0) {
        sim_violation("cudaLibraryUnload: %p is not loaded", library);
        return leave(INVALID_HANDLE);
    }
    libraries--;
    return leave(SUCCESS);
}

int cudaLibraryGetKernel(void **found, void *library, const char *name) {
    ENTER();
    if (library != &libraries || libraries == 0) return leave(INVALID_HANDLE);
    int at = 0;
    while (at < kernel_count && strcmp(kernels[at].name, name) != 0) at++;
    if (at == kernel_count) {
        char words[80];
        snprintf(words, sizeof words, "%s_words", name);
        int64_t *count = dlsym(code, words);
        sim_kernel run = (sim_kernel) dlsym(code, name);
        snprintf(words, sizeof words, "%s_outputs", name);
        const int64_t *outputs = dlsym(code, words);
        if (!count || !run || !outputs || *count > MAX_WORDS || at == MAX_KERNELS) return leave(SYMBOL_NOT_FOUND);
        snprintf(kernels[at].name, sizeof kernels[at].name, "%s", name);
        kernels[at].run = run;
        kernels[at].words = *count;
        kernels[at].outputs = outputs;
        kernel_count++;
    }
    *found = &kernels[at];
    return leave(SUCCESS);
}

static int writes(const found_kernel *kernel, int64_t word) {
    const int64_t *output = kernel->outputs;
    while (*output >= 0 && *output != word) output++;
    return *output == word;
}

static int is_kernel(const void *handle) {
    return handle >= (void *) kernels && handle < (void *) (kernels + kernel_count);
}

int cudaFuncGetAttributes(void *attributes, const void *kernel) {
    (void) attributes;
    ENTER();
    return leave(is_kernel(kernel) ? SUCCESS : INVALID_HANDLE);
}

int cudaLaunchKernel(const void *handle, dim3 grid, dim3 block, void **arguments, size_t shared, void *stream_handle) {
    ENTER();
    sim_resource *stream = sim_stream(stream_handle);
    if (!stream || !is_kernel(handle)) {
        sim_violation("cudaLaunchKernel: %p or %p is not open", handle, stream_handle);
        return leave(INVALID_HANDLE);
    }
    if (sim_fault[stream->device]) return leave(sim_fault[stream->device]);
    if (shared || block.x != BLOCK_THREADS || block.y != 1 || block.z != 1 || !grid.x || grid.y != 1 || grid.z != 1) {
        return leave(INVALID_VALUE);
    }
    if (sim_current_device != stream->device) {
        sim_violation("cudaLaunchKernel: on a stream of device %d, and current is device %d", stream->device,
                sim_current_device);
    }
    const found_kernel *kernel = handle;
    sim_work *work = sim_enqueue(stream, LAUNCH);
    sim_log("launch %s, stream %d", kernel->name, stream->place);
    work->run = kernel->run;
    work->blocks = grid.x;
    memcpy(work->words, arguments[0], kernel->words * sizeof(int64_t));
    for (int64_t w = 0; w < kernel->words; w++) {
        char *address = (char *) (intptr_t) work->words[w];
        sim_resource *memory = work->words[w] > 0 ? sim_memory(DEVICE_MEMORY, address, 1) : NULL;
        if (!memory) continue;
        if (memory->device != stream->device) {
            sim_violation("cudaLaunchKernel: memory of device %d on a stream of device %d", memory->device,
                    stream->device);
        }
        work->words[w] = (int64_t) (intptr_t) (memory->bytes + (address - memory->address));
        sim_use(memory, address, 1, writes(kernel, w), stream, work->number);
    }
    return leave(SUCCESS);
}

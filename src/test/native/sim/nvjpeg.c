// SPDX-License-Identifier: Apache-2.0
/*
 * nvJPEG's functions, those that Penstock calls, with their signatures and statuses. The pixels are libturbojpeg's,
 * which is loaded when it is first needed: the file that SIM_TURBOJPEG names, or the system's.
 *
 * A file is decoded during the call, and its pixels are written in the stream's order. With sim_engine, batches are
 * decoded by a JPEG engine as data-center GPUs have one: it writes at once, whatever is queued on the stream, so that
 * memory that queued work still uses is a violation; and it does not take progressive files. What is enqueued behind it
 * waits for it in any case.
 */
#include "sim.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    NOT_INITIALIZED = 1, INVALID_PARAMETER = 2, BAD_JPEG = 3, NOT_SUPPORTED = 4, EXECUTION_FAILED = 6,
    ARCH_MISMATCH = 7, BACKEND_HARDWARE = 3, OUTPUT_RGBI = 5, STRICT = 8192, NEAREST_CHROMA = 256, INTERPOLATED = 32
};

typedef struct { unsigned char *channel[4]; size_t pitch[4]; } image;
typedef struct object {
    char kind;
    int device, backend, flags, progressive;
    int batch, place;                                       /* of a state: its stream, and the last work there */
    uint64_t number;
} object;

typedef struct { unsigned char *pixels; int width, height; char *to; size_t pitch; } decoded;

static void *(*open_decoder)(void);
static int (*read_header)(void *, const unsigned char *, unsigned long, int *, int *, int *, int *);
static int (*decompress)(void *, const unsigned char *, unsigned long, unsigned char *, int, int, int, int, int);
static void *decoder;

int sim_engine, sim_jpeg_objects;

static int load(void) {
    const char *named = getenv("SIM_TURBOJPEG");
    void *library = decoder ? NULL : dlopen(named ? named : "libturbojpeg.so.0", RTLD_NOW | RTLD_LOCAL);
    if (library) {
        open_decoder = (void *(*)(void)) dlsym(library, "tjInitDecompress");
        *(void **) &read_header = dlsym(library, "tjDecompressHeader3");
        *(void **) &decompress = dlsym(library, "tjDecompress2");
        decoder = open_decoder();
    }
    if (!decoder) fprintf(stderr, "simulated nvJPEG: no libturbojpeg: %s\n", dlerror());
    return decoder != NULL;
}

static int add(char kind, int backend, int flags, object **made) {
    if (sim_fault[sim_current_device]) return EXECUTION_FAILED;
    object *added = calloc(1, sizeof *added);
    *added = (object) {.kind = kind, .device = sim_current_device, .backend = backend, .flags = flags};
    sim_jpeg_objects++;
    *made = added;
    return SUCCESS;
}

static int drop(const char *call, char kind, object *dropped) {
    if (!dropped || dropped->kind != kind) {
        sim_violation("%s: %p is not open", call, (void *) dropped);
        return INVALID_PARAMETER;
    }
    if (dropped->device != sim_current_device) sim_violation("%s: current is another device", call);
    dropped->kind = 0;                                      /* kept, so that a second use is seen */
    sim_jpeg_objects--;
    return SUCCESS;
}

int nvjpegGetProperty(int type, int *value) {
    *value = type == 0 ? VERSION / 1000 : type == 1 ? VERSION % 1000 / 10 : 1;
    return SUCCESS;
}

int nvjpegCreateEx(int backend, void *device_allocator, void *pinned_allocator, unsigned flags, object **handle) {
    (void) device_allocator, (void) pinned_allocator;
    ENTER();
    if (!load()) return leave(NOT_INITIALIZED);
    if (backend == BACKEND_HARDWARE && !sim_engine) return leave(ARCH_MISMATCH);
    return leave(add('H', backend, flags, handle));
}

#define CREATE(name, kind) \
    int name(object *handle, object **made) { ENTER(); return leave(add(kind, handle->backend, 0, made)); }
#define DESTROY(name, kind) int name(object *made) { ENTER(); return leave(drop(__func__, kind, made)); }
#define SET_PADDING(name) \
    int name(size_t bytes, object *handle) { ENTER(); return leave(bytes && handle ? SUCCESS : INVALID_PARAMETER); }

DESTROY(nvjpegDestroy, 'H')
CREATE(nvjpegJpegStateCreate, 'S')
DESTROY(nvjpegJpegStateDestroy, 'S')
CREATE(nvjpegJpegStreamCreate, 'J')
DESTROY(nvjpegJpegStreamDestroy, 'J')
SET_PADDING(nvjpegSetDeviceMemoryPadding)
SET_PADDING(nvjpegSetPinnedMemoryPadding)

/* The marker of the frame, or 0. */
static int frame_marker(const unsigned char *data, size_t length) {
    for (size_t at = 2; at + 4 <= length && data[at] == 0xFF; at += 2 + (data[at + 2] << 8 | data[at + 3])) {
        int marker = data[at + 1];
        if (marker >= 0xC0 && marker <= 0xCF && marker != 0xC4 && marker != 0xC8 && marker != 0xCC) return marker;
    }
    return 0;
}

int nvjpegJpegStreamParseHeader(object *handle, const unsigned char *data, size_t length, object *stream) {
    (void) handle;
    ENTER();
    int marker = frame_marker(data, length);
    stream->progressive = marker == 0xC2;
    return leave(marker ? SUCCESS : BAD_JPEG);
}

int nvjpegDecodeBatchedSupported(object *handle, object *stream, int *supported) {
    ENTER();
    *supported = handle->backend == BACKEND_HARDWARE && stream->progressive;
    return leave(SUCCESS);
}

/* Decodes a file to memory of its own. */
static int decode(const object *handle, const unsigned char *data, size_t length, const image *to, decoded *into) {
    int subsampling, colors;
    if (read_header(decoder, data, length, &into->width, &into->height, &subsampling, &colors)) return BAD_JPEG;
    if (colors > 2) return NOT_SUPPORTED;
    into->pixels = malloc((size_t) into->width * into->height * 3);
    into->pitch = to->pitch[0];
    into->to = NULL;
    int flags = STRICT | (handle->flags & INTERPOLATED ? 0 : NEAREST_CHROMA);
    if (decompress(decoder, data, length, into->pixels, into->width, 0, into->height, 0, flags)) {
        free(into->pixels);
        return BAD_JPEG;
    }
    return SUCCESS;
}

static void put(const decoded *from) {
    for (int y = 0; y < from->height; y++) {
        memcpy(from->to + y * from->pitch, from->pixels + (size_t) y * from->width * 3, (size_t) from->width * 3);
    }
}

/* The work of a stream that writes an image. */
static void write_image(const void *words, int64_t blocks) {
    decoded *image = *(decoded *const *) words;
    if (blocks) put(image);
    free(image->pixels);
    free(image);
}

/* Enqueues the writing of an image, and declares what it reads and writes. */
static void enqueue(decoded *image, const unsigned char *data, size_t length, const struct sim_resource *memory,
        char *address, sim_resource *stream, int at_once) {
    sim_work *work = sim_enqueue(stream, LAUNCH);
    work->run = write_image;
    memcpy(work->words, &image, sizeof image);
    work->blocks = !at_once;
    sim_clock ordered = stream->clock;
    if (at_once) stream->clock = sim_host;                  /* behind nothing but what the host has seen end */
    sim_use((sim_resource *) memory, address, (image->height - 1) * image->pitch + 3 * (size_t) image->width, 1, stream,
            work->number);
    stream->clock = ordered;
    sim_resource *file = sim_memory(PINNED_MEMORY, (const char *) data, length);
    if (file) sim_use(file, (const char *) data, length, 0, stream, work->number);
    if (at_once) put(image);
}

/* Decodes a file, in the stream's order or at once. */
static int decode_to(const char *call, const object *handle, const unsigned char *data, size_t length,
        const image *target, void *stream_handle, int at_once) {
    sim_resource *stream = sim_stream(stream_handle);
    if (!stream || handle->kind != 'H') {
        sim_violation("%s: %p or %p is not open", call, (const void *) handle, stream_handle);
        return INVALID_PARAMETER;
    }
    if (sim_fault[stream->device]) return EXECUTION_FAILED;
    if (sim_current_device != stream->device || handle->device != stream->device) {
        sim_violation("%s: the stream, the handle and the current device are not of one device", call);
    }
    decoded *image = calloc(1, sizeof *image);
    int status = decode(handle, data, length, target, image);
    if (status) {
        free(image);
        return status;
    }
    char *address = (char *) target->channel[0];
    size_t bytes = (image->height - 1) * image->pitch + 3 * (size_t) image->width;
    sim_resource *memory = sim_memory(DEVICE_MEMORY, address, bytes);
    if (!memory || memory->device != stream->device) {
        sim_violation("%s: %zu bytes at %p are not in memory of the stream's device", call, bytes, (void *) address);
        free(image->pixels);
        free(image);
        return INVALID_PARAMETER;
    }
    image->to = memory->bytes + (address - memory->address);
    enqueue(image, data, length, memory, address, stream, at_once);
    return SUCCESS;
}

int nvjpegDecode(object *handle, object *state, const unsigned char *data, size_t length, int format, image *target,
        void *stream) {
    ENTER();
    if (state->kind != 'S' || format != OUTPUT_RGBI) return leave(INVALID_PARAMETER);
    sim_log("decode %zu bytes", length);
    return leave(decode_to(__func__, handle, data, length, target, stream, 0));
}

/* A state of batches must be idle when it is used again. */
static void check_is_idle(const char *call, const object *state) {
    if (state->number > sim_host.upto[state->place]) {
        sim_violation("%s: the host has not seen the end of the batch before of this state", call);
    }
}

int nvjpegDecodeBatchedInitialize(object *handle, object *state, int batch, int threads, int format) {
    (void) threads;
    ENTER();
    if (handle->kind != 'H' || state->kind != 'S') return leave(INVALID_PARAMETER);
    if (batch < 1 || format != OUTPUT_RGBI) return leave(INVALID_PARAMETER);
    check_is_idle(__func__, state);
    state->batch = batch;
    return leave(SUCCESS);
}

/* A batch ends with the first file that is bad; those before it are written. It must then be initialized again. */
int nvjpegDecodeBatched(object *handle, object *state, const unsigned char *const *data, const size_t *lengths,
        image *targets, void *stream) {
    ENTER();
    if (state->kind != 'S' || !state->batch) return leave(INVALID_PARAMETER);
    sim_log("decode a batch of %d", state->batch);
    check_is_idle(__func__, state);
    int status = SUCCESS;
    for (int i = 0; i < state->batch && !status; i++) {
        status = handle->backend == BACKEND_HARDWARE && frame_marker(data[i], lengths[i]) == 0xC2 ? NOT_SUPPORTED
                : decode_to(__func__, handle, data[i], lengths[i], &targets[i], stream,
                        handle->backend == BACKEND_HARDWARE);
    }
    sim_resource *used = sim_stream(stream);
    if (used) {
        state->place = used->place;
        state->number = sim_enqueued[used->place];
    }
    if (status) state->batch = 0;
    return leave(status);
}

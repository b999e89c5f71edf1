// SPDX-License-Identifier: Apache-2.0
#include "stores.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { STORE_TOKENS = 200000000, NPY_HEADER = 128, PATH_BYTES = 4096 };
enum { INDEX_HEADER = 34, INDEX_VERSION = 9, INDEX_DTYPE = 17, INDEX_SEQUENCES = 18, INDEX_DOCUMENTS = 26, CODE_U16 = 8 };

static const char INDEX_MAGIC[9] = "MMIDIDX\0";

void fail(const char *what, const char *name) {
    fprintf(stderr, "limits: %s: %s: %s\n", name, what, errno ? strerror(errno) : "bad value");
    exit(3);
}

uint64_t mix(uint64_t i) {
    uint64_t z = (i + 1) * 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

// A file that has its name only when it is whole.
struct output {
    FILE *file;
    char path[PATH_BYTES], temporary[PATH_BYTES + 16];
};

static struct output create(const char *path, const char *suffix) {
    struct output out;
    snprintf(out.path, sizeof out.path, "%s%s", path, suffix);
    snprintf(out.temporary, sizeof out.temporary, "%s.%d", out.path, (int)getpid());
    out.file = fopen(out.temporary, "wb");
    if (!out.file) fail("cannot create", out.temporary);
    return out;
}

static void put(struct output *out, const void *bytes, size_t size) {
    if (fwrite(bytes, 1, size, out->file) != size) fail("cannot write", out->temporary);
}

static void commit(struct output *out) {
    if (fclose(out->file) != 0) fail("cannot write", out->temporary);
    if (rename(out->temporary, out->path) != 0) fail("cannot rename", out->temporary);
}

static void put_stream(struct output *out, size_t bytes) {
    static uint64_t words[1 << 17];
    uint64_t next = 0;
    while (bytes > 0) {
        const size_t n = bytes < sizeof words ? bytes : sizeof words;
        for (size_t i = 0; i < (n + 7) / 8; i++) words[i] = mix(next++);
        put(out, words, n);
        bytes -= n;
    }
}

void write_tokens(const char *path) {
    struct output out = create(path, "");
    put_stream(&out, STORE_TOKENS * sizeof(uint16_t));
    commit(&out);
}

void write_images(const char *path, size_t count, size_t side) {
    char header[NPY_HEADER];
    memset(header, ' ', sizeof header);
    memcpy(header, "\x93NUMPY\x01\x00", 8);
    header[8] = NPY_HEADER - 10;
    header[9] = 0;
    const int n = snprintf(header + 10, sizeof header - 10,
                           "{'descr': '|u1', 'fortran_order': False, 'shape': (%zu, 3, %zu, %zu), }", count, side, side);
    header[10 + n] = ' ';
    header[NPY_HEADER - 1] = '\n';
    struct output out = create(path, "");
    put(&out, header, sizeof header);
    put_stream(&out, count * 3 * side * side);
    commit(&out);
}

static double unit(uint64_t word) {
    return ((double)(word >> 11) + 0.5) * 0x1p-53;
}

// Box and Muller's transform of two words of a stream that no token is from.
static int32_t document_length(size_t document) {
    const uint64_t first = (1ull << 40) + 2 * document;
    const double normal = sqrt(-2 * log(unit(mix(first)))) * cos(2 * M_PI * unit(mix(first + 1)));
    const double length = round(exp(log(300) - 0.5 + normal));
    return length < 16 ? 16 : length > 2048 ? 2048 : (int32_t)length;
}

void write_documents(const char *prefix, size_t count) {
    struct output index = create(prefix, ".idx");
    uint8_t header[INDEX_HEADER] = {0};
    const uint64_t version = 1, sequences = count, documents = count + 1;
    memcpy(header, INDEX_MAGIC, sizeof INDEX_MAGIC);
    memcpy(header + INDEX_VERSION, &version, 8);
    header[INDEX_DTYPE] = CODE_U16;
    memcpy(header + INDEX_SEQUENCES, &sequences, 8);
    memcpy(header + INDEX_DOCUMENTS, &documents, 8);
    put(&index, header, sizeof header);
    for (size_t d = 0; d < count; d++) {
        const int32_t length = document_length(d);
        put(&index, &length, sizeof length);
    }
    int64_t bytes = 0;
    for (size_t d = 0; d < count; d++) {
        put(&index, &bytes, sizeof bytes);
        bytes += document_length(d) * (int64_t)sizeof(uint16_t);
    }
    for (int64_t d = 0; d <= (int64_t)count; d++) put(&index, &d, sizeof d);
    struct output tokens = create(prefix, ".bin");
    put_stream(&tokens, (size_t)bytes);
    commit(&tokens);
    commit(&index);
}

struct mapping map_file(const char *path) {
    const int file = open(path, O_RDONLY);
    struct stat stat;
    if (file < 0 || fstat(file, &stat) != 0) fail("cannot open", path);
    void *bytes = mmap(NULL, (size_t)stat.st_size, PROT_READ, MAP_SHARED | MAP_POPULATE, file, 0);
    if (bytes == MAP_FAILED) fail("cannot map", path);
    close(file);
    return (struct mapping){bytes, (size_t)stat.st_size};
}

struct rows open_images(const char *path) {
    const struct mapping file = map_file(path);
    if (file.size < 10 || memcmp(file.bytes, "\x93NUMPY\x01", 7) != 0) fail("not a .npy of version 1.0", path);
    const size_t header_bytes = 10 + (file.bytes[8] | (size_t)file.bytes[9] << 8);
    char *header = strndup((const char *)file.bytes + 10, header_bytes - 10);
    const char *shape = strstr(header, "'shape': (");
    size_t height = 0, width = 0;
    struct rows rows = {.bytes = file.bytes + header_bytes};
    if (!strstr(header, "'|u1'") || !shape
            || sscanf(shape, "'shape': (%zu, %zu, %zu, %zu)", &rows.count, &rows.channels, &height, &width) != 4) {
        fail("no u8[N, C, H, W]", path);
    }
    free(header);
    rows.plane_bytes = height * width;
    if (rows.count * rows.channels * rows.plane_bytes > file.size - header_bytes) fail("is cut", path);
    return rows;
}

struct documents open_documents(const char *prefix) {
    char path[PATH_BYTES];
    snprintf(path, sizeof path, "%s.idx", prefix);
    const struct mapping index = map_file(path);
    struct documents documents = {0};
    if (index.size >= INDEX_HEADER) memcpy(&documents.count, index.bytes + INDEX_SEQUENCES, 8);
    if (index.size < INDEX_HEADER + documents.count * 12 || memcmp(index.bytes, INDEX_MAGIC, sizeof INDEX_MAGIC) != 0
            || index.bytes[INDEX_DTYPE] != CODE_U16) {
        fail("not a Megatron index of u16", path);
    }
    documents.starts = malloc((documents.count + 1) * sizeof *documents.starts);
    if (!documents.starts) fail("cannot allocate", "starts");
    documents.starts[0] = 0;
    for (size_t d = 0; d < documents.count; d++) {
        int32_t length;
        memcpy(&length, index.bytes + INDEX_HEADER + 4 * d, sizeof length);
        documents.starts[d + 1] = documents.starts[d] + (size_t)length;
        if ((size_t)length > documents.longest) documents.longest = (size_t)length;
    }
    snprintf(path, sizeof path, "%s.bin", prefix);
    const struct mapping tokens = map_file(path);
    if (tokens.size < documents.starts[documents.count] * sizeof(uint16_t)) fail("is cut", path);
    documents.tokens = (const uint16_t *)tokens.bytes;
    return documents;
}

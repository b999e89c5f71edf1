// SPDX-License-Identifier: Apache-2.0
// The limit of one core for pictures: JPEG files to f32[3, 224, 224], decoded by libturbojpeg, resized with
// antialiasing and normalized, with nothing around it. Prints a JSON line a round.
//
//     pictures --store FOLDER --mode rrc|eval [--library PATH] [--part] [--ring 2] [--rounds 5] [--seconds 1]
//
// rrc: torchvision's RandomResizedCrop(224) and a flip; eval: the shorter side to 256, the middle 224 x 224. With
// --part libjpeg-turbo 3 decodes only what is needed, without the margin that makes it equal to whole decoding. Weights
// have 14 bits, so that some bytes are 1 beside Pillow's; normalization is a multiplication and an addition. A ring is
// of as many batches of 64 pictures.
#include <dirent.h>
#include <dlfcn.h>
#include <getopt.h>
#include <math.h>
#include <smmintrin.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SIDE = 224, SHORTER = 256, BITS = 14, MOST_TAPS = 64, RGBX = 2, BATCH = 64, MOST_FILES = 4096 };

struct region { int x, y, w, h; };

static void *(*open_decompressor)(void);
static int (*read_header)(void *, const uint8_t *, unsigned long, int *, int *, int *, int *);
static int (*decompress)(void *, const uint8_t *, unsigned long, uint8_t *, int, int, int, int, int);
static int (*set_region)(void *, struct region);
static int (*decompress_part)(void *, const uint8_t *, size_t, uint8_t *, int, int);

static const float MEAN[3] = {0.485f, 0.456f, 0.406f}, DEVIATION[3] = {0.229f, 0.224f, 0.225f};
static const int MCU_COLUMNS[] = {8, 16, 16, 8, 8, 32, 8};

struct file { uint8_t *bytes; size_t size; };
struct axis { int first[SIDE], count[SIDE]; int16_t weights[SIDE][MOST_TAPS]; };

static uint64_t state = 42;

static double uniform(void) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return (double)(state >> 11) * 0x1p-53;
}

static void fail(const char *what) {
    fprintf(stderr, "pictures: %s\n", what);
    exit(2);
}

static void weigh(struct axis *a, int source, int size, int start) {
    const double scale = (double)source / size, reach = scale > 1 ? scale : 1;
    for (int i = 0; i < SIDE; i++) {
        const double center = (start + i + 0.5) * scale;
        int from = (int)(center - reach + 0.5), to = (int)(center + reach + 0.5);
        if (from < 0) from = 0;
        if (to > source) to = source;
        if (to - from > MOST_TAPS - 1) fail("an image that is reduced too much");
        double exact[MOST_TAPS], sum = 0;
        for (int k = from; k < to; k++) {
            const double w = 1 - fabs((k - center + 0.5) / reach);
            sum += exact[k - from] = w > 0 ? w : 0;
        }
        a->first[i] = from;
        a->count[i] = to - from;
        for (int k = 0; k < to - from; k++) a->weights[i][k] = (int16_t)lrint(exact[k] / sum * (1 << BITS));
        a->weights[i][to - from] = 0;  // taps go in pairs
    }
}

// One source row to SIDE pixels.
static void narrow(const struct axis *a, const uint8_t *row, int flip, uint8_t *out) {
    const __m128i pairs = _mm_setr_epi8(0, -1, 4, -1, 1, -1, 5, -1, 2, -1, 6, -1, 3, -1, 7, -1);
    const __m128i bytes = _mm_setr_epi8(0, 4, 8, 12, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1);
    for (int i = 0; i < SIDE; i++) {
        const uint8_t *at = row + 4 * a->first[i];
        const int16_t *w = a->weights[i];
        __m128i sum = _mm_set1_epi32(1 << (BITS - 1));
        for (int k = 0; k < a->count[i]; k += 2) {
            const __m128i two = _mm_shuffle_epi8(_mm_loadl_epi64((const __m128i *)(at + 4 * k)), pairs);
            int both;
            memcpy(&both, w + k, 4);
            sum = _mm_add_epi32(sum, _mm_madd_epi16(two, _mm_set1_epi32(both)));
        }
        const int pixel = _mm_cvtsi128_si32(_mm_shuffle_epi8(_mm_srai_epi32(sum, BITS), bytes));
        memcpy(out + 4 * (flip ? SIDE - 1 - i : i), &pixel, 4);
    }
}

// Rows of SIDE pixels to one row of three planes, normalized.
static void lower(const struct axis *a, int i, const uint8_t *rows, float *out) {
    const __m128i zero = _mm_setzero_si128();
    __m128 scale[3], shift[3];
    for (int c = 0; c < 3; c++) {
        scale[c] = _mm_set1_ps(1 / (255 * DEVIATION[c]));
        shift[c] = _mm_set1_ps(-MEAN[c] / DEVIATION[c]);
    }
    for (int x = 0; x < SIDE; x += 4) {
        __m128i sum[4];
        for (int p = 0; p < 4; p++) sum[p] = _mm_set1_epi32(1 << (BITS - 1));
        for (int k = 0; k < a->count[i]; k += 2) {
            const uint8_t *at = rows + 4 * ((size_t)k * SIDE + x);
            const __m128i upper = _mm_loadu_si128((const __m128i *)at);
            const __m128i under = _mm_loadu_si128((const __m128i *)(at + (k + 1 < a->count[i] ? 4 * SIDE : 0)));
            int both;
            memcpy(&both, a->weights[i] + k, 4);
            const __m128i w = _mm_set1_epi32(both), low = _mm_unpacklo_epi8(upper, under),
                          high = _mm_unpackhi_epi8(upper, under);
            sum[0] = _mm_add_epi32(sum[0], _mm_madd_epi16(_mm_unpacklo_epi8(low, zero), w));
            sum[1] = _mm_add_epi32(sum[1], _mm_madd_epi16(_mm_unpackhi_epi8(low, zero), w));
            sum[2] = _mm_add_epi32(sum[2], _mm_madd_epi16(_mm_unpacklo_epi8(high, zero), w));
            sum[3] = _mm_add_epi32(sum[3], _mm_madd_epi16(_mm_unpackhi_epi8(high, zero), w));
        }
        __m128 p[4];
        for (int k = 0; k < 4; k++) p[k] = _mm_cvtepi32_ps(_mm_srai_epi32(sum[k], BITS));
        _MM_TRANSPOSE4_PS(p[0], p[1], p[2], p[3]);
        for (int c = 0; c < 3; c++)
            _mm_storeu_ps(out + (size_t)c * SIDE * SIDE + x, _mm_add_ps(_mm_mul_ps(p[c], scale[c]), shift[c]));
    }
}

static void random_crop(int width, int height, struct region *r) {
    for (int i = 0; i < 10; i++) {
        const double area = (double)height * width * (0.08 + 0.92 * uniform());
        const double ratio = exp(log(0.75) + (log(4.0 / 3) - log(0.75)) * uniform());
        const int w = (int)rint(sqrt(area * ratio)), h = (int)rint(sqrt(area / ratio));
        if (w > 0 && w <= width && h > 0 && h <= height) {
            *r = (struct region){(int)(uniform() * (width - w + 1)), (int)(uniform() * (height - h + 1)), w, h};
            return;
        }
    }
    *r = (struct region){0, 0, width, height};
}

static void picture(void *handle, struct file f, int random, int part, float *out) {
    static uint8_t *pixels, *narrowed;
    static size_t held, narrow_held;
    static struct axis across, down;
    int width, height, sampling, space;
    if (read_header(handle, f.bytes, f.size, &width, &height, &sampling, &space)) fail("a header that is not read");
    struct region r = {0, 0, width, height};
    int flip = 0;
    if (random) {
        random_crop(width, height, &r);
        flip = uniform() < 0.5;
        weigh(&across, r.w, SIDE, 0);
        weigh(&down, r.h, SIDE, 0);
    } else {
        const int w = width < height ? SHORTER : (int)((int64_t)SHORTER * width / height);
        const int h = width < height ? (int)((int64_t)SHORTER * height / width) : SHORTER;
        weigh(&across, width, w, (int)rint((w - SIDE) / 2.0));
        weigh(&down, height, h, (int)rint((h - SIDE) / 2.0));
    }
    // What is needed of the region.
    const int left = r.x + across.first[0], right = r.x + across.first[SIDE - 1] + across.count[SIDE - 1];
    const int top = r.y + down.first[0], bottom = r.y + down.first[SIDE - 1] + down.count[SIDE - 1];
    struct region got = {0, 0, width, height};
    if (part) got = (struct region){left / MCU_COLUMNS[sampling] * MCU_COLUMNS[sampling], top, 0, bottom - top};
    if (part) got.w = right - got.x;
    const size_t need = (size_t)got.w * got.h * 4 + 16, need_narrow = (size_t)(bottom - top) * SIDE * 4;
    if (held < need) pixels = realloc(pixels, held = 2 * need);
    if (narrow_held < need_narrow) narrowed = realloc(narrowed, narrow_held = 2 * need_narrow);
    if (part ? set_region(handle, got) || decompress_part(handle, f.bytes, f.size, pixels, got.w * 4, RGBX)
             : decompress(handle, f.bytes, f.size, pixels, width, width * 4, height, RGBX, 0))
        fail("an image that is not decoded");
    for (int y = 0; y < bottom - top; y++)
        narrow(&across, pixels + 4 * ((size_t)(top - got.y + y) * got.w + r.x - got.x), flip,
               narrowed + (size_t)y * SIDE * 4);
    for (int y = 0; y < SIDE; y++)
        lower(&down, y, narrowed + 4 * (size_t)(r.y + down.first[y] - top) * SIDE, out + (size_t)y * SIDE);
}

static double seconds_of(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void *function(void *library, const char *name) {
    void *f = dlsym(library, name);
    if (!f) fail(name);
    return f;
}

static size_t read_files(const char *folder, struct file *files) {
    struct dirent **names;
    const int found = scandir(folder, &names, NULL, alphasort);
    size_t count = 0;
    for (int i = 0; i < found && count < MOST_FILES; i++) {
        char path[4096];
        if (!strstr(names[i]->d_name, ".jpg")) continue;
        snprintf(path, sizeof path, "%s/%s", folder, names[i]->d_name);
        FILE *in = fopen(path, "rb");
        if (!in) fail(path);
        fseek(in, 0, SEEK_END);
        files[count].size = (size_t)ftell(in);
        files[count].bytes = malloc(files[count].size);
        rewind(in);
        if (fread(files[count].bytes, 1, files[count].size, in) != files[count].size) fail(path);
        fclose(in);
        count++;
    }
    if (!count) fail("no *.jpg");
    return count;
}

int main(int argc, char **argv) {
    static const struct option options[] = {
        {"library", required_argument, 0, 'l'}, {"store", required_argument, 0, 's'},
        {"mode", required_argument, 0, 'm'},    {"part", no_argument, 0, 'p'},
        {"ring", required_argument, 0, 'n'},    {"rounds", required_argument, 0, 'r'},
        {"seconds", required_argument, 0, 'd'}, {0}};
    const char *name = "libturbojpeg.so.0", *folder = NULL, *mode = NULL;
    int part = 0, rounds = 5;
    size_t ring = 2;
    double seconds = 1;
    for (int o; (o = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        switch (o) {
            case 'l': name = optarg; break;
            case 's': folder = optarg; break;
            case 'm': mode = optarg; break;
            case 'p': part = 1; break;
            case 'n': ring = (size_t)atol(optarg); break;
            case 'r': rounds = atoi(optarg); break;
            case 'd': seconds = atof(optarg); break;
            default: return 2;
        }
    }
    if (!folder || !mode || ring < 1) fail("expected --store and --mode");
    void *library = dlopen(name, RTLD_NOW);
    if (!library) {
        fprintf(stderr, "pictures: %s; Debian's package is libturbojpeg0, and --library names another file\n", dlerror());
        return 2;
    }
    *(void **)&open_decompressor = function(library, "tjInitDecompress");
    *(void **)&read_header = function(library, "tjDecompressHeader3");
    *(void **)&decompress = function(library, "tjDecompress2");
    if (part) {
        *(void **)&set_region = function(library, "tj3SetCroppingRegion");
        *(void **)&decompress_part = function(library, "tj3Decompress8");
    }
    static struct file files[MOST_FILES];
    const size_t count = read_files(folder, files), picture_values = 3 * SIDE * SIDE;
    void *handle = open_decompressor();
    float *out = malloc(sizeof(float) * picture_values * BATCH * ring);
    memset(out, 1, sizeof(float) * picture_values * BATCH * ring);  // the first write of a page is not measured
    uint64_t done = 0;
    for (int round = 0; round <= rounds; round++) {  // round 0 warms up
        const uint64_t before = done;
        const double cpu = seconds_of(CLOCK_PROCESS_CPUTIME_ID), start = seconds_of(CLOCK_MONOTONIC);
        double took;
        do {
            picture(handle, files[done % count], !strcmp(mode, "rrc"), part,
                    out + done % (BATCH * ring) * picture_values);
            done++;
            took = seconds_of(CLOCK_MONOTONIC) - start;
        } while (took < (round ? seconds : 0.2));
        if (round)
            printf("{\"side\": \"c\", \"config\": \"C %s\", \"mode\": \"%s\", \"workers\": 1, \"read\": false, "
                   "\"round\": %d, \"samples\": %llu, \"seconds\": %.6f, \"samples_per_second\": %.1f, "
                   "\"cpu_seconds\": %.6f}\n",
                   part ? "part" : "whole", mode, round, (unsigned long long)(done - before), took,
                   (double)(done - before) / took, seconds_of(CLOCK_PROCESS_CPUTIME_ID) - cpu);
    }
    return 0;
}

// SPDX-License-Identifier: Apache-2.0
// Runs the loops of gather.c alone, and prints a JSON line a round. `limits tokens|images|documents` writes the
// benchmarks' stores.
#include "gather.h"
#include "stores.h"

#include <getopt.h>
#include <glob.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>

enum { MAX_SHARDS = 1024, TAR_ROW_BYTES = 20000, PAD_VALUE = 0 };

static const float MEAN[3] = {0.485f, 0.456f, 0.406f}, DEVIATION[3] = {0.229f, 0.224f, 0.225f};

struct run {
    const struct mode *mode;
    const char *path;
    const uint16_t *tokens;
    struct rows images;
    struct documents documents;
    struct mapping shards[MAX_SHARDS];
    // Sample i is at `i * stride`: a token's index, or the sample's own. Shards are walked, and have no order.
    size_t samples, stride, shard_count;
    size_t window_tokens, batch_samples, ring_buffers, buffer_bytes;
    double seconds;
    bool read;
};

struct lane {  // one thread's part
    struct run *run;
    uint64_t *order;
    size_t batch, shard, at;  // where it is in the order, or in the shards
    void *ring;
    uint64_t samples, nanos, sum;
    pthread_t thread;
};

struct mode {
    const char *name;
    size_t element_bytes, batch_samples;
    void (*open)(struct run *);
    // Fills `buffers` buffers, one after the other, with as many batches; `order` holds their samples.
    void (*gather)(struct lane *, const uint64_t *order, void *ring, size_t buffers);
};

static void open_tokens(struct run *r) {
    const struct mapping file = map_file(r->path);
    const size_t tokens = file.size / sizeof(uint16_t), width = r->mode->element_bytes;
    r->tokens = (const uint16_t *)file.bytes;
    r->stride = r->window_tokens - 1;  // windows share no input token but the label of the last
    r->samples = (tokens - 1) / r->stride;
    r->buffer_bytes = r->batch_samples * width * (width == 2 ? r->window_tokens : 2 * r->stride);
}

static void open_rows(struct run *r) {
    r->images = open_images(r->path);
    if (r->images.channels > 3) fail("more than 3 channels", r->path);
    r->stride = 1;
    r->samples = r->images.count;
    r->buffer_bytes = r->batch_samples * r->images.channels * r->images.plane_bytes * r->mode->element_bytes;
}

static void open_padded(struct run *r) {
    r->documents = open_documents(r->path);
    r->stride = 1;
    r->samples = r->documents.count;
    const size_t most = padded_batch(r->batch_samples, r->documents.longest, r->mode->element_bytes).bytes;
    r->buffer_bytes = (most + 255) & ~(size_t)255;
}

static void open_shards(struct run *r) {
    char pattern[4096];
    glob_t found;
    snprintf(pattern, sizeof pattern, "%s/*.tar", r->path);
    if (glob(pattern, 0, NULL, &found) != 0) fail("no *.tar", r->path);
    for (size_t i = 0; i < found.gl_pathc && i < MAX_SHARDS; i++) r->shards[r->shard_count++] = map_file(found.gl_pathv[i]);
    globfree(&found);
    r->buffer_bytes = r->batch_samples * (TAR_ROW_BYTES + sizeof(int64_t));
}

static void windows_narrow(struct lane *l, const uint64_t *order, void *ring, size_t buffers) {
    const struct run *r = l->run;
    gather_narrow(r->tokens, order, buffers, r->batch_samples, r->window_tokens, ring, buffers);
}

static void windows_i32(struct lane *l, const uint64_t *order, void *ring, size_t buffers) {
    const struct run *r = l->run;
    gather_i32(r->tokens, order, buffers, r->batch_samples, r->window_tokens, ring, buffers);
}

static void windows_i64(struct lane *l, const uint64_t *order, void *ring, size_t buffers) {
    const struct run *r = l->run;
    gather_i64(r->tokens, order, buffers, r->batch_samples, r->window_tokens, ring, buffers);
}

static void images_u8(struct lane *l, const uint64_t *order, void *ring, size_t buffers) {
    const struct run *r = l->run;
    gather_rows(r->images.bytes, order, buffers, r->batch_samples, r->images.channels * r->images.plane_bytes, ring,
                buffers);
}

static void images_f32(struct lane *l, const uint64_t *order, void *ring, size_t buffers) {
    const struct run *r = l->run;
    float scale[3], shift[3];
    for (int c = 0; c < 3; c++) {
        scale[c] = 1 / (255 * DEVIATION[c]);
        shift[c] = -MEAN[c] / DEVIATION[c];
    }
    gather_scaled(r->images.bytes, order, buffers, r->batch_samples, r->images.channels, r->images.plane_bytes, scale,
                  shift, ring, buffers);
}

static void images_f32_exact(struct lane *l, const uint64_t *order, void *ring, size_t buffers) {
    const struct run *r = l->run;
    gather_normalized(r->images.bytes, order, buffers, r->batch_samples, r->images.channels, r->images.plane_bytes,
                      MEAN, DEVIATION, ring, buffers);
}

static void padded_narrow(struct lane *l, const uint64_t *order, void *ring, size_t buffers) {
    const struct run *r = l->run;
    gather_padded_narrow(r->documents.tokens, r->documents.starts, order, buffers, r->batch_samples, PAD_VALUE, ring,
                         buffers, r->buffer_bytes);
}

static void padded_i32(struct lane *l, const uint64_t *order, void *ring, size_t buffers) {
    const struct run *r = l->run;
    gather_padded_i32(r->documents.tokens, r->documents.starts, order, buffers, r->batch_samples, PAD_VALUE, ring,
                      buffers, r->buffer_bytes);
}

static void padded_i64(struct lane *l, const uint64_t *order, void *ring, size_t buffers) {
    const struct run *r = l->run;
    gather_padded_i64(r->documents.tokens, r->documents.starts, order, buffers, r->batch_samples, PAD_VALUE, ring,
                      buffers, r->buffer_bytes);
}

// Whole batches, over the shards' ends: the rows, then the labels.
static void shards(struct lane *l, const uint64_t *order, void *ring, size_t buffers) {
    const struct run *r = l->run;
    (void)order;
    for (size_t b = 0; b < buffers; b++) {
        uint8_t *rows = (uint8_t *)ring + b * r->buffer_bytes;
        int64_t *labels = (int64_t *)(rows + r->batch_samples * TAR_ROW_BYTES);
        for (size_t have = 0, done; have < r->batch_samples; have += done) {
            const struct mapping shard = r->shards[l->shard];
            l->at = walk_tar(shard.bytes, shard.size, l->at, r->batch_samples - have, TAR_ROW_BYTES,
                             rows + have * TAR_ROW_BYTES, labels + have, &done);
            if (done < r->batch_samples - have) {
                l->shard = (l->shard + 1) % r->shard_count;
                l->at = 0;
            }
        }
    }
}

static const struct mode MODES[] = {
    {"narrow", 2, 32, open_tokens, windows_narrow},
    {"i32", 4, 32, open_tokens, windows_i32},
    {"i64", 8, 32, open_tokens, windows_i64},
    {"u8", 1, 64, open_rows, images_u8},
    {"f32", 4, 64, open_rows, images_f32},
    {"f32-exact", 4, 64, open_rows, images_f32_exact},
    {"pad-narrow", 2, 32, open_padded, padded_narrow},
    {"pad-i32", 4, 32, open_padded, padded_i32},
    {"pad-i64", 8, 32, open_padded, padded_i64},
    {"tar", 1, 64, open_shards, shards},
    {"copy", 2, 1, open_tokens, NULL},
};

static void *allocate(size_t bytes) {
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (p == MAP_FAILED) fail("cannot allocate", "output");
    return p;
}

// An epoch in random order.
static uint64_t *shuffled(const struct run *run, uint64_t seed) {
    uint64_t *order = malloc((run->samples + 1) * sizeof *order);
    if (!order) fail("cannot allocate", "order");
    for (size_t i = 0; i < run->samples; i++) order[i] = i * run->stride;
    for (size_t i = run->samples; i-- > 1;) {
        const size_t j = mix(seed + i) % (i + 1);
        const uint64_t t = order[i];
        order[i] = order[j];
        order[j] = t;
    }
    return order;
}

static uint64_t clock_nanos(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

// The bytes of a batch that a consumer reads.
static size_t batch_bytes(const struct run *r, const uint64_t *order) {
    if (r->mode->open != open_padded) return r->buffer_bytes;
    size_t longest = 0;
    for (size_t d = 0; d < r->batch_samples; d++) {
        const size_t length = r->documents.starts[order[d] + 1] - r->documents.starts[order[d]];
        if (length > longest) longest = length;
    }
    return padded_batch(r->batch_samples, longest, r->mode->element_bytes).bytes;
}

// Whole turns of the ring, until the time is over.
static void *run_lane(void *argument) {
    struct lane *lane = argument;
    const struct run *r = lane->run;
    const uint64_t limit = (uint64_t)(r->seconds * 1e9), begin = clock_nanos();
    const size_t batches = r->samples / r->batch_samples;
    lane->samples = 0;
    do {
        if (lane->batch + r->ring_buffers > batches) lane->batch = 0;
        const uint64_t *order = lane->order + lane->batch * r->batch_samples;
        if (r->read) {
            for (size_t b = 0; b < r->ring_buffers; b++) {
                void *buffer = (char *)lane->ring + b * r->buffer_bytes;
                r->mode->gather(lane, order + b * r->batch_samples, buffer, 1);
                lane->sum += sum_words(buffer, batch_bytes(r, order + b * r->batch_samples));
            }
        } else {
            r->mode->gather(lane, order, lane->ring, r->ring_buffers);
        }
        lane->batch += r->ring_buffers;
        lane->samples += r->ring_buffers * r->batch_samples;
        lane->nanos = clock_nanos() - begin;
    } while (lane->nanos < limit);
    return NULL;
}

static double cpu_seconds(void) {
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return u.ru_utime.tv_sec + u.ru_stime.tv_sec + (u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
}

static void run_rounds(struct run *run, size_t threads, size_t rounds) {
    struct lane lanes[64];
    const double seconds = run->seconds;
    for (size_t t = 0; t < threads; t++) {
        lanes[t] = (struct lane){.run = run, .order = shuffled(run, t << 32)};
        lanes[t].shard = t * run->shard_count / threads;
        lanes[t].ring = allocate(run->ring_buffers * run->buffer_bytes);
    }
    for (size_t round = 0; round <= rounds; round++) {  // round 0 warms up
        run->seconds = round == 0 ? 0.2 : seconds;
        const double cpu = cpu_seconds();
        for (size_t t = 1; t < threads; t++) pthread_create(&lanes[t].thread, NULL, run_lane, &lanes[t]);
        run_lane(&lanes[0]);
        double rate = 0, samples = 0;
        for (size_t t = 0; t < threads; t++) {
            if (t > 0) pthread_join(lanes[t].thread, NULL);
            samples += lanes[t].samples;
            rate += lanes[t].samples * 1e9 / lanes[t].nanos;
        }
        if (round == 0) continue;
        printf("{\"side\": \"c\", \"config\": \"C, %zu thread%s, ring %zu\", \"mode\": \"%s\", \"workers\": %zu, "
               "\"read\": %s, \"round\": %zu, \"samples\": %.0f, \"seconds\": %.6f, \"samples_per_second\": %.1f, "
               "\"cpu_seconds\": %.6f}\n",
               threads, threads > 1 ? "s" : "", run->ring_buffers, run->mode->name, threads,
               run->read ? "true" : "false", round, samples, samples / rate, rate, cpu_seconds() - cpu);
        fflush(stdout);
    }
    uint64_t sum = 0;
    for (size_t t = 0; t < threads; t++) sum += lanes[t].sum;
    if (run->read) fprintf(stderr, "sum of all words read: %016llx\n", (unsigned long long)sum);
}

static void run_copy(const struct run *run, size_t rounds) {
    const struct mapping store = map_file(run->path);
    void *to = allocate(store.size);
    copy_bytes(to, store.bytes, store.size, 1);
    for (size_t round = 1; round <= rounds; round++) {
        const uint64_t nanos = copy_bytes(to, store.bytes, store.size, 1);
        printf("{\"side\": \"c\", \"config\": \"memcpy of the store\", \"mode\": \"copy\", \"round\": %zu, "
               "\"bytes\": %zu, \"seconds\": %.6f, \"gigabytes_per_second\": %.3f}\n",
               round, store.size, nanos / 1e9, (double)store.size / nanos);
    }
}

static size_t positive(const char *option, const char *text, size_t most) {
    char *end;
    const long long value = strtoll(text, &end, 10);
    if (*end || value < 1 || (unsigned long long)value > most) {
        fprintf(stderr, "limits: %s %s: expected 1..%zu\n", option, text, most);
        exit(2);
    }
    return (size_t)value;
}

static const char USAGE[] =
    "usage: limits tokens PATH\n"
    "       limits images PATH.npy COUNT SIDE\n"
    "       limits documents PREFIX COUNT\n"
    "       limits --store PATH --mode MODE [--threads 1] [--rounds 5] [--seconds 1] [--window 1024] [--batch N]\n"
    "              [--ring 8] [--read]\n"
    "modes: narrow, i32, i64 (tokens), u8, f32, f32-exact (images), pad-narrow, pad-i32, pad-i64 (documents), tar\n"
    "       (a folder of WebDataset shards), copy (any file)\n";

static int usage(void) {
    fputs(USAGE, stderr);
    return 2;
}

static const struct mode *mode_of(const char *name) {
    for (size_t m = 0; m < sizeof MODES / sizeof *MODES; m++) {
        if (strcmp(MODES[m].name, name) == 0) return &MODES[m];
    }
    exit(usage());
}

int main(int argc, char **argv) {
    if (argc == 3 && strcmp(argv[1], "tokens") == 0) return write_tokens(argv[2]), 0;
    if (argc == 5 && strcmp(argv[1], "images") == 0) {
        return write_images(argv[2], positive("COUNT", argv[3], 1 << 30), positive("SIDE", argv[4], 1 << 14)), 0;
    }
    if (argc == 4 && strcmp(argv[1], "documents") == 0) {
        return write_documents(argv[2], positive("COUNT", argv[3], 1 << 30)), 0;
    }
    static const struct option options[] = {
        {"store", required_argument, 0, 's'},   {"mode", required_argument, 0, 'm'},
        {"threads", required_argument, 0, 't'}, {"rounds", required_argument, 0, 'r'},
        {"seconds", required_argument, 0, 'd'}, {"window", required_argument, 0, 'w'},
        {"batch", required_argument, 0, 'b'},   {"ring", required_argument, 0, 'n'},
        {"read", no_argument, 0, 'x'},          {0}};
    static struct run run = {.window_tokens = 1025, .ring_buffers = 8, .seconds = 1};
    size_t threads = 1, rounds = 5;
    for (int o; (o = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        switch (o) {
            case 's': run.path = optarg; break;
            case 'm': run.mode = mode_of(optarg); break;
            case 't': threads = positive("--threads", optarg, 64); break;
            case 'r': rounds = positive("--rounds", optarg, 1000000); break;
            case 'd': run.seconds = atof(optarg); break;
            case 'w': run.window_tokens = positive("--window", optarg, 1 << 20) + 1; break;
            case 'b': run.batch_samples = positive("--batch", optarg, 1 << 16); break;
            case 'n': run.ring_buffers = positive("--ring", optarg, 4096); break;
            case 'x': run.read = true; break;
            default: return usage();
        }
    }
    if (!run.path || !run.mode || optind < argc) return usage();
    if (!run.mode->gather) {
        run_copy(&run, rounds);
        return 0;
    }
    if (run.batch_samples == 0) run.batch_samples = run.mode->batch_samples;
    run.mode->open(&run);
    const size_t batches = run.samples / run.batch_samples;
    if (run.mode->open != open_shards && batches < run.ring_buffers) {
        fprintf(stderr, "limits: %s: %zu batches in the store, fewer than a ring of %zu\n", run.path, batches,
                run.ring_buffers);
        return 3;
    }
    run_rounds(&run, threads, rounds);
    return 0;
}

// Runs the loops of gather.c alone, and prints a JSON line a round. `limits store PATH` writes the benchmarks' store.
#include "gather.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { STORE_TOKENS = 200000000, PAGE_BYTES = 4096 };

static void fail(const char *what, const char *name) {
    fprintf(stderr, "limits: %s: %s: %s\n", name, what, errno ? strerror(errno) : "bad value");
    exit(3);
}

// SplitMix64 (Steele, Lea, Flood 2014): word i of the store is the mix of i, four tokens a word, little-endian.
static uint64_t mix(uint64_t i) {
    uint64_t z = (i + 1) * 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static int write_store(const char *path) {
    char temporary[4096];
    snprintf(temporary, sizeof temporary, "%s.%d", path, (int)getpid());
    FILE *file = fopen(temporary, "wb");
    if (!file) fail("cannot create", temporary);
    static uint64_t words[1 << 17];
    const uint64_t total = STORE_TOKENS / 4;
    for (uint64_t first = 0; first < total;) {
        size_t n = sizeof words / sizeof *words;
        if (n > total - first) n = total - first;
        for (size_t i = 0; i < n; i++) words[i] = mix(first + i);
        if (fwrite(words, sizeof *words, n, file) != n) fail("cannot write", temporary);
        first += n;
    }
    if (fclose(file) != 0) fail("cannot write", temporary);
    if (rename(temporary, path) != 0) fail("cannot rename", temporary);
    return 0;
}

struct run {
    const char *mode, *path;
    const uint16_t *tokens;
    size_t store_tokens, window_tokens, batch_windows, ring_buffers, buffer_bytes, batches;
    double seconds;
    bool read;
};

struct lane {  // one thread's part
    const struct run *run;
    uint64_t *starts;
    void *ring;
    uint64_t samples, nanos, sum;
    pthread_t thread;
};

static void *allocate(size_t bytes) {
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (p == MAP_FAILED) fail("cannot allocate", "output");
    return p;
}

// An epoch in random order over windows that share no input token but the label of the last.
static uint64_t *shuffled_starts(const struct run *run, uint64_t seed) {
    const size_t stride = run->window_tokens - 1;
    const size_t windows = (run->store_tokens - 1) / stride;
    uint64_t *starts = malloc(windows * sizeof *starts);
    if (!starts) fail("cannot allocate", "starts");
    for (size_t i = 0; i < windows; i++) starts[i] = i * stride;
    for (size_t i = windows - 1; i > 0; i--) {
        const size_t j = mix(seed + i) % (i + 1);
        const uint64_t t = starts[i];
        starts[i] = starts[j];
        starts[j] = t;
    }
    return starts;
}

static uint64_t gather(const struct run *r, const uint64_t *starts, size_t batches, void *ring, size_t buffers) {
    if (strcmp(r->mode, "narrow") == 0)
        return gather_narrow(r->tokens, starts, batches, r->batch_windows, r->window_tokens, ring, buffers);
    if (strcmp(r->mode, "i32") == 0)
        return gather_i32(r->tokens, starts, batches, r->batch_windows, r->window_tokens, ring, buffers);
    return gather_i64(r->tokens, starts, batches, r->batch_windows, r->window_tokens, ring, buffers);
}

static uint64_t clock_nanos(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

// Whole turns of the ring, until the time is over.
static void *run_lane(void *argument) {
    struct lane *lane = argument;
    const struct run *r = lane->run;
    const uint64_t limit = (uint64_t)(r->seconds * 1e9), begin = clock_nanos();
    size_t batch = 0;
    lane->samples = 0;
    do {
        if (batch + r->ring_buffers > r->batches) batch = 0;
        const uint64_t *starts = lane->starts + batch * r->batch_windows;
        if (r->read) {
            for (size_t b = 0; b < r->ring_buffers; b++) {
                void *buffer = (char *)lane->ring + b * r->buffer_bytes;
                gather(r, starts + b * r->batch_windows, 1, buffer, 1);
                lane->sum += sum_words(buffer, r->buffer_bytes);
            }
        } else {
            gather(r, starts, r->ring_buffers, lane->ring, r->ring_buffers);
        }
        batch += r->ring_buffers;
        lane->samples += r->ring_buffers * r->batch_windows;
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
        lanes[t] = (struct lane){.run = run, .starts = shuffled_starts(run, t << 32)};
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
               threads, threads > 1 ? "s" : "", run->ring_buffers, run->mode, threads, run->read ? "true" : "false",
               round, samples, samples / rate, rate, cpu_seconds() - cpu);
        fflush(stdout);
    }
    uint64_t sum = 0;
    for (size_t t = 0; t < threads; t++) sum += lanes[t].sum;
    if (run->read) fprintf(stderr, "sum of all words read: %016llx\n", (unsigned long long)sum);
}

static void run_copy(const struct run *run, size_t rounds) {
    const size_t bytes = run->store_tokens * sizeof(uint16_t);
    void *to = allocate(bytes);
    copy_bytes(to, run->tokens, bytes, 1);
    for (size_t round = 1; round <= rounds; round++) {
        const uint64_t nanos = copy_bytes(to, run->tokens, bytes, 1);
        printf("{\"side\": \"c\", \"config\": \"memcpy of the store\", \"mode\": \"copy\", \"round\": %zu, "
               "\"bytes\": %zu, \"seconds\": %.6f, \"gigabytes_per_second\": %.3f}\n",
               round, bytes, nanos / 1e9, (double)bytes / nanos);
    }
}

static size_t positive(const char *option, const char *text, size_t most) {
    char *end;
    const long long value = strtoll(text, &end, 10);
    if (*end || value < 1 || (unsigned long long)value > most) {
        fprintf(stderr, "limits: --%s %s: expected 1..%zu\n", option, text, most);
        exit(2);
    }
    return (size_t)value;
}

static const char USAGE[] =
    "usage: limits store PATH\n"
    "       limits --store PATH --mode narrow|i32|i64|copy [--threads 1] [--rounds 5] [--seconds 1]\n"
    "              [--window 1024] [--batch 32] [--ring 8] [--read]\n";

int main(int argc, char **argv) {
    if (argc == 3 && strcmp(argv[1], "store") == 0) return write_store(argv[2]);
    static const struct option options[] = {
        {"store", required_argument, 0, 's'},   {"mode", required_argument, 0, 'm'},
        {"threads", required_argument, 0, 't'}, {"rounds", required_argument, 0, 'r'},
        {"seconds", required_argument, 0, 'd'}, {"window", required_argument, 0, 'w'},
        {"batch", required_argument, 0, 'b'},   {"ring", required_argument, 0, 'n'},
        {"read", no_argument, 0, 'x'},          {0}};
    struct run run = {.mode = "", .window_tokens = 1025, .batch_windows = 32, .ring_buffers = 8, .seconds = 1};
    size_t threads = 1, rounds = 5;
    for (int o; (o = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        switch (o) {
            case 's': run.path = optarg; break;
            case 'm': run.mode = optarg; break;
            case 't': threads = positive("threads", optarg, 64); break;
            case 'r': rounds = positive("rounds", optarg, 1000000); break;
            case 'd': run.seconds = atof(optarg); break;
            case 'w': run.window_tokens = positive("window", optarg, 1 << 20) + 1; break;
            case 'b': run.batch_windows = positive("batch", optarg, 1 << 16); break;
            case 'n': run.ring_buffers = positive("ring", optarg, 4096); break;
            case 'x': run.read = true; break;
            default: fputs(USAGE, stderr); return 2;
        }
    }
    const bool copy = strcmp(run.mode, "copy") == 0;
    const size_t width = strcmp(run.mode, "i64") == 0 ? 8 : strcmp(run.mode, "i32") == 0 ? 4 : 2;
    if (!run.path || optind < argc || (width == 2 && !copy && strcmp(run.mode, "narrow") != 0)) {
        fputs(USAGE, stderr);
        return 2;
    }
    const int file = open(run.path, O_RDONLY);
    struct stat stat;
    if (file < 0 || fstat(file, &stat) != 0) fail("cannot open", run.path);
    run.store_tokens = (size_t)stat.st_size / sizeof(uint16_t);
    run.tokens = mmap(NULL, (size_t)stat.st_size, PROT_READ, MAP_SHARED | MAP_POPULATE, file, 0);
    if (run.tokens == MAP_FAILED) fail("cannot map", run.path);
    if (copy) {
        run_copy(&run, rounds);
        return 0;
    }
    const size_t window_out = width == 2 ? run.window_tokens : 2 * (run.window_tokens - 1);
    run.buffer_bytes = run.batch_windows * window_out * width;
    run.batches = (run.store_tokens - 1) / (run.window_tokens - 1) / run.batch_windows;
    if (run.batches < run.ring_buffers) {
        fprintf(stderr, "limits: %s: %zu batches in the store, fewer than a ring of %zu\n", run.path, run.batches,
                run.ring_buffers);
        return 3;
    }
    run_rounds(&run, threads, rounds);
    return 0;
}

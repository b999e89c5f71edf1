// SPDX-License-Identifier: Apache-2.0
// What a batch of rows of columns costs at least: eight columns (four of 8 bytes, four of 4 bytes, 2,000,000 rows) are
// copied to new memory in large pages, as decoding would do, and rows are gathered in block-shuffled order, 1,024 a batch.
//
//   gcc -O2 -o target/columns bench/native/columns.c && target/columns
//
// Prints nanoseconds a row of each, best of 7, in CPU time of the thread.

#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum { ROWS = 2000000, BLOCKS = 100, WINDOW = 4 * ROWS / BLOCKS, BATCH = 1024, ROW_BYTES = 48, WIDE = 4, COLUMNS = 8 };

static const size_t LARGE = 2 << 20;
static uint64_t state = 1;

static uint64_t next(uint64_t bound) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state % bound;
}

static void shuffle(long *values, long count) {
    for (long i = count - 1; i > 0; i--) {
        long j = (long) next(i + 1);
        long value = values[i];
        values[i] = values[j];
        values[j] = value;
    }
}

static double nanos(void) {
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return time.tv_sec * 1e9 + time.tv_nsec;
}

static void gather(const char *columns, const long *rows, char *batch) {
    for (int c = 0; c < COLUMNS; c++) {
        if (c < WIDE) {
            const int64_t *from = (const int64_t *) columns;
            for (long i = 0; i < BATCH; i++) {
                ((int64_t *) batch)[i] = from[rows[i]];
            }
        } else {
            const int32_t *from = (const int32_t *) columns;
            for (long i = 0; i < BATCH; i++) {
                ((int32_t *) batch)[i] = from[rows[i]];
            }
        }
        columns += (size_t) ROWS * (c < WIDE ? 8 : 4);
        batch += BATCH * (c < WIDE ? 8 : 4);
    }
    __asm__ volatile("" ::: "memory");
}

int main(void) {
    long blocks[BLOCKS];
    for (long b = 0; b < BLOCKS; b++) {
        blocks[b] = b;
    }
    shuffle(blocks, BLOCKS);
    long *order = malloc(ROWS * sizeof(long));
    for (long i = 0; i < ROWS; i++) {
        order[i] = blocks[i / (ROWS / BLOCKS)] * (ROWS / BLOCKS) + i % (ROWS / BLOCKS);
    }
    for (long start = 0; start < ROWS; start += WINDOW) {
        shuffle(order + start, WINDOW);
    }
    size_t bytes = (size_t) ROWS * ROW_BYTES;
    char *file = malloc(bytes);
    char *batch = malloc(BATCH * ROW_BYTES);
    memset(file, 1, bytes);
    memset(batch, 0, BATCH * ROW_BYTES);
    double copied = 1e18;
    double gathered = 1e18;
    for (int round = 0; round < 7; round++) {
        double begin = nanos();
        char *all = mmap(NULL, bytes + LARGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        char *columns = all + (LARGE - (uintptr_t) all % LARGE) % LARGE;
        madvise(columns, bytes, MADV_HUGEPAGE);
        memcpy(columns, file, bytes);
        double middle = nanos();
        for (long row = 0; row + BATCH <= ROWS; row += BATCH) {
            gather(columns, order + row, batch);
        }
        double end = nanos();
        munmap(all, bytes + LARGE);
        copied = middle - begin < copied ? middle - begin : copied;
        gathered = end - middle < gathered ? end - middle : gathered;
    }
    printf("copy to new memory %.1f ns a row, gather %.1f ns a row: %.0f MB/s\n", copied / ROWS, gathered / ROWS,
            1e3 * ROW_BYTES / ((copied + gathered) / ROWS));
    return 0;
}

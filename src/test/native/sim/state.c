// SPDX-License-Identifier: Apache-2.0
/* Resources that are open, violations that were seen, and faults that were ordered. */
#define _GNU_SOURCE
#include "sim.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MAX_RULES = 16, MAX_CALLS = 64, TEXT_BYTES = 4096 };

typedef struct { char call[48]; int status; int64_t skip, times; } fault_rule;

pthread_mutex_t sim_lock = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t sim_changed = PTHREAD_COND_INITIALIZER;
sim_resource *sim_resources;
int sim_driver_version = VERSION;
int sim_device_count = 1;
size_t sim_device_bytes = (size_t) 60 << 30, sim_pinned_bytes = (size_t) 1 << 40;
int sim_fault[MAX_DEVICES];
__thread int sim_current_device, sim_capture_mode;
int sim_global_captures;
int64_t sim_foreign_wait_count;

static fault_rule rules[MAX_RULES];
static int rule_count;
static struct { const char *name; int64_t count; } calls[MAX_CALLS];
static int violation_count;
static char violation_text[TEXT_BYTES];
static FILE *work_log;

void sim_violation(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    size_t used = strlen(violation_text);
    vsnprintf(violation_text + used, TEXT_BYTES - used, format, arguments);
    va_end(arguments);
    fprintf(stderr, "simulated CUDA: violation: %s\n", violation_text + used);
    used = strlen(violation_text);
    if (used < TEXT_BYTES - 1) strcpy(violation_text + used, "\n");
    violation_count++;
}

/* What was enqueued, in words. Called with the lock. */
void sim_log(const char *format, ...) {
    if (!work_log) return;
    va_list arguments;
    va_start(arguments, format);
    vfprintf(work_log, format, arguments);
    va_end(arguments);
    fputc('\n', work_log);
    fflush(work_log);
}

int sim_violations(char *text, size_t size) {
    pthread_mutex_lock(&sim_lock);
    int count = violation_count;
    if (size) snprintf(text, size, "%s", violation_text);
    pthread_mutex_unlock(&sim_lock);
    return count;
}

/* ---- faults on command ---- */

/* The next `skip` calls of a function do as they should, `times` after them return a status; an empty name ends all. */
void sim_fail(const char *call, int status, int64_t skip, int64_t times) {
    pthread_mutex_lock(&sim_lock);
    if (!*call) {
        rule_count = 0;
    } else if (rule_count < MAX_RULES) {
        fault_rule *rule = &rules[rule_count++];
        snprintf(rule->call, sizeof rule->call, "%s", call);
        rule->status = status;
        rule->skip = skip;
        rule->times = times;
    }
    pthread_mutex_unlock(&sim_lock);
}

/* The status that a call returns instead of doing anything, or success. Called with the lock. */
int sim_enter(const char *call) {
    int at = 0;
    while (at < MAX_CALLS - 1 && calls[at].name && strcmp(calls[at].name, call) != 0) at++;
    calls[at].name = call;
    calls[at].count++;
    if (sim_driver_version == 0) return INSUFFICIENT_DRIVER;
    for (int i = 0; i < rule_count; i++) {
        if (strcmp(rules[i].call, call) == 0 && rules[i].skip-- <= 0 && rules[i].times-- > 0) return rules[i].status;
    }
    return SUCCESS;
}

/* Whether a thread may not make a call because some thread captures, as CUDA has it where neither says otherwise. */
int sim_forbids(const char *call) {
    enum { GLOBAL = 0 };
    if (!sim_global_captures || sim_capture_mode != GLOBAL) return 0;
    sim_violation("%s: forbidden while a graph is captured", call);
    return 1;
}

/* How often a function was called. */
int64_t sim_calls(const char *call) {
    pthread_mutex_lock(&sim_lock);
    int64_t count = 0;
    for (int i = 0; i < MAX_CALLS && calls[i].name; i++) {
        if (strcmp(calls[i].name, call) == 0) count = calls[i].count;
    }
    pthread_mutex_unlock(&sim_lock);
    return count;
}

/* ---- resources: all with the lock ---- */

/* Device memory is reserved at an address where nobody can touch it, and kept elsewhere. */
static int map(sim_resource *memory) {
    int device = memory->kind == DEVICE_MEMORY;
    memory->bytes = mmap(NULL, memory->size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
            -1, 0);
    memory->address = !device ? memory->bytes
            : mmap(NULL, memory->size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return memory->bytes != MAP_FAILED && memory->address != MAP_FAILED;
}

sim_resource *sim_add(sim_kind kind, size_t size, unsigned flags) {
    sim_resource *added = calloc(1, sizeof *added);
    added->kind = kind;
    added->device = sim_current_device;
    added->flags = flags;
    added->size = size;
    added->place = -1;
    if (size && !map(added)) {
        free(added);
        return NULL;
    }
    added->next = sim_resources;
    sim_resources = added;
    return added;
}

void sim_drop(sim_resource *dropped) {
    sim_resource **at = &sim_resources;
    while (*at != dropped) at = &(*at)->next;
    *at = dropped->next;
    if (dropped->size) {
        /* What work still uses stays where the simulation keeps it: that was reported, and does no more harm. */
        int running = 0;
        for (sim_access *a = dropped->accesses; a; a = a->next) running |= a->number > sim_done[a->stream];
        if (dropped->kind == DEVICE_MEMORY) munmap(dropped->address, dropped->size);
        if (!running) munmap(dropped->bytes, dropped->size);
        for (sim_access *access = dropped->accesses; access; ) {
            sim_access *next = access->next;
            free(access);
            access = next;
        }
    }
    free(dropped);
}

sim_resource *sim_handle(sim_kind kind, const void *handle) {
    sim_resource *found = sim_resources;
    while (found && !(found->kind == kind && found == handle)) found = found->next;
    return found;
}

sim_resource *sim_memory(sim_kind kind, const char *address, size_t size) {
    sim_resource *found = sim_resources;
    while (found && !(found->kind == kind && address >= found->address && size <= found->size
            && address + size <= found->address + found->size)) found = found->next;
    return found;
}

size_t sim_allocated(sim_kind kind, int device) {
    size_t sum = 0;
    for (sim_resource *r = sim_resources; r; r = r->next) sum += r->kind == kind && r->device == device ? r->size : 0;
    return sum;
}

/* Default streams are the runtime's own: they have no flags. */
int sim_open(int kind) {
    int count = 0;
    pthread_mutex_lock(&sim_lock);
    for (sim_resource *r = sim_resources; r; r = r->next) count += r->kind == (sim_kind) kind && (kind || r->flags);
    pthread_mutex_unlock(&sim_lock);
    return count;
}

/* ---- a new start, and the end ---- */

void sim_reset(void) {
    pthread_mutex_lock(&sim_lock);
    rule_count = violation_count = 0;
    violation_text[0] = 0;
    memset(calls, 0, sizeof calls);
    memset(sim_fault, 0, sizeof sim_fault);
    sim_driver_version = VERSION;
    sim_device_count = 1;
    sim_device_bytes = (size_t) 60 << 30;
    sim_pinned_bytes = (size_t) 1 << 40;
    sim_bytes_per_micro = sim_latency_micros = 0;
    sim_held = sim_global_captures = sim_engine = 0;
    sim_now_nanos = -1;
    sim_copies_begun = sim_copies_ended = 0;
    pthread_cond_broadcast(&sim_changed);
    pthread_mutex_unlock(&sim_lock);
}

/* The environment, as CUDA itself reads it, and what a process that no test steers is to simulate. */
__attribute__((constructor)) static void begin(void) {
    const char *visible = getenv("CUDA_VISIBLE_DEVICES");
    if (visible && (*visible < '0' || *visible > '9')) sim_device_count = 0;
    const char *devices = getenv("SIM_CUDA_DEVICES"), *driver = getenv("SIM_CUDA_DRIVER");
    const char *speed = getenv("SIM_CUDA_BYTES_PER_MICRO"), *latency = getenv("SIM_CUDA_LATENCY_MICROS");
    const char *log = getenv("SIM_CUDA_LOG");
    if (log) work_log = fopen(log, "w");
    if (devices && sim_device_count) sim_device_count = atoi(devices);
    if (driver) sim_driver_version = atoi(driver);
    if (speed) sim_bytes_per_micro = atoll(speed);
    if (latency) sim_latency_micros = atoll(latency);
    sim_engine = getenv("SIM_NVJPEG_ENGINE") != NULL;
}

/* With SIM_CUDA_STRICT_EXIT set, a process that leaves something open, or did wrong before, ends with 86. */
__attribute__((destructor)) static void end(void) {
    static const char *names[] = {"stream", "event", "device memory", "pinned memory"};
    if (!getenv("SIM_CUDA_STRICT_EXIT")) return;
    for (int kind = 0; kind < 4; kind++) {
        int open = sim_open(kind);
        if (open) sim_violation("%d %s open at the end of the process", open, names[kind]);
    }
    if (sim_jpeg_objects) sim_violation("%d of nvJPEG open at the end of the process", sim_jpeg_objects);
    if (violation_count) _exit(86);
}

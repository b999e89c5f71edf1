// SPDX-License-Identifier: Apache-2.0
/*
 * A tool as NVTX 3 attaches one: writes what it is told to the file that NVTX_RECORD names, a call a line.
 *
 *   cc -shared -fPIC -o libnvtx_recorder.so nvtx_recorder.c
 *   NVTX_INJECTION64_PATH=./libnvtx_recorder.so NVTX_RECORD=calls.txt PROGRAM
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { ETID_CALLBACKS = 1, ETID_VERSIONINFO = 3 };
enum { MODULE_CORE = 1, MODULE_CUDA = 2, MODULE_CORE2 = 5, MODULE_UNKNOWN = 99 };
enum { RANGE_START = 2, RANGE_END = 3, RANGE_PUSH = 4, RANGE_POP = 5, REGISTER_STRING = 10, DOMAIN_CREATE = 12 };

typedef void (*function)(void);

struct callbacks {
    size_t struct_size;
    int (*module_table)(int module, function ***table, unsigned *size);
};

struct version_info {
    size_t struct_size;
    uint32_t version;
    uint32_t reserved0;
    void (*set_version)(uint32_t version);
};

struct attributes {
    uint16_t version;
    uint16_t size;
    uint32_t category;
    int32_t colorType;
    uint32_t color;
    int32_t payloadType;
    int32_t reserved0;
    uint64_t payload;
    int32_t messageType;
    union {
        const char *ascii;
        const struct string *registered;
    } message;
};

struct string {
    char text[64];
};

struct domain {
    char name[64];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static FILE *record;
static uint64_t started;

static long thread_id(void)
{
    return syscall(SYS_gettid);
}

static void write_range(const char *call, const struct domain *domain, const struct attributes *a, uint64_t id)
{
    const char *name = a->messageType == 3 ? a->message.registered->text : a->messageType == 1 ? a->message.ascii : "?";
    pthread_mutex_lock(&lock);
    fprintf(record, "%s %s %s %llu thread %ld version %d size %d payload %d range %llu\n", call,
            domain ? domain->name : "-", name, (unsigned long long) a->payload, thread_id(), a->version, a->size,
            a->payloadType, (unsigned long long) id);
    fflush(record);
    pthread_mutex_unlock(&lock);
}

static int range_push(struct domain *domain, const struct attributes *a)
{
    write_range("push", domain, a, 0);
    return 0;
}

static int range_pop(struct domain *domain)
{
    pthread_mutex_lock(&lock);
    fprintf(record, "pop %s thread %ld\n", domain ? domain->name : "-", thread_id());
    fflush(record);
    pthread_mutex_unlock(&lock);
    return 0;
}

static uint64_t range_start(struct domain *domain, const struct attributes *a)
{
    uint64_t id = __atomic_add_fetch(&started, 1, __ATOMIC_SEQ_CST);
    write_range("start", domain, a, id);
    return id;
}

static void range_end(struct domain *domain, uint64_t id)
{
    pthread_mutex_lock(&lock);
    fprintf(record, "end %s range %llu\n", domain ? domain->name : "-", (unsigned long long) id);
    fflush(record);
    pthread_mutex_unlock(&lock);
}

static struct domain *domain_create(const char *name)
{
    struct domain *domain = calloc(1, sizeof *domain);
    strncpy(domain->name, name, sizeof domain->name - 1);
    return domain;
}

static struct string *register_string(struct domain *domain, const char *text)
{
    (void) domain;
    struct string *string = calloc(1, sizeof *string);
    strncpy(string->text, text, sizeof string->text - 1);
    return string;
}

int InitializeInjectionNvtx2(const void *(*export_table)(uint32_t))
{
    const char *path = getenv("NVTX_RECORD");
    record = path ? fopen(path, "w") : NULL;
    if (!record) {
        return 0;
    }
    const struct version_info *version = export_table(ETID_VERSIONINFO);
    const struct callbacks *callbacks = export_table(ETID_CALLBACKS);
    if (!version || !callbacks || export_table(77) || version->struct_size != sizeof *version
            || callbacks->struct_size < sizeof *callbacks || version->version != 3) {
        fprintf(record, "wrong export tables\n");
        return 0;
    }
    version->set_version(3);
    function **table = NULL;
    unsigned size = 0;
    if (callbacks->module_table(MODULE_UNKNOWN, &table, &size) || !callbacks->module_table(MODULE_CORE, &table, &size)
            || size < 16 || !callbacks->module_table(MODULE_CUDA, &table, NULL)
            || !callbacks->module_table(MODULE_CORE2, &table, &size) || size < 16 || table[0]) {
        fprintf(record, "wrong module tables\n");
        return 0;
    }
    *table[RANGE_START] = (function) range_start;
    *table[RANGE_END] = (function) range_end;
    *table[RANGE_PUSH] = (function) range_push;
    *table[RANGE_POP] = (function) range_pop;
    *table[DOMAIN_CREATE] = (function) domain_create;
    if (!getenv("NVTX_RECORD_NO_STRINGS")) {
        *table[REGISTER_STRING] = (function) register_string;
    }
    fprintf(record, "attached\n");
    fflush(record);
    return 1;
}

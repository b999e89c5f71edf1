// SPDX-License-Identifier: Apache-2.0
// A simulated libnvidia-ml: what it answers is in a file of lines "key value", read at every call, so that a test
// changes it while the library is in use. A line "status.FUNCTION N" makes a function return N, "hang.FUNCTION 1" makes
// it wait until that line is gone. What has no line is not supported. Types are those of nvml.h.

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define NOT_SUPPORTED 3
#define NOT_FOUND 6
#define INSUFFICIENT_SIZE 7

static char values[4096];

void sim_nvml_values(const char *file) {
    snprintf(values, sizeof values, "%s", file);
}

static int look_up(const char *key, char *text, size_t size) {
    FILE *file = fopen(values, "r");
    char line[256];
    int found = 0;
    size_t length = strlen(key);
    while (file && !found && fgets(line, sizeof line, file)) {
        if (strncmp(line, key, length) == 0 && line[length] == ' ') {
            line[strcspn(line, "\n")] = 0;
            snprintf(text, size, "%s", line + length + 1);
            found = 1;
        }
    }
    if (file) {
        fclose(file);
    }
    return found;
}

static int begin(const char *function) {
    char key[128], text[64];
    snprintf(key, sizeof key, "hang.%s", function);
    while (look_up(key, text, sizeof text)) {
        nanosleep(&(struct timespec) {0, 2000000}, NULL);
    }
    snprintf(key, sizeof key, "status.%s", function);
    return look_up(key, text, sizeof text) ? atoi(text) : 0;
}

static int number(const char *function, const char *key, unsigned long long *value) {
    char text[64];
    int status = begin(function);
    if (status != 0) {
        return status;
    }
    if (!look_up(key, text, sizeof text)) {
        return NOT_SUPPORTED;
    }
    *value = strtoull(text, NULL, 10);
    return 0;
}

static int small(const char *function, const char *key, unsigned *value) {
    unsigned long long wide;
    int status = number(function, key, &wide);
    if (status == 0) {
        *value = (unsigned) wide;
    }
    return status;
}

const char *nvmlErrorString(int status) {
    switch (status) {
        case NOT_SUPPORTED: return "Not Supported";
        case NOT_FOUND: return "Not Found";
        case 9: return "Driver Not Loaded";
        case 15: return "GPU is lost";
        default: return "Unknown Error";
    }
}

int nvmlInit_v2(void) { return begin("nvmlInit_v2"); }

int nvmlDeviceGetCount_v2(unsigned *count) { return small("nvmlDeviceGetCount_v2", "devices", count); }

// A device's handle is its index and 100; that of a UUID is 200.
int nvmlDeviceGetHandleByIndex_v2(unsigned index, uint64_t *device) {
    unsigned count = 0;
    nvmlDeviceGetCount_v2(&count);
    *device = 100 + index;
    return index < count ? begin("nvmlDeviceGetHandleByIndex_v2") : NOT_FOUND;
}

int nvmlDeviceGetHandleByUUID(const char *uuid, uint64_t *device) {
    char text[128];
    *device = 200;
    return look_up("uuid", text, sizeof text) && strcmp(text, uuid) == 0 ? 0 : NOT_FOUND;
}

int nvmlDeviceGetName(uint64_t device, char *name, unsigned size) {
    char text[128] = "";
    look_up("name", text, sizeof text);
    snprintf(name, size, "%s %u", text, (unsigned) device);
    return begin("nvmlDeviceGetName");
}

int nvmlDeviceGetMigMode(uint64_t device, unsigned *now, unsigned *then) {
    (void) device;
    int status = small("nvmlDeviceGetMigMode", "mig", now);
    *then = *now;
    return status;
}

typedef struct { unsigned gpu, memory; } rates_t;

int nvmlDeviceGetUtilizationRates(uint64_t device, rates_t *rates) {
    (void) device;
    rates->memory = 7;
    return small("nvmlDeviceGetUtilizationRates", "utilization", &rates->gpu);
}

typedef struct { unsigned version; unsigned long long total, reserved, free, used; } memory_t;

int nvmlDeviceGetMemoryInfo_v2(uint64_t device, memory_t *memory) {
    (void) device;
    if (memory->version != (sizeof *memory | 2 << 24)) {
        return 25;                                      // NVML_ERROR_ARGUMENT_VERSION_MISMATCH
    }
    int status = number("nvmlDeviceGetMemoryInfo_v2", "memory.total", &memory->total);
    if (status == 0) {
        status = number("nvmlDeviceGetMemoryInfo_v2", "memory.used", &memory->used);
        memory->reserved = 479ULL << 20;
        memory->free = memory->total - memory->used - memory->reserved;
    }
    return status;
}

typedef struct { unsigned pid; unsigned long long memory; unsigned gpu, compute; } process_t;

// "process.0 PID BYTES", and so on; a process that sits on device 1 alone has "process.0@101".
int nvmlDeviceGetComputeRunningProcesses_v3(uint64_t device, unsigned *count, process_t *processes) {
    char key[64], text[128];
    unsigned found = 0, room = *count;
    for (int i = 0; i < 200; i++) {
        snprintf(key, sizeof key, "process.%d", i);
        if (!look_up(key, text, sizeof text)) {
            snprintf(key, sizeof key, "process.%d@%u", i, (unsigned) device);
            if (!look_up(key, text, sizeof text)) {
                continue;
            }
        }
        if (found < room) {
            char *rest;
            processes[found].pid = (unsigned) strtoul(text, &rest, 10);
            processes[found].memory = strtoull(rest, NULL, 10);
        }
        found++;
    }
    *count = found;
    return found > room ? INSUFFICIENT_SIZE : begin("nvmlDeviceGetComputeRunningProcesses_v3");
}

int nvmlDeviceGetPowerUsage(uint64_t device, unsigned *value) {
    (void) device;
    return small("nvmlDeviceGetPowerUsage", "power", value);
}

int nvmlDeviceGetCurrPcieLinkGeneration(uint64_t device, unsigned *value) {
    (void) device;
    return small("nvmlDeviceGetCurrPcieLinkGeneration", "link.generation", value);
}

int nvmlDeviceGetMaxPcieLinkGeneration(uint64_t device, unsigned *value) {
    (void) device;
    return small("nvmlDeviceGetMaxPcieLinkGeneration", "link.most.generation", value);
}

int nvmlDeviceGetCurrPcieLinkWidth(uint64_t device, unsigned *value) {
    (void) device;
    return small("nvmlDeviceGetCurrPcieLinkWidth", "link.lanes", value);
}

int nvmlDeviceGetMaxPcieLinkWidth(uint64_t device, unsigned *value) {
    (void) device;
    return small("nvmlDeviceGetMaxPcieLinkWidth", "link.most.lanes", value);
}

int nvmlDeviceGetCurrentClocksThrottleReasons(uint64_t device, unsigned long long *reasons) {
    (void) device;
    return number("nvmlDeviceGetCurrentClocksThrottleReasons", "throttle", reasons);
}

static int of_kind(const char *function, const char *what, int kind, unsigned *value) {
    char key[64];
    snprintf(key, sizeof key, "%s.%d", what, kind);
    return small(function, key, value);
}

int nvmlDeviceGetTemperature(uint64_t device, int sensor, unsigned *value) {
    (void) device;
    return of_kind("nvmlDeviceGetTemperature", "temperature", sensor, value);
}

int nvmlDeviceGetClockInfo(uint64_t device, int kind, unsigned *value) {
    (void) device;
    return of_kind("nvmlDeviceGetClockInfo", "clock", kind, value);
}

int nvmlDeviceGetMaxClockInfo(uint64_t device, int kind, unsigned *value) {
    (void) device;
    return of_kind("nvmlDeviceGetMaxClockInfo", "clock.most", kind, value);
}

int nvmlDeviceGetPcieThroughput(uint64_t device, int kind, unsigned *value) {
    (void) device;
    return of_kind("nvmlDeviceGetPcieThroughput", "traffic", kind, value);
}

int nvmlDeviceGetTotalEccErrors(uint64_t device, int type, int counter, unsigned long long *count) {
    char key[64];
    (void) device;
    snprintf(key, sizeof key, "ecc.%d.%d", type, counter);
    return number("nvmlDeviceGetTotalEccErrors", key, count);
}

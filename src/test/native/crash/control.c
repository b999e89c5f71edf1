// SPDX-License-Identifier: Apache-2.0
/* What the shim knows: which files are watched, what is planned for them, what is logged; and how a program steers it. */
#define _GNU_SOURCE
#include "crash.h"
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#define MAX_FILES 4096

pthread_mutex_t crash_lock = PTHREAD_MUTEX_INITIALIZER;
static char root[PATH_MAX];
static size_t root_length;
static char *names[MAX_FILES];      /* by descriptor: the path below the folder, or null */
static FILE *record;

static struct {
    enum action action;
    int kinds, error, sticky_kinds;
    int64_t number, seen;
    int fired;
    char where[PATH_MAX + 32];
} plan;

/* ---- which calls are watched */

const char *below(int folder, const char *path, char *room)
{
    if (!root_length || !path) {
        return NULL;
    }
    if (path[0] != '/' && folder >= 0 && folder < MAX_FILES && names[folder]) {
        snprintf(room, PATH_MAX, "%s%s%s", names[folder], names[folder][0] && path[0] ? "/" : "", path);
        return room;
    }
    if (strncmp(path, root, root_length) || (path[root_length] && path[root_length] != '/')) {
        return NULL;
    }
    return path + root_length + (path[root_length] == '/');
}

const char *open_name(int fd)
{
    return root_length && fd >= 0 && fd < MAX_FILES ? names[fd] : NULL;
}

void forget(int fd)
{
    if (fd >= 0 && fd < MAX_FILES && names[fd]) {
        free(names[fd]);
        names[fd] = NULL;
    }
}

void remember(int fd, const char *name)
{
    forget(fd);
    if (fd >= MAX_FILES) {
        fprintf(stderr, "crash_shim: descriptor %d, at most %d\n", fd, MAX_FILES);
        abort();
    }
    names[fd] = strdup(name);
}

/* ---- what befalls them */

static const char *word(enum kind kind)
{
    static const char *const words[] = {"open", "create", "write", "truncate", "sync", "rename", "link", "remove",
        "mkdir", "close", "lock", "read", "look at"};
    return words[__builtin_ctz(kind)];
}

enum action meet(enum kind kind, const char *name)
{
    if (plan.fired && plan.sticky_kinds & kind) {
        errno = plan.error;
        return FAIL;
    }
    if (!(plan.kinds & kind)) {
        return PASS;
    }
    plan.seen++;
    if (plan.action == PASS || plan.fired || plan.seen != plan.number) {
        return PASS;
    }
    plan.fired = 1;
    snprintf(plan.where, sizeof plan.where, "%s %s", word(kind), name);
    if (plan.action == KILL_BEFORE) {
        kill(getpid(), SIGKILL);
        pause();
    }
    errno = plan.error;
    return plan.action;
}

void leave(enum action action)
{
    if (action == KILL_AFTER) {
        kill(getpid(), SIGKILL);
        pause();
    }
    int error = errno;
    pthread_mutex_unlock(&crash_lock);
    errno = error;
}

void note(enum operation operation, int fd, int64_t value, const char *first, const void *second,
        int32_t second_bytes)
{
    if (!record) {
        return;
    }
    int error = errno;
    int32_t numbers[] = {operation, fd};
    int64_t values[] = {plan.seen, value};
    int32_t lengths[] = {first ? (int32_t) strlen(first) : 0, second_bytes};
    fwrite(numbers, sizeof numbers, 1, record);
    fwrite(values, sizeof values, 1, record);
    fwrite(lengths, sizeof lengths, 1, record);
    fwrite(first ? first : "", 1, lengths[0], record);
    fwrite(second ? second : "", 1, second_bytes, record);
    errno = error;
}

/* ---- how the program steers it */

/* Watches a folder, by its absolute path without links; an empty one watches nothing. */
EXPORT void crash_watch(const char *folder)
{
    pthread_mutex_lock(&crash_lock);
    for (int fd = 0; fd < MAX_FILES; fd++) {
        forget(fd);
    }
    snprintf(root, sizeof root, "%s", folder);
    root_length = strlen(root);
    memset(&plan, 0, sizeof plan);
    leave(PASS);
}

/* Does something with one call, by its number from 1 among those of some kinds, and fails all of other kinds behind. */
EXPORT void crash_plan(int action, int kinds, int64_t number, int error, int sticky_kinds)
{
    pthread_mutex_lock(&crash_lock);
    memset(&plan, 0, sizeof plan);
    plan.action = action;
    plan.kinds = kinds;
    plan.number = number;
    plan.error = error;
    plan.sticky_kinds = sticky_kinds;
    leave(PASS);
}

/* Whether the call that was planned for has come, and what it was. */
EXPORT int crash_fired(char *where, int64_t room)
{
    pthread_mutex_lock(&crash_lock);
    int fired = plan.fired;
    snprintf(where, room, "%s", fired ? plan.where : "");
    leave(PASS);
    return fired;
}

/* How many calls of the planned kinds there were. */
EXPORT int64_t crash_calls(void)
{
    pthread_mutex_lock(&crash_lock);
    int64_t seen = plan.seen;
    leave(PASS);
    return seen;
}

/* Logs to a file from now on, which must be elsewhere; an empty name ends that. */
EXPORT int crash_log(const char *file)
{
    pthread_mutex_lock(&crash_lock);
    FILE *before = record;
    record = NULL;
    pthread_mutex_unlock(&crash_lock);
    int status = before ? fclose(before) : 0;
    FILE *next = file[0] ? fopen(file, "w") : NULL;
    if (file[0] && !next) {
        return -1;
    }
    pthread_mutex_lock(&crash_lock);
    record = next;
    pthread_mutex_unlock(&crash_lock);
    return status;
}

/* Puts a mark into the log. */
EXPORT void crash_mark(int64_t value)
{
    pthread_mutex_lock(&crash_lock);
    note(MARKED, -1, value, NULL, NULL, 0);
    leave(PASS);
}

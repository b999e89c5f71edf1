// SPDX-License-Identifier: Apache-2.0
/*
 * Stands between a program and the C library's calls on files below one folder: counts them, fails or shortens one,
 * kills the process before or after one, and logs what they did. Loaded before the C library:
 *
 *   cc -shared -fPIC -O1 -pthread -fvisibility=hidden -o libcrash_shim.so *.c
 *   LD_PRELOAD=./libcrash_shim.so java ...
 *
 * The program steers it through the crash_ functions in control.c. Each call on a watched file is made under one lock, so
 * the log has the order in which they happened. Calls go to the kernel by syscall(2), which needs 64-bit Linux.
 *
 * A log is a sequence of records in the byte order of the machine:
 *
 *   i32 operation, i32 descriptor, i64 call number, i64 value, i32 n, i32 m, n bytes of a path, m bytes of a second
 *   path or of data
 *
 * with paths below the folder, and the empty one for the folder itself. Calls that failed are not in it.
 */
#ifndef CRASH_H
#define CRASH_H

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

/* What a call is; CallShim has the same numbers. */
enum kind {
    OPEN = 1, CREATE = 2, WRITE = 4, TRUNCATE = 8, SYNC = 16, RENAME = 32, LINK = 64, REMOVE = 128, MKDIR = 256,
    CLOSE = 512, LOCK = 1024, READ = 2048, LOOK = 4096
};
enum action { PASS = 0, FAIL = 1, SHORTEN = 2, KILL_BEFORE = 3, KILL_AFTER = 4 };

/* What a record of the log is; CallLog has the same letters. */
enum operation {
    OPENED = 'O', DUPLICATED = 'D', CLOSED = 'C', WRITTEN = 'W', TRUNCATED = 'T', SYNCED = 'S', RENAMED = 'R',
    LINKED = 'L', SYMLINKED = 'Y', UNLINKED = 'U', RMDIRED = 'X', MKDIRED = 'M', MAPPED = 'P', MARKED = '!'
};

extern pthread_mutex_t crash_lock;

/* Of control.c; all but leave() under the lock. */

/* The path below the folder, or null. The folder and all paths are absolute; of others only those of a descriptor. */
const char *below(int folder, const char *path, char *room);
/* The path of a descriptor below the folder, or null. */
const char *open_name(int fd);
void forget(int fd);
void remember(int fd, const char *name);
/* Counts a call, and says what to do with it. */
enum action meet(enum kind kind, const char *name);
/* Ends a call, and the lock: with what the kernel said, or dead. */
void leave(enum action action);
/* Puts what was done into the log. */
void note(enum operation operation, int fd, int64_t value, const char *first, const void *second,
        int32_t second_bytes);

/* A call of one kind on one name whose result is a status; SYSCALL is made unless the call is to fail. */
#define STATUS(result, kind, name, syscall_made, noted) do { \
    enum action action = meet(kind, name); \
    if (action == FAIL) { \
        result = -1; \
    } else { \
        result = (syscall_made); \
        if (result >= 0) { \
            noted; \
        } \
    } \
    leave(action); \
} while (0)

#define ON_DESCRIPTOR(fd, kind, syscall_made, noted) do { \
    pthread_mutex_lock(&crash_lock); \
    long result; \
    if (!open_name(fd)) { \
        result = (syscall_made); \
        leave(PASS); \
    } else { \
        STATUS(result, kind, open_name(fd), syscall_made, noted); \
    } \
    return result; \
} while (0)

#define ON_PATH(folder, path, kind, syscall_made, noted) do { \
    char room[PATH_MAX]; \
    long result; \
    pthread_mutex_lock(&crash_lock); \
    const char *name = below(folder, path, room); \
    if (!name) { \
        result = (syscall_made); \
        leave(PASS); \
    } else { \
        STATUS(result, kind, name, syscall_made, noted); \
    } \
    return result; \
} while (0)

#endif

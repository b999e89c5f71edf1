/*
 * Stands between a program and the C library's calls on files below one folder: counts them, fails or shortens one,
 * kills the process before or after one, and logs what they did. Loaded before the C library:
 *
 *   cc -shared -fPIC -O1 -pthread -o libcrash_shim.so crash_shim.c
 *   LD_PRELOAD=./libcrash_shim.so java ...
 *
 * The program steers it through the crash_ functions at the end. Each call on a watched file is made under one lock, so
 * the log has the order in which they happened. Calls go to the kernel by syscall(2), which needs 64-bit Linux.
 *
 * A log is a sequence of records in the byte order of the machine:
 *
 *   i32 operation, i32 descriptor, i64 call number, i64 value, i32 n, i32 m, n bytes of a path, m bytes of a second
 *   path or of data
 *
 * with paths below the folder, and the empty one for the folder itself. Calls that failed are not in it.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define MAX_FILES 4096
#define EXPORT __attribute__((visibility("default")))
#define NEXT(function) ((__typeof__(&function)) dlsym(RTLD_NEXT, #function))

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

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
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

/* The path below the folder, or null. The folder and all paths are absolute; of others only those of a descriptor. */
static const char *below(int folder, const char *path, char *room)
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

static const char *open_name(int fd)
{
    return root_length && fd >= 0 && fd < MAX_FILES ? names[fd] : NULL;
}

static void forget(int fd)
{
    if (fd >= 0 && fd < MAX_FILES && names[fd]) {
        free(names[fd]);
        names[fd] = NULL;
    }
}

static void remember(int fd, const char *name)
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

/* Counts a call, under the lock, and says what to do with it. */
static enum action meet(enum kind kind, const char *name)
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

/* Ends a call: with what the kernel said, or dead. */
static void leave(enum action action)
{
    if (action == KILL_AFTER) {
        kill(getpid(), SIGKILL);
        pause();
    }
    int error = errno;
    pthread_mutex_unlock(&lock);
    errno = error;
}

static void note(enum operation operation, int fd, int64_t value, const char *first, const void *second,
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

/* ---- open and close */

static int open_at(int folder, const char *path, int flags, mode_t mode)
{
    char room[PATH_MAX];
    pthread_mutex_lock(&lock);
    const char *name = below(folder, path, room);
    int fd;
    if (!name) {
        fd = syscall(SYS_openat, folder, path, flags, mode);
        if (fd >= 0) {
            forget(fd);
        }
        leave(PASS);
        return fd;
    }
    STATUS(fd, flags & O_CREAT ? CREATE : OPEN, name, syscall(SYS_openat, folder, path, flags, mode),
            (remember(fd, name), note(OPENED, fd, flags, name, NULL, 0)));
    return fd;
}

static mode_t mode_of(int flags, va_list rest)
{
    return flags & (O_CREAT | __O_TMPFILE) ? va_arg(rest, mode_t) : 0;
}

#define OPEN_FUNCTION(function) \
    EXPORT int function(const char *path, int flags, ...) { \
        va_list rest; \
        va_start(rest, flags); \
        mode_t mode = mode_of(flags, rest); \
        va_end(rest); \
        return open_at(AT_FDCWD, path, flags, mode); \
    }
#define OPENAT_FUNCTION(function) \
    EXPORT int function(int folder, const char *path, int flags, ...) { \
        va_list rest; \
        va_start(rest, flags); \
        mode_t mode = mode_of(flags, rest); \
        va_end(rest); \
        return open_at(folder, path, flags, mode); \
    }
OPEN_FUNCTION(open)
OPEN_FUNCTION(open64)
OPENAT_FUNCTION(openat)
OPENAT_FUNCTION(openat64)

EXPORT int creat(const char *path, mode_t mode) { return open_at(AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC, mode); }
EXPORT int creat64(const char *path, mode_t mode) { return creat(path, mode); }

/* A close that fails has closed the descriptor, as Linux does. */
EXPORT int close(int fd)
{
    pthread_mutex_lock(&lock);
    if (!open_name(fd)) {
        forget(fd);
        int status = syscall(SYS_close, fd);
        leave(PASS);
        return status;
    }
    enum action action = meet(CLOSE, open_name(fd));
    int error = errno;
    int status = syscall(SYS_close, fd);
    forget(fd);
    note(CLOSED, fd, 0, NULL, NULL, 0);
    if (action == FAIL) {
        status = -1;
        errno = error;
    }
    leave(action);
    return status;
}

EXPORT int dup(int fd)
{
    pthread_mutex_lock(&lock);
    int copy = syscall(SYS_dup, fd);
    if (copy >= 0) {
        forget(copy);
        if (open_name(fd)) {
            remember(copy, open_name(fd));
            note(DUPLICATED, fd, copy, NULL, NULL, 0);
        }
    }
    leave(PASS);
    return copy;
}

EXPORT int dup2(int fd, int copy)
{
    pthread_mutex_lock(&lock);
    forget(copy);
    int status = syscall(SYS_dup3, fd, copy, 0);
    leave(PASS);
    return status;
}

/* ---- data */

/* Writes what of the pieces fits in a limit, at an offset or, if that is negative, at the file's own. */
static ssize_t write_pieces(int fd, const struct iovec *pieces, int count, off64_t offset)
{
    pthread_mutex_lock(&lock);
    const char *name = open_name(fd);
    size_t bytes = 0;
    for (int i = 0; i < count; i++) {
        bytes += pieces[i].iov_len;
    }
    enum action action = name ? meet(WRITE, name) : PASS;
    ssize_t written = -1;
    if (action != FAIL) {
        struct iovec half = {count ? pieces[0].iov_base : NULL, count ? (pieces[0].iov_len + 1) / 2 : 0};
        const struct iovec *from = action == SHORTEN ? &half : pieces;
        int pieces_written = action == SHORTEN ? 1 : count;
        off64_t at = offset >= 0 || !name ? offset : syscall(SYS_lseek, fd, 0, SEEK_CUR);
        if (name && offset < 0 && syscall(SYS_fcntl, fd, F_GETFL) & O_APPEND) {
            at = syscall(SYS_lseek, fd, 0, SEEK_END);
        }
        written = offset >= 0 ? syscall(SYS_pwritev, fd, from, pieces_written, offset, 0)
                : syscall(SYS_writev, fd, from, pieces_written);
        size_t left = written > 0 ? written : 0;
        for (int i = 0; name && left; i++) {
            size_t step = left < from[i].iov_len ? left : from[i].iov_len;
            note(WRITTEN, fd, at, NULL, from[i].iov_base, step);
            at += step;
            left -= step;
        }
    }
    leave(action);
    return written;
}

static ssize_t write_one(int fd, const void *bytes, size_t count, off64_t offset)
{
    struct iovec piece = {(void *) bytes, count};
    return write_pieces(fd, &piece, 1, offset);
}

EXPORT ssize_t write(int fd, const void *bytes, size_t count)
{
    return open_name(fd) ? write_one(fd, bytes, count, -1) : syscall(SYS_write, fd, bytes, count);
}
EXPORT ssize_t pwrite(int fd, const void *bytes, size_t count, off_t at) { return write_one(fd, bytes, count, at); }
EXPORT ssize_t pwrite64(int fd, const void *bytes, size_t count, off64_t at) { return write_one(fd, bytes, count, at); }
EXPORT ssize_t writev(int fd, const struct iovec *v, int n) { return write_pieces(fd, v, n, -1); }
EXPORT ssize_t pwritev(int fd, const struct iovec *v, int n, off_t at) { return write_pieces(fd, v, n, at); }
EXPORT ssize_t pwritev64(int fd, const struct iovec *v, int n, off64_t at) { return write_pieces(fd, v, n, at); }

/* Copies by the kernel are refused, so that the program writes what it copies, and the log has the bytes. */
EXPORT ssize_t sendfile(int to, int from, off_t *at, size_t count)
{
    if (open_name(to)) {
        errno = EINVAL;
        return -1;
    }
    return syscall(SYS_sendfile, to, from, at, count);
}
EXPORT ssize_t sendfile64(int to, int from, off64_t *at, size_t n) { return sendfile(to, from, (off_t *) at, n); }

EXPORT ssize_t copy_file_range(int from, off64_t *from_at, int to, off64_t *to_at, size_t count, unsigned flags)
{
    if (open_name(to)) {
        errno = EXDEV;
        return -1;
    }
    return syscall(SYS_copy_file_range, from, from_at, to, to_at, count, flags);
}

#define ON_DESCRIPTOR(fd, kind, syscall_made, noted) do { \
    pthread_mutex_lock(&lock); \
    long result; \
    if (!open_name(fd)) { \
        result = (syscall_made); \
        leave(PASS); \
    } else { \
        STATUS(result, kind, open_name(fd), syscall_made, noted); \
    } \
    return result; \
} while (0)

EXPORT int ftruncate(int fd, off_t size)
{
    ON_DESCRIPTOR(fd, TRUNCATE, syscall(SYS_ftruncate, fd, size), note(TRUNCATED, fd, size, NULL, NULL, 0));
}
EXPORT int ftruncate64(int fd, off64_t size) { return ftruncate(fd, size); }
EXPORT int fsync(int fd) { ON_DESCRIPTOR(fd, SYNC, syscall(SYS_fsync, fd), note(SYNCED, fd, 0, NULL, NULL, 0)); }
EXPORT int fdatasync(int fd)
{
    ON_DESCRIPTOR(fd, SYNC, syscall(SYS_fdatasync, fd), note(SYNCED, fd, 1, NULL, NULL, 0));
}

EXPORT ssize_t read(int fd, void *bytes, size_t count)
{
    if (!open_name(fd)) {       /* may block: not under the lock */
        return syscall(SYS_read, fd, bytes, count);
    }
    ON_DESCRIPTOR(fd, READ, syscall(SYS_read, fd, bytes, count), (void) 0);
}
EXPORT ssize_t pread64(int fd, void *bytes, size_t count, off64_t at)
{
    ON_DESCRIPTOR(fd, READ, syscall(SYS_pread64, fd, bytes, count, at), (void) 0);
}
EXPORT ssize_t pread(int fd, void *bytes, size_t count, off_t at) { return pread64(fd, bytes, count, at); }
EXPORT ssize_t readv(int fd, const struct iovec *v, int n)
{
    if (!open_name(fd)) {
        return syscall(SYS_readv, fd, v, n);
    }
    ON_DESCRIPTOR(fd, READ, syscall(SYS_readv, fd, v, n), (void) 0);
}

EXPORT int fcntl(int fd, int command, ...)
{
    va_list rest;
    va_start(rest, command);
    void *argument = va_arg(rest, void *);
    va_end(rest);
    if (!open_name(fd) || (command != F_SETLK && command != F_SETLKW && command != F_OFD_SETLK)) {
        return syscall(SYS_fcntl, fd, command, argument);
    }
    ON_DESCRIPTOR(fd, LOCK, syscall(SYS_fcntl, fd, command, argument), (void) 0);
}
EXPORT int fcntl64(int fd, int command, ...)
{
    va_list rest;
    va_start(rest, command);
    void *argument = va_arg(rest, void *);
    va_end(rest);
    return fcntl(fd, command, argument);
}

/* A store into mapped memory is not seen here; CallLog refuses a log with a writable mapping. */
EXPORT void *mmap(void *at, size_t bytes, int protection, int flags, int fd, off_t offset)
{
    if (open_name(fd) && protection & PROT_WRITE && flags & MAP_SHARED) {
        pthread_mutex_lock(&lock);
        note(MAPPED, fd, 0, open_name(fd), NULL, 0);
        leave(PASS);
    }
    return (void *) syscall(SYS_mmap, at, bytes, protection, flags, fd, offset);
}
EXPORT void *mmap64(void *at, size_t bytes, int protection, int flags, int fd, off64_t offset)
{
    return mmap(at, bytes, protection, flags, fd, offset);
}

/* ---- names */

#define ON_PATH(folder, path, kind, syscall_made, noted) do { \
    char room[PATH_MAX]; \
    long result; \
    pthread_mutex_lock(&lock); \
    const char *name = below(folder, path, room); \
    if (!name) { \
        result = (syscall_made); \
        leave(PASS); \
    } else { \
        STATUS(result, kind, name, syscall_made, noted); \
    } \
    return result; \
} while (0)

static int rename_at(int folder, const char *path, int new_folder, const char *new_path, unsigned flags)
{
    char new_room[PATH_MAX];
    ON_PATH(folder, path, RENAME, syscall(SYS_renameat2, folder, path, new_folder, new_path, flags), {
        const char *to = below(new_folder, new_path, new_room);
        note(RENAMED, -1, flags, name, to ? to : "..", to ? strlen(to) : 2);
    });
}
EXPORT int rename(const char *path, const char *to) { return rename_at(AT_FDCWD, path, AT_FDCWD, to, 0); }
EXPORT int renameat(int a, const char *path, int b, const char *to) { return rename_at(a, path, b, to, 0); }
EXPORT int renameat2(int a, const char *path, int b, const char *to, unsigned flags)
{
    return rename_at(a, path, b, to, flags);
}

EXPORT int linkat(int folder, const char *path, int new_folder, const char *new_path, int flags)
{
    char new_room[PATH_MAX];
    ON_PATH(folder, path, LINK, syscall(SYS_linkat, folder, path, new_folder, new_path, flags), {
        const char *to = below(new_folder, new_path, new_room);
        note(LINKED, -1, 0, name, to ? to : "..", to ? strlen(to) : 2);
    });
}
EXPORT int link(const char *path, const char *to) { return linkat(AT_FDCWD, path, AT_FDCWD, to, 0); }

EXPORT int symlink(const char *content, const char *path)
{
    ON_PATH(AT_FDCWD, path, LINK, syscall(SYS_symlinkat, content, AT_FDCWD, path),
            note(SYMLINKED, -1, 0, name, content, strlen(content)));
}

EXPORT int unlinkat(int folder, const char *path, int flags)
{
    ON_PATH(folder, path, REMOVE, syscall(SYS_unlinkat, folder, path, flags),
            note(flags & AT_REMOVEDIR ? RMDIRED : UNLINKED, -1, 0, name, NULL, 0));
}
EXPORT int unlink(const char *path) { return unlinkat(AT_FDCWD, path, 0); }
EXPORT int rmdir(const char *path) { return unlinkat(AT_FDCWD, path, AT_REMOVEDIR); }

EXPORT int mkdirat(int folder, const char *path, mode_t mode)
{
    ON_PATH(folder, path, MKDIR, syscall(SYS_mkdirat, folder, path, mode), note(MKDIRED, -1, 0, name, NULL, 0));
}
EXPORT int mkdir(const char *path, mode_t mode) { return mkdirat(AT_FDCWD, path, mode); }

/* ---- looking */

static int stat_at(int folder, const char *path, void *into, int flags)
{
    ON_PATH(folder, path, LOOK, syscall(SYS_newfstatat, folder, path, into, flags), (void) 0);
}
static int stat_open(int fd, void *into)
{
    ON_DESCRIPTOR(fd, LOOK, syscall(SYS_fstat, fd, into), (void) 0);
}

/* The names that stat has in C libraries before and since 2.33; their structures are the kernel's. */
EXPORT int __xstat64(int v, const char *path, struct stat64 *s) { (void) v; return stat_at(AT_FDCWD, path, s, 0); }
EXPORT int __lxstat64(int v, const char *path, struct stat64 *s)
{
    (void) v;
    return stat_at(AT_FDCWD, path, s, AT_SYMLINK_NOFOLLOW);
}
EXPORT int __fxstat64(int v, int fd, struct stat64 *s) { (void) v; return stat_open(fd, s); }
EXPORT int stat64(const char *path, struct stat64 *s) { return stat_at(AT_FDCWD, path, s, 0); }
EXPORT int lstat64(const char *path, struct stat64 *s) { return stat_at(AT_FDCWD, path, s, AT_SYMLINK_NOFOLLOW); }
EXPORT int fstat64(int fd, struct stat64 *s) { return stat_open(fd, s); }
EXPORT int fstatat64(int a, const char *path, struct stat64 *s, int flags) { return stat_at(a, path, s, flags); }

EXPORT int statx(int folder, const char *path, int flags, unsigned mask, struct statx *into)
{
    if (flags & AT_EMPTY_PATH && !path[0]) {
        ON_DESCRIPTOR(folder, LOOK, syscall(SYS_statx, folder, path, flags, mask, into), (void) 0);
    }
    ON_PATH(folder, path, LOOK, syscall(SYS_statx, folder, path, flags, mask, into), (void) 0);
}

EXPORT int access(const char *path, int mode)
{
    ON_PATH(AT_FDCWD, path, LOOK, syscall(SYS_faccessat, AT_FDCWD, path, mode), (void) 0);
}

EXPORT char *realpath(const char *path, char *resolved)
{
    char room[PATH_MAX];
    pthread_mutex_lock(&lock);
    const char *name = below(AT_FDCWD, path, room);
    enum action action = name ? meet(LOOK, name) : PASS;
    leave(action);
    return action == FAIL ? NULL : NEXT(realpath)(path, resolved);
}

EXPORT DIR *opendir(const char *path)
{
    char room[PATH_MAX];
    pthread_mutex_lock(&lock);
    const char *name = below(AT_FDCWD, path, room);
    enum action action = name ? meet(LOOK, name) : PASS;
    DIR *stream = action == FAIL ? NULL : NEXT(opendir)(path);
    if (stream) {
        forget(dirfd(stream));
    }
    leave(action);
    return stream;
}

EXPORT int closedir(DIR *stream)
{
    pthread_mutex_lock(&lock);
    int fd = dirfd(stream);
    if (open_name(fd)) {
        note(CLOSED, fd, 0, NULL, NULL, 0);
    }
    forget(fd);
    int status = NEXT(closedir)(stream);
    leave(PASS);
    return status;
}

/* ---- how the program steers it */

/* Watches a folder, by its absolute path without links; an empty one watches nothing. */
EXPORT void crash_watch(const char *folder)
{
    pthread_mutex_lock(&lock);
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
    pthread_mutex_lock(&lock);
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
    pthread_mutex_lock(&lock);
    int fired = plan.fired;
    snprintf(where, room, "%s", fired ? plan.where : "");
    leave(PASS);
    return fired;
}

/* How many calls of the planned kinds there were. */
EXPORT int64_t crash_calls(void)
{
    pthread_mutex_lock(&lock);
    int64_t seen = plan.seen;
    leave(PASS);
    return seen;
}

/* Logs to a file from now on, which must be elsewhere; an empty name ends that. */
EXPORT int crash_log(const char *file)
{
    pthread_mutex_lock(&lock);
    FILE *before = record;
    record = NULL;
    pthread_mutex_unlock(&lock);
    int status = before ? fclose(before) : 0;
    FILE *next = file[0] ? fopen(file, "w") : NULL;
    if (file[0] && !next) {
        return -1;
    }
    pthread_mutex_lock(&lock);
    record = next;
    pthread_mutex_unlock(&lock);
    return status;
}

/* Puts a mark into the log. */
EXPORT void crash_mark(int64_t value)
{
    pthread_mutex_lock(&lock);
    note(MARKED, -1, value, NULL, NULL, 0);
    leave(PASS);
}

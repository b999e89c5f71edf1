// SPDX-License-Identifier: Apache-2.0
/* Opening, closing, and data: calls on descriptors. */
#define _GNU_SOURCE
#include "crash.h"
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/uio.h>

/* ---- open and close */

static int open_at(int folder, const char *path, int flags, mode_t mode)
{
    char room[PATH_MAX];
    pthread_mutex_lock(&crash_lock);
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
    pthread_mutex_lock(&crash_lock);
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
    pthread_mutex_lock(&crash_lock);
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
    pthread_mutex_lock(&crash_lock);
    forget(copy);
    int status = syscall(SYS_dup3, fd, copy, 0);
    leave(PASS);
    return status;
}

/* ---- data */

/* Writes what of the pieces fits in a limit, at an offset or, if that is negative, at the file's own. */
static ssize_t write_pieces(int fd, const struct iovec *pieces, int count, off64_t offset)
{
    pthread_mutex_lock(&crash_lock);
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
        pthread_mutex_lock(&crash_lock);
        note(MAPPED, fd, 0, open_name(fd), NULL, 0);
        leave(PASS);
    }
    return (void *) syscall(SYS_mmap, at, bytes, protection, flags, fd, offset);
}
EXPORT void *mmap64(void *at, size_t bytes, int protection, int flags, int fd, off64_t offset)
{
    return mmap(at, bytes, protection, flags, fd, offset);
}

// SPDX-License-Identifier: Apache-2.0
/* Names and attributes: calls on paths. */
#define _GNU_SOURCE
#include "crash.h"
#include <dirent.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/stat.h>

#define NEXT(function) ((__typeof__(&function)) dlsym(RTLD_NEXT, #function))

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
    pthread_mutex_lock(&crash_lock);
    const char *name = below(AT_FDCWD, path, room);
    enum action action = name ? meet(LOOK, name) : PASS;
    leave(action);
    return action == FAIL ? NULL : NEXT(realpath)(path, resolved);
}

EXPORT DIR *opendir(const char *path)
{
    char room[PATH_MAX];
    pthread_mutex_lock(&crash_lock);
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
    pthread_mutex_lock(&crash_lock);
    int fd = dirfd(stream);
    if (open_name(fd)) {
        note(CLOSED, fd, 0, NULL, NULL, 0);
    }
    forget(fd);
    int status = NEXT(closedir)(stream);
    leave(PASS);
    return status;
}

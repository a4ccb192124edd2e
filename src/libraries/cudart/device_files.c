/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Some programs look for NVIDIA's device files before they ask the driver (JAX: /dev/nvidia0, else
 * /dev/nvidiactl). Where these files are not there, stat() says here that they are: the devices
 * that the driver has are ours. Opening them fails as always.
 *
 * Part of what `warpage` preloads, so only the C library is used.
 */
#define _GNU_SOURCE /* RTLD_NEXT */
#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "warpage/error.h"

#define NVIDIA_MAJOR 195

/* Fills `out` after a call that failed, if `path` is a device file; else false. */
static bool is_ours(const char *path, struct stat *out) {
    const int error = errno;
    if (error != ENOENT || path == NULL || strncmp(path, "/dev/nvidia", 11) != 0) return false;
    const bool is_control = strcmp(path + 11, "ctl") == 0;
    if (!is_control && strcmp(path + 11, "0") != 0) return false;
    *out = (struct stat){.st_mode = S_IFCHR | 0666,
                         .st_nlink = 1,
                         .st_rdev = makedev(NVIDIA_MAJOR, is_control ? 255 : 0)};
    return true;
}

/* The C library's function of a name. */
static void *next(const char *name, void **found) {
    void *function = __atomic_load_n(found, __ATOMIC_RELAXED);
    if (function == NULL) {
        function = dlsym(RTLD_NEXT, name);
        __atomic_store_n(found, function, __ATOMIC_RELAXED);
    }
    return function;
}

static int look(const char *name, void **found, const char *path, struct stat *out) {
    int (*call)(const char *, struct stat *) = NULL;
    void *function = next(name, found);
    memcpy(&call, &function, sizeof call);
    if (call == NULL) {
        errno = ENOSYS;
        return -1;
    }
    const int status = call(path, out);
    return status != 0 && is_ours(path, out) ? 0 : status;
}

/* On x86-64 stat64 is stat. */
WP_API int stat(const char *path, struct stat *out) {
    static void *found;
    return look("stat", &found, path, out);
}

WP_API int stat64(const char *path, struct stat64 *out) {
    static void *found;
    return look("stat64", &found, path, (struct stat *)out);
}

/* What programs of a C library before 2.33 call. */
static int look_versioned(const char *name, void **found, int version, const char *path,
                          struct stat *out) {
    int (*call)(int, const char *, struct stat *) = NULL;
    void *function = next(name, found);
    memcpy(&call, &function, sizeof call);
    if (call == NULL) {
        errno = ENOSYS;
        return -1;
    }
    const int status = call(version, path, out);
    return status != 0 && is_ours(path, out) ? 0 : status;
}

WP_API int __xstat(int version, const char *path, struct stat *out);
WP_API int __xstat(int version, const char *path, struct stat *out) {
    static void *found;
    return look_versioned("__xstat", &found, version, path, out);
}

WP_API int __xstat64(int version, const char *path, struct stat *out);
WP_API int __xstat64(int version, const char *path, struct stat *out) {
    static void *found;
    return look_versioned("__xstat64", &found, version, path, out);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Python packages bring NVIDIA's libraries along and open them by their paths, or by a search path
 * of their own, which is before LD_LIBRARY_PATH, where ours are:
 *
 *     dlopen("…/site-packages/nvidia/cublas/lib/libcublas.so.12")   JAX's [cuda12], CuPy's [ctk]
 *
 * dlopen() here opens the library of that name beside this one, if there is one. A driver's own
 * libraries keep their paths: who names one of these wants that driver.
 *
 * Part of what `warpage` preloads, so only the C library is used.
 */
#define _GNU_SOURCE /* RTLD_NEXT, dladdr */
#include <dlfcn.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Our libraries that were asked for. dlopen's messages may keep their paths, so these stay. */
typedef struct known_library {
    struct known_library *next;
    char path[];
} known_library;

static known_library *known_libraries; /* grows at its head */
static void *next_dlopen;              /* the C library's */

/* The path, in memory that stays; NULL: there is none. */
static const char *keep_path(const char *path) {
    known_library *at = __atomic_load_n(&known_libraries, __ATOMIC_ACQUIRE);
    while (at != NULL && strcmp(at->path, path) != 0)
        at = at->next;
    if (at != NULL) return at->path;
    known_library *added = malloc(sizeof *added + strlen(path) + 1);
    if (added == NULL) return NULL;
    strcpy(added->path, path);
    added->next = __atomic_load_n(&known_libraries, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(&known_libraries, &added->next, added, true,
                                        __ATOMIC_RELEASE, __ATOMIC_RELAXED)) {
    }
    return added->path;
}

static bool is_of_a_driver(const char *name) {
    return strncmp(name, "libcuda.so", 10) == 0 || strncmp(name, "libnvidia-ml.so", 15) == 0;
}

/* What to open in place of `path`. */
static const char *library_instead(const char *path) {
    static const char here = 0;
    char ours[PATH_MAX];
    Dl_info self;
    const char *slash = path != NULL ? strrchr(path, '/') : NULL;
    const char *name = slash != NULL ? slash + 1 : path;
    if (name == NULL || strncmp(name, "lib", 3) != 0 || is_of_a_driver(name) ||
        dladdr(&here, &self) == 0 || self.dli_fname == NULL)
        return path;
    const char *end = strrchr(self.dli_fname, '/');
    const int folder_bytes = end != NULL ? (int)(end + 1 - self.dli_fname) : 0;
    const int length = snprintf(ours, sizeof ours, "%.*s%s", folder_bytes, self.dli_fname, name);
    const bool is_there = end != NULL && (size_t)length < sizeof ours && access(ours, R_OK) == 0;
    const char *kept = is_there ? keep_path(ours) : NULL;
    return kept != NULL ? kept : path;
}

/* The first part of dlopen(), below. */
__attribute__((used)) static const char *begin_dlopen(const char *path) {
    if (__atomic_load_n(&next_dlopen, __ATOMIC_RELAXED) == NULL)
        __atomic_store_n(&next_dlopen, dlsym(RTLD_NEXT, "dlopen"), __ATOMIC_RELAXED);
    return library_instead(path);
}

/* The C library searches where its caller's RUNPATH says, by the return address: so it is not
 * called, but jumped to. */
__asm__(".text\n"
        ".globl dlopen\n"
        ".type dlopen, @function\n"
        "dlopen:\n"
        ".cfi_startproc\n"
        "endbr64\n"
        "pushq %rsi\n"
        ".cfi_adjust_cfa_offset 8\n"
        "call begin_dlopen\n"
        "popq %rsi\n"
        ".cfi_adjust_cfa_offset -8\n"
        "movq %rax, %rdi\n"
        "jmp *next_dlopen(%rip)\n"
        ".cfi_endproc\n"
        ".size dlopen, . - dlopen\n");

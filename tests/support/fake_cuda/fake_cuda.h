/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A stand-in for NVIDIA's driver: a shared library with the driver's functions that checks how it
 * is called. Load it as WARPAGE_LIBCUDA.
 *
 *   - a context must be current, handles must live, ranges must lie in live memory, copies must say
 *     the right kind of memory; everything else is a misuse, which is counted and described
 *   - a stream does its work on a thread of its own, on host memory; kernels are executed by the
 *     machine of tests/support/ptx_machine, from their PTX. A kernel's fault sticks, and is
 *     described on stderr
 *   - device memory begins with anything
 *   - any call can be made to fail; a sticky result then answers every call until the reset
 *
 * Environment: FAKE_CUDA_FAIL="cuMemAlloc_v2:2:700 …" (the second call returns 700),
 * FAKE_CUDA_VERSION (12040), FAKE_CUDA_DEVICES (1), FAKE_CUDA_SM (80), FAKE_CUDA_MEMORY (bytes; 1
 * GiB), FAKE_CUDA_HOST_OFFSET (from a host address to the device's, 0), FAKE_CUDA_PAGEABLE
 * (1: kernels reach the program's own memory; 0), FAKE_CUDA_ENDLESS
 * (1: streams are never idle, except the default one, and waiting for all never ends),
 * FAKE_CUDA_FIXED_PAGES (1: pages of managed memory do not move: no GPU is a place for them),
 * FAKE_CUDA_SPEED (any: says how fast kernels were executed).
 *
 * The hooks are for tests in the same process: dlsym(…, "fake_cuda_get_hooks").
 */
#ifndef FAKE_CUDA_H
#define FAKE_CUDA_H

#include <stddef.h>
#include <stdint.h>

/** What lives, by kind. */
typedef enum fake_cuda_kind {
    FAKE_CONTEXT = 0, /* retains */
    FAKE_MEMORY,      /* device and managed */
    FAKE_HOST,        /* page-locked */
    FAKE_REGISTERED,
    FAKE_STREAM,
    FAKE_EVENT,
    FAKE_MODULE,
    FAKE_ARRAY,
    FAKE_TEXTURE,
    FAKE_SURFACE,
    FAKE_KIND_COUNT /* must be last */
} fake_cuda_kind;

/** The launch checked last. */
typedef struct fake_cuda_launch {
    char kernel[128];
    unsigned grid[3], block[3], shared_bytes;
    int is_cooperative;
    unsigned param_count;
    size_t param_bytes; /* all, each at a multiple of 16 */
    unsigned char params[1024];
} fake_cuda_launch;

/** What the last event and the last stream were made with. */
typedef struct fake_cuda_given {
    unsigned event_flags;
    int stream_priority;
} fake_cuda_given;

typedef struct fake_cuda_hooks {
    /** The n-th call from now on (1: the next) of a symbol returns `result`; n 0: never. "*": of
     *  any symbol. */
    void (*fail_at)(const char *symbol, unsigned n, int result);
    unsigned (*calls)(const char *symbol); /* "*": all */
    unsigned (*live)(fake_cuda_kind kind);
    unsigned (*misuses)(const char **first); /* how many; what the first was */
    void (*forget_misuses)(void);
    unsigned (*launches)(fake_cuda_launch *last);
    unsigned (*left)(void);      /* objects that lived when the context was given up last */
    const char *(*failed)(void); /* the symbol that failed since fail_at; "": none */
    fake_cuda_given (*given)(void);
} fake_cuda_hooks;

const fake_cuda_hooks *fake_cuda_get_hooks(void);

#endif

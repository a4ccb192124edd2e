/* SPDX-License-Identifier: Apache-2.0 */
/** Puts the stand-in for NVIDIA's driver in its place, and finds its hooks. */
#ifndef WP_TEST_FAKE_DRIVER_H
#define WP_TEST_FAKE_DRIVER_H

#include <dlfcn.h>
#include <stdlib.h>

#include "fake_cuda/fake_cuda.h"
#include "wp_test.h"

#define FAKE_CUDA_PATH WP_TEST_BUILD_DIR "/tests/libfake_cuda.so"
#define FAKE_CUDA_OLD_PATH WP_TEST_BUILD_DIR "/tests/libfake_cuda_old.so"

/** Devices of kind "cuda" opened from now on are the fake driver's. */
static inline const fake_cuda_hooks *fake_driver_use(void) {
    setenv("WARPAGE_LIBCUDA", FAKE_CUDA_PATH, 1);
    void *library = dlopen(FAKE_CUDA_PATH, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) fail_msg("%s", dlerror());
    const fake_cuda_hooks *(*get)(void);
    *(void **)(void *)&get = dlsym(library, "fake_cuda_get_hooks");
    assert_non_null(get);
    return get();
}

/** Nothing was called in a way that the driver does not allow. */
static inline void assert_no_misuse(const fake_cuda_hooks *fake) {
    const char *first;
    if (fake->misuses(&first) != 0) fail_msg("misuse of the driver: %s", first);
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/** Paths of clang, our headers, libraries and device libraries, relative to wpcc itself. */
#ifndef WP_COMPILER_TOOLCHAIN_H
#define WP_COMPILER_TOOLCHAIN_H

#include <stdbool.h>

#include "warpage/error.h"

typedef struct wpi_toolchain {
    char *prefix;       /* the folder above bin/ */
    char *clang;        /* clang; $WARPAGE_CLANG overrides the one found at build time */
    char *cuda_dir;     /* the folder that serves as CUDA_PATH */
    char *include_dir;  /* the CUDA dialect */
    char *lib_dir;      /* libwarpage.so */
    char *cuda_lib_dir; /* libcudart.so and its kin */
    char *devicelib;    /* device functions for kernels on the CPU */
    char *nvptxlib;     /* … on NVIDIA's GPUs */
    char *policy_dir;   /* <prefix>/lib/warpage/policy: headers and helpers of policies */
    bool has_openmp;    /* LLVM's OpenMP library is installed beside clang */
} wpi_toolchain;

WP_NODISCARD wp_status wpi_toolchain_find(wpi_toolchain *out, wp_error *err);
void wpi_toolchain_deinit(wpi_toolchain *toolchain);

/** Whether `dir` has headers of another CUDA toolkit, which must not be mixed with ours. */
bool wpi_toolchain_is_foreign(const wpi_toolchain *toolchain, const char *dir);

#endif

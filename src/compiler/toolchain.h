/* SPDX-License-Identifier: Apache-2.0 */
/** Where things are: clang, our headers, libraries and device library, relative to wpcc itself. */
#ifndef WP_COMPILER_TOOLCHAIN_H
#define WP_COMPILER_TOOLCHAIN_H

#include "warpage/error.h"

typedef struct wp_toolchain {
    char *prefix;      /* the folder above bin/ */
    char *clang;       /* clang; $WARPAGE_CLANG wins over the one found at build time */
    char *include_dir; /* the CUDA dialect */
    char *lib_dir;     /* libwarpage.so */
    char *cuda_lib_dir; /* libcudart.so and its kin */
    char *devicelib;
} wp_toolchain;

WP_NODISCARD wp_status wpi_toolchain_find(wp_toolchain *out, wp_error *err);
void wpi_toolchain_deinit(wp_toolchain *toolchain);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/** Shared libraries that wpcc makes from the image of a running program, for libwarpage: common to
 * `wpcc --variant`, `wpcc --stream-library` and `wpcc --module-library`. */
#ifndef WP_COMPILER_LIBRARY_BUILD_H
#define WP_COMPILER_LIBRARY_BUILD_H

#include "base/cpu_isa.h"
#include "compiler/driver/job.h"

/** The bitcode of an image. */
typedef struct wpi_image_bitcode {
    char *data; /* wpi_free */
    size_t size_bytes;
    uint64_t id;   /* of the image; 0: the file was bitcode, as of -emit-llvm */
    uint32_t arch; /* of its PTX: 70 for sm_70; 0: none */
} wpi_image_bitcode;

/** Reads an image or a file of bitcode. PARSE: neither, or damaged. */
WP_NODISCARD wp_status wpi_image_bitcode_read(const char *path, wpi_image_bitcode *out,
                                              wp_error *err);

typedef struct wpi_library_words {
    const char *image, *library; /* paths, borrowed from argv */
    wpi_cpu_isas isas;           /* --cpu-isa; all */
} wpi_library_words;

/** The words "IMAGE -o LIBRARY [--cpu-isa=…]" after the first option, in any order. `option` names
 * the command in messages. INVALID. */
WP_NODISCARD wp_status wpi_library_words_parse(int argc, char **argv, const char *option,
                                               wpi_library_words *out, wp_error *err);

/** Links objects to a shared library. */
WP_NODISCARD wp_status wpi_library_link(wpi_compile_job *job, const wpi_strings *objects,
                                        const char *output, wp_error *err);

typedef wp_status (*wpi_library_fn)(wpi_compile_job *job, const void *request, wp_error *err);

/** Runs build() supervised, in a job with a temporary folder. OK: it ran, its message is printed,
 * and *exit_code is 0, 2 (wrong usage), WP_LIBRARY_REFUSED, or 1. */
WP_NODISCARD wp_status wpi_library_run(wpi_library_fn build, const void *request, int *exit_code,
                                       wp_error *err);

#endif

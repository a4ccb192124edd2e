/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Rewrites: what is added to device bitcode before anything is made of it. The image, its id, the
 * PTX, the CPU code and every variant then contain the result. A program without relocatable
 * device code is rewritten file by file, one with it as a whole, after its device link.
 *
 * A rewrite reads nvptx64 bitcode and leaves nvptx64 bitcode. It adds functions; those of the
 * program stay as they are. A kernel that it makes from `<name>` is called `<name>$<rewrite>` (PTX
 * has no dot in names) and is found by that name in the module (wp_module_find_kernel).
 *
 * Adding a rewrite: write rewrite/<name>.c, declare it here, add a row to rewrite.c, add
 * tests/ir/rewrite_<name>.cu with FileCheck lines.
 */
#ifndef WP_COMPILER_REWRITE_H
#define WP_COMPILER_REWRITE_H

#include <stdint.h>

#include <stdbool.h>

#include "base/strings.h"
#include "compiler/context.h"

/** Each of `names` is NAME or NAME:ARGUMENT, and the same NAME may occur with several arguments.
 * INVALID: an unknown name (the message lists the known ones), an argument too many or missing, the
 * same twice. */
WP_NODISCARD wp_status wpi_rewrite_check(const wpi_strings *names, wp_error *err);
/** Runs the rewrites in the order of `names` on the bitcode file `path`, which is replaced. */
WP_NODISCARD wp_status wpi_rewrite_file(const char *path, const wpi_strings *names, wp_error *err);
/** The id of what `id` becomes under these rewrites. */
uint64_t wpi_rewrite_id(const wpi_strings *names, uint64_t id);

/** Declares `<kernel>$<rewrite>` with the parameters of the kernel, then the `count` of `more`; it
 * is a kernel with the same attributes (and bounds, if it keeps those), and has no body yet. */
LLVMValueRef wpi_rewrite_sibling(wpi_compile *c, const wpi_kernel_ir *kernel, const char *rewrite,
                                 const LLVMTypeRef *more, unsigned count, bool keeps_bounds);

/** Deletes the lists that name functions and variables only to keep them, or to describe them. */
void wpi_rewrite_drop_lists(wpi_compile *c);

/** What the rewrite `cache` takes: "LINE" or, with commas between, "line=LINE", "lines=N",
 * "layout=dense|padded". */
typedef struct wpi_cache_options {
    uint32_t line_bytes; /* 8, 16, 24, 32; 0: kernels get no cached form, and facts say why */
    uint32_t ways;       /* lines of a structure */
    bool is_dense;       /* lines without gaps, which let a warp's lines fall into the same banks */
    bool has_runs;       /* loops over consecutive elements load whole lines */
} wpi_cache_options;

/** cache: `<kernel>$cache` does what the kernel does and caches in shared memory what pays
 * (docs/rooms/cache.md); `<kernel>$cache$facts` says what it caches, or why there is no such form.
 * `argument`: as above, or NULL.
 */
WP_NODISCARD wp_status wpi_rewrite_cache(wpi_compile *c, const char *argument, wp_error *err);

/** Adds the cached form of `streamed`, which the rewrite `stream` made of `kernel`, with the
 * options of that kernel's. */
WP_NODISCARD wp_status wpi_rewrite_cache_streamed(wpi_compile *c, const char *kernel,
                                                  const char *streamed, wp_error *err);

/** INVALID: there is no such option. */
WP_NODISCARD wp_status wpi_rewrite_cache_check(const char *argument, wpi_cache_options *options,
                                               wp_error *err);

/** lockstep: changes nothing but a mark of functions, by which the lanes of a warp stay in step
 * (`wpcc --lockstep`). For variants. */
WP_NODISCARD wp_status wpi_rewrite_lockstep(wpi_compile *c, const char *argument, wp_error *err);

/** counted: `<kernel>$counted` does what the kernel does; its last parameter, `unsigned long long
 * *counts`, points to device memory, to which each thread adds at its end: [0] the loads and [1]
 * the stores (atomic operations are both) that it executed on memory that is not its own, [2] 1.
 * Accesses in functions that are not inlined are not counted. */
WP_NODISCARD wp_status wpi_rewrite_counted(wpi_compile *c, const char *argument, wp_error *err);

/** stream: `argument` is "KERNEL:MASK" (stream_argument.h). Adds `KERNEL$stream<mask>`, the form of
 * that kernel whose mapped parameters are streamed; of a mask with WPI_STREAM_LINES also
 * `KERNEL$stream<mask>$cache`. */
WP_NODISCARD wp_status wpi_rewrite_stream(wpi_compile *c, const char *argument, wp_error *err);

#endif

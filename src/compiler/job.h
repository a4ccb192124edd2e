/* SPDX-License-Identifier: Apache-2.0 */
/** One run of wpcc: options, tools, and the temporary folder the steps share. */
#ifndef WP_COMPILER_JOB_H
#define WP_COMPILER_JOB_H

#include "compiler/options.h"
#include "compiler/toolchain.h"

typedef struct wp_job {
    const wp_options *options;
    const wp_toolchain *tools;
    char *temp_dir;
    uint32_t temp_count;
    char *overlay; /* of the file being compiled: see launch_syntax.h; or NULL */
} wp_job;

/** A fresh path in the temporary folder: "<n>-<stem of name><extension>"; the caller frees it. */
char *wpi_job_temp(wp_job *job, const char *name, const char *extension);

/** Runs a command (prints it with -v, only prints it with -###). A command that fails has said why on
 *  stderr; `*failed` then tells so and the status is TOOLCHAIN with an empty message. */
WP_NODISCARD wp_status wpi_job_run(wp_job *job, const wp_strings *command, wp_error *err);

/** One input to one object (or to whatever the goal is when it is not an object). */
WP_NODISCARD wp_status wpi_compile_file(wp_job *job, const wp_input *input, const char *output, wp_error *err);

/** Host and CPU code of linked relocatable device code, as one object; `*object` stays NULL when no input has
 *  any. */
WP_NODISCARD wp_status wpi_device_link(wp_job *job, const wp_strings *inputs, char **object, wp_error *err);

/** Executable, shared or static library. */
WP_NODISCARD wp_status wpi_link(wp_job *job, const wp_strings *objects, const char *output, wp_error *err);

/** Device bitcode to image file and CPU objects (one an instruction set). `id` pairs them. Sets `*stopped` when
 *  --stop-after ended it (the IR then is in the -o file). */
WP_NODISCARD wp_status wpi_build_device(wp_job *job, const char *bitcode_path, uint64_t id, const char *image_path,
                                        wp_strings *objects, bool *stopped, wp_error *err);

/** Writes the object that carries relocatable device code: a section that linkers drop. */
WP_NODISCARD wp_status wpi_rdc_wrap(const char *bitcode_path, uint64_t id, const char *object_path, wp_error *err);

#endif

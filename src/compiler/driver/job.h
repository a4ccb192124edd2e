/* SPDX-License-Identifier: Apache-2.0 */
/** One run of wpcc: options, tools, and the temporary folder the steps share. */
#ifndef WP_COMPILER_JOB_H
#define WP_COMPILER_JOB_H

#include "base/text.h"
#include "compiler/driver/options.h"
#include "compiler/driver/task.h"
#include "compiler/driver/toolchain.h"

typedef struct wpi_compile_job {
    const wpi_options *options;
    const wpi_toolchain *tools;
    char *temp_dir;
    uint32_t temp_count;
    bool has_warned_of_cache;
    char *overlay;     /* of the file being compiled: see source_overlay.h; or NULL */
    char *hidden;      /* overlay: see foreign_headers.h; or NULL */
    bool is_host_side; /* what is being compiled; kernels and functions for the device are done */
    bool leaves_templates; /* of the file being compiled: bodies that are not used are not read */
    char *libraries, *libraries_overlay, *libraries_first; /* see cpp_libraries.h; or NULL */
    wpi_strings compiler_args; /* -Xcompiler's words as clang takes them */
    /* of --stream: see stream_option.h */
    wpi_strings kernels, streams_found;
    bool has_device_code, has_linked_code;
} wpi_compile_job;

/** A fresh path in the temporary folder: "<n>-<stem of name><extension>"; the caller frees it. */
char *wpi_job_temp(wpi_compile_job *job, const char *name, const char *extension);

/** Runs a command (prints it with -v, only prints it with -###). A failing command has printed its
 * error; the status is then TOOLCHAIN with an empty message. */
WP_NODISCARD wp_status wpi_job_run(wpi_compile_job *job, const wpi_strings *command, wp_error *err);
/** The same, printing `shown` in place of the command. */
WP_NODISCARD wp_status wpi_job_run_as(wpi_compile_job *job, const wpi_strings *command,
                                      const wpi_strings *shown, wp_error *err);
/** The same without printing the program's messages: they are appended to `talk`. */
WP_NODISCARD wp_status wpi_job_run_quietly(wpi_compile_job *job, const wpi_strings *command,
                                           const wpi_strings *shown, wpi_text *talk, wp_error *err);
/** Prints nvcc's lines before its commands: its path, and its folders. */
void wpi_job_print_environment(const wpi_compile_job *job);
/** Moves a finished temporary file to its name, atomically. */
WP_NODISCARD wp_status wpi_job_publish(const wpi_compile_job *job, const char *temp,
                                       const char *output, wp_error *err);

/** Fills job->compiler_args, without options that clang lacks, and checks requirements. */
WP_NODISCARD wp_status wpi_host_args_prepare(wpi_compile_job *job, wp_error *err);
/** Adds words, leaving out include folders of other CUDA toolkits: ours must not mix with them. */
void wpi_host_args_add(const wpi_compile_job *job, wpi_strings *command, const wpi_strings *words);

/** Compiles one input to an object (or another goal): writes `temp`; `output` is its final name. */
WP_NODISCARD wp_status wpi_compile_file(wpi_compile_job *job, const wpi_input *input,
                                        const char *output, const char *temp, wp_error *err);

/** Compiles a module of PTX text: an image, or bitcode. */
WP_NODISCARD wp_status wpi_compile_ptx(wpi_compile_job *job, const wpi_input *input,
                                       const char *temp, wp_error *err);

/** --through-ptx: replaces bitcode by that of the PTX which it compiles to. */
WP_NODISCARD wp_status wpi_ptx_there_and_back(wpi_compile_job *job, const char *bitcode_path,
                                              wp_error *err);

/** Links relocatable device code, and builds its host and CPU code as one object; `*object` is NULL
 * if no input has any, or if the inputs already have such an object. */
WP_NODISCARD wp_status wpi_device_link(wpi_compile_job *job, const wpi_strings *inputs,
                                       char **object, wp_error *err);
/** Writes an empty object. */
WP_NODISCARD wp_status wpi_empty_object(const char *path, wp_error *err);

/** Executable, shared or static library. */
WP_NODISCARD wp_status wpi_link(wpi_compile_job *job, const wpi_strings *objects,
                                const char *output, const char *temp, wp_error *err);

/** --policy: rejects sources that are not C, and a missing -o. */
WP_NODISCARD wp_status wpi_policy_check(const wpi_options *options, const wpi_toolchain *tools,
                                        wp_error *err);
/** Adds the dialect, the warnings and the headers with which policies are compiled. */
void wpi_policy_flags(const wpi_compile_job *job, wpi_strings *command);
/** Writes the policy file `temp` from objects; NOT_FOUND when they define no policy. */
WP_NODISCARD wp_status wpi_policy_link(wpi_compile_job *job, const wpi_strings *objects,
                                       const char *temp, wp_error *err);

/** Device bitcode to CPU objects, one an instruction set, and PTX, each compiled by a task. */
typedef struct wpi_device_build wpi_device_build;
/** Starts it; `objects` receives the paths. `id` pairs the objects with the image. With
 * --stop-after it is done at once: the IR is then in the -o file, and there are no objects. */
WP_NODISCARD wp_status wpi_device_build_start(wpi_compile_job *job, const char *bitcode_path,
                                              uint64_t id, const char *what, wpi_strings *objects,
                                              wpi_device_build **out, wp_error *err);
/** Waits for it, writes the image that programs embed, and frees it. If PTX cannot be made, warns
 * and omits it. */
WP_NODISCARD wp_status wpi_device_build_finish(wpi_device_build *build, const char *image_path,
                                               wp_error *err);
/** Ends it early and frees it; NULL allowed. */
void wpi_device_build_cancel(wpi_device_build *build);
/** Writes an image of bitcode and the PTX that it was made from. */
WP_NODISCARD wp_status wpi_device_image_of(wpi_compile_job *job, const char *bitcode_path,
                                           const char *ptx_path, uint64_t id,
                                           const char *image_path, wp_error *err);
/** Writes the image that programs embed, without tasks. */
WP_NODISCARD wp_status wpi_device_image(wpi_compile_job *job, const char *bitcode_path, uint64_t id,
                                        const char *image_path, wp_error *err);
/** Writes PTX text; unless it is relocatable, it carries the image (base/ptx_carrier.h). */
WP_NODISCARD wp_status wpi_device_ptx(wpi_compile_job *job, const char *bitcode_path, uint64_t id,
                                      const char *ptx_path, wp_error *err);

/** Whether `argv` is `wpcc --variant=NAME IMAGE -o LIBRARY`, which libwarpage runs. */
bool wpi_is_variant_command(int argc, char **argv);
/** OK: it ran, any message is printed, and *exit_code is its result. */
WP_NODISCARD wp_status wpi_variant_run(int argc, char **argv, int *exit_code, wp_error *err);

/** `wpcc --stream-library=KERNEL:MASK IMAGE -o LIBRARY`: the same for streamed kernels. */
bool wpi_is_stream_command(int argc, char **argv);
WP_NODISCARD wp_status wpi_stream_run(int argc, char **argv, int *exit_code, wp_error *err);

/** `wpcc --module-library IMAGE -o LIBRARY`: the same for the CPU code of a module. */
bool wpi_is_module_command(int argc, char **argv);
WP_NODISCARD wp_status wpi_module_run(int argc, char **argv, int *exit_code, wp_error *err);

/** Writes an object with relocatable device code, in a section that linkers drop. */
WP_NODISCARD wp_status wpi_rdc_wrap(const char *bitcode_path, uint64_t id, const char *object_path,
                                    wp_error *err);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* One source file: the device side through clang and our passes, the host side through clang with the image
 * in it, both merged into one object. */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/file.h"
#include "base/hash.h"
#include "compiler/job.h"
#include "compiler/launch_syntax.h"

#define SDK_VERSION "12.3" /* the launch protocol and features of that toolkit: CUDART_VERSION 12030 */

static void add(wp_strings *command, const char *const *words)
{
    for (; *words; words++) wp_strings_add(command, *words);
}
#define ADD(command, ...) add(command, (const char *const[]){__VA_ARGS__, NULL})

/* clang is stricter than nvcc's host compilers about old code; what they accept stays a warning. */
static const char *const lenient[] = {
    "-Wno-unknown-cuda-version", "-Wno-unused-command-line-argument", "-Wno-narrowing", "-Wno-register",
    "-Wno-writable-strings",     "-Wno-deprecated-register",          "-Wno-dynamic-exception-spec",
    "-Wno-unknown-warning-option", "-Wno-return-type",                "-Wno-vla-cxx-extension",
    "-Wno-error",                NULL};

static void add_language(wp_job *job, wp_strings *command, const wp_input *input)
{
    const wp_options *o = job->options;
    ADD(command, "-x", "cuda", "--cuda-path=/nonexistent", "-nocudainc", "-nocudalib", "-Xclang",
        "-target-sdk-version=" SDK_VERSION, "-isystem", job->tools->include_dir, "-include", "cuda_runtime.h");
    if (o->standard) wp_strings_addf(command, "-std=%s", o->standard);
    wp_strings_add_all(command, &o->source_args);
    add(command, lenient);
    if (o->quiet_warnings) wp_strings_add(command, "-w");
    if (o->per_thread_stream) wp_strings_add(command, "-DCUDA_API_PER_THREAD_DEFAULT_STREAM=1");
    if (o->fast_math) wp_strings_add(command, "-D__USE_FAST_MATH__=1");
    if (o->is_relocatable) ADD(command, "-fgpu-rdc", "-D__CUDACC_RDC__=1");
    if (job->overlay) ADD(command, "-ivfsoverlay", job->overlay);
    wp_strings_add(command, input->path);
}

/* A value that two compilations of the same file share and two files do not. */
static uint64_t unit_id(const wp_job *job, const wp_input *input, const char *output)
{
    uint64_t id = wp_hash64(input->path, strlen(input->path), 0x9e3779b97f4a7c15u);
    id = wp_hash64(output, strlen(output), id);
    for (size_t i = 0; i < job->options->source_args.count; i++)
        id = wp_hash64(job->options->source_args.items[i], strlen(job->options->source_args.items[i]), id);
    return id;
}

static wp_status device_front_end(wp_job *job, const wp_input *input, uint64_t unit, const char *bitcode,
                                  wp_error *err)
{
    const wp_options *o = job->options;
    wp_strings command = {0};
    wp_strings_add(&command, job->tools->clang);
    wp_strings_add(&command, "--driver-mode=g++");
    ADD(&command, "--cuda-device-only", "-O2", "-fno-vectorize", "-fno-slp-vectorize");
    wp_strings_addf(&command, "--cuda-gpu-arch=sm_%u", o->arch);
    wp_strings_addf(&command, "--cuda-feature=+ptx%s",
                    o->arch >= 90 ? "78" : o->arch >= 89 ? "78" : o->arch >= 86 ? "71" : o->arch >= 80 ? "70" : "63");
    wp_strings_addf(&command, "-cuid=%016llx", (unsigned long long)unit);
    if (o->fast_math) ADD(&command, "-ffast-math", "-fcuda-approx-transcendentals");
    if (o->no_contract) wp_strings_add(&command, "-ffp-contract=off");
    if (o->debug_device) wp_strings_add(&command, "-g");
    add_language(job, &command, input);
    ADD(&command, "-emit-llvm", "-c", "-o", bitcode);
    wp_status status = wpi_job_run(job, &command, err);
    wp_strings_deinit(&command);
    return status;
}

/* clang would name the depfile after our temporary object. */
static void add_depfile(wp_job *job, wp_strings *command, const wp_input *input)
{
    const wp_options *o = job->options;
    if (!o->depfile_args.count) return;
    char *stem = wp_path_stem(o->output ? o->output : input->path);
    char *dir = o->output ? wp_path_dir(o->output) : wp_strdup(".");
    wp_strings_add_all(command, &o->depfile_args);
    if (!wp_strings_contains(&o->depfile_args, "-MF")) {
        wp_strings_add(command, "-MF");
        wp_strings_addf(command, "%s/%s.d", dir, stem);
    }
    if (!wp_strings_contains(&o->depfile_args, "-MT") && !wp_strings_contains(&o->depfile_args, "-MQ")) {
        wp_strings_add(command, "-MT");
        wp_strings_addf(command, o->output ? "%s" : "%s.o", o->output ? o->output : stem);
    }
    wp_free(stem);
    wp_free(dir);
}

static wp_status host_side(wp_job *job, const wp_input *input, uint64_t unit, const char *image,
                           const char *action, const char *output, wp_error *err)
{
    const wp_options *o = job->options;
    wp_strings command = {0};
    ADD(&command, job->tools->clang, "--driver-mode=g++", "--cuda-host-only");
    wp_strings_addf(&command, "--cuda-gpu-arch=sm_%u", o->arch);
    wp_strings_addf(&command, "-O%c", o->optimization);
    wp_strings_add(&command, "-fPIC");
    if (image) ADD(&command, "-Xclang", "-fcuda-include-gpubinary", "-Xclang", image);
    wp_strings_add(&command, "-Xclang");
    wp_strings_addf(&command, "-cuid=%016llx", (unsigned long long)unit);
    wp_strings_add_all(&command, &o->host_args);
    add_language(job, &command, input);
    add_depfile(job, &command, input);
    ADD(&command, action, "-o", output);
    wp_status status = wpi_job_run(job, &command, err);
    wp_strings_deinit(&command);
    return status;
}

static wp_status merge(wp_job *job, const wp_strings *objects, const char *output, wp_error *err)
{
    wp_strings command = {0};
    ADD(&command, "ld", "-r", "-o", output);
    wp_strings_add_all(&command, objects);
    wp_status status = wpi_job_run(job, &command, err);
    wp_strings_deinit(&command);
    return status;
}

static uint64_t content_id(const char *path, uint64_t seed)
{
    char *data = NULL;
    size_t size_bytes = 0;
    if (wp_file_read(path, &data, &size_bytes, NULL) != WP_STATUS_OK) return seed;
    uint64_t id = wp_hash64(data, size_bytes, seed);
    wp_free(data);
    return id;
}

static wp_status compile_cuda(wp_job *job, const wp_input *input, const char *output, wp_error *err)
{
    const wp_options *o = job->options;
    uint64_t unit = unit_id(job, input, output);
    if (o->goal == WP_GOAL_PREPROCESS || o->goal == WP_GOAL_HOST_SOURCE)
        return host_side(job, input, unit, NULL, "-E", output, err);
    if (o->goal == WP_GOAL_DEPENDENCIES) return host_side(job, input, unit, NULL, "-M", output, err);

    char *bitcode = wpi_job_temp(job, input->path, ".bc");
    char *image = wpi_job_temp(job, input->path, ".image");
    char *host = wpi_job_temp(job, input->path, ".host.o");
    wp_strings objects = {0};
    bool stopped = false;
    wp_status status;
    WP_TRY_GOTO(device_front_end(job, input, unit, o->goal == WP_GOAL_BITCODE ? output : bitcode, err), done);
    if (o->goal == WP_GOAL_BITCODE) goto done;
    wp_strings_add(&objects, host);
    if (o->print_only) {
        WP_TRY_GOTO(host_side(job, input, unit, image, "-c", host, err), done);
        WP_TRY_GOTO(merge(job, &objects, output, err), done);
        goto done;
    }
    uint64_t id = content_id(bitcode, unit);
    if (o->is_relocatable) {
        char *carrier = wpi_job_temp(job, input->path, ".rdc.o");
        wp_strings_add_take(&objects, carrier);
        WP_TRY_GOTO(wpi_rdc_wrap(bitcode, id, carrier, err), done);
        WP_TRY_GOTO(wp_file_write(image, "", 0, err), done); /* the linked image takes its place */
    } else {
        WP_TRY_GOTO(wpi_build_device(job, bitcode, id, image, &objects, &stopped, err), done);
    }
    if (stopped) goto done;
    WP_TRY_GOTO(host_side(job, input, unit, image, "-c", host, err), done);
    WP_TRY_GOTO(merge(job, &objects, output, err), done);
done:
    wp_strings_deinit(&objects);
    wp_free(bitcode);
    wp_free(image);
    wp_free(host);
    return status;
}

static wp_status compile_plain(wp_job *job, const wp_input *input, const char *output, wp_error *err)
{
    const wp_options *o = job->options;
    bool is_c = input->language == WP_LANGUAGE_C;
    wp_strings command = {0};
    if (o->host_compiler) {
        wp_strings_add(&command, o->host_compiler);
    } else {
        wp_strings_add(&command, job->tools->clang);
        if (!is_c) wp_strings_add(&command, "--driver-mode=g++");
    }
    ADD(&command, "-x", is_c ? "c" : "c++", "-fPIC");
    wp_strings_addf(&command, "-O%c", o->optimization);
    if (o->standard && !is_c) wp_strings_addf(&command, "-std=%s", o->standard);
    wp_strings_add_all(&command, &o->source_args);
    ADD(&command, "-isystem", job->tools->include_dir);
    wp_strings_add_all(&command, &o->host_args);
    add_depfile(job, &command, input);
    if (o->quiet_warnings) wp_strings_add(&command, "-w");
    const char *action = o->goal == WP_GOAL_PREPROCESS     ? "-E"
                         : o->goal == WP_GOAL_DEPENDENCIES ? "-M"
                                                           : "-c";
    ADD(&command, action, input->path, "-o", output);
    wp_status status = wpi_job_run(job, &command, err);
    wp_strings_deinit(&command);
    return status;
}

wp_status wpi_compile_file(wp_job *job, const wp_input *input, const char *output, wp_error *err)
{
    if (!wp_file_exists(input->path))
        return WP_FAIL(err, NOT_FOUND, "%s: no such file", input->path);
    if (input->language != WP_LANGUAGE_CUDA) return compile_plain(job, input, output, err);
    WP_TRY(wpi_launch_syntax_overlay(job, input->path, &job->overlay, err));
    wp_status status = compile_cuda(job, input, output, err);
    wp_free(job->overlay);
    job->overlay = NULL;
    return status;
}

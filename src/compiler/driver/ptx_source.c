/* SPDX-License-Identifier: Apache-2.0 */
/* PTX text as a source: an image with the bitcode made of it, for all devices but GPUs, and the
 * text itself, for those. */
#include <string.h>

#include "base/fail.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/must.h"
#include "compiler/driver/finish.h"
#include "compiler/driver/job.h"
#include "compiler/nvptx/nvptx.h"
#include "compiler/ptx/module.h"

static wp_status check_goal(const wpi_options *o, const wpi_input *input, wp_error *err) {
    if (o->goal == WP_GOAL_CUBIN || o->goal == WP_GOAL_FATBIN || o->goal == WP_GOAL_BITCODE)
        return WP_STATUS_OK;
    return WP_FAIL(err, INVALID,
                   "%s: PTX has no host code; make a module of it with -cubin or -fatbin, which "
                   "cuModuleLoad loads",
                   input->path);
}

wp_status wpi_compile_ptx(wpi_compile_job *job, const wpi_input *input, const char *temp,
                          wp_error *err) {
    const wpi_options *o = job->options;
    char *text = NULL, *bitcode = NULL;
    size_t length = 0;
    wpi_compile *c = NULL;
    wp_status status;
    WP_TRY(check_goal(o, input, err));
    if (o->print_only) return WP_STATUS_OK;
    WP_TRY(wpi_file_read(input->path, &text, &length, err));
    bitcode =
        o->goal == WP_GOAL_BITCODE ? wpi_must_strdup(temp) : wpi_job_temp(job, input->path, ".bc");
    WP_TRY_GOTO(wpi_ptx_module_read(text, length, &c, err), done);
    WP_TRY_GOTO(wpi_compile_write(c, bitcode, err), done);
    WP_TRY_GOTO(wpi_finish_bitcode(bitcode, o, err), done);
    if (o->goal != WP_GOAL_BITCODE)
        status =
            wpi_device_image_of(job, bitcode, input->path, wpi_hash64(text, length, 1), temp, err);
done:
    wpi_compile_destroy(c);
    wpi_free(bitcode);
    wpi_free(text);
    return status;
}

wp_status wpi_ptx_there_and_back(wpi_compile_job *job, const char *bitcode_path, wp_error *err) {
    const wpi_ptx_options options = {.arch = job->options->arch,
                                     .library_path = job->tools->nvptxlib};
    char *bitcode = NULL, *text = NULL;
    size_t size_bytes = 0;
    wpi_compile *c = NULL;
    wp_status status;
    WP_TRY(wpi_file_read(bitcode_path, &bitcode, &size_bytes, err));
    WP_TRY_GOTO(wpi_ptx_compile(bitcode, size_bytes, &options, &text, err), done);
    WP_TRY_GOTO(wpi_ptx_module_read(text, strlen(text), &c, err), done);
    WP_TRY_GOTO(wpi_compile_write(c, bitcode_path, err), done);
    status = wpi_finish_bitcode(bitcode_path, job->options, err);
done:
    wpi_compile_destroy(c);
    wpi_free(text);
    wpi_free(bitcode);
    return status;
}

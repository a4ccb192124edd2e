/* SPDX-License-Identifier: Apache-2.0 */
/* Device bitcode to what a program carries: the image, and CPU code for each instruction set. */
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/file.h"
#include "compiler/emit/image.h"
#include "compiler/job.h"
#include "compiler/pipeline.h"

static wp_status build_isa(wp_job *job, const char *bitcode, size_t size_bytes, uint64_t id, wp_cpu_isa isa,
                           const char *object, bool *stopped, wp_error *err)
{
    wp_compile *c = NULL;
    WP_TRY(wpi_compile_create(bitcode, size_bytes, &c, err));
    c->image_id = id;
    c->isa = isa;
    c->contract = job->options->contract;
    c->devicelib_path = job->tools->devicelib;
    const wp_pipeline_options options = {
        .print_after = isa == WP_CPU_ISA_X86_64_V3 ? job->options->print_after : NULL,
        .stop_after = job->options->stop_after,
        .stop_output = job->options->output ? job->options->output : "/dev/stdout",
    };
    wp_status status = wpi_pipeline_run(c, &options, stopped, err);
    if (status == WP_STATUS_OK && !*stopped) status = wpi_emit_object(c, object, err);
    wpi_compile_destroy(c);
    return status;
}

wp_status wpi_build_device(wp_job *job, const char *bitcode_path, uint64_t id, const char *image_path,
                           wp_strings *objects, bool *stopped, wp_error *err)
{
    *stopped = false;
    char *bitcode = NULL;
    size_t size_bytes = 0;
    WP_TRY(wp_file_read(bitcode_path, &bitcode, &size_bytes, err));
    const wp_image_part part = {.kind = WP_SECTION_BITCODE, .data = bitcode, .size_bytes = size_bytes};
    wp_status status = wpi_image_write(image_path, id, &part, 1, err);
    static const struct {
        wp_cpu_isa isa;
        const char *extension;
    } sets[] = {{WP_CPU_ISA_X86_64_V3, ".v3.o"}, {WP_CPU_ISA_BASELINE, ".base.o"}};
    for (size_t i = 0; i < 2 && status == WP_STATUS_OK && !*stopped; i++) {
        char *object = wpi_job_temp(job, image_path, sets[i].extension);
        status = build_isa(job, bitcode, size_bytes, id, sets[i].isa, object, stopped, err);
        wp_strings_add_take(objects, object);
    }
    wp_free(bitcode);
    return status;
}

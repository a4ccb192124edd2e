/* SPDX-License-Identifier: Apache-2.0 */
/* Builds the parts of a program from device bitcode: the image, and CPU code for each instruction
 * set. */
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "base/file.h"
#include "base/must.h"
#include "base/ptx_carrier.h"
#include "base/text.h"
#include "compiler/driver/job.h"
#include "compiler/emit/image_writer.h"
#include "compiler/nvptx/nvptx.h"
#include "compiler/pipeline.h"
#include "compiler/resources.h"
#include "compiler/source/demangle.h"

typedef struct set_work {
    const wpi_device_build *build;
    wp_cpu_isa isa;
    bool is_first, is_last;
    char *object;
} set_work;

struct wpi_device_build {
    const wpi_compile_job *job;
    char *bitcode;
    size_t size_bytes;
    uint64_t id;
    char *what;
    uint32_t set_count;
    set_work work[WP_CPU_ISA_COUNT];
    wpi_task tasks[WP_CPU_ISA_COUNT];
    char *ptx; /* path */
    wpi_task ptx_task;
};

static wp_status build_set(void *arg, wp_error *err) {
    const set_work *work = arg;
    const wpi_device_build *build = work->build;
    const wpi_options *o = build->job->options;
    wpi_compile *c = NULL;
    WP_TRY(wpi_compile_create(build->bitcode, build->size_bytes, &c, err));
    c->image_id = build->id;
    c->isa = work->isa;
    c->refers_to_variables = !work->is_last;
    c->devicelib_path = build->job->tools->devicelib;
    const wpi_pipeline_options options = {
        .print_after = work->is_first ? o->print_after : NULL,
        .stop_after = o->stop_after,
        .stop_output = o->output ? o->output : "/dev/stdout",
    };
    bool stopped = false;
    wp_status status = wpi_pipeline_run(c, &options, &stopped, err);
    if (status == WP_STATUS_OK && work->is_first && o->resource_usage) wpi_resources_print(c);
    if (status == WP_STATUS_OK && !stopped) status = wpi_emit_object(c, work->object, err);
    wpi_compile_destroy(c);
    return status;
}

static wp_status make_ptx(const wpi_compile_job *job, const void *bitcode, size_t size_bytes,
                          const char *path, wp_error *err) {
    const wpi_ptx_options options = {.arch = job->options->arch,
                                     .library_path = job->tools->nvptxlib};
    char *text = NULL;
    WP_TRY(wpi_ptx_compile(bitcode, size_bytes, &options, &text, err));
    wp_status status = wpi_file_write(path, text, strlen(text), err);
    wpi_free(text);
    return status;
}

static char *cubin_path(const char *ptx_path, uint32_t arch) {
    return wpi_format("%s.sm_%u.cubin", ptx_path, arch);
}

/* Adds cubins to the PTX, for each named architecture that ptxas supports. A program without them
 * has its PTX, so a failure of ptxas is reported only if WARPAGE_PTXAS names it. */
static void make_cubins(const wpi_options *o, const char *ptx_path) {
    bool is_asked_for;
    char *ptxas = o->cubin_count != 0 ? wpi_ptxas_find(&is_asked_for) : NULL;
    for (uint32_t i = 0; ptxas != NULL && i < o->cubin_count; i++) {
        wp_error error = {0};
        char *path = cubin_path(ptx_path, o->cubins[i]);
        if (wpi_cubin_assemble(ptxas, ptx_path, o->cubins[i], path, &error) != WP_STATUS_OK) {
            (void)remove(path);
            if (is_asked_for || o->verbose)
                fprintf(stderr, "wpcc: warning: no code=sm_%u, only PTX: %s\n", o->cubins[i],
                        error.message);
        }
        wpi_free(path);
    }
    wpi_free(ptxas);
}

static wp_status build_ptx(void *arg, wp_error *err) {
    const wpi_device_build *build = arg;
    WP_TRY(make_ptx(build->job, build->bitcode, build->size_bytes, build->ptx, err));
    make_cubins(build->job->options, build->ptx);
    return WP_STATUS_OK;
}

/* Only warns: a program without PTX still runs on all devices except NVIDIA's GPUs. */
static void warn(const char *what, const wp_error *error) {
    char *message = wpi_demangle(error->message);
    fprintf(stderr, "wpcc: warning: %s: no code for NVIDIA GPUs: %s\n", what, message);
    wpi_free(message);
}

/* Writes an image: bitcode; PTX, unless its path is NULL; cubins. */
static wp_status write_image(const wpi_options *o, const void *bitcode, size_t size_bytes,
                             const char *ptx_path, uint64_t id, const char *image_path,
                             wp_error *err) {
    wpi_image_part parts[2 + WP_CUBINS_MAX] = {
        {.kind = WP_SECTION_BITCODE, .data = bitcode, .size_bytes = size_bytes}};
    char *read[2 + WP_CUBINS_MAX] = {NULL};
    uint32_t count = 1;
    wp_status status = WP_STATUS_OK;
    if (ptx_path != NULL) {
        size_t bytes;
        WP_TRY(wpi_file_read(ptx_path, &read[1], &bytes, err));
        parts[count++] = (wpi_image_part){.kind = WP_SECTION_PTX,
                                          .arch = wpi_ptx_arch(read[1]),
                                          .data = read[1],
                                          .size_bytes = bytes + 1 /* the NUL */};
    }
    for (uint32_t i = 0; ptx_path != NULL && i < o->cubin_count; i++) {
        char *path = cubin_path(ptx_path, o->cubins[i]);
        if (wpi_file_exists(path)) {
            wpi_image_part *part = &parts[count];
            status = wpi_file_read(path, &read[count], &part->size_bytes, err);
            part->kind = WP_SECTION_CUBIN;
            part->arch = o->cubins[i];
            part->data = read[count++];
        }
        wpi_free(path);
        if (status != WP_STATUS_OK) goto done;
    }
    status = wpi_image_write(image_path, id, parts, count, err);
done:
    for (size_t i = 0; i < sizeof read / sizeof *read; i++)
        wpi_free(read[i]);
    return status;
}

static void destroy(wpi_device_build *build) {
    for (uint32_t i = 0; i < build->set_count; i++)
        wpi_free(build->work[i].object);
    wpi_free(build->ptx);
    wpi_free(build->bitcode);
    wpi_free(build->what);
    wpi_free(build);
}

wp_status wpi_device_build_start(wpi_compile_job *job, const char *bitcode_path, uint64_t id,
                                 const char *what, wpi_strings *objects, wpi_device_build **out,
                                 wp_error *err) {
    *out = NULL;
    wpi_device_build *build = wpi_must_calloc(1, sizeof *build);
    build->job = job;
    build->id = id;
    build->what = wpi_format("%s: device code", what);
    wp_status status;
    WP_TRY_GOTO(wpi_file_read(bitcode_path, &build->bitcode, &build->size_bytes, err), failed);
    wpi_cpu_isas isas = job->options->cpu_isas;
    if (isas.count == 0) WP_TRY_GOTO(wpi_cpu_isas_parse("all", &isas, err), failed);
    for (uint32_t i = 0; i < isas.count; i++) {
        const bool is_v3 = isas.isa[i] == WP_CPU_ISA_X86_64_V3;
        build->work[i] = (set_work){.build = build,
                                    .isa = isas.isa[i],
                                    .is_first = i == 0,
                                    .is_last = i + 1 == isas.count,
                                    .object = wpi_job_temp(job, what, is_v3 ? ".v3.o" : ".base.o")};
    }
    build->set_count = isas.count;
    if (job->options->stop_after) {
        WP_TRY_GOTO(build_set(&build->work[0], err), failed);
    } else {
        for (uint32_t i = 0; i < isas.count; i++) {
            wpi_strings_add(objects, build->work[i].object);
            WP_TRY_GOTO(
                wpi_task_start(&build->tasks[i], build_set, &build->work[i], build->what, err),
                failed);
        }
        build->ptx = wpi_job_temp(job, what, ".ptx");
        WP_TRY_GOTO(wpi_task_start(&build->ptx_task, build_ptx, build, build->what, err), failed);
    }
    *out = build;
    return WP_STATUS_OK;
failed:
    wpi_device_build_cancel(build);
    return status;
}

wp_status wpi_device_build_finish(wpi_device_build *build, const char *image_path, wp_error *err) {
    wp_status status = WP_STATUS_OK;
    for (uint32_t i = 0; i < build->set_count; i++) {
        if (status == WP_STATUS_OK)
            status = wpi_task_wait(&build->tasks[i], err);
        else
            wpi_task_cancel(&build->tasks[i]); /* its error would be the same */
    }
    if (status != WP_STATUS_OK) {
        wpi_task_cancel(&build->ptx_task);
    } else if (build->ptx) {
        wp_error error = {0};
        status = wpi_task_wait(&build->ptx_task, &error);
        bool has_ptx = status == WP_STATUS_OK;
        if (status == WP_STATUS_NOMEM) {
            if (err) *err = error;
        } else {
            if (!has_ptx) warn(build->what, &error);
            status = write_image(build->job->options, build->bitcode, build->size_bytes,
                                 has_ptx ? build->ptx : NULL, build->id, image_path, err);
        }
    }
    destroy(build);
    return status;
}

void wpi_device_build_cancel(wpi_device_build *build) {
    if (!build) return;
    for (uint32_t i = 0; i < build->set_count; i++)
        wpi_task_cancel(&build->tasks[i]);
    wpi_task_cancel(&build->ptx_task);
    destroy(build);
}

/* Appends an image to the PTX: devices other than a GPU run that. */
static wp_status carry_image(wpi_text *ptx, const void *bitcode, size_t size_bytes, uint64_t id,
                             wp_error *err) {
    const wpi_image_part part = {
        .kind = WP_SECTION_BITCODE, .data = bitcode, .size_bytes = size_bytes};
    wpi_text image = {0};
    wp_status status = wpi_image_make(id, &part, 1, &image, err);
    if (status == WP_STATUS_OK) wpi_ptx_carrier_append(ptx, image.data, image.length);
    wpi_text_deinit(&image);
    return status;
}

wp_status wpi_device_ptx(wpi_compile_job *job, const char *bitcode_path, uint64_t id,
                         const char *ptx_path, wp_error *err) {
    const wpi_options *o = job->options;
    const wpi_ptx_options options = {
        .arch = o->arch, .is_relocatable = o->is_relocatable, .library_path = job->tools->nvptxlib};
    char *bitcode = NULL, *made = NULL;
    size_t size_bytes = 0;
    wpi_text text = {0};
    wp_status status;
    WP_TRY(wpi_file_read(bitcode_path, &bitcode, &size_bytes, err));
    wp_error error = {0};
    status = wpi_ptx_compile(bitcode, size_bytes, &options, &made, &error);
    if (status == WP_STATUS_OK) {
        wpi_text_append(&text, made);
    } else if (status == WP_STATUS_UNSUPPORTED) { /* other devices run the image */
        warn(bitcode_path, &error);
        wpi_text_appendf(&text, ".version 6.3\n.target sm_%u\n.address_size 64\n", o->arch);
    } else {
        if (err) *err = error;
        goto done;
    }
    if (!made || !o->is_relocatable)
        WP_TRY_GOTO(carry_image(&text, bitcode, size_bytes, id, err), done);
    const char *path = strcmp(ptx_path, "-") == 0 ? "/dev/stdout" : ptx_path;
    status = wpi_file_write(path, text.data, text.length, err);
done:
    wpi_text_deinit(&text);
    wpi_free(made);
    wpi_free(bitcode);
    return status;
}

wp_status wpi_device_image(wpi_compile_job *job, const char *bitcode_path, uint64_t id,
                           const char *image_path, wp_error *err) {
    char *bitcode = NULL, *ptx = wpi_job_temp(job, bitcode_path, ".ptx");
    size_t size_bytes = 0;
    wp_error error = {0};
    wp_status status;
    WP_TRY_GOTO(wpi_file_read(bitcode_path, &bitcode, &size_bytes, err), done);
    bool has_ptx = make_ptx(job, bitcode, size_bytes, ptx, &error) == WP_STATUS_OK;
    if (has_ptx)
        make_cubins(job->options, ptx);
    else
        warn(bitcode_path, &error);
    status =
        write_image(job->options, bitcode, size_bytes, has_ptx ? ptx : NULL, id, image_path, err);
done:
    wpi_free(bitcode);
    wpi_free(ptx);
    return status;
}

wp_status wpi_device_image_of(wpi_compile_job *job, const char *bitcode_path, const char *ptx_path,
                              uint64_t id, const char *image_path, wp_error *err) {
    char *bitcode = NULL;
    size_t size_bytes = 0;
    WP_TRY(wpi_file_read(bitcode_path, &bitcode, &size_bytes, err));
    wp_status status =
        write_image(job->options, bitcode, size_bytes, ptx_path, id, image_path, err);
    wpi_free(bitcode);
    return status;
}

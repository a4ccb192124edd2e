/* SPDX-License-Identifier: Apache-2.0 */
/* Builds the CPU code of an image as a shared library, which libwarpage opens for modules that a
 * program loads at run time (base/abi.h):
 *
 *     wpcc --module-library [--cpu-isa=...] IMAGE -o LIBRARY */
#include <stdio.h>
#include <string.h>

#include "base/abi.h"
#include "base/fail.h"
#include "base/file.h"
#include "base/must.h"
#include "compiler/driver/library_build.h"
#include "compiler/emit/host_object.h"
#include "compiler/pipeline.h"

#define OPTION "--module-library"

typedef struct request {
    wpi_library_words words;
} request;

bool wpi_is_module_command(int argc, char **argv) {
    return argc > 1 && strcmp(argv[1], OPTION) == 0;
}

/* ---- the library ---- */

typedef struct set_work {
    wpi_compile_job *job;
    const wpi_image_bitcode *image;
    wp_cpu_isa isa;
    bool is_last;
    char *object;
} set_work;

static wp_status build_set(void *arg, wp_error *err) {
    const set_work *work = arg;
    wpi_compile *c = NULL;
    bool stopped;
    const wpi_pipeline_options options = {0};
    WP_TRY(wpi_compile_create(work->image->data, work->image->size_bytes, &c, err));
    c->image_id = work->image->id;
    c->isa = work->isa;
    c->refers_to_variables = !work->is_last;
    c->devicelib_path = work->job->tools->devicelib;
    wp_status status = wpi_pipeline_run(c, &options, &stopped, err);
    if (status == WP_STATUS_OK) status = wpi_emit_object(c, work->object, err);
    wpi_compile_destroy(c);
    return status;
}

static wp_status write_id(uint64_t id, const char *object, wp_error *err) {
    LLVMContextRef context = LLVMContextCreate();
    LLVMModuleRef module = LLVMModuleCreateWithNameInContext("id", context);
    LLVMValueRef bytes = wpi_host_object_bytes(module, WP_MODULE_ID_SYMBOL, &id, sizeof id);
    LLVMSetLinkage(bytes, LLVMExternalLinkage);
    wp_status status = wpi_host_object_write(module, object, err);
    LLVMDisposeModule(module);
    LLVMContextDispose(context);
    return status;
}

static wp_status build(wpi_compile_job *job, const void *arg, wp_error *err) {
    const request *r = arg;
    wpi_image_bitcode image;
    wpi_strings objects = {0};
    set_work work[WP_CPU_ISA_COUNT];
    wpi_task tasks[WP_CPU_ISA_COUNT] = {0};
    const wpi_cpu_isas *isas = &r->words.isas;
    wp_status status;
    WP_TRY(wpi_image_bitcode_read(r->words.image, &image, err));
    char *id = wpi_job_temp(job, "module", ".id.o");
    wpi_strings_add_take(&objects, id);
    for (uint32_t i = 0; i < isas->count; i++) {
        work[i] = (set_work){.job = job,
                             .image = &image,
                             .isa = isas->isa[i],
                             .is_last = i + 1 == isas->count,
                             .object = wpi_job_temp(job, "module", ".o")};
        wpi_strings_add_take(&objects, work[i].object);
        WP_TRY_GOTO(wpi_task_start(&tasks[i], build_set, &work[i], "module", err), failed);
    }
    WP_TRY_GOTO(write_id(image.id, id, err), failed);
    for (uint32_t i = 0; i < isas->count; i++)
        WP_TRY_GOTO(wpi_task_wait(&tasks[i], err), failed);
    status = wpi_library_link(job, &objects, r->words.library, err);
failed:
    for (uint32_t i = 0; i < WP_CPU_ISA_COUNT; i++)
        wpi_task_cancel(&tasks[i]);
    wpi_strings_deinit(&objects);
    wpi_free(image.data);
    return status;
}

wp_status wpi_module_run(int argc, char **argv, int *exit_code, wp_error *err) {
    request r;
    WP_TRY(wpi_library_words_parse(argc, argv, OPTION, &r.words, err));
    return wpi_library_run(build, &r, exit_code, err);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Variants: compiles the bitcode of an image again, with the variant's pass, to a shared library
 * that libwarpage opens (base/abi.h).
 *
 *     wpcc --variant=check|trace[@ARCH]|instep[@ARCH][+REWRITE]... [--print-after=PASS]
 *          [--cpu-isa=baseline|native|x86-64-v3] [--resource-usage] IMAGE -o LIBRARY
 *
 * IMAGE may also be a file of bitcode, as -emit-llvm writes it. The rewrites run on the bitcode
 * before the passes, so that the variant also has the kernels that they add. */
#include <llvm-c/Support.h>
#include <string.h>

#include "base/fail.h"
#include "base/file.h"
#include "base/must.h"
#include "compiler/driver/library_build.h"
#include "compiler/machine/machine_code.h"
#include "compiler/pipeline.h"
#include "compiler/resources.h"
#include "compiler/rewrite/rewrite.h"

#define OPTION "--variant="

typedef struct request {
    const char *name, *isa, *print_after, *input, *output;
    wpi_variant variant;
    wpi_cpu_isas isas;
    bool resource_usage; /* print what kernels take */
} request;

bool wpi_is_variant_command(int argc, char **argv) {
    return argc > 1 && strncmp(argv[1], OPTION, strlen(OPTION)) == 0;
}

/* ---- the command line ---- */

static wp_status parse(int argc, char **argv, request *r, wp_error *err) {
    struct {
        const char *prefix;
        const char **place;
    } rows[] = {{OPTION, &r->name}, {"--cpu-isa=", &r->isa}, {"--print-after=", &r->print_after}};
    *r = (request){.isa = "baseline"};
    for (int i = 1; i < argc; i++) {
        bool is_known = false;
        for (size_t o = 0; o < sizeof rows / sizeof *rows && !is_known; o++) {
            size_t length = strlen(rows[o].prefix);
            is_known = strncmp(argv[i], rows[o].prefix, length) == 0;
            if (is_known) *rows[o].place = argv[i] + length;
        }
        if (is_known) continue;
        if (strcmp(argv[i], "-o") == 0 && i + 1 < argc)
            r->output = argv[++i];
        else if (strcmp(argv[i], "--resource-usage") == 0)
            r->resource_usage = true;
        else if (argv[i][0] != '-' && !r->input)
            r->input = argv[i];
        else
            return WP_FAIL(err, INVALID,
                           "%s: --variant takes one image, -o, --cpu-isa, --print-after and "
                           "--resource-usage",
                           argv[i]);
    }
    if (!r->input || !r->output)
        return WP_FAIL(err, INVALID, OPTION "%s: give an image and -o LIBRARY", r->name);
    WP_TRY(wpi_cpu_isas_parse(r->isa, &r->isas, err));
    if (r->isas.count != 1)
        return WP_FAIL(err, INVALID, "--cpu-isa=%s: a variant is for one instruction set", r->isa);
    WP_TRY(wpi_variant_parse(r->name, &r->variant, err));
    return wpi_rewrite_check(&r->variant.rewrites, err);
}

/* ---- the library ---- */

static wp_status replace_bitcode(wpi_image_bitcode *image, const char *path, wp_error *err) {
    char *data;
    size_t size_bytes;
    WP_TRY(wpi_file_read(path, &data, &size_bytes, err));
    wpi_free(image->data);
    image->data = data;
    image->size_bytes = size_bytes;
    return WP_STATUS_OK;
}

/* Applies the variant's rewrites to the bitcode of the image. */
static wp_status rewrite(wpi_compile_job *job, const wpi_strings *rewrites,
                         wpi_image_bitcode *image, wp_error *err) {
    if (rewrites->count == 0) return WP_STATUS_OK;
    char *path = wpi_job_temp(job, "rewritten", ".bc");
    wp_status status;
    WP_TRY_GOTO(wpi_file_write(path, image->data, image->size_bytes, err), done);
    WP_TRY_GOTO(wpi_rewrite_file(path, rewrites, err), done);
    status = replace_bitcode(image, path, err);
done:
    wpi_free(path);
    return status;
}

/* Counts what ptxas makes of the bitcode, whose blocks are numbered then. */
static wp_status read_machine_code(wpi_compile_job *job, uint32_t arch, wpi_image_bitcode *image,
                                   wpi_machine_code *out, wp_error *err) {
    if (arch == 0) return WP_STATUS_OK;
    const wpi_machine_request wanted = {.bitcode = image->data,
                                        .size_bytes = image->size_bytes,
                                        .arch = arch,
                                        .library_path = job->tools->nvptxlib,
                                        .folder = job->temp_dir};
    char *path = wpi_job_temp(job, "numbered", ".bc");
    wp_status status = wpi_machine_code_make(&wanted, path, out, err);
    if (status == WP_STATUS_OK) status = replace_bitcode(image, path, err);
    wpi_free(path);
    return status;
}

static wp_status build(wpi_compile_job *job, const void *arg, wp_error *err) {
    const request *r = arg;
    wpi_image_bitcode image;
    wpi_machine_code machine = {0};
    wpi_strings objects = {0};
    wpi_compile *c = NULL;
    bool stopped;
    const wpi_pipeline_options options = {.print_after = r->print_after};
    WP_TRY(wpi_image_bitcode_read(r->input, &image, err));
    char *object = wpi_job_temp(job, wpi_variant_word(&r->variant), ".o");
    wp_status status;
    wpi_strings_add_take(&objects, object);
    /* Unswitching duplicates loops to remove guards. */
    const char *const words[] = {"wpcc", "-unswitch-threshold=4000"};
    LLVMParseCommandLineOptions(2, words, NULL);
    WP_TRY_GOTO(rewrite(job, &r->variant.rewrites, &image, err), done);
    WP_TRY_GOTO(read_machine_code(job, r->variant.machine_arch, &image, &machine, err), done);
    WP_TRY_GOTO(wpi_compile_create(image.data, image.size_bytes, &c, err), done);
    c->machine = r->variant.machine_arch != 0 ? &machine : NULL;
    c->image_id = image.id;
    c->isa = r->isas.isa[0];
    c->variant = r->variant;
    c->devicelib_path = job->tools->devicelib;
    WP_TRY_GOTO(wpi_pipeline_run(c, &options, &stopped, err), done);
    if (r->resource_usage) wpi_resources_print(c);
    WP_TRY_GOTO(wpi_emit_object(c, object, err), done);
    status = wpi_library_link(job, &objects, r->output, err);
done:
    wpi_compile_destroy(c);
    wpi_machine_code_deinit(&machine);
    wpi_strings_deinit(&objects);
    wpi_free(image.data);
    return status;
}

wp_status wpi_variant_run(int argc, char **argv, int *exit_code, wp_error *err) {
    request r;
    wp_status status = parse(argc, argv, &r, err);
    if (status == WP_STATUS_OK) status = wpi_library_run(build, &r, exit_code, err);
    wpi_variant_deinit(&r.variant);
    return status;
}

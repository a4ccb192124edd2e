/* SPDX-License-Identifier: Apache-2.0 */
/* Variants: the bitcode of an image compiled once more, with the variant's pass, to a shared
 * library that libwarpage opens (base/abi.h).
 *
 *     wpcc --variant=check|trace|instep [--cpu-isa=baseline|x86-64-v3] [--print-after=PASS]
 *          IMAGE -o LIBRARY
 *
 * IMAGE may also be a file of bitcode, as -emit-llvm writes it. */
#include <llvm-c/Support.h>
#include <stdio.h>
#include <string.h>
#include <zstd.h>

#include "base/fail.h"
#include "base/file.h"
#include "base/must.h"
#include "compiler/driver/job.h"
#include "compiler/driver/supervise.h"
#include "compiler/pipeline.h"

#define OPTION "--variant="

typedef struct request {
    const char *variant, *isa, *print_after, *input, *output;
} request;

bool wpi_is_variant_command(int argc, char **argv) {
    return argc > 1 && strncmp(argv[1], OPTION, strlen(OPTION)) == 0;
}

/* ---- the command line ---- */

static wp_status parse(int argc, char **argv, request *r, wp_error *err) {
    struct {
        const char *prefix;
        const char **place;
    } rows[] = {
        {OPTION, &r->variant}, {"--cpu-isa=", &r->isa}, {"--print-after=", &r->print_after}};
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
        else if (argv[i][0] != '-' && !r->input)
            r->input = argv[i];
        else
            return WP_FAIL(err, INVALID,
                           "%s: --variant takes one image, -o, --cpu-isa and --print-after",
                           argv[i]);
    }
    if (!wpi_pipeline_has_variant(r->variant))
        return WP_FAIL(err, INVALID, OPTION "%s: there is no such variant", r->variant);
    if (!r->input || !r->output)
        return WP_FAIL(err, INVALID, OPTION "%s: give an image and -o LIBRARY", r->variant);
    if (strcmp(r->isa, "baseline") != 0 && strcmp(r->isa, "x86-64-v3") != 0)
        return WP_FAIL(err, INVALID, "--cpu-isa=%s: it can be baseline or x86-64-v3", r->isa);
    return WP_STATUS_OK;
}

/* ---- the image ---- */

static const wp_image_section *find_bitcode(const char *data, size_t size_bytes) {
    const wp_image_header *header = (const wp_image_header *)(const void *)data;
    if (size_bytes < sizeof *header ||
        memcmp(header->magic, WP_IMAGE_MAGIC, sizeof header->magic) != 0 ||
        header->abi_version != WP_ABI_VERSION || header->size_bytes > size_bytes)
        return NULL;
    const wp_image_section *sections =
        (const wp_image_section *)(const void *)(data + sizeof *header);
    if (header->section_count > (size_bytes - sizeof *header) / sizeof *sections) return NULL;
    for (uint32_t s = 0; s < header->section_count; s++) {
        const wp_image_section *section = &sections[s];
        if (section->kind != WP_SECTION_BITCODE) continue;
        bool fits =
            section->offset <= size_bytes && section->size_bytes <= size_bytes - section->offset;
        return fits ? section : NULL;
    }
    return NULL;
}

/* Replaces the image `*data` by the bitcode in it. */
static wp_status unpack(const char *path, char **data, size_t *size_bytes, uint64_t *id,
                        wp_error *err) {
    static const char magic[] = {'B', 'C', (char)0xc0, (char)0xde};
    if (*size_bytes > sizeof magic && memcmp(*data, magic, sizeof magic) == 0) return WP_STATUS_OK;
    const wp_image_section *section = find_bitcode(*data, *size_bytes);
    if (!section)
        return WP_FAIL(err, PARSE, "%s is not an image of this version of wpcc, or is cut short",
                       path);
    const size_t raw_bytes = section->raw_size_bytes;
    char *bitcode = raw_bytes < SIZE_MAX ? wp_malloc(raw_bytes + 1) : NULL;
    if (!bitcode)
        return WP_FAIL(err, NOMEM, "%s: no memory for %zu bytes of bitcode", path, raw_bytes);
    size_t got = ZSTD_decompress(bitcode, raw_bytes, *data + section->offset, section->size_bytes);
    if (ZSTD_isError(got) || got != raw_bytes) {
        wp_free(bitcode);
        return WP_FAIL(err, PARSE, "%s: the bitcode in this image is damaged", path);
    }
    *id = ((const wp_image_header *)(const void *)*data)->id;
    wp_free(*data);
    *data = bitcode;
    *size_bytes = raw_bytes;
    return WP_STATUS_OK;
}

/* ---- the library ---- */

static wp_status link_library(wp_job *job, const char *object, const char *output, wp_error *err) {
    wp_strings command = {0};
    const char *const head[] = {job->tools->clang, "-shared", "-o", output, object};
    for (size_t i = 0; i < sizeof head / sizeof *head; i++)
        wp_strings_add(&command, head[i]);
    wp_strings_addf(&command, "-L%s", job->tools->lib_dir);
    wp_strings_add(&command, "-lwarpage");
    wp_strings_add(&command, "-lm");
    wp_status status = wpi_job_run(job, &command, err);
    wp_strings_deinit(&command);
    return status;
}

static wp_status build(wp_job *job, const request *r, wp_error *err) {
    char *data = NULL;
    size_t size_bytes = 0;
    uint64_t id = 0;
    wp_compile *c = NULL;
    bool stopped;
    const wp_pipeline_options options = {.print_after = r->print_after};
    WP_TRY(wp_file_read(r->input, &data, &size_bytes, err));
    char *object = wpi_job_temp(job, r->variant, ".o");
    wp_status status;
    WP_TRY_GOTO(unpack(r->input, &data, &size_bytes, &id, err), done);
    /* The loop without guards is worth a copy of the loop. */
    const char *const words[] = {"wpcc", "-unswitch-threshold=4000"};
    LLVMParseCommandLineOptions(2, words, NULL);
    WP_TRY_GOTO(wpi_compile_create(data, size_bytes, &c, err), done);
    c->image_id = id;
    c->isa = strcmp(r->isa, "baseline") == 0 ? WP_CPU_ISA_BASELINE : WP_CPU_ISA_X86_64_V3;
    c->variant = r->variant;
    c->devicelib_path = job->tools->devicelib;
    WP_TRY_GOTO(wpi_pipeline_run(c, &options, &stopped, err), done);
    WP_TRY_GOTO(wpi_emit_object(c, object, err), done);
    status = link_library(job, object, r->output, err);
done:
    wpi_compile_destroy(c);
    wp_free(object);
    wp_free(data);
    return status;
}

typedef struct variant_run {
    wp_job job;
    request request;
} variant_run;

static int work(void *arg) {
    variant_run *run = arg;
    wp_error err = {0};
    wp_status status = build(&run->job, &run->request, &err);
    if (status != WP_STATUS_OK && err.message[0]) fprintf(stderr, "wpcc: error: %s\n", err.message);
    return status == WP_STATUS_OK ? 0 : status == WP_STATUS_INVALID ? 2 : 1;
}

static void clean(void *arg) {
    const variant_run *run = arg;
    wp_temp_dir_remove(run->job.temp_dir);
}

wp_status wpi_variant_run(int argc, char **argv, int *exit_code, wp_error *err) {
    wp_toolchain tools;
    const wp_options options = {0};
    variant_run run = {.job = {.options = &options, .tools = &tools}};
    WP_TRY(parse(argc, argv, &run.request, err));
    WP_TRY(wpi_toolchain_find(&tools, err));
    wp_status status = wp_temp_dir_create(&run.job.temp_dir, err);
    if (status == WP_STATUS_OK) {
        *exit_code = wpi_supervise(work, clean, &run);
        clean(&run);
    }
    wp_free(run.job.temp_dir);
    wpi_toolchain_deinit(&tools);
    return status;
}

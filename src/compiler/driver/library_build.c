/* SPDX-License-Identifier: Apache-2.0 */
#include "compiler/driver/library_build.h"

#include <stdio.h>
#include <string.h>
#include <zstd.h>

#include "base/abi.h"
#include "base/fail.h"
#include "base/file.h"
#include "base/must.h"
#include "compiler/driver/supervise.h"
#include "compiler/source/demangle.h"

wp_status wpi_library_words_parse(int argc, char **argv, const char *option, wpi_library_words *out,
                                  wp_error *err) {
    static const char isa[] = "--cpu-isa=";
    *out = (wpi_library_words){0};
    WP_TRY(wpi_cpu_isas_parse("all", &out->isas, err));
    for (int i = 2; i < argc; i++) {
        if (strncmp(argv[i], isa, strlen(isa)) == 0)
            WP_TRY(wpi_cpu_isas_parse(argv[i] + strlen(isa), &out->isas, err));
        else if (strcmp(argv[i], "-o") == 0 && i + 1 < argc)
            out->library = argv[++i];
        else if (argv[i][0] != '-' && !out->image)
            out->image = argv[i];
        else
            return WP_FAIL(err, INVALID, "%s: %s takes one image, -o and --cpu-isa", argv[i],
                           option);
    }
    if (out->image && out->library) return WP_STATUS_OK;
    return WP_FAIL(err, INVALID, "%s: give an image and -o LIBRARY", argv[1]);
}

/* ---- the image ---- */

static const wp_image_section *find_section(const char *data, size_t size_bytes, uint32_t kind) {
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
        if (section->kind != kind) continue;
        bool fits =
            section->offset <= size_bytes && section->size_bytes <= size_bytes - section->offset;
        return fits ? section : NULL;
    }
    return NULL;
}

/* Replaces the image by the bitcode in it. */
static wp_status unpack(const char *path, wpi_image_bitcode *image, wp_error *err) {
    static const char magic[] = {'B', 'C', (char)0xc0, (char)0xde};
    if (image->size_bytes > sizeof magic && memcmp(image->data, magic, sizeof magic) == 0)
        return WP_STATUS_OK;
    const wp_image_section *section =
        find_section(image->data, image->size_bytes, WP_SECTION_BITCODE);
    if (!section)
        return WP_FAIL(err, PARSE, "%s is not an image of this version of wpcc, or is cut short",
                       path);
    const size_t raw_bytes = section->raw_size_bytes;
    char *bitcode = raw_bytes < SIZE_MAX ? wpi_malloc(raw_bytes + 1) : NULL;
    if (!bitcode)
        return WP_FAIL(err, NOMEM, "%s: no memory for %zu bytes of bitcode", path, raw_bytes);
    size_t got =
        ZSTD_decompress(bitcode, raw_bytes, image->data + section->offset, section->size_bytes);
    if (ZSTD_isError(got) || got != raw_bytes) {
        wpi_free(bitcode);
        return WP_FAIL(err, PARSE, "%s: the bitcode in this image is damaged", path);
    }
    const wp_image_section *ptx = find_section(image->data, image->size_bytes, WP_SECTION_PTX);
    image->arch = ptx ? ptx->arch : 0;
    image->id = ((const wp_image_header *)(const void *)image->data)->id;
    wpi_free(image->data);
    image->data = bitcode;
    image->size_bytes = raw_bytes;
    return WP_STATUS_OK;
}

wp_status wpi_image_bitcode_read(const char *path, wpi_image_bitcode *out, wp_error *err) {
    *out = (wpi_image_bitcode){0};
    WP_TRY(wpi_file_read(path, &out->data, &out->size_bytes, err));
    wp_status status = unpack(path, out, err);
    if (status != WP_STATUS_OK) {
        wpi_free(out->data);
        *out = (wpi_image_bitcode){0};
    }
    return status;
}

/* ---- the library ---- */

wp_status wpi_library_link(wpi_compile_job *job, const wpi_strings *objects, const char *output,
                           wp_error *err) {
    wpi_strings command = {0};
    const char *const head[] = {job->tools->clang, "-shared", "-o", output};
    for (size_t i = 0; i < sizeof head / sizeof *head; i++)
        wpi_strings_add(&command, head[i]);
    wpi_strings_add_all(&command, objects);
    wpi_strings_addf(&command, "-L%s", job->tools->lib_dir);
    wpi_strings_add(&command, "-lwarpage");
    wpi_strings_add(&command, "-lm");
    wp_status status = wpi_job_run(job, &command, err);
    wpi_strings_deinit(&command);
    return status;
}

/* ---- the run ---- */

typedef struct library_run {
    wpi_compile_job job;
    wpi_library_fn build;
    const void *request;
} library_run;

static int work(void *arg) {
    library_run *run = arg;
    wp_error err = {0};
    wp_status status = run->build(&run->job, run->request, &err);
    if (status == WP_STATUS_OK) return 0;
    if (err.message[0]) {
        char *message = wpi_demangle(err.message);
        fprintf(stderr, "wpcc: error: %s\n", message);
        wpi_free(message);
    }
    const bool is_refused = status == WP_STATUS_UNSUPPORTED || status == WP_STATUS_NOT_FOUND;
    return status == WP_STATUS_INVALID ? 2 : is_refused ? WP_LIBRARY_REFUSED : 1;
}

static void clean(void *arg) {
    const library_run *run = arg;
    wpi_temp_dir_remove(run->job.temp_dir);
}

wp_status wpi_library_run(wpi_library_fn build, const void *request, int *exit_code,
                          wp_error *err) {
    wpi_toolchain tools;
    const wpi_options options = {0};
    library_run run = {
        .job = {.options = &options, .tools = &tools}, .build = build, .request = request};
    WP_TRY(wpi_toolchain_find(&tools, err));
    wp_status status = wpi_temp_dir_create(&run.job.temp_dir, err);
    if (status == WP_STATUS_OK) {
        *exit_code = wpi_supervise(work, clean, &run);
        clean(&run);
    }
    wpi_free(run.job.temp_dir);
    wpi_toolchain_deinit(&tools);
    return status;
}

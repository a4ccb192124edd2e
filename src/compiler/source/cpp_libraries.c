/* SPDX-License-Identifier: Apache-2.0 */
#define _XOPEN_SOURCE 700 /* realpath */
#include "compiler/source/cpp_libraries.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/cccl_dir.h"
#include "base/fail.h"
#include "base/file.h"
#include "base/must.h"
#include "base/text.h"
#include "compiler/source/overlay_file.h"

/* The libraries of a toolkit that the command line names; wpi_host_args_add leaves its folder out.
 */
static char *find_in_toolkits(const wpi_compile_job *job) {
    const wpi_strings *words = &job->options->source_args;
    for (size_t i = 0; i < words->count; i++) {
        const char *word = words->items[i];
        const char *folder = strncmp(word, "-I", 2) == 0                             ? word + 2
                             : i > 0 && strcmp(words->items[i - 1], "-isystem") == 0 ? word
                                                                                     : "";
        if (*folder == '\0' || !wpi_toolchain_is_foreign(job->tools, folder)) continue;
        char *found = wpi_cccl_include(folder);
        if (found) return found;
    }
    return NULL;
}

static char *find_installed(void) {
    char *root = wpi_cccl_path();
    char *found = root ? wpi_cccl_include(root) : NULL;
    wpi_free(root);
    return found;
}

/* An overlay of a folder that has the libraries' folders and nothing else. */
static wp_status separate(wpi_compile_job *job, const char *folder, wp_error *err) {
    static const char *const parts[] = {"cub", "cuda", "nv", "thrust"};
    json_t *roots = json_array();
    job->libraries = wpi_path_join(job->temp_dir, "libraries");
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        char *from = wpi_path_join(job->libraries, parts[i]), *to = wpi_path_join(folder, parts[i]);
        char *real = realpath(to, NULL);
        if (real)
            json_array_append_new(roots, json_pack("{s:s,s:s,s:s}", "name", from, "type",
                                                   "directory-remap", "external-contents", real));
        free(real);
        wpi_free(from);
        wpi_free(to);
    }
    job->libraries_overlay = wpi_job_temp(job, "libraries", ".json");
    const wp_status status = wpi_overlay_write(job->libraries_overlay, roots, false, err);
    json_decref(roots);
    return status;
}

#define DRIVER_HEADER "cuda/__driver/driver_api.h"
#define NVIDIAS_DRIVER "\"libcuda.so.1\""
#define OUR_DRIVER "\"libwarpage.so.0\""

/* CCCL 3 loads the driver's library by name for its driver API, which is in libwarpage here. */
static wp_status redirect_driver(wpi_compile_job *job, const char *folder, wp_error *err) {
    char *path = wpi_path_join(folder, DRIVER_HEADER), *text = NULL, *to = NULL, *above = NULL;
    size_t size_bytes = 0;
    wp_status status = WP_STATUS_OK;
    if (!wpi_file_exists(path)) goto done;
    WP_TRY_GOTO(wpi_file_read(path, &text, &size_bytes, err), done);
    char *name = strstr(text, NVIDIAS_DRIVER);
    if (!name) goto done;
    wpi_text changed = {0};
    wpi_text_appendf(&changed, "%.*s" OUR_DRIVER "%s", (int)(name - text), text,
                     name + strlen(NVIDIAS_DRIVER));
    job->libraries_first = wpi_path_join(job->temp_dir, "driver");
    to = wpi_path_join(job->libraries_first, DRIVER_HEADER);
    above = wpi_path_dir(to);
    status = wpi_dir_create(above, err);
    if (status == WP_STATUS_OK)
        status = wpi_file_write(to, wpi_text_string(&changed), changed.length, err);
    wpi_text_deinit(&changed);
done:
    wpi_free(path);
    wpi_free(text);
    wpi_free(to);
    wpi_free(above);
    return status;
}

wp_status wpi_cpp_libraries_find(wpi_compile_job *job, wp_error *err) {
    const char *wanted = job->options->cuda_path;
    char *folder = wanted ? wpi_cccl_include(wanted) : find_in_toolkits(job);
    if (wanted && !folder)
        return WP_FAIL(err, INVALID,
                       "--cuda-path %s: there is no Thrust, CUB and libcu++ in it, in include or "
                       "in include/cccl; name another folder, or run warpage doctor --install cccl",
                       wanted);
    if (!folder) folder = find_installed();
    if (!folder) return WP_STATUS_OK;
    wp_status status = redirect_driver(job, folder, err);
    if (status == WP_STATUS_OK && wpi_toolchain_is_foreign(job->tools, folder)) {
        status = separate(job, folder, err);
        wpi_free(folder);
        return status;
    }
    job->libraries = folder;
    return status;
}

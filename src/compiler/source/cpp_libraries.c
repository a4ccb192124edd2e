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
    if (wpi_toolchain_is_foreign(job->tools, folder)) {
        wp_status status = separate(job, folder, err);
        wpi_free(folder);
        return status;
    }
    job->libraries = folder;
    return WP_STATUS_OK;
}

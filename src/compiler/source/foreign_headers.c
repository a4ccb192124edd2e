/* SPDX-License-Identifier: Apache-2.0 */
/* An overlay entry whose contents do not exist makes the file not exist. Entries of folders cannot
 * do that, so files are listed one by one. */
#define _XOPEN_SOURCE 700 /* realpath */
#include "compiler/source/foreign_headers.h"

#include <dirent.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fail.h"
#include "base/file.h"
#include "base/must.h"
#include "base/text.h"
#include "compiler/source/overlay_file.h"

#define NOWHERE "/dev/null/hidden"
#define DEPTH_MAX 4

typedef struct search {
    const wpi_compile_job *job;
    char *toolkit; /* real folder of cuda_runtime_api.h */
    bool is_mixed; /* the folder also has other headers: names decide */
    json_t *roots;
} search;

/* Prefixes of toolkit headers, if the dialect has no header of the name. */
static const char *const beginnings[] = {
    "cublas",        "cuda",           "cudla",         "cudnn",    "cufft",    "cufile",
    "cupti",         "curand",         "cusolver",      "cusparse", "device_",  "driver_functions",
    "fatbinary",     "generated_cuda", "library_types", "mma.h",    "npp",      "nvJitLink",
    "nvPTXCompiler", "nvToolsExt",     "nvblas",        "nvfatbin", "nvjpeg",   "nvml.h",
    "nvperf_",       "nvrtc",          "nvvm",          "sm_",      "texture_", "surface_"};
static const char *const folders[] = {
    "cccl", "cooperative_groups", "crt", "cub", "cuda", "nv", "nvtx3", "thrust"};

static bool is_toolkit_name(const char *name, bool is_folder) {
    if (is_folder) {
        for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
            if (strcmp(name, folders[i]) == 0) return true;
        return false;
    }
    for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++)
        if (strncmp(name, beginnings[i], strlen(beginnings[i])) == 0) return true;
    return false;
}

static bool is_below(const char *path, const char *folder) {
    char *real = realpath(path, NULL);
    size_t length = strlen(folder);
    bool is = real && strncmp(real, folder, length) == 0 && real[length] == '/';
    free(real);
    return is;
}

/* Internal headers, included only by hidden ones. */
static bool is_internal(const char *name) {
    return name[0] == '_' || name[0] == '.' || strcmp(name, "detail") == 0;
}

/* `inside`: the path below the system folder, "" for itself. */
static void hide_folder(search *s, const char *folder, const char *inside, int depth) {
    DIR *dir = opendir(folder);
    if (!dir) return;
    for (const struct dirent *e = readdir(dir); e; e = readdir(dir)) {
        if (is_internal(e->d_name)) continue;
        char *path = wpi_path_join(folder, e->d_name);
        char *below = inside[0] ? wpi_path_join(inside, e->d_name) : wpi_must_strdup(e->d_name);
        char *ours = wpi_path_join(s->job->tools->include_dir, below);
        struct stat what;
        bool is_there = stat(path, &what) == 0, is_folder = is_there && S_ISDIR(what.st_mode);
        bool is_theirs = depth > 0 || (s->is_mixed ? is_toolkit_name(e->d_name, is_folder)
                                                   : is_below(path, s->toolkit));
        if (is_there && is_theirs && is_folder && depth + 1 < DEPTH_MAX)
            hide_folder(s, path, below, depth + 1);
        else if (is_there && is_theirs && !is_folder && !wpi_file_exists(ours))
            json_array_append_new(s->roots, json_pack("{s:s,s:s,s:s}", "name", path, "type", "file",
                                                      "external-contents", NOWHERE));
        wpi_free(path);
        wpi_free(below);
        wpi_free(ours);
    }
    (void)closedir(dir);
}

static void hide_in(search *s, const char *folder) {
    if (folder[0] == '\0' || !wpi_toolchain_is_foreign(s->job->tools, folder)) return;
    char *header = wpi_path_join(folder, "cuda_runtime_api.h");
    char *real_header = realpath(header, NULL), *real = realpath(folder, NULL);
    char *here = realpath(".", NULL);
    char *absolute = here ? wpi_path_join(here, folder) : wpi_must_strdup(folder);
    if (real_header && real) {
        s->toolkit = wpi_path_dir(real_header);
        s->is_mixed = strcmp(s->toolkit, real) == 0;
        hide_folder(s, absolute, "", 0);
        wpi_free(s->toolkit);
    }
    wpi_free(absolute);
    wpi_free(header);
    free(here);
    free(real);
    free(real_header);
}

static wp_status write_overlay(wpi_compile_job *job, json_t *roots, wp_error *err) {
    job->hidden = wpi_job_temp(job, "hidden", ".json");
    return wpi_overlay_write(job->hidden, roots, false, err);
}

wp_status wpi_foreign_headers_hide(wpi_compile_job *job, wp_error *err) {
    search s = {.job = job, .roots = json_array()};
    hide_in(&s, "/usr/local/include");
    hide_in(&s, "/usr/include");
    static const char *const names[] = {"CPLUS_INCLUDE_PATH", "C_INCLUDE_PATH"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char *copy = wpi_must_strdup(getenv(names[i]) ? getenv(names[i]) : ""), *rest = copy,
             *folder;
        while ((folder = strtok_r(rest, ":", &rest)))
            hide_in(&s, folder);
        wpi_free(copy);
    }
    wp_status status = WP_STATUS_OK;
    if (json_array_size(s.roots) > 0) status = write_overlay(job, s.roots, err);
    json_decref(s.roots);
    return status;
}

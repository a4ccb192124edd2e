/* SPDX-License-Identifier: Apache-2.0 */
#define _XOPEN_SOURCE 700 /* realpath */
#include "compiler/driver/toolchain.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/file.h"

/* Whether OpenMP is installed in ../lib relative to clang, where clang finds it. */
static bool has_openmp(const char *clang) {
    char *real = realpath(clang, NULL);
    char *bin = wpi_path_dir(real ? real : clang);
    char *prefix = wpi_path_dir(bin);
    char *library = wpi_path_join(prefix, "lib/libomp.so");
    bool found = wpi_file_exists(library);
    wpi_free(library);
    wpi_free(prefix);
    wpi_free(bin);
    free(real);
    return found;
}

wp_status wpi_toolchain_find(wpi_toolchain *out, wp_error *err) {
    memset(out, 0, sizeof *out);
    char *self = NULL;
    WP_TRY(wpi_self_path(&self, err));
    char *bin = wpi_path_dir(self);
    out->prefix = wpi_path_dir(bin);
    wpi_free(bin);
    wpi_free(self);
    out->lib_dir = wpi_path_join(out->prefix, "lib");
    out->cuda_dir = wpi_path_join(out->prefix, "lib/warpage/cuda");
    out->include_dir = wpi_path_join(out->cuda_dir, "include");
    out->cuda_lib_dir = wpi_path_join(out->cuda_dir, "lib64");
    out->devicelib = wpi_path_join(out->prefix, "lib/warpage/devicelib.bc");
    out->nvptxlib = wpi_path_join(out->prefix, "lib/warpage/nvptxlib.bc");
    out->policy_dir = wpi_path_join(out->prefix, "lib/warpage/policy");
    const char *wanted = getenv("WARPAGE_CLANG");
    out->clang = wpi_program_find(wanted && *wanted ? wanted : WARPAGE_CLANG_PATH);
    if (!out->clang) out->clang = wpi_program_find("clang-19");
    wp_status status = WP_STATUS_OK;
    if (!out->clang)
        status =
            WP_FAIL(err, TOOLCHAIN,
                    "clang 19 was not found; install the package clang-19 or set WARPAGE_CLANG");
    for (int i = 0; i < 2 && status == WP_STATUS_OK; i++) {
        const char *library = i ? out->nvptxlib : out->devicelib;
        if (!wpi_file_exists(library))
            status = WP_FAIL(err, TOOLCHAIN,
                             "%s is missing; the installation of warpage is incomplete", library);
    }
    if (status != WP_STATUS_OK)
        wpi_toolchain_deinit(out);
    else
        out->has_openmp = has_openmp(out->clang);
    return status;
}

bool wpi_toolchain_is_foreign(const wpi_toolchain *t, const char *dir) {
    char *header = wpi_path_join(dir, "cuda_runtime_api.h");
    char *ours = realpath(t->include_dir, NULL), *theirs = realpath(dir, NULL);
    bool is_foreign = wpi_file_exists(header) && ours && theirs && strcmp(ours, theirs) != 0;
    wpi_free(header);
    free(ours);
    free(theirs);
    return is_foreign;
}

void wpi_toolchain_deinit(wpi_toolchain *t) {
    wpi_free(t->prefix);
    wpi_free(t->clang);
    wpi_free(t->cuda_dir);
    wpi_free(t->include_dir);
    wpi_free(t->lib_dir);
    wpi_free(t->cuda_lib_dir);
    wpi_free(t->devicelib);
    wpi_free(t->nvptxlib);
    wpi_free(t->policy_dir);
    memset(t, 0, sizeof *t);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cccl_dir.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cache_dir.h"
#include "base/file.h"
#include "base/text.h"

char *wpi_cccl_path(void) {
    char *data = wpi_data_path();
    char *path = data != NULL ? wpi_path_join(data, "cccl") : NULL;
    wpi_free(data);
    return path;
}

static bool has_libraries(const char *folder) {
    static const char *const files[] = {"thrust/version.h", "cub/version.cuh", "cuda/std/version"};
    bool has = true;
    for (size_t i = 0; i < sizeof files / sizeof *files && has; i++) {
        char *path = wpi_path_join(folder, files[i]);
        has = wpi_file_exists(path);
        wpi_free(path);
    }
    return has;
}

char *wpi_cccl_include(const char *root) {
    /* A toolkit from version 13 and before; NVIDIA's Python packages for CUDA 12 and 13. */
    static const char *const places[] = {"",
                                         "cccl",
                                         "include",
                                         "include/cccl",
                                         "nvidia/cuda_cccl/include",
                                         "nvidia/cu13/include/cccl"};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        char *folder =
            places[i][0] != '\0' ? wpi_path_join(root, places[i]) : wpi_format("%s", root);
        if (has_libraries(folder)) return folder;
        wpi_free(folder);
    }
    return NULL;
}

char *wpi_cccl_version(const char *include) {
    static const char name[] = "#define CCCL_VERSION";
    char *path = wpi_path_join(include, "cuda/std/__cccl/version.h"), *text = NULL;
    size_t size_bytes = 0;
    char *version = NULL;
    if (wpi_file_read(path, &text, &size_bytes, NULL) == WP_STATUS_OK) {
        const char *at = strstr(text, name);
        const unsigned long n = at != NULL ? strtoul(at + strlen(name), NULL, 10) : 0;
        if (n != 0) version = wpi_format("%lu.%lu.%lu", n / 1000000, n / 1000 % 1000, n % 1000);
    }
    wpi_free(text);
    wpi_free(path);
    return version;
}

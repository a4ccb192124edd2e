/* SPDX-License-Identifier: Apache-2.0 */
#include "libraries/cuda_library.h"

#include <dlfcn.h>
#include <stdlib.h>

#include "base/log.h"
#include "libraries/library_params.h"

void wpi_library_missing(const char *library, const char *name, const char *status,
                         atomic_bool *is_said) {
    if (!atomic_exchange(is_said, true))
        wpi_log(WP_LOG_WARN, library, "%s is not supported; it returns %s", name, status);
}

void *wpi_host_library(const char *const *names) {
    wpi_param_value value;
    wp_error err = {0};
    if (wpi_param_load(&wpi_libraries_params[0], &value, &err) != WP_STATUS_OK) {
        wpi_log(WP_LOG_WARN, "libraries", "%s", err.message);
        return NULL;
    }
    if (value.number == 0 || getenv("WARPAGE_CHECK") != NULL) return NULL;
    for (; *names != NULL; names++) {
        void *library = dlopen(*names, RTLD_NOW | RTLD_LOCAL);
        if (library != NULL) return library;
    }
    return NULL;
}

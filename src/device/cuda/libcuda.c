/* SPDX-License-Identifier: Apache-2.0 */
/** Finds the driver. A library that was called stays loaded until the process ends, as it has
 * threads and exit functions. */
#include "device/cuda/libcuda.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "base/param.h"

const wpi_param wpi_cuda_params[] = {
    {"libcuda", WP_UNIT_TEXT, "libcuda.so.1", 0, 0, "name or path of the CUDA driver's library"},
    {0}};

enum need { OPTIONAL, NEEDED };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static wpi_driver driver;
static bool is_loaded;

/* Finds the first symbol that exists; `symbols` is one name, or several separated by '|'. */
static void *find_symbol(void *library, const char *symbols) {
    char name[64];
    for (const char *next = symbols; *next != '\0';) {
        const size_t length = strcspn(next, "|");
        (void)snprintf(name, sizeof name, "%.*s", (int)length, next);
        void *found = dlsym(library, name);
        if (found != NULL) return found;
        next += length + (next[length] == '|');
    }
    return NULL;
}

static wp_status find_function(void *library, enum need need, int since, const char *symbols,
                               void **out, wp_error *err) {
    *out = find_symbol(library, symbols);
    if (*out != NULL || need == OPTIONAL) return WP_STATUS_OK;
    return WP_FAIL(
        err, UNSUPPORTED,
        "the CUDA driver lacks %.*s, which was added in CUDA %d.%d: install a driver for "
        "CUDA %d.%d or later",
        (int)strcspn(symbols, "|"), symbols, since / 1000, since % 1000 / 10,
        WPI_DRIVER_VERSION_MIN / 1000, WPI_DRIVER_VERSION_MIN % 1000 / 10);
}

static wp_status load_locked(wp_error *err) {
    wpi_param_value path;
    wpi_driver found = {0};
    WP_TRY(wpi_param_load(&wpi_cuda_params[0], &path, err));
    void *library = dlopen(path.text, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        return WP_FAIL(err, NOT_FOUND,
                       "no CUDA driver: %s; install NVIDIA's driver, or run on the device cpu",
                       dlerror());
    }
    wp_status status = WP_STATUS_OK;
#define FIND(need, since, field, symbols, parameters)                                              \
    WP_TRY_GOTO(find_function(library, need, since, symbols, (void **)(void *)&found.field, err),  \
                failed);
    WPI_DRIVER_MAP(FIND)
#undef FIND
    wpi_cu_result result = found.driver_version(&found.version);
    if (result == WPI_CU_SUCCESS && found.version < WPI_DRIVER_VERSION_MIN) {
        return WP_FAIL(
            err, UNSUPPORTED,
            "the CUDA driver supports CUDA %d.%d, which is too old: install a driver for "
            "CUDA %d.%d or later",
            found.version / 1000, found.version % 1000 / 10, WPI_DRIVER_VERSION_MIN / 1000,
            WPI_DRIVER_VERSION_MIN % 1000 / 10);
    }
    if (result == WPI_CU_SUCCESS) result = found.init(0);
    if (result != WPI_CU_SUCCESS) {
        return wpi_fail(err, wpi_cu_status(result), __FILE__, __LINE__, "%s%s (%s)",
                        result == WPI_CU_NO_DEVICE ? "" : "the CUDA driver does not start: ",
                        wpi_cu_text(result), wpi_cu_name(result));
    }
    driver = found;
    is_loaded = true;
    return WP_STATUS_OK;

failed:
    (void)dlclose(library);
    return status;
}

wp_status wpi_driver_load(const wpi_driver **out, wp_error *err) {
    pthread_mutex_lock(&lock);
    const wp_status status = is_loaded ? WP_STATUS_OK : load_locked(err);
    pthread_mutex_unlock(&lock);
    *out = status == WP_STATUS_OK ? &driver : NULL;
    return status;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "device/module_library.h"

#include <dlfcn.h>
#include <stddef.h>

#include "base/cpu_isa.h"
#include "device/made_library.h"

static bool is_module(void *library, const wp_image_header *image) {
    const uint64_t *id = dlsym(library, WP_MODULE_ID_SYMBOL);
    return id != NULL && *id == image->id;
}

wp_status wpi_module_library_open(const wp_image_header *image, wp_error *err) {
    const char *const options[] = {"--module-library", wpi_cpu_isa_option(wpi_cpu_isa_best()),
                                   NULL};
    const wpi_made_library wanted = {.image = image,
                                     .options = options,
                                     .name = "module",
                                     .what = "the kernels of a module",
                                     .who = "modules",
                                     .is_right = is_module};
    void *library;
    return wpi_made_library_open(&wanted, &library, err);
}

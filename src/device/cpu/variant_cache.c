/* SPDX-License-Identifier: Apache-2.0 */
#include "device/cpu/variant_cache.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cpu_isa.h"
#include "base/fail.h"
#include "base/text.h"
#include "device/made_library.h"

static bool is_variant(void *library, const wp_image_header *image) {
    const wp_cpu_code *code = dlsym(library, WP_VARIANT_CODE_SYMBOL);
    return code != NULL && code->abi_version == WP_ABI_VERSION && code->image_id == image->id;
}

wp_status wpi_variant_open(const wp_image_header *image, const wpi_variant *variant, wp_cpu_isa isa,
                           uint32_t instance, wpi_variant_library *out, wp_error *err) {
    char *name = wpi_variant_text(variant);
    char *option = wpi_format("--variant=%s", name);
    char *what = wpi_format("the variant '%s' of the kernels", name);
    const char *const options[] = {option, wpi_cpu_isa_option(isa), NULL};
    const wpi_made_library wanted = {.image = image,
                                     .options = options,
                                     .name = wpi_variant_word(variant),
                                     .what = what,
                                     .who = "checks, simulated GPUs and further devices",
                                     .instance = instance,
                                     .is_right = is_variant};
    *out = (wpi_variant_library){0};
    const wp_status status = wpi_made_library_open(&wanted, &out->library, err);
    if (status == WP_STATUS_OK) out->code = dlsym(out->library, WP_VARIANT_CODE_SYMBOL);
    wpi_free(what);
    wpi_free(option);
    wpi_free(name);
    return status;
}

/* ---- variables ---- */

/* The index of a variable; the number of variables if there is none of this name. */
static uint32_t find_variable(const wp_cpu_code *code, const char *name) {
    uint32_t i = 0;
    while (i < code->variable_count && strcmp(code->variables[i].name, name) != 0)
        i++;
    return i;
}

wp_status wpi_variant_bind(const wpi_variant_library *variant, const wp_cpu_code *code,
                           void *const *addresses, wp_error *err) {
    for (uint32_t i = 0; i < variant->code->variable_count; i++) {
        const wp_cpu_variable *own = &variant->code->variables[i];
        const uint32_t at = find_variable(code, own->name);
        if (at == code->variable_count) {
            return WP_FAIL(err, NOT_FOUND, "the program's CPU code has no variable %s", own->name);
        }
        const wp_cpu_variable *theirs = &code->variables[at];
        void **cell = own->address;
        if (addresses != NULL)
            *cell = addresses[at];
        else
            *cell =
                theirs->kind == WP_VARIABLE_MANAGED ? *(void **)theirs->address : theirs->address;
    }
    void (*fill)(void);
    *(void **)&fill = dlsym(variant->library, WP_VARIANT_FILL_SYMBOL);
    if (fill == NULL) return WP_FAIL(err, TOOLCHAIN, "the variant has no " WP_VARIANT_FILL_SYMBOL);
    fill();
    return WP_STATUS_OK;
}

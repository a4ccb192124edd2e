/* SPDX-License-Identifier: Apache-2.0 */
/** Variants of an image's code (base/abi.h): compiled by wpcc on first use, cached, and opened as
 * shared libraries that stay open until the process ends. Callable from any thread. */
#ifndef WP_DEVICE_CPU_VARIANT_CACHE_H
#define WP_DEVICE_CPU_VARIANT_CACHE_H

#include "base/abi.h"
#include "base/variant.h"
#include "warpage/error.h"

typedef struct wpi_variant_library {
    void *library; /* for dlsym: the variant's exported symbols */
    const wp_cpu_code *code;
} wpi_variant_library;

/** Opens a variant of an image, for the instruction set `isa`; `instance`: the number of the device
 * in its group, since each has variables of its own. TOOLCHAIN: there is no wpcc, or it failed (the
 * message quotes it). */
WP_NODISCARD wp_status wpi_variant_open(const wp_image_header *image, const wpi_variant *variant,
                                        wp_cpu_isa isa, uint32_t instance, wpi_variant_library *out,
                                        wp_error *err);
/** Binds the variant's variables to those of `code`; `addresses` has the places of these, in their
 * order, or is NULL: where `code` says. */
WP_NODISCARD wp_status wpi_variant_bind(const wpi_variant_library *variant, const wp_cpu_code *code,
                                        void *const *addresses, wp_error *err);

#endif

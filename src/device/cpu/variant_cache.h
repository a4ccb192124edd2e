/* SPDX-License-Identifier: Apache-2.0 */
/** Variants of an image's code (base/abi.h): made by wpcc on first use, kept in a cache, opened as
 * shared libraries that stay open until the process ends. Callable from any thread. */
#ifndef WP_DEVICE_CPU_VARIANT_CACHE_H
#define WP_DEVICE_CPU_VARIANT_CACHE_H

#include "base/abi.h"
#include "base/variant.h"
#include "warpage/error.h"

typedef struct wpi_variant_library {
    void *library; /* for dlsym: what the variant exports besides its code */
    const wp_cpu_code *code;
} wpi_variant_library;

/** That variant of an image, for the instructions of `isa`. TOOLCHAIN when there is no wpcc,
 * or when it failed (the message has its words). */
WP_NODISCARD wp_status wpi_variant_open(const wp_image_header *image, const wpi_variant *variant,
                                        wp_cpu_isa isa, wpi_variant_library *out, wp_error *err);
/** Lets the variant's variables be those of `code`. */
WP_NODISCARD wp_status wpi_variant_bind(const wpi_variant_library *variant, const wp_cpu_code *code,
                                        wp_error *err);

#endif

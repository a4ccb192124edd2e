/* SPDX-License-Identifier: Apache-2.0 */
/** NVIDIA's fat binaries, which nvcc and clang embed in programs: the PTX in them. */
#ifndef WP_DEVICE_FAT_BINARY_H
#define WP_DEVICE_FAT_BINARY_H

#include <stdbool.h>
#include <stddef.h>

#include "warpage/error.h"

/** Whether a fat binary begins at `data`, of which at least 4 bytes can be read. */
bool wpi_fat_binary_is(const void *data);
/** The PTX text for the newest architecture, decompressed (wpi_free). `size_bytes` 0: unknown; the
 * length in its header is believed. UNSUPPORTED: it has no PTX; PARSE: damaged. */
WP_NODISCARD wp_status wpi_fat_binary_ptx(const void *data, size_t size_bytes, char **text,
                                          wp_error *err);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/** A 64-bit hash of bytes: for cache keys and image ids. Same value on every machine and run; not
 *  cryptographic. */
#ifndef WP_BASE_HASH_H
#define WP_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

uint64_t wpi_hash64(const void *data, size_t size_bytes, uint64_t seed);

/** The id by which kernel code names a kernel; never 0. */
uint64_t wpi_kernel_id(const char *name);

#endif

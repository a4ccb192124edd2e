/* SPDX-License-Identifier: Apache-2.0 */
/** Bytes of a file from its beginning to its end; what gzip or zstd packed comes out unpacked. One
 * thread. */
#ifndef WP_TABLE_IO_BYTES_H
#define WP_TABLE_IO_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/fail.h"

typedef struct wpi_bytes wpi_bytes;

/** "-" is stdin. Packed files are known by their first bytes, whatever their name. NOT_FOUND, IO.
 */
WP_NODISCARD wp_status wpi_bytes_open(const char *path, wpi_bytes **out, wp_error *err);
/** What a program prints; NULL-terminated argv. Its failure is known when its output ends. */
WP_NODISCARD wp_status wpi_bytes_spawn(const char *const argv[], const char *name, wpi_bytes **out,
                                       wp_error *err);
/** Fills `to`; fewer bytes than asked for only at the end. IO; PARSE: packed data that are damaged
 * or cut off. */
WP_NODISCARD wp_status wpi_bytes_read(wpi_bytes *bytes, void *to, size_t size_bytes,
                                      size_t *got_bytes, wp_error *err);
/** What has not been read yet, mapped into memory, of which the system reads what is looked at; for
 * a few accesses at random, or for any. It lives as long as `bytes`, once. False: it is packed, no
 * plain file, or has nothing left, and is there to be read as before. */
bool wpi_bytes_map(wpi_bytes *bytes, bool is_random, const void **data, size_t *size_bytes);
/** Of the file, as it is stored. The total is 0 where it is not known. */
uint64_t wpi_bytes_done(const wpi_bytes *bytes);
uint64_t wpi_bytes_total(const wpi_bytes *bytes);
void wpi_bytes_close(wpi_bytes *bytes); /* NULL allowed */

#endif

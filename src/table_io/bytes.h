/* SPDX-License-Identifier: Apache-2.0 */
/** Bytes of a file from its beginning to its end; gzip and zstd files are unpacked. One thread. */
#ifndef WP_TABLE_IO_BYTES_H
#define WP_TABLE_IO_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/fail.h"

typedef struct wpi_bytes wpi_bytes;

/** "-" is stdin. Packed files are recognized by their first bytes, whatever their name. NOT_FOUND,
 * IO.
 */
WP_NODISCARD wp_status wpi_bytes_open(const char *path, wpi_bytes **out, wp_error *err);
/** A program's output; NULL-terminated argv. Its failure is reported when its output ends. */
WP_NODISCARD wp_status wpi_bytes_spawn(const char *const argv[], const char *name, wpi_bytes **out,
                                       wp_error *err);
/** Fills `to`; fewer bytes than requested only at the end. IO; PARSE: packed data that are damaged
 * or truncated. */
WP_NODISCARD wp_status wpi_bytes_read(wpi_bytes *bytes, void *to, size_t size_bytes,
                                      size_t *got_bytes, wp_error *err);
/** Maps the unread rest of the file into memory; `is_random`: for a few accesses at random. Valid
 * as long as `bytes`; call it once. False: the file is packed, not a plain file, or at its end;
 * then it can be read as before. */
bool wpi_bytes_map(wpi_bytes *bytes, bool is_random, const void **data, size_t *size_bytes);
/** Of the file, as it is stored. The total is 0 where it is not known. */
uint64_t wpi_bytes_done(const wpi_bytes *bytes);
uint64_t wpi_bytes_total(const wpi_bytes *bytes);
void wpi_bytes_close(wpi_bytes *bytes); /* NULL allowed */

#endif

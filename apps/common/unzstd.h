/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Unpacking zstd with the library that every Debian system has (libzstd.so.1), found when the first
 * compressed file is opened: programs need no zstd to be built, nor to read plain files.
 */
#ifndef APP_UNZSTD_H
#define APP_UNZSTD_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct app_unzstd app_unzstd;

/** NULL if the library is not there; `*reason` (static storage) then says why. */
app_unzstd *app_unzstd_create(const char **reason);
void app_unzstd_destroy(app_unzstd *stream);

/** Unpacks from in[*in_used .. in_bytes) to out[*out_used .. out_bytes), as much as fits; moves
 *  both ends on. Returns NULL, or what is wrong with the data. */
const char *app_unzstd_some(app_unzstd *stream, const char *in, size_t in_bytes, size_t *in_used,
                            char *out, size_t out_bytes, size_t *out_used);
/** Whether the data so far end with a complete frame. */
bool app_unzstd_is_complete(const app_unzstd *stream);

#ifdef __cplusplus
}
#endif
#endif

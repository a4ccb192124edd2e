/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Releases structures of the Arrow C data interface for an exporter that may end before the
 * consumer does, such as an interpreter. Structures have the functions wp_release_… as `release`;
 * these call the exporter's, or only mark the structure as released once the exporter has ended.
 *
 * Thread rule: any threads may release; wp_release_by must not run at the same time.
 */
#ifndef WARPAGE_ARROW_RELEASE_H
#define WARPAGE_ARROW_RELEASE_H

#include "warpage/ops.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Of an ArrowSchema, an ArrowArray, an ArrowArrayStream. */
typedef void (*wp_releaser)(void *structure);

/** The exporter's functions; NULL: it has ended. */
WP_API void wp_release_by(wp_releaser schema, wp_releaser array, wp_releaser stream);

WP_API void wp_release_schema(void *schema);
WP_API void wp_release_array(void *array);
WP_API void wp_release_stream(void *stream);

#ifdef __cplusplus
}
#endif
#endif

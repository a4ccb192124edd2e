/* SPDX-License-Identifier: Apache-2.0 */
/** uthash over Warpage's allocator. After an addition `entry->hh.tbl` is NULL if memory was out. */
#ifndef WP_CUDART_HASH_MAP_H
#define WP_CUDART_HASH_MAP_H

#include "base/alloc.h"

#define uthash_malloc(size) wpi_malloc(size)
#define uthash_free(memory, size) wpi_free(memory)
#define HASH_NONFATAL_OOM 1

#include <uthash.h>

#endif

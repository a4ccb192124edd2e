/* SPDX-License-Identifier: Apache-2.0 */
/** Bytes that the threads of a block touch by an access, and whether different threads touch the
 *  same byte by two accesses.
 *
 *  Unrolled code has the same pattern of threads at many distances, so patterns are stored once,
 * and the result for two patterns at a distance is computed once. */
#ifndef WP_PASS_THREAD_TOUCH_H
#define WP_PASS_THREAD_TOUCH_H

#include "compiler/ir/thread_value.h"

/** More than the shared memory of any block. */
enum { WP_TOUCH_BYTES_MAX = 256 * 1024 };

/** One access: its pattern begins at `first` and ends before `outer`; both are relative to the
 * unknowns of the address. first == outer: no thread is active. */
typedef struct wpi_thread_touch {
    uint32_t pattern;
    int64_t first, outer;
} wpi_thread_touch;

typedef struct wpi_touch_pattern wpi_touch_pattern;
typedef struct wpi_touch_place wpi_touch_place;

typedef struct wpi_thread_touches {
    uint32_t threads;
    wpi_touch_pattern *patterns;
    uint32_t count, capacity;
    wpi_map found;
    wpi_touch_place *places;
    uint32_t stamp;
    uint64_t work; /* threads examined so far */
} wpi_thread_touches;

/** `{0}` is a valid start. Forgets all patterns, for another shape of the block. */
void wpi_touches_start(wpi_thread_touches *t, uint32_t threads);
void wpi_touches_deinit(wpi_thread_touches *t);

/** Adds an access. `address` is known; `is_active` selects threads. False: the span exceeds
 * WP_TOUCH_BYTES_MAX. */
bool wpi_touches_add(wpi_thread_touches *t, const wpi_thread_node *address, const bool *is_active,
                     uint32_t size_bytes, wpi_thread_touch *out);

/** Whether two threads of one warp (`in_warp`) or of two warps touch the same byte, one by `a`, the
 * other by `b`. The addresses must be alike. */
bool wpi_touches_clash(wpi_thread_touches *t, wpi_thread_touch a, wpi_thread_touch b, bool in_warp);

#endif

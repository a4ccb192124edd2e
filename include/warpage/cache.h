/* SPDX-License-Identifier: Apache-2.0 */
/** For kernels that are compiled with `wpcc --cache`. Without it, and with nvcc, no code comes of
 * this. */
#ifndef WARPAGE_CACHE_H
#define WARPAGE_CACHE_H

/** In a loop of a kernel: the outermost loop around it runs as written, uncached. */
#define WP_CACHE_OFF() asm volatile("// warpage: cache off")

#endif

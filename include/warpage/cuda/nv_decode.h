/* SPDX-License-Identifier: Apache-2.0 */
/** C++ names of device functions, demangled (-lcufilt). */
#ifndef WARPAGE_CUDA_NV_DECODE_H
#define WARPAGE_CUDA_NV_DECODE_H

#include <stddef.h>

#if defined(__cplusplus)
extern "C" {
#endif

/* The name that `id` stands for, in `output_buffer`, which has *length bytes of malloc and may be
 * moved, or in new memory of malloc if that is NULL; *length, if given, is the memory's size then.
 * *status: 0; -1: out of memory; -2: `id` is no mangled name; -3: an argument is wrong. */
char *__cu_demangle(const char *id, char *output_buffer, size_t *length, int *status);

#if defined(__cplusplus)
}
#endif

#endif

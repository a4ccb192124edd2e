/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The argument of the rewrite `stream`: "KERNEL:MASK". KERNEL is a mangled name, MASK a hexadecimal
 * number whose bit i is set if parameter i is mapped. The kernel that the rewrite adds is
 * `KERNEL$stream<mask>`, the mask in lower case without leading zeros.
 */
#ifndef WP_COMPILER_STREAM_ARGUMENT_H
#define WP_COMPILER_STREAM_ARGUMENT_H

#include "compiler/context.h"

/** `*kernel` is the caller's (wpi_free). INVALID: not of this form, or a mask of 0. */
WP_NODISCARD wp_status wpi_stream_argument_parse(const char *argument, char **kernel,
                                                 uint64_t *mask, wp_error *err);
/** The same, and the kernel itself; NOT_FOUND when the module has no such kernel, INVALID when a
 * bit of the mask is set for something that is not a pointer parameter. */
WP_NODISCARD wp_status wpi_stream_argument_find(const wpi_compile *c, const char *argument,
                                                const wpi_kernel_ir **kernel, uint64_t *mask,
                                                wp_error *err);
/** What follows KERNEL$ in the name of the kernel that is added: "stream5". Caller frees. */
char *wpi_stream_suffix(uint64_t mask);
/** True if parameter `index` of a kernel is a pointer, not a structure passed by value. */
bool wpi_stream_is_pointer(LLVMValueRef function, unsigned index);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/** Writes small objects for the host without clang: data, and glue code. */
#ifndef WP_EMIT_HOST_OBJECT_H
#define WP_EMIT_HOST_OBJECT_H

#include <llvm-c/Core.h>
#include <stddef.h>

#include "warpage/error.h"

/** Compiles the module for this kind of processor, any model. */
WP_NODISCARD wp_status wpi_host_object_write(LLVMModuleRef module, const char *path, wp_error *err);
/** Adds a constant with these bytes, aligned to 16, to the module; its linkage is private.
 */
LLVMValueRef wpi_host_object_bytes(LLVMModuleRef module, const char *name, const void *data,
                                   size_t size_bytes);

#endif

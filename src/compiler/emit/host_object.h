/* SPDX-License-Identifier: Apache-2.0 */
/** Small objects for the host that are made without clang: data, and glue. */
#ifndef WP_EMIT_HOST_OBJECT_H
#define WP_EMIT_HOST_OBJECT_H

#include <llvm-c/Core.h>
#include <stddef.h>

#include "warpage/error.h"

/** Compiles the module for this kind of processor, any model. */
WP_NODISCARD wp_status wpi_host_object_write(LLVMModuleRef module, const char *path, wp_error *err);
/** A constant with these bytes, aligned to 16, in the module; private until its linkage is changed.
 */
LLVMValueRef wpi_host_object_bytes(LLVMModuleRef module, const char *name, const void *data,
                                   size_t size_bytes);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#include "compiler/rewrite/stream_argument.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/must.h"
#include "base/stream_abi.h"
#include "base/text.h"
#include "compiler/ir/edit.h"

wp_status wpi_stream_argument_parse(const char *argument, char **kernel, uint64_t *mask,
                                    wp_error *err) {
    *kernel = NULL;
    const char *colon = strrchr(argument, ':');
    const char *digits = colon ? colon + 1 : "";
    errno = 0;
    *mask = strtoull(digits, NULL, 16);
    if (colon == argument || digits[0] == '\0' || errno != 0 || *mask == 0 ||
        digits[strspn(digits, "0123456789abcdefABCDEF")] != '\0')
        return WP_FAIL(err, INVALID,
                       "stream:%s: the argument is KERNEL:MASK, a mangled name and a hexadecimal "
                       "number that is not 0",
                       argument);
    *kernel = wpi_must_strndup(argument, (size_t)(colon - argument));
    return WP_STATUS_OK;
}

bool wpi_stream_is_pointer(LLVMValueRef function, unsigned index) {
    LLVMValueRef parameter = LLVMGetParam(function, index);
    return LLVMGetTypeKind(LLVMTypeOf(parameter)) == LLVMPointerTypeKind &&
           !wpi_argument_has(parameter, "byval");
}

wp_status wpi_stream_argument_find(const wpi_compile *c, const char *argument,
                                   const wpi_kernel_ir **kernel, uint64_t *mask, wp_error *err) {
    char *name;
    *kernel = NULL;
    WP_TRY(wpi_stream_argument_parse(argument, &name, mask, err));
    for (uint32_t k = 0; k < c->kernel_count; k++)
        if (strcmp(c->kernels[k].name, name) == 0) *kernel = &c->kernels[k];
    wpi_free(name);
    if (!*kernel)
        return WP_FAIL(err, NOT_FOUND, "stream:%s: the device code has no such kernel", argument);
    for (unsigned i = 0; i < WPI_STREAM_PARAMETERS; i++) {
        if ((*mask >> i & 1) == 0) continue;
        if (i >= LLVMCountParams((*kernel)->function) ||
            !wpi_stream_is_pointer((*kernel)->function, i))
            return WP_FAIL(err, INVALID, "kernel %s: parameter %u is not a pointer",
                           (*kernel)->name, i);
    }
    return WP_STATUS_OK;
}

char *wpi_stream_suffix(uint64_t mask) {
    return wpi_format("stream%" PRIx64, mask);
}

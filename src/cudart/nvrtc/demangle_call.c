/* SPDX-License-Identifier: Apache-2.0 */
/* NVIDIA's demangler (nv_decode.h), by the C++ runtime's. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cxx_name.h"
#include "cudart/cudart.h"
#include "warpage/cuda/nv_decode.h"

static char *finish(char *result, int value, int *status) {
    if (status != NULL) *status = value;
    return result;
}

/* The result belongs to the program, which frees it: memory of malloc. */
WP_API char *__cu_demangle(const char *id, char *output_buffer, size_t *length, int *status) {
    if (id == NULL || (output_buffer != NULL && length == NULL)) return finish(NULL, -3, status);
    char *name = wpi_cxx_demangle(id);
    if (name == NULL) return finish(NULL, -2, status);
    const size_t size_bytes = strlen(name) + 1;
    char *out = output_buffer;
    if (out == NULL || *length < size_bytes) {
        out = realloc(output_buffer, size_bytes);
        if (out != NULL && length != NULL) *length = size_bytes;
    }
    if (out != NULL) memcpy(out, name, size_bytes);
    wpi_free(name);
    return finish(out, out != NULL ? 0 : -1, status);
}

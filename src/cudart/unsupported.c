/* SPDX-License-Identifier: Apache-2.0 */
/* The message of an unimplemented call. */
#include "cudart/unsupported.h"

#include <string.h>

#include "base/log.h"
#include "cudart/cudart.h"
#include "cudart/entry.h"

int wp_unsupported_call(const char *name) {
    wp_error err = {0};
    (void)WP_FAIL(&err, UNSUPPORTED, "%s is not supported", name);
    return (int)wpi_explain(cudaErrorNotSupported, &err);
}

int wpi_unsupported(const char *name, atomic_bool *is_said) {
    const bool is_driver_call = strncmp(name, "cuda", 4) != 0;
    if (!atomic_exchange(is_said, true))
        wpi_log(WP_LOG_WARN, "cuda", "%s is not supported; it returns %s", name,
                is_driver_call ? "CUDA_ERROR_NOT_SUPPORTED" : "cudaErrorNotSupported");
    return (int)(is_driver_call ? cudaErrorNotSupported : wpi_note(cudaErrorNotSupported));
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The message of an unimplemented call. */
#include "cudart/unsupported.h"

#include "base/log.h"
#include "cudart/cudart.h"

int wpi_unsupported(const char *name, atomic_bool *is_said) {
    if (!atomic_exchange(is_said, true))
        wpi_log(WP_LOG_WARN, "cuda", "%s is not supported; it returns cudaErrorNotSupported", name);
    return (int)wpi_note(cudaErrorNotSupported);
}

/* SPDX-License-Identifier: Apache-2.0 */
/** Headers of the C and C++ libraries, by name. Thread rule: any thread. */
#ifndef WP_CUDART_STANDARD_HEADERS_H
#define WP_CUDART_STANDARD_HEADERS_H

#include <stdbool.h>

/** Whether this is how programs include such a header: "cstdint", "math.h". */
bool wpi_is_standard_header(const char *name);

#endif

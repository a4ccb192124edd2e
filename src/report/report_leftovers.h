/* SPDX-License-Identifier: Apache-2.0 */
/** For programs that link libwarpage and remove temporary files when a signal ends them. */
#ifndef WP_REPORT_LEFTOVERS_H
#define WP_REPORT_LEFTOVERS_H

#include "warpage/error.h"

/** Removes the library's temporary files: half-written reports and traces. Async-signal-safe. */
WP_API void wpi_report_leftovers_remove(void);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/** index.html of `probe --output`. */
#ifndef WP_CLI_PROBE_PAGE_H
#define WP_CLI_PROBE_PAGE_H

#include "probe/result.h"
#include "warpage/error.h"

/** Writes the result and the plots that lie in `dir` to `dir`/index.html. IO. */
WP_NODISCARD wp_status wpi_probe_page_write(const wpi_probe_result *result, const char *dir,
                                            wp_error *err);

#endif

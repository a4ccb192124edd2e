/* SPDX-License-Identifier: Apache-2.0 */
/** Hides other toolkits' headers in folders that every compiler searches (/usr/local/include,
 * /usr/include, folders of $CPLUS_INCLUDE_PATH): a header that the dialect lacks would be found
 * there and fail later. clang reads these folders through an overlay that hides them, also from
 * `__has_include`. */
#ifndef WP_COMPILER_FOREIGN_HEADERS_H
#define WP_COMPILER_FOREIGN_HEADERS_H

#include "compiler/driver/job.h"

/** Writes the overlay to the temporary folder and sets job->hidden; NULL if no system folder has a
 * toolkit. */
WP_NODISCARD wp_status wpi_foreign_headers_hide(wpi_compile_job *job, wp_error *err);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/** Other toolkits whose headers are where every compiler looks (/usr/local/include, /usr/include,
 * folders of $CPLUS_INCLUDE_PATH): a header that the dialect lacks would be taken from there and
 * half work. clang sees these folders through an overlay that hides them, `__has_include` too. */
#ifndef WP_COMPILER_FOREIGN_HEADERS_H
#define WP_COMPILER_FOREIGN_HEADERS_H

#include "compiler/driver/job.h"

/** Writes the overlay to the temporary folder and sets job->hidden; it stays NULL where no system
 * folder holds a toolkit. */
WP_NODISCARD wp_status wpi_foreign_headers_hide(wpi_compile_job *job, wp_error *err);

#endif

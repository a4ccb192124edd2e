/* SPDX-License-Identifier: Apache-2.0 */
/** Recording a program's trace: a run of it on a simulated GPU that leaves a .wpt file. */
#ifndef WP_STUDY_TRACE_RECORDING_H
#define WP_STUDY_TRACE_RECORDING_H

#include <stdbool.h>

#include "base/fail.h"
#include "base/strings.h"
#include "base/text.h"

/** As `warpage trace record`: runs `program` so that it writes the trace `path`. `device`: NULL for
 *  the default. `stderr_text` receives the program's stderr; NULL: it is passed through.
 *  `*exit_code` is the program's. IO, NOT_FOUND (no such program), INVALID (it left no trace;
 *  stderr has the reason). */
WP_NODISCARD wp_status wpi_trace_record(const char *const *program, const char *path,
                                        const char *device, bool is_functional,
                                        const char *stdout_path, wpi_text *stderr_text,
                                        wpi_strings *environment, int *exit_code, wp_error *err);
#define WPI_TRACE_DEVICE "sim:gtx1080ti" /* where programs are recorded by default */

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/** Where --report writes: a file, or stdout ("-": text; "-.json", "-.csv": that form). */
#ifndef WP_CLI_REPORT_TARGET_H
#define WP_CLI_REPORT_TARGET_H

#include <stdbool.h>

#include "warpage/report.h"

/** Its text in --help. */
#define WPI_REPORT_DOC                                                                             \
    "write the report to FILE.txt, .json, .csv or .html; - is standard output, as text "           \
    "(-.json or -.csv: in that form), after what the program printed"

bool wpi_report_is_stdout(const char *path);
/** INVALID: no form has this ending, or the form cannot go to stdout. */
WP_NODISCARD wp_status wpi_report_check(const char *path, wp_error *err);
/** A checked path. IO. */
WP_NODISCARD wp_status wpi_report_write(const wp_run_record *record, const char *path,
                                        wp_error *err);

#endif

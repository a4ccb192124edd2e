/* SPDX-License-Identifier: Apache-2.0 */
/** Numbers of reports by name, for `compare --show`. */
#ifndef WP_STUDY_SHOWN_H
#define WP_STUDY_SHOWN_H

#include "base/strings.h"
#include "base/text.h"
#include "warpage/report.h"

/** Splits "a,b,c". INVALID: nothing between commas, or more than `most`. */
WP_NODISCARD wp_status wpi_shown_read(const char *text, size_t most, wpi_strings *names,
                                      wp_error *err);
/** A metric or a counter of the whole run. "" if the report has none of that name. */
char *wpi_shown_value(const wp_run_record *record, const char *name);
/** The nearest name in the report, or NULL; the caller frees it. */
char *wpi_shown_nearest(const wp_run_record *record, const char *name);

/** A value with its unit, from the end of its name: "1.55 ms" for ("…_ns", "1552757"); others as
 * they are (wpi_free). */
WP_NODISCARD char *wpi_shown_text(const char *name, const char *value);

#endif

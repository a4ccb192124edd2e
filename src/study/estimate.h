/* SPDX-License-Identifier: Apache-2.0 */
/**
 * How much a remedy gives at most: the program runs again on the simulated GPU, with the part that
 * a line of the verdict names costing nothing. One run for each such line.
 */
#ifndef WP_STUDY_ESTIMATE_H
#define WP_STUDY_ESTIMATE_H

#include "base/strings.h"
#include "warpage/report.h"

/** Adds estimates to `record`. `program`: its argv, NULL at the end; `environment`: rows of the
 * first run; `folder`: for records. The program's output is dropped. A run that fails leaves its
 * line without an estimate, and is reported on stderr. */
void wpi_estimate(wp_run_record *record, const char *const *program, const wpi_strings *environment,
                  const char *folder);

#endif

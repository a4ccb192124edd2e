/* SPDX-License-Identifier: Apache-2.0 */
/** Policies that look ahead: a first run, under others, notes what a second one then knows. */
#ifndef WP_STUDY_FORESEE_H
#define WP_STUDY_FORESEE_H

#include "base/strings.h"
#include "warpage/error.h"

/** What has to be appended to WARPAGE_SET, as it is in the environment, so that no policy of the
 * GPU looks ahead (wpi_free); NULL: none does. `device`: NULL for WARPAGE_DEVICE. */
char *wpi_foresee_instead(const char *device);

/** The rows for a first run, which notes to `path`, and those for a second one, which has that. */
void wpi_foresee_note(const char *instead, const char *path, wpi_strings *environment);
void wpi_foresee_use(const char *path, wpi_strings *environment);

#endif

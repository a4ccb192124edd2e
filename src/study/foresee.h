/* SPDX-License-Identifier: Apache-2.0 */
/** Policies that look ahead: a first run under other policies records the page uses that a second
 * one reads. */
#ifndef WP_STUDY_FORESEE_H
#define WP_STUDY_FORESEE_H

#include "base/strings.h"
#include "warpage/error.h"

/** The settings to append to WARPAGE_SET of the environment so that no policy of the GPU looks
 * ahead (wpi_free); NULL: none does. `device`: NULL for WARPAGE_DEVICE. */
char *wpi_foresee_instead(const char *device);

/** Environment rows for a first run, which records to `path`, and for a second one, which reads
 * it. */
void wpi_foresee_note(const char *instead, const char *path, wpi_strings *environment);
void wpi_foresee_use(const char *path, wpi_strings *environment);

#endif

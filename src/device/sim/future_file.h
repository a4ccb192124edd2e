/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Notes of a run (sim/paging/foresight.h) as a file: the magic line, the window, how many launches
 * and notes, where launches begin, the pages; varints, of differences. The parameters `future` and
 * `note-future` name such files.
 */
#ifndef WP_DEVICE_SIM_FUTURE_FILE_H
#define WP_DEVICE_SIM_FUTURE_FILE_H

#include "sim/paging/foresight.h"

/** What the parameters ask for: begins to note, or reads. NOT_FOUND, IO, PARSE, INVALID: both. */
WP_NODISCARD wp_status wpi_future_load(wpi_foresight *foresight, wp_error *err);
/** Writes what was noted, if that was asked for. IO. */
WP_NODISCARD wp_status wpi_future_store(const wpi_foresight *foresight, wp_error *err);

/** The same with a name. */
WP_NODISCARD wp_status wpi_future_read(const char *path, wpi_foresight *foresight, wp_error *err);
WP_NODISCARD wp_status wpi_future_write(const char *path, const wpi_foresight *foresight,
                                        wp_error *err);

#endif

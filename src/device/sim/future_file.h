/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Notes of a run (sim/paging/foresight.h) in a file: magic line, window, numbers of launches and
 * notes, first note of each launch, pages; as varints of differences. The parameters `future` and
 * `note-future` name such files.
 */
#ifndef WP_DEVICE_SIM_FUTURE_FILE_H
#define WP_DEVICE_SIM_FUTURE_FILE_H

#include "sim/paging/foresight.h"

/** Starts recording, or reads a file, as the parameters say. NOT_FOUND, IO, PARSE. INVALID: both
 * are set. */
WP_NODISCARD wp_status wpi_future_load(wpi_foresight *foresight, wp_error *err);
/** Writes the notes if `note-future` is set. IO. */
WP_NODISCARD wp_status wpi_future_store(const wpi_foresight *foresight, wp_error *err);

/** The same with a given path. */
WP_NODISCARD wp_status wpi_future_read(const char *path, wpi_foresight *foresight, wp_error *err);
WP_NODISCARD wp_status wpi_future_write(const char *path, const wpi_foresight *foresight,
                                        wp_error *err);

#endif

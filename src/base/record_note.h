/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A note in the place of a run record until the record is written, so that `warpage run` can report
 * why there is none. The command writes the note before the program starts; libwarpage, in the
 * program, changes it in place, which needs no space on a full disk; the record replaces it by a
 * rename.
 */
#ifndef WP_BASE_RECORD_NOTE_H
#define WP_BASE_RECORD_NOTE_H

#include <stdbool.h>

#include "base/fail.h"

typedef enum wpi_record_state {
    WP_RECORD_MISSING,     /* no file */
    WP_RECORD_NOT_STARTED, /* the note as the command left it: no program with libwarpage ran */
    WP_RECORD_STARTED,     /* one did, and has not written its record */
    WP_RECORD_FAILED,      /* it could not write it */
    WP_RECORD_WRITTEN
} wpi_record_state;

enum { WP_RECORD_REASON_BYTES = 448 };

WP_NODISCARD wp_status wpi_record_note_create(const char *path, wp_error *err);
/** Both do nothing where `path` holds no note. */
void wpi_record_note_started(const char *path);
void wpi_record_note_failed(const char *path, const char *reason);
/** `reason`: of WP_RECORD_FAILED, else "". */
wpi_record_state wpi_record_note_state(const char *path, char reason[WP_RECORD_REASON_BYTES]);

#endif

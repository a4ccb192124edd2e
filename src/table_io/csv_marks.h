/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Positions of the ends of fields in CSV text: delimiters and newlines that are not quoted. A quote
 * opens at the beginning of a field, "" inside is a quote; a quote anywhere else is an ordinary
 * character.
 */
#ifndef WP_TABLE_IO_CSV_MARKS_H
#define WP_TABLE_IO_CSV_MARKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WPI_CSV_QUOTE '"'
#define WPI_CSV_PADDING 64 /* bytes behind text that must be readable */

/** The end of the last whole record of `text`; 0: none. `*open_quote`: the position of a quote that
 * is not closed; `size` if there is none. */
size_t wpi_csv_cut(const char *text, size_t size, char delimiter, size_t *open_quote);

/** The quote that closes the one before `at`; `size` if there is none. */
size_t wpi_csv_closing_quote(const char *text, size_t at, size_t size);

/** A mark is a position; this bit says that a newline is there. Text has at most 2^31 bytes. */
#define WPI_CSV_NEWLINE ((uint32_t)1 << 31)

typedef struct wpi_csv_marker {
    const char *text;       /* ends with a newline outside quotes; WPI_CSV_PADDING bytes follow */
    size_t size, at, field; /* the position reached; the start of its field */
    char delimiter;
} wpi_csv_marker;

#define WPI_CSV_MARKS_STEP 16384 /* at most so many a call */

/** Writes the next marks; returns their number. 0: end of text. */
size_t wpi_csv_marks(wpi_csv_marker *marker, uint32_t *marks);

#endif

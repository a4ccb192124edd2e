/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Where the fields of CSV text end: at delimiters and newlines that are not quoted. A quote opens
 * at the beginning of a field, "" inside is a quote; a quote anywhere else is a character like
 * others.
 */
#ifndef WP_TABLE_IO_CSV_MARKS_H
#define WP_TABLE_IO_CSV_MARKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WPI_CSV_QUOTE '"'
#define WPI_CSV_PADDING 64 /* bytes behind text that must be readable */

/** Where the last whole record of `text` ends; 0: none does. `*open_quote`: where a quote opens
 * that does not close; `size` if there is none. */
size_t wpi_csv_cut(const char *text, size_t size, char delimiter, size_t *open_quote);

/** The quote that closes the one before `at`; `size` if there is none. */
size_t wpi_csv_closing_quote(const char *text, size_t at, size_t size);

/** A mark is a position; this bit says that a newline is there. Text has at most 2^31 bytes. */
#define WPI_CSV_NEWLINE ((uint32_t)1 << 31)

typedef struct wpi_csv_marker {
    const char *text;       /* ends with a newline outside quotes; WPI_CSV_PADDING bytes follow */
    size_t size, at, field; /* what was seen; where the field there begins */
    char delimiter;
} wpi_csv_marker;

#define WPI_CSV_MARKS_STEP 16384 /* at most so many a call */

/** Marks of some of the text behind those given so far; how many. 0: the text is at its end. */
size_t wpi_csv_marks(wpi_csv_marker *marker, uint32_t *marks);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Text files line by line, compressed or not.
 *
 * The compression is recognized by the first bytes: zstd is unpacked here; lz4, gzip,
 * xz and bzip2 through apt's own helper where the machine has one (package lists come that way).
 * A file that cannot be read ends the program with a sentence that names it.
 */
#ifndef APP_TEXT_H
#define APP_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct app_text app_text;

app_text *app_text_open(const char *path);
/** Closes and frees; NULL allowed. */
void app_text_close(app_text *text);

/** The next line without its line end, NUL-terminated; false at the end of the file.
 *  The line belongs to `text` and lives until the next call; it may be written to. */
bool app_text_line(app_text *text, char **line, size_t *length);
/** The number of the last line returned, from 1, and the file's name: for messages. */
uint64_t app_text_line_number(const app_text *text);
const char *app_text_path(const app_text *text);

/** Whether the file is taken as it is: it is not packed. */
bool app_text_is_plain(const app_text *text);
/** The next bytes, unpacked, whatever lines they are of; false at the end of the file. They belong
 *  to `text` and live until the next call. */
bool app_text_some(app_text *text, char **bytes, size_t *length);

/** The whole file, unpacked, with a NUL after its last byte. The caller frees it. */
char *app_text_read_all(const char *path, size_t *size_bytes);

/** Writes a file, which appears complete or not at all. */
void app_text_write(const char *path, const char *bytes, size_t count);

/** Ends the program: "path:line: message". */
__attribute__((noreturn, format(printf, 2, 3))) void app_text_fail(const app_text *text,
                                                                   const char *format, ...);

/** Reads an unsigned number at *cursor and moves past it and past the blanks and commas after it;
 *  false (nothing moved) if there is none or it does not fit 64 bits. */
bool app_parse_number(char **cursor, uint64_t *value);

#ifdef __cplusplus
}
#endif
#endif

/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What a program says: failures in one sentence, numbers that people can read, bars.
 *
 * Results go to stdout and are the same for the same input and seed; times and rates go to stderr.
 * Exit status: 0 done, 1 failed (or a check that found a difference), 2 wrong usage.
 * Thread rule: one thread.
 */
#ifndef APP_REPORT_H
#define APP_REPORT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Remembers the program's name for messages and starts the clock of the total time. */
void app_start(const char *program);
/** Seconds since app_start. */
double app_seconds(void);

/** Prints "program: message" on stderr and exits with 1. */
__attribute__((noreturn, format(printf, 1, 2))) void app_fail(const char *format, ...);
/** The same for wrong usage: exits with 2 and points to --help. */
__attribute__((noreturn, format(printf, 1, 2))) void app_fail_usage(const char *format, ...);

/** A measured value for a program that runs this one: a line "name value", appended to the file
 * that the environment variable WARPAGE_VALUES names. */
void app_value(const char *name, double value);

/** malloc and realloc that fail with a sentence naming `what`. 0 bytes are allowed. */
void *app_allocate(size_t count, size_t item_bytes, const char *what);
void *app_reallocate(void *memory, size_t count, size_t item_bytes, const char *what);

/** A number as text, in a buffer of this call's own. 16 calls may be live at once. */
const char *app_count(uint64_t value);                                /* 1,342,310 */
const char *app_bytes(uint64_t bytes);                                /* 15.1 MiB */
const char *app_time(double seconds);                                 /* 12.3 ms */
const char *app_rate(double count, double seconds, const char *unit); /* 81.2 M edges/s */

/** A bar of at most `width` columns for 0 <= fraction <= 1, in eighths of a column (UTF-8).
 *  A fraction above 0 is always visible. */
void app_bar(FILE *out, double fraction, int width);

#ifdef __cplusplus
}
#endif
#endif

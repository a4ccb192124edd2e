/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Words to numbers: a hash table that numbers words from 0 in the order of their first appearance.
 * Words are copied; `{0}` is an empty table.
 */
#ifndef APP_NAMES_H
#define APP_NAMES_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct app_names {
    char *bytes;    /* all words, each with its NUL */
    size_t *start;  /* [count] where word i begins in bytes */
    uint32_t *slot; /* [slot_count] word number + 1, or 0 */
    size_t size_bytes;
    size_t capacity_bytes;
    size_t capacity;
    size_t slot_count; /* a power of two, at least twice count */
    uint32_t count;
} app_names;

/** The number of the word; a new one if it was not there. */
uint32_t app_names_number(app_names *names, const char *word, size_t length);
const char *app_names_word(const app_names *names, uint32_t number);
void app_names_free(app_names *names);

#ifdef __cplusplus
}
#endif
#endif

/* SPDX-License-Identifier: Apache-2.0 */
/** The combinations that `warpage compare` tries. */
#ifndef WP_STUDY_COMPARE_H
#define WP_STUDY_COMPARE_H

#include <stdint.h>

#include "base/fail.h"
#include "base/strings.h"
#include "base/text.h"

/** One --vary KEY=A,B,C. */
typedef struct wpi_vary {
    char *key; /* "device": the GPU; else a key of its profile */
    wpi_strings values;
} wpi_vary;

/** All combinations of the varied keys' values, the last key fastest. */
typedef struct wpi_variation {
    wpi_vary *keys;
    size_t key_count;
    size_t combination_count; /* 1 if nothing is varied */
} wpi_variation;

/** Reads "KEY=A,B,C". INVALID. */
WP_NODISCARD wp_status wpi_variation_add(wpi_variation *variation, const char *text, wp_error *err);
void wpi_variation_deinit(wpi_variation *variation);
/** The value of key `key` in combination `number`. */
const char *wpi_variation_value(const wpi_variation *variation, size_t number, size_t key);
/** The combination's GPU, and its settings as WARPAGE_SET, appended to `base` (NULL: none). */
const char *wpi_variation_device(const wpi_variation *variation, size_t number, const char *device);
void wpi_variation_settings(const wpi_variation *variation, size_t number, const char *base,
                            wpi_text *out);
/** "tlb.l2.entries=64 gpu.sms=2", for display. */
void wpi_variation_label(const wpi_variation *variation, size_t number, wpi_text *out);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Quantities as users write them: "64KiB", "1.5GiB", "350ns". A number without a unit is refused; 0
 * alone is accepted.
 */
#ifndef WP_BASE_UNITS_H
#define WP_BASE_UNITS_H

#include <stddef.h>
#include <stdint.h>

#include "warpage/error.h"

#define WP_KIB ((uint64_t)1024)
#define WP_MIB (1024 * WP_KIB)
#define WP_GIB (1024 * WP_MIB)

/** B, KiB, MiB, GiB, TiB; also kB, MB, GB, TB (powers of ten). Fractions are rounded down. */
WP_NODISCARD wp_status wpi_parse_bytes(const char *text, uint64_t *bytes, wp_error *err);
/** ns, us, ms, s, min. */
WP_NODISCARD wp_status wpi_parse_duration_ns(const char *text, uint64_t *ns, wp_error *err);
/** ps, ns, us, ms, s. */
WP_NODISCARD wp_status wpi_parse_duration_ps(const char *text, uint64_t *ps, wp_error *err);
/** Hz, kHz, MHz, GHz. */
WP_NODISCARD wp_status wpi_parse_hz(const char *text, uint64_t *hz, wp_error *err);
/** A plain count: decimal digits only. */
WP_NODISCARD wp_status wpi_parse_count(const char *text, uint64_t *count, wp_error *err);

/** Short forms for display, at most 31 characters: "1.50 GiB", "350 ns". They return `out`. */
const char *wpi_format_bytes(uint64_t bytes, char out[32]);
const char *wpi_format_duration(uint64_t ns, char out[32]);

#endif

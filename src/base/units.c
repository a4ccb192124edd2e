/* SPDX-License-Identifier: Apache-2.0 */
/* A table of units a kind; whole numbers are kept exact, fractions go through long double. */
#include "base/units.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"

typedef struct unit {
    const char *name;
    uint64_t factor;
} unit;

static const unit byte_units[] = {{"B", 1},        {"KiB", WP_KIB},        {"MiB", WP_MIB},
                                  {"GiB", WP_GIB}, {"TiB", 1024 * WP_GIB}, {"kB", 1000},
                                  {"MB", 1000000}, {"GB", 1000000000},     {"TB", 1000000000000},
                                  {NULL, 0}};

static const unit time_units[] = {{"ns", 1},         {"us", 1000},         {"ms", 1000000},
                                  {"s", 1000000000}, {"min", 60000000000}, {NULL, 0}};

static const unit fine_time_units[] = {{"ps", 1},          {"ns", 1000},         {"us", 1000000},
                                       {"ms", 1000000000}, {"s", 1000000000000}, {NULL, 0}};

static const unit frequency_units[] = {
    {"Hz", 1}, {"kHz", 1000}, {"MHz", 1000000}, {"GHz", 1000000000}, {NULL, 0}};

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

/* Reads digits at *at; false on overflow. */
static bool read_digits(const char **at, uint64_t *out) {
    uint64_t value = 0;
    for (; is_digit(**at); (*at)++) {
        const uint64_t digit = (uint64_t)(**at - '0');
        if (value > (UINT64_MAX - digit) / 10) return false;
        value = value * 10 + digit;
    }
    *out = value;
    return true;
}

static wp_status parse(const char *text, const unit *units, const char *examples, uint64_t *out,
                       wp_error *err) {
    *out = 0;
    const char *at = text;
    uint64_t whole = 0;
    if (!is_digit(*at))
        return WP_FAIL(err, PARSE, "'%s' is not a quantity such as %s", text, examples);
    if (!read_digits(&at, &whole)) return WP_FAIL(err, PARSE, "'%s' is too large", text);
    long double fraction = 0;
    if (*at == '.') {
        long double scale = 1;
        for (at++; is_digit(*at); at++) {
            scale /= 10;
            fraction += scale * (long double)(*at - '0');
        }
    }
    while (*at == ' ')
        at++;
    if (*at == '\0') {
        if (whole == 0 && fraction == 0) return WP_STATUS_OK;
        return WP_FAIL(err, PARSE, "'%s' lacks a unit: write it as %s", text, examples);
    }
    for (const unit *u = units; u->name != NULL; u++) {
        if (strcmp(at, u->name) != 0) continue;
        const uint64_t part = (uint64_t)(fraction * (long double)u->factor);
        if (whole > (UINT64_MAX - part) / u->factor)
            return WP_FAIL(err, PARSE, "'%s' is too large", text);
        *out = whole * u->factor + part;
        return WP_STATUS_OK;
    }
    return WP_FAIL(err, PARSE, "'%s' has an unknown unit '%s': write it as %s", text, at, examples);
}

wp_status wpi_parse_bytes(const char *text, uint64_t *bytes, wp_error *err) {
    return parse(text, byte_units, "64KiB, 512MiB or 1.5GiB", bytes, err);
}

wp_status wpi_parse_duration_ns(const char *text, uint64_t *ns, wp_error *err) {
    return parse(text, time_units, "350ns, 20us or 1.5s", ns, err);
}

wp_status wpi_parse_duration_ps(const char *text, uint64_t *ps, wp_error *err) {
    return parse(text, fine_time_units, "500ps, 350ns or 1.5us", ps, err);
}

wp_status wpi_parse_hz(const char *text, uint64_t *hz, wp_error *err) {
    return parse(text, frequency_units, "1481MHz or 1.5GHz", hz, err);
}

wp_status wpi_parse_count(const char *text, uint64_t *count, wp_error *err) {
    *count = 0;
    const char *at = text;
    uint64_t value = 0;
    if (!is_digit(*at)) return WP_FAIL(err, PARSE, "'%s' is not a whole number", text);
    if (!read_digits(&at, &value)) return WP_FAIL(err, PARSE, "'%s' is too large", text);
    if (*at != '\0') return WP_FAIL(err, PARSE, "'%s' is not a whole number", text);
    *count = value;
    return WP_STATUS_OK;
}

/* The largest of `count` units (ascending factors) that leaves at least 1. */
static const char *format(uint64_t value, const unit *units, size_t count, char out[32]) {
    size_t i = 0;
    while (i + 1 < count && value >= units[i + 1].factor)
        i++;
    if (i == 0)
        (void)snprintf(out, 32, "%llu %s", (unsigned long long)value, units[0].name);
    else
        (void)snprintf(out, 32, "%.2f %s", (double)value / (double)units[i].factor, units[i].name);
    return out;
}

const char *wpi_format_bytes(uint64_t bytes, char out[32]) {
    return format(bytes, byte_units, 5, out);
}

const char *wpi_format_duration(uint64_t ns, char out[32]) {
    return format(ns, time_units, 4, out);
}

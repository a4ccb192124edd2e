/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the values of keys, text with units, into the fields of a profile. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/param.h"
#include "base/units.h"
#include "sim/profile/profile_keys.h"

static void *field_of(const wpi_key *key, uint32_t repeat, wpi_profile *profile) {
    return (char *)profile + key->offset + repeat * wpi_key_stride(key);
}

/* Whether the text ends in a unit of cycles: "9cycles", "1 cycle". *length: that of the number. */
static bool ends_in_cycles(const char *text, size_t *length) {
    static const char *const words[] = {"cycles", "cycle"};
    const size_t all = strlen(text);
    for (size_t i = 0; i < 2; i++) {
        const size_t word = strlen(words[i]);
        if (all <= word || strcmp(text + all - word, words[i]) != 0) continue;
        *length = all - word;
        while (*length > 0 && text[*length - 1] == ' ')
            (*length)--;
        return true;
    }
    return false;
}

static wp_status read_cycles(const char *text, uint64_t *cycles, wp_error *err) {
    size_t length = 0;
    char digits[24];
    if (!ends_in_cycles(text, &length) || length >= sizeof digits)
        return WP_FAIL(err, PARSE, "'%s' is not a number of cycles such as 9cycles", text);
    (void)snprintf(digits, sizeof digits, "%.*s", (int)length, text);
    return wpi_parse_count(digits, cycles, err);
}

static wp_status read_time(const char *text, const wpi_profile *profile, uint64_t *ps,
                           wp_error *err) {
    size_t length = 0;
    if (strcmp(text, "0") == 0) {
        *ps = 0;
        return WP_STATUS_OK;
    }
    if (!ends_in_cycles(text, &length)) {
        if (wpi_parse_duration_ps(text, ps, NULL) == WP_STATUS_OK) return WP_STATUS_OK;
        return WP_FAIL(err, PARSE, "'%s' is not a time such as 9cycles, 350ns or 45us", text);
    }
    uint64_t cycles = 0;
    WP_TRY(read_cycles(text, &cycles, err));
    if (cycles > WPI_KEY_PS_MAX / profile->cycle_ps)
        return WP_FAIL(err, INVALID, "%s is too long", text);
    *ps = cycles * profile->cycle_ps;
    return WP_STATUS_OK;
}

static wp_status read_rate(const char *text, const wpi_profile *profile, uint64_t *bytes_per_s,
                           wp_error *err) {
    char bytes[32];
    const char *slash = strchr(text, '/');
    const bool is_per_cycle = slash != NULL && strcmp(slash, "/cycle") == 0;
    const bool is_per_s = slash != NULL && strcmp(slash, "/s") == 0;
    if ((!is_per_cycle && !is_per_s) || (size_t)(slash - text) >= sizeof bytes)
        return WP_FAIL(err, PARSE, "'%s' is not a rate such as 12GB/s or 64B/cycle", text);
    (void)snprintf(bytes, sizeof bytes, "%.*s", (int)(slash - text), text);
    WP_TRY(wpi_parse_bytes(bytes, bytes_per_s, err));
    if (!is_per_cycle) return WP_STATUS_OK;
    if (*bytes_per_s > WPI_KEY_RATE_MAX / profile->core_hz)
        return WP_FAIL(err, INVALID, "%s is too much", text);
    *bytes_per_s *= profile->core_hz;
    return WP_STATUS_OK;
}

static wp_status read_policy(const wpi_key *key, const char *text, const wpi_policy **policy,
                             wp_error *err) {
    *policy = NULL;
    if (strcmp(key->default_text, WPI_KEY_SAME) == 0 && strcmp(text, WPI_KEY_SAME) == 0)
        return WP_STATUS_OK;
    return wpi_policy_find(key->words, text, policy, err);
}

/* "125%", or "125". */
static wp_status read_percent(const char *text, uint64_t *percent, wp_error *err) {
    char digits[24];
    size_t length = strlen(text);
    if (length != 0 && text[length - 1] == '%') length--;
    (void)snprintf(digits, sizeof digits, "%.*s", length < sizeof digits ? (int)length : 0, text);
    if (wpi_parse_count(digits, percent, NULL) == WP_STATUS_OK) return WP_STATUS_OK;
    return WP_FAIL(err, PARSE, "'%s' is not a whole percentage such as 125%%", text);
}

static wp_status read_choice(const char *words, const char *text, uint64_t *out, wp_error *err) {
    const size_t length = strlen(text);
    uint64_t number = 0;
    for (const char *word = words; *word != '\0'; number++) {
        const size_t word_length = strcspn(word, " ");
        if (word_length == length && strncmp(word, text, length) == 0) {
            *out = number;
            return WP_STATUS_OK;
        }
        word += word_length;
        word += strspn(word, " ");
    }
    return WP_FAIL(err, PARSE, "'%s' is not one of: %s", text, words);
}

static wp_status read_text(const char *text, char **field, wp_error *err) {
    char *copy = wpi_strdup(text);
    if (copy == NULL) return WP_FAIL(err, NOMEM, "'%s'", text);
    wpi_free(*field);
    *field = copy;
    return WP_STATUS_OK;
}

static wp_status read_flag(const char *text, uint64_t *value, wp_error *err) {
    const wpi_param row = {.unit = WP_UNIT_FLAG, .max = 1};
    if (wpi_param_parse(&row, text, value, NULL) == WP_STATUS_OK) return WP_STATUS_OK;
    return WP_FAIL(err, PARSE, "'%s' is neither on nor off", text);
}

static void store(wpi_key_unit unit, uint64_t value, void *field) {
    switch (unit) {
    case WPI_KEY_NUMBER:
    case WPI_KEY_PERCENT:
    case WPI_KEY_CYCLES:
    case WPI_KEY_CHOICE: *(uint32_t *)field = (uint32_t)value; break;
    case WPI_KEY_FLAG: *(bool *)field = value != 0; break;
    default: *(uint64_t *)field = value; break;
    }
}

static const char *limit(wpi_key_unit unit, uint64_t value, char out[32]) {
    if (unit == WPI_KEY_BYTES) return wpi_format_bytes(value, out);
    if (unit == WPI_KEY_HZ && value % 1000000 == 0)
        (void)snprintf(out, 32, "%" PRIu64 " MHz", value / 1000000);
    else if (unit == WPI_KEY_RATE)
        (void)snprintf(out, 32, "%.6gGB/s", (double)value / 1e9);
    else if (unit == WPI_KEY_TIME && value != 0 && value % 1000000000000 == 0)
        (void)snprintf(out, 32, "%" PRIu64 "s", value / 1000000000000);
    else
        (void)snprintf(out, 32, "%" PRIu64 "%s", value,
                       unit == WPI_KEY_TIME      ? "ps"
                       : unit == WPI_KEY_PERCENT ? "%"
                       : unit == WPI_KEY_CYCLES  ? "cycles"
                       : unit == WPI_KEY_HZ      ? "Hz"
                                                 : "");
    return out;
}

static wp_status fail_range(const wpi_key *key, const char *text, wp_error *err) {
    char least[32], most[32];
    return WP_FAIL(err, INVALID, "%s is out of range (%s to %s)", text,
                   limit(key->unit, key->min, least), limit(key->unit, key->max, most));
}

wp_status wpi_key_read(const wpi_key *key, uint32_t repeat, const char *text, wpi_profile *profile,
                       wp_error *err) {
    void *field = field_of(key, repeat, profile);
    uint64_t value = 0;
    switch (key->unit) {
    case WPI_KEY_NUMBER:
    case WPI_KEY_SEED: WP_TRY(wpi_parse_count(text, &value, err)); break;
    case WPI_KEY_PERCENT: WP_TRY(read_percent(text, &value, err)); break;
    case WPI_KEY_BYTES: WP_TRY(wpi_parse_bytes(text, &value, err)); break;
    case WPI_KEY_HZ: WP_TRY(wpi_parse_hz(text, &value, err)); break;
    case WPI_KEY_TIME: WP_TRY(read_time(text, profile, &value, err)); break;
    case WPI_KEY_CYCLES: WP_TRY(read_cycles(text, &value, err)); break;
    case WPI_KEY_RATE: WP_TRY(read_rate(text, profile, &value, err)); break;
    case WPI_KEY_FLAG: WP_TRY(read_flag(text, &value, err)); break;
    case WPI_KEY_CHOICE: WP_TRY(read_choice(key->words, text, &value, err)); break;
    case WPI_KEY_POLICY: return read_policy(key, text, field, err);
    case WPI_KEY_TEXT: return read_text(text, field, err);
    case WPI_KEY_UNIT_COUNT: WP_CHECK(false);
    }
    if (key->unit != WPI_KEY_CHOICE && (value < key->min || value > key->max))
        return fail_range(key, text, err);
    store(key->unit, value, field);
    return WP_STATUS_OK;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Loops over blocks: those that compilers vectorise, and those that they cannot, as a group may
 * occur twice.
 */
#include "ops/groupby_cpu/cpu_block.h"

#include <string.h>

#include "base/cpu_vectors.h"

wp_type wpi_cpu_narrow_type(wp_type type) {
    if (type == WP_TYPE_INT64) return WP_TYPE_INT32;
    return type == WP_TYPE_UINT64 ? WP_TYPE_UINT32 : type;
}

/* A sum that has no bits above 32 where no value does. */
WPI_CPU_VECTORS bool wpi_cpu_is_narrow(const wp_column *column, uint64_t first, uint32_t count) {
    if (wpi_cpu_narrow_type(column->type) == column->type) return true;
    const uint64_t *restrict words = (const uint64_t *)column->values + first;
    const uint64_t bias = wpi_type_is_signed(column->type) ? UINT64_C(1) << 31 : 0;
    uint64_t bits = 0;
    for (uint32_t i = 0; i < count; i++)
        bits |= words[i] + bias;
    return bits >> 32 == 0;
}

void wpi_cpu_nulls(const wp_column *column, uint64_t first, uint32_t count, uint8_t *nulls) {
    for (uint32_t i = 0; i < count; i++)
        nulls[i] = !wpi_is_valid(column, first + i);
}

/* ---- values as words ---- */

#define WIDEN(name, type)                                                                          \
    WPI_CPU_VECTORS static void widen_##name(const type *restrict in, uint32_t count,              \
                                             uint64_t *restrict out) {                             \
        for (uint32_t i = 0; i < count; i++)                                                       \
            out[i] = (uint64_t)(int64_t)in[i];                                                     \
    }
WIDEN(int8, int8_t)
WIDEN(int16, int16_t)
WIDEN(int32, int32_t)
WIDEN(uint8, uint8_t)
WIDEN(uint16, uint16_t)
WIDEN(uint32, uint32_t)

static void widen_float32(const float *in, uint32_t count, uint64_t *out) {
    for (uint32_t i = 0; i < count; i++) {
        const double number = (double)in[i];
        memcpy(&out[i], &number, sizeof number);
    }
}

const uint64_t *wpi_cpu_words(const wpi_cpu_values *values, uint32_t first, uint32_t count,
                              uint64_t *out) {
    const uint8_t *in =
        (const uint8_t *)values->values + (size_t)first * wp_type_bytes(values->type);
    switch (values->type) {
    case WP_TYPE_INT8: widen_int8((const int8_t *)in, count, out); break;
    case WP_TYPE_INT16: widen_int16((const int16_t *)(const void *)in, count, out); break;
    case WP_TYPE_INT32: widen_int32((const int32_t *)(const void *)in, count, out); break;
    case WP_TYPE_UINT8: widen_uint8(in, count, out); break;
    case WP_TYPE_UINT16: widen_uint16((const uint16_t *)(const void *)in, count, out); break;
    case WP_TYPE_UINT32: widen_uint32((const uint32_t *)(const void *)in, count, out); break;
    case WP_TYPE_FLOAT32: widen_float32((const float *)(const void *)in, count, out); break;
    default: return (const uint64_t *)(const void *)in; /* already words */
    }
    return out;
}

/* Replaces NULLs by the value that changes nothing. */
static const uint64_t *without_nulls(const uint64_t *words, const uint8_t *nulls, uint32_t count,
                                     uint64_t nothing, uint64_t *out) {
    for (uint32_t i = 0; i < count; i++)
        out[i] = nulls[i] != 0 ? nothing : words[i];
    return out;
}

static const uint64_t *ordered_words(wp_type type, const uint64_t *words, uint32_t count,
                                     uint64_t *out) {
    if (wpi_type_is_float(type)) {
        for (uint32_t i = 0; i < count; i++)
            out[i] = wpi_ordered_float(words[i]);
    } else {
        for (uint32_t i = 0; i < count; i++)
            out[i] = wpi_ordered_integer(type, words[i]);
    }
    return out;
}

/* ---- into groups ------------------------------------------------------------------------------
 * `kept` is the field of the group at place 0.
 */

static void add_words(uint64_t *kept, const uint32_t *places, const uint64_t *words,
                      uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        kept[places[i]] += words[i];
}

static inline void add_wide(uint64_t *kept, const uint32_t *places, const uint64_t *words,
                            uint32_t count, bool is_signed) {
    for (uint32_t i = 0; i < count; i++) {
        uint64_t *sum = &kept[places[i]];
        const uint64_t low = sum[0] + words[i];
        sum[1] += (uint64_t)(low < words[i]) - (is_signed ? words[i] >> 63 : 0);
        sum[0] = low;
    }
}

static void add_floats(uint64_t *kept, const uint32_t *places, const uint64_t *words,
                       uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        double sum, number;
        memcpy(&sum, &kept[places[i]], sizeof sum);
        memcpy(&number, &words[i], sizeof number);
        sum += number;
        memcpy(&kept[places[i]], &sum, sizeof sum);
    }
}

static void keep_least(uint64_t *kept, const uint32_t *places, const uint64_t *words,
                       uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        if (words[i] < kept[places[i]]) kept[places[i]] = words[i];
}

static void keep_greatest(uint64_t *kept, const uint32_t *places, const uint64_t *words,
                          uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        if (words[i] > kept[places[i]]) kept[places[i]] = words[i];
}

static void count_nulls(uint64_t *kept, const uint32_t *places, const uint8_t *nulls,
                        uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        kept[places[i]] += nulls[i];
}

static void accumulate_field(const wpi_cpu_field *field, uint64_t *kept, const uint32_t *places,
                             const wpi_cpu_values *values, uint32_t first, uint32_t count,
                             uint64_t *scratch) {
    const wpi_accumulate how = field->accumulator.how;
    const wp_type type = field->accumulator.type;
    const uint8_t *nulls = values->nulls != NULL ? values->nulls + first : NULL;
    if (how == WPI_ACCUMULATE_COUNT) {
        if (nulls != NULL) count_nulls(kept, places, nulls, count);
        return;
    }
    const bool is_extreme = how == WPI_ACCUMULATE_MIN || how == WPI_ACCUMULATE_MAX;
    const uint64_t nothing = how == WPI_ACCUMULATE_MIN ? UINT64_MAX : 0;
    const uint64_t *words = wpi_cpu_words(values, first, count, scratch);
    if (is_extreme) words = ordered_words(type, words, count, scratch);
    if (nulls != NULL) words = without_nulls(words, nulls, count, nothing, scratch);
    if (how == WPI_ACCUMULATE_SUM_FLOAT)
        add_floats(kept, places, words, count);
    else if (how == WPI_ACCUMULATE_MIN)
        keep_least(kept, places, words, count);
    else if (how == WPI_ACCUMULATE_MAX)
        keep_greatest(kept, places, words, count);
    else if (!field->is_wide)
        add_words(kept, places, words, count);
    else if (wpi_type_is_signed(type))
        add_wide(kept, places, words, count, true);
    else
        add_wide(kept, places, words, count, false);
}

const wpi_cpu_values *wpi_cpu_only_sum(const wpi_cpu_layout *layout, const wpi_cpu_values *values) {
    const wpi_cpu_values *only = NULL;
    for (uint32_t i = 0; i < layout->field_count; i++) {
        const wpi_cpu_field *field = &layout->fields[i];
        const wpi_cpu_values *here = &values[field->accumulator.value];
        if (field->at == 0) continue;
        if (field->accumulator.how != WPI_ACCUMULATE_SUM_INTEGER || here->nulls != NULL)
            return NULL;
        only = here;
    }
    return layout->stride == layout->rows_at + 2 ? only : NULL;
}

void wpi_cpu_accumulate(const wpi_cpu_layout *layout, uint64_t *groups, const uint32_t *places,
                        const wpi_cpu_values *values, uint32_t first, uint32_t outer,
                        uint64_t *scratch) {
    for (uint32_t i = 0; i < layout->field_count && first < outer; i++) {
        const wpi_cpu_field *field = &layout->fields[i];
        if (field->at != 0)
            accumulate_field(field, groups + field->at, places + first,
                             &values[field->accumulator.value], first, outer - first, scratch);
    }
}

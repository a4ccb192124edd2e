/* SPDX-License-Identifier: Apache-2.0 */
#include "ops/groupby_cpu/cpu_layout.h"

#include <string.h>

#include "base/alloc.h"

static uint32_t words_of(const wpi_cpu_field *field, const bool *has_nulls) {
    if (field->accumulator.how == WPI_ACCUMULATE_COUNT) return has_nulls[field->accumulator.value];
    return field->is_wide ? 2 : 1;
}

wp_status wpi_cpu_layout_init(wpi_cpu_layout *layout, const wpi_shape *shape,
                              const wpi_cpu_traits *traits, wp_error *err) {
    const uint32_t count = shape->accumulator_count;
    const uint32_t rows_at = traits->hash_bits > 32 || traits->has_wide_rows;
    *layout = (wpi_cpu_layout){.stride = rows_at + 1,
                               .hash_bits = traits->hash_bits,
                               .rows_at = rows_at,
                               .field_count = count};
    layout->fields = wpi_calloc(count + 1, sizeof *layout->fields);
    layout->initial = wpi_calloc(2 + 2 * (size_t)count, sizeof *layout->initial);
    if (layout->fields == NULL || layout->initial == NULL) {
        wpi_cpu_layout_deinit(layout);
        return WP_FAIL(err, NOMEM, "%u accumulators", count);
    }
    for (uint32_t i = 0; i < count; i++) {
        wpi_cpu_field *field = &layout->fields[i];
        field->accumulator = shape->accumulators[i];
        field->is_wide = field->accumulator.how == WPI_ACCUMULATE_SUM_INTEGER &&
                         traits->is_wide[field->accumulator.value];
        const uint32_t words = words_of(field, traits->has_nulls);
        field->at = words != 0 ? layout->stride : 0;
        layout->stride += words;
        if (field->accumulator.how == WPI_ACCUMULATE_MIN) layout->initial[field->at] = UINT64_MAX;
    }
    return WP_STATUS_OK;
}

void wpi_cpu_layout_deinit(wpi_cpu_layout *layout) {
    wpi_free(layout->fields);
    wpi_free(layout->initial);
    *layout = (wpi_cpu_layout){0};
}

static uint64_t add_floats(uint64_t a, uint64_t b) {
    double x, y;
    memcpy(&x, &a, sizeof x);
    memcpy(&y, &b, sizeof y);
    x += y;
    memcpy(&a, &x, sizeof a);
    return a;
}

static void merge_field(const wpi_cpu_field *field, uint64_t *into, const uint64_t *from) {
    switch (field->accumulator.how) {
    case WPI_ACCUMULATE_SUM_FLOAT: *into = add_floats(*into, *from); break;
    case WPI_ACCUMULATE_MIN: *into = *from < *into ? *from : *into; break;
    case WPI_ACCUMULATE_MAX: *into = *from > *into ? *from : *into; break;
    default:
        into[0] += from[0];
        if (field->is_wide) into[1] += from[1] + (into[0] < from[0]);
        break;
    }
}

void wpi_cpu_layout_merge(const wpi_cpu_layout *layout, uint64_t *into, const uint64_t *from) {
    into[layout->rows_at] += wpi_cpu_layout_rows(layout, from) * wpi_cpu_layout_row(layout);
    for (uint32_t i = 0; i < layout->field_count; i++) {
        const wpi_cpu_field *field = &layout->fields[i];
        if (field->at != 0) merge_field(field, &into[field->at], &from[field->at]);
    }
}

/* The high word of a narrow sum. */
static uint64_t high_word(const wpi_cpu_field *field, uint64_t low) {
    return wpi_type_is_signed(field->accumulator.type) ? (uint64_t)((int64_t)low >> 63) : 0;
}

static void put_head(const wpi_cpu_layout *layout, uint64_t *group, uint64_t hash, uint64_t rows) {
    group[0] = hash;
    if (layout->rows_at != 0) group[layout->rows_at] = 0;
    group[layout->rows_at] += rows * wpi_cpu_layout_row(layout);
}

void wpi_cpu_layout_convert(const wpi_cpu_layout *layout, const uint64_t *group,
                            const wpi_cpu_layout *to, uint64_t *out) {
    memcpy(out, to->initial, to->stride * sizeof *out);
    put_head(to, out, wpi_cpu_layout_hash(layout, group), wpi_cpu_layout_rows(layout, group));
    for (uint32_t i = 0; i < layout->field_count; i++) {
        const wpi_cpu_field *field = &layout->fields[i];
        uint64_t *kept = &out[to->fields[i].at];
        if (field->at == 0) continue;
        kept[0] = group[field->at];
        if (to->fields[i].is_wide)
            kept[1] = field->is_wide ? group[field->at + 1] : high_word(field, kept[0]);
    }
}

void wpi_cpu_layout_values(const wpi_cpu_layout *layout, uint32_t number,
                           const uint64_t *const *groups, uint32_t count, uint64_t *out) {
    const wpi_cpu_field *field = &layout->fields[number];
    const uint32_t at = field->at;
    if (field->accumulator.how == WPI_ACCUMULATE_COUNT) {
        for (uint32_t i = 0; i < count; i++)
            out[i] = wpi_cpu_layout_rows(layout, groups[i]) - (at != 0 ? groups[i][at] : 0);
    } else if (field->accumulator.how != WPI_ACCUMULATE_SUM_INTEGER) {
        for (uint32_t i = 0; i < count; i++)
            out[i] = groups[i][at];
    } else {
        for (uint32_t i = 0; i < count; i++) {
            out[2 * i] = groups[i][at];
            out[2 * i + 1] = field->is_wide ? groups[i][at + 1] : high_word(field, groups[i][at]);
        }
    }
}

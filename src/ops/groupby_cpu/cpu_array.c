/* SPDX-License-Identifier: Apache-2.0 */
#include "ops/groupby_cpu/cpu_array.h"

#include <string.h>

#define LINE_WORDS 8u /* the first group's rows begin a line */

size_t wpi_cpu_array_bytes(const wpi_cpu_layout *layout, uint32_t count) {
    const size_t words = LINE_WORDS + (size_t)count * wpi_cpu_array_stride(layout);
    return (words + LINE_WORDS - 1) / LINE_WORDS * LINE_WORDS * sizeof(uint64_t);
}

void wpi_cpu_array_init(wpi_cpu_array *array, const wpi_cpu_layout *layout, uint32_t count,
                        void *memory) {
    *array = (wpi_cpu_array){.layout = layout,
                             .groups = (uint64_t *)memory + LINE_WORDS - layout->rows_at,
                             .count = count};
    memset(memory, 0, wpi_cpu_array_bytes(layout, count));
    bool is_zero = true;
    for (uint32_t i = layout->rows_at; i < layout->stride; i++)
        is_zero = is_zero && layout->initial[i] == 0;
    for (uint32_t i = 0; i < count && !is_zero; i++)
        memcpy(wpi_cpu_array_slot(array, i) + layout->rows_at, layout->initial + layout->rows_at,
               wpi_cpu_array_stride(layout) * sizeof(uint64_t));
}

/* ---- rows ---- */

/* Rows and a sum, changed by one load and one store. */
typedef uint64_t pair __attribute__((vector_size(2 * sizeof(uint64_t)), may_alias));

static void add_pairs(uint64_t *groups, const uint32_t *restrict places,
                      const uint64_t *restrict words, uint32_t count, uint64_t row) {
    for (uint32_t i = 0; i < count; i++)
        *(pair *)(void *)&groups[places[i]] += (pair){row, words[i]};
}

static void count_rows(uint64_t *rows, const uint32_t *restrict places, uint32_t count,
                       uint64_t row) {
    for (uint32_t i = 0; i < count; i++)
        rows[places[i]] += row;
}

void wpi_cpu_array_add(wpi_cpu_array *array, const uint32_t *places, const wpi_cpu_values *values,
                       uint32_t first, uint32_t outer, uint64_t *scratch) {
    const wpi_cpu_values *only = wpi_cpu_only_sum(array->layout, values);
    const uint64_t row = wpi_cpu_layout_row(array->layout);
    uint64_t *rows = array->groups + array->layout->rows_at;
    if (only != NULL) {
        const uint64_t *words = wpi_cpu_words(only, first, outer - first, scratch);
        add_pairs(rows, places + first, words, outer - first, row);
        return;
    }
    count_rows(rows, places + first, outer - first, row);
    wpi_cpu_accumulate(array->layout, array->groups, places, values, first, outer, scratch);
}

uint32_t wpi_cpu_array_used(const wpi_cpu_array *array) {
    uint32_t used = 0;
    for (uint32_t i = 0; i < array->count; i++)
        used += wpi_cpu_array_slot(array, i)[array->layout->rows_at] != 0;
    return used;
}

void wpi_cpu_array_convert(wpi_cpu_array *array, const wpi_cpu_layout *from, void *memory) {
    const wpi_cpu_array old = *array;
    wpi_cpu_array_init(array, old.layout, old.count, memory);
    for (uint32_t i = 0; i < old.count; i++) {
        const uint64_t *group = &old.groups[(size_t)i * wpi_cpu_array_stride(from)];
        uint64_t *converted = wpi_cpu_array_slot(array, i);
        if (group[from->rows_at] == 0) continue;
        const uint64_t before = converted[0];
        wpi_cpu_layout_convert(from, group, array->layout, converted);
        if (array->layout->rows_at != 0) converted[0] = before; /* is the group's before */
    }
}

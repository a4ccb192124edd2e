/* SPDX-License-Identifier: Apache-2.0 */
#include "study/shown_numbers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/nearest.h"
#include "base/units.h"

wp_status wpi_shown_read(const char *text, size_t most, wpi_strings *names, wp_error *err) {
    while (true) {
        const size_t length = strcspn(text, ",");
        if (length == 0)
            return WP_FAIL(err, INVALID, "--show: names such as tlb_l2_hit_pct,dram_read_bytes");
        if (names->count == most) return WP_FAIL(err, INVALID, "--show: at most %zu names", most);
        wpi_strings_addf(names, "%.*s", (int)length, text);
        if (text[length] == '\0') return WP_STATUS_OK;
        text += length + 1;
    }
}

typedef struct wanted {
    const char *name;
    char *value; /* or NULL */
    wpi_nearest nearest;
} wanted;

static void look(void *object, const char *name, const char *text) {
    wanted *w = object;
    wpi_nearest_offer(&w->nearest, name);
    if (w->value == NULL && strcmp(name, w->name) == 0) w->value = wpi_format("%s", text);
}

static wanted find(const wp_run_record *record, const char *name) {
    wanted w = {.name = name, .nearest = {.wanted = name}};
    wp_run_visit_numbers(record, look, &w);
    return w;
}

char *wpi_shown_value(const wp_run_record *record, const char *name) {
    wanted w = find(record, name);
    return w.value != NULL ? w.value : wpi_format("%s", "");
}

char *wpi_shown_nearest(const wp_run_record *record, const char *name) {
    wanted w = find(record, name);
    const char *nearest = wpi_nearest_result(&w.nearest);
    wpi_free(w.value);
    return nearest != NULL ? wpi_format("%s", nearest) : NULL;
}

static bool ends_with(const char *name, const char *ending) {
    const size_t length = strlen(name), ending_length = strlen(ending);
    return length > ending_length && strcmp(name + length - ending_length, ending) == 0;
}

char *wpi_shown_text(const char *name, const char *value) {
    char text[32];
    char *end;
    const double number = strtod(value, &end);
    if (value[0] == '\0' || *end != '\0' || number < 0 || number >= 1e18)
        return wpi_format("%s", value);
    if (ends_with(name, "_bytes_per_s")) return wpi_format("%.2f GB/s", number * 1e-9);
    if (ends_with(name, "_bytes"))
        return wpi_format("%s", wpi_format_bytes((uint64_t)(number + 0.5), text));
    if (ends_with(name, "_pct")) return wpi_format("%.2f %%", number);
    if (ends_with(name, "_ps"))
        return wpi_format("%s", wpi_format_duration((uint64_t)(number / 1e3 + 0.5), text));
    if (ends_with(name, "_ns") && number < 1e3 && strchr(value, '.') != NULL)
        return wpi_format("%.2f ns", number); /* a mean */
    if (ends_with(name, "_ns"))
        return wpi_format("%s", wpi_format_duration((uint64_t)(number + 0.5), text));
    return wpi_format("%s", value);
}

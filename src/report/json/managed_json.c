/* SPDX-License-Identifier: Apache-2.0 */
/* Counts of pages as JSON: rows of numbers are strings, in which 5*512 stands for 512 times 5, and
 * what is missing at the end is 0. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "report/managed_counts.h"

#define EVENTS WP_RUN_PAGE_EVENTS
#define PAGES_MAX ((uint64_t)1 << 26)
#define CELLS_MAX ((size_t)1 << 22)

const char *wp_run_page_event_name(wp_run_page_event event) {
    static const char *const names[EVENTS] = {"reads",   "writes",  "remote",  "faults",
                                              "fetched", "evicted", "returned"};
    return (unsigned)event < EVENTS ? names[event] : "unknown";
}

char *wpi_managed_name(const wp_run_managed *managed, size_t allocation) {
    const char *name = managed->allocations[allocation].name;
    return name[0] != '\0' ? wpi_format("%s", name) : wpi_format("#%zu", allocation);
}

/* ---- rows of numbers ------------------------------------------------------------------------- */

/* A row, in which the next one is found by its place. */
typedef uint64_t (*number_at)(const void *row, size_t place);

static json_t *row_to_json(const void *row, size_t count, number_at at) {
    wpi_text text = {0};
    while (count > 0 && at(row, count - 1) == 0)
        count--;
    for (size_t i = 0; i < count;) {
        const uint64_t value = at(row, i);
        size_t end = i + 1;
        while (end < count && at(row, end) == value)
            end++;
        wpi_text_appendf(&text, "%s%" PRIu64, i == 0 ? "" : " ", value);
        if (end - i > 1) wpi_text_appendf(&text, "*%zu", end - i);
        i = end;
    }
    json_t *out = json_string(wpi_text_string(&text));
    wpi_text_deinit(&text);
    return out;
}

typedef void (*put_number)(void *row, size_t place, uint64_t value);

static void read_row(const json_t *row, size_t count, put_number put, void *out) {
    const char *text = json_string_value(row);
    for (size_t i = 0; text != NULL && *text != '\0' && i < count;) {
        char *end;
        const uint64_t value = strtoull(text, &end, 10);
        uint64_t times = 1;
        if (*end == '*') times = strtoull(end + 1, &end, 10);
        if (end == text) return;
        text = end;
        for (; times > 0 && i < count; times--)
            put(out, i++, value);
    }
}

/* One event of pages, or of a slice of the map. */
typedef struct pages_row {
    uint64_t (*pages)[EVENTS];
    uint32_t event;
} pages_row;

typedef struct map_row {
    uint32_t (*cells)[EVENTS];
    uint32_t event;
} map_row;

static uint64_t page_at(const void *row, size_t place) {
    const pages_row *r = row;
    return r->pages[place][r->event];
}

static void put_page(void *row, size_t place, uint64_t value) {
    const pages_row *r = row;
    r->pages[place][r->event] = value;
}

static uint64_t cell_at(const void *row, size_t place) {
    const map_row *r = row;
    return r->cells[place][r->event];
}

static void put_cell(void *row, size_t place, uint64_t value) {
    const map_row *r = row;
    r->cells[place][r->event] = value < UINT32_MAX ? (uint32_t)value : UINT32_MAX;
}

/* ---- to JSON --------------------------------------------------------------------------------- */

static json_t *allocation_to_json(const wp_run_managed_allocation *a) {
    json_t *object = json_object(), *counts = json_object();
    wpi_json_set(object, "name", wpi_json_string(a->name));
    wpi_json_set(object, "address", wpi_json_number(a->address));
    wpi_json_set(object, "bytes", wpi_json_number(a->bytes));
    wpi_json_set(object, "page_count", wpi_json_number(a->page_count));
    wpi_json_set(object, "first_row", wpi_json_number(a->first_row));
    wpi_json_set(object, "row_count", wpi_json_number(a->row_count));
    for (uint32_t event = 0; event < EVENTS; event++)
        wpi_json_set(counts, wp_run_page_event_name(event),
                     row_to_json(&(pages_row){a->pages, event}, a->page_count, page_at));
    wpi_json_set(object, "pages", counts);
    return object;
}

static json_t *launch_to_json(const wp_run_launch *launch) {
    json_t *object = json_object();
    wpi_json_set(object, "kernel", wpi_json_string(launch->kernel));
    wpi_json_set(object, "start_ps", wpi_json_number(launch->start_ps));
    wpi_json_set(object, "end_ps", wpi_json_number(launch->end_ps));
    return object;
}

static json_t *map_to_json(const wp_run_managed *m) {
    json_t *object = json_object();
    for (uint32_t event = 0; event < EVENTS; event++) {
        json_t *slices = json_array();
        for (size_t s = 0; s < m->slice_count; s++)
            wpi_json_append(slices, row_to_json(&(map_row){m->map + s * m->row_count, event},
                                                m->row_count, cell_at));
        wpi_json_set(object, wp_run_page_event_name(event), slices);
    }
    return object;
}

json_t *wpi_managed_to_json(const wp_run_managed *m) {
    json_t *object = json_object(), *allocations = json_array(), *launches = json_array();
    for (size_t i = 0; i < m->allocation_count; i++)
        wpi_json_append(allocations, allocation_to_json(&m->allocations[i]));
    for (size_t i = 0; i < m->launch_count; i++)
        wpi_json_append(launches, launch_to_json(&m->launches[i]));
    wpi_json_set(object, "allocations", allocations);
    wpi_json_set(object, "allocations_left_out", wpi_json_number(m->allocations_left_out));
    wpi_json_set(object, "launches", launches);
    wpi_json_set(object, "launches_left_out", wpi_json_number(m->launches_left_out));
    wpi_json_set(object, "row_pages", wpi_json_number(m->row_pages));
    wpi_json_set(object, "row_count", wpi_json_number(m->row_count));
    wpi_json_set(object, "slice_ps", wpi_json_number(m->slice_ps));
    wpi_json_set(object, "slice_count", wpi_json_number(m->slice_count));
    wpi_json_set(object, "map", map_to_json(m));
    return object;
}

/* ---- from JSON ------------------------------------------------------------------------------- */

static void *zeroed(size_t count, size_t size) {
    void *out = wpi_calloc(count + 1, size);
    WP_CHECK(out != NULL);
    return out;
}

static void refuse_larger(wpi_json_reader *r, const char *what, uint64_t *count, uint64_t most) {
    if (r->status == WP_STATUS_OK && *count > most)
        r->status =
            WP_FAIL(r->err, PARSE, "%s: not a run record: '%s' is too large", r->where, what);
    if (r->status != WP_STATUS_OK) *count = 0;
}

static void read_allocation(wpi_json_reader *r, const json_t *object,
                            wp_run_managed_allocation *out) {
    out->name = wpi_json_read_string(r, object, "name");
    out->address = wpi_json_read_number(r, object, "address");
    out->bytes = wpi_json_read_number(r, object, "bytes");
    out->page_count = wpi_json_read_number(r, object, "page_count");
    out->first_row = wpi_json_read_number(r, object, "first_row");
    out->row_count = wpi_json_read_number(r, object, "row_count");
    refuse_larger(r, "page_count", &out->page_count, PAGES_MAX);
    out->pages = zeroed(out->page_count, sizeof out->pages[0]);
    const json_t *counts = wpi_json_member(r, object, "pages", JSON_OBJECT);
    for (uint32_t event = 0; event < EVENTS; event++)
        read_row(json_object_get(counts, wp_run_page_event_name(event)), out->page_count, put_page,
                 &(pages_row){out->pages, event});
}

static void read_allocations(wpi_json_reader *r, const json_t *object, wp_run_managed *out) {
    const json_t *array = wpi_json_member(r, object, "allocations", JSON_ARRAY);
    out->allocations = zeroed(json_array_size(array), sizeof *out->allocations);
    for (size_t i = 0; i < json_array_size(array); i++)
        read_allocation(r, json_array_get(array, i), &out->allocations[out->allocation_count++]);
    out->allocations_left_out = wpi_json_read_number(r, object, "allocations_left_out");
}

static void read_launches(wpi_json_reader *r, const json_t *object, wp_run_managed *out) {
    const json_t *array = wpi_json_member(r, object, "launches", JSON_ARRAY);
    out->launches = zeroed(json_array_size(array), sizeof *out->launches);
    for (size_t i = 0; i < json_array_size(array); i++) {
        const json_t *launch = json_array_get(array, i);
        out->launches[out->launch_count++] =
            (wp_run_launch){.kernel = wpi_json_read_string(r, launch, "kernel"),
                            .start_ps = wpi_json_read_number(r, launch, "start_ps"),
                            .end_ps = wpi_json_read_number(r, launch, "end_ps")};
    }
    out->launches_left_out = wpi_json_read_number(r, object, "launches_left_out");
}

static void read_map(wpi_json_reader *r, const json_t *object, wp_run_managed *out) {
    uint64_t rows = wpi_json_read_number(r, object, "row_count");
    uint64_t slices = wpi_json_read_number(r, object, "slice_count");
    const json_t *map = wpi_json_member(r, object, "map", JSON_OBJECT);
    refuse_larger(r, "row_count", &rows, CELLS_MAX);
    refuse_larger(r, "slice_count", &slices, rows != 0 ? CELLS_MAX / rows : CELLS_MAX);
    out->row_pages = wpi_json_read_number(r, object, "row_pages");
    out->slice_ps = wpi_json_read_number(r, object, "slice_ps");
    out->row_count = rows;
    out->slice_count = slices;
    out->map = zeroed(out->row_count * out->slice_count, sizeof out->map[0]);
    for (uint32_t event = 0; event < EVENTS; event++) {
        const json_t *rows_of = json_object_get(map, wp_run_page_event_name(event));
        for (size_t s = 0; s < out->slice_count; s++)
            read_row(json_array_get(rows_of, s), out->row_count, put_cell,
                     &(map_row){out->map + s * out->row_count, event});
    }
}

static void check_rows(wpi_json_reader *r, wp_run_managed *m) {
    for (size_t i = 0; i < m->allocation_count; i++) {
        const wp_run_managed_allocation *a = &m->allocations[i];
        if (a->first_row <= m->row_count && a->row_count <= m->row_count - a->first_row) continue;
        uint64_t rows = a->row_count;
        refuse_larger(r, "first_row", &rows, 0);
    }
}

wp_run_managed *wpi_managed_from_json(wpi_json_reader *r, const json_t *object) {
    wp_run_managed *m = zeroed(1, sizeof *m);
    read_allocations(r, object, m);
    read_launches(r, object, m);
    read_map(r, object, m);
    check_rows(r, m);
    return m;
}

void wpi_managed_destroy(wp_run_managed *m) {
    if (m == NULL) return;
    for (size_t i = 0; i < m->allocation_count; i++) {
        wpi_free(m->allocations[i].name);
        wpi_free(m->allocations[i].pages);
    }
    for (size_t i = 0; i < m->launch_count; i++)
        wpi_free(m->launches[i].kernel);
    wpi_free(m->allocations);
    wpi_free(m->launches);
    wpi_free(m->map);
    wpi_free(m);
}

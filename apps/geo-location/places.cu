/* SPDX-License-Identifier: Apache-2.0 */
#include "geo-location/places.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/memory.h"
#include "common/random.h"
#include "common/report.h"
#include "common/text.h"
#include "streaming/words.h"

typedef struct list {
    places *p;
    uint32_t capacity, names_capacity;
} list;

static void add(list *l, const char *name, size_t name_bytes, const char *country,
                int32_t latitude, int32_t longitude) {
    places *p = l->p;
    char text[256];
    const int length =
        snprintf(text, sizeof text, "%.*s, %.2s", (int)(name_bytes < 200 ? name_bytes : 200), name,
                 country);
    if (p->count == l->capacity) {
        l->capacity = l->capacity != 0 ? 2 * l->capacity : 1024;
        p->place = (place *)app_reallocate(p->place, l->capacity, sizeof *p->place, "the places");
    }
    if (l->names_capacity - p->names_bytes < (uint32_t)length) {
        l->names_capacity = 2 * l->names_capacity + 65536;
        p->names = (char *)app_reallocate(p->names, l->names_capacity, 1, "the places");
    }
    memcpy(p->names + p->names_bytes, text, (size_t)length);
    p->place[p->count++] = {latitude, longitude, p->names_bytes, (uint32_t)length};
    p->names_bytes += (uint32_t)length;
}

static uint32_t cell_of(const place *at) {
    return (uint32_t)(app_cell_row(at->latitude) * CELL_COLUMNS + app_cell_column(at->longitude));
}

static int by_cell(const void *x, const void *y) {
    const place *a = (const place *)x, *b = (const place *)y;
    const uint32_t a_cell = cell_of(a), b_cell = cell_of(b);
    return a_cell != b_cell ? (a_cell < b_cell ? -1 : 1) : (a->name > b->name) - (a->name < b->name);
}

static void sort(places *p) {
    qsort(p->place, p->count, sizeof *p->place, by_cell);
    p->cell_first = (uint32_t *)app_allocate(CELL_COUNT + 1, sizeof(uint32_t), "the cells");
    for (uint32_t cell = 0, i = 0; cell <= CELL_COUNT; cell++) {
        while (i < p->count && cell_of(&p->place[i]) < cell) {
            i++;
        }
        p->cell_first[cell] = i;
    }
    for (int row = 0; row < CELL_ROWS; row++) {
        const double latitude = ((double)row + 0.5) / 2.0 - 90.0;
        p->scale[row] = (int32_t)lround(cos(latitude * (M_PI / 180.0)) * (1 << SCALE_BITS));
    }
}

/* Column `number` of a line of cells between tabs. */
static const char *cell_at(const char *line, int number) {
    for (; number > 0 && line != NULL; number--) {
        line = strchr(line, '\t');
        line = line != NULL ? line + 1 : NULL;
    }
    return line;
}

void app_places_read(places *p, const char *path) {
    app_text *text = app_text_open(path);
    list l = {p, 0, 0};
    char *line;
    size_t length;
    while (app_text_line(text, &line, &length)) {
        const char *name = cell_at(line, 1), *latitude = cell_at(line, 4),
                   *longitude = cell_at(line, 5), *country = cell_at(line, 8);
        if (country == NULL) {
            app_text_fail(text, "expected a line of GeoNames: name, latitude, longitude and country "
                                "in columns 2, 5, 6 and 9");
        }
        const double north = strtod(latitude, NULL), east = strtod(longitude, NULL);
        if (!(fabs(north) <= 90.0 && fabs(east) <= 180.0)) {
            app_text_fail(text, "latitude or longitude is out of range");
        }
        add(&l, name, strcspn(name, "\t"), country, (int32_t)lround(north * DEGREE),
            (int32_t)lround(east * DEGREE));
    }
    app_text_close(text);
    if (p->count == 0) {
        app_fail("%s holds no places", path);
    }
    sort(p);
}

/* Around a few centres. */
void app_places_generate(places *p, uint32_t count, uint64_t seed) {
    app_random random = {seed + 17, 0};
    list l = {p, 0, 0};
    for (uint32_t i = 0; i < count; i++) {
        app_random centre = {seed + 18, app_random_below(&random, 40) * 2};
        char name[20], country[3] = "aa";
        const double north = 70.0 - 120.0 * app_random_unit(&centre),
                     east = 360.0 * app_random_unit(&centre) - 180.0;
        const double away = 8.0 * app_random_unit(&random), angle = 6.28 * app_random_unit(&random);
        country[0] = (char)('A' + centre.index / 2 % 26);
        country[1] = (char)('A' + centre.index / 52);
        double longitude = east + away * cos(angle);
        longitude += longitude < -180.0 ? 360.0 : longitude > 180.0 ? -360.0 : 0.0;
        add(&l, name, app_word_spell(name, i + 80), country,
            (int32_t)((north + away * sin(angle)) * DEGREE), (int32_t)(longitude * DEGREE));
    }
    sort(p);
}

void app_places_free(places *p) {
    free(p->place);
    free(p->cell_first);
    free(p->names);
}

static void *copy(const void *from, size_t bytes) {
    void *to;
    app_cuda_check(cudaMalloc(&to, bytes), "cudaMalloc", "the places", bytes);
    app_cuda_check(cudaMemcpy(to, from, bytes, cudaMemcpyHostToDevice), "cudaMemcpy", "the places",
                   bytes);
    return to;
}

const places *app_places_copy(const places *p) {
    places on = *p;
    on.place = (place *)copy(p->place, p->count * sizeof *p->place);
    on.cell_first = (uint32_t *)copy(p->cell_first, (CELL_COUNT + 1) * sizeof(uint32_t));
    on.names = (char *)copy(p->names, p->names_bytes);
    return (const places *)copy(&on, sizeof on);
}

void app_places_free_copy(const places *on_device) {
    places on;
    app_cuda_check(cudaMemcpy(&on, on_device, sizeof on, cudaMemcpyDeviceToHost), "cudaMemcpy",
                   "the places", sizeof on);
    app_cuda_check(cudaFree(on.place), "cudaFree", "the places", 0);
    app_cuda_check(cudaFree(on.cell_first), "cudaFree", "the places", 0);
    app_cuda_check(cudaFree(on.names), "cudaFree", "the places", 0);
    app_cuda_check(cudaFree((void *)on_device), "cudaFree", "the places", 0);
}

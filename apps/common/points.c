/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of numbers from text, and clouds of points. */
#include "common/points.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/random.h"
#include "common/report.h"
#include "common/text.h"

enum { MAX_COLUMNS = 1024 };

/* The next cell of a row: [*cursor, end of cell). Moves *cursor behind the separator, to NULL after
 * the last cell. Runs of blanks separate once; commas, semicolons and tabs each separate. */
static void next_cell(char **cursor, char **cell, size_t *length) {
    char *p = *cursor;
    while (*p == ' ') {
        p++;
    }
    *cell = p;
    p += strcspn(p, ",; \t");
    *length = (size_t)(p - *cell);
    while (*p == ' ') {
        p++;
    }
    if (*p == ',' || *p == ';' || *p == '\t') {
        p++;
        *cursor = p;
    } else {
        *cursor = *p != '\0' ? p : NULL;
    }
}

static bool cell_number(char *cell, size_t length, float *value) {
    char *end;
    if (length == 0 || strchr("+-.0123456789", cell[0]) == NULL) {
        return false; /* strtof would also take "nan", "inf" and leading blanks */
    }
    *value = strtof(cell, &end);
    return end == cell + length && isfinite(*value);
}

/* Reads "1,3-5" into chosen[]. */
static void parse_columns(const char *columns, bool *chosen) {
    const char *p = columns;
    for (;;) {
        char *end;
        unsigned long first = strtoul(p, &end, 10);
        unsigned long last = first;
        if (end != p && *end == '-') {
            p = end + 1;
            last = strtoul(p, &end, 10);
        }
        if (end == p || first < 1 || last < first || last > MAX_COLUMNS ||
            (*end != ',' && *end != '\0')) {
            app_fail_usage("--columns %s is not a list of columns such as 1,3-5", columns);
        }
        for (unsigned long c = first; c <= last; c++) {
            chosen[c - 1] = true;
        }
        if (*end == '\0') {
            return;
        }
        p = end + 1;
    }
}

/* Takes the chosen numbers of a row; false if one is missing. */
static bool read_row(char *line, const bool *chosen, uint32_t dimensions, float *row) {
    uint32_t found = 0;
    char *cursor = line;
    for (unsigned column = 0; cursor != NULL && column < MAX_COLUMNS; column++) {
        char *cell;
        size_t length;
        next_cell(&cursor, &cell, &length);
        if (chosen[column]) {
            if (!cell_number(cell, length, &row[found])) {
                return false;
            }
            found++;
        }
    }
    return found == dimensions;
}

/* Marks the columns of this row that are numbers; returns how many. */
static uint32_t numeric_columns(char *line, bool *chosen) {
    uint32_t count = 0;
    char *cursor = line;
    for (unsigned column = 0; cursor != NULL && column < MAX_COLUMNS; column++) {
        char *cell;
        size_t length;
        float value;
        next_cell(&cursor, &cell, &length);
        chosen[column] = cell_number(cell, length, &value);
        count += chosen[column];
    }
    return count;
}

void app_points_read(app_points *points, const char *path, const char *columns,
                     uint64_t max_count) {
    bool chosen[MAX_COLUMNS] = {false};
    uint32_t dimensions = 0;
    uint64_t capacity = 0;
    uint64_t leading_skipped = 0;
    char *line;
    size_t length;
    *points = (app_points){0};
    if (columns != NULL) {
        parse_columns(columns, chosen);
        for (unsigned column = 0; column < MAX_COLUMNS; column++) {
            dimensions += chosen[column];
        }
    }
    app_text *text = app_text_open(path);
    while ((max_count == 0 || points->count < max_count) && app_text_line(text, &line, &length)) {
        if (length == 0 || *line == '#') {
            continue;
        }
        if (dimensions == 0) {
            dimensions = numeric_columns(line, chosen);
            if (dimensions == 0) {
                continue; /* a header */
            }
        }
        if (points->count == capacity) {
            capacity = capacity != 0 ? capacity + capacity / 2 : 4096;
            points->value = app_reallocate(points->value, capacity,
                                           dimensions * sizeof *points->value, "points");
        }
        if (read_row(line, chosen, dimensions, points->value + points->count * dimensions)) {
            points->count++;
        } else if (points->count == 0) {
            leading_skipped++;
        } else {
            points->skipped++;
        }
    }
    app_text_close(text);
    if (points->count == 0) {
        app_fail("%s holds no row with a number in every chosen column", path);
    }
    /* One line before the first row is its header; more are rows that lack a number. */
    points->skipped += leading_skipped > 1 ? leading_skipped - 1 : 0;
    points->dimensions = dimensions;
    const char *slash = strrchr(path, '/');
    snprintf(points->title, sizeof points->title, "%.150s", slash != NULL ? slash + 1 : path);
}

void app_points_generate(app_points *points, uint64_t count, uint32_t dimensions, uint32_t clusters,
                         uint64_t seed) {
    *points = (app_points){.count = count, .dimensions = dimensions};
    points->value = app_allocate(count, dimensions * sizeof *points->value, "points");
    for (uint64_t i = 0; i < count; i++) {
        app_random random = {app_random_at(seed, i), 0};
        uint64_t centre = app_random_below(&random, clusters);
        app_random centre_random = {app_random_at(seed + 1, centre), 0};
        for (uint32_t d = 0; d < dimensions; d++) {
            /* The sum of four uniform numbers is near enough to a bell curve. */
            double offset = -2.0;
            for (int k = 0; k < 4; k++) {
                offset += app_random_unit(&random);
            }
            points->value[i * dimensions + d] =
                (float)(100.0 * app_random_unit(&centre_random) + 8.0 * offset);
        }
    }
    snprintf(points->title, sizeof points->title, "generated, %u clouds, seed %llu", clusters,
             (unsigned long long)seed);
}

void app_points_normalize(app_points *points) {
    for (uint32_t d = 0; d < points->dimensions; d++) {
        float low = INFINITY;
        float high = -INFINITY;
        for (uint64_t i = 0; i < points->count; i++) {
            float value = points->value[i * points->dimensions + d];
            low = value < low ? value : low;
            high = value > high ? value : high;
        }
        float scale = high > low ? 1.0f / (high - low) : 0.0f;
        for (uint64_t i = 0; i < points->count; i++) {
            float *value = &points->value[i * points->dimensions + d];
            *value = (*value - low) * scale;
        }
    }
}

void app_points_free(app_points *points) {
    free(points->value);
    *points = (app_points){0};
}

static void note_difference(double *largest, double a, double b) {
    double difference = fabs(a - b);
    if (!(difference <= *largest)) {
        *largest = isnan(difference) ? (double)INFINITY : difference;
    }
}

double app_floats_difference(const float *a, const float *b, size_t count) {
    double largest = 0.0;
    for (size_t i = 0; i < count; i++) {
        note_difference(&largest, (double)a[i], (double)b[i]);
    }
    return largest;
}

double app_doubles_difference(const double *a, const double *b, size_t count) {
    double largest = 0.0;
    for (size_t i = 0; i < count; i++) {
        note_difference(&largest, a[i], b[i]);
    }
    return largest;
}

float *app_floats_read(const char *path, uint64_t *count) {
    float *values = NULL;
    uint64_t capacity = 0;
    char *line;
    size_t length;
    *count = 0;
    app_text *text = app_text_open(path);
    while (app_text_line(text, &line, &length)) {
        char *cursor = line;
        while (cursor != NULL) {
            char *cell;
            size_t cell_length;
            next_cell(&cursor, &cell, &cell_length);
            if (cell_length == 0) {
                continue;
            }
            if (*count == capacity) {
                capacity = capacity != 0 ? capacity + capacity / 2 : 4096;
                values = app_reallocate(values, capacity, sizeof *values, path);
            }
            if (!cell_number(cell, cell_length, &values[*count])) {
                app_text_fail(text, "expected a number, found '%.40s'", cell);
            }
            (*count)++;
        }
    }
    app_text_close(text);
    return values;
}

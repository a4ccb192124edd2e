/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Geo location by the MapReduce runtime (warpage/mapreduce.h): which articles are about a place. A
 * line of an article with its coordinates is a record, and makes a pair (nearest place, number of
 * the line); the runtime groups pairs by the place. Where no place is near, the degrees are the
 * place: "-48, 12".
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/random.h"
#include "common/report.h"
#include "common/room.h"
#include "common/text.h"
#include "geo-location/places.h"
#include "sepo/lines.h"
#include "streaming/growth.h"
#include "streaming/words.h"

#define LINE_BYTES 42 /* of an article, on average */
#define DECIMALS 5

/* ---- in the kernel -------------------------------------------------------------------------- */

/* Reads [-]digits[.digits] at *at, up to a tab or the end; further decimals do not count. */
static __device__ bool read_degrees(const wp_map_record *line, uint32_t *at, int32_t most,
                                    int32_t *out) {
    const bool is_negative = *at < line->bytes && line->data[*at] == '-';
    int64_t number = 0;
    uint32_t digits = 0, decimals = 0;
    bool is_behind_point = false;
    *at += is_negative;
    for (; *at < line->bytes && line->data[*at] != '\t'; ++*at) {
        const char c = line->data[*at];
        if (c == '.' && !is_behind_point) {
            is_behind_point = true;
        } else if (c >= '0' && c <= '9' && digits < 18) {
            digits++;
            if (!is_behind_point || decimals < DECIMALS) {
                number = number * 10 + (c - '0');
                decimals += is_behind_point;
            }
        } else {
            return false;
        }
    }
    for (; decimals < DECIMALS; decimals++) {
        number *= 10;
    }
    *out = (int32_t)(is_negative ? -number : number);
    return digits != 0 && number <= (int64_t)most * DEGREE;
}

static __device__ uint32_t put_number(char *out, int32_t number) {
    uint32_t length = 0;
    if (number < 0) {
        out[length++] = '-';
        number = -number;
    }
    if (number >= 100) {
        out[length++] = (char)('0' + number / 100);
    }
    if (number >= 10) {
        out[length++] = (char)('0' + number / 10 % 10);
    }
    out[length++] = (char)('0' + number % 10);
    return length;
}

/* Whole degrees, towards the south and the west. */
static __host__ __device__ __forceinline__ int32_t degrees(int32_t coordinate) {
    return (coordinate + 180 * DEGREE) / DEGREE - 180;
}

static __device__ void map_article(const wp_map_record *line, wp_emitter *to) {
    const places *p = (const places *)line->argument;
    const uint64_t article = line->number + 1;
    uint32_t at = 0;
    int32_t latitude, longitude;
    for (int column = 0; column < 2; column++) { /* language, title */
        while (at < line->bytes && line->data[at] != '\t') {
            at++;
        }
        at++;
    }
    if (!read_degrees(line, &at, 90, &latitude)) {
        return;
    }
    at++;
    if (!read_degrees(line, &at, 180, &longitude)) {
        return;
    }
    const uint32_t nearest = app_places_nearest(p, latitude, longitude);
    if (nearest != PLACE_NONE) {
        wp_emit(to, p->names + p->place[nearest].name, p->place[nearest].name_bytes, &article,
                sizeof article);
    } else {
        char key[16];
        uint32_t length = put_number(key, degrees(latitude));
        key[length++] = ',';
        key[length++] = ' ';
        length += put_number(key + length, degrees(longitude));
        wp_emit(to, key, length, &article, sizeof article);
    }
}

WP_MAPREDUCE(geo_location, map_article)

/* ---- on the host ---------------------------------------------------------------------------- */

/* The degrees of a cell, as a number with DECIMALS decimals; false: they are none, or too large. */
static bool parse_degrees(const char *cell, size_t bytes, int most, int32_t *out) {
    char number[64];
    const size_t point = strcspn(cell, ".\t\n\r");
    size_t kept = bytes;
    if (bytes >= sizeof number || bytes == 0 || strspn(cell, "-.0123456789") < bytes) {
        return false;
    }
    if (point < bytes && bytes - point - 1 > DECIMALS) {
        kept = point + 1 + DECIMALS; /* further ones do not count */
    }
    memcpy(number, cell, kept);
    number[kept] = '\0';
    char *end;
    const double value = strtod(number, &end);
    if (end != number + kept || strpbrk(number, "0123456789") == NULL || value > most ||
        value < -most) {
        return false;
    }
    *out = (int32_t)(value * DEGREE + (value < 0 ? -0.5 : 0.5));
    return true;
}

/* The coordinates of the line, which ends at `end`. */
static bool parse_article(const char *line, const char *end, int32_t *latitude,
                          int32_t *longitude) {
    const char *cell = line, *stop;
    for (int column = 0; column < 2; column++) {
        cell = (const char *)memchr(cell, '\t', (size_t)(end - cell));
        if (cell == NULL) {
            return false;
        }
        cell++;
    }
    stop = (const char *)memchr(cell, '\t', (size_t)(end - cell));
    if (stop == NULL || !parse_degrees(cell, (size_t)(stop - cell), 90, latitude)) {
        return false;
    }
    cell = stop + 1;
    stop = (const char *)memchr(cell, '\t', (size_t)(end - cell));
    stop = stop != NULL ? stop : end;
    return parse_degrees(cell, (size_t)(stop - cell), 180, longitude);
}

/* The end of the line at `line`, without CR; *next is the following line. */
static const char *line_end(const app_lines *a, const char *line, const char **next) {
    const char *outer = a->text + a->bytes;
    const char *end = (const char *)memchr(line, '\n', (size_t)(outer - line));
    *next = end != NULL ? end + 1 : outer;
    end = end != NULL ? end : outer;
    return end != line && end[-1] == '\r' && *next != end ? end - 1 : end;
}

static uint64_t put_line(char *out, const char *title, int title_bytes, int32_t latitude,
                         int32_t longitude) {
    const uint32_t north = (uint32_t)abs(latitude), east = (uint32_t)abs(longitude);
    return (uint64_t)sprintf(out, "%.*s\t%s%u.%05u\t%s%u.%05u\n", title_bytes, title,
                             latitude < 0 ? "-" : "", north / DEGREE, north % DEGREE,
                             longitude < 0 ? "-" : "", east / DEGREE, east % DEGREE);
}

static int32_t clamp(int64_t value, int32_t most) {
    return (int32_t)(value > most ? most : value < -most ? -most : value);
}

/* Articles near places, some of which have many; one in fifty is anywhere. */
static void generate(app_lines *a, const places *p, uint64_t lines, uint64_t seed) {
    app_random random = {seed, 0};
    a->text = (char *)app_room_create(lines, 64, "articles");
    for (a->count = 0; a->count < lines; a->count++) {
        char title[32] = "en\t";
        const uint32_t rank = app_word_rank(app_random_next(&random), p->count);
        const place *near = &p->place[app_random_at(seed + 3, rank) % p->count];
        const uint32_t length = app_word_spell(title + 3, app_random_below(&random, 1u << 30));
        int64_t latitude = near->latitude + (int64_t)app_random_below(&random, 20000) - 10000;
        int64_t longitude = near->longitude + (int64_t)app_random_below(&random, 20000) - 10000;
        if (app_random_below(&random, 50) == 0) {
            latitude = (int64_t)app_random_below(&random, 180 * DEGREE) - 90 * DEGREE;
            longitude = (int64_t)app_random_below(&random, 360 * DEGREE) - 180 * DEGREE;
        }
        a->bytes += put_line(a->text + a->bytes, title, (int)length + 3,
                             clamp(latitude, 90 * DEGREE), clamp(longitude, 180 * DEGREE));
    }
    snprintf(a->title, sizeof a->title, "generated, seed %" PRIu64, seed);
}

/* ---- the nearest place, by another method ---------------------------------------------------- */

static const places *sorted_places;

static int by_latitude(const void *x, const void *y) {
    const uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;
    const int32_t north = sorted_places->place[a].latitude - sorted_places->place[b].latitude;
    return north != 0 ? (north < 0 ? -1 : 1) : (a > b) - (a < b);
}

static uint32_t *sort_by_latitude(const places *p) {
    uint32_t *order = (uint32_t *)app_allocate(p->count, sizeof *order, "the places");
    for (uint32_t i = 0; i < p->count; i++) {
        order[i] = i;
    }
    sorted_places = p;
    qsort(order, p->count, sizeof *order, by_latitude);
    return order;
}

/* All places of three rows of cells are looked at. */
static uint32_t find_nearest(const places *p, const uint32_t *order, int32_t latitude,
                             int32_t longitude) {
    const int32_t row = app_cell_row(latitude), column = app_cell_column(longitude);
    uint32_t low = 0, high = p->count, nearest = PLACE_NONE;
    uint64_t shortest = UINT64_MAX;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (app_cell_row(p->place[order[middle]].latitude) < row - 1) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    for (; low < p->count && app_cell_row(p->place[order[low]].latitude) <= row + 1; low++) {
        const place *to = &p->place[order[low]];
        const int32_t away = abs(app_cell_column(to->longitude) - column);
        const uint64_t distance = app_place_distance(to, row, latitude, longitude, p->scale);
        if ((away <= 1 || away == CELL_COLUMNS - 1) &&
            (distance < shortest || (distance == shortest && order[low] < nearest))) {
            shortest = distance;
            nearest = order[low];
        }
    }
    return nearest;
}

/* ---- enlarging ------------------------------------------------------------------------------ */

/* A number for each key of the file: places, and behind them degrees. */
static uint32_t key_of(const places *p, const uint32_t *order, int32_t latitude,
                       int32_t longitude) {
    const uint32_t nearest = find_nearest(p, order, latitude, longitude);
    return nearest != PLACE_NONE
               ? nearest
               : p->count + (uint32_t)((degrees(latitude) + 90) * 361 + degrees(longitude) + 180);
}

/* Places in no order, those without an article first. */
static uint32_t *list_targets(const places *p, const uint32_t *numbers, uint64_t seed) {
    uint32_t *targets = (uint32_t *)app_allocate(p->count, sizeof *targets, "the places");
    uint32_t count = 0;
    for (int is_used = 0; is_used < 2; is_used++) {
        const uint32_t first = count;
        for (uint32_t i = 0; i < p->count; i++) {
            if ((numbers[i] != 0) == (is_used != 0)) {
                const uint32_t other =
                    first + (uint32_t)(app_random_at(seed + 5, i) % (count - first + 1));
                targets[count++] = targets[other];
                targets[other] = i;
            }
        }
    }
    return targets;
}

/* As many bytes: the first lines, or copies. In a copy the articles of some places move to another
 * place, as many as the number of places grows with that of articles in the file; places that have
 * no article yet come first. */
static void enlarge(app_lines *a, const places *p, uint64_t bytes, uint64_t seed) {
    if (app_lines_cut(a, bytes)) {
        return;
    }
    const uint32_t keys = p->count + 181 * 361;
    uint32_t *order = sort_by_latitude(p);
    uint32_t *numbers = (uint32_t *)app_allocate(keys, sizeof *numbers, "the places");
    uint32_t *key = (uint32_t *)app_allocate(a->count, sizeof *key, "the articles");
    uint32_t *target = (uint32_t *)app_allocate(keys, sizeof *target, "the places");
    uint32_t distinct = 0, taken = 0;
    uint64_t count = 0, written = 0, capacity = bytes + (1u << 16);
    const char *line, *next;
    int32_t latitude, longitude;
    memset(numbers, 0, keys * sizeof *numbers);
    for (next = a->text; (line = next) < a->text + a->bytes;) {
        const char *end = line_end(a, line, &next);
        if (parse_article(line, end, &latitude, &longitude)) {
            const uint32_t k = key_of(p, order, latitude, longitude);
            numbers[k] = numbers[k] != 0 ? numbers[k] : ++distinct;
            key[count++] = numbers[k] - 1;
        }
    }
    if (count == 0) {
        app_fail("%s has no article with coordinates", a->title);
    }
    app_growth growth = app_growth_measure(key, count, distinct, seed);
    uint32_t *targets = list_targets(p, numbers, seed);
    char *text = (char *)app_room_create(capacity, 1, "articles");
    a->count = 0;
    for (uint64_t copy = 0; written < bytes; copy++) {
        uint64_t i = 0;
        for (uint32_t k = 0; k < distinct; k++) {
            target[k] =
                app_growth_renames(&growth, k, copy) ? targets[taken++ % p->count] : PLACE_NONE;
        }
        for (next = a->text; (line = next) < a->text + a->bytes && written < bytes;) {
            const char *end = line_end(a, line, &next);
            const bool is_placed = parse_article(line, end, &latitude, &longitude);
            const uint32_t to = is_placed ? target[key[i++]] : PLACE_NONE;
            if (capacity - written < (uint64_t)(end - line) + 64) {
                capacity += (uint64_t)(end - line) + (1u << 16);
                text = (char *)app_room_resize(text, capacity, 1, "articles");
            }
            if (to == PLACE_NONE) {
                memcpy(text + written, line, (size_t)(end - line));
                written += (uint64_t)(end - line);
                text[written++] = '\n';
            } else {
                const char *title_end = strchr(strchr(line, '\t') + 1, '\t');
                written += put_line(text + written, line, (int)(title_end - line),
                                    p->place[to].latitude, p->place[to].longitude);
            }
            a->count++;
        }
    }
    app_growth_free(&growth);
    free(order);
    free(numbers);
    free(key);
    free(target);
    free(targets);
    text[written] = '\0';
    app_room_free(a->text);
    a->text = text;
    a->bytes = written;
}

/* ---- result --------------------------------------------------------------------------------- */

typedef struct listing {
    const places *p;
    char *keys; /* degrees */
} listing;

static void list_articles(const app_lines *lines, void *object, app_pairs *wanted) {
    listing *l = (listing *)object;
    const places *p = l->p;
    uint32_t *order = sort_by_latitude(p);
    const char *line, *next = lines->text;
    int32_t latitude, longitude;
    l->keys = (char *)app_allocate(lines->count, 16, "the check");
    for (uint64_t number = 0; (line = next) < lines->text + lines->bytes; number++) {
        const char *end = line_end(lines, line, &next);
        if (!parse_article(line, end, &latitude, &longitude)) {
            continue;
        }
        const uint32_t nearest = find_nearest(p, order, latitude, longitude);
        if (nearest != PLACE_NONE) {
            app_pairs_add_number(wanted, p->names + p->place[nearest].name,
                                 p->place[nearest].name_bytes, number + 1);
        } else {
            char *key = l->keys + number * 16;
            const int length = snprintf(key, 16, "%d, %d", degrees(latitude), degrees(longitude));
            app_pairs_add_number(wanted, key, (uint64_t)length, number + 1);
        }
    }
    free(order);
}

static void print_sizes(uint64_t pairs, uint64_t keys) {
    printf("located    %s articles at %s places\n", app_count(pairs), app_count(keys));
}

int main(int argc, char **argv) {
    const app_program program = {
        "geo-location", "which articles are about a place, by MapReduce",
        "articles, or bytes such as 64MiB",
        "articles: language, title, latitude, longitude, separated by tabs (also .zst)",
        "geo-location --size 100K --heap 1MiB --check"};
    app_common common = {NULL, {0, false}, 1, APP_MEMORY_COPY, false};
    app_sepo_options how = APP_SEPO_DEFAULTS;
    const char *places_path = NULL, *written_path = NULL;
    uint64_t top = 10;
    const app_option options[] = {
        {"--places", APP_OPTION_TEXT, &places_path, "FILE", 0, 0,
         "places, a table of GeoNames such as cities5000.txt (also .zst; default: 20,000 generated "
         "ones)"},
        APP_SEPO_ROWS(how),
        {"--write", APP_OPTION_TEXT, &written_path, "FILE", 0, 0,
         "write the articles to a file instead of grouping them, for other programs"},
        {"--top", APP_OPTION_COUNT, &top, "N", 1, 1e6, "places to print"},
        {NULL, APP_OPTION_FLAG, NULL, NULL, 0, 0, NULL}};
    app_options_parse(argc, argv, &program, &common, options);
    app_sepo_check_options(&common, &how);
    places p = {};
    if (places_path != NULL) {
        app_places_read(&p, places_path);
    } else {
        app_places_generate(&p, 20000, common.seed);
    }
    app_lines articles = {};
    const uint64_t lines = app_size_items(common.size, LINE_BYTES, 100000, 1, UINT64_C(1) << 38);
    if (common.input != NULL) {
        app_lines_read(&articles, common.input);
        if (common.size.value != 0) {
            enlarge(&articles, &p, common.size.is_bytes ? common.size.value : lines * LINE_BYTES,
                    common.seed);
        }
    } else {
        generate(&articles, &p, lines, common.seed);
    }
    if (written_path != NULL) {
        app_text_write(written_path, articles.text, articles.bytes);
        app_places_free(&p);
        app_lines_free(&articles);
        return 0;
    }
    app_device device;
    app_device_open(&device, common.memory);
    const places *on_device = app_places_copy(&p);
    listing serial = {&p, NULL};
    app_grouping grouping = {};
    grouping.lines = "articles";
    grouping.number = "articles";
    grouping.key = "place";
    grouping.map = &geo_location;
    grouping.argument = on_device;
    grouping.print = print_sizes;
    grouping.list = list_articles;
    grouping.object = &serial;
    const bool is_right = app_lines_group(&device, &common, &how, &articles, &grouping, top);
    app_places_free_copy(on_device);
    app_device_close(&device);
    app_places_free(&p);
    app_lines_free(&articles);
    free(serial.keys);
    return is_right ? 0 : 1;
}

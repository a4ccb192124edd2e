/* SPDX-License-Identifier: Apache-2.0 */
/* Patent Citation and Geo Location for Phoenix++: the values of each key, which apps/patent-citation and
 * apps/geo-location find by MapReduce on a device. Built by phoenix.sh.
 *     phoenix_group patents FILE            lines "citing cited"
 *     phoenix_group articles FILE PLACES    lines "language, title, latitude, longitude" with tabs
 * Prints the numbers of keys and values, and seconds, wall and processor: from the text in memory to groups. */
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <time.h>
#include <vector>

#include "map_reduce.h"

#include "common/text.h"
#include "geo-location/places.h"

struct text_part {
    char *data;
    uint64_t bytes;
};

struct span {
    const char *data;
    uint32_t bytes;
    bool operator<(span const &other) const {
        const int order = memcmp(data, other.data, std::min(bytes, other.bytes));
        return order != 0 ? order < 0 : bytes < other.bytes;
    }
    bool operator==(span const &other) const {
        return bytes == other.bytes && memcmp(data, other.data, bytes) == 0;
    }
};

struct span_hash { /* FNV-1a */
    size_t operator()(span const &key) const {
        uint64_t hash = 14695981039346656037ULL;
        for (uint32_t i = 0; i < key.bytes; i++) hash = (hash ^ (unsigned char)key.data[i]) * 1099511628211ULL;
        return hash;
    }
};

static places all_places;

/* The pair of a line; false: it has none. The key stays where it is, or in `memory`. */
typedef bool (*line_pair)(const char *line, const char *end, uint64_t number, span *key, uint64_t *value);

static bool citation(const char *line, const char *end, uint64_t number, span *key, uint64_t *value) {
    const char *p = line;
    (void)number;
    for (*value = 0; p < end && isdigit((unsigned char)*p); p++) *value = *value * 10 + (uint64_t)(*p - '0');
    if (p == line) return false;
    while (p < end && (*p == '\t' || *p == ' ')) p++;
    key->data = p;
    while (p < end && (unsigned char)*p > ' ') p++;
    key->bytes = (uint32_t)(p - key->data);
    return key->bytes != 0;
}

static bool degrees(const char **p, const char *end, int most, int32_t *out) {
    char number[32];
    const char *tab = (const char *)memchr(*p, '\t', (size_t)(end - *p)), *stop = tab != NULL ? tab : end;
    const size_t length = (size_t)(stop - *p);
    if (length == 0 || length >= sizeof number) return false;
    memcpy(number, *p, length);
    number[length] = '\0';
    char *after;
    const double value = strtod(number, &after);
    *p = stop + 1;
    *out = (int32_t)(value * DEGREE + (value < 0 ? -0.5 : 0.5));
    return after == number + length && value <= most && value >= -most;
}

static bool article(const char *line, const char *end, uint64_t number, span *key, uint64_t *value) {
    int32_t latitude, longitude;
    const char *p = line;
    for (int column = 0; column < 2; column++) {
        p = (const char *)memchr(p, '\t', (size_t)(end - p));
        if (p++ == NULL) return false;
    }
    if (!degrees(&p, end, 90, &latitude) || p > end || !degrees(&p, end, 180, &longitude)) return false;
    const uint32_t nearest = app_places_nearest(&all_places, latitude, longitude);
    *value = number;
    if (nearest != PLACE_NONE) {
        key->data = all_places.names + all_places.place[nearest].name;
        key->bytes = all_places.place[nearest].name_bytes;
    } else { /* degrees, as the place */
        char text[16];
        key->bytes = (uint32_t)sprintf(text, "%d, %d", (latitude + 180 * DEGREE) / DEGREE - 180,
                                       (longitude + 180 * DEGREE) / DEGREE - 180);
        char *copy = (char *)malloc(key->bytes);
        memcpy(copy, text, key->bytes);
        key->data = copy;
    }
    return true;
}

class group_lines : public MapReduce<group_lines, text_part, span, uint64_t,
                                     hash_container<span, uint64_t, buffer_combiner, span_hash> > {
    char *data;
    uint64_t bytes, at;
    line_pair pair;

public:
    group_lines(char *text, uint64_t text_bytes, line_pair make) : data(text), bytes(text_bytes), at(0), pair(make) {}
    void *locate(data_type *part, uint64_t) const { return part->data; }
    void map(data_type const &part, map_container &out) const {
        uint64_t value;
        span key;
        for (const char *line = part.data, *outer = part.data + part.bytes; line < outer;) {
            const char *end = (const char *)memchr(line, '\n', (size_t)(outer - line));
            if (end == NULL) end = outer;
            if (pair(line, end, (uint64_t)(line - data), &key, &value)) emit_intermediate(out, key, value);
            line = end + 1;
        }
    }
    int split(text_part &out) {
        if (at >= bytes) return 0;
        uint64_t end = std::min(at + (1 << 20), bytes);
        while (end < bytes && data[end - 1] != '\n') end++;
        out.data = data + at;
        out.bytes = end - at;
        at = end;
        return 1;
    }
    /* The number of a key's values; the values stay where they are. */
    void reduce(key_type const &key, reduce_iterator const &values, std::vector<keyval> &out) const {
        uint64_t count = 0, value;
        while (values.next(value)) count++;
        keyval result = {key, count};
        out.push_back(result);
    }
};

static double seconds(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

int main(int argc, char **argv) {
    const std::string kind = argc > 2 ? argv[1] : "";
    if (!(kind == "patents" && argc == 3) && !(kind == "articles" && argc == 4)) {
        fprintf(stderr, "usage: phoenix_group patents FILE | articles FILE PLACES\n");
        return 2;
    }
    size_t bytes;
    char *text = app_text_read_all(argv[2], &bytes);
    if (argc == 4) app_places_read(&all_places, argv[3]);
    const double wall_s = seconds(CLOCK_MONOTONIC), processor_s = seconds(CLOCK_PROCESS_CPUTIME_ID);
    std::vector<group_lines::keyval> groups;
    group_lines job(text, bytes, kind == "patents" ? citation : article);
    if (job.run(groups) < 0) return 1;
    const double wall = seconds(CLOCK_MONOTONIC) - wall_s, processor = seconds(CLOCK_PROCESS_CPUTIME_ID) - processor_s;
    uint64_t values = 0;
    for (size_t i = 0; i < groups.size(); i++) values += groups[i].val;
    printf("%lu %lu %.6f %.6f\n", (unsigned long)groups.size(), (unsigned long)values, wall, processor);
    return 0;
}

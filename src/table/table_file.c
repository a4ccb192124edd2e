/* SPDX-License-Identifier: Apache-2.0 */
/* Saving and loading. A file that is loaded is checked as a whole before it is used: the checksum,
 * then every link, so that a damaged file cannot lead out of the table. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/hash.h"
#include "table/table_format.h"

/* ---- save ------------------------------------------------------------------------------------ */

typedef struct writer {
    FILE *file;
    uint64_t hash;
} writer;

static bool put(writer *w, const void *data, size_t bytes) {
    w->hash = wpi_hash64(data, bytes, w->hash);
    return fwrite(data, 1, bytes, w->file) == bytes;
}

static uint64_t file_bytes(const wp_table *table) {
    uint64_t bytes = sizeof(wpi_table_header) + table->segment_count * 16 +
                     (table->view.bucket_mask + 1) * 8 + 8;
    for (uint64_t i = 0; i < table->segment_count; i++)
        bytes += table->segments[i].outer - table->segments[i].first;
    return bytes;
}

uint64_t wpi_table_front_hash(const wpi_table_header *header, const wpi_table_range *ranges) {
    wpi_table_header front = *header;
    front.front_hash = 0;
    return wpi_hash64(ranges, header->segment_count * sizeof *ranges,
                      wpi_hash64(&front, sizeof front, 0));
}

static bool put_table(const wp_table *table, const wpi_table_range *ranges, writer *w) {
    wpi_table_header header = {.magic = WPI_TABLE_MAGIC,
                               .version = WPI_TABLE_VERSION,
                               .organisation = table->view.organisation,
                               .combiner = table->view.combiner,
                               .page_bytes = table->view.page_bytes,
                               .bucket_count = table->view.bucket_mask + 1,
                               .segment_count = table->segment_count,
                               .file_bytes = file_bytes(table),
                               .pair_count = table->pair_count,
                               .key_count = table->key_count};
    header.front_hash = wpi_table_front_hash(&header, ranges);
    bool is_right = put(w, &header, sizeof header) &&
                    put(w, ranges, table->segment_count * sizeof *ranges) &&
                    put(w, table->buckets, (table->view.bucket_mask + 1) * sizeof *table->buckets);
    for (uint64_t i = 0; is_right && i < table->segment_count; i++) {
        const wp_table_segment *segment = &table->segments[i];
        is_right = put(w, segment->memory, segment->outer - segment->first);
    }
    const uint64_t hash = w->hash;
    return is_right && put(w, &hash, sizeof hash);
}

/* Beside `path`, then renamed. */
wp_status wp_table_save(const wp_table *table, const char *path, wp_error *err) {
    if (table->is_failed)
        return WP_FAIL(err, INVALID, "table: a run of this table failed; it can only be closed");
    wpi_table_range *ranges = wpi_calloc(table->segment_count + 1, sizeof *ranges);
    if (ranges == NULL) return WP_FAIL(err, NOMEM, "table: no host memory to save it");
    for (uint64_t i = 0; i < table->segment_count; i++)
        ranges[i] = (wpi_table_range){table->segments[i].first, table->segments[i].outer};
    char *temporary;
    const int descriptor = wpi_file_begin(path, &temporary);
    writer w = {descriptor < 0 ? NULL : fdopen(descriptor, "wb"), 0};
    bool is_right = w.file != NULL && put_table(table, ranges, &w);
    if (w.file != NULL)
        is_right = fclose(w.file) == 0 && is_right;
    else if (descriptor >= 0)
        (void)close(descriptor);
    is_right = wpi_file_end(path, temporary, is_right);
    const int reason = errno;
    wpi_free(ranges);
    return is_right ? WP_STATUS_OK
                    : WP_FAIL(err, IO, "cannot write the table to %s: %s", path, strerror(reason));
}

/* ---- open ------------------------------------------------------------------------------------ */

typedef struct reader {
    FILE *file;
    const char *path;
    uint64_t at, size_bytes, hash;
} reader;

static wp_status get(reader *r, void *to, uint64_t bytes, const char *what, wp_error *err) {
    if (bytes > r->size_bytes - r->at)
        return WP_FAIL(err, PARSE, "%s: cut off at offset %" PRIu64 ", in %s", r->path,
                       r->size_bytes, what);
    if (fread(to, 1, bytes, r->file) != bytes)
        return WP_FAIL(err, IO, "cannot read %s at offset %" PRIu64 ": %s", r->path, r->at,
                       strerror(errno));
    r->hash = wpi_hash64(to, bytes, r->hash);
    r->at += bytes;
    return WP_STATUS_OK;
}

wp_status wpi_table_check_header(const char *path, uint64_t size_bytes,
                                 const wpi_table_header *header, wp_error *err) {
    if (memcmp(header->magic, WPI_TABLE_MAGIC, sizeof header->magic) != 0)
        return WP_FAIL(err, PARSE,
                       "%s: not a table: offset 0 does not have \"" WPI_TABLE_MAGIC "\"", path);
    if (header->version != WPI_TABLE_VERSION)
        return WP_FAIL(err, PARSE,
                       "%s: a table of format %u at offset 8; this Warpage reads format "
                       "%u",
                       path, header->version, WPI_TABLE_VERSION);
    const bool is_power =
        header->bucket_count != 0 && (header->bucket_count & (header->bucket_count - 1)) == 0;
    if (header->organisation >= WP_TABLE_ORGANISATION_COUNT || !is_power ||
        header->combiner >= WP_TABLE_COMBINER_COUNT)
        return WP_FAIL(err, PARSE, "%s: damaged header, at offset 12", path);
    if (header->file_bytes > size_bytes)
        return WP_FAIL(err, PARSE, "%s: cut off at offset %" PRIu64 " of %" PRIu64, path,
                       size_bytes, header->file_bytes);
    if (header->file_bytes < size_bytes || header->bucket_count > size_bytes / 8 ||
        header->segment_count > size_bytes / 16 ||
        header->segment_count * 16 + header->bucket_count * 8 > size_bytes - sizeof *header)
        return WP_FAIL(err, PARSE,
                       "%s: damaged header, or bytes behind the table at offset %" PRIu64, path,
                       header->file_bytes);
    return WP_STATUS_OK;
}

wp_status wpi_table_check_ranges(const char *path, const wpi_table_header *header,
                                 const wpi_table_range *ranges, wp_error *err) {
    uint64_t before = 8, left = header->file_bytes - sizeof *header - header->segment_count * 16 -
                                header->bucket_count * 8;
    for (uint64_t i = 0; i < header->segment_count; i++) {
        const uint64_t first = ranges[i].first, outer = ranges[i].outer;
        if (first < before || outer <= first || first % 8 != 0 || outer % 8 != 0 ||
            outer - first > left)
            return WP_FAIL(err, PARSE, "%s: a damaged segment at offset %" PRIu64, path,
                           sizeof *header + i * 16);
        left -= outer - first;
        before = outer;
    }
    if (left != 8) /* the checksum */
        return WP_FAIL(err, PARSE, "%s: damaged segments, from offset %zu on", path,
                       sizeof *header);
    return WP_STATUS_OK;
}

static wp_status read_content(wp_table *table, reader *r, const wpi_table_header *header,
                              wp_error *err) {
    const uint64_t bytes = header->segment_count * sizeof(wpi_table_range);
    wpi_table_range *ranges = wpi_malloc(bytes + 1);
    if (ranges == NULL) return WP_FAIL(err, NOMEM, "%s: no host memory", r->path);
    wp_status status = get(r, ranges, bytes, "its segments", err);
    if (status == WP_STATUS_OK)
        status = get(r, table->buckets, (table->view.bucket_mask + 1) * 8, "its buckets", err);
    if (status == WP_STATUS_OK) status = wpi_table_check_ranges(r->path, header, ranges, err);
    for (uint64_t i = 0; i < header->segment_count && status == WP_STATUS_OK; i++) {
        const uint64_t first = ranges[i].first, outer = ranges[i].outer;
        char *memory = NULL;
        status = wpi_table_segment_add(table, first, outer, err);
        if (status == WP_STATUS_OK)
            status = wpi_table_block_add(table, outer - first, &memory, err);
        if (status == WP_STATUS_OK) {
            table->segments[table->segment_count - 1].memory = memory;
            status = get(r, memory, outer - first, "its entries", err);
        }
    }
    wpi_free(ranges);
    return status;
}

uint64_t wpi_table_room(const wp_table *table, uint64_t place) {
    const char *memory = place % 8 == 0 ? wpi_table_host(table, place) : NULL;
    if (memory == NULL) return 0;
    uint64_t first = 0, outer = table->segment_count;
    while (outer - first > 1) {
        const uint64_t middle = first + (outer - first) / 2;
        if (table->segments[middle].first <= place)
            first = middle;
        else
            outer = middle;
    }
    return table->segments[first].outer - place;
}

static bool check_values(const wp_table *table, uint64_t place, uint64_t *steps) {
    while (place != 0) {
        const uint64_t room = wpi_table_room(table, place);
        if (room < sizeof(wp_table_value) || (*steps)-- == 0) return false;
        const wp_table_value *value =
            (const wp_table_value *)(const void *)wpi_table_host(table, place);
        if (room < sizeof *value + wp_table_align(value->value_bytes)) return false;
        place = value->next;
    }
    return true;
}

/* Every link leads to an entry that lies in the table, and none leads round in a circle. */
static bool check_links(wp_table *table) {
    const bool is_multivalued = table->view.organisation == WP_TABLE_MULTIVALUED;
    const uint64_t least = sizeof(wp_table_entry) + (is_multivalued ? 8 : 0);
    uint64_t keys = table->report.host_bytes / least;
    uint64_t values = table->report.host_bytes / sizeof(wp_table_value);
    for (uint64_t b = 0; b <= table->view.bucket_mask; b++) {
        if (table->buckets[b] > WP_TABLE_PLACE_MASK) return false;
        for (uint64_t place = wp_table_bucket_place(table->buckets[b]); place != 0;) {
            const uint64_t room = wpi_table_room(table, place);
            if (room < least || keys-- == 0) return false;
            const wp_table_entry *entry =
                (const wp_table_entry *)(const void *)wpi_table_host(table, place);
            if (room < wp_table_entry_bytes(&table->view, entry->key_bytes, entry->value_bytes))
                return false;
            if (is_multivalued &&
                !check_values(table, *(const uint64_t *)(const void *)(entry + 1), &values))
                return false;
            place = entry->next;
        }
    }
    return true;
}

static wp_status read_table(wp_table *table, reader *r, wp_error *err) {
    wpi_table_header header;
    if (r->size_bytes < sizeof header && r->size_bytes < sizeof header.magic)
        return WP_FAIL(err, PARSE, "%s: not a table: it has %" PRIu64 " bytes", r->path,
                       r->size_bytes);
    memset(&header, 0, sizeof header);
    const uint64_t bytes = r->size_bytes < sizeof header ? r->size_bytes : sizeof header;
    WP_TRY(get(r, &header, bytes, "its header", err));
    if (bytes < sizeof header && memcmp(header.magic, WPI_TABLE_MAGIC, sizeof header.magic) == 0)
        return WP_FAIL(err, PARSE, "%s: cut off at offset %" PRIu64 ", in its header", r->path,
                       r->size_bytes);
    WP_TRY(wpi_table_check_header(r->path, r->size_bytes, &header, err));
    table->view.organisation = header.organisation;
    table->view.combiner = header.combiner;
    table->view.page_bytes = header.page_bytes;
    table->view.bucket_mask = header.bucket_count - 1;
    table->buckets = wpi_calloc(header.bucket_count, sizeof *table->buckets);
    if (table->buckets == NULL)
        return WP_FAIL(err, NOMEM, "%s: no host memory for %" PRIu64 " buckets", r->path,
                       header.bucket_count);
    WP_TRY(read_content(table, r, &header, err));
    const uint64_t wanted = r->hash;
    uint64_t found;
    WP_TRY(get(r, &found, sizeof found, "its checksum", err));
    if (found != wanted)
        return WP_FAIL(err, PARSE,
                       "%s: damaged: the checksum at offset %" PRIu64 " is not that of "
                       "the bytes before it",
                       r->path, r->size_bytes - sizeof found);
    if (!check_links(table))
        return WP_FAIL(err, PARSE,
                       "%s: damaged: a chain leads out of the table, whose entries begin "
                       "at offset %zu",
                       r->path,
                       sizeof header + (size_t)header.segment_count * 16 +
                           (size_t)header.bucket_count * 8);
    table->report = (wp_table_report){.page_bytes = header.page_bytes,
                                      .bucket_count = header.bucket_count,
                                      .table_bytes = table->report.host_bytes,
                                      .host_bytes = table->report.host_bytes};
    wpi_table_count(table);
    return WP_STATUS_OK;
}

wp_status wp_table_open(const char *path, wp_table **out, wp_error *err) {
    *out = NULL;
    reader r = {.path = path};
    struct stat info;
    /* Without waiting for the other end of a pipe, which is refused. */
    const int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0)
        return errno == ENOENT ? WP_FAIL(err, NOT_FOUND, "there is no table %s", path)
                               : WP_FAIL(err, IO, "cannot open %s: %s", path, strerror(errno));
    wp_status status = WP_STATUS_OK;
    wp_table *table = wpi_calloc(1, sizeof *table);
    r.file = fdopen(descriptor, "rb");
    if (table == NULL || r.file == NULL)
        status = WP_FAIL(err, NOMEM, "%s: no host memory", path);
    else if (fstat(descriptor, &info) != 0 || !S_ISREG(info.st_mode))
        status = WP_FAIL(err, IO, "%s is not a plain file", path);
    else {
        r.size_bytes = (uint64_t)info.st_size;
        status = read_table(table, &r, err);
    }
    if (r.file != NULL)
        (void)fclose(r.file);
    else
        (void)close(descriptor);
    if (status != WP_STATUS_OK)
        wp_table_close(table);
    else
        *out = table;
    return status;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* A table in a file that is searched without loading it. The whole file is mapped; what is read are
 * its header, its segments, and the pages that a search goes through. So damage further on is found
 * when a link is followed: it must lead to an entry within a segment. Then the search ends, and
 * wp_table_check tells the offset of the link's target, or of the entries where chains lead round
 * in a circle. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "table/table_format.h"

static uint64_t content_offset(const wpi_table_header *header) {
    return sizeof *header + header->segment_count * sizeof(wpi_table_range) +
           header->bucket_count * 8;
}

const char *wpi_table_follow(const wp_table *table, uint64_t place, uint64_t bytes) {
    const char *memory = wpi_table_host(table, place);
    if (table->map == NULL) return memory;
    if (wpi_table_room(table, place) >= bytes) return memory;
    const wpi_table_header *header = (const wpi_table_header *)(const void *)table->map->memory;
    wpi_table_note_damage(table, memory != NULL ? (uint64_t)(memory - table->map->memory)
                                                : content_offset(header));
    return NULL;
}

void wpi_table_note_damage(const wp_table *table, uint64_t offset) {
    wpi_table_map *map = table->map;
    if (map == NULL || map->is_damaged) return;
    map->is_damaged = true;
    map->damage_offset = offset;
}

void wpi_table_unmap(wpi_table_map *map) {
    if (map == NULL) return;
    if (map->memory != NULL) (void)munmap(map->memory, map->bytes);
    wpi_free(map->path);
    wpi_free(map);
}

/* ---- opening --------------------------------------------------------------------------------- */

static wp_status map_file(wpi_table_map *map, const char *path, wp_error *err) {
    struct stat info;
    wp_status status = WP_STATUS_OK;
    /* Without waiting for the other end of a pipe, which is refused. */
    const int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0)
        return errno == ENOENT ? WP_FAIL(err, NOT_FOUND, "there is no table %s", path)
                               : WP_FAIL(err, IO, "cannot open %s: %s", path, strerror(errno));
    if (fstat(descriptor, &info) != 0 || !S_ISREG(info.st_mode)) {
        status = WP_FAIL(err, IO, "%s is not a plain file", path);
    } else if ((uint64_t)info.st_size < sizeof(wpi_table_header)) {
        status =
            WP_FAIL(err, PARSE, "%s: not a table, or cut off at offset %" PRIu64 ", in its header",
                    path, (uint64_t)info.st_size);
    } else {
        void *memory = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_SHARED, descriptor, 0);
        if (memory == MAP_FAILED) {
            status = WP_FAIL(err, IO, "cannot map %s: %s", path, strerror(errno));
        } else {
            map->memory = memory;
            map->bytes = (uint64_t)info.st_size;
        }
    }
    (void)close(descriptor);
    return status;
}

static wp_status take_segments(wp_table *table, const wpi_table_header *header,
                               const wpi_table_range *ranges, wp_error *err) {
    char *content = table->map->memory + content_offset(header);
    for (uint64_t i = 0; i < header->segment_count; i++) {
        WP_TRY(wpi_table_segment_add(table, ranges[i].first, ranges[i].outer, err));
        table->segments[i].memory = content;
        content += ranges[i].outer - ranges[i].first;
    }
    return WP_STATUS_OK;
}

static wp_status map_table(wp_table *table, const char *path, wp_error *err) {
    wpi_table_map *map = table->map;
    WP_TRY(map_file(map, path, err));
    const wpi_table_header *header = (const wpi_table_header *)(const void *)map->memory;
    const wpi_table_range *ranges = (const wpi_table_range *)(const void *)(header + 1);
    WP_TRY(wpi_table_check_header(path, map->bytes, header, err));
    WP_TRY(wpi_table_check_ranges(path, header, ranges, err));
    if (header->front_hash != wpi_table_front_hash(header, ranges))
        return WP_FAIL(err, PARSE,
                       "%s: damaged: the checksum at offset %zu is not that of the header and the "
                       "segments",
                       path, offsetof(wpi_table_header, front_hash));
    table->view.organisation = header->organisation;
    table->view.combiner = header->combiner;
    table->view.page_bytes = header->page_bytes;
    table->view.bucket_mask = header->bucket_count - 1;
    table->buckets =
        (uint64_t *)(void *)(map->memory + sizeof *header + header->segment_count * sizeof *ranges);
    WP_TRY(take_segments(table, header, ranges, err));
    table->pair_count = header->pair_count;
    table->key_count = header->key_count;
    table->report = (wp_table_report){.page_bytes = header->page_bytes,
                                      .bucket_count = header->bucket_count,
                                      .table_bytes = map->bytes - 8 - content_offset(header),
                                      .file_bytes = map->bytes};
    return WP_STATUS_OK;
}

wp_status wp_table_map(const char *path, wp_table **out, wp_error *err) {
    *out = NULL;
    wp_table *table = wpi_calloc(1, sizeof *table);
    if (table == NULL) return WP_FAIL(err, NOMEM, "%s: no host memory", path);
    table->map = wpi_calloc(1, sizeof *table->map);
    if (table->map != NULL) table->map->path = wpi_strdup(path);
    const wp_status status = table->map == NULL || table->map->path == NULL
                                 ? WP_FAIL(err, NOMEM, "%s: no host memory", path)
                                 : map_table(table, path, err);
    if (status != WP_STATUS_OK)
        wp_table_close(table);
    else
        *out = table;
    return status;
}

/* SPDX-License-Identifier: Apache-2.0 */
/** Table files, in the byte order of the machine (x86-64):
 *
 *     header      wpi_table_header
 *     segments    {first place, outer place} of each
 *     buckets     a word each
 *     content     of segment after segment
 *     checksum    of all bytes before
 *
 * Links are places, so nothing is converted, and the file can be searched where it is. */
#ifndef WP_TABLE_FORMAT_H
#define WP_TABLE_FORMAT_H

#include "table/table_state.h"

#define WPI_TABLE_MAGIC "WPTABLE"
#define WPI_TABLE_VERSION 2u

typedef struct wpi_table_header {
    char magic[8];
    uint32_t version, organisation, combiner, page_bytes;
    uint64_t bucket_count, segment_count, file_bytes, pair_count, key_count;
    uint64_t front_hash; /* of this header, with 0 here, and of the segments */
} wpi_table_header;

typedef struct wpi_table_range {
    uint64_t first, outer;
} wpi_table_range;

/** PARSE, with the offset. `size_bytes` is the file's. */
WP_NODISCARD wp_status wpi_table_check_header(const char *path, uint64_t size_bytes,
                                              const wpi_table_header *header, wp_error *err);
/** Ranges follow one another, and their content fits the file. PARSE. */
WP_NODISCARD wp_status wpi_table_check_ranges(const char *path, const wpi_table_header *header,
                                              const wpi_table_range *ranges, wp_error *err);
uint64_t wpi_table_front_hash(const wpi_table_header *header, const wpi_table_range *ranges);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/places.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"

#define PAGE_ENTRIES 8192u
#define PAGE_BYTES (PAGE_ENTRIES * sizeof(uint64_t))

/* Entries are little-endian in the trace. */
static uint64_t little(uint64_t value) {
    uint8_t bytes[8];
    for (int i = 0; i < 8; i++)
        bytes[i] = (uint8_t)(value >> 8 * i);
    memcpy(&value, bytes, sizeof value);
    return value;
}

static uint64_t page_count(uint64_t entries) {
    return entries / PAGE_ENTRIES + (entries % PAGE_ENTRIES != 0);
}

static size_t entries_of(uint64_t count, uint64_t page) {
    const uint64_t left = count - page * PAGE_ENTRIES;
    return left < PAGE_ENTRIES ? (size_t)left : PAGE_ENTRIES;
}

uint64_t wpi_places_reserve(wpi_places_writer *places, uint64_t count) {
    const uint64_t first = places->count;
    places->count += count;
    return first;
}

wp_status wpi_places_set(wpi_places_writer *places, uint64_t number, uint64_t place,
                         wp_error *err) {
    if (places->file == NULL) places->file = tmpfile();
    const uint64_t entry = little(place);
    if (places->file != NULL && pwrite(fileno(places->file), &entry, sizeof entry,
                                       (off_t)(number * sizeof entry)) == (ssize_t)sizeof entry)
        return WP_STATUS_OK;
    return WP_FAIL(err, IO, "the index of a trace needs a temporary file, which cannot be written");
}

/* Reads a page. Entries never set are beyond the file's end, or in its holes: 0. */
static wp_status read_page(const wpi_places_writer *places, uint64_t page, uint64_t *entries,
                           wp_error *err) {
    memset(entries, 0, PAGE_BYTES);
    if (places->file == NULL) return WP_STATUS_OK;
    const size_t bytes = entries_of(places->count, page) * sizeof *entries;
    for (size_t at = 0; at < bytes;) {
        const ssize_t got = pread(fileno(places->file), (char *)entries + at, bytes - at,
                                  (off_t)(page * PAGE_BYTES + at));
        if (got < 0) return WP_FAIL(err, IO, "the index of a trace cannot be read back");
        if (got == 0) break;
        at += (size_t)got;
    }
    return WP_STATUS_OK;
}

wp_status wpi_places_write(wpi_places_writer *places, wpi_block_writer *to, wpi_places_root *root,
                           wp_error *err) {
    const uint64_t pages = page_count(places->count);
    uint64_t *offsets = wpi_calloc((size_t)pages + 1, sizeof *offsets);
    uint64_t *entries = wpi_malloc(PAGE_BYTES);
    wp_status status = WP_STATUS_OK;
    if (offsets == NULL || entries == NULL)
        WP_TRY_GOTO(WP_FAIL(err, NOMEM, "index of a trace"), done);
    for (uint64_t page = 0; page < pages; page++) {
        uint64_t offset;
        WP_TRY_GOTO(read_page(places, page, entries, err), done);
        WP_TRY_GOTO(wpi_block_writer_add(to, WPI_BLOCK_PLACES, entries,
                                         entries_of(places->count, page) * sizeof *entries, &offset,
                                         err),
                    done);
        offsets[page] = little(offset);
    }
    root->count = places->count;
    status = wpi_block_writer_add_long(to, WPI_BLOCK_PLACES, offsets,
                                       (size_t)pages * sizeof *offsets, &root->offset, err);
done:
    wpi_free(offsets);
    wpi_free(entries);
    return status;
}

void wpi_places_writer_deinit(wpi_places_writer *places) {
    if (places->file != NULL) fclose(places->file);
    *places = (wpi_places_writer){0};
}

wp_status wpi_places_init(wpi_places *places, wpi_block_file *file, const wpi_places_root *root,
                          wp_error *err) {
    *places = (wpi_places){.file = file, .count = root->count, .page = UINT64_MAX};
    places->entries = wpi_malloc(PAGE_BYTES);
    if (places->entries == NULL) return WP_FAIL(err, NOMEM, "index of a trace");
    uint8_t *pages;
    WP_TRY(wpi_block_file_read_long(file, WPI_BLOCK_PLACES, root->offset,
                                    (size_t)page_count(root->count) * sizeof(uint64_t), &pages,
                                    err));
    places->pages = (uint64_t *)(void *)pages;
    return WP_STATUS_OK;
}

void wpi_places_deinit(wpi_places *places) {
    wpi_free(places->pages);
    wpi_free(places->entries);
    *places = (wpi_places){0};
}

static wp_status load_page(wpi_places *places, uint64_t page, wp_error *err) {
    const uint8_t *data;
    size_t bytes;
    const uint64_t offset = little(places->pages[page]);
    places->page = UINT64_MAX;
    WP_TRY(wpi_block_file_read(places->file, WPI_BLOCK_PLACES, offset, &data, &bytes, err));
    if (bytes != entries_of(places->count, page) * sizeof *places->entries) {
        return WP_FAIL(err, PARSE, "%s: offset %" PRIu64 ": a page of the index has a wrong size",
                       wpi_block_file_path(places->file), offset);
    }
    memcpy(places->entries, data, bytes);
    places->page = page;
    return WP_STATUS_OK;
}

wp_status wpi_places_get(wpi_places *places, uint64_t number, uint64_t *place, wp_error *err) {
    if (number >= places->count) {
        return WP_FAIL(err, PARSE,
                       "%s: the index has %" PRIu64 " entries, number %" PRIu64
                       " was requested: the trace is damaged",
                       wpi_block_file_path(places->file), places->count, number);
    }
    if (number / PAGE_ENTRIES != places->page)
        WP_TRY(load_page(places, number / PAGE_ENTRIES, err));
    *place = little(places->entries[number % PAGE_ENTRIES]);
    return WP_STATUS_OK;
}

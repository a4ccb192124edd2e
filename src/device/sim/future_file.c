/* SPDX-License-Identifier: Apache-2.0 */
#include "device/sim/future_file.h"

#include <string.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/param.h"
#include "trace/varint.h"

#define MAGIC "warpage future 1\n"

const wpi_param wpi_future_params[] = {
    {"future", WP_UNIT_TEXT, "", 0, 0,
     "read the page accesses of an earlier run from this file, for oracle policies"},
    {"note-future", WP_UNIT_TEXT, "", 0, 0,
     "write the page accesses of this run to this file, for a later run"},
    {0}};

/* ---- writing --------------------------------------------------------------------------------- */

static void append_all(wpi_text *text, const uint32_t *items, uint32_t count) {
    uint32_t before = 0;
    for (uint32_t i = 0; i < count; before = items[i++])
        wpi_varint_append(text, wpi_zigzag((uint64_t)items[i] - before));
}

wp_status wpi_future_write(const char *path, const wpi_foresight *foresight, wp_error *err) {
    wpi_text text = {0};
    wpi_text_append(&text, MAGIC);
    wpi_varint_append(&text, foresight->window);
    wpi_varint_append(&text, foresight->launch_count);
    wpi_varint_append(&text, foresight->count);
    append_all(&text, foresight->launches, foresight->launch_count);
    append_all(&text, foresight->pages, foresight->count);
    const wp_status status = wpi_file_write(path, text.data, text.length, err);
    wpi_text_deinit(&text);
    return status;
}

/* ---- reading --------------------------------------------------------------------------------- */

/* NULL if the file is too short: each item takes at least one byte. */
static uint32_t *read_all(wpi_cursor *cursor, uint32_t count) {
    if (count > (uint64_t)(cursor->outer - cursor->at)) cursor->is_bad = true;
    uint32_t *items = cursor->is_bad ? NULL : wpi_malloc(((size_t)count + 1) * sizeof *items);
    uint64_t value = 0;
    for (uint32_t i = 0; items != NULL && i < count; i++) {
        value += wpi_unzigzag(wpi_cursor_varint(cursor));
        if (value > UINT32_MAX - WPI_CHUNK_PAGES) cursor->is_bad = true;
        items[i] = (uint32_t)value;
    }
    return items;
}

static wp_status parse(const char *path, wpi_cursor *cursor, wpi_foresight *foresight,
                       wp_error *err) {
    const uint32_t window = wpi_cursor_u32(cursor);
    const uint32_t launch_count = wpi_cursor_u32(cursor), count = wpi_cursor_u32(cursor);
    uint32_t *launches = read_all(cursor, launch_count);
    uint32_t *pages = read_all(cursor, count);
    if (wpi_cursor_is_at_end(cursor) && window != 0 && launches != NULL && pages != NULL) {
        foresight->window = window;
        return wpi_foresight_take(foresight, pages, count, launches, launch_count, err);
    }
    wpi_free(launches);
    wpi_free(pages);
    return WP_FAIL(err, PARSE, "%s: this record of page accesses is truncated or damaged", path);
}

wp_status wpi_future_read(const char *path, wpi_foresight *foresight, wp_error *err) {
    char *data = NULL;
    size_t bytes = 0;
    const size_t magic_bytes = strlen(MAGIC);
    WP_TRY(wpi_file_read(path, &data, &bytes, err));
    wp_status status;
    if (bytes < magic_bytes || memcmp(data, MAGIC, magic_bytes) != 0) {
        status = WP_FAIL(err, PARSE,
                         "%s: not a record of page accesses, which WARPAGE_NOTE_FUTURE=FILE writes",
                         path);
    } else {
        wpi_cursor cursor = {(const uint8_t *)data + magic_bytes, (const uint8_t *)data + bytes,
                             false};
        status = parse(path, &cursor, foresight, err);
    }
    wpi_free(data);
    return status;
}

/* ---- parameters ------------------------------------------------------------------------------ */

wp_status wpi_future_load(wpi_foresight *foresight, wp_error *err) {
    wpi_param_value future, note;
    WP_TRY(wpi_param_load(&wpi_future_params[0], &future, err));
    WP_TRY(wpi_param_load(&wpi_future_params[1], &note, err));
    if (future.text[0] != '\0' && note.text[0] != '\0')
        return WP_FAIL(err, INVALID,
                       "a run either records its page accesses (WARPAGE_NOTE_FUTURE) or uses "
                       "those of an earlier run (WARPAGE_FUTURE), not both");
    wpi_foresight_init(foresight, WPI_FORESIGHT_WINDOW);
    if (note.text[0] != '\0') wpi_foresight_note(foresight);
    return future.text[0] != '\0' ? wpi_future_read(future.text, foresight, err) : WP_STATUS_OK;
}

wp_status wpi_future_store(const wpi_foresight *foresight, wp_error *err) {
    wpi_param_value note;
    if (!foresight->is_noting) return WP_STATUS_OK;
    WP_TRY(wpi_param_load(&wpi_future_params[1], &note, err));
    return wpi_future_write(note.text, foresight, err);
}

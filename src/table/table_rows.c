/* SPDX-License-Identifier: Apache-2.0 */
/* Pairs from columns in memory, inserted by threads of the host.
 *
 *     add_rows   a pass is open: insert ─► rows postponed? end the pass, begin the next one, again
 *     …
 *     settle     end the pass; merge keys that several passes made
 *
 * A pass stays open from call to call, so that small calls share it. Rows of earlier calls are not
 * inserted again, so a pass may make a key that an earlier pass made: SePo's rule that a key is
 * made once holds within a call's rows only. */
#define _DEFAULT_SOURCE /* _SC_NPROCESSORS_ONLN */
#include "warpage/table_rows.h"

#include <inttypes.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "table/table_state.h"

#define THREADS_MAX 256u
#define BLOCK_ROWS 1024u /* that a thread takes at a time */
#define IDLE_PASSES_MAX 8u

/* ---- numbers that are combined --------------------------------------------------------------- */

static _Thread_local bool has_overflow; /* a callback has no other place for it */

#define NUMBERS(name, type, sum, is_less)                                                          \
    static void add_##name(const void *value, void *existing) {                                    \
        type a, b;                                                                                 \
        memcpy(&a, value, sizeof a);                                                               \
        memcpy(&b, existing, sizeof b);                                                            \
        sum;                                                                                       \
        memcpy(existing, &b, sizeof b);                                                            \
    }                                                                                              \
    static void min_##name(const void *value, void *existing) {                                    \
        type a, b;                                                                                 \
        memcpy(&a, value, sizeof a);                                                               \
        memcpy(&b, existing, sizeof b);                                                            \
        if (is_less(a, b)) memcpy(existing, &a, sizeof a);                                         \
    }                                                                                              \
    static void max_##name(const void *value, void *existing) {                                    \
        type a, b;                                                                                 \
        memcpy(&a, value, sizeof a);                                                               \
        memcpy(&b, existing, sizeof b);                                                            \
        if (is_less(b, a)) memcpy(existing, &a, sizeof a);                                         \
    }
#define IS_LESS(a, b) ((a) < (b))
#define IS_LESS_DOUBLE(a, b) ((a) < (b) || ((b) != (b) && (a) == (a)))

NUMBERS(int64, int64_t, if (__builtin_add_overflow(a, b, &b)) has_overflow = true, IS_LESS)
NUMBERS(uint64, uint64_t, if (__builtin_add_overflow(a, b, &b)) has_overflow = true, IS_LESS)
NUMBERS(double, double, b += a, IS_LESS_DOUBLE)

static void or_words(const void *value, void *existing) {
    uint64_t a, b;
    memcpy(&a, value, sizeof a);
    memcpy(&b, existing, sizeof b);
    b |= a;
    memcpy(existing, &b, sizeof b);
}

wp_table_combine wp_table_number_combine(wp_table_combiner combiner, wp_table_number number) {
    static const wp_table_combine functions[WP_TABLE_CALLBACK][WP_TABLE_NUMBER_COUNT] = {
        [WP_TABLE_ADD] = {add_int64, add_uint64, add_double},
        [WP_TABLE_MIN] = {min_int64, min_uint64, min_double},
        [WP_TABLE_MAX] = {max_int64, max_uint64, max_double},
        [WP_TABLE_OR] = {or_words, or_words, WP_TABLE_NO_CALLBACK}};
    if ((unsigned)combiner >= WP_TABLE_CALLBACK || (unsigned)number >= WP_TABLE_NUMBER_COUNT)
        return WP_TABLE_NO_CALLBACK;
    return functions[combiner][number];
}

/* ---- columns --------------------------------------------------------------------------------- */

typedef struct item {
    const char *bytes; /* NULL: they are in `word` */
    uint64_t count;
    uint64_t word;
} item;

/* Arrow's view: up to 12 bytes are in it. */
typedef struct text_view {
    uint32_t length;
    char head[4];
    uint32_t buffer, offset;
} text_view;

static uint64_t widen(const wp_table_column *column, uint64_t row) {
    const char *at = (const char *)column->items + row * column->item_bytes;
    uint64_t word = 0;
    memcpy(&word, at, column->item_bytes);
    if (column->layout == WP_TABLE_FLOATS && column->item_bytes == 4) {
        float narrow;
        memcpy(&narrow, at, sizeof narrow);
        const double wide = narrow;
        memcpy(&word, &wide, sizeof word);
    }
    if (column->layout == WP_TABLE_SIGNED && column->item_bytes < 8) {
        const uint64_t sign = UINT64_C(1) << (column->item_bytes * 8 - 1);
        word = (word ^ sign) - sign;
    }
    return word;
}

static inline item load(const wp_table_column *column, uint64_t row) {
    switch (column->layout) {
    case WP_TABLE_OFFSETS_32: {
        const int32_t *offsets = column->items;
        return (item){(const char *)column->buffers[0] + offsets[row],
                      (uint64_t)((int64_t)offsets[row + 1] - offsets[row]), 0};
    }
    case WP_TABLE_OFFSETS_64: {
        const int64_t *offsets = column->items;
        return (item){(const char *)column->buffers[0] + offsets[row],
                      (uint64_t)offsets[row + 1] - (uint64_t)offsets[row], 0};
    }
    case WP_TABLE_VIEWS: {
        const text_view *view = (const text_view *)column->items + row;
        if (view->length <= 12) return (item){view->head, view->length, 0};
        return (item){(const char *)column->buffers[view->buffer] + view->offset, view->length, 0};
    }
    case WP_TABLE_FIXED:
        return (item){(const char *)column->items + row * column->item_bytes, column->item_bytes,
                      0};
    case WP_TABLE_CONSTANT: return (item){column->items, column->item_bytes, 0};
    default: return (item){NULL, 8, widen(column, row)};
    }
}

static const void *bytes_of(const item *it) {
    return it->bytes != NULL ? (const void *)it->bytes : (const void *)&it->word;
}

static bool is_valid(const wp_table_column *column, uint64_t row) {
    const uint64_t bit = column->valid_offset + row;
    return column->valid == NULL || (column->valid[bit / 8] >> bit % 8 & 1) != 0;
}

static wp_status check_layout(const wp_table_column *column, const char *what, wp_error *err) {
    const uint32_t bytes = column->item_bytes;
    const bool is_integer = bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8;
    if ((unsigned)column->layout >= WP_TABLE_LAYOUT_COUNT)
        return WP_FAIL(err, INVALID, "table: %ss have no layout %d", what, (int)column->layout);
    const bool is_number = column->layout >= WP_TABLE_SIGNED && column->layout <= WP_TABLE_FLOATS;
    const bool is_right =
        !is_number || (column->layout == WP_TABLE_FLOATS ? bytes == 4 || bytes == 8 : is_integer);
    return is_right ? WP_STATUS_OK
                    : WP_FAIL(err, INVALID, "table: %ss are numbers of %u bytes", what, bytes);
}

/* Offsets increase, so the difference of two is a length; a row has a value. */
static wp_status check_column(const wp_table_column *column, uint64_t count, const char *what,
                              wp_error *err) {
    WP_TRY(check_layout(column, what, err));
    for (uint64_t row = 0; column->valid != NULL && row < count; row++)
        if (!is_valid(column, row))
            return WP_FAIL(err, INVALID,
                           "table: the %s of row %" PRIu64 " is NULL, which a table cannot hold; "
                           "leave such rows out",
                           what, row);
    const int32_t *narrow = column->items;
    const int64_t *wide = column->items;
    bool is_right = true;
    if (column->layout == WP_TABLE_OFFSETS_32 && count != 0) {
        is_right = narrow[0] >= 0;
        for (uint64_t row = 0; row < count; row++)
            is_right &= narrow[row] <= narrow[row + 1];
    }
    if (column->layout == WP_TABLE_OFFSETS_64 && count != 0) {
        is_right = wide[0] >= 0;
        for (uint64_t row = 0; row < count; row++)
            is_right &= wide[row] <= wide[row + 1];
    }
    return is_right ? WP_STATUS_OK
                    : WP_FAIL(err, INVALID, "table: offsets of the %ss decrease", what);
}

static wp_status check_lengths(const wp_table *table, const wp_table_column *keys,
                               const wp_table_column *values, uint64_t count, wp_error *err) {
    const bool is_multivalued = table->view.organisation == WP_TABLE_MULTIVALUED;
    const uint64_t head =
        sizeof(wp_table_entry) + (is_multivalued ? 8 + sizeof(wp_table_value) : 0);
    for (uint64_t row = 0; row < count; row++) {
        const uint64_t key = load(keys, row).count, value = load(values, row).count;
        if (((key | value) >> 32) != 0)
            return WP_FAIL(err, INVALID,
                           "table: row %" PRIu64 " has a key of %" PRIu64 " bytes and a value of "
                           "%" PRIu64 "; each must be shorter than 4 GiB",
                           row, key, value);
        const uint64_t bytes = head + wp_table_align(key) + wp_table_align(value);
        if (bytes > table->report.heap_bytes)
            return WP_FAIL(err, INVALID,
                           "table: the pair of row %" PRIu64 " takes %" PRIu64
                           " bytes and the heap has %" PRIu64 "; a larger heap is needed",
                           row, bytes, table->report.heap_bytes);
    }
    return WP_STATUS_OK;
}

/* ---- threads --------------------------------------------------------------------------------- */

typedef struct job {
    wp_table_view view;
    const wp_table_column *keys, *values;
    uint64_t count;
    wp_table_combine combine;
    uint32_t *left; /* a bit for each row that is not inserted yet */
    uint64_t next_block, served;
    uint32_t has_overflow;
} job;

static uint64_t insert_block(job *j, uint64_t first, uint64_t outer) {
    uint64_t served = 0;
    for (uint64_t row = first; row < outer; row++) {
        uint32_t *word = &j->left[row / 32];
        const uint32_t bit = 1u << row % 32;
        if ((*word & bit) == 0) continue;
        const item key = load(j->keys, row), value = load(j->values, row);
        if (wp_table_insert_with(&j->view, bytes_of(&key), key.count, bytes_of(&value), value.count,
                                 j->combine) == WP_POSTPONE)
            continue;
        *word &= ~bit; /* a block's words are its thread's. REFUSED: the end of the pass says why */
        served++;
    }
    return served;
}

static void *insert_blocks(void *object) {
    job *j = object;
    const uint64_t blocks = (j->count + BLOCK_ROWS - 1) / BLOCK_ROWS;
    uint64_t served = 0;
    has_overflow = false;
    for (;;) {
        const uint64_t block = wp_word_add64(&j->next_block, 1);
        if (block >= blocks) break;
        const uint64_t first = block * BLOCK_ROWS, most = j->count - first;
        served += insert_block(j, first, first + (most < BLOCK_ROWS ? most : BLOCK_ROWS));
    }
    (void)wp_word_add64(&j->served, served);
    if (has_overflow) (void)wp_word_exchange32(&j->has_overflow, 1);
    return NULL;
}

static uint32_t threads_for(uint64_t count, uint32_t asked) {
    const uint64_t most = count / (4 * BLOCK_ROWS) + 1;
    if (most == 1) return 1; /* sysconf takes longer than a row */
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    uint64_t threads = asked != 0 ? asked : processors < 1 ? 1 : (uint64_t)processors;
    if (threads > most) threads = most;
    return threads < THREADS_MAX ? (uint32_t)threads : THREADS_MAX;
}

static void insert_all(job *j, uint32_t thread_count) {
    pthread_t threads[THREADS_MAX];
    uint32_t started = 1;
    j->next_block = 0;
    j->served = 0;
    while (started < thread_count && pthread_create(&threads[started], NULL, insert_blocks, j) == 0)
        started++;
    (void)insert_blocks(j);
    for (uint32_t i = 1; i < started; i++)
        (void)pthread_join(threads[i], NULL);
}

/* ---- passes ---------------------------------------------------------------------------------- */

static wp_status open_pass(wp_table *table, wp_error *err) {
    if (table->is_pass_open) return WP_STATUS_OK;
    table->is_failed = true; /* no reading until it is settled */
    table->is_of_rows = true;
    table->runs++;
    table->rows_served = 0;
    WP_TRY(wpi_table_begin(table, err));
    table->is_pass_open = true;
    return WP_STATUS_OK;
}

static wp_status close_pass(wp_table *table, uint64_t postponed, wp_error *err) {
    const wp_postpone_facts facts = {.pass = table->report.passes,
                                     .done_units = table->rows_served,
                                     .postponed_units = postponed,
                                     .served = table->rows_served};
    table->is_pass_open = false;
    WP_TRY(wpi_table_end(table, &facts, err));
    table->has_remade_keys = table->view.organisation != WP_TABLE_BASIC && table->report.passes > 1;
    return WP_STATUS_OK;
}

static wp_status fail_if_overflow(bool is_overflow, wp_error *err) {
    if (!is_overflow) return WP_STATUS_OK;
    return WP_FAIL(err, INVALID, "table: a sum of integers does not fit 64 bits");
}

/* Passes until no row is left. After an idle one a single thread inserts: rows that compete could
 * all be postponed for ever. */
static wp_status insert_rows(wp_table *table, job *j, uint32_t thread_count, wp_error *err) {
    uint64_t left = j->count;
    for (uint32_t idle = 0;;) {
        WP_TRY(open_pass(table, err));
        j->view = table->view;
        insert_all(j, idle == 0 ? thread_count : 1);
        left -= j->served;
        table->rows_served += j->served;
        const bool is_overflow = wp_word_load32(&j->has_overflow) != 0;
        const bool is_refused = wp_word_load32(&table->view.control->fault) != WP_TABLE_FAULT_NONE;
        if (left == 0 && !is_overflow && !is_refused) return WP_STATUS_OK;
        idle = table->rows_served == 0 ? idle + 1 : 0;
        WP_TRY(close_pass(table, left, err));
        WP_TRY(fail_if_overflow(is_overflow, err));
        if (idle >= IDLE_PASSES_MAX)
            return WP_FAIL(err, INVALID,
                           "table: %u passes in a row inserted none of the %" PRIu64
                           " rows that are left; a larger heap is needed",
                           idle, left);
    }
}

static wp_status check_table(const wp_table *table, wp_table_combine combine, wp_error *err) {
    if (table->device == NULL || table->view.heap == NULL)
        return WP_FAIL(err, INVALID,
                       "table: a table that was opened from a file cannot be added to");
    if (!wp_device_get_info(table->device)->host_pointers_are_device_pointers)
        return WP_FAIL(err, UNSUPPORTED,
                       "table: threads of the host insert rows, and the memory of %s is not the "
                       "host's; use the device cpu",
                       wp_device_get_info(table->device)->name);
    if (table->is_failed && !table->is_pass_open)
        return WP_FAIL(err, INVALID,
                       "table: an earlier run of this table failed; it can only be closed");
    if (table->postpone != NULL)
        return WP_FAIL(err, INVALID,
                       "table: a run of units has filled it, so rows cannot be added");
    if (table->is_of_rows && table->combine != combine)
        return WP_FAIL(err, INVALID, "table: its rows so far have another callback");
    return WP_STATUS_OK;
}

wp_status wp_table_add_rows(wp_table *table, const wp_table_column *keys,
                            const wp_table_column *values, uint64_t count, wp_table_combine combine,
                            uint32_t thread_count, wp_error *err) {
    WP_TRY(check_table(table, combine, err));
    WP_TRY(check_column(keys, count, "key", err));
    WP_TRY(check_column(values, count, "value", err));
    WP_TRY(check_lengths(table, keys, values, count, err));
    if (count == 0) return WP_STATUS_OK;
    const uint64_t words = (count + 31) / 32;
    uint32_t one = 1; /* a single row needs no memory */
    uint32_t *left = count == 1 ? &one : wpi_malloc(words * sizeof *left);
    if (left == NULL)
        return WP_FAIL(err, NOMEM, "table: no host memory for a bit for each of %" PRIu64 " rows",
                       count);
    if (count != 1) memset(left, 0xff, words * sizeof *left);
    job j = {.keys = keys, .values = values, .count = count, .combine = combine, .left = left};
    table->combine = combine;
    const wp_status status = insert_rows(table, &j, threads_for(count, thread_count), err);
    if (status != WP_STATUS_OK) table->is_pass_open = false; /* and is_failed stays */
    if (count != 1) wpi_free(left);
    return status;
}

wp_status wp_table_settle_rows(wp_table *table, wp_error *err) {
    if (table->is_failed && !table->is_pass_open)
        return WP_FAIL(err, INVALID,
                       "table: an earlier run of this table failed; it can only be closed");
    if (!table->is_pass_open) return WP_STATUS_OK;
    WP_TRY(close_pass(table, 0, err));
    has_overflow = false;
    WP_TRY(wpi_table_settle(table, err));
    WP_TRY(fail_if_overflow(has_overflow, err));
    table->is_failed = false;
    return WP_STATUS_OK;
}

wp_table_organisation wp_table_get_organisation(const wp_table *table) {
    return (wp_table_organisation)table->view.organisation;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks of CSV circulate between three users:
 *
 *     filler thread: reads,    ──►  parser threads:       ──►  caller: converts codes to the
 *     unpacks, cuts after           columns of a block         table's, returns the chunk
 *     a whole record                                                      │
 *            ▲                                                            │
 *            └────────────────────── next call ◄──────────────────────────┘
 *
 * Blocks are filled and returned in the order of the file, so line numbers add up and codes do not
 * depend on threads. A failure is a block, too: earlier rows are returned first. */
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "table_io/csv_block.h"
#include "table_io/csv_head.h"
#include "table_io/csv_marks.h"
#include "table_io/table_reader.h"

#define BLOCK_BYTES ((size_t)2 << 20)
#define RECORD_BYTES_MAX ((size_t)64 << 20)
#define PARSERS_MAX 32
#define NEVER UINT64_MAX

typedef enum slot_state { SLOT_FREE = 0, SLOT_FILLED, SLOT_PARSED } slot_state;

typedef struct slot {
    slot_state state;
    wpi_csv_block block;
    wp_status status; /* of reading, then of parsing */
    uint64_t bad_line;
    wp_error error;
} slot;

typedef struct csv {
    wpi_reader base;
    wpi_csv_shape shape;
    wpi_bytes *bytes;
    char *name, *null_text;
    wpi_selected *selected;
    uint32_t parser_count;

    wpi_csv_block rest; /* the filler's: text that was read, but not used, from `rest_at` on */
    size_t rest_at, block_bytes;
    bool is_at_end; /* of the bytes */

    pthread_mutex_t lock;
    pthread_cond_t changed;
    pthread_t threads[PARSERS_MAX + 1];
    uint32_t thread_count;
    slot *slots;
    uint32_t slot_count;
    uint64_t filled, taken, given, outer; /* blocks; `outer`: their number, once known */
    bool is_stopping;

    uint64_t line; /* of the next block's first, from 1 on */
    wp_column *columns;
    wpi_dictionary *dictionaries; /* [selected_count] */
    uint32_t *codes;              /* of a block's texts */
    uint32_t code_capacity;
} csv;

/* ---- the filler ---- */

static wp_status fail_open_quote(const csv *c, const wpi_csv_block *block, size_t quote,
                                 uint64_t *bad_line, wp_error *err) {
    *bad_line = wpi_csv_lines(block->text, quote);
    if (c->is_at_end) return WP_FAIL(err, PARSE, "the quote that begins here is never closed");
    return WP_FAIL(err, PARSE, "the quote that begins here is not closed within 64 MiB");
}

/* Returns text that was put aside before text from the file. */
static wp_status take_text(csv *c, char *to, size_t size, size_t *got, wp_error *err) {
    const size_t aside = c->rest.size - c->rest_at, taken = aside < size ? aside : size;
    size_t more = 0;
    if (taken != 0) memcpy(to, c->rest.text + c->rest_at, taken);
    c->rest_at += taken;
    *got = taken;
    if (taken == size || c->is_at_end) return WP_STATUS_OK;
    const wp_status status = wpi_bytes_read(c->bytes, to + taken, size - taken, &more, err);
    *got += more;
    c->is_at_end = status == WP_STATUS_OK && *got < size;
    return status;
}

/* Puts the end of the last text aside. */
static wp_status put_aside(csv *c, const char *text, size_t size, wp_error *err) {
    if (size > c->rest_at) { /* then nothing is left behind it there */
        WP_TRY(wpi_csv_block_reserve(&c->rest, size, err));
        c->rest.size = c->rest_at = size;
    }
    c->rest_at -= size;
    if (size != 0) memcpy(c->rest.text + c->rest_at, text, size);
    return WP_STATUS_OK;
}

static bool is_all_taken(const csv *c) {
    return c->is_at_end && c->rest_at == c->rest.size;
}

/* Puts whole records into the block, about `wanted` bytes, and the text after them aside. An empty
 * block: end of file. */
static wp_status fill_block(csv *c, wpi_csv_block *block, size_t wanted, uint64_t *bad_line,
                            wp_error *err) {
    size_t got = 0, cut, quote;
    *bad_line = NEVER;
    block->size = 0;
    for (;;) {
        WP_TRY(wpi_csv_block_reserve(block, wanted + 1, err));
        const wp_status status =
            take_text(c, block->text + block->size, wanted - block->size, &got, err);
        block->size += got;
        if (status == WP_STATUS_PARSE) *bad_line = wpi_csv_lines(block->text, block->size);
        if (status != WP_STATUS_OK) return status;
        if (is_all_taken(c) && block->size > 0 && block->text[block->size - 1] != '\n')
            block->text[block->size++] = '\n';
        cut = wpi_csv_cut(block->text, block->size, c->shape.delimiter, &quote);
        if (cut != 0 || block->size == 0) break;
        if (is_all_taken(c)) return fail_open_quote(c, block, quote, bad_line, err);
        if (wanted >= RECORD_BYTES_MAX) {
            if (quote != block->size) return fail_open_quote(c, block, quote, bad_line, err);
            *bad_line = 0;
            return WP_FAIL(err, PARSE, "this line is longer than 64 MiB");
        }
        wanted *= 2;
    }
    WP_TRY(put_aside(c, block->text + cut, block->size - cut, err));
    block->size = cut;
    return WP_STATUS_OK;
}

static void *fill_blocks(void *object) {
    csv *c = object;
    bool is_last = false;
    while (!is_last) {
        slot *s = &c->slots[c->filled % c->slot_count];
        (void)pthread_mutex_lock(&c->lock);
        while (s->state != SLOT_FREE && !c->is_stopping)
            (void)pthread_cond_wait(&c->changed, &c->lock);
        is_last = c->is_stopping;
        (void)pthread_mutex_unlock(&c->lock);
        if (is_last) break;
        s->status = fill_block(c, &s->block, c->block_bytes, &s->bad_line, &s->error);
        is_last = s->status != WP_STATUS_OK || is_all_taken(c);
        (void)pthread_mutex_lock(&c->lock);
        s->state = SLOT_FILLED;
        c->filled++;
        if (is_last) c->outer = c->filled;
        (void)pthread_cond_broadcast(&c->changed);
        (void)pthread_mutex_unlock(&c->lock);
    }
    return NULL;
}

/* ---- parsers ---- */

/* The next block to parse; NULL: there are no more. */
static slot *take_block(csv *c) {
    slot *s = NULL;
    (void)pthread_mutex_lock(&c->lock);
    while (!c->is_stopping && c->taken < c->outer && c->taken == c->filled)
        (void)pthread_cond_wait(&c->changed, &c->lock);
    if (!c->is_stopping && c->taken < c->outer) s = &c->slots[c->taken++ % c->slot_count];
    (void)pthread_mutex_unlock(&c->lock);
    return s;
}

static void *parse_blocks(void *object) {
    csv *c = object;
    slot *s;
    while ((s = take_block(c)) != NULL) {
        if (s->status == WP_STATUS_OK)
            s->status = wpi_csv_block_parse(&s->block, &c->shape, &s->bad_line, &s->error);
        (void)pthread_mutex_lock(&c->lock);
        s->state = SLOT_PARSED;
        (void)pthread_cond_broadcast(&c->changed);
        (void)pthread_mutex_unlock(&c->lock);
    }
    return NULL;
}

/* ---- chunks ---- */

/* The next block in order, or NULL at the end. Returns the one before to the filler. */
static slot *await_block(csv *c) {
    slot *s = NULL;
    (void)pthread_mutex_lock(&c->lock);
    if (c->given > 0 && c->slots[(c->given - 1) % c->slot_count].state == SLOT_PARSED) {
        c->slots[(c->given - 1) % c->slot_count].state = SLOT_FREE;
        (void)pthread_cond_broadcast(&c->changed);
    }
    while (c->given < c->outer && c->slots[c->given % c->slot_count].state != SLOT_PARSED)
        (void)pthread_cond_wait(&c->changed, &c->lock);
    if (c->given < c->outer) s = &c->slots[c->given++ % c->slot_count];
    (void)pthread_mutex_unlock(&c->lock);
    return s;
}

static wp_status fail_block(const csv *c, const slot *s, wp_error *err) {
    const unsigned long long line = c->line + (s->bad_line == NEVER ? 0 : s->bad_line);
    const char *message = s->error.message;
    const size_t length = strlen(c->name);
    if (strncmp(message, c->name, length) == 0 && strncmp(message + length, ": ", 2) == 0)
        message += length + 2; /* it is printed with the line */
    switch (s->status) {
    case WP_STATUS_NOMEM: return WP_FAIL(err, NOMEM, "%s:%llu: %s", c->name, line, message);
    case WP_STATUS_PARSE: return WP_FAIL(err, PARSE, "%s:%llu: %s", c->name, line, message);
    default: return WP_FAIL(err, IO, "%s", message);
    }
}

/* Converts a block's codes to the table's. */
static wp_status join_texts(csv *c, wpi_csv_block *block, uint32_t place, wp_error *err) {
    const wpi_dictionary *texts = &block->columns[place].texts;
    uint32_t *codes = block->columns[place].values;
    if (texts->count >= c->code_capacity) {
        uint32_t *more = wpi_realloc(c->codes, 2 * ((size_t)texts->count + 1) * sizeof *more);
        if (more == NULL) return WP_FAIL(err, NOMEM, "codes of texts");
        c->codes = more;
        c->code_capacity = 2 * (texts->count + 1);
        more[0] = 0;
    }
    for (uint32_t i = 0; i < texts->count; i++)
        WP_TRY(wpi_dictionary_slice_code(&c->dictionaries[place], &texts->strings[i],
                                         &c->codes[i + 1], err));
    for (uint64_t row = 0; row < block->row_count; row++)
        codes[row] = c->codes[codes[row]];
    return WP_STATUS_OK;
}

static bool is_code(const csv *c, uint32_t place) {
    return c->selected[place].use == WPI_USE_VALUES &&
           c->base.fields[c->selected[place].column].is_text;
}

static wp_status next(wpi_reader *reader, wpi_column_chunk *out, wp_error *err) {
    csv *c = (csv *)reader;
    *out = (wpi_column_chunk){0};
    slot *s;
    while ((s = await_block(c)) != NULL) {
        if (s->status != WP_STATUS_OK) return fail_block(c, s, err);
        c->line += s->block.line_count;
        if (s->block.row_count != 0) break;
    }
    if (s == NULL) return WP_STATUS_OK;
    for (uint32_t place = 0; place < c->shape.selected_count; place++) {
        if (is_code(c, place) && s->block.row_count != 0)
            WP_TRY(join_texts(c, &s->block, place, err));
        c->columns[place] = s->block.columns[place].column;
    }
    *out = (wpi_column_chunk){s->block.row_count, c->columns};
    return WP_STATUS_OK;
}

/* ---- open, select, close ---- */

static wp_status start_threads(csv *c, wp_error *err) {
    while (c->thread_count < c->parser_count + 1) {
        const int code = pthread_create(&c->threads[c->thread_count], NULL,
                                        c->thread_count == 0 ? fill_blocks : parse_blocks, c);
        if (code != 0) return WP_FAIL(err, NOMEM, "cannot start a thread to read %s", c->name);
        c->thread_count++;
    }
    return WP_STATUS_OK;
}

static wp_status select_columns(wpi_reader *reader, const wpi_selected *selected, uint32_t count,
                                wp_error *err) {
    csv *c = (csv *)reader;
    c->slot_count = c->parser_count + 2;
    c->slots = wpi_calloc(c->slot_count, sizeof *c->slots);
    c->selected = wpi_calloc(count + (size_t)1, sizeof *selected);
    c->columns = wpi_calloc(count + (size_t)1, sizeof *c->columns);
    c->dictionaries = wpi_calloc(count + (size_t)1, sizeof *c->dictionaries);
    if (c->slots == NULL || c->selected == NULL || c->columns == NULL || c->dictionaries == NULL)
        return WP_FAIL(err, NOMEM, "reading %s", c->name);
    if (count != 0) memcpy(c->selected, selected, count * sizeof *selected);
    for (uint32_t i = 0; i < count; i++)
        c->dictionaries[i].is_owner = true;
    c->shape.selected = c->selected;
    c->shape.selected_count = count;
    return start_threads(c, err);
}

static void stop_threads(csv *c) {
    (void)pthread_mutex_lock(&c->lock);
    c->is_stopping = true;
    (void)pthread_cond_broadcast(&c->changed);
    (void)pthread_mutex_unlock(&c->lock);
    for (uint32_t i = 0; i < c->thread_count; i++)
        (void)pthread_join(c->threads[i], NULL);
}

static void close_reader(wpi_reader *reader) {
    csv *c = (csv *)reader;
    stop_threads(c);
    for (uint32_t i = 0; c->slots != NULL && i < c->slot_count; i++)
        wpi_csv_block_deinit(&c->slots[i].block, c->shape.selected_count);
    for (uint32_t i = 0; c->dictionaries != NULL && i < c->shape.selected_count; i++)
        wpi_dictionary_deinit(&c->dictionaries[i]);
    wpi_csv_block_deinit(&c->rest, 0);
    wpi_fields_free(c->base.fields, c->base.width);
    wpi_bytes_close(c->bytes);
    (void)pthread_cond_destroy(&c->changed);
    (void)pthread_mutex_destroy(&c->lock);
    wpi_free(c->slots);
    wpi_free(c->selected);
    wpi_free(c->columns);
    wpi_free(c->dictionaries);
    wpi_free(c->codes);
    wpi_free(c->name);
    wpi_free(c->null_text);
    wpi_free(c);
}

static const wpi_dictionary *dictionary(const wpi_reader *reader, uint32_t place) {
    return &((const csv *)reader)->dictionaries[place];
}

static void progress(const wpi_reader *reader, uint64_t *done_bytes, uint64_t *total_bytes) {
    const csv *c = (const csv *)reader;
    *done_bytes = wpi_bytes_done(c->bytes);
    *total_bytes = wpi_bytes_total(c->bytes);
}

static const wpi_reader_ops csv_ops = {.select = select_columns,
                                       .next = next,
                                       .dictionary = dictionary,
                                       .progress = progress,
                                       .close = close_reader};

/* Extrapolates from the text so far; for packed text, from its part of the file. */
static uint64_t expected_rows(const csv *c, const wpi_csv_head *head, size_t text_bytes) {
    const uint64_t done = wpi_bytes_done(c->bytes), total = wpi_bytes_total(c->bytes);
    if (head->row_bytes == 0 || done == 0) return 0;
    return (uint64_t)((double)text_bytes / head->row_bytes * ((double)total / (double)done));
}

/* The first block: its head has the columns; the filler begins with its rows.
 */
static wp_status read_head(csv *c, const wpi_column_options *options, uint64_t *bad_line,
                           wp_error *err) {
    static const char bom[] = "\xef\xbb\xbf";
    wpi_csv_block first = {0};
    wpi_csv_head head;
    wp_status status = WP_STATUS_OK;
    WP_TRY_GOTO(fill_block(c, &first, BLOCK_BYTES, bad_line, err), done);
    const size_t skip = first.size >= 3 && memcmp(first.text, bom, 3) == 0 ? 3 : 0;
    memset(first.text + first.size, 0, WPI_CSV_PADDING);
    WP_TRY_GOTO(wpi_csv_head_read(first.text + skip, first.size - skip, c->name, options,
                                  c->shape.delimiter, &head, err),
                done);
    c->base.fields = head.fields;
    c->base.width = c->shape.width = head.width;
    c->shape.fields = head.fields;
    c->line += head.line_count;
    c->base.expected_rows = expected_rows(c, &head, first.size - skip - head.size + c->rest.size);
    /* The remaining text of the block comes before the rest. */
    const size_t begin = skip + head.size, left = first.size - begin;
    WP_TRY_GOTO(wpi_csv_block_reserve(&first, left + begin + c->rest.size, err), done);
    memmove(first.text, first.text + begin, left);
    if (c->rest.size != 0) memcpy(first.text + left, c->rest.text, c->rest.size);
    first.size = left + c->rest.size;
    wpi_csv_block_deinit(&c->rest, 0);
    c->rest = first;
    return WP_STATUS_OK;
done:
    wpi_csv_block_deinit(&first, 0);
    return status;
}

static wp_status open_head(csv *c, const wpi_column_options *options, wp_error *err) {
    slot s = {.bad_line = NEVER};
    s.status = read_head(c, options, &s.bad_line, &s.error);
    if (s.bad_line != NEVER) return fail_block(c, &s, err); /* within the text */
    if (s.status != WP_STATUS_OK)
        return wpi_fail(err, s.status, s.error.file, s.error.line, "%s", s.error.message);
    return WP_STATUS_OK;
}

static uint32_t parsers(uint32_t thread_count) {
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    uint32_t count = thread_count != 0 ? thread_count : processors > 0 ? (uint32_t)processors : 1;
    return count < PARSERS_MAX ? count : PARSERS_MAX;
}

wp_status wpi_csv_open(wpi_bytes *bytes, const char *name, const wpi_column_options *options,
                       wpi_reader **out, wp_error *err) {
    *out = NULL;
    csv *c = wpi_calloc(1, sizeof *c);
    if (c == NULL) {
        wpi_bytes_close(bytes);
        return WP_FAIL(err, NOMEM, "reading %s", name);
    }
    c->base.ops = &csv_ops;
    c->bytes = bytes;
    c->outer = NEVER;
    c->line = 1;
    c->parser_count = parsers(options->thread_count);
    c->block_bytes = options->block_bytes != 0 ? options->block_bytes : BLOCK_BYTES;
    (void)pthread_mutex_init(&c->lock, NULL);
    (void)pthread_cond_init(&c->changed, NULL);
    c->name = wpi_strdup(name);
    c->null_text = options->null_text != NULL ? wpi_strdup(options->null_text) : NULL;
    c->shape = (wpi_csv_shape){.delimiter = options->delimiter,
                               .null_text = c->null_text,
                               .null_length = c->null_text != NULL ? strlen(c->null_text) : 0};
    wp_status status = WP_STATUS_OK;
    if (c->name == NULL || (options->null_text != NULL && c->null_text == NULL))
        status = WP_FAIL(err, NOMEM, "reading %s", name);
    if (status == WP_STATUS_OK) status = open_head(c, options, err);
    if (status == WP_STATUS_OK)
        *out = &c->base;
    else
        close_reader(&c->base);
    return status;
}

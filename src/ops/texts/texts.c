/* SPDX-License-Identifier: Apache-2.0 */
/* Codes of texts. A block of rows goes through a lookup in steps, so that the cache misses of all
 * its rows are outstanding together: hashes, slots, views, bytes. A lookup takes no lock: slots are
 * written after what they refer to, and nothing moves. A text that is not found is looked up again
 * under its shard's lock, and added. */
#include "ops/texts/texts.h"

#include "base/alloc.h"
#include "ops/groupby_cpu/cpu_grouper_memory.h"
#include "ops/groupby_cpu/cpu_threads.h"

#define BLOCK 256u         /* rows */
#define MORSEL 16384u      /* rows that a thread takes at a time */
#define CACHED_TEXTS 8192u /* whose slots and views stay in an L2 cache */
#define FIRST_SLOTS 1024u  /* of a shard */
#define SLOTS_A_TEXT 2u    /* at least: a second look at a slot is a branch that goes wrong */
#define PAGE_BYTES ((size_t)1 << 16)
#define PAGE_BYTES_MAX ((size_t)4 << 20)
#define COUNT_MAX ((UINT32_C(1) << 31) - 2)

/* ---- memory ---- */

static wpi_text_table *create_table(uint32_t slots) {
    wpi_text_table *table = wpi_cpu_memory_alloc(sizeof *table + slots * sizeof table->slots[0]);
    if (table == NULL) return NULL;
    memset(table, 0, sizeof *table + slots * sizeof table->slots[0]);
    table->mask = slots - 1;
    return table;
}

static void free_retired(wpi_text_table *table) {
    for (wpi_text_table *old = table->retired, *next; old != NULL; old = next) {
        next = old->retired;
        wpi_free(old);
    }
    table->retired = NULL;
}

wp_status wp_texts_create(uint32_t thread_count, wp_texts **out, wp_error *err) {
    *out = NULL;
    wp_texts *texts = wpi_calloc(1, sizeof *texts);
    if (texts == NULL) return WP_FAIL(err, NOMEM, "texts");
    const uint32_t most = wpi_cpu_thread_count();
    texts->thread_count = thread_count == 0 || thread_count > most ? most : thread_count;
    pthread_mutex_init(&texts->segment_lock, NULL);
    bool is_complete = true;
    for (uint32_t i = 0; i < WPI_TEXT_SHARDS; i++) {
        pthread_mutex_init(&texts->shards[i].lock, NULL);
        wpi_text_table *table = create_table(FIRST_SLOTS);
        atomic_init(&texts->shards[i].table, table);
        is_complete = is_complete && table != NULL;
    }
    if (!is_complete) {
        wp_texts_destroy(texts);
        return WP_FAIL(err, NOMEM, "texts");
    }
    *out = texts;
    return WP_STATUS_OK;
}

static void free_table(wpi_text_shard *shard) {
    wpi_text_table *table = atomic_exchange(&shard->table, NULL);
    if (table != NULL) free_retired(table);
    wpi_free(table);
}

void wp_texts_end(wp_texts *texts) {
    for (uint32_t i = 0; i < WPI_TEXT_SHARDS; i++)
        free_table(&texts->shards[i]);
}

static void deinit_shard(wpi_text_shard *shard) {
    free_table(shard);
    for (char *page = shard->page, *next; page != NULL; page = next) {
        memcpy((void *)&next, page, sizeof next);
        wpi_free(page);
    }
    pthread_mutex_destroy(&shard->lock);
}

void wp_texts_destroy(wp_texts *texts) {
    if (texts == NULL) return;
    for (uint32_t i = 0; i < WPI_TEXT_SHARDS; i++)
        deinit_shard(&texts->shards[i]);
    for (uint32_t i = 0; i < WPI_TEXT_SEGMENTS; i++)
        wpi_free(atomic_load(&texts->segments[i]));
    pthread_mutex_destroy(&texts->segment_lock);
    wpi_free(texts->order);
    wpi_free(texts);
}

/* ---- insertion, under the shard's lock ---- */

static bool add_page(wpi_text_shard *shard, size_t length) {
    size_t bytes = shard->page_bytes < PAGE_BYTES_MAX / 2 ? 2 * shard->page_bytes : PAGE_BYTES_MAX;
    if (bytes < PAGE_BYTES) bytes = PAGE_BYTES;
    if (bytes < length + sizeof shard->page) bytes = length + sizeof shard->page;
    char *page = wpi_malloc(bytes);
    if (page == NULL) return false;
    memcpy(page, (const void *)&shard->page, sizeof shard->page);
    shard->page = page;
    shard->page_used = sizeof shard->page;
    shard->page_bytes = bytes;
    return true;
}

/* A copy of the view whose bytes belong to the shard. */
static bool keep(wpi_text_shard *shard, const wpi_text_view *view, wpi_text_view *out) {
    const size_t length = wpi_text_length(view);
    *out = *view;
    if (length <= WPI_TEXT_INLINE) return true;
    if (shard->page_bytes - shard->page_used < length && !add_page(shard, length)) return false;
    char *bytes = shard->page + shard->page_used;
    memcpy(bytes, wpi_text_far(view), length);
    shard->page_used += length;
    out->tail = (uintptr_t)bytes;
    return true;
}

/* Makes sure that the code's view has a place. */
static bool reserve(wp_texts *texts, uint32_t code) {
    const uint32_t segment =
        31u - (uint32_t)__builtin_clz(((code - 1) >> WPI_TEXT_SEGMENT_BITS) + 1);
    if (atomic_load_explicit(&texts->segments[segment], memory_order_acquire) != NULL) return true;
    pthread_mutex_lock(&texts->segment_lock);
    wpi_text_view *views = atomic_load(&texts->segments[segment]);
    if (views == NULL) {
        views = wpi_cpu_memory_alloc(sizeof *views << (segment + WPI_TEXT_SEGMENT_BITS));
        atomic_store_explicit(&texts->segments[segment], views, memory_order_release);
    }
    pthread_mutex_unlock(&texts->segment_lock);
    return views != NULL;
}

static bool grow(wpi_text_shard *shard, wpi_text_table *old) {
    const uint32_t slots = old->mask + 1;
    wpi_text_table *table = create_table(slots < UINT32_C(1) << 14 ? 4 * slots : 2 * slots);
    if (table == NULL) return false;
    for (uint32_t i = 0; i < slots; i++) {
        const uint64_t slot = atomic_load_explicit(&old->slots[i], memory_order_relaxed);
        if (slot == 0) continue;
        uint32_t at = (uint32_t)(slot >> 32) & table->mask;
        while (atomic_load_explicit(&table->slots[at], memory_order_relaxed) != 0)
            at = (at + 1) & table->mask;
        atomic_store_explicit(&table->slots[at], slot, memory_order_relaxed);
    }
    table->retired = old;
    atomic_store_explicit(&shard->table, table, memory_order_release);
    return true;
}

/* The code, or 0 and the first free slot. */
static uint32_t find(const wp_texts *texts, wpi_text_table *table, const wpi_text_view *view,
                     uint64_t hash, uint32_t *free_slot) {
    for (uint32_t at = (uint32_t)hash & table->mask;; at = (at + 1) & table->mask) {
        const uint64_t slot = atomic_load_explicit(&table->slots[at], memory_order_acquire);
        *free_slot = at;
        if (slot == 0) return 0;
        if (slot >> 32 == (uint32_t)hash &&
            wpi_text_equal(wpi_texts_view(texts, (uint32_t)slot), view))
            return (uint32_t)slot;
    }
}

/* The code of a text that is new or has just been added; 0: no memory, or too many. */
static uint32_t insert_locked(wp_texts *texts, wpi_text_shard *shard, const wpi_text_view *view,
                              uint64_t hash) {
    wpi_text_table *table = atomic_load_explicit(&shard->table, memory_order_relaxed);
    uint32_t at = 0;
    uint32_t code = find(texts, table, view, hash, &at);
    if (code != 0) return code;
    if (shard->count >= table->mask / SLOTS_A_TEXT) {
        if (!grow(shard, table)) return 0;
        table = atomic_load_explicit(&shard->table, memory_order_relaxed);
        (void)find(texts, table, view, hash, &at);
    }
    if (atomic_load_explicit(&texts->count, memory_order_relaxed) >= COUNT_MAX) return 0;
    wpi_text_view kept;
    if (!keep(shard, view, &kept)) return 0;
    code = atomic_fetch_add_explicit(&texts->count, 1, memory_order_relaxed) + 1;
    if (!reserve(texts, code)) return 0;
    *wpi_texts_view(texts, code) = kept;
    shard->count++;
    shard->bytes += wpi_text_length(view);
    atomic_store_explicit(&table->slots[at], (uint64_t)(uint32_t)hash << 32 | code,
                          memory_order_release);
    return code;
}

static uint32_t shard_of(uint64_t hash) {
    return (uint32_t)(hash >> (64 - WPI_TEXT_SHARD_BITS));
}

/* ---- a block of rows ---- */

typedef struct encoding {
    wp_texts *texts;
    const wp_text_column *column;
    uint64_t row_count, readable; /* readable: bytes of an OFFSETS column */
    uint32_t *codes;
    atomic_uint_least64_t next; /* row */
    atomic_int status;
} encoding;

static bool views_of_offsets(const encoding *e, uint64_t first, uint32_t count,
                             wpi_text_view *views) {
    const char *bytes = e->column->buffers[0];
    const bool is_wide = e->column->layout == WP_TEXT_OFFSETS_64;
    const int32_t *narrow = (const int32_t *)e->column->items + (is_wide ? 0 : first);
    const int64_t *wide = (const int64_t *)e->column->items + (is_wide ? first : 0);
    uint64_t begin = is_wide ? (uint64_t)wide[0] : (uint64_t)narrow[0];
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t end = is_wide ? (uint64_t)wide[i + 1] : (uint64_t)narrow[i + 1];
        if (end < begin || end - begin > UINT32_MAX || end > e->readable) return false;
        views[i] = wpi_text_view_of(bytes + begin, (uint32_t)(end - begin), e->readable - begin);
        begin = end;
    }
    return true;
}

static void views_of_views(const encoding *e, uint64_t first, uint32_t count,
                           wpi_text_view *views) {
    const char *in = (const char *)e->column->items + first * sizeof *views;
    memcpy(views, in, count * sizeof *views);
    for (uint32_t i = 0; i < count; i++) {
        if (wpi_text_length(&views[i]) <= WPI_TEXT_INLINE) continue;
        const uint32_t buffer = (uint32_t)views[i].tail, offset = (uint32_t)(views[i].tail >> 32);
        views[i].tail = (uintptr_t)((const char *)e->column->buffers[buffer] + offset);
    }
}

static bool is_null(const wp_text_column *column, uint64_t row) {
    const uint64_t bit = column->valid_offset + row;
    return column->valid != NULL && (column->valid[bit / 8] >> (bit % 8) & 1) == 0;
}

/* What NULL has for a text has no meaning. */
static void clear_nulls(const encoding *e, uint64_t first, uint32_t count, wpi_text_view *views) {
    for (uint32_t i = 0; e->column->valid != NULL && i < count; i++)
        if (is_null(e->column, first + i)) views[i] = (wpi_text_view){0};
}

static bool load(const encoding *e, uint64_t first, uint32_t count, wpi_text_view *views) {
    if (e->column->layout != WP_TEXT_VIEWS) {
        if (!views_of_offsets(e, first, count, views)) return false;
        clear_nulls(e, first, count, views);
        return true;
    }
    if (e->column->valid == NULL) {
        views_of_views(e, first, count, views);
        return true;
    }
    /* The view of NULL may refer to a buffer that does not exist. */
    for (uint32_t i = 0; i < count; i++) {
        views[i] = (wpi_text_view){0};
        if (!is_null(e->column, first + i)) views_of_views(e, first + i, 1, &views[i]);
    }
    return true;
}

/* The code of the first slot with that half of the hash, which is nearly always the text's; or 0.
 */
static uint32_t likely_code(const wpi_text_table *table, uint64_t hash) {
    for (uint32_t at = (uint32_t)hash & table->mask;; at = (at + 1) & table->mask) {
        const uint64_t slot = atomic_load_explicit(&table->slots[at], memory_order_acquire);
        if (slot == 0 || slot >> 32 == (uint32_t)hash) return (uint32_t)slot;
    }
}

/* Adds the rows of a block whose texts were not found: each shard's lock is taken once. */
static bool insert_all(wp_texts *texts, const wpi_text_view *views, const uint64_t *hashes,
                       const uint16_t *rows, uint32_t count, uint32_t *codes) {
    bool is_complete = true;
    for (uint32_t i = 0; i < WPI_TEXT_SHARDS && count != 0; i++) {
        wpi_text_shard *shard = &texts->shards[i];
        bool is_locked = false;
        for (uint32_t k = 0; k < count && is_complete; k++) {
            const uint32_t row = rows[k];
            if (shard_of(hashes[row]) != i) continue;
            if (!is_locked) pthread_mutex_lock(&shard->lock);
            is_locked = true;
            codes[row] = insert_locked(texts, shard, &views[row], hashes[row]);
            is_complete = codes[row] != 0;
        }
        if (is_locked) pthread_mutex_unlock(&shard->lock);
    }
    return is_complete;
}

/* Hashes, and codes that are nearly always the rows', or 0. */
static void find_likely(const wp_texts *texts, wpi_text_table *const *tables,
                        const wpi_text_view *views, uint32_t count, uint64_t *hashes,
                        uint32_t *codes) {
    if (atomic_load_explicit(&texts->count, memory_order_relaxed) <= CACHED_TEXTS) {
        for (uint32_t i = 0; i < count; i++) {
            hashes[i] = wpi_text_hash(&views[i]);
            codes[i] = likely_code(tables[shard_of(hashes[i])], hashes[i]);
        }
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        hashes[i] = wpi_text_hash(&views[i]);
        const wpi_text_table *table = tables[shard_of(hashes[i])];
        __builtin_prefetch((const void *)&table->slots[(uint32_t)hashes[i] & table->mask]);
    }
    for (uint32_t i = 0; i < count; i++) {
        codes[i] = likely_code(tables[shard_of(hashes[i])], hashes[i]);
        if (codes[i] != 0) __builtin_prefetch(wpi_texts_view(texts, codes[i]));
    }
    for (uint32_t i = 0; i < count; i++)
        if (codes[i] != 0 && wpi_text_length(&views[i]) > WPI_TEXT_INLINE) {
            const wpi_text_view *view = wpi_texts_view(texts, codes[i]);
            if (view->head == views[i].head) __builtin_prefetch(wpi_text_far(view));
        }
}

static wp_status encode_block(encoding *e, uint64_t first, uint32_t count) {
    wp_texts *texts = e->texts;
    wpi_text_view views[BLOCK];
    uint64_t hashes[BLOCK];
    wpi_text_table *tables[WPI_TEXT_SHARDS];
    uint16_t missing[BLOCK];
    uint32_t missing_count = 0, *codes = e->codes + first;
    if (!load(e, first, count, views)) return WP_STATUS_INVALID;
    for (uint32_t i = 0; i < WPI_TEXT_SHARDS; i++)
        tables[i] = atomic_load_explicit(&texts->shards[i].table, memory_order_acquire);
    find_likely(texts, tables, views, count, hashes, codes);
    for (uint32_t i = 0; i < count; i++) {
        if (codes[i] != 0 && wpi_text_equal(wpi_texts_view(texts, codes[i]), &views[i])) continue;
        if (is_null(e->column, first + i)) continue;
        uint32_t at = 0;
        if (codes[i] != 0)
            codes[i] = find(texts, tables[shard_of(hashes[i])], &views[i], hashes[i], &at);
        if (codes[i] == 0) missing[missing_count++] = (uint16_t)i;
    }
    if (!insert_all(texts, views, hashes, missing, missing_count, codes)) return WP_STATUS_NOMEM;
    for (uint32_t i = 0; e->column->valid != NULL && i < count; i++)
        if (is_null(e->column, first + i)) codes[i] = 0;
    return WP_STATUS_OK;
}

static void encode_morsels(void *object, uint32_t thread) {
    encoding *e = object;
    (void)thread;
    while (atomic_load_explicit(&e->status, memory_order_relaxed) == WP_STATUS_OK) {
        uint64_t row = atomic_fetch_add_explicit(&e->next, MORSEL, memory_order_relaxed);
        if (row >= e->row_count) return;
        const uint64_t outer = e->row_count - row < MORSEL ? e->row_count : row + MORSEL;
        for (; row < outer; row += BLOCK) {
            const uint32_t count = outer - row < BLOCK ? (uint32_t)(outer - row) : BLOCK;
            const wp_status status = encode_block(e, row, count);
            if (status != WP_STATUS_OK) {
                atomic_store(&e->status, (int)status);
                return;
            }
        }
    }
}

/* ---- the call ---- */

static uint64_t readable_bytes(const wp_text_column *column, uint64_t row_count) {
    if (column->layout == WP_TEXT_OFFSETS_64) {
        const int64_t end = ((const int64_t *)column->items)[row_count];
        return end < 0 ? 0 : (uint64_t)end;
    }
    const int32_t end = ((const int32_t *)column->items)[row_count];
    return end < 0 ? 0 : (uint64_t)end;
}

wp_status wp_texts_encode(wp_texts *texts, const wp_text_column *column, uint64_t row_count,
                          uint32_t *codes, wp_error *err) {
    if ((unsigned)column->layout >= WP_TEXT_LAYOUT_COUNT)
        return WP_FAIL(err, INVALID, "text layout %d is unknown", (int)column->layout);
    if (atomic_load(&texts->shards[0].table) == NULL)
        return WP_FAIL(err, INVALID, "texts that have ended: encode before wp_texts_end");
    if (row_count == 0) return WP_STATUS_OK;
    encoding e = {.texts = texts, .column = column, .row_count = row_count, .codes = codes};
    if (column->layout != WP_TEXT_VIEWS) e.readable = readable_bytes(column, row_count);
    for (uint32_t i = 0; i < WPI_TEXT_SHARDS; i++)
        free_retired(atomic_load(&texts->shards[i].table));
    const uint64_t morsels = (row_count + MORSEL - 1) / MORSEL;
    const uint32_t threads =
        morsels < texts->thread_count ? (uint32_t)morsels : texts->thread_count;
    wpi_cpu_parallel(threads, encode_morsels, &e);
    switch (atomic_load(&e.status)) {
    case WP_STATUS_OK: return WP_STATUS_OK;
    case WP_STATUS_INVALID:
        return WP_FAIL(err, INVALID, "the offsets of a column of texts are damaged");
    default:
        return atomic_load(&texts->count) >= COUNT_MAX
                   ? WP_FAIL(err, INVALID, "there are more than 2^31 different texts")
                   : WP_FAIL(err, NOMEM, "%u texts", (unsigned)atomic_load(&texts->count));
    }
}

uint64_t wp_texts_count(const wp_texts *texts) {
    return atomic_load(&texts->count);
}

uint64_t wp_texts_bytes(const wp_texts *texts) {
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < WPI_TEXT_SHARDS; i++)
        bytes += texts->shards[i].bytes;
    return bytes;
}

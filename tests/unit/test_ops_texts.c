/* SPDX-License-Identifier: Apache-2.0 */
/* Codes of texts: equal for equal texts only, in every layout, by several threads; their order. */
#include "ops/texts/texts.h"

#include "base/alloc.h"
#include "wp_random.h"
#include "wp_test.h"

#define ROWS 60000u
#define TEXTS 9000u
#define BYTES_MAX 40u

/* Texts of 0 to 39 bytes, zeros among them; many begin alike. */
typedef struct table {
    uint32_t lengths[TEXTS];
    char texts[TEXTS][BYTES_MAX];
    uint32_t rows[ROWS]; /* its text */
    int32_t narrow[ROWS + 1];
    int64_t wide[ROWS + 1];
    wpi_text_view views[ROWS];
    char *bytes;
    uint8_t valid[ROWS / 8 + 2];
} table;

static table t;
static uint32_t codes[ROWS];

static bool is_same(uint32_t a, uint32_t b) {
    return t.lengths[a] == t.lengths[b] && memcmp(t.texts[a], t.texts[b], t.lengths[a]) == 0;
}

static void draw(uint32_t text_count) {
    uint64_t seed = 5;
    for (uint32_t i = 0; i < text_count; i++) {
        t.lengths[i] = (uint32_t)(wp_random_next(&seed) % BYTES_MAX);
        memset(t.texts[i], 'a', sizeof t.texts[i]);
        for (uint32_t k = 0; k < 3 && t.lengths[i] > 0; k++)
            t.texts[i][wp_random_next(&seed) % t.lengths[i]] =
                (char)(wp_random_next(&seed) % 4 * 60);
    }
    int64_t at = 0;
    free(t.bytes);
    t.bytes = malloc((size_t)ROWS * BYTES_MAX);
    for (uint32_t i = 0; i < ROWS; i++) {
        const uint32_t text = t.rows[i] = (uint32_t)(wp_random_next(&seed) % text_count);
        const uint32_t length = t.lengths[text];
        t.narrow[i] = (int32_t)at;
        t.wide[i] = at;
        if (length != 0) memcpy(t.bytes + at, t.texts[text], length);
        t.views[i] = (wpi_text_view){length, 0};
        if (length <= WPI_TEXT_INLINE) {
            memcpy((char *)&t.views[i] + 4, t.texts[text], length);
        } else {
            t.views[i].head |= (uint64_t)wpi_text_load_4(t.texts[text]) << 32;
            t.views[i].tail = (uint64_t)at << 32 | 1; /* of the second buffer */
        }
        at += length;
    }
    t.narrow[ROWS] = (int32_t)at;
    t.wide[ROWS] = at;
    /* Exactly its size, so that a sanitizer sees what is read behind it. */
    char *exact = malloc((size_t)at + 1);
    memcpy(exact, t.bytes, (size_t)at);
    free(t.bytes);
    t.bytes = realloc(exact, (size_t)at);
    for (uint32_t i = 0; i < sizeof t.valid; i++)
        t.valid[i] = (uint8_t)(wp_random_next(&seed) | wp_random_next(&seed));
}

static wp_text_column column_of(wp_text_layout layout, const void *const *buffers, bool has_nulls) {
    const void *items = layout == WP_TEXT_OFFSETS_32   ? (const void *)t.narrow
                        : layout == WP_TEXT_OFFSETS_64 ? (const void *)t.wide
                                                       : (const void *)t.views;
    return (wp_text_column){.layout = layout,
                            .items = items,
                            .buffers = buffers,
                            .valid = has_nulls ? t.valid : NULL,
                            .valid_offset = has_nulls ? 3 : 0};
}

static bool is_null(const wp_text_column *column, uint32_t row) {
    const uint64_t bit = column->valid_offset + row;
    return column->valid != NULL && (column->valid[bit / 8] >> (bit % 8) & 1) == 0;
}

/* Each text has one code, each code one text, NULL has 0. */
static void check_codes(const wp_text_column *column, const wp_texts *texts) {
    uint32_t *text_of = calloc(wp_texts_count(texts) + 1, sizeof *text_of);
    uint32_t code_of[TEXTS] = {0};
    for (uint32_t row = 0; row < ROWS; row++) {
        assert_int_equal(codes[row] == 0, is_null(column, row));
        if (codes[row] == 0) continue;
        assert_true(codes[row] <= wp_texts_count(texts));
        if (text_of[codes[row]] == 0) text_of[codes[row]] = t.rows[row] + 1;
        assert_true(is_same(text_of[codes[row]] - 1, t.rows[row]));
        if (code_of[t.rows[row]] == 0) code_of[t.rows[row]] = codes[row];
        assert_int_equal(code_of[t.rows[row]], codes[row]);
    }
    free(text_of);
}

static void equal_texts_have_equal_codes_in_every_layout(void **state) {
    (void)state;
    const uint32_t text_counts[] = {1, 7, TEXTS};
    for (uint32_t i = 0; i < 3; i++) {
        draw(text_counts[i]);
        const void *offsets_buffer[] = {t.bytes}, *view_buffers[] = {NULL, t.bytes};
        wp_error err = {0};
        wp_texts *texts = NULL;
        assert_status_ok(wp_texts_create(4, &texts, &err), &err);
        uint32_t first[64] = {0};
        for (int layout = 0; layout < 6; layout++) { /* the same texts each time */
            const bool is_view = layout % 3 == WP_TEXT_VIEWS;
            const wp_text_column column = column_of(
                (wp_text_layout)(layout % 3), is_view ? view_buffers : offsets_buffer, layout > 2);
            assert_status_ok(wp_texts_encode(texts, &column, ROWS, codes, &err), &err);
            check_codes(&column, texts);
            if (layout == 0) memcpy(first, codes, sizeof first);
            for (uint32_t row = 0; row < 64; row++)
                if (!is_null(&column, row)) assert_int_equal(codes[row], first[row]);
        }
        uint64_t bytes = 0, count = 0;
        for (uint32_t a = 0; a < text_counts[i]; a++) {
            bool is_new = true, is_used = false;
            for (uint32_t b = 0; b < a && is_new; b++)
                is_new = !is_same(a, b);
            for (uint32_t row = 0; row < ROWS && is_new && !is_used; row++)
                is_used = is_same(t.rows[row], a);
            count += is_new && is_used;
            bytes += is_new && is_used ? t.lengths[a] : 0;
        }
        assert_u64(wp_texts_count(texts), count);
        assert_u64(wp_texts_bytes(texts), bytes);
        wp_texts_destroy(texts);
    }
}

static int compare(const char *a, uint64_t a_length, const char *b, uint64_t b_length) {
    const int order = memcmp(a, b, a_length < b_length ? a_length : b_length);
    return order != 0 ? order : (a_length > b_length) - (a_length < b_length);
}

static void ranks_are_in_order_of_bytes(void **state) {
    (void)state;
    draw(TEXTS);
    const void *buffer[] = {t.bytes};
    const wp_text_column column = column_of(WP_TEXT_OFFSETS_64, buffer, false);
    wp_error err = {0};
    wp_texts *texts = NULL;
    uint32_t *ranks = NULL;
    assert_status_ok(wp_texts_create(2, &texts, &err), &err);
    assert_status_ok(wp_texts_encode(texts, &column, ROWS, codes, &err), &err);
    assert_status_ok(wpi_texts_sort(texts, &ranks, &err), &err);
    const uint64_t count = wp_texts_count(texts);
    uint64_t *offsets = malloc((count + 1) * sizeof *offsets);
    char *bytes = malloc(wp_texts_bytes(texts) + 1);
    wp_texts_copy(texts, offsets, bytes);
    assert_u64(offsets[count], wp_texts_bytes(texts));
    for (uint64_t i = 1; i < count; i++)
        assert_true(compare(bytes + offsets[i - 1], offsets[i] - offsets[i - 1], bytes + offsets[i],
                            offsets[i + 1] - offsets[i]) < 0);
    assert_u64(ranks[0], count);
    for (uint32_t row = 0; row < ROWS; row++) {
        const uint32_t rank = ranks[codes[row]];
        const uint32_t length = t.lengths[t.rows[row]];
        assert_u64(offsets[rank + 1] - offsets[rank], length);
        if (length != 0) assert_memory_equal(bytes + offsets[rank], t.texts[t.rows[row]], length);
    }
    /* Row by row, by ranks. */
    for (uint32_t row = 0; row < ROWS; row++)
        codes[row] = ranks[codes[row]];
    const wp_column key = {.type = WP_TYPE_UINT32, .values = codes, .valid = t.valid};
    const uint64_t size = wp_texts_gather_bytes(texts, &key, ROWS);
    char *gathered = malloc(size + 1);
    uint32_t *narrow = malloc((ROWS + 1) * sizeof *narrow);
    wp_texts_gather(texts, &key, ROWS, narrow, 4, gathered);
    assert_u64(narrow[ROWS], size);
    for (uint32_t row = 0; row < ROWS; row++) {
        const bool is_valid = (t.valid[row / 8] >> (row % 8) & 1) != 0;
        const uint32_t length = is_valid ? t.lengths[t.rows[row]] : 0;
        assert_u64(narrow[row + 1] - narrow[row], length);
        if (length != 0) assert_memory_equal(gathered + narrow[row], t.texts[t.rows[row]], length);
    }
    free(narrow);
    free(gathered);
    free(bytes);
    free(offsets);
    wpi_free(ranks);
    wp_texts_destroy(texts);
}

/* Each text is a prefix of the next: every 8 bytes sort out a few. */
static void prefixes_come_first(void **state) {
    (void)state;
    enum { COUNT = 3000 };
    char *bytes = calloc(COUNT, 1);
    int64_t *offsets = malloc((COUNT + 1) * sizeof *offsets);
    char *all = malloc((size_t)COUNT * COUNT / 2);
    uint32_t *ranks = NULL;
    wp_error err = {0};
    wp_texts *texts = NULL;
    int64_t at = 0;
    for (uint32_t i = 0; i < COUNT; i++) {
        offsets[i] = at;
        memcpy(all + at, bytes, i);
        at += i;
    }
    offsets[COUNT] = at;
    const void *buffer[] = {all};
    const wp_text_column column = {
        .layout = WP_TEXT_OFFSETS_64, .items = offsets, .buffers = buffer};
    assert_status_ok(wp_texts_create(1, &texts, &err), &err);
    assert_status_ok(wp_texts_encode(texts, &column, COUNT, codes, &err), &err);
    assert_status_ok(wpi_texts_sort(texts, &ranks, &err), &err);
    for (uint32_t i = 0; i < COUNT; i++)
        assert_int_equal(ranks[codes[i]], i);
    wpi_free(ranks);
    wp_texts_destroy(texts);
    free(all);
    free(offsets);
    free(bytes);
}

/* The first 21 bytes, then some more in each half. */
static void common_beginnings_are_skipped(void **state) {
    (void)state;
    enum { COUNT = 4000, LENGTH = 60 };
    char *bytes = malloc((size_t)COUNT * LENGTH);
    int64_t *offsets = malloc((COUNT + 1) * sizeof *offsets);
    uint32_t *ranks = NULL;
    wp_error err = {0};
    wp_texts *texts = NULL;
    for (uint32_t i = 0; i < COUNT; i++) {
        const uint32_t number = i * 2657 % COUNT; /* all, in another order */
        char text[LENGTH + 1];
        (void)snprintf(text, sizeof text, "https://example.com/a%c%030u%08u",
                       number < COUNT / 2 ? 'x' : 'y', 7u, number);
        offsets[i] = (int64_t)i * LENGTH;
        memcpy(bytes + offsets[i], text, LENGTH);
    }
    offsets[COUNT] = (int64_t)COUNT * LENGTH;
    const void *buffer[] = {bytes};
    const wp_text_column column = {
        .layout = WP_TEXT_OFFSETS_64, .items = offsets, .buffers = buffer};
    assert_status_ok(wp_texts_create(1, &texts, &err), &err);
    assert_status_ok(wp_texts_encode(texts, &column, COUNT, codes, &err), &err);
    assert_u64(wp_texts_count(texts), COUNT);
    assert_status_ok(wpi_texts_sort(texts, &ranks, &err), &err);
    for (uint32_t i = 0; i < COUNT; i++)
        assert_int_equal(ranks[codes[i]], i * 2657 % COUNT);
    wpi_free(ranks);
    wp_texts_destroy(texts);
    free(offsets);
    free(bytes);
}

static void dictionaries_are_translated(void **state) {
    (void)state;
    const uint32_t dictionary[] = {5, 9, 0};
    const int8_t indices[] = {1, 0, -1, 2, 7, 1};
    const int32_t wide[] = {1, 0, -1, 2, 7, 1};
    const uint8_t valid[] = {0x7e}; /* from the second bit on: row 5 is NULL */
    const uint32_t wanted[] = {9, 5, 0, 0, 0, 0};
    wp_error err = {0};
    uint32_t out[6];
    wp_column column = {.type = WP_TYPE_INT8, .values = indices, .valid = valid, .valid_offset = 2};
    assert_status_ok(wp_texts_translate(&column, 6, dictionary, 3, out, &err), &err);
    assert_memory_equal(out, wanted, sizeof out);
    column = (wp_column){.type = WP_TYPE_INT32, .values = wide};
    assert_status_ok(wp_texts_translate(&column, 6, dictionary, 3, out, &err), &err);
    assert_memory_equal(out, wanted, 5 * sizeof out[0]);
    assert_int_equal(out[5], 9);
    column.type = WP_TYPE_FLOAT32;
    assert_status_fails(wp_texts_translate(&column, 6, dictionary, 3, out, &err), WP_STATUS_INVALID,
                        &err, "float32");
}

static void damaged_offsets_are_refused(void **state) {
    (void)state;
    const int32_t offsets[] = {0, 3, 2, 4};
    const void *buffer[] = {"abcd"};
    wp_text_column column = {.items = offsets, .buffers = buffer};
    wp_error err = {0};
    wp_texts *texts = NULL;
    assert_status_ok(wp_texts_create(1, &texts, &err), &err);
    assert_status_fails(wp_texts_encode(texts, &column, 3, codes, &err), WP_STATUS_INVALID, &err,
                        "offsets");
    column.layout = (wp_text_layout)7;
    assert_status_fails(wp_texts_encode(texts, &column, 3, codes, &err), WP_STATUS_INVALID, &err,
                        "layout");
    wp_texts_destroy(texts);
}

static void texts_that_have_ended_are_still_read(void **state) {
    (void)state;
    const int32_t offsets[] = {0, 1, 21, 22};
    const void *buffer[] = {"baaaaaaaaaaaaaaaaaaaab"};
    const wp_text_column column = {.items = offsets, .buffers = buffer};
    char bytes[21] = {0};
    uint64_t ends[3];
    wp_error err = {0};
    wp_texts *texts = NULL;
    assert_status_ok(wp_texts_create(1, &texts, &err), &err);
    assert_status_ok(wp_texts_encode(texts, &column, 3, codes, &err), &err);
    wp_texts_end(texts);
    wp_texts_end(texts);
    assert_status_fails(wp_texts_encode(texts, &column, 3, codes, &err), WP_STATUS_INVALID, &err,
                        "wp_texts_end");
    assert_u64(wp_texts_count(texts), 2);
    assert_u64(wp_texts_bytes(texts), sizeof bytes);
    wp_texts_copy(texts, ends, bytes);
    assert_memory_equal(bytes, "baaaaaaaaaaaaaaaaaaaa", sizeof bytes);
    assert_u64(ends[1], 1);
    wp_texts_destroy(texts);
}

static void every_allocation_may_fail(void **state) {
    (void)state;
    draw(TEXTS);
    const void *buffer[] = {t.bytes};
    const wp_text_column column = column_of(WP_TEXT_OFFSETS_32, buffer, false);
    wp_status status = WP_STATUS_NOMEM;
    for (uint64_t n = 1; status != WP_STATUS_OK; n++) {
        wp_error err = {0};
        wp_texts *texts = NULL;
        uint32_t *ranks = NULL;
        wpi_alloc_fail_at(n);
        status = wp_texts_create(1, &texts, &err);
        if (status == WP_STATUS_OK) status = wp_texts_encode(texts, &column, ROWS, codes, &err);
        if (status == WP_STATUS_OK) status = wpi_texts_sort(texts, &ranks, &err);
        wpi_alloc_fail_at(0);
        assert_true(status == WP_STATUS_OK || status == WP_STATUS_NOMEM);
        wpi_free(ranks);
        wp_texts_destroy(texts);
    }
}

/* The order of decimals' texts is that of numbers, NULL is 0, and they come back. */
static void decimals_are_texts_in_their_order(void **state) {
    (void)state;
    enum { DECIMALS = 5000 };
    static uint64_t words[2 * DECIMALS], back[2 * DECIMALS];
    static uint32_t places[DECIMALS];
    static uint8_t valid[DECIMALS / 8 + 2];
    uint64_t seed = 3;
    wp_error err = {0};
    wp_texts *texts = NULL;
    for (uint32_t i = 0; i < DECIMALS; i++) {
        const uint64_t high = wp_random_next(&seed);
        words[2 * i] = i % 3 == 0 ? i : wp_random_next(&seed);
        words[2 * i + 1] = i % 4 == 0 ? 0 : i % 4 == 1 ? UINT64_MAX : high; /* small, negative */
    }
    for (uint32_t i = 0; i < sizeof valid; i++)
        valid[i] = (uint8_t)(wp_random_next(&seed) | wp_random_next(&seed));
    assert_status_ok(wp_texts_create(2, &texts, &err), &err);
    assert_status_ok(wp_texts_encode_decimals(texts, words, valid, 5, DECIMALS, codes, &err), &err);
    uint32_t *ranks = NULL;
    assert_status_ok(wpi_texts_sort(texts, &ranks, &err), &err);
    for (uint32_t i = 0; i < DECIMALS; i++) {
        const bool is_there = (valid[(i + 5) / 8] >> (i + 5) % 8 & 1) != 0;
        assert_int_equal(codes[i] != 0, is_there);
        places[i] = is_there ? ranks[codes[i]] : 0;
    }
    const wp_column column = {WP_TYPE_UINT32, places, valid, 5};
    wp_texts_gather_decimals(texts, &column, DECIMALS, back);
    for (uint32_t i = 0; i < DECIMALS; i++)
        for (uint32_t k = 0; k < 2; k++)
            assert_u64(back[2 * i + k], codes[i] != 0 ? words[2 * i + k] : 0);
    for (uint32_t i = 1; i < DECIMALS; i++) {
        if (codes[i] == 0 || codes[i - 1] == 0) continue;
        const int64_t a = (int64_t)words[2 * i - 1], b = (int64_t)words[2 * i + 1];
        const bool is_less = a != b ? a < b : words[2 * i - 2] < words[2 * i];
        const bool is_equal = a == b && words[2 * i - 2] == words[2 * i];
        assert_int_equal(places[i - 1] < places[i], is_less);
        assert_int_equal(codes[i - 1] == codes[i], is_equal);
    }
    wpi_free(ranks);
    wp_texts_destroy(texts);
}

static void bits_are_bytes_and_back(void **state) {
    (void)state;
    const uint8_t bits[] = {0xa5, 0x3c, 0x01};
    uint8_t bytes[14], back[2];
    wp_bits_expand(bits, 3, 14, bytes);
    for (uint32_t i = 0; i < 14; i++)
        assert_int_equal(bytes[i], bits[(i + 3) / 8] >> ((i + 3) % 8) & 1);
    wp_bits_pack(bytes, 14, back);
    assert_int_equal(back[0], (uint8_t)(bits[0] >> 3 | bits[1] << 5));
    assert_int_equal(back[1], (uint8_t)(bits[1] >> 3 | bits[2] << 5) & 0x3f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_texts_have_equal_codes_in_every_layout),
        cmocka_unit_test(ranks_are_in_order_of_bytes),
        cmocka_unit_test(prefixes_come_first),
        cmocka_unit_test(common_beginnings_are_skipped),
        cmocka_unit_test(dictionaries_are_translated),
        cmocka_unit_test(damaged_offsets_are_refused),
        cmocka_unit_test(texts_that_have_ended_are_still_read),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(bits_are_bytes_and_back),
        cmocka_unit_test(decimals_are_texts_in_their_order),
    };
    const int failed = wp_test_main(tests);
    free(t.bytes);
    return failed;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Curves in text: what is read off them, and what is refused. */
#include <math.h>

#include "base/alloc.h"
#include "base/text.h"
#include "probe/curves.h"
#include "probe/infer/hierarchy.h"
#include "probe/infer/sharing.h"
#include "wp_random.h"
#include "wp_test.h"

#define PAGE_KB 128u
#define ENTRIES 32u

/* A level of ENTRIES pages and 40 cycles, of so many sets, as its chase would show it. */
static double cycles_at(double mb, uint32_t stride_kb, uint32_t sets) {
    const double loads = mb * 1024 / stride_kb;
    const double pages = stride_kb < PAGE_KB ? mb * 1024 / PAGE_KB : loads;
    const double over = pages - ENTRIES;
    if (over <= 0) return 200;
    const double missing = over < sets ? over * (ENTRIES / sets + 1) : pages;
    return 200 + 40 * missing / loads;
}

static void write_curves(wpi_text *out, uint32_t sets, const uint32_t strides[3]) {
    wpi_text_append(out, "#made here\n#");
    for (int i = 0; i < 3; i++)
        wpi_text_appendf(out, ",%u", 64u << i);
    wpi_text_append(out, ",\n");
    for (double mb = 1; mb <= 16; mb += 0.125) {
        wpi_text_appendf(out, "%g", mb);
        for (int i = 0; i < 3; i++)
            wpi_text_appendf(out, ",%.0f", cycles_at(mb, strides[i], sets));
        wpi_text_append(out, ",\n");
    }
}

static wp_status infer(const char *path, const char *text, wpi_hierarchy **out, wp_error *err) {
    wpi_curves *curves = wpi_calloc(1, sizeof *curves);
    assert_non_null(curves);
    *out = NULL;
    wp_status status = wpi_curves_parse(curves, path, text, err);
    if (status == WP_STATUS_OK) status = wpi_curves_infer(curves, out, err);
    wpi_curves_destroy(curves);
    return status;
}

static const uint32_t in_order[3] = {64, 128, 256};

static void a_step_gives_page_entries_and_delay(void **state) {
    (void)state;
    wpi_text text = {0};
    wpi_hierarchy *h = NULL;
    wp_error err = {0};
    write_curves(&text, 1, in_order);
    assert_status_ok(infer("made.csv", wpi_text_string(&text), &h, &err), &err);
    assert_u64(h->level_count, 1);
    const wpi_level *l = &h->levels[0];
    assert_near(l->page_bytes.value, PAGE_KB * 1024.0, 0);
    assert_near(l->entries.value, ENTRIES, 0);
    assert_near(l->miss_cycles.value, 40, 0.01);
    assert_near(h->base_cycles.value, 200, 0);
    assert_false(l->sets.is_known);
    assert_contains(l->sets.reason, "no ramp");
    wpi_hierarchy_destroy(h);
    wpi_text_deinit(&text);
}

static void a_ramp_gives_sets_and_ways(void **state) {
    (void)state;
    wpi_text text = {0};
    wpi_hierarchy *h = NULL;
    wp_error err = {0};
    write_curves(&text, 8, in_order);
    assert_status_ok(infer("made.csv", wpi_text_string(&text), &h, &err), &err);
    assert_u64(h->level_count, 1);
    assert_near(h->levels[0].entries.value, ENTRIES, 0);
    assert_near(h->levels[0].sets.value, 8, 0);
    assert_near(h->levels[0].ways.value, 4, 0);
    wpi_hierarchy_destroy(h);
    wpi_text_deinit(&text);
}

static void assert_refused(const char *path, const char *text, const char *part) {
    wpi_hierarchy *h = NULL;
    wp_error err = {0};
    const wp_status status = infer(path, text, &h, &err);
    if (status == WP_STATUS_OK) fail_msg("'%s' is not refused", text);
    assert_null(h);
    assert_contains(err.message, part);
}

static void swapped_columns_are_refused(void **state) {
    (void)state;
    static const uint32_t orders[][3] = {{256, 128, 64}, {128, 64, 256}, {64, 256, 128}};
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
        wpi_text text = {0};
        write_curves(&text, 1, orders[i]);
        assert_refused("made.csv", wpi_text_string(&text), "columns swapped");
        wpi_text_deinit(&text);
    }
    assert_refused("made.csv", "#,128,64,\n1,200,200,\n2,200,200,\n", "columns swapped");
}

static void a_file_that_is_cut_short_is_refused(void **state) {
    (void)state;
    assert_refused("made.csv", "#,64,128,\n1,200,200,\n1.5,20", "1 of 2 columns");
    assert_refused("made.csv", "#,64,128,\n1,200,200,\n", "1 rows, but a curve needs at least 2");
    assert_refused("made.csv", "", "made.csv: the file is empty");
    assert_refused("TLBsharing-128-16.txt", "#   000 001\n000 284 276\n", "1 of 2 rows");
    assert_refused("TLBsharing-128-16.txt", "#   000 001\n000 284\n", "1 of 2 cycles");
}

static void constant_times_tell_nothing(void **state) {
    (void)state;
    wpi_text text = {0};
    wpi_text_append(&text, "#,64,128,\n");
    for (int i = 1; i < 50; i++)
        wpi_text_appendf(&text, "%d,241,241,\n", i);
    assert_refused("made.csv", wpi_text_string(&text), "no curve rises");
    wpi_text_deinit(&text);
}

static void what_is_no_number_is_refused_with_its_line(void **state) {
    (void)state;
    assert_refused("made.csv", "#,64,\n1,nan,\n2,3,\n", "made.csv:2: 'nan' is not a number");
    assert_refused("made.csv", "#,64,\n1,-5,\n2,3,\n", "is not a number of cycles");
    assert_refused("made.csv", "#,64,\n1,1e300,\n2,3,\n", "is not a number of cycles");
    assert_refused("made.csv", "1,5,\n2,3,\n", "no header of strides");
    assert_refused("made.csv", "#,x,\n1,5,\n", "is not a stride in KB");
    assert_refused("made.csv", "#,64,\n1,5,7,\n", "more than 1 columns");
    assert_refused("TLBsharing.txt", "#   000\n000 284\n", "TLBsharing-STRIDE_KB-PAGES.txt");
    assert_refused("TLBsharing-128-16.txt", "#   000 001\n001 284 276\n",
                   "expected the row of SM 0");
}

/* Spreadsheets and other programs write the same columns in these ways. */
static void separators_blanks_quotes_and_a_byte_order_mark_are_read(void **state) {
    (void)state;
    static const struct {
        const char *mark, *before, *between;
    } ways[] = {{"\xef\xbb\xbf", "", ","}, {"", "", "\t"},      {"", "", ";"},
                {"", " ", " , "},          {"", "\"", "\",\""}, {"\xef\xbb\xbf", "\"", "\" ; \""}};
    wpi_text good = {0};
    write_curves(&good, 8, in_order);
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        wpi_text text = {0};
        wpi_hierarchy *h = NULL;
        wp_error err = {0};
        bool is_start = true;
        wpi_text_append(&text, ways[i].mark);
        for (const char *at = wpi_text_string(&good); *at != '\0'; at++) {
            const bool is_end = *at == '\n';
            if (is_start) wpi_text_append(&text, ways[i].before);
            if (is_end) wpi_text_append(&text, ways[i].before);
            if (*at == ',')
                wpi_text_append(&text, ways[i].between);
            else
                wpi_text_appendf(&text, "%c", *at);
            is_start = is_end;
        }
        assert_status_ok(infer("made.csv", wpi_text_string(&text), &h, &err), &err);
        assert_u64(h->level_count, 1);
        assert_near(h->levels[0].entries.value, ENTRIES, 0);
        assert_near(h->levels[0].sets.value, 8, 0);
        wpi_hierarchy_destroy(h);
        wpi_text_deinit(&text);
    }
    wpi_text_deinit(&good);
    assert_refused("made.csv", "#;64;128\n1;200,5;200\n2;200;200\n", "decimals with a point");
    assert_refused("made.csv", "#,64,128\n1;200;200\n2;200;200\n", "the header has commas");
    assert_refused("made.csv", "#,64,128\n1,2 00,200\n2,200,200\n", "1 of 2 columns");
}

/* Whatever is changed in a file, it is read or refused, and nothing else happens. */
static void damaged_files_do_no_harm(void **state) {
    (void)state;
    uint64_t random = 4711;
    wpi_text good = {0};
    write_curves(&good, 8, in_order);
    char *text = malloc(good.length + 1);
    assert_non_null(text);
    print_message("seed 4711\n");
    for (int i = 0; i < 3000; i++) {
        static const char bytes[] = "0123456789,.-#e \n\r\tx";
        memcpy(text, wpi_text_string(&good), good.length + 1);
        const uint64_t changes = wp_random_next(&random) % 12;
        for (uint64_t k = 0; k < changes; k++)
            text[wp_random_next(&random) % good.length] =
                bytes[wp_random_next(&random) % (sizeof bytes - 1)];
        text[wp_random_next(&random) % good.length] = i % 3 == 0 ? '\0' : '1';
        wpi_hierarchy *h = NULL;
        wp_error err = {0};
        const bool is_matrix = i % 7 == 0;
        const wp_status status =
            infer(is_matrix ? "TLBsharing-2048-65.txt" : "made.csv", text, &h, &err);
        assert_true(status == WP_STATUS_OK || err.message[0] != '\0');
        wpi_hierarchy_destroy(h);
    }
    free(text);
    wpi_text_deinit(&good);
}

/* ---- as people measure ---- */

typedef enum flaw { SHUFFLED = 1, REPEATED = 2, GAPS = 4, OUTLIERS = 8, NOISE = 16 } flaw;

static uint64_t below(uint64_t *random, uint64_t count) {
    return (wp_random_next(random) >> 20) % count;
}

/* Standard deviation 1: the sum of twelve uniform numbers. */
static double normal(uint64_t *random) {
    double sum = -6;
    for (int i = 0; i < 12; i++)
        sum += (double)(wp_random_next(random) >> 11) / (double)((uint64_t)1 << 53);
    return sum;
}

static double measured(double cycles, unsigned flaws, uint64_t *random) {
    if ((flaws & NOISE) != 0) cycles += 2 * normal(random);
    if ((flaws & OUTLIERS) != 0 && below(random, 50) == 0) cycles *= 1.5 + (double)below(random, 3);
    return cycles;
}

/* Rows from 1 to 16 MB; each twice if REPEATED. */
static void write_flawed(wpi_text *out, unsigned flaws, uint64_t *random) {
    enum { ROWS = 121 };
    uint32_t order[2 * ROWS], count = 0;
    for (uint32_t i = 0; i < ((flaws & REPEATED) != 0 ? 2 : 1) * ROWS; i++)
        if ((flaws & GAPS) == 0 || below(random, 4) != 0) order[count++] = i % ROWS;
    for (uint32_t i = count; i > 1 && (flaws & SHUFFLED) != 0; i--) {
        const uint64_t other = below(random, i);
        const uint32_t last = order[i - 1];
        order[i - 1] = order[other];
        order[other] = last;
    }
    wpi_text_append(out, "#,64,128,256,\n");
    for (uint32_t i = 0; i < count; i++) {
        const double mb = 1 + order[i] * 0.125;
        wpi_text_appendf(out, "%g", mb);
        for (int k = 0; k < 3; k++)
            wpi_text_appendf(out, ",%.1f", measured(cycles_at(mb, in_order[k], 1), flaws, random));
        wpi_text_append(out, ",\n");
    }
}

static bool is_read(const wpi_hierarchy *h) {
    return h->level_count == 1 && h->levels[0].page_bytes.is_known;
}

/* Curves in any order, repeated, with gaps and outliers are read as without them, the entries to as
 * many pages as gaps have; with noise nearly always, and what is unknown is said to be so. */
static void flaws_of_measurements_change_nothing(void **state) {
    (void)state;
    uint64_t random = 4712;
    int unread = 0;
    print_message("seed 4712\n");
    for (int round = 0; round < 200; round++) {
        const unsigned flaws = (unsigned)below(&random, 32);
        wpi_text text = {0};
        wpi_hierarchy *h = NULL;
        wp_error err = {0};
        write_flawed(&text, flaws, &random);
        assert_status_ok(infer("made.csv", wpi_text_string(&text), &h, &err), &err);
        unread += !is_read(h);
        if (!is_read(h) && (flaws & NOISE) == 0)
            fail_msg("round %d, flaws %u: %u levels", round, flaws, h->level_count);
        for (uint32_t i = 0; i < h->level_count; i++) {
            const wpi_level *l = &h->levels[i];
            if (!l->page_bytes.is_known) continue;
            if (l->page_bytes.value != PAGE_KB * 1024.0 || fabs(l->miss_cycles.value - 40) > 2 ||
                fabs(l->entries.value - ENTRIES) > ((flaws & NOISE) != 0 ? 8 : 4))
                fail_msg("round %d, flaws %u: %g bytes, %g entries, %g cycles", round, flaws,
                         l->page_bytes.value, l->entries.value, l->miss_cycles.value);
            if (l->entries.value != ENTRIES) assert_true(l->entries.confidence <= 0.5);
        }
        wpi_hierarchy_destroy(h);
        wpi_text_deinit(&text);
    }
    if (unread > 20) fail_msg("%d of 200 curves are not read", unread);
}

/* Groups of a random size in a matrix with noise, of which some cells are off. */
static void a_matrix_is_read_by_majority(void **state) {
    (void)state;
    enum { SMS = 24 };
    uint64_t random = 4713;
    print_message("seed 4713\n");
    for (int round = 0; round < 200; round++) {
        const uint32_t groups = 1 + (uint32_t)below(&random, 8);
        double cycles[SMS * SMS];
        wpi_sharing_groups found;
        for (uint32_t a = 0; a < SMS; a++) {
            const double row = 280 + 20 * normal(&random);
            for (uint32_t b = 0; b < SMS; b++) {
                const bool is_shared = a % groups == b % groups;
                cycles[a * SMS + b] = row + (is_shared ? 40 : 0) + 2 * normal(&random);
                if (below(&random, 64) == 0) cycles[a * SMS + b] *= 1.5;
            }
        }
        wpi_sharing_from_matrix(cycles, SMS, 40, &found);
        if (!found.count.is_known) fail_msg("round %d: %s", round, found.count.reason);
        assert_near(found.count.value, groups, 0);
        for (uint32_t sm = 0; sm < SMS; sm++)
            assert_u64(found.group_of[sm], sm % groups);
    }
}

/* Where cells are by chance, no groups are stated. */
static void a_matrix_of_chance_has_no_groups(void **state) {
    (void)state;
    enum { SMS = 24 };
    uint64_t random = 4714;
    double cycles[SMS * SMS];
    wpi_sharing_groups found;
    for (uint32_t i = 0; i < SMS * SMS; i++)
        cycles[i] = 280 + (below(&random, 2) != 0 ? 40 : 0);
    wpi_sharing_from_matrix(cycles, SMS, 40, &found);
    assert_false(found.count.is_known);
    assert_contains(found.count.reason, "contradict");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_step_gives_page_entries_and_delay),
        cmocka_unit_test(a_ramp_gives_sets_and_ways),
        cmocka_unit_test(swapped_columns_are_refused),
        cmocka_unit_test(a_file_that_is_cut_short_is_refused),
        cmocka_unit_test(constant_times_tell_nothing),
        cmocka_unit_test(separators_blanks_quotes_and_a_byte_order_mark_are_read),
        cmocka_unit_test(what_is_no_number_is_refused_with_its_line),
        cmocka_unit_test(damaged_files_do_no_harm),
        cmocka_unit_test(flaws_of_measurements_change_nothing),
        cmocka_unit_test(a_matrix_is_read_by_majority),
        cmocka_unit_test(a_matrix_of_chance_has_no_groups),
    };
    return wp_test_main(tests);
}

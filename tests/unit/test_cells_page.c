/* SPDX-License-Identifier: Apache-2.0 */
/* Runs side by side: what has a panel, the order of kernels and lines, names as text. */
#include "study/cells_page.h"

#include <string.h>

#include "wp_test.h"

#define EVIL "<script>alert(1)</script> \"k\"\nsecond"

typedef struct fixture {
    wp_run_column columns[2];
    uint64_t values[2];
    wp_run_line lines[2];
    wp_run_simulation simulation;
    wp_run_kernel kernels[2];
    wp_run_record record;
} fixture;

static void make(fixture *f, uint64_t time_ns, uint64_t walks) {
    static char evil[] = EVIL, fast[] = "fast()", file[] = "/nowhere/a.cu", none[] = "";
    static char walker[] = "walker_walks", faults[] = "paging_far_faults", unit[] = "x";
    *f = (fixture){.columns = {{walker, unit, false, 0}, {faults, unit, false, 1}},
                   .values = {walks, 7},
                   .lines = {{evil, file, none, none, 3, {0}}, {evil, file, none, none, 5, {0}}},
                   .kernels = {{.name = evil, .display_name = evil, .time_ns = time_ns},
                               {.name = fast, .display_name = fast, .time_ns = 10}}};
    f->lines[0].counts[WP_RUN_LINE_DRAM_PS] = 1000;
    f->lines[1].counts[WP_RUN_LINE_TRANSLATION_PS] = 1000 * time_ns;
    f->simulation = (wp_run_simulation){.columns = f->columns,
                                        .column_count = 2,
                                        .values = f->values,
                                        .value_count = 2,
                                        .lines = f->lines,
                                        .line_count = 2};
    f->record =
        (wp_run_record){.kernels = f->kernels, .kernel_count = 2, .simulation = &f->simulation};
}

static void numbers_that_differ_have_panels_and_names_are_text(void **state) {
    (void)state;
    fixture a, b;
    wpi_text out = {0};
    make(&a, 1000, 50);
    make(&b, 4000, 100);
    const wpi_cell cells[] = {{"<b>first</b>", &a.record}, {"second", &b.record}};
    wpi_cells_html(cells, 2, &out);
    const char *page = wpi_text_string(&out);
    assert_contains(page, "<figcaption>kernel time</figcaption>");
    assert_contains(page, "<rect class=least width=\"50\" height=1 /></svg></td><td class=n>50<");
    assert_true(strstr(page, "far faults") == NULL); /* as many in both */
    assert_true(strstr(page, "<script") == NULL && strstr(page, "<b>") == NULL);
    assert_contains(page, "4.00 us <small>×4.00</small>");
    const char *line5 = strstr(page, "a.cu:5</th>"), *line3 = strstr(page, "a.cu:3</th>");
    assert_true(line5 != NULL && line3 != NULL && line5 < line3); /* differs most */
    assert_contains(line5, "<td class=text>translation</td>");
    wpi_text_deinit(&out);
}

static void one_run_has_nothing_beside_it(void **state) {
    (void)state;
    fixture a;
    wpi_text out = {0};
    make(&a, 1000, 50);
    const wpi_cell cell = {"one", &a.record};
    wpi_cells_html(&cell, 1, &out);
    assert_u64(out.length, 0);
}

static void more_runs_than_columns_are_counted(void **state) {
    (void)state;
    fixture f[30];
    wpi_cell cells[30];
    wpi_text out = {0};
    for (size_t i = 0; i < 30; i++) {
        make(&f[i], 1000 + 100 * i, 50);
        cells[i] = (wpi_cell){"cell", &f[i].record};
    }
    wpi_cells_html(cells, 30, &out);
    assert_contains(wpi_text_string(&out), "… and 6 more cells, in the table.");
    assert_contains(wpi_text_string(&out),
                    "… and 22 more cells: these tables have the first ones.");
    wpi_text_deinit(&out);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_that_differ_have_panels_and_names_are_text),
        cmocka_unit_test(one_run_has_nothing_beside_it),
        cmocka_unit_test(more_runs_than_columns_are_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

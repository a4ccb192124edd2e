/* SPDX-License-Identifier: Apache-2.0 */
/* The published curves of the K80 give the levels, pages and delays of Table 2 of Karnagel et al.
 * They are not part of this tree: skipped unless WARPAGE_TLB_MEASURED names the folder that has
 * them. */
#include <math.h>

#include "base/file.h"
#include "base/strings.h"
#include "probe/infer/hierarchy.h"
#include "wp_test.h"

#define SKIPPED 77
#define KIB 1024.0
#define MIB (1024.0 * KIB)

static wpi_hierarchy *h;

static void assert_level(uint32_t number, double entries, double page_bytes, double cycles,
                         double groups) {
    const wpi_level *l = &h->levels[number];
    assert_true(l->entries.is_known && l->page_bytes.is_known && l->miss_cycles.is_known);
    assert_near(l->entries.value, entries, 0);
    assert_near(l->page_bytes.value, page_bytes, 0);
    assert_near(l->miss_cycles.value, cycles, 0.03);
    assert_near(l->sharing.count.value, groups, 0);
}

/* The second level's step lies at 71 pages, where its ramp ends; Table 2 says 65. */
static void k80_curves_give_table_2(void **state) {
    (void)state;
    assert_u64(h->level_count, 3);
    assert_level(0, 16, 128 * KIB, 9, 13);
    assert_level(1, 71, 2 * MIB, 55, 5);
    assert_level(2, 1032, 2 * MIB, 177, 1);
    assert_contains(h->levels[1].entries.reason, "sets of fewer entries");
    assert_near(h->levels[2].sets.value, 129, 0);
    assert_near(h->levels[2].ways.value, 8, 0);
    assert_near(h->base_cycles.value, 241, 0.005);
}

static void the_disabled_sms_are_10_and_11(void **state) {
    (void)state;
    wpi_text text = {0};
    wpi_sharing_text(&h->levels[1].sharing, &text);
    assert_string_equal(wpi_text_string(&text), "0,5 | 1,6 | 2,7,10 | 3,8,11 | 4,9,12");
    assert_u64(h->missing_count, 2);
    assert_u64(h->missing_sms[0], 10);
    assert_u64(h->missing_sms[1], 11);
    wpi_text_deinit(&text);
}

int main(void) {
    static const char *const files[] = {
        "TLB-Test-1-5-64-256.csv",          "TLB-Test-48-300-1024-4096.csv",
        "TLB-Test-1500-5000-1024-4096.csv", "TLBsharing-128-16.txt",
        "TLBsharing-2048-65.txt",           "TLBsharing-2048-1032.txt"};
    const char *folder = getenv("WARPAGE_TLB_MEASURED");
    if (folder == NULL) return SKIPPED;
    wpi_strings paths = {0};
    wpi_curves *curves = NULL;
    wp_error err = {0};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        wpi_strings_add_take(&paths, wpi_path_join(folder, files[i]));
    wp_status status = wpi_curves_load(wpi_strings_argv(&paths), paths.count, &curves, &err);
    if (status == WP_STATUS_OK) status = wpi_curves_infer(curves, &h, &err);
    if (status != WP_STATUS_OK) fprintf(stderr, "%s\n", err.message);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(k80_curves_give_table_2),
        cmocka_unit_test(the_disabled_sms_are_10_and_11),
    };
    const int failed = status == WP_STATUS_OK ? wp_test_main(tests) : 1;
    wpi_curves_destroy(curves);
    wpi_hierarchy_destroy(h);
    wpi_strings_deinit(&paths);
    return failed;
}

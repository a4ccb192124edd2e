/* SPDX-License-Identifier: Apache-2.0 */
/* Published GPUs: Table 2 of Karnagel et al. from the profiles' TLBs, the eleven patterns of
 * Appendix A, the exchanged TPCs of Appendix B; and profiles written from what was found. */
#include "probe/infer/disabled_sms.h"
#include "probe/infer/hierarchy.h"
#include "probe/infer/sharing.h"
#include "sim/profile/profile.h"
#include "wp_test.h"

#include "tlb_profile.h"

#define KIB 1024.0
#define MIB (1024.0 * KIB)

static model probed;

static wpi_hierarchy *probe(const char *name, double noise_cycles) {
    wpi_profile *profile = NULL;
    wp_error err = {0};
    assert_status_ok(wpi_profile_load(name, NULL, 0, &profile, &err), &err);
    model_from_profile(profile, &probed);
    probed.noise_cycles = noise_cycles;
    wpi_profile_destroy(profile);
    return model_infer(&probed, 7);
}

static void assert_level(const wpi_level *l, double entries, double page_bytes, double cycles,
                         double groups) {
    assert_true(l->entries.is_known && l->page_bytes.is_known && l->miss_cycles.is_known);
    assert_near(l->entries.value, entries, 0);
    assert_near(l->page_bytes.value, page_bytes, 0);
    assert_near(l->reach_bytes.value, entries * page_bytes, 0);
    assert_true(fabs(l->miss_cycles.value - cycles) < 0.5);
    assert_near(l->sharing.count.value, groups, 0);
}

static void k80_gives_table_2(void **state) {
    (void)state;
    for (double noise = 0; noise <= 2; noise += 2) {
        wpi_hierarchy *h = probe("k80", noise);
        assert_u64(h->level_count, 3);
        assert_level(&h->levels[0], 16, 128 * KIB, 9, 13);
        assert_level(&h->levels[1], 65, 2 * MIB, 55, 5);
        assert_level(&h->levels[2], 1032, 2 * MIB, 177, 1);
        assert_near(h->levels[1].fill_pages.value, 16, 0);
        assert_contains(h->levels[1].page_bytes.reason, "product");
        assert_near(h->levels[2].sets.value, 129, 0);
        assert_near(h->levels[2].ways.value, 8, 0);
        assert_near(h->levels[2].plateau_bytes.value, 1161 * 2 * MIB, 0);
        assert_u64(h->missing_count, 2);
        assert_u64(h->missing_sms[0], 10);
        assert_u64(h->missing_sms[1], 11);
        wpi_hierarchy_destroy(h);
    }
}

static void p100_gives_table_2(void **state) {
    (void)state;
    wpi_hierarchy *h = probe("p100", 2);
    assert_u64(h->level_count, 2);
    assert_level(&h->levels[0], 16, 2 * MIB, 9, 28);
    assert_level(&h->levels[1], 65, 32 * MIB, 110, 6);
    assert_u64(h->missing_count, 4);
    for (uint32_t i = 0; i < 4; i++)
        assert_u64(h->missing_sms[i], 44 + i);
    wpi_hierarchy_destroy(h);
}

static void unequal_sets_of_the_k80_are_found(void **state) {
    (void)state;
    wpi_hierarchy *h = probe("k80-sets", 0);
    const wpi_level *l = &h->levels[1];
    assert_u64(l->way_group_count, 2);
    assert_u64(l->way_groups[0].count, 1);
    assert_u64(l->way_groups[0].ways, 17);
    assert_u64(l->way_groups[1].count, 6);
    assert_u64(l->way_groups[1].ways, 8);
    wpi_hierarchy_destroy(h);
}

/* ---- sharing matrices ---- */

/* Groups of a chip whose units take turns, with units missing and two exchanged; rows of a matrix
 * differ as those of a GPU do, with noise. */
static void draw_matrix(uint32_t units, uint32_t groups, uint32_t unit_sms, const uint32_t *missing,
                        uint32_t missing_count, const uint32_t *swapped, double *cycles,
                        uint32_t *sms) {
    uint32_t group_of[WPI_PROBE_SMS_MAX], count = 0;
    uint64_t random = 99;
    for (uint32_t place = 0; place < units; place++) {
        bool is_missing = false;
        for (uint32_t i = 0; i < missing_count; i++)
            is_missing |= missing[i] == place;
        uint32_t from = place;
        if (swapped != NULL && place == swapped[0]) from = swapped[1];
        if (swapped != NULL && place == swapped[1]) from = swapped[0];
        for (uint32_t k = 0; k < unit_sms && !is_missing; k++)
            group_of[count++] = from % groups;
    }
    *sms = count;
    for (uint32_t a = 0; a < count; a++)
        for (uint32_t b = 0; b < count; b++)
            cycles[a * count + b] = 270 + 3 * (a % 7) + (group_of[a] == group_of[b] ? 55 : 0) +
                                    2 * model_normal(&random);
}

static double matrix[64 * 64];

static void each_pattern_of_appendix_a_is_recovered(void **state) {
    (void)state;
    static const uint32_t patterns[11][2] = {{10, 11}, {10, 13}, {10, 12}, {10, 14},
                                             {12, 14}, {11, 14}, {11, 12}, {13, 14},
                                             {11, 13}, {12, 13}, {5, 10}};
    for (uint32_t i = 0; i < 11; i++) {
        uint32_t sms = 0;
        wpi_sharing_groups groups;
        wpi_missing missing;
        draw_matrix(15, 5, 1, patterns[i], 2, NULL, matrix, &sms);
        wpi_sharing_from_matrix(matrix, sms, 55, &groups);
        assert_true(groups.count.is_known);
        assert_near(groups.count.value, 5, 0);
        assert_true(wpi_floorplan_missing(&groups, 1, &missing));
        assert_u64(missing.count, 2);
        assert_u64(missing.sms[0], patterns[i][0]);
        assert_u64(missing.sms[1], patterns[i][1]);
    }
}

static void exchanged_tpcs_of_appendix_b_are_recovered(void **state) {
    (void)state;
    static const uint32_t absent[2] = {22, 23};
    for (uint32_t other = 28; other < 30; other++) {
        const uint32_t swapped[2] = {27, other};
        uint32_t sms = 0;
        wpi_sharing_groups groups;
        wpi_missing missing;
        draw_matrix(30, 6, 2, absent, 2, swapped, matrix, &sms);
        assert_u64(sms, 56);
        wpi_sharing_from_matrix(matrix, sms, 55, &groups);
        assert_true(wpi_floorplan_missing(&groups, 2, &missing));
        assert_u64(missing.count, 4);
        assert_u64(missing.sms[0], 44);
        assert_u64(missing.sms[3], 47);
        assert_true(missing.is_swapped);
        assert_u64(missing.swapped[0], 54);
        assert_u64(missing.swapped[1], 2 * other);
    }
}

/* One cell is outvoted; where pairs of many SMs disagree, no groups are stated. */
static void contradictions_of_a_matrix_are_said(void **state) {
    (void)state;
    uint32_t sms = 0;
    wpi_sharing_groups groups;
    draw_matrix(15, 5, 1, NULL, 0, NULL, matrix, &sms);
    matrix[3 * sms + 8] -= 55;
    wpi_sharing_from_matrix(matrix, sms, 55, &groups);
    assert_true(groups.count.is_known);
    assert_near(groups.count.value, 5, 0);
    assert_true(groups.count.confidence < 1);
    assert_contains(groups.count.reason, "2 say nothing");
    for (uint32_t sm = 0; sm + 1 < sms; sm += 2) {
        matrix[sm * sms + sm + 1] += 55;
        matrix[(sm + 1) * sms + sm] += 55;
    }
    wpi_sharing_from_matrix(matrix, sms, 55, &groups);
    assert_false(groups.count.is_known);
    assert_contains(groups.count.reason, "contradict");
}

/* ---- profiles ---- */

static void assert_same_number(const wpi_number *a, const wpi_number *b) {
    assert_u64(a->is_known, b->is_known);
    assert_near(a->value, b->value, 0);
}

static void a_written_profile_is_probed_as_the_same(void **state) {
    (void)state;
    static const char *const names[] = {"k80", "p100", "k80-sets", "a100"};
    static const char *const bases[] = {"p100", "k80", "p100", "a100"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        wpi_hierarchy *h = probe(names[i], 0);
        wpi_text text = {0};
        wp_error err = {0};
        wpi_profile *profile = NULL;
        assert_status_ok(wpi_profile_write(h, bases[i], "written", &text, &err), &err);
        assert_status_ok(
            wpi_profile_parse(wpi_text_string(&text), "written", NULL, 0, &profile, &err), &err);
        model_from_profile(profile, &probed);
        wpi_hierarchy *again = model_infer(&probed, 3);
        assert_u64(again->level_count, h->level_count);
        for (uint32_t k = 0; k < h->level_count; k++) {
            assert_same_number(&again->levels[k].entries, &h->levels[k].entries);
            assert_same_number(&again->levels[k].page_bytes, &h->levels[k].page_bytes);
            assert_same_number(&again->levels[k].fill_bytes, &h->levels[k].fill_bytes);
            assert_same_number(&again->levels[k].sets, &h->levels[k].sets);
            assert_same_number(&again->levels[k].sharing.count, &h->levels[k].sharing.count);
            assert_memory_equal(again->levels[k].sharing.group_of, h->levels[k].sharing.group_of,
                                h->sm_count * sizeof(uint32_t));
        }
        wpi_profile_destroy(profile);
        wpi_hierarchy_destroy(h);
        wpi_hierarchy_destroy(again);
        wpi_text_deinit(&text);
    }
}

static void what_is_unknown_is_not_written(void **state) {
    (void)state;
    wpi_hierarchy *h = probe("k80", 0);
    wpi_text text = {0};
    wp_error err = {0};
    h->levels[1].entries.is_known = false;
    assert_status_fails(wpi_profile_write(h, "k80", "none", &text, &err), WP_STATUS_INVALID, &err,
                        "L2: a profile needs the entries");
    h->level_count = 0;
    assert_status_fails(wpi_profile_write(h, "k80", "none", &text, &err), WP_STATUS_INVALID, &err,
                        "nothing to write");
    wpi_hierarchy_destroy(h);
    wpi_text_deinit(&text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(k80_gives_table_2),
        cmocka_unit_test(p100_gives_table_2),
        cmocka_unit_test(unequal_sets_of_the_k80_are_found),
        cmocka_unit_test(each_pattern_of_appendix_a_is_recovered),
        cmocka_unit_test(exchanged_tpcs_of_appendix_b_are_recovered),
        cmocka_unit_test(contradictions_of_a_matrix_are_said),
        cmocka_unit_test(a_written_profile_is_probed_as_the_same),
        cmocka_unit_test(what_is_unknown_is_not_written),
    };
    return wp_test_main(tests);
}

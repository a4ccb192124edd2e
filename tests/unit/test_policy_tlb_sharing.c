/* SPDX-License-Identifier: Apache-2.0 */
/* Whom a TLB asks that misses (NeiDty, Sections III-B and III-C), and whether it keeps the answer.
 */
#include "policy/tlb_sharing.h"

#include "wp_test.h"

static const wpi_tlb_sharing_ops *ops_of(const char *name) {
    const wpi_policy *policy = NULL;
    wp_error err = {0};
    assert_status_ok(wpi_policy_find("tlb_sharing", name, &policy, &err), &err);
    return policy->ops;
}

static int32_t next(const char *name, uint32_t tlbs, uint32_t neighbours, int32_t asked,
                    uint64_t holders) {
    const wpi_tlb_sharing_question question = {
        .tlbs = tlbs, .neighbours = neighbours, .asked = asked, .holders = holders};
    return ops_of(name)->next(&question);
}

static bool stores(const char *name, uint32_t hits) {
    const wpi_tlb_sharing_answer answer = {.hits = hits, .threshold = 2};
    return ops_of(name)->stores(&answer);
}

static void bits_are_neighbours_from_the_nearest_on_left_first(void **state) {
    (void)state;
    const int32_t offsets[] = {-1, 1, -2, 2, -3, 3};
    for (uint32_t bit = 0; bit < 6; bit++)
        assert_int_equal(wpi_tlb_sharing_offset(bit), offsets[bit]);
}

/* "If both neighboring TLBs have the corresponding physical address, the local TLB would access
 * left TLB"; who has it no longer is a matter for the next level. */
static void neidty_asks_whom_the_directory_names_once(void **state) {
    (void)state;
    static const char *const names[] = {"neidty", "neidty-exclusive", "neidty-twice"};
    for (size_t i = 0; i < 3; i++) {
        assert_true(ops_of(names[i])->uses_directory);
        assert_u64(ops_of(names[i])->neighbours, 1);
        assert_int_equal(next(names[i], 16, 1, 0, 0), 0);
        assert_int_equal(next(names[i], 16, 1, 0, 1), -1);
        assert_int_equal(next(names[i], 16, 1, 0, 2), 1);
        assert_int_equal(next(names[i], 16, 1, 0, 3), -1);
        assert_int_equal(next(names[i], 16, 3, 0, 1u << 5), 3);
        assert_int_equal(next(names[i], 16, 1, -1, 3), 0);
    }
}

static void what_neidty_stores(void **state) {
    (void)state;
    for (uint32_t hits = 1; hits < 4; hits++) {
        assert_true(stores("neidty", hits));
        assert_false(stores("neidty-exclusive", hits));
        assert_true(stores("neidty-twice", hits) == (hits >= 2));
        assert_true(stores("valkyrie", hits));
    }
}

static void valkyrie_goes_around_the_ring(void **state) {
    (void)state;
    assert_false(ops_of("valkyrie")->uses_directory);
    for (int32_t asked = 0; asked < 15; asked++)
        assert_int_equal(next("valkyrie", 16, 512, asked, 0), asked + 1);
    assert_int_equal(next("valkyrie", 16, 512, 15, 0), 0);
    assert_int_equal(next("valkyrie", 16, 4, 3, 0), 4);
    assert_int_equal(next("valkyrie", 16, 4, 4, 0), 0);
}

static void private_ones_ask_nobody(void **state) {
    (void)state;
    assert_null(ops_of("private")->next);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bits_are_neighbours_from_the_nearest_on_left_first),
        cmocka_unit_test(neidty_asks_whom_the_directory_names_once),
        cmocka_unit_test(what_neidty_stores),
        cmocka_unit_test(valkyrie_goes_around_the_ring),
        cmocka_unit_test(private_ones_ask_nobody),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

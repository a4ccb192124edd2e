/* SPDX-License-Identifier: Apache-2.0 */
#include "probe/measure/cpuid.h"

#include "base/alloc.h"
#include "probe/cpu_claims.h"
#include "wp_test.h"

/* A Cascade Lake server: all of it in leaf 2. */
static void read_cascade_lake(uint32_t leaf, uint32_t subleaf, uint32_t r[4]) {
    (void)subleaf;
    memset(r, 0, 4 * sizeof *r);
    if (leaf == 0) r[0] = 0x16, r[1] = 0x756e6547;
    if (leaf == 2) r[0] = 0x76036301, r[1] = 0x00f0b5ff, r[3] = 0x00c30000;
}

/* One that describes each in leaf 0x18, among them one for instructions and one for stores. */
static void read_leaf_18(uint32_t leaf, uint32_t subleaf, uint32_t r[4]) {
    static const uint32_t rows[][4] = {{4, 0, 0, 0},
                                       {0, 8u << 16 | 1, 32, 2 | 1 << 5}, /* instructions */
                                       {0, 6u << 16 | 1, 16, 4 | 1 << 5}, /* loads, 96 */
                                       {0, 16u << 16 | 15, 1, 5 | 1 << 5 | 0x100}, /* stores */
                                       {0, 16u << 16 | 3, 128, 3 | 2 << 5}};       /* all, 2048 */
    memset(r, 0, 4 * sizeof *r);
    if (leaf == 0) r[0] = 0x20;
    if (leaf == 1) r[2] = UINT32_C(0x80000000);
    if (leaf == 2) r[0] = 0x00feff01, r[1] = 0xf0;
    if (leaf == 0x18 && subleaf < 5) memcpy(r, rows[subleaf], sizeof rows[subleaf]);
}

static void read_zen(uint32_t leaf, uint32_t subleaf, uint32_t r[4]) {
    (void)subleaf;
    memset(r, 0, 4 * sizeof *r);
    if (leaf == 0) r[0] = 0x10, r[1] = 0x68747541;
    if (leaf == 0x80000005) r[0] = 0xff40ff40, r[1] = 0xff48ff40;
    if (leaf == 0x80000006) r[0] = 0x6c002200, r[1] = 0x6c004200;
}

static void read_nothing(uint32_t leaf, uint32_t subleaf, uint32_t r[4]) {
    (void)leaf, (void)subleaf;
    memset(r, 0, 4 * sizeof *r);
}

static void assert_tlb(const wpi_cpuid_tlb *tlb, uint32_t level, uint32_t entries, uint32_t ways,
                       uint32_t pages) {
    assert_u64(tlb->level, level);
    assert_u64(tlb->entries, entries);
    assert_u64(tlb->ways, ways);
    assert_u64(tlb->pages, pages);
}

static void bytes_of_leaf_2_name_tlbs(void **state) {
    (void)state;
    wpi_cpuid_tlb tlbs[WPI_CPUID_TLBS_MAX];
    assert_u64(wpi_cpuid_tlbs(read_cascade_lake, tlbs), 3);
    assert_tlb(&tlbs[0], 1, 32, 4, WPI_CPUID_2M | WPI_CPUID_4M);
    assert_tlb(&tlbs[1], 1, 64, 4, WPI_CPUID_4K);
    assert_tlb(&tlbs[2], 2, 1536, 12, WPI_CPUID_4K | WPI_CPUID_2M);
}

static void leaf_18_describes_them_and_only_loads_count(void **state) {
    (void)state;
    wpi_cpuid_tlb tlbs[WPI_CPUID_TLBS_MAX];
    assert_u64(wpi_cpuid_tlbs(read_leaf_18, tlbs), 2);
    assert_tlb(&tlbs[0], 1, 96, 6, WPI_CPUID_4K);
    assert_tlb(&tlbs[1], 2, 2048, 16, WPI_CPUID_4K | WPI_CPUID_2M);
    assert_true(wpi_cpuid_has_hypervisor(read_leaf_18));
    assert_false(wpi_cpuid_has_hypervisor(read_nothing));
}

static void amd_says_it_in_leaves_of_its_own(void **state) {
    (void)state;
    wpi_cpuid_tlb tlbs[WPI_CPUID_TLBS_MAX];
    assert_u64(wpi_cpuid_tlbs(read_zen, tlbs), 4);
    assert_tlb(&tlbs[0], 1, 64, 0, WPI_CPUID_2M);
    assert_tlb(&tlbs[1], 1, 72, 0, WPI_CPUID_4K);
    assert_tlb(&tlbs[2], 2, 3072, 8, WPI_CPUID_2M);
    assert_tlb(&tlbs[3], 2, 3072, 8, WPI_CPUID_4K);
}

static void silence_is_no_tlb(void **state) {
    (void)state;
    wpi_cpuid_tlb tlbs[WPI_CPUID_TLBS_MAX];
    assert_u64(wpi_cpuid_tlbs(read_nothing, tlbs), 0);
}

static wpi_hierarchy *hierarchy(double first, double second) {
    wpi_hierarchy *h = wpi_calloc(1, sizeof *h);
    assert_non_null(h);
    h->level_count = 2;
    h->levels[0].entries = (wpi_number){.is_known = true, .value = first};
    h->levels[1].entries = (wpi_number){.is_known = second > 0, .value = second};
    return h;
}

static void what_was_measured_stands_beside_what_is_said(void **state) {
    (void)state;
    wpi_cpuid_tlb tlbs[WPI_CPUID_TLBS_MAX];
    const size_t count = wpi_cpuid_tlbs(read_leaf_18, tlbs);
    wpi_probe_result result = {.tlbs = hierarchy(96, 0), .huge_tlbs = hierarchy(32, 1500)};
    wpi_cpu_claims_compare(tlbs, count, true, &result);
    assert_u64(result.notes.count, 3);
    assert_contains(result.notes.items[0],
                    "96 entries measured, CPUID (leaf 0x18) says 96: equal.");
    assert_contains(result.notes.items[1], "says 2048 entries; not measured.");
    assert_contains(result.notes.items[2], "1500 entries measured, CPUID (leaf 0x18) says 2048: "
                                           "different. The hypervisor's own pages");
    wpi_probe_result_deinit(&result);
}

static void silence_is_said(void **state) {
    (void)state;
    wpi_probe_result result = {.tlbs = hierarchy(96, 2048)};
    wpi_cpu_claims_compare(NULL, 0, true, &result);
    assert_u64(result.notes.count, 1);
    assert_contains(result.notes.items[0], "a hypervisor answers for it");
    wpi_probe_result_deinit(&result);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_of_leaf_2_name_tlbs),
        cmocka_unit_test(leaf_18_describes_them_and_only_loads_count),
        cmocka_unit_test(amd_says_it_in_leaves_of_its_own),
        cmocka_unit_test(silence_is_no_tlb),
        cmocka_unit_test(what_was_measured_stands_beside_what_is_said),
        cmocka_unit_test(silence_is_said),
    };
    return wp_test_main(tests);
}

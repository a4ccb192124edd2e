/* SPDX-License-Identifier: Apache-2.0 */
/* Hierarchies whose levels can be seen: every number is found, exactly.
 *     model_test_probe_visible [count [seed]] */
#include "probe/hierarchy.h"
#include "sim/tags.h"
#include "wp_test.h"

#include "tlb_generator.h"

#include "/tmp/show.h"
static uint64_t hierarchies = 500, first_seed = 1;

static const wpi_infer_options wide = {.samples_max = 20000000,
                                       .loads_max = (uint64_t)1 << 60,
                                       .loads_per_round_max = (uint64_t)1 << 18};

static bool differs(const char *name, uint32_t level, const wpi_number *found, double truth,
                    double within) {
    if (found->is_known && fabs(found->value - truth) <= within) return false;
    fprintf(stderr, "L%u %s: %s%.9g, not %.9g (%s)\n", level + 1, name,
            found->is_known ? "" : "unknown ", found->value, truth, found->reason);
    return true;
}

static uint32_t ways_differ(const wpi_level *found, const model_level *truth) {
    uint32_t counted = 0;
    for (uint32_t g = 0; g < found->way_group_count; g++) {
        uint32_t same = 0;
        for (uint32_t i = 0; i < truth->set_count; i++)
            same += truth->set_ways[i] == found->way_groups[g].ways;
        if (same != found->way_groups[g].count) return 1;
        counted += same;
    }
    return counted != truth->set_count;
}

static uint32_t level_differs(uint32_t i, const wpi_hierarchy *h, const model *m) {
    const wpi_level *l = &h->levels[i];
    const model_level *t = &m->levels[i];
    uint32_t wrong = 0;
    wrong += differs("page", i, &l->page_bytes, (double)t->page_bytes, 0);
    wrong += differs("fill", i, &l->fill_bytes, (double)t->fill_bytes, 0);
    wrong += differs("entries", i, &l->entries, t->entries, 0);
    wrong += differs("sets", i, &l->sets, t->set_count, 0);
    wrong += differs("delay", i, &l->miss_cycles, t->miss_cycles, 0.5);
    wrong += differs("reach", i, &l->reach_bytes, (double)model_reach(t), 0);
    if (wrong == 0) wrong = ways_differ(l, t);
    return wrong;
}

static uint32_t hierarchy_differs(const wpi_hierarchy *h, const model *m) {
    if (h->level_count != m->level_count) {
        fprintf(stderr, "%u levels, not %u (%s)\n", h->level_count, m->level_count,
                h->levels_known.reason);
        return 1;
    }
    uint32_t wrong = 0;
    for (uint32_t i = 0; i < m->level_count; i++)
        wrong += level_differs(i, h, m);
    return wrong;
}

static uint32_t try_one(uint64_t seed) {
    static model m;
    uint64_t random = seed * 0x9e3779b97f4a7c15u | 1;
    for (int i = 0; i < 4; i++)
        (void)wp_random_next(&random);
    model_draw_visible(&m, &random);
    tlb_sampler object;
    tlb_sampler_init(&object, &m, seed);
    const wpi_sampler sampler = tlb_sampler_table(&object);
    wpi_hierarchy *h = NULL;
    wp_error err = {0};
    assert_status_ok(wpi_infer(&sampler, &wide, &h, &err), &err);
    const uint32_t wrong = hierarchy_differs(h, &m);
    if (wrong != 0) {
        fprintf(stderr, "seed %llu: %u wrong of\n", (unsigned long long)seed, wrong);
        model_print(&m);
        show(h);
    }
    if (getenv("PROBE_COSTS") != NULL)
        fprintf(stderr, "seed %llu: %llu samples, %g loads, %llu chases walked %llu loads\n",
                (unsigned long long)seed, (unsigned long long)h->samples, (double)h->loads,
                (unsigned long long)object.known_count, (unsigned long long)object.loads_walked);
    wpi_hierarchy_destroy(h);
    tlb_sampler_deinit(&object);
    return wrong != 0;
}

static void every_number_of_a_visible_hierarchy_is_exact(void **state) {
    (void)state;
    uint64_t wrong = 0;
    print_message("%llu hierarchies from seed %llu\n", (unsigned long long)hierarchies,
                  (unsigned long long)first_seed);
    for (uint64_t i = 0; i < hierarchies; i++)
        wrong += try_one(first_seed + i);
    assert_u64(wrong, 0);
}

int main(int argc, char **argv) {
    if (argc > 1) hierarchies = strtoull(argv[1], NULL, 10);
    if (argc > 2) first_seed = strtoull(argv[2], NULL, 10);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_number_of_a_visible_hierarchy_is_exact),
    };
    return wp_test_main(tests);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* How often the probe is right, by its confidence: random hierarchies of TLBs, with noise, drift
 * and outliers, are probed, and each stated number is compared with what the hierarchy has.
 *
 *     probe_calibration [COUNT [SEED]]
 *
 * CSV on stdout: field, least confidence of the bin, stated, right. Then "replacement" lines: what
 * levels of more than one way have, what was stated, levels. Numbers that are wrong at a confidence
 * of 0.9 or more are printed on stderr with their hierarchies. */
#include <stdio.h>
#include <stdlib.h>

#include "probe/infer/hierarchy.h"
#include "sim/tlb/tags.h"

#include "tlb_truth.h"

enum field { PAGE, FILL, ENTRIES, SETS, WAYS, DELAY, REACH, REPLACEMENT, SHARING, FIELDS };
static const char *const field_names[FIELDS] = {"page",  "fill",  "entries",     "sets",   "ways",
                                                "delay", "reach", "replacement", "sharing"};

static const double bins[] = {0, 0.5, 0.7, 0.8, 0.9, 0.95, 0.99, 0.999, 0.99999};
#define BINS (sizeof bins / sizeof *bins)

static uint64_t stated[FIELDS][BINS], right[FIELDS][BINS];
static uint64_t recognised[WPI_LEVEL_REPLACEMENT_COUNT][WPI_LEVEL_REPLACEMENT_COUNT + 1];
static uint64_t sub_entry_levels, sub_entry_stated, sub_entry_right, not_found;

/* ---- hierarchies ---- */

/* SMs in clusters, numbered in rows or in turn, as floorplans have them. */
static void draw_clusters(model *m, uint64_t *random) {
    uint32_t size = 1;
    for (uint32_t i = 0; i < m->level_count; i++) {
        size *= (uint32_t)draw(random, 1, 9);
        if (draw(random, 0, 4) == 0) size = m->sm_count;
        const uint32_t clusters = (m->sm_count + size - 1) / size;
        const bool is_row = draw(random, 0, 2) == 0;
        for (uint32_t sm = 0; sm < m->sm_count; sm++)
            m->levels[i].group_of[sm] = is_row ? sm / size : sm % clusters;
    }
}

/* A level in order of reach, of any page, sub-entries and replacement. */
static void vary_level(model_level *l, uint64_t least_fill, uint64_t *random) {
    static const wpi_policy *const policies[] = {
        &wpi_policy_replacement_lru, &wpi_policy_replacement_lru, &wpi_policy_replacement_fifo,
        &wpi_policy_replacement_random};
    l->replacement = policies[draw(random, 0, 4)];
    uint64_t fill = l->page_bytes >> draw(random, 0, 6);
    if (draw(random, 0, 2) == 0 || fill < 4096) fill = l->page_bytes;
    l->fill_bytes = fill < least_fill ? least_fill : fill;
    if (l->fill_bytes > l->page_bytes) l->fill_bytes = l->page_bytes;
}

static void draw_hierarchy(model *m, uint64_t *random) {
    if (draw(random, 0, 4) == 0) {
        model_draw_any(m, random);
    } else {
        uint64_t fill = 0;
        model_draw_visible(m, random);
        for (uint32_t i = 0; i < m->level_count; i++) {
            if (draw(random, 0, 2) == 0) vary_level(&m->levels[i], fill, random);
            fill = m->levels[i].fill_bytes;
        }
        const uint64_t reach = model_reach(&m->levels[draw(random, 0, m->level_count)]);
        m->memory_bytes = draw(random, 0, 3) == 0 ? (reach / 2) * draw_log(random, 1, 16)
                                                  : (uint64_t)1 << draw(random, 33, 42);
    }
    if (draw(random, 0, 2) == 0) draw_clusters(m, random);
    if (draw(random, 0, 3) == 0) m->noise_cycles = (double)draw_log(random, 1, 40);
}

/* ---- verdicts ---- */

typedef struct verdict {
    bool is_stated[FIELDS], is_right[FIELDS];
    double confidence[FIELDS];
} verdict;

static void say(verdict *v, enum field f, const wpi_number *n, bool is_right) {
    v->is_stated[f] = n->is_known;
    v->is_right[f] = n->is_known && is_right;
    v->confidence[f] = n->confidence;
}

static bool has_groups(const wpi_level *found, const model *m, uint32_t first, uint32_t outer) {
    for (uint32_t set = 1; set < 1u << (outer - first); set++) {
        bool is_same = true;
        for (uint32_t a = 0; a < m->sm_count && is_same; a++) {
            for (uint32_t b = 0; b < a && is_same; b++) {
                bool is_shared = true;
                for (uint32_t i = first; i < outer; i++)
                    if (set >> (i - first) & 1)
                        is_shared &= m->levels[i].group_of[a] == m->levels[i].group_of[b];
                is_same = is_shared == (found->sharing.group_of[a] == found->sharing.group_of[b]);
            }
        }
        if (is_same) return true;
    }
    return false;
}

/* A found level as the true level `first`, with those before `outer` unseen behind it. */
static verdict judge(const wpi_level *l, const model *m, uint32_t first, uint32_t outer) {
    const model_level *t = &m->levels[first];
    verdict v = {0};
    uint64_t fill = t->fill_bytes;
    double most = 0;
    for (uint32_t i = 0; i < first; i++)
        if (m->levels[i].fill_bytes > fill) fill = m->levels[i].fill_bytes;
    for (uint32_t i = first; i < outer; i++)
        most += m->levels[i].miss_cycles;
    say(&v, PAGE, &l->page_bytes, l->page_bytes.value == (double)t->page_bytes);
    say(&v, FILL, &l->fill_bytes, l->fill_bytes.value == (double)fill);
    say(&v, ENTRIES, &l->entries, l->entries.value == t->entries);
    say(&v, SETS, &l->sets, l->sets.value == t->set_count);
    say(&v, WAYS, &l->sets, truth_fits_ways(l, t));
    say(&v, DELAY, &l->miss_cycles,
        l->miss_cycles.value >= t->miss_cycles - 0.5 && l->miss_cycles.value <= most + 0.5);
    say(&v, REACH, &l->reach_bytes, l->reach_bytes.value == (double)model_reach(t));
    say(&v, REPLACEMENT, &l->replacement, l->replacement.value == truth_replacement(t));
    say(&v, SHARING, &l->sharing.count, has_groups(l, m, first, outer));
    return v;
}

static int score(const verdict *v) {
    int sum = 0;
    for (int f = 0; f < FIELDS; f++)
        sum += v->is_right[f] ? 2 : v->is_stated[f] ? -1 : 0;
    return sum;
}

/* The best order-keeping assignment of found levels to true ones; a found level may have none. */
static int assign(const wpi_hierarchy *h, const model *m, uint32_t found, uint32_t truth,
                  verdict out[], uint32_t of[]) {
    if (found == h->level_count) return 0;
    verdict best[WPI_PROBE_LEVELS_MAX], tried[WPI_PROBE_LEVELS_MAX];
    uint32_t best_of[WPI_PROBE_LEVELS_MAX], tried_of[WPI_PROBE_LEVELS_MAX];
    static const model none = {.level_count = 1, .sm_count = 0, .levels = {{.entries = 0}}};
    const uint32_t count = h->level_count - found;
    best[0] = judge(&h->levels[found], &none, 0, 1);
    for (int f = 0; f < FIELDS; f++)
        best[0].is_right[f] = false;
    best_of[0] = UINT32_MAX;
    int most = score(&best[0]) + assign(h, m, found + 1, truth, best + 1, best_of + 1) - 1;
    for (uint32_t first = truth; first < m->level_count; first++) {
        for (uint32_t outer = first + 1; outer <= m->level_count; outer++) {
            tried[0] = judge(&h->levels[found], m, first, outer);
            tried_of[0] = first;
            const int sum =
                score(&tried[0]) + assign(h, m, found + 1, outer, tried + 1, tried_of + 1);
            if (sum <= most) continue;
            most = sum;
            memcpy(best, tried, count * sizeof *best);
            memcpy(best_of, tried_of, count * sizeof *best_of);
        }
    }
    memcpy(out, best, count * sizeof *best);
    memcpy(of, best_of, count * sizeof *best_of);
    return most;
}

static size_t bin_of(double confidence) {
    size_t bin = BINS - 1;
    while (bin > 0 && confidence < bins[bin])
        bin--;
    return bin;
}

static void count_level(const verdict *v, const wpi_level *l, const model *m, uint32_t of,
                        bool *is_shown) {
    for (int f = 0; f < FIELDS; f++) {
        if (!v->is_stated[f]) continue;
        const size_t bin = bin_of(v->confidence[f]);
        stated[f][bin]++;
        right[f][bin] += v->is_right[f];
        if (v->is_right[f] || v->confidence[f] < 0.9) continue;
        fprintf(stderr, "wrong %s, confidence %.6f, true level %d: ", field_names[f],
                v->confidence[f], of == UINT32_MAX ? 0 : (int)of + 1);
        *is_shown = true;
    }
    if (of == UINT32_MAX) return;
    const model_level *t = &m->levels[of];
    const uint32_t said =
        l->replacement.is_known ? (uint32_t)l->replacement.value : WPI_LEVEL_REPLACEMENT_COUNT;
    if (t->set_ways[0] > 1) recognised[truth_replacement(t)][said]++;
    if (t->fill_bytes == t->page_bytes) return;
    sub_entry_levels++;
    sub_entry_stated += v->is_stated[FILL] && v->is_stated[PAGE];
    sub_entry_right += v->is_right[FILL] && v->is_right[PAGE];
}

static void try_one(uint64_t seed) {
    static model m;
    uint64_t random = truth_random(seed ^ 0x3c6ef372);
    draw_hierarchy(&m, &random);
    wpi_infer_options options = {.seed = seed};
    if (draw(&random, 0, 4) == 0) options.samples_max = draw_log(&random, 200, 20000);
    tlb_sampler object;
    tlb_sampler_init(&object, &m, seed);
    const wpi_sampler sampler = tlb_sampler_table(&object);
    wpi_hierarchy *h = NULL;
    wp_error err = {0};
    if (wpi_infer(&sampler, &options, &h, &err) != WP_STATUS_OK) {
        fprintf(stderr, "seed %llu: %s\n", (unsigned long long)seed, err.message);
        exit(1);
    }
    verdict v[WPI_PROBE_LEVELS_MAX];
    uint32_t of[WPI_PROBE_LEVELS_MAX];
    bool is_shown = false;
    (void)assign(h, &m, 0, 0, v, of);
    for (uint32_t i = 0; i < h->level_count; i++)
        count_level(&v[i], &h->levels[i], &m, of[i], &is_shown);
    not_found += h->level_count == 0;
    if (is_shown) {
        fprintf(stderr, "seed %llu, ", (unsigned long long)seed);
        model_print(&m);
        truth_show(h);
    }
    wpi_hierarchy_destroy(h);
    tlb_sampler_deinit(&object);
}

int main(int argc, char **argv) {
    const uint64_t count = argc > 1 ? strtoull(argv[1], NULL, 10) : 1000;
    const uint64_t first = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    if (count == 0 || first == 0) {
        fprintf(stderr, "usage: probe_calibration [COUNT [SEED]], both at least 1\n");
        return 2;
    }
    for (uint64_t i = 0; i < count; i++)
        try_one(first + i);
    for (int f = 0; f < FIELDS; f++)
        for (size_t b = 0; b < BINS; b++)
            printf("%s,%g,%llu,%llu\n", field_names[f], bins[b], (unsigned long long)stated[f][b],
                   (unsigned long long)right[f][b]);
    for (int t = 0; t < WPI_LEVEL_REPLACEMENT_COUNT; t++)
        for (int s = 0; s <= WPI_LEVEL_REPLACEMENT_COUNT; s++)
            printf("replacement of %s,%s,%llu,\n", wpi_level_replacement_names[t],
                   s < WPI_LEVEL_REPLACEMENT_COUNT ? wpi_level_replacement_names[s] : "unknown",
                   (unsigned long long)recognised[t][s]);
    printf("sub-entries,%llu,%llu,%llu\nnothing found,%llu,,\n",
           (unsigned long long)sub_entry_levels, (unsigned long long)sub_entry_stated,
           (unsigned long long)sub_entry_right, (unsigned long long)not_found);
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Derives values from combinations of keys, and rejects contradictory ones. */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/units.h"
#include "policy/migrate.h"
#include "policy/tlb_sharing.h"
#include "sim/profile/floorplan.h"
#include "sim/profile/profile_text.h"
#include "sim/sm/warp_source.h"
#include "sim/tlb/tlb_prefetcher.h"

#define SUBENTRIES_MAX 64u

/* `complain` for a key by name: status INVALID. */
#define REFUSE(profile, name, err, ...)                                                            \
    wpi_profile_complain((profile), (name), WP_STATUS_INVALID, (err), __VA_ARGS__)

static bool is_power_of_two(uint64_t n) {
    return n != 0 && (n & (n - 1)) == 0;
}

typedef unsigned long long ull; /* for printf */

static wp_status check_floorplan(wpi_profile *p, wp_error *err) {
    const uint64_t physical = (uint64_t)p->gpcs * p->tpcs_per_gpc * p->sms_per_tpc;
    if (physical > WPI_SMS_MAX)
        return REFUSE(p, "floorplan.gpcs", err, "%llu SMs exceed the limit of %u", (ull)physical,
                      WPI_SMS_MAX);
    wp_error detail = {0};
    const wp_status status = wpi_floorplan_list(p->disabled_text, (uint32_t)physical,
                                                p->disabled_sms, &p->disabled_count, &detail);
    if (status != WP_STATUS_OK)
        return wpi_profile_complain(p, "floorplan.disabled", status, err, "%s", detail.message);
    if (p->disabled_count == physical) return REFUSE(p, "floorplan.disabled", err, "no SM is left");
    p->is_round_robin = p->order == 1;
    p->sm_count = (uint32_t)physical - p->disabled_count;
    return WP_STATUS_OK;
}

static wp_status check_sm(wpi_profile *p, wp_error *err) {
    if (p->threads % WPI_LANES != 0)
        return REFUSE(p, "sm.threads", err, "%u is not a multiple of the warp size of 32",
                      p->threads);
    if (p->shared_bytes_per_cta > p->shared_bytes)
        return REFUSE(p, "shared.cta_bytes", err, "a CTA cannot have more than the SM's %llu bytes",
                      (ull)p->shared_bytes);
    if (!is_power_of_two(p->shared_banks))
        return REFUSE(p, "shared.banks", err, "%u is not a power of two", p->shared_banks);
    if (!is_power_of_two(p->shared_bank_bytes))
        return REFUSE(p, "shared.bank_bytes", err, "%llu is not a power of two",
                      (ull)p->shared_bank_bytes);
    return WP_STATUS_OK;
}

/* Each size leaves L1 a whole number of sets. */
static wp_status check_carveout(const wpi_profile *p, uint64_t bytes, uint64_t before_bytes,
                                wp_error *err) {
    const uint64_t set_bytes = (uint64_t)p->l1.ways * WPI_LINE_BYTES;
    if (p->carveout_count != 0 && bytes <= before_bytes)
        return REFUSE(p, "shared.carveouts", err, "sizes must ascend");
    if (bytes > p->shared_bytes)
        return REFUSE(p, "shared.carveouts", err, "%llu bytes are more than shared.bytes",
                      (ull)bytes);
    if ((p->shared_bytes - bytes) % set_bytes != 0)
        return REFUSE(p, "shared.carveouts", err,
                      "what %llu bytes leave to L1 is no number of sets of %u lines of 128 bytes",
                      (ull)bytes, p->l1.ways);
    return WP_STATUS_OK;
}

static wp_status check_carveouts(wpi_profile *p, wp_error *err) {
    char list[256], *rest = NULL;
    uint64_t bytes = 0;
    p->carveout_count = 0;
    if (snprintf(list, sizeof list, "%s", p->carveout_text) >= (int)sizeof list)
        return REFUSE(p, "shared.carveouts", err, "more than %zu characters", sizeof list - 1);
    for (char *one = strtok_r(list, ", ", &rest); one != NULL; one = strtok_r(NULL, ", ", &rest)) {
        const uint64_t before_bytes = bytes;
        wp_error detail = {0};
        const wp_status status = wpi_parse_bytes(one, &bytes, &detail);
        if (status != WP_STATUS_OK)
            return wpi_profile_complain(p, "shared.carveouts", status, err, "%s", detail.message);
        if (p->carveout_count == WPI_CARVEOUTS_MAX)
            return REFUSE(p, "shared.carveouts", err, "more than %u sizes", WPI_CARVEOUTS_MAX);
        WP_TRY(check_carveout(p, bytes, before_bytes, err));
        p->carveouts[p->carveout_count++] = bytes;
    }
    if (p->carveout_count == 0) return WP_STATUS_OK;
    if (bytes != p->shared_bytes)
        return REFUSE(p, "shared.carveouts", err, "the last size is not shared.bytes");
    if (p->l1.preferred_bytes != 0)
        return REFUSE(p, "l1.preferred", err, "launches choose by shared.carveouts");
    if (p->l1.write == WPI_WRITE_BACK)
        return REFUSE(p, "shared.carveouts", err,
                      "an L1 that keeps stores does not change its size");
    return WP_STATUS_OK;
}

/* `section` is "l1" or "l2". */
static wp_status check_cache(const wpi_profile *p, const char *section, const wpi_cache_profile *c,
                             wp_error *err) {
    char name[WPI_KEY_NAME_MAX];
    (void)snprintf(name, sizeof name, "%s.sector", section);
    if (!is_power_of_two(c->sector_bytes))
        return REFUSE(p, name, err, "%llu is not 32, 64 or 128", (ull)c->sector_bytes);
    const uint64_t set_bytes = (uint64_t)c->ways * WPI_LINE_BYTES;
    (void)snprintf(name, sizeof name, "%s.bytes", section);
    if (c->bytes % (set_bytes * c->slices) != 0)
        return REFUSE(p, name, err,
                      "%llu bytes do not divide into %u slice(s) of sets of %u lines of 128 bytes",
                      (ull)c->bytes, c->slices, c->ways);
    const uint64_t sets = c->bytes / set_bytes / c->slices;
    if (sets > UINT32_MAX / c->ways)
        return REFUSE(p, name, err, "%llu sets exceed the limit of the model", (ull)sets);
    return WP_STATUS_OK;
}

static wp_status check_preferred_l1(const wpi_profile *p, wp_error *err) {
    const uint64_t set_bytes = (uint64_t)p->l1.ways * WPI_LINE_BYTES;
    const uint64_t bytes = p->l1.preferred_bytes;
    if (bytes == 0) return WP_STATUS_OK;
    if (bytes < p->l1.bytes || bytes % set_bytes != 0 || bytes / set_bytes > UINT32_MAX)
        return REFUSE(p, "l1.preferred", err,
                      "%llu bytes are no number of sets of %u lines of 128 bytes, or less than "
                      "l1.bytes",
                      (ull)bytes, p->l1.ways);
    if (bytes - p->l1.bytes > p->shared_bytes)
        return REFUSE(p, "l1.preferred", err, "there is less shared memory than L1 would take");
    if (p->l1.write == WPI_WRITE_BACK)
        return REFUSE(p, "l1.preferred", err, "an L1 that keeps stores does not change its size");
    return WP_STATUS_OK;
}

/* Parses "6x8,1x17" to the ways of each set. Returns the number of sets; 0: not of that form. */
static uint32_t read_sets(const char *text, uint32_t ways[WPI_TLB_SETS_MAX]) {
    uint32_t count = 0;
    for (const char *at = text;;) {
        unsigned sets = 0, set_ways = 0;
        int length = 0;
        if (sscanf(at, " %5ux%7u %n", &sets, &set_ways, &length) != 2 || length == 0) return 0;
        if (sets == 0 || set_ways == 0 || sets > WPI_TLB_SETS_MAX - count) return 0;
        while (sets-- > 0)
            ways[count++] = set_ways;
        at += length;
        if (*at == '\0') return count;
        if (*at++ != ',') return 0;
    }
}

static wp_status keep_sets(wpi_tlb_profile *t, const uint32_t *ways, uint32_t count,
                           wp_error *err) {
    t->set_ways = wpi_malloc(count * sizeof *t->set_ways);
    if (t->set_ways == NULL) return WP_FAIL(err, NOMEM, "TLB of %u sets", count);
    memcpy(t->set_ways, ways, count * sizeof *ways);
    t->set_count = count;
    return WP_STATUS_OK;
}

static wp_status check_set_table(const wpi_profile *p, const char *section, wpi_tlb_profile *t,
                                 wp_error *err) {
    char name[WPI_KEY_NAME_MAX];
    uint32_t ways[WPI_TLB_SETS_MAX];
    (void)snprintf(name, sizeof name, "%s.sets", section);
    const uint32_t count = read_sets(t->sets_text, ways);
    if (count == 0)
        return REFUSE(p, name, err, "'%s' is not a list of at most %u sets such as 6x8,1x17",
                      t->sets_text, WPI_TLB_SETS_MAX);
    uint64_t entries = 0;
    for (uint32_t set = 0; set < count; set++)
        entries += ways[set];
    if (entries != t->entries)
        return REFUSE(p, name, err, "%s holds %llu entries, but %s.entries is %u", t->sets_text,
                      (ull)entries, section, t->entries);
    if (t->hash == WPI_HASH_XOR)
        return REFUSE(p, name, err, "unequal sets cannot use the XOR hash");
    return keep_sets(t, ways, count, err);
}

static wp_status check_sets(const wpi_profile *p, const char *section, wpi_tlb_profile *t,
                            wp_error *err) {
    char name[WPI_KEY_NAME_MAX];
    if (t->sets_text[0] != '\0') return check_set_table(p, section, t, err);
    const uint32_t set_ways = t->ways == 0 ? t->entries : t->ways;
    const uint32_t count = t->entries / set_ways;
    (void)snprintf(name, sizeof name, "%s.ways", section);
    if (t->entries % set_ways != 0)
        return REFUSE(p, name, err, "%u entries do not divide into sets of %u", t->entries,
                      set_ways);
    if (count > WPI_TLB_SETS_MAX)
        return REFUSE(p, name, err, "%u sets exceed the limit of %u", count, WPI_TLB_SETS_MAX);
    (void)snprintf(name, sizeof name, "%s.hash", section);
    if (t->hash == WPI_HASH_XOR && !is_power_of_two(count))
        return REFUSE(p, name, err, "the XOR hash needs a power of two of sets, not %u", count);
    uint32_t ways[WPI_TLB_SETS_MAX];
    for (uint32_t set = 0; set < count; set++)
        ways[set] = set_ways;
    return keep_sets(t, ways, count, err);
}

static wp_status check_coverage(const wpi_profile *p, const char *section, wpi_tlb_profile *t,
                                wp_error *err) {
    char name[WPI_KEY_NAME_MAX];
    if (t->coverage_bytes == 0) t->coverage_bytes = p->page_bytes;
    (void)snprintf(name, sizeof name, "%s.coverage", section);
    if (!is_power_of_two(t->coverage_bytes) || t->coverage_bytes < p->page_bytes)
        return REFUSE(p, name, err,
                      "%llu bytes are not a power-of-two multiple of the page size of %llu bytes",
                      (ull)t->coverage_bytes, (ull)p->page_bytes);
    t->fill_bytes = t->fill_pages == 0 ? t->coverage_bytes : t->fill_pages * p->page_bytes;
    (void)snprintf(name, sizeof name, "%s.fill", section);
    if (!is_power_of_two(t->fill_bytes) || t->fill_bytes > t->coverage_bytes)
        return REFUSE(p, name, err, "%u is not a power of two up to the %llu pages of an entry",
                      t->fill_pages, (ull)(t->coverage_bytes / p->page_bytes));
    if (t->coverage_bytes / t->fill_bytes > SUBENTRIES_MAX)
        return REFUSE(p, name, err, "an entry would have %llu parts; the limit is %u",
                      (ull)(t->coverage_bytes / t->fill_bytes), SUBENTRIES_MAX);
    return WP_STATUS_OK;
}

static wp_status check_groups(const wpi_profile *p, const char *section, const wpi_tlb_profile *t,
                              wp_error *err) {
    char name[WPI_KEY_NAME_MAX];
    wpi_floorplan plan;
    uint32_t group_of[WPI_SMS_MAX], count = 0;
    wp_error detail = {0};
    wpi_floorplan_init(&plan, p);
    const wp_status status =
        wpi_floorplan_groups(&plan, t->sharing, t->groups, group_of, &count, &detail);
    (void)snprintf(name, sizeof name, "%s.groups", section);
    if (status != WP_STATUS_OK)
        return wpi_profile_complain(p, name, status, err, "%s", detail.message);
    return WP_STATUS_OK;
}

static wp_status check_tlbs(wpi_profile *p, wp_error *err) {
    if (!is_power_of_two(p->page_bytes))
        return REFUSE(p, "page.bytes", err, "%llu is not a power of two", (ull)p->page_bytes);
    for (uint32_t level = 0; level < p->tlb_levels; level++) {
        wpi_tlb_profile *t = &p->tlb[level];
        char section[16], name[WPI_KEY_NAME_MAX];
        (void)snprintf(section, sizeof section, "tlb.l%u", (level + 1) % 10);
        WP_TRY(check_sets(p, section, t, err));
        WP_TRY(check_coverage(p, section, t, err));
        WP_TRY(check_groups(p, section, t, err));
        (void)snprintf(name, sizeof name, "%s.merge", section);
        if (!t->is_merging && level + 1 == p->tlb_levels && wpi_tlb_prefetch_is_on(p))
            return REFUSE(p, name, err,
                          "TLB prefetching needs merged misses at the last level "
                          "(tlb_prefetch.policy)");
        (void)snprintf(name, sizeof name, "%s.fill", section);
        if (level > 0 && t->fill_bytes < p->tlb[level - 1].fill_bytes)
            return REFUSE(p, name, err,
                          "a miss fills %llu bytes, fewer than in the level before it",
                          (ull)t->fill_bytes);
    }
    return WP_STATUS_OK;
}

static wp_status check_itlb(const wpi_profile *p, wp_error *err) {
    if (p->itlb.is_on && p->tlb_levels < 2)
        return REFUSE(p, "itlb.on", err, "there is no L2 TLB (tlb.levels is 1)");
    return WP_STATUS_OK;
}

static wp_status check_tlb_sharing(const wpi_profile *p, wp_error *err) {
    const wpi_tlb_sharing_ops *ops = p->tlb_sharing.policy->ops;
    if (ops->uses_directory && p->tlb_sharing.neighbours > WPI_TLB_SHARING_NEIGHBOURS_MAX)
        return REFUSE(p, "tlb_sharing.neighbours", err,
                      "a directory covers at most %u neighbours on each side",
                      WPI_TLB_SHARING_NEIGHBOURS_MAX);
    if (ops->next != NULL && p->tlb_levels < 2)
        return REFUSE(p, "tlb_sharing.policy", err,
                      "there is no L2 TLB whose lookups it could save (tlb.levels is 1)");
    return WP_STATUS_OK;
}

static wp_status check_walker(const wpi_profile *p, wp_error *err) {
    uint32_t page_bits = 0;
    while (p->page_bytes >> page_bits > 1)
        page_bits++;
    if (page_bits + p->walker.levels * p->walker.level_bits > 90)
        return REFUSE(p, "walker.level_bits", err,
                      "%u levels of %u bits exceed the size of an address", p->walker.levels,
                      p->walker.level_bits);
    return WP_STATUS_OK;
}

static wp_status check_dram(const wpi_profile *p, wp_error *err) {
    if (!is_power_of_two(p->dram.row_bytes))
        return REFUSE(p, "dram.row", err, "%llu is not a power of two", (ull)p->dram.row_bytes);
    if (p->dram.bytes_per_s / p->dram.channels == 0)
        return REFUSE(p, "dram.bandwidth", err, "the bandwidth per channel is zero");
    return WP_STATUS_OK;
}

/* Without page migration, rejects settings that then have no effect. */
static wp_status check_fixed_pages(const wpi_profile *p, wp_error *err) {
    static const char *const names[] = {"paging.prefetch", "paging.prefetch_full", "paging.evict",
                                        "paging.migrate", "paging.thrash"};
    const char *found = p->paging.oversubscribe_percent != 0 ? "paging.oversubscribe" : NULL;
    for (size_t i = 0; found == NULL && i < sizeof names / sizeof names[0]; i++)
        if (wpi_profile_is_set(p, names[i])) found = names[i];
    if (found == NULL) return WP_STATUS_OK;
    return REFUSE(p, found, err, "pages do not migrate on this GPU; set paging.on=on");
}

/* oversubscribe = 50% is memory for all, whatever gpu.memory is: `warpage advise` sets that. */
static wp_status check_room(const wpi_profile *p, wp_error *err) {
    const uint32_t percent = p->paging.oversubscribe_percent;
    if (percent != 0 && percent < 50)
        return REFUSE(p, "paging.oversubscribe", err,
                      "%u%% would make memory more than twice as large as the data; 50%% suffices "
                      "for all data, and without it gpu.memory applies",
                      percent);
    if (percent >= 100 && wpi_profile_is_set(p, "gpu.memory"))
        return REFUSE(p, "paging.oversubscribe", err,
                      "both this key and gpu.memory set the size of memory: set one of "
                      "them");
    if (p->paging.reserve_percent + p->paging.free_percent >= 100)
        return REFUSE(
            p, "paging.reserve", err,
            "%u%% are reserved and %u%% are kept free (paging.free), which leaves nothing for the "
            "rest; together they must be less than 100%%",
            p->paging.reserve_percent, p->paging.free_percent);
    return WP_STATUS_OK;
}

/* Rejects a prefetcher if no page ever faults. */
static wp_status check_prefetcher(const wpi_profile *p, const char *name, const wpi_policy *policy,
                                  wp_error *err) {
    const wpi_migrate_ops *migrate = p->paging.migrate->ops;
    const wpi_migrate_question full = {.frames = 1, .taken_frames = 1};
    const bool faults = !migrate->counts_writes || migrate->threshold(&full) != UINT64_MAX;
    if (faults || !wpi_profile_is_set(p, name) || policy == NULL ||
        strcmp(policy->name, WPI_POLICY_NONE) == 0)
        return WP_STATUS_OK;
    return REFUSE(p, name, err,
                  "with paging.migrate=%s pages neither fault nor are prefetched: leave it "
                  "out, or choose another paging.migrate",
                  p->paging.migrate->name);
}

static wp_status check_paging(const wpi_profile *p, wp_error *err) {
    if (!p->paging.is_on) return check_fixed_pages(p, err);
    WP_TRY(check_room(p, err));
    WP_TRY(check_prefetcher(p, "paging.prefetch", p->paging.prefetch, err));
    return check_prefetcher(p, "paging.prefetch_full", p->paging.prefetch_full, err);
}

wp_status wpi_profile_check(wpi_profile *profile, wp_error *err) {
    profile->l1.slices = 1;
    WP_TRY(check_floorplan(profile, err));
    WP_TRY(check_sm(profile, err));
    WP_TRY(check_cache(profile, "l1", &profile->l1, err));
    WP_TRY(check_carveouts(profile, err));
    WP_TRY(check_preferred_l1(profile, err));
    WP_TRY(check_cache(profile, "l2", &profile->l2, err));
    WP_TRY(check_tlbs(profile, err));
    WP_TRY(check_itlb(profile, err));
    WP_TRY(check_tlb_sharing(profile, err));
    WP_TRY(check_walker(profile, err));
    WP_TRY(check_paging(profile, err));
    return check_dram(profile, err);
}

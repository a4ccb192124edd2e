/* SPDX-License-Identifier: Apache-2.0 */
#include "ops/planner.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/units.h"

#define SECTOR_BYTES 32.0
#define WARP_LANES 32.0
#define PASS_INSTRUCTIONS 30.0  /* to read and hash a row, and skip it */
#define TABLE_INSTRUCTIONS 20.0 /* … or not */
#define PARTITION_PASSES 3.0    /* counting, sorting, and each scope's own */
#define TEAM_OPERATIONS 24.0    /* of a warp, to find its rows of one key … */
#define JOIN_OPERATIONS 15.0    /* … and to add their values up, for each atomic but the first */
#define LAUNCH_LATENCIES 4.0    /* dependent accesses at a launch's begin and end */
#define PASSES_MAX 4096u
#define GROUPS_MOST 1e18 /* if every row has been a group of its own */
/* A less simple strategy must cost less than this share: the terms are estimates. */
#define GAIN_MIN 0.9

/* ---- numbers of the device ---- */

/* Numbers of a simulated GPU, as read. */
typedef struct numbers {
    double clock_hz, memory, link, int_lanes, sms, walkers, walk_levels, walk_level_cycles;
    double l2_bytes, l2_bandwidth, l2_latency_cycles, atomic_cycles, page_bytes;
    double dram_banks, dram_channels, dram_latency_cycles, row_miss_cycles;
    double launch_cycles, warp_lanes;
    uint32_t levels;
    struct {
        double entries, coverage, ports, mshrs, latency_cycles, groups;
    } tlb[WPI_PLANNER_LEVELS_MAX];
} numbers;

static double larger(double a, double b) {
    return a > b ? a : b;
}

static double bytes_in(const char *value) {
    uint64_t bytes = 0;
    char amount[64];
    (void)strncpy(amount, value, sizeof amount - 1);
    amount[sizeof amount - 1] = '\0';
    char *per = strchr(amount, '/'); /* of a rate */
    if (per != NULL) *per = '\0';
    return wpi_parse_bytes(amount, &bytes, NULL) == WP_STATUS_OK ? (double)bytes : 0;
}

/* Of "384B/cycle" or "1TB/s", a second. */
static double rate_in(const char *value, double clock_hz) {
    return bytes_in(value) * (strstr(value, "/cycle") != NULL ? clock_hz : 1);
}

/* Of "177cycles" or "2us". */
static double cycles_in(const char *value, double clock_hz) {
    uint64_t ps = 0;
    if (strstr(value, "cycle") != NULL) return strtod(value, NULL);
    return wpi_parse_duration_ps(value, &ps, NULL) == WP_STATUS_OK ? (double)ps * clock_hz / 1e12
                                                                   : 0;
}

static double hertz_in(const char *value) {
    uint64_t hz = 0;
    return wpi_parse_hz(value, &hz, NULL) == WP_STATUS_OK ? (double)hz : 0;
}

static void take_tlb_key(numbers *n, const char *name, const char *value) {
    char *end;
    const unsigned long level = strtoul(name, &end, 10); /* "2.entries" */
    if (level == 0 || level > WPI_PLANNER_LEVELS_MAX || *end != '.') return;
    if (strcmp(end, ".entries") == 0) n->tlb[level - 1].entries = strtod(value, NULL);
    if (strcmp(end, ".coverage") == 0) n->tlb[level - 1].coverage = bytes_in(value);
    if (strcmp(end, ".ports") == 0) n->tlb[level - 1].ports = strtod(value, NULL);
    if (strcmp(end, ".mshrs") == 0) n->tlb[level - 1].mshrs = strtod(value, NULL);
    if (strcmp(end, ".latency") == 0)
        n->tlb[level - 1].latency_cycles = cycles_in(value, n->clock_hz);
    if (strcmp(end, ".sharing") == 0) n->tlb[level - 1].groups = strcmp(value, "gpu") == 0 ? 1 : 0;
}

static void take_key(void *object, const wp_device_key *key) {
    numbers *n = object;
    if (strcmp(key->name, "gpu.core_clock") == 0) n->clock_hz = hertz_in(key->value);
    if (strcmp(key->name, "gpu.launch_latency") == 0)
        n->launch_cycles = cycles_in(key->value, n->clock_hz);
    if (strcmp(key->name, "dram.bandwidth") == 0) n->memory = bytes_in(key->value);
    if (strcmp(key->name, "dram.latency") == 0)
        n->dram_latency_cycles = cycles_in(key->value, n->clock_hz);
    if (strcmp(key->name, "dram.channels") == 0) n->dram_channels = strtod(key->value, NULL);
    if (strcmp(key->name, "dram.banks") == 0) n->dram_banks = strtod(key->value, NULL);
    if (strcmp(key->name, "dram.row_miss") == 0)
        n->row_miss_cycles = cycles_in(key->value, n->clock_hz);
    if (strcmp(key->name, "l2.bytes") == 0) n->l2_bytes = bytes_in(key->value);
    if (strcmp(key->name, "l2.bandwidth") == 0) n->l2_bandwidth = rate_in(key->value, n->clock_hz);
    if (strcmp(key->name, "l2.latency") == 0)
        n->l2_latency_cycles = cycles_in(key->value, n->clock_hz);
    if (strcmp(key->name, "link.bandwidth") == 0) n->link = bytes_in(key->value);
    if (strcmp(key->name, "l2.atomic_interval") == 0)
        n->atomic_cycles = cycles_in(key->value, n->clock_hz);
    if (strcmp(key->name, "class.warp.lanes") == 0) n->warp_lanes = strtod(key->value, NULL);
    if (strcmp(key->name, "class.int.lanes") == 0) n->int_lanes = strtod(key->value, NULL);
    if (strcmp(key->name, "page.bytes") == 0) n->page_bytes = bytes_in(key->value);
    if (strcmp(key->name, "walker.count") == 0) n->walkers = strtod(key->value, NULL);
    if (strcmp(key->name, "walker.levels") == 0) n->walk_levels = strtod(key->value, NULL);
    if (strcmp(key->name, "walker.level_latency") == 0)
        n->walk_level_cycles = cycles_in(key->value, n->clock_hz);
    if (strcmp(key->name, "tlb.levels") == 0) n->levels = (uint32_t)strtoul(key->value, NULL, 10);
    if (strncmp(key->name, "tlb.l", 5) == 0) take_tlb_key(n, key->name + 5, key->value);
}

/* The time for which each of `count` units is busy with one miss; a count of 0 sets no limit. */
static double share_ns(double ns, double count) {
    return count > 0 ? ns / count : 0;
}

/* The next level's ports serve a level's misses, and MSHRs limit the misses in flight; after the
 * last level walkers do both. As in profiles, 0 ports, MSHRs or walkers mean any number, and an
 * entry whose coverage is 0 maps one page. */
static void set_levels(wpi_planner *planner, const numbers *n) {
    const double cycle_ns = 1e9 / n->clock_hz, walk_cycles = n->walk_levels * n->walk_level_cycles;
    for (uint32_t i = 0; i < n->levels && i < WPI_PLANNER_LEVELS_MAX; i++) {
        wpi_planner_level *level = &planner->levels[planner->level_count];
        const bool is_last = i + 1 == n->levels;
        const double cycles = is_last ? walk_cycles : n->tlb[i + 1].latency_cycles;
        const double at_once = is_last ? n->walkers : n->tlb[i].mshrs;
        const double ports = is_last ? 1 : n->tlb[i + 1].ports;
        const double shared =
            is_last || n->tlb[i + 1].groups == 1 ? 1 : 4; /* a GPC's are several */
        const double coverage = n->tlb[i].coverage > 0 ? n->tlb[i].coverage : n->page_bytes;
        level->reach_bytes = (uint64_t)(n->tlb[i].entries * coverage);
        level->delay_ns = cycles * cycle_ns;
        level->service_ns =
            larger(share_ns(cycles * cycle_ns, at_once), share_ns(cycle_ns, ports) / shared);
        planner->level_count++;
    }
}

/* Typical values, for unknown properties of a device. */
static numbers usual_numbers(const wp_device_info *info) {
    return (numbers){.clock_hz = info->clock_hz != 0 ? (double)info->clock_hz : 1e9,
                     .memory = (double)info->memory_clock_hz * 2 * info->memory_bus_bits / 8,
                     .link = 12e9,
                     .int_lanes = 64,
                     .warp_lanes = WARP_LANES,
                     .l2_bytes = (double)info->l2_bytes,
                     .l2_latency_cycles = 250,
                     .atomic_cycles = 1,
                     .dram_channels = 16,
                     .dram_banks = 16,
                     .dram_latency_cycles = 200,
                     .row_miss_cycles = 40,
                     .launch_cycles = 5e3};
}

/* A sector in a DRAM row of its own occupies the channel for its bytes and a bank for the row. */
static void set_memory(wpi_planner *planner, const numbers *n) {
    const double cycle_ns = 1e9 / n->clock_hz;
    const double row_ns = n->row_miss_cycles * cycle_ns / (n->dram_channels * n->dram_banks);
    planner->memory_ns_per_byte = 1e9 / n->memory;
    planner->link_ns_per_byte = 1e9 / n->link;
    planner->access_ns = larger(SECTOR_BYTES * planner->memory_ns_per_byte, row_ns);
    planner->memory_latency_ns = (n->dram_latency_cycles + n->row_miss_cycles) * cycle_ns;
    planner->l2_bytes = n->l2_bytes;
    planner->l2_access_ns = n->l2_bandwidth > 0 ? SECTOR_BYTES * 1e9 / n->l2_bandwidth : 0;
    planner->l2_latency_ns = n->l2_latency_cycles * cycle_ns;
    planner->atomic_ns = n->atomic_cycles * cycle_ns;
}

/* Simulated GPUs have keys of their own; any device has those of a profile. */
static wp_status take_keys(const wp_device_info *info, const char *profile, numbers *n,
                           wp_error *err) {
    const bool is_simulated = strncmp(info->spec, "sim:", 4) == 0;
    if (profile == NULL)
        return is_simulated ? wp_device_visit_keys(info->spec, take_key, n, err) : WP_STATUS_OK;
    char *spec = wpi_format("sim:%s", profile);
    if (spec == NULL) return WP_FAIL(err, NOMEM, "profile %s", profile);
    const wp_status status = wp_device_visit_keys(spec, take_key, n, err);
    wpi_free(spec);
    return status;
}

wp_status wpi_planner_init(wpi_planner *planner, wp_device *device, const char *profile,
                           uint64_t thread_count, wp_error *err) {
    const wp_device_info *info = wp_device_get_info(device);
    numbers n = usual_numbers(info);
    *planner = (wpi_planner){0};
    (void)snprintf(planner->spec, sizeof planner->spec, "%s%s%s", info->spec,
                   profile != NULL ? " as " : "", profile != NULL ? profile : "");
    WP_TRY(take_keys(info, profile, &n, err));
    if (n.memory <= 0) n.memory = 200e9;
    const double sms = info->sm_count != 0 ? info->sm_count : 1;
    planner->threads = sms * (info->threads_per_sm_max != 0 ? info->threads_per_sm_max : 1024);
    if (thread_count != 0 && planner->threads > (double)thread_count)
        planner->threads = (double)thread_count;
    planner->instruction_ns = 1e9 / (n.clock_hz * n.int_lanes * sms);
    planner->warp_ns = 1e9 / (n.clock_hz * n.warp_lanes * sms);
    set_memory(planner, &n);
    planner->launch_ns = n.launch_cycles * 1e9 / n.clock_hz +
                         LAUNCH_LATENCIES * (planner->l2_latency_ns + planner->memory_latency_ns);
    set_levels(planner, &n);
    return WP_STATUS_OK;
}

/* ---- costs ---- */

typedef struct cost {
    double link, input, passes, table, atomics, launches, row;
} cost;

static double missed_of(double reach_bytes, double region_bytes) {
    return region_bytes > reach_bytes ? 1 - reach_bytes / region_bytes : 0;
}

/* The cost of a row: the key is compared, then atomics access the bucket, whose sectors are read
 * and written back. The thread waits only for the comparison. */
static double table_ns(const wpi_planner *planner, const wpi_plan_task *task, double region_bytes) {
    const double accesses = task->is_read_only ? 1 : 1 + task->row_atomics;
    const double beyond = task->bucket_bytes > 8 ? (double)task->bucket_bytes - 8 : 0;
    const double sectors = (1 + beyond / SECTOR_BYTES) * (task->is_read_only ? 1 : 2);
    const double missed = missed_of(planner->l2_bytes, region_bytes);
    double slowest =
        larger(accesses * planner->l2_access_ns, missed * sectors * planner->access_ns);
    double latency = planner->l2_latency_ns + missed * planner->memory_latency_ns;
    for (uint32_t i = 0; i < planner->level_count; i++) {
        const wpi_planner_level *level = &planner->levels[i];
        const double walked = missed_of((double)level->reach_bytes, region_bytes);
        slowest = larger(slowest, accesses * walked * level->service_ns);
        latency += walked * level->delay_ns;
    }
    return larger(slowest, latency / planner->threads);
}

/* If the first pass stores the rows on the device, its transfer overlaps only with that pass;
 * chunks that are copied ahead, or read through the link in each pass, overlap with all passes. */
static double row_of(const cost *c, const wpi_plan_task *task, wp_strategy strategy,
                     double passes) {
    const double looks = c->input + c->passes, work = looks + larger(c->table, c->atomics);
    double beside = work;
    if (task->placement == WP_PLACEMENT_ZERO_COPY && strategy == WP_STRATEGY_COPY)
        beside = work / passes;
    if (task->placement == WP_PLACEMENT_ZERO_COPY && strategy == WP_STRATEGY_PARTITION)
        beside = looks / PARTITION_PASSES;
    return larger(c->link, beside) + work - beside + c->launches;
}

static cost cost_of(const wpi_planner *planner, const wpi_plan_task *task, wp_strategy strategy,
                    uint64_t scope_bytes, bool is_combined) {
    const double table_bytes = (double)task->table_bytes, row_bytes = (double)task->row_bytes;
    const double region =
        scope_bytes == 0 || scope_bytes > task->table_bytes ? table_bytes : (double)scope_bytes;
    const double passes = strategy == WP_STRATEGY_DIRECT || strategy == WP_STRATEGY_SEPO
                              ? 1
                              : (double)(uint64_t)(table_bytes / region + 0.999);
    const bool is_kept =
        task->placement != WP_PLACEMENT_ZERO_COPY || strategy != WP_STRATEGY_SCOPED;
    const bool is_partition = strategy == WP_STRATEGY_PARTITION;
    const double touched = is_partition ? 5 : passes,
                 looks = is_partition ? PARTITION_PASSES : passes;
    cost c = {0};
    c.link = row_bytes * planner->link_ns_per_byte * (is_kept ? 1 : passes);
    c.input = row_bytes * planner->memory_ns_per_byte * touched;
    c.passes = PASS_INSTRUCTIONS * planner->instruction_ns * looks;
    c.table = (1 - task->hot_share) * table_ns(planner, task, region) +
              TABLE_INSTRUCTIONS * planner->instruction_ns;
    c.atomics = task->hottest_share * task->row_atomics * planner->atomic_ns;
    if (is_combined) { /* rows of a warp's most frequent key count as one */
        const double joined = task->row_atomics > 1 ? task->row_atomics - 1 : 0;
        c.atomics /= larger(1, WARP_LANES * task->warp_share);
        c.passes += (TEAM_OPERATIONS + JOIN_OPERATIONS * joined) * planner->warp_ns * looks;
    }
    if (task->chunk_rows != 0)
        c.launches = (passes + (is_partition ? PARTITION_PASSES : 0)) * planner->launch_ns /
                     (double)task->chunk_rows;
    c.row = row_of(&c, task, strategy, passes);
    return c;
}

/* ---- the choice ---- */

typedef struct search {
    const wpi_planner *planner;
    const wpi_plan_task *task;
    wpi_text *text;
    wpi_plan best;
} search;

static void consider(search *s, wp_strategy strategy, uint64_t scope_bytes) {
    const cost c = cost_of(s->planner, s->task, strategy, scope_bytes, false);
    char scope[32] = "the table";
    if (scope_bytes != 0) (void)wpi_format_bytes(scope_bytes, scope);
    if (s->text != NULL)
        wpi_text_appendf(s->text,
                         "  %-9s  scope %-10s  row %.3f ns: link %.3f, input %.3f, passes %.3f, "
                         "table %.3f, atomics %.3f, launches %.3f\n",
                         wp_strategy_name(strategy), scope, c.row, c.link, c.input, c.passes,
                         c.table, c.atomics, c.launches);
    if (s->best.strategy == WP_STRATEGY_AUTO || c.row < GAIN_MIN * s->best.row_ns)
        s->best = (wpi_plan){strategy, scope_bytes, c.row};
}

/* A scope is a level's reach, less a part for the input's pages. */
static uint64_t scope_of(const wpi_planner_level *level) {
    return level->reach_bytes - level->reach_bytes / 64;
}

static void consider_scopes(search *s, wp_strategy strategy) {
    const wpi_plan_task *task = s->task;
    if (task->scope_bytes != 0) {
        consider(s, strategy, task->scope_bytes);
        return;
    }
    for (uint32_t i = s->planner->level_count; i-- > 0;) { /* the fewest passes first */
        const uint64_t scope_bytes = scope_of(&s->planner->levels[i]);
        if (scope_bytes == 0 || task->table_bytes / scope_bytes >= PASSES_MAX) continue;
        if (s->planner->levels[i].reach_bytes < task->table_bytes)
            consider(s, strategy, scope_bytes);
    }
}

static bool is_allowed(const wpi_plan_task *task, wp_strategy strategy) {
    if (task->is_read_only && strategy > WP_STRATEGY_SCOPED) return false;
    return task->strategy == WP_STRATEGY_AUTO || task->strategy == strategy;
}

wpi_plan wpi_planner_choose(const wpi_planner *planner, const wpi_plan_task *task, wpi_text *text) {
    search s = {.planner = planner, .task = task, .text = text};
    char table[32];
    if (text != NULL)
        wpi_text_appendf(text,
                         "%s: table %s, rows of %" PRIu64 " bytes, input %s, %.0f%% hot keys\n",
                         planner->spec, wpi_format_bytes(task->table_bytes, table), task->row_bytes,
                         wp_placement_name(task->placement), 100 * task->hot_share);
    if (text != NULL && planner->level_count == 0)
        wpi_text_append(text,
                        "  the TLBs of this device are unknown, so scopes are not considered; "
                        "--profile names them\n");
    if (is_allowed(task, WP_STRATEGY_DIRECT)) consider(&s, WP_STRATEGY_DIRECT, 0);
    if (task->strategy == WP_STRATEGY_SEPO) consider(&s, WP_STRATEGY_SEPO, 0);
    for (wp_strategy it = WP_STRATEGY_SCOPED; it <= WP_STRATEGY_PARTITION; it++)
        if (is_allowed(task, it)) consider_scopes(&s, it);
    if (s.best.strategy == WP_STRATEGY_AUTO) /* requested, but all fits one scope */
        s.best = (wpi_plan){.strategy = task->strategy, .scope_bytes = task->scope_bytes};
    if (text != NULL) wpi_text_appendf(text, "  ─► %s\n", wp_strategy_name(s.best.strategy));
    return s.best;
}

/* ---- a full table, without memory for a larger one ---- */

/* The number of all groups, if `rows` random rows had `groups` of them: groups = all (1 -
 * exp(-rows/all)). */
double wpi_planner_groups(double groups, double rows) {
    double low = groups, high = GROUPS_MOST;
    if (rows < groups + 1) return high;
    for (int i = 0; i < 100; i++) {
        const double all = (low + high) / 2;
        if (all * -expm1(-rows / all) < groups)
            low = all;
        else
            high = all;
    }
    return low;
}

/* Spilling: the table goes through the link as often as it is full. Rows between two times: as many
 * as it takes to see `held` of the groups. Postponing: it goes once for each part of the groups; of
 * the rows, those of groups that are in no part yet go to the host before each part but the first,
 * and come like others then. */
bool wpi_planner_postpones(const wpi_planner *planner, const wpi_plan_task *task, wpi_plan plan,
                           const wpi_full_table *full, wpi_text *text) {
    const double all = larger(full->groups, full->held), held = full->held;
    const double between = all > 1.01 * held ? -all * log1p(-held / all) : 5 * held;
    const double bucket_ns = (double)task->bucket_bytes * planner->link_ns_per_byte;
    const double spill = held / between * bucket_ns;
    const double parts = ceil(all / held);
    const double again = parts - 1 - held / all * parts * (parts - 1) / 2;
    const double row_ns = (double)task->row_bytes * planner->link_ns_per_byte + plan.row_ns;
    const double postpone = again * row_ns + bucket_ns * all / larger(full->rows, all);
    const bool is_asked = task->strategy == WP_STRATEGY_SEPO;
    const bool postpones =
        is_asked || (task->strategy == WP_STRATEGY_AUTO && postpone < GAIN_MIN * spill);
    if (text != NULL)
        wpi_text_appendf(text,
                         "  the table is full with %.0f of about %.4g groups: to spill it %.3f ns "
                         "for each row, to postpone rows %.3f, in %.4g passes ─► %s\n",
                         held, all, spill, postpone, parts, postpones ? "sepo" : "spill");
    return postpones;
}

bool wpi_planner_combines(const wpi_planner *planner, const wpi_plan_task *task, wpi_plan plan,
                          wpi_text *text) {
    const cost alone = cost_of(planner, task, plan.strategy, plan.scope_bytes, false);
    const cost together = cost_of(planner, task, plan.strategy, plan.scope_bytes, true);
    const bool combines = together.row < GAIN_MIN * alone.row;
    if (text != NULL)
        wpi_text_appendf(
            text,
            "  the most frequent key has %.0f%% of concurrent rows: atomics %.3f ns, row "
            "%.3f; combined in warps %.3f, row %.3f ─► %s\n",
            100 * task->hottest_share, alone.atomics, alone.row, together.atomics, together.row,
            combines ? "combined" : "separate");
    return combines;
}

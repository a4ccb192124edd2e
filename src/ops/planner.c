/* SPDX-License-Identifier: Apache-2.0 */
#include "ops/planner.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"

#define SECTOR_BYTES 32.0
#define ROW_ACCESSES 2.0        /* of the table: the key is read, the count is added to */
#define PASS_INSTRUCTIONS 30.0  /* a row is read, hashed, placed, and left alone */
#define TABLE_INSTRUCTIONS 20.0 /* … or not */
#define PASSES_MAX 4096u
#define GAIN_MIN                                                                                   \
    0.9 /* what is less simple must cost less than this share: the terms are estimates */
#define LAUNCH_LATENCIES 4.0 /* accesses that wait for one another in a launch's begin and end */

const char *wpi_strategy_name(wp_strategy strategy) {
    static const char *const names[WP_STRATEGY_COUNT] = {"auto", "direct", "scoped", "copy",
                                                         "partition"};
    return names[strategy];
}

const char *wpi_placement_name(wp_placement placement) {
    static const char *const names[WP_PLACEMENT_COUNT] = {"auto", "zero-copy", "copied",
                                                          "resident"};
    return names[placement];
}

/* ---- what is known ------------------------------------------------------------------------------
 */

/* Numbers of a simulated GPU, as they come. */
typedef struct numbers {
    double clock_hz, memory, link, int_lanes, sms, walkers, walk_levels, walk_level_cycles;
    double l2_latency_cycles, dram_latency_cycles, launch_cycles;
    uint32_t levels;
    struct {
        double entries, coverage, ports, mshrs, latency_cycles, groups;
    } tlb[WPI_PLANNER_LEVELS_MAX];
} numbers;

static double bytes_in(const char *value) {
    uint64_t bytes = 0;
    char amount[64];
    (void)strncpy(amount, value, sizeof amount - 1);
    amount[sizeof amount - 1] = '\0';
    char *per = strchr(amount, '/'); /* of a rate */
    if (per != NULL) *per = '\0';
    return wp_parse_bytes(amount, &bytes, NULL) == WP_STATUS_OK ? (double)bytes : 0;
}

/* Of "177cycles" or "2us". */
static double cycles_in(const char *value, double clock_hz) {
    uint64_t ps = 0;
    if (strstr(value, "cycle") != NULL) return strtod(value, NULL);
    return wp_parse_duration_ps(value, &ps, NULL) == WP_STATUS_OK ? (double)ps * clock_hz / 1e12
                                                                  : 0;
}

static double hertz_in(const char *value) {
    uint64_t hz = 0;
    return wp_parse_hz(value, &hz, NULL) == WP_STATUS_OK ? (double)hz : 0;
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
    if (strcmp(key->name, "l2.latency") == 0)
        n->l2_latency_cycles = cycles_in(key->value, n->clock_hz);
    if (strcmp(key->name, "link.bandwidth") == 0) n->link = bytes_in(key->value);
    if (strcmp(key->name, "class.int.lanes") == 0) n->int_lanes = strtod(key->value, NULL);
    if (strcmp(key->name, "walker.count") == 0) n->walkers = strtod(key->value, NULL);
    if (strcmp(key->name, "walker.levels") == 0) n->walk_levels = strtod(key->value, NULL);
    if (strcmp(key->name, "walker.level_latency") == 0)
        n->walk_level_cycles = cycles_in(key->value, n->clock_hz);
    if (strcmp(key->name, "tlb.levels") == 0) n->levels = (uint32_t)strtoul(key->value, NULL, 10);
    if (strncmp(key->name, "tlb.l", 5) == 0) take_tlb_key(n, key->name + 5, key->value);
}

/* A miss is answered by the level behind, which has ports and MSHRs, or by the walkers. */
static void set_levels(wpi_planner *planner, const numbers *n) {
    const double cycle_ns = 1e9 / n->clock_hz, walk_cycles = n->walk_levels * n->walk_level_cycles;
    for (uint32_t i = 0; i < n->levels && i < WPI_PLANNER_LEVELS_MAX; i++) {
        wpi_planner_level *level = &planner->levels[planner->level_count];
        const bool is_last = i + 1 == n->levels;
        const double cycles = is_last ? walk_cycles : n->tlb[i + 1].latency_cycles;
        const double at_once = is_last ? n->walkers : n->tlb[i].mshrs;
        const double shared =
            is_last || n->tlb[i + 1].groups == 1 ? 1 : 4; /* a GPC's are several */
        level->reach_bytes = (uint64_t)(n->tlb[i].entries * n->tlb[i].coverage);
        level->delay_ns = cycles * cycle_ns;
        level->service_ns = cycles / (at_once > 0 ? at_once : 1) * cycle_ns;
        const double port_ns = cycle_ns / (is_last ? 1 : n->tlb[i + 1].ports) / shared;
        if (level->service_ns < port_ns) level->service_ns = port_ns;
        planner->level_count++;
    }
}

void wpi_planner_init(wpi_planner *planner, wp_device *device, uint64_t thread_count) {
    const wp_device_info *info = wp_device_get_info(device);
    numbers n = {.clock_hz = info->clock_hz != 0 ? (double)info->clock_hz : 1e9,
                 .memory = (double)info->memory_clock_hz * 2 * info->memory_bus_bits / 8,
                 .link = 12e9,
                 .int_lanes = 64,
                 .l2_latency_cycles = 250,
                 .dram_latency_cycles = 200,
                 .launch_cycles = 5e3};
    *planner = (wpi_planner){0};
    memcpy(planner->spec, info->spec, sizeof planner->spec);
    const bool is_simulated = strncmp(info->spec, "sim:", 4) == 0;
    if (is_simulated && wp_device_visit_keys(info->spec, take_key, &n, NULL) != WP_STATUS_OK)
        n.levels = 0;
    if (n.memory <= 0) n.memory = 200e9;
    const double sms = info->sm_count != 0 ? info->sm_count : 1;
    planner->threads = sms * (info->threads_per_sm_max != 0 ? info->threads_per_sm_max : 1024);
    if (thread_count != 0 && planner->threads > (double)thread_count)
        planner->threads = (double)thread_count;
    planner->memory_ns_per_byte = 1e9 / n.memory;
    planner->link_ns_per_byte = 1e9 / n.link;
    planner->instruction_ns = 1e9 / (n.clock_hz * n.int_lanes * sms);
    planner->access_ns = 2 * SECTOR_BYTES * planner->memory_ns_per_byte; /* rows are not open */
    planner->latency_ns = (n.l2_latency_cycles + n.dram_latency_cycles) * 1e9 / n.clock_hz;
    planner->launch_ns =
        n.launch_cycles * 1e9 / n.clock_hz + LAUNCH_LATENCIES * planner->latency_ns;
    set_levels(planner, &n);
}

/* ---- costs --------------------------------------------------------------------------------------
 */

typedef struct cost {
    double link, input, passes, table, launches, row;
} cost;

static double larger(double a, double b) {
    return a > b ? a : b;
}

/* Of an access at random in a region: what is slowest, or waiting, where threads are few. */
static double access_ns(const wpi_planner *planner, double region_bytes) {
    double slowest = planner->access_ns, latency = planner->latency_ns;
    for (uint32_t i = 0; i < planner->level_count; i++) {
        const wpi_planner_level *level = &planner->levels[i];
        const double reach = (double)level->reach_bytes;
        const double missed = region_bytes > reach ? 1 - reach / region_bytes : 0;
        slowest = larger(slowest, missed * level->service_ns);
        latency += missed * level->delay_ns;
    }
    return larger(slowest, latency / planner->threads);
}

static cost cost_of(const wpi_planner *planner, const wpi_plan_task *task, wp_strategy strategy,
                    uint64_t scope_bytes) {
    const double table_bytes = (double)task->table_bytes, row_bytes = (double)task->row_bytes;
    const double region =
        scope_bytes == 0 || scope_bytes > task->table_bytes ? table_bytes : (double)scope_bytes;
    const double passes =
        strategy == WP_STRATEGY_DIRECT ? 1 : (double)(uint64_t)(table_bytes / region + 0.999);
    const bool is_kept =
        task->placement != WP_PLACEMENT_ZERO_COPY || strategy != WP_STRATEGY_SCOPED;
    const bool is_partition = strategy == WP_STRATEGY_PARTITION;
    cost c = {0};
    c.link = row_bytes * planner->link_ns_per_byte * (is_kept ? 1 : passes);
    const double touched = is_partition ? 5 : passes;
    c.input = row_bytes * planner->memory_ns_per_byte * touched;
    c.passes = PASS_INSTRUCTIONS * planner->instruction_ns * (is_partition ? 3 : passes);
    c.table = (task->is_read_only ? 1 : ROW_ACCESSES) * (1 - task->hot_share) *
                  access_ns(planner, region) +
              TABLE_INSTRUCTIONS * planner->instruction_ns;
    if (task->chunk_rows != 0)
        c.launches =
            (passes + (is_partition ? 3 : 0)) * planner->launch_ns / (double)task->chunk_rows;
    c.row = larger(c.link, c.input + c.passes + c.table) + c.launches;
    return c;
}

/* ---- the choice ---------------------------------------------------------------------------------
 */

typedef struct search {
    const wpi_planner *planner;
    const wpi_plan_task *task;
    wp_text *text;
    wpi_plan best;
} search;

static void consider(search *s, wp_strategy strategy, uint64_t scope_bytes) {
    const cost c = cost_of(s->planner, s->task, strategy, scope_bytes);
    char scope[32] = "the table";
    if (scope_bytes != 0) (void)wp_format_bytes(scope_bytes, scope);
    if (s->text != NULL)
        wp_text_appendf(s->text,
                        "  %-9s  scope %-10s  row %.3f ns: link %.3f, input %.3f, passes %.3f, "
                        "table %.3f, launches %.3f\n",
                        wpi_strategy_name(strategy), scope, c.row, c.link, c.input, c.passes,
                        c.table, c.launches);
    if (s->best.strategy == WP_STRATEGY_AUTO || c.row < GAIN_MIN * s->best.row_ns)
        s->best = (wpi_plan){strategy, scope_bytes, c.row};
}

/* A scope is what a level reaches, less a little for the input's own pages. */
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

wpi_plan wpi_planner_choose(const wpi_planner *planner, const wpi_plan_task *task, wp_text *text) {
    search s = {.planner = planner, .task = task, .text = text};
    char table[32];
    if (text != NULL)
        wp_text_appendf(text,
                        "%s: table %s, rows of %" PRIu64 " bytes, input %s, %.0f%% hot keys\n",
                        planner->spec, wp_format_bytes(task->table_bytes, table), task->row_bytes,
                        wpi_placement_name(task->placement), 100 * task->hot_share);
    if (text != NULL && planner->level_count == 0)
        wp_text_append(text, "  no TLB is known of this device: scopes are not known to help\n");
    if (is_allowed(task, WP_STRATEGY_DIRECT)) consider(&s, WP_STRATEGY_DIRECT, 0);
    for (wp_strategy it = WP_STRATEGY_SCOPED; it < WP_STRATEGY_COUNT; it++)
        if (is_allowed(task, it)) consider_scopes(&s, it);
    if (s.best.strategy == WP_STRATEGY_AUTO) /* asked for, but all fits one scope */
        s.best = (wpi_plan){.strategy = task->strategy, .scope_bytes = task->scope_bytes};
    if (text != NULL) wp_text_appendf(text, "  ─► %s\n", wpi_strategy_name(s.best.strategy));
    return s.best;
}

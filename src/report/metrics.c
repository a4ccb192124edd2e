/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A metric is a sum of terms divided by a sum of terms. A term is a counter, or a capacity of the
 * machine in the counted time: cycles, warp slots. `#` stands for each level of TLBs.
 * A metric whose divisor is 0 is left out.
 */
#include "report/metrics.h"

#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "report/simulation.h"

#define TERMS_MAX 4u
#define LEVELS_MAX 9u

typedef struct row {
    const char *name, *label, *unit, *group, *doc;
    double scale;
    const char *above[TERMS_MAX], *below[TERMS_MAX];
} row;

#define EXECUTION "Execution"
#define ACCESSES "Memory accesses"
#define LOOKUPS "Caches and address translation"
#define BANDWIDTH "DRAM and link"
#define PREFETCH "Prefetching of pages"
#define SHARED "Shared memory"
#define TIME "Where the time of accesses goes"
#define WARPS "Where the time of warps goes"
#define PEAK "Speed of light"

#define SPENT(part, label, doc)                                                                    \
    {"spent_" part "_pct",         label,           "%", TIME, doc, 100,                           \
     {"memory_spent_" part "_ps"}, {"spent of all"}}

#define WARP_TIME(what, label, doc)                                                                \
    {"warp_" what "_pct", label, "%", WARPS, doc, 100, {"warp_time_" what "_ps"}, {"warp time"}}

/* clang-format off */
static const row rows[] = {
    {"ipc_per_sm", "IPC per SM", "", EXECUTION,
     "warp instructions issued per clock cycle and SM, over the time in which kernels ran",
     1, {"kernel_warp_instructions"}, {"sm cycles"}},
    {"ipc", "IPC of the GPU", "", EXECUTION,
     "warp instructions issued per clock cycle by all SMs together",
     1, {"kernel_warp_instructions"}, {"cycles"}},
    {"thread_ipc", "thread instructions per cycle", "", EXECUTION,
     "instructions of active threads per clock cycle, all SMs together",
     1, {"kernel_thread_instructions"}, {"cycles"}},
    {"lanes_pct", "warp execution efficiency", "%", EXECUTION,
     "active threads per warp instruction, as a share of 32",
     100. / 32, {"kernel_thread_instructions"}, {"kernel_warp_instructions"}},
    {"occupancy_pct", "achieved occupancy", "%", EXECUTION,
     "resident warps as a share of those that the SMs can hold, over the time of kernels",
     100, {"kernel_resident_warps_ps"}, {"warp slots"}},
    {"load_latency_mean_ns", "load latency, mean", "ns", ACCESSES,
     "time from the issue of a load until its last sector has arrived",
     1e-3, {"sum of memory_load_latency_ps"}, {"memory_load_latency_ps"}},
    {"sectors_per_load", "sectors per load", "", ACCESSES,
     "32-byte sectors that a warp's load touches; 4 when 32 threads read consecutive words",
     1, {"memory_load_sectors"}, {"memory_load_accesses"}},
    {"sectors_per_store", "sectors per store", "", ACCESSES,
     "32-byte sectors that a warp's store touches",
     1, {"memory_store_sectors"}, {"memory_store_accesses"}},
    {"sectors_per_atomic", "sectors per atomic", "", ACCESSES,
     "32-byte sectors that a warp's atomic or reduction touches",
     1, {"memory_atomic_sectors", "memory_reduce_sectors"},
     {"memory_atomic_accesses", "memory_reduce_accesses"}},
    {"pages_per_access", "pages per access", "", ACCESSES,
     "pages that a warp's access touches; each needs a translation",
     1, {"memory_load_pages", "memory_store_pages", "memory_atomic_pages", "memory_reduce_pages"},
     {"memory_load_accesses", "memory_store_accesses", "memory_atomic_accesses",
      "memory_reduce_accesses"}},
    {"l1_hit_pct", "L1 hit rate", "%", LOOKUPS, "L1 cache hits per look-up",
     100, {"l1_hits"}, {"l1_hits", "l1_merges", "l1_misses"}},
    {"l2_hit_pct", "L2 hit rate", "%", LOOKUPS, "L2 cache hits per look-up",
     100, {"l2_hits"}, {"l2_hits", "l2_merges", "l2_misses"}},
    {"tlb_l#_hit_pct", "L# TLB hit rate", "%", LOOKUPS, "hits of this level of TLBs per look-up",
     100, {"tlb_l#_hits"}, {"tlb_l#_hits", "tlb_l#_merges", "tlb_l#_misses"}},
    {"itlb_hit_pct", "instruction TLB hit rate", "%", LOOKUPS, "instruction TLB hits per look-up",
     100, {"itlb_hits"}, {"itlb_hits", "itlb_misses"}},
    {"tlb_sharing_hit_pct", "requests served by another L1 TLB", "%", LOOKUPS,
     "translation requests that another SM's L1 TLB answered, as a share of all requests",
     100, {"tlb_sharing_hits"}, {"tlb_l1_hits", "tlb_l1_merges", "tlb_l1_misses"}},
    {"translation_mean_ns", "translation latency, mean", "ns", LOOKUPS,
     "time of a translation request, page walks and far faults included",
     1e-3, {"tlb_translation_ps"}, {"tlb_l1_hits", "tlb_l1_merges", "tlb_l1_misses"}},
    {"walk_latency_mean_ns", "page walk latency, mean", "ns", LOOKUPS,
     "time from the request of a page walk until its end, queueing included",
     1e-3, {"sum of walker_latency_ps"}, {"walker_latency_ps"}},
    {"walk_queue_mean_ns", "… queueing for a walker", "ns", LOOKUPS,
     "the part of the page walk latency before a walker is free",
     1e-3, {"sum of walker_queue_ps"}, {"walker_queue_ps"}},
    {"walker_utilisation_pct", "page walker utilisation", "%", LOOKUPS,
     "busy page walkers as a share of all",
     100, {"walker_utilisation_ps"}, {"walker time"}},
    {"tlb_l#_stall_mean_ns", "L# TLB stall, mean", "ns", LOOKUPS,
     "time that a miss stalls while all MSHRs of this TLB are in use",
     1e-3, {"tlb_l#_stall_wait_ps"}, {"tlb_l#_stalls"}},
    {"l1_stall_mean_ns", "L1 stall, mean", "ns", LOOKUPS,
     "time that a load stalls while the L1 cache has no free MSHR or line",
     1e-3, {"l1_stall_wait_ps"}, {"l1_stalls"}},
    {"l2_mshr_wait_mean_ns", "L2 MSHR wait, mean", "ns", LOOKUPS,
     "time that a miss waits for a free MSHR of its L2 slice",
     1e-3, {"l2_mshr_wait_ps"}, {"l2_mshr_waits"}},
    {"dram_bytes_per_s", "DRAM throughput", "B/s", BANDWIDTH, "bytes read and written per second",
     1e12, {"dram_read_bytes", "dram_written_bytes"}, {"time"}},
    {"dram_utilisation_pct", "DRAM utilisation", "%", BANDWIDTH,
     "time for which the data buses of the DRAM channels are busy",
     100, {"dram_utilisation_ps"}, {"dram time"}},
    {"link_to_device_utilisation_pct", "link utilisation, to device", "%", BANDWIDTH,
     "time for which the link from the host to the device is busy",
     100, {"link_to_device_utilisation_ps"}, {"time"}},
    {"link_to_host_utilisation_pct", "link utilisation, to host", "%", BANDWIDTH,
     "time for which the link from the device to the host is busy",
     100, {"link_to_host_utilisation_ps"}, {"time"}},
    {"prefetch_accuracy_pct", "prefetch accuracy", "%", PREFETCH,
     "prefetched pages that were accessed before they were evicted, per prefetched page",
     100, {"paging_prefetched_used"}, {"paging_prefetched"}},
    {"prefetch_coverage_pct", "prefetch coverage", "%", PREFETCH,
     "prefetched pages that were accessed, per page that was accessed or faulted on",
     100, {"paging_prefetched_used"}, {"paging_prefetched_used", "paging_demanded"}},
    {"shared_conflicts_per_access", "bank conflict cycles per access", "", SHARED,
     "additional cycles that bank conflicts cost an access to shared memory",
     1, {"shared_conflict_cycles"}, {"shared_accesses"}},
    {"peak_issue_pct", "issue slots", "%", PEAK,
     "time for which warp schedulers are occupied, by instructions and the units that execute them",
     100, {"kernel_issue_ps"}, {"scheduler time"}},
    {"peak_lsu_pct", "load/store units", "%", PEAK,
     "lines of 128 bytes that accesses touch, of one a cycle and SM",
     100, {"memory_load_lines", "memory_store_lines", "memory_atomic_lines", "memory_reduce_lines"},
     {"sm cycles"}},
    {"peak_shared_pct", "shared memory", "%", PEAK,
     "cycles of accesses to shared memory, bank conflicts included, of all cycles of the SMs",
     100, {"shared_accesses", "shared_conflict_cycles"}, {"sm cycles"}},
    {"peak_l1_pct", "L1", "%", PEAK, "sectors looked up, of four a cycle and SM",
     100, {"l1_hits", "l1_merges", "l1_misses"}, {"l1 sectors"}},
    {"peak_l2_pct", "L2", "%", PEAK, "time for which the ports of the L2 slices are busy",
     100, {"l2_utilisation_ps"}, {"l2 time"}},
    {"peak_tlb_l#_pct", "L# TLB ports", "%", PEAK,
     "look-ups, of those that the ports of the TLBs of this level can take",
     100, {"tlb_l#_port_wait_ps"}, {"tlb_l# look-ups"}},
    {"peak_fault_handler_pct", "far fault handler", "%", PEAK,
     "time for which a service of far faults is in progress",
     100, {"paging_handler_utilisation_ps"}, {"time"}},
    WARP_TIME("execute", "warp time: instructions", "issue slots, dependences and fetches of instructions"),
    WARP_TIME("not_selected", "… ready, not selected", "the scheduler issues for other warps"),
    WARP_TIME("lsu", "… load/store unit", "busy with lines of other accesses, or without room for a store"),
    WARP_TIME("shared", "… shared memory", "waiting for shared memory"),
    WARP_TIME("barrier", "… barrier", "waiting for other warps of the block"),
    WARP_TIME("threads", "… other threads", "spin loops, and waits for other threads"),
    WARP_TIME("fence", "… fence", "waiting until stores have been performed"),
    WARP_TIME("code", "… instruction TLB", "waiting for the translation of an instruction fetch"),
    WARP_TIME("translation", "… address translation", "waiting for an access: TLB look-ups and page walks; this and the next ones with their queues"),
    WARP_TIME("fault", "… far faults", "waiting for an access: far faults"),
    WARP_TIME("l1", "… L1", "waiting for an access: L1 cache"),
    WARP_TIME("l2", "… L2", "waiting for an access: L2 cache, and the interconnect to it and back"),
    WARP_TIME("dram", "… DRAM", "waiting for an access: DRAM"),
    WARP_TIME("link", "… link", "waiting for an access: host memory across the link"),
    WARP_TIME("drain", "… draining", "returned, with loads in flight that nothing used"),
    SPENT("issue", "access time: issue", "load/store unit: its latency, earlier lines of the access"),
    SPENT("translation", "… address translation", "TLB look-ups and page walks"),
    SPENT("fault", "… far faults", "stalled on a far fault until the page is resident"),
    SPENT("l1", "… L1", "L1 cache"),
    SPENT("l2", "… L2", "L2 cache, and the interconnect to it and back"),
    SPENT("dram", "… DRAM", "DRAM"),
    SPENT("link", "… link", "accesses to host memory across the link"),
    SPENT("queue", "… queueing", "stalled on busy ports, MSHRs, page walkers, banks and buses"),
};
/* clang-format on */

typedef struct counted {
    const wp_run_simulation *simulation;
    const uint64_t *values;
    uint64_t time_ps;
} counted;

static uint64_t value_of(const counted *c, const char *name, bool *is_known) {
    const bool is_sum = strncmp(name, "sum of ", 7) == 0;
    const wp_run_column *column = wpi_simulation_column(c->simulation, is_sum ? name + 7 : name);
    *is_known = column != NULL;
    if (column == NULL) return 0;
    return c->values[column->first + (is_sum ? 1 : 0)];
}

/* The sum of all counters whose names begin with `prefix`. */
static double sum_of(const counted *c, const char *prefix) {
    uint64_t sum = 0;
    for (size_t i = 0; i < c->simulation->column_count; i++) {
        const wp_run_column *column = &c->simulation->columns[i];
        if (strncmp(column->name, prefix, strlen(prefix)) == 0) sum += c->values[column->first];
    }
    return (double)sum;
}

static double units_of(const counted *c, const char *series) {
    for (size_t i = 0; i < c->simulation->series_count; i++)
        if (strcmp(c->simulation->series[i].name, series) == 0)
            return (double)c->simulation->series[i].units;
    return 0;
}

/* Look-ups that all TLBs of a level can take in `cycles`: "tlb_l2 look-ups". */
static double look_ups(const counted *c, const char *name, double cycles) {
    const wp_run_machine *m = &c->simulation->machine;
    const unsigned level = (unsigned)(name[5] - '1');
    if (level >= WP_RUN_TLB_LEVELS) return 0;
    return cycles * (double)m->tlb_count[level] * (double)m->tlb_ports[level];
}

/* The machine's capacity in the counted time; negative: no such capacity. IPC and occupancy are
 * relative to the time in which kernels ran. */
static double capacity(const counted *c, const char *name) {
    const wp_run_machine *m = &c->simulation->machine;
    bool is_known;
    const double kernels_ps = (double)value_of(c, "kernel_time_ps", &is_known);
    const double cycles = kernels_ps * 1e-12 * (double)m->clock_hz, time_ps = (double)c->time_ps;
    if (strcmp(name, "time") == 0) return time_ps;
    if (strcmp(name, "cycles") == 0) return cycles;
    if (strcmp(name, "sm cycles") == 0) return cycles * (double)m->sm_count;
    if (strcmp(name, "warp slots") == 0)
        return kernels_ps * (double)m->sm_count * (double)m->warps_per_sm;
    if (strcmp(name, "walker time") == 0) return time_ps * (double)m->walker_count;
    if (strcmp(name, "dram time") == 0) return time_ps * (double)m->dram_channels;
    if (strcmp(name, "l2 time") == 0) return time_ps * units_of(c, "l2_utilisation");
    if (strcmp(name, "scheduler time") == 0)
        return kernels_ps * (double)m->sm_count * (double)m->schedulers;
    if (strcmp(name, "l1 sectors") == 0) return 4 * cycles * (double)m->sm_count;
    if (strncmp(name, "tlb_l", 5) == 0 && strcmp(name + 6, " look-ups") == 0)
        return look_ups(c, name, cycles);
    if (strcmp(name, "spent of all") == 0) return sum_of(c, "memory_spent_");
    if (strcmp(name, "warp time") == 0) return sum_of(c, "warp_time_");
    return -1;
}

/* "tlb_l#_hits" -> "tlb_l2_hits" */
static void put_level(const char *pattern, uint32_t level, char *out, size_t out_bytes) {
    const char *mark = strchr(pattern, '#');
    if (mark == NULL)
        (void)snprintf(out, out_bytes, "%s", pattern);
    else
        (void)snprintf(out, out_bytes, "%.*s%u%s", (int)(mark - pattern), pattern, level % 10,
                       mark + 1);
}

/* Sums terms. False: a term is unknown. */
static bool add_up(const counted *c, const char *const terms[TERMS_MAX], uint32_t level,
                   double *sum) {
    *sum = 0;
    for (uint32_t i = 0; i < TERMS_MAX && terms[i] != NULL; i++) {
        char name[64];
        put_level(terms[i], level, name, sizeof name);
        double value = capacity(c, name);
        bool is_known = true;
        if (value < 0) value = (double)value_of(c, name, &is_known);
        if (!is_known) return false;
        *sum += value;
    }
    return true;
}

/* Visits a metric of a level. False: there is no such level. */
static bool tell(const counted *c, const row *r, uint32_t level, wpi_metric_visit visit,
                 void *object) {
    double above, below;
    char name[64], label[64];
    if (!add_up(c, r->above, level, &above) || !add_up(c, r->below, level, &below)) return false;
    if (below <= 0) return true;
    put_level(r->name, level, name, sizeof name);
    put_level(r->label, level, label, sizeof label);
    const wpi_metric metric = {name, label, r->unit, r->group, r->doc, r->scale * above / below};
    visit(object, &metric);
    return true;
}

void wpi_metrics_visit(const wp_run_simulation *simulation, const uint64_t *values,
                       uint64_t time_ps, wpi_metric_visit visit, void *object) {
    const counted c = {simulation, values, time_ps};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const bool has_levels = strchr(rows[i].name, '#') != NULL;
        for (uint32_t level = 1; level <= (has_levels ? LEVELS_MAX : 1); level++)
            if (!tell(&c, &rows[i], level, visit, object)) break;
    }
}

typedef struct wanted {
    const char *name;
    double value;
} wanted;

static void look(void *object, const wpi_metric *metric) {
    wanted *w = object;
    if (strcmp(metric->name, w->name) == 0) w->value = metric->value;
}

double wpi_metric_value(const wp_run_simulation *simulation, const uint64_t *values,
                        uint64_t time_ps, const char *name) {
    wanted w = {name, 0};
    wpi_metrics_visit(simulation, values, time_ps, look, &w);
    return w.value;
}

const char *wpi_metric_format(const wpi_metric *metric, char out[32]) {
    if (strcmp(metric->unit, "ns") == 0 && metric->value >= 0 && metric->value < 1e18)
        return wpi_format_duration((uint64_t)(metric->value + 0.5), out);
    if (strcmp(metric->unit, "B/s") == 0)
        (void)snprintf(out, 32, "%.2f GB/s", metric->value * 1e-9);
    else if (metric->unit[0] != '\0')
        (void)snprintf(out, 32, "%.2f %s", metric->value, metric->unit);
    else if (metric->value < 1) /* IPC of a lightly loaded GPU */
        (void)snprintf(out, 32, "%.2g", metric->value);
    else
        (void)snprintf(out, 32, "%.2f", metric->value);
    return out;
}

const char *wpi_series_label(const char *name) {
    static const char *const labels[][2] = {{"warps_resident", "resident warps"},
                                            {"tlb_waiting", "TLB misses: accesses that wait"},
                                            {"walker_utilisation", "page walkers"},
                                            {"l2_utilisation", "L2"},
                                            {"dram_utilisation", "DRAM"},
                                            {"paging_handler_utilisation", "far fault handler"},
                                            {"link_to_device_utilisation", "link to device"},
                                            {"link_to_host_utilisation", "link to host"}};
    for (size_t i = 0; i < sizeof labels / sizeof labels[0]; i++)
        if (strcmp(name, labels[i][0]) == 0) return labels[i][1];
    return name;
}

/* SPDX-License-Identifier: Apache-2.0 */
/** A simulated memory system on a bench: small profiles as text, accesses one by one or in streams.
 */
#ifndef SIM_RIG_H
#define SIM_RIG_H

#include "sim/memory/memory_system.h"
#include "wp_test.h"

/** Round numbers: a cycle is 1 ns, nothing overlaps unless a test wants it. */
#define RIG_PROFILE                                                                                \
    "[gpu]\ncore_clock = 1GHz\n"                                                                   \
    "[floorplan]\ngpcs = 2\ntpcs = 2\nsms = 2\n"                                                   \
    "[lsu]\nlatency = 10cycles\nstores = 1000\n"                                                   \
    "[l1]\non = on\nbytes = 16KiB\nways = 4\nlatency = 20cycles\nmshrs = 64\n"                     \
    "[l2]\nbytes = 1MiB\nways = 16\nslices = 4\nlatency = 100cycles\nmshrs = 1024\n"               \
    "bandwidth = 128B/cycle\nsm_bandwidth = 64B/cycle\natomic_interval = 2cycles\n"                \
    "[page]\nbytes = 64KiB\n"                                                                      \
    "[tlb]\nlevels = 2\n"                                                                          \
    "[tlb.l1]\nentries = 16\nlatency = 1cycle\nports = 4\nmshrs = 64\n"                            \
    "[tlb.l2]\nentries = 64\nlatency = 9cycles\nports = 4\nmshrs = 256\nsharing = gpu\n"           \
    "[walker]\ncount = 4\nlevels = 4\nlevel_latency = 50cycles\nqueue = 1000\n"                    \
    "[dram]\nchannels = 4\nbanks = 16\nbandwidth = 64B/cycle\nlatency = 80cycles\n"                \
    "row_miss = 30cycles\nrow_window = 1\n"                                                        \
    "[link]\nlatency = 1us\nremote_latency = 500ns\nbandwidth = 16GB/s\n"                          \
    "[paging]\non = on\n"

typedef struct rig {
    wpi_engine *engine;
    wpi_profile *profile;
    wpi_memory *memory;
    uint64_t answers;
    wpi_answer last;
} rig;

static inline void rig_open(rig *r, const char *const *settings, size_t setting_count) {
    wp_error err = {0};
    memset(r, 0, sizeof *r);
    assert_status_ok(
        wpi_profile_parse(RIG_PROFILE, "rig.ini", settings, setting_count, &r->profile, &err),
        &err);
    assert_status_ok(wpi_engine_create(&r->engine, &err), &err);
    assert_status_ok(wpi_memory_create(r->engine, r->profile, &r->memory, &err), &err);
}

static inline void rig_close(rig *r) {
    assert_u64(wpi_memory_under_way(r->memory), 0);
    wpi_memory_destroy(r->memory);
    wpi_engine_destroy(r->engine);
    wpi_profile_destroy(r->profile);
}

static inline void rig_note(void *object, uint64_t token, const wpi_answer *answer) {
    rig *r = object;
    (void)token;
    wpi_time_ps sum = 0;
    for (uint32_t i = 0; i < WPI_SPENT_COUNT; i++)
        sum += answer->spent_ps[i];
    assert_u64(sum, answer->answered - answer->issued);
    r->answers++;
    r->last = *answer;
}

/** Lane i accesses first + i * stride. */
static inline void rig_issue(rig *r, uint32_t sm, uint8_t kind, uint32_t mask, uint64_t first,
                             uint64_t stride, wpi_time_ps now) {
    uint64_t addresses[WPI_LANES];
    for (uint32_t i = 0; i < WPI_LANES; i++)
        addresses[i] = first + i * stride;
    const wpi_access access = {
        .sm = sm, .kind = kind, .size_bytes = 4, .mask = mask, .addresses = addresses};
    (void)wpi_memory_access(r->memory, &access, now, rig_note, r, 0);
}

/** One access, alone: how long it takes. */
static inline wpi_time_ps rig_time(rig *r, uint32_t sm, uint8_t kind, uint64_t address) {
    rig_issue(r, sm, kind, 1, address, 0, wpi_engine_now(r->engine));
    wpi_engine_run(r->engine);
    return r->last.answered - r->last.issued;
}

typedef struct rig_wanted {
    const char *name;
    uint64_t value, sum;
    bool is_found;
} rig_wanted;

static inline void rig_look(void *object, const wpi_statistic *statistic) {
    rig_wanted *wanted = object;
    if (strcmp(statistic->name, wanted->name) != 0) return;
    wanted->is_found = true;
    wanted->value = statistic->histogram != NULL ? statistic->histogram->count : statistic->value;
    wanted->sum = statistic->histogram != NULL ? statistic->histogram->sum : 0;
}

/** A counter by name. */
static inline uint64_t rig_count(const rig *r, const char *name) {
    rig_wanted wanted = {.name = name};
    wpi_memory_statistics(r->memory, rig_look, &wanted);
    if (!wanted.is_found) fail_msg("no statistic '%s'", name);
    return wanted.value;
}

/** The sum of a histogram. */
static inline uint64_t rig_count_sum(const rig *r, const char *name) {
    rig_wanted wanted = {.name = name};
    wpi_memory_statistics(r->memory, rig_look, &wanted);
    if (!wanted.is_found) fail_msg("no statistic '%s'", name);
    return wanted.sum;
}

#define RIG_OPEN(r, ...)                                                                           \
    do {                                                                                           \
        const char *const rig_settings[] = {__VA_ARGS__ NULL};                                     \
        rig_open((r), rig_settings, sizeof rig_settings / sizeof rig_settings[0] - 1);             \
    } while (0)

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Processor time of an access in the model, by what the access does. Half of each SM's warps have
 * one access under way, and issue the next when it is answered. With --watch as the first argument
 * accesses are counted by page, as for a report. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "sim/memory/memory_system.h"

typedef struct bench {
    wpi_engine *engine;
    wpi_memory *memory;
    uint64_t issued, answered, count;
    uint64_t random;
    uint64_t span_bytes; /* 0: one line */
    bool is_divergent;
} bench;

static uint64_t random_next(bench *b) {
    b->random ^= b->random << 13;
    b->random ^= b->random >> 7;
    b->random ^= b->random << 17;
    return b->random;
}

static void issue(bench *b, uint32_t sm, wpi_time_ps now);

static void answered(void *object, uint64_t token, const wpi_answer *answer) {
    bench *b = object;
    b->answered++;
    if (b->issued < b->count) issue(b, (uint32_t)token, answer->answered);
}

static void issue(bench *b, uint32_t sm, wpi_time_ps now) {
    uint64_t addresses[WPI_LANES];
    const uint64_t base =
        b->span_bytes == 0 ? sm * 4096 : random_next(b) % b->span_bytes / 128 * 128;
    for (uint32_t lane = 0; lane < WPI_LANES; lane++)
        addresses[lane] =
            b->is_divergent ? random_next(b) % b->span_bytes / 4 * 4 : base + 4 * lane;
    const wpi_access access = {
        .sm = sm, .size_bytes = 4, .mask = 0xffffffff, .addresses = addresses};
    b->issued++;
    (void)wpi_memory_access(b->memory, &access, now, answered, b, sm);
}

static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* One allocation. */
static void locate(void *object, uint64_t address, const char *name, wpi_watch_range *out) {
    (void)object, (void)address, (void)name;
    *out = (wpi_watch_range){.has_place = true, .bytes = UINT64_MAX};
}

static bool is_watched;

static int run(const char *profile_name, const char *what, uint64_t span_bytes, bool is_divergent,
               uint64_t count) {
    wp_error err;
    wpi_profile *profile = NULL;
    wpi_watch *watch = NULL;
    bench b = {.random = 88172645463325252u,
               .count = count,
               .span_bytes = span_bytes,
               .is_divergent = is_divergent};
    if (wpi_profile_load(profile_name, NULL, 0, &profile, &err) != WP_STATUS_OK ||
        wpi_engine_create(&b.engine, &err) != WP_STATUS_OK ||
        wpi_memory_create(b.engine, profile, &b.memory, &err) != WP_STATUS_OK ||
        wpi_watch_create(profile->page_bytes, locate, NULL, &watch, &err) != WP_STATUS_OK) {
        (void)fprintf(stderr, "%s\n", err.message);
        return 1;
    }
    if (is_watched) wpi_memory_set_watch(b.memory, watch);
    const double start = seconds();
    for (uint32_t sm = 0; sm < profile->sm_count; sm++)
        for (uint32_t warp = 0; warp < profile->warps / 2 && b.issued < count; warp++)
            issue(&b, sm, 0);
    wpi_engine_run(b.engine);
    const double spent = seconds() - start;
    printf("%-12s %-34s %8.3f us an access, %6.2f events, %5.1f M events/s\n", profile_name, what,
           1e6 * spent / (double)count, (double)wpi_engine_events_run(b.engine) / (double)count,
           1e-6 * (double)wpi_engine_events_run(b.engine) / spent);
    wpi_memory_destroy(b.memory);
    wpi_watch_destroy(watch);
    wpi_engine_destroy(b.engine);
    wpi_profile_destroy(profile);
    return 0;
}

int main(int argc, char **argv) {
    const char *const all[] = {"k80", "p100", "gtx1080ti", "v100", "h200"};
    int failed = 0;
    is_watched = argc > 1 && strcmp(argv[1], "--watch") == 0;
    argc -= is_watched;
    argv += is_watched;
    for (size_t i = 0; i < (argc > 1 ? (size_t)argc - 1 : sizeof all / sizeof all[0]); i++) {
        const char *name = argc > 1 ? argv[i + 1] : all[i];
        failed |= run(name, "coalesced, hits L1 or L2", 0, false, 500000);
        failed |= run(name, "coalesced, 256 MiB", (uint64_t)256 << 20, false, 200000);
        failed |= run(name, "divergent, 1 MiB", (uint64_t)1 << 20, true, 40000);
        failed |= run(name, "divergent, 8 GiB: all misses", (uint64_t)8 << 30, true, 20000);
    }
    return failed;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Four small programs under every legal set of policies of unified memory: each migration policy
 * with each prefetcher, evictor and fault service, as the profile and as UVMSmart, at 105, 125 and
 * 200 % of the smallest legal memory. All CTAs end, and nothing is left in flight. The other keys
 * that change the course of paging take their values in turn, by a hash of the run's number.
 *
 * Each set runs one program at one ratio, and CTest every seventh set. Without an argument, all
 * sets run; WARPAGE_TEST_PRODUCT=full runs all twelve programs and ratios of each, and a number
 * only that set, as in the message of a failure. */
#include <signal.h>
#include <stdlib.h>
#include <sys/time.h>
#include <unistd.h>

#include "sim_paging_bench.h"
#include "sim_script.h"
#include "wp_random.h"

#define COUNT(list) (sizeof(list) / sizeof *(list))
#define ACCESSES 24u /* of a warp */
#define CTAS 10u
#define WARPS 2u
#define ALL (~0u)
#define HANGS_S 60 /* of processor time; a run takes milliseconds */

/* ---- programs -------------------------------------------------------------------------------- */

static const wp_trace_step steps[] = {{.op = WP_TRACE_ACCESS, .value = 0},
                                      {.op = WP_TRACE_WAIT, .value = 0},
                                      {.op = WP_TRACE_ACCESS, .value = 1}};
static const wp_trace_block blocks[] = {{.first_step = 0, .step_count = 2, .access_count = 1},
                                        {.first_step = 2, .step_count = 1, .access_count = 1}};
static const wp_trace_site sites[] = {
    {.access = WP_TRACE_LOAD,
     .space = WP_TRACE_GLOBAL,
     .cache = WP_TRACE_CACHE_GLOBAL,
     .size_bytes = 4},
    {.access = WP_TRACE_STORE, .space = WP_TRACE_GLOBAL, .size_bytes = 4}};
static const wp_trace_tables tables = {.version = WP_TRACE_VERSION,
                                       .block_count = COUNT(blocks),
                                       .step_count = COUNT(steps),
                                       .site_count = COUNT(sites),
                                       .blocks = blocks,
                                       .steps = steps,
                                       .sites = sites};
enum { LOAD, STORE };
static const script_stop reads[] = {{LOAD, ALL}}, reads_and_writes[] = {{LOAD, ALL}, {STORE, ALL}};

/* The page of the n-th access of all, of `launch`. */
typedef uint32_t (*next_page)(uint64_t n, uint32_t launch, uint32_t pages, uint64_t *random);

static uint32_t in_order(uint64_t n, uint32_t launch, uint32_t pages, uint64_t *random) {
    (void)launch, (void)random;
    return (uint32_t)(n % pages);
}

static uint32_t there_and_back(uint64_t n, uint32_t launch, uint32_t pages, uint64_t *random) {
    (void)random;
    const uint32_t at = (uint32_t)(n % pages);
    return launch % 2 == 0 ? at : pages - 1 - at;
}

static uint32_t anywhere(uint64_t n, uint32_t launch, uint32_t pages, uint64_t *random) {
    (void)n, (void)launch;
    return (uint32_t)(wp_random_next(random) % pages);
}

/* An eighth, another one in each launch, has three quarters of the accesses. */
static uint32_t hot(uint64_t n, uint32_t launch, uint32_t pages, uint64_t *random) {
    const uint64_t r = wp_random_next(random);
    (void)n;
    return r % 4 == 0 ? (uint32_t)((r >> 8) % pages)
                      : (uint32_t)((r >> 8) % (pages / 8) + launch % 8 * (pages / 8));
}

static const struct program {
    const char *name;
    next_page next;
    const script_stop *path;
    uint32_t path_length;
    bool is_scattered; /* lanes in eight pages instead of one */
} programs[] = {{"stream", in_order, reads_and_writes, 2, false},
                {"sweep", there_and_back, reads_and_writes, 2, false},
                {"gather", anywhere, reads, 1, true},
                {"update", hot, reads_and_writes, 2, true}};

typedef struct run {
    script script; /* first */
    rig rig;
    const struct program *program;
    uint32_t pages, launch;
    uint64_t random, count;
} run;

static wpi_source_answer next(wpi_warp_source *source, uint32_t slot, uint32_t warp,
                              uint32_t blocked, wpi_warp_block *out) {
    run *r = (run *)(void *)source;
    const wpi_source_answer answer = script_next(source, slot, warp, blocked, out);
    if (answer != WPI_SOURCE_BLOCK) return answer;
    uint64_t *lanes = r->script.addresses[slot * source->warps_per_cta + warp];
    uint64_t page = 0;
    for (uint32_t lane = 0; lane < WPI_LANES; lane++) {
        if (lane == 0 || (r->program->is_scattered && lane % 4 == 0))
            page = r->program->next(r->count++, r->launch, r->pages, &r->random);
        lanes[lane] = BENCH_FIRST + page * WPI_PAGE_BYTES + lane * 4;
    }
    return answer;
}

static const wpi_warp_source_ops ops = {
    .start = script_start, .next = next, .finish = script_finish};

/* ---- sets of policies ------------------------------------------------------------------------ */

static const char *const services[] = {"drained", "pipelined", "serial", "added", "batch"};

/* As configs/as/uvmsmart.ini. */
static const char *const as_uvmsmart[] = {"paging.round_up=on",       "paging.zero_fill=off",
                                          "paging.replay_lines=1",    "paging.synchronize=return",
                                          "paging.cta_ends=quiet",    "paging.stage_victims=on",
                                          "paging.remote_fills=on",   "link.remote_turn=200ns",
                                          "gpu.cta_placement=rotate", "paging.free_at_start=on"};

/* In turn; the first of each is the default. */
static const char *const others[][4] = {
    {"paging.on_fault=replay", "paging.on_fault=hit-under-fault", "paging.on_fault=block"},
    {"paging.cu_faults=0", "paging.cu_faults=1", "paging.cu_faults=4"},
    {"paging.cu_counts=waited", "paging.cu_counts=raised"},
    {"paging.mshrs=0", "paging.mshrs=1", "paging.mshrs=3"},
    {"paging.replay=batch-flush", "paging.replay=block", "paging.replay=batch",
     "paging.replay=once"},
    {"paging.fault_buffer=4096", "paging.fault_buffer=8"},
    {"paging.batch=256", "paging.batch=1"},
    {"paging.reserve=0%", "paging.reserve=20%", "paging.reserve=80%"},
    {"paging.free=0%", "paging.free=10%"},
    {"paging.drop_clean=off", "paging.drop_clean=on"},
    {"paging.thrash=none", "paging.thrash=driver"},
    {"paging.migrate_threshold=8", "paging.migrate_threshold=1"},
    {"page.bytes=64KiB", "page.bytes=4KiB", "page.bytes=2MiB"},
    {"tlb.levels=2", "tlb.levels=1"},
    {"walker.queue=1000", "walker.queue=1"},
    {"l1.on=on", "l1.on=off"}};

/* Only where UVMSmart does not set them. */
static const char *const of_the_profile[][2] = {
    {"paging.round_up=off", "paging.round_up=on"},
    {"paging.zero_fill=off", "paging.zero_fill=on"},
    {"paging.replay_lines=0", "paging.replay_lines=2"},
    {"paging.synchronize=keep", "paging.synchronize=return"},
    {"paging.cta_ends=done", "paging.cta_ends=quiet"},
    {"paging.stage_victims=off", "paging.stage_victims=on"},
    {"paging.remote_fills=off", "paging.remote_fills=on"},
    {"link.remote_turn=0ns", "link.remote_turn=200ns"},
    {"paging.free_at_start=off", "paging.free_at_start=on"}};

typedef struct set {
    char chosen[5][64];
    const char *settings[40];
    size_t count;
    bool needs_future;
    uint64_t number;
} set;

static void add(set *s, const char *setting) {
    assert_true(s->count < COUNT(s->settings));
    s->settings[s->count++] = setting;
}

static void choose(set *s, const char *key, const char *value) {
    char *text = s->chosen[s->count];
    assert_true(s->count < COUNT(s->chosen));
    snprintf(text, sizeof s->chosen[0], "%s=%s", key, value);
    add(s, text);
}

static bool is_set(const char *setting) {
    return setting != NULL;
}

/* The policies that matter most are chosen; the rest by the number of the set. */
static void choose_others(set *s, bool is_uvmsmart, uint64_t number) {
    uint64_t random = 1 + number * 2654435761u;
    for (size_t i = 0; i < COUNT(others); i++) {
        size_t count = 0;
        while (count < COUNT(others[i]) && is_set(others[i][count]))
            count++;
        add(s, others[i][(wp_random_next(&random) >> 20) % count]);
    }
    for (size_t i = 0; !is_uvmsmart && i < COUNT(of_the_profile); i++)
        add(s, of_the_profile[i][(wp_random_next(&random) >> 20) % 2]);
    for (size_t i = 0; is_uvmsmart && i < COUNT(as_uvmsmart); i++)
        add(s, as_uvmsmart[i]);
}

/* ---- runs ------------------------------------------------------------------------------------ */

static uint64_t interval = 1; /* of the sets that are run */
static char running[4096];    /* the set that is being run, for messages */

static void report_hang(int number) {
    static const char text[] = "\nruns for ever: ";
    (void)number;
    (void)!write(STDERR_FILENO, text, sizeof text - 1);
    (void)!write(STDERR_FILENO, running, strlen(running));
    _exit(1);
}

static void limit_time(long seconds) {
    const struct itimerval limit = {.it_value.tv_sec = seconds};
    (void)setitimer(ITIMER_PROF, &limit, NULL);
}

static void name_run(const set *s, const struct program *program, uint32_t percent) {
    size_t at = (size_t)snprintf(running, sizeof running,
                                 "set %llu, %s, %u %%:", (unsigned long long)s->number,
                                 program->name, percent);
    for (size_t i = 0; i < s->count; i++)
        at += (size_t)snprintf(running + at, sizeof running - at, " %s", s->settings[i]);
}

static void launch(run *r, wpi_gpu *gpu) {
    wp_error err = {0};
    wpi_paging *paging = wpi_memory_paging(r->rig.memory);
    r->script.is_done = false;
    assert_status_ok(wpi_paging_launch(paging, wpi_engine_now(r->rig.engine), &err), &err);
    assert_status_ok(wpi_gpu_launch(gpu, &r->script.source, script_ended, &r->script, &err), &err);
    wpi_engine_run(r->rig.engine);
    wpi_engine_run(r->rig.engine); /* what is still in flight after the launch */
    if (!r->script.is_done) fail_msg("never ends: %s", running);
    assert_u64(r->script.numbers.ctas, CTAS);
    assert_u64(r->script.resident, 0);
}

static void check_at_rest(const wpi_residency *r) {
    uint64_t used = 0;
    for (uint32_t i = 0; i < r->chunk_count; i++) {
        const wpi_chunk *chunk = &r->chunks[i];
        const wpi_pages lost = wpi_pages_without(&chunk->dirty, &chunk->resident);
        if (wpi_chunk_is_busy(chunk) || !wpi_pages_is_empty(&chunk->planned) ||
            !wpi_pages_is_empty(&lost))
            fail_msg("not at rest: %s", running);
        used += wpi_pages_count(&chunk->resident);
    }
    assert_u64(used, r->used);
    assert_u64(r->leaving, 0);
    if (r->used > r->frames) fail_msg("more pages than frames: %s", running);
}

/* Two launches; the host has used half of the data and synchronises in between. */
static void run_program(const set *s, const struct program *program, uint32_t percent,
                        wpi_foresight *foresight) {
    static run r;
    wp_error err = {0};
    wpi_gpu *gpu;
    const uint64_t bytes = 2 * MIB * percent / 100;
    r = (run){.program = program, .random = 7, .pages = (uint32_t)(bytes / WPI_PAGE_BYTES)};
    r.script.source = (wpi_warp_source){.ops = &ops,
                                        .tables = &tables,
                                        .cta_count = CTAS,
                                        .warps_per_cta = WARPS,
                                        .threads_per_cta = WARPS * WPI_LANES,
                                        .registers_per_thread = 16};
    r.script.path = program->path;
    r.script.path_length = program->path_length;
    r.script.repeats = ACCESSES / program->path_length / (program->is_scattered ? 4 : 1);
    rig_open(&r.rig, s->settings, s->count);
    assert_status_ok(wpi_memory_manage(r.rig.memory, BENCH_FIRST, &err), &err);
    wpi_paging *paging = wpi_memory_paging(r.rig.memory);
    wpi_paging_set_foresight(paging, foresight);
    assert_status_ok(wpi_paging_add(paging, BENCH_FIRST, bytes, &err), &err);
    wpi_paging_use_on_host(paging, (wpi_paging_range){BENCH_FIRST, bytes / 2});
    assert_status_ok(wpi_gpu_create(r.rig.profile, r.rig.engine, r.rig.memory, &gpu, &err), &err);
    for (r.launch = 0; r.launch < 2; r.launch++) {
        launch(&r, gpu);
        check_at_rest(wpi_paging_residency(paging));
        (void)wpi_paging_synchronize(paging, wpi_engine_now(r.rig.engine));
    }
    wpi_gpu_destroy(gpu);
    rig_close(&r.rig);
}

/* Policies that look ahead have the record of the same program under other policies. */
static void record(const struct program *program, uint32_t percent, wpi_foresight *out) {
    wpi_foresight first;
    wp_error err = {0};
    set plain = {0};
    add(&plain, "gpu.memory=2MiB");
    wpi_foresight_init(&first, WPI_FORESIGHT_WINDOW);
    wpi_foresight_note(&first);
    name_run(&plain, program, percent);
    run_program(&plain, program, percent, &first);
    assert_status_ok(
        wpi_foresight_take(out, first.pages, first.count, first.launches, first.launch_count, &err),
        &err);
    first.pages = first.launches = NULL;
    wpi_foresight_deinit(&first);
}

static void run_set(const set *s, uint32_t which) {
    static const uint32_t percents[] = {105, 125, 200};
    const struct program *program = &programs[which % COUNT(programs)];
    const uint32_t percent = percents[which / COUNT(programs)];
    wpi_foresight future;
    wpi_foresight_init(&future, WPI_FORESIGHT_WINDOW);
    if (s->needs_future) record(program, percent, &future);
    name_run(s, program, percent);
    limit_time(HANGS_S);
    run_program(s, program, percent, &future);
    limit_time(0);
    wpi_foresight_deinit(&future);
}

/* A prefetcher where nothing faults is refused. */
static bool is_legal(const wpi_policy *migrate, const wpi_policy *prefetch) {
    return strcmp(migrate->name, "zero-copy") != 0 || strcmp(prefetch->name, "none") == 0;
}

static const wpi_policy *next_of(const char *kind, size_t *at) {
    while (wpi_policies[*at] != NULL) {
        const wpi_policy *policy = wpi_policies[(*at)++];
        if (strcmp(policy->kind, kind) == 0) return policy;
    }
    return NULL;
}

/* `number` counts sets. */
static void run_evictor(const wpi_policy *migrate, const wpi_policy *prefetch,
                        const wpi_policy *evict, uint64_t *number) {
    const char *product = getenv("WARPAGE_TEST_PRODUCT");
    const bool is_full = product != NULL && strcmp(product, "full") == 0;
    const bool is_one = product != NULL && !is_full;
    for (size_t i = 0; i < 2 * COUNT(services); i++, ++*number) {
        if (is_one ? strtoull(product, NULL, 10) != *number : *number % interval != 0) continue;
        set s = {.number = *number,
                 .needs_future =
                     wpi_policy_needs_future(prefetch) || wpi_policy_needs_future(evict)};
        choose(&s, "paging.migrate", migrate->name);
        choose(&s, "paging.prefetch", prefetch->name);
        choose(&s, "paging.evict", evict->name);
        choose(&s, "paging.service", services[i / 2]);
        add(&s, "gpu.memory=2MiB");
        choose_others(&s, i % 2 == 1, *number);
        /* 12 and 10 have a common divisor: each ten sets start at another one of the twelve. */
        const uint32_t first = (uint32_t)((*number + *number / 12) % 12);
        for (uint32_t which = is_full || is_one ? 0 : first;
             which < (is_full || is_one ? 12 : first + 1); which++)
            run_set(&s, which);
    }
}

static void every_set_of_policies_ends(void **state) {
    (void)state;
    uint64_t number = 0;
    (void)signal(SIGPROF, report_hang);
    const wpi_policy *migrate, *prefetch, *evict;
    for (size_t i = 0; (migrate = next_of("migrate", &i)) != NULL;)
        for (size_t k = 0; (prefetch = next_of("prefetch", &k)) != NULL;)
            for (size_t n = 0;
                 is_legal(migrate, prefetch) && (evict = next_of("evict", &n)) != NULL;)
                run_evictor(migrate, prefetch, evict, &number);
    print_message("%llu sets of policies\n", (unsigned long long)number);
    assert_true(number >= 4000);
}

/* An argument: run only every n-th set. */
int main(int argc, char **argv) {
    if (argc > 1) interval = strtoull(argv[1], NULL, 10);
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_set_of_policies_ends)};
    return wp_test_main(tests);
}

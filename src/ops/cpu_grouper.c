/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The processor's grouper. Rows go in rounds, so that memory for rows on their way stays bounded:
 *
 *     a round:  morsels ─► workers ─┬─► tables of their own
 *                                   └─► exchange ─► totals, by partitions
 *     the end:  tables of workers ─► totals ─► batches
 */
#include <stdatomic.h>
#include <stdio.h>

#include "base/alloc.h"
#include "ops/cpu_threads.h"
#include "ops/cpu_worker.h"

#define LOCAL_BYTES ((uint64_t)1 << 20) /* of a worker's table: half an L2 cache */
#define ROUND_BYTES_MIN ((uint64_t)32 << 20)
#define ROUND_RATIO 2
#define NEAR_WEIGHT 2 /* rows that are near take less than half of what others do */
#define ROUND_BYTES ((uint64_t)512 << 20) /* of rows on their way to partitions */
#define NEAR_SHARE 4
#define NEAR_BYTES_MIN ((uint64_t)64 << 10)
#define PARTITION_BITS 8u
#define PARTITION_SLOTS_MIN 64u
#define PARTITION_SLOTS_MAX ((uint32_t)1 << 16) /* to begin with */

typedef struct cpu_grouper {
    wpi_grouper base;
    wpi_cpu_shared shared;
    wpi_cpu_worker **workers; /* [worker_count] */
    uint32_t worker_count;
    uint64_t row_count, expected_rows;
    bool is_broken;
    wp_status *statuses; /* [worker_count] */
    wp_error *errors;    /* [worker_count] */
    char explanation[512];
} cpu_grouper;

/* What threads of a parallel step share. */
typedef struct step {
    cpu_grouper *g;
    const wp_column *keys, *values;
    uint64_t first;         /* row of the round */
    uint64_t count;         /* rows of the round; or partitions */
    atomic_uint next;       /* morsel or partition */
    atomic_bool is_stopped; /* a morsel was refused: its values are too wide for sums so far */
    uint32_t refused[WPI_CPU_THREADS_MAX]; /* 1 + that morsel; 0: none */
    const uint64_t *firsts;                /* [count]: places of groups */
    uint64_t before;                       /* groups that come before them */
    wpi_group_sink sink;
    void *object;
} step;

static wp_status run(cpu_grouper *g, step *s, uint64_t parts, wpi_cpu_work work, wp_error *err) {
    const uint32_t threads = parts < g->worker_count ? (uint32_t)parts : g->worker_count;
    for (uint32_t i = 0; i < threads; i++)
        g->statuses[i] = WP_STATUS_OK;
    s->g = g;
    wpi_cpu_parallel(threads, work, s);
    for (uint32_t i = 0; i < threads; i++) {
        if (g->statuses[i] == WP_STATUS_OK) continue;
        g->is_broken = true;
        if (err != NULL) *err = g->errors[i];
        return g->statuses[i];
    }
    return WP_STATUS_OK;
}

/* ---- open and close ---------------------------------------------------------------------------
 */

static void close_grouper(wpi_grouper *grouper) {
    cpu_grouper *g = (cpu_grouper *)grouper;
    for (uint32_t i = 0; g->workers != NULL && i < g->worker_count; i++)
        wpi_cpu_worker_destroy(g->workers[i]);
    wpi_cpu_near_deinit(&g->shared.near);
    wpi_cpu_totals_deinit(&g->shared.totals);
    wpi_cpu_exchange_deinit(&g->shared.exchange);
    wpi_cpu_layout_deinit(&g->shared.layout);
    pthread_mutex_destroy(&g->shared.totals.lock);
    wp_free(g->shared.traits.has_nulls);
    wp_free(g->shared.traits.is_wide);
    wp_free(g->workers);
    wp_free(g->statuses);
    wp_free(g->errors);
    wp_free(g);
}

/* The largest power of two of groups that fit. */
static uint32_t slots_in(uint64_t bytes, const wpi_cpu_layout *layout) {
    uint32_t slots = PARTITION_SLOTS_MIN;
    while (slots < UINT32_C(1) << 30 && (uint64_t)2 * slots * layout->stride * 8 <= bytes)
        slots *= 2;
    return slots;
}

/* Slots for an expected number of groups, so that tables need not grow; at least some. */
static uint32_t slots_expected(uint64_t group_count) {
    uint32_t slots = PARTITION_SLOTS_MIN;
    while (slots < PARTITION_SLOTS_MAX && slots / 2 < group_count >> PARTITION_BITS)
        slots *= 2;
    return slots;
}

/* Of a row on its way to a partition. */
static void set_morsel_bytes(wpi_cpu_shared *shared) {
    uint32_t row_bytes = sizeof(uint64_t);
    for (uint32_t i = 0; i < shared->shape->value_count; i++) {
        const wp_type type = shared->shape->values[i];
        row_bytes += wp_type_bytes(shared->traits.is_wide[i] ? type : wpi_cpu_narrow_type(type));
    }
    shared->morsel_bytes = row_bytes * WPI_CPU_MORSEL;
    shared->round_morsels = (uint32_t)(ROUND_BYTES / shared->morsel_bytes) + 1;
}

static wp_status init_shared(wpi_cpu_shared *shared, const wpi_shape *shape, wpi_keys *keys,
                             const wp_ops_options *options, wp_error *err) {
    shared->shape = shape;
    shared->keys = keys;
    shared->has_null_keys = wpi_keys_form(keys) == WPI_KEYS_ONE && shape->keys[0].is_nullable;
    wpi_cpu_traits *traits = &shared->traits;
    traits->has_nulls = wp_calloc(shape->value_count + 1, sizeof *traits->has_nulls);
    traits->is_wide = wp_calloc(shape->value_count + 1, sizeof *traits->is_wide);
    if (traits->has_nulls == NULL || traits->is_wide == NULL)
        return WP_FAIL(err, NOMEM, "a group-by");
    WP_TRY(wpi_cpu_layout_init(&shared->layout, shape, traits, err));
    shared->local_slots = slots_in(LOCAL_BYTES, &shared->layout);
    shared->partition_bits = PARTITION_BITS;
    shared->partition_slots = slots_expected(options->group_count);
    set_morsel_bytes(shared);
    shared->totals.layout = &shared->layout;
    return WP_STATUS_OK;
}

static wp_status open_grouper(wp_device *device, const wpi_shape *shape, wpi_keys *keys,
                              const wp_ops_options *options, wpi_grouper **out, wp_error *err) {
    (void)device;
    wp_status status = WP_STATUS_OK;
    cpu_grouper *g = wp_calloc(1, sizeof *g);
    *out = NULL;
    if (g == NULL) return WP_FAIL(err, NOMEM, "a group-by");
    g->base.ops = &wpi_grouper_cpu;
    pthread_mutex_init(&g->shared.totals.lock, NULL);
    g->worker_count = wpi_cpu_thread_count();
    if (options->thread_count != 0 && options->thread_count < WPI_CPU_THREADS_MAX)
        g->worker_count = (uint32_t)options->thread_count;
    g->workers = wp_calloc(g->worker_count, sizeof *g->workers);
    g->statuses = wp_calloc(g->worker_count, sizeof *g->statuses);
    g->errors = wp_calloc(g->worker_count, sizeof *g->errors);
    if (g->workers == NULL || g->statuses == NULL || g->errors == NULL)
        WP_TRY_GOTO(WP_FAIL(err, NOMEM, "a group-by"), done);
    g->expected_rows = options->row_count;
    WP_TRY_GOTO(init_shared(&g->shared, shape, keys, options, err), done);
    for (uint32_t i = 0; i < g->worker_count; i++)
        WP_TRY_GOTO(wpi_cpu_worker_create(&g->shared, &g->workers[i], err), done);
    *out = &g->base;
    g = NULL;
done:
    if (g != NULL) close_grouper(&g->base);
    return status;
}

/* ---- rows -------------------------------------------------------------------------------------
 */

/* The traits are others than those that what is there was made for. */
static wp_status change_layout(cpu_grouper *g, wp_error *err) {
    wp_status status = WP_STATUS_OK;
    wpi_cpu_shared *shared = &g->shared;
    wpi_cpu_layout old = shared->layout;
    set_morsel_bytes(shared);
    wpi_cpu_exchange_deinit(&shared->exchange); /* its columns are others now */
    WP_TRY_GOTO(wpi_cpu_layout_init(&shared->layout, shared->shape, &shared->traits, err), done);
    for (uint32_t i = 0; i < g->worker_count; i++)
        WP_TRY_GOTO(wpi_cpu_worker_convert(g->workers[i], &old, err), done);
    WP_TRY_GOTO(wpi_cpu_near_convert(&shared->near, &old, err), done);
    WP_TRY_GOTO(wpi_cpu_totals_convert(&shared->totals, &old, err), done);
done:
    wpi_cpu_layout_deinit(&old);
    return status;
}

/* What groups keep, when columns have NULLs for the first time or there are very many rows. */
static wp_status fit_layout(cpu_grouper *g, const wp_column *values, uint64_t row_count,
                            wp_error *err) {
    bool is_new = false;
    const uint64_t before = g->row_count;
    g->row_count += row_count;
    const bool is_over = before <= WPI_CPU_NARROW_ROWS && g->row_count > WPI_CPU_NARROW_ROWS;
    for (uint32_t i = 0; i < g->shared.shape->value_count; i++) {
        if (values[i].valid != NULL && !g->shared.traits.has_nulls[i])
            is_new = g->shared.traits.has_nulls[i] = true;
        if (is_over) is_new = g->shared.traits.is_wide[i] = true;
    }
    return is_new ? change_layout(g, err) : WP_STATUS_OK;
}

/* Sums become wide enough for a morsel that could not be taken. */
static wp_status widen(cpu_grouper *g, const wp_column *values, uint64_t first, uint32_t count,
                       wp_error *err) {
    bool is_new = false;
    for (uint32_t i = 0; i < g->shared.shape->value_count; i++) {
        if (g->shared.traits.is_wide[i] || wpi_cpu_is_narrow(&values[i], first, count)) continue;
        is_new = g->shared.traits.is_wide[i] = true;
    }
    return is_new ? change_layout(g, err) : WP_STATUS_OK;
}

/* Whether keys are near one another is asked of the first chunk. Their array may take a share of
 * the bytes that rows have: of keys that are few, but far apart, most places would stay empty. */
static wp_status expect_near(cpu_grouper *g, const wp_column *keys, uint64_t row_count,
                             wp_error *err) {
    wpi_cpu_span span;
    wpi_cpu_shared *shared = &g->shared;
    const uint64_t rows = row_count > g->expected_rows ? row_count : g->expected_rows;
    const uint64_t bytes = rows * (shared->morsel_bytes / WPI_CPU_MORSEL) / NEAR_SHARE;
    const uint64_t group_bytes = sizeof(uint64_t) * wpi_cpu_array_stride(&shared->layout);
    const uint64_t keys_max = (bytes < NEAR_BYTES_MIN ? NEAR_BYTES_MIN : bytes) / group_bytes;
    WP_TRY(wpi_cpu_span_find(&span, shared->keys, keys, row_count, keys_max, err));
    if (span.bits == 0) return WP_STATUS_OK;
    WP_TRY(wpi_cpu_near_init(&shared->near, &span, &shared->layout, err));
    for (uint32_t i = 0; i < g->worker_count; i++)
        WP_TRY(wpi_cpu_worker_expect_near(g->workers[i], err));
    return WP_STATUS_OK;
}

static uint32_t rows_of_morsel(const step *s, uint64_t morsel) {
    const uint64_t left = s->count - morsel * WPI_CPU_MORSEL;
    return left < WPI_CPU_MORSEL ? (uint32_t)left : WPI_CPU_MORSEL;
}

static void take_morsels(void *object, uint32_t thread) {
    step *s = object;
    for (;;) {
        if (atomic_load(&s->is_stopped) || s->g->statuses[thread] != WP_STATUS_OK) return;
        const uint32_t morsel = atomic_fetch_add(&s->next, 1);
        const uint64_t at = (uint64_t)morsel * WPI_CPU_MORSEL;
        if (at >= s->count) return;
        const uint32_t count = rows_of_morsel(s, morsel);
        if (!wpi_cpu_worker_can_take(s->g->workers[thread], s->values, s->first + at, count)) {
            s->refused[thread] = morsel + 1;
            atomic_store(&s->is_stopped, true);
            return;
        }
        s->g->statuses[thread] =
            wpi_cpu_worker_take(s->g->workers[thread], s->keys, s->values, s->first + at, count,
                                morsel, &s->g->errors[thread]);
    }
}

static void gather_parts(void *object, uint32_t thread) {
    step *s = object;
    for (uint32_t part; (part = atomic_fetch_add(&s->next, 1)) < s->count;)
        wpi_cpu_worker_gather_near(s->g->workers[thread], part);
}

static void gather_partitions(void *object, uint32_t thread) {
    step *s = object;
    for (;;) {
        const uint32_t partition = atomic_fetch_add(&s->next, 1);
        if (partition >= s->count || s->g->statuses[thread] != WP_STATUS_OK) return;
        s->g->statuses[thread] =
            wpi_cpu_worker_gather(s->g->workers[thread], partition, &s->g->errors[thread]);
    }
}

static wp_status prepare_near(cpu_grouper *g, uint32_t morsels, wp_error *err) {
    wpi_cpu_near *near = &g->shared.near;
    if (near->span.bits == 0 || near->is_local) return WP_STATUS_OK;
    if (near->exchange.starts == NULL)
        return wpi_cpu_exchange_init(&near->exchange, WP_TYPE_UINT16, near->part_count,
                                     g->shared.round_morsels, morsels, g->shared.shape,
                                     &g->shared.traits, err);
    wpi_cpu_exchange_clear(&near->exchange, morsels);
    return WP_STATUS_OK;
}

/* Takes the round's morsels until there are no more, or one is refused. */
static wp_status take_round(cpu_grouper *g, step *take, wp_error *err) {
    const uint64_t morsels = (take->count + WPI_CPU_MORSEL - 1) / WPI_CPU_MORSEL;
    g->shared.used_morsels = (uint32_t)morsels;
    wpi_cpu_exchange_clear(&g->shared.exchange, (uint32_t)morsels);
    WP_TRY(prepare_near(g, (uint32_t)morsels, err));
    WP_TRY(run(g, take, morsels, take_morsels, err));
    if (g->shared.near.exchange.starts != NULL) {
        step parts = {.count = g->shared.near.part_count};
        WP_TRY(run(g, &parts, parts.count, gather_parts, err));
    }
    if (g->shared.exchange.starts == NULL) return WP_STATUS_OK;
    step gather = {.count = g->shared.exchange.partition_count};
    return run(g, &gather, gather.count, gather_partitions, err);
}

/* Morsels that were refused, after sums were made wide enough for them. */
static wp_status take_refused(cpu_grouper *g, const step *refusing, wp_error *err) {
    for (uint32_t i = 0; i < g->worker_count; i++) {
        if (refusing->refused[i] == 0) continue;
        const uint64_t morsel = refusing->refused[i] - 1;
        step again = {.keys = refusing->keys,
                      .values = refusing->values,
                      .first = refusing->first + morsel * WPI_CPU_MORSEL,
                      .count = rows_of_morsel(refusing, morsel)};
        WP_TRY(widen(g, again.values, again.first, (uint32_t)again.count, err));
        WP_TRY(take_round(g, &again, err));
    }
    return WP_STATUS_OK;
}

/* Rows from `first` on, at most `count`; *taken: how many those were. */
static wp_status add_round(cpu_grouper *g, const wp_column *keys, const wp_column *values,
                           uint64_t first, uint64_t count, uint64_t *taken, wp_error *err) {
    step take = {.keys = keys, .values = values, .first = first, .count = count};
    WP_TRY(take_round(g, &take, err));
    WP_TRY(take_refused(g, &take, err));
    const uint64_t begun = (uint64_t)atomic_load(&take.next) * WPI_CPU_MORSEL;
    *taken = begun < count ? begun : count;
    return WP_STATUS_OK;
}

/* A round reads and writes all totals, so it should have more rows than they have bytes; and no
 * more than the last cache holds, where totals allow it. */
static uint64_t rows_of_round(const cpu_grouper *g) {
    const wpi_cpu_shared *shared = &g->shared;
    const uint64_t totals =
        wpi_cpu_totals_bytes(&shared->totals) + NEAR_WEIGHT * wpi_cpu_near_bytes(&shared->near);
    const uint64_t wanted = ROUND_RATIO * totals;
    const uint64_t most = (uint64_t)shared->round_morsels * shared->morsel_bytes;
    const uint64_t bytes = wanted < ROUND_BYTES_MIN ? ROUND_BYTES_MIN : wanted;
    return (bytes < most ? bytes : most) / shared->morsel_bytes * WPI_CPU_MORSEL;
}

static wp_status add(wpi_grouper *grouper, const wp_column *keys, const wp_column *values,
                     uint64_t row_count, wp_error *err) {
    cpu_grouper *g = (cpu_grouper *)grouper;
    if (g->is_broken) return WP_FAIL(err, INVALID, "the group-by failed before");
    g->is_broken = true; /* until this is done */
    const bool is_first = g->row_count == 0;
    WP_TRY(fit_layout(g, values, row_count, err));
    if (is_first) WP_TRY(expect_near(g, keys, row_count, err));
    for (uint64_t first = 0; first < row_count;) {
        const uint64_t round = rows_of_round(g), left = row_count - first;
        uint64_t taken = 0;
        WP_TRY(add_round(g, keys, values, first, left < round ? left : round, &taken, err));
        first += taken;
    }
    g->is_broken = false;
    return WP_STATUS_OK;
}

/* ---- groups -----------------------------------------------------------------------------------
 */

static void explain_groups(cpu_grouper *g, uint64_t count) {
    static const char *const modes[] = {"a table of its own", "a table of frequent groups in front",
                                        "no table in front"};
    const wpi_cpu_near *near = &g->shared.near;
    const char *how = modes[wpi_cpu_worker_mode(g->workers[0])];
    const unsigned long long rows = g->row_count, groups = count;
    if (near->span.bits == 0)
        snprintf(g->explanation, sizeof g->explanation,
                 "%u threads, each with %s; %llu rows, %llu groups of %u bytes in %u partitions\n",
                 g->worker_count, how, rows, groups, 8 * g->shared.layout.stride,
                 UINT32_C(1) << g->shared.totals.bits);
    else
        snprintf(g->explanation, sizeof g->explanation,
                 "%u threads, keys in a span of %u: %s, others in %s; %llu rows, %llu groups of %u "
                 "bytes in %u parts\n",
                 g->worker_count, wpi_cpu_span_null(&near->span),
                 near->is_local ? "each with an array" : "an array by parts", how, rows, groups,
                 8 * wpi_cpu_array_stride(near->layout), near->part_count - 1);
}

static void use_parts(void *object, uint32_t thread) {
    (void)thread;
    step *s = object;
    wpi_cpu_near *near = &s->g->shared.near;
    for (uint32_t part; (part = atomic_fetch_add(&s->next, 1)) < s->count;)
        near->parts[part].used = wpi_cpu_array_used(&near->parts[part]);
}

/* Groups of parts come before those of totals. */
static uint64_t count_near(const wpi_cpu_near *near) {
    uint64_t count = 0;
    for (uint32_t i = 0; i < near->part_count; i++)
        count += near->parts[i].used;
    return count;
}

static wp_status count_groups(wpi_grouper *grouper, uint64_t *group_count, wp_error *err) {
    cpu_grouper *g = (cpu_grouper *)grouper;
    wpi_cpu_totals *totals = &g->shared.totals;
    wpi_cpu_near *near = &g->shared.near;
    uint64_t firsts[WPI_CPU_PARTITIONS_MAX + 1];
    if (g->is_broken) return WP_FAIL(err, INVALID, "the group-by failed before");
    wpi_cpu_exchange_deinit(&g->shared.exchange);
    wpi_cpu_exchange_deinit(&near->exchange);
    WP_TRY(
        wpi_cpu_totals_make(totals, 0, PARTITION_SLOTS_MIN, err)); /* few groups: one is enough */
    for (uint32_t i = 0; i < g->worker_count; i++) {
        WP_TRY(wpi_cpu_worker_flush(g->workers[i], err));
        wpi_cpu_worker_flush_near(g->workers[i]);
    }
    step use = {.count = near->part_count};
    WP_TRY(run(g, &use, use.count, use_parts, err));
    *group_count = count_near(near) + wpi_cpu_totals_count(totals, firsts);
    explain_groups(g, *group_count);
    return WP_STATUS_OK;
}

static void emit_partitions(void *object, uint32_t thread) {
    step *s = object;
    for (;;) {
        const uint32_t partition = atomic_fetch_add(&s->next, 1);
        if (partition >= s->count || s->g->statuses[thread] != WP_STATUS_OK) return;
        s->g->statuses[thread] =
            wpi_cpu_totals_emit(&s->g->shared.totals, partition, s->before + s->firsts[partition],
                                s->sink, s->object, &s->g->errors[thread]);
    }
}

static void emit_parts(void *object, uint32_t thread) {
    step *s = object;
    for (;;) {
        const uint32_t part = atomic_fetch_add(&s->next, 1);
        if (part >= s->count || s->g->statuses[thread] != WP_STATUS_OK) return;
        s->g->statuses[thread] = wpi_cpu_near_emit(&s->g->shared.near, part, s->firsts[part],
                                                   s->sink, s->object, &s->g->errors[thread]);
    }
}

static wp_status emit(wpi_grouper *grouper, wpi_group_sink sink, void *object, wp_error *err) {
    cpu_grouper *g = (cpu_grouper *)grouper;
    const wpi_cpu_near *near = &g->shared.near;
    uint64_t firsts[WPI_CPU_PARTITIONS_MAX + 1];
    uint64_t before = 0;
    for (uint32_t i = 0; i < near->part_count; i++) {
        firsts[i] = before;
        before += near->parts[i].used;
    }
    step parts = {.count = near->part_count, .firsts = firsts, .sink = sink, .object = object};
    WP_TRY(run(g, &parts, parts.count, emit_parts, err));
    (void)wpi_cpu_totals_count(&g->shared.totals, firsts);
    step s = {.count = UINT32_C(1) << g->shared.totals.bits,
              .firsts = firsts,
              .before = before,
              .sink = sink,
              .object = object};
    return run(g, &s, s.count, emit_partitions, err);
}

static const char *explain(const wpi_grouper *grouper) {
    return ((const cpu_grouper *)grouper)->explanation;
}

const wpi_grouper_ops wpi_grouper_cpu = {.name = "cpu",
                                         .open = open_grouper,
                                         .add = add,
                                         .count = count_groups,
                                         .emit = emit,
                                         .explain = explain,
                                         .close = close_grouper};

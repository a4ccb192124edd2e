/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The processor's grouper. Rows are processed in rounds, so that memory for rows in transit is
 * bounded:
 *
 *     a round:  morsels ─► workers ─┬─► tables of their own
 *                                   └─► exchange ─► totals, by partitions
 *     the end:  tables of workers ─► totals ─► batches
 */
#include "ops/groupby_cpu/cpu_grouper.h"

#include "base/alloc.h"
#include "ops/groupby_cpu/cpu_hash.h"
#include "ops/groupby_cpu/cpu_threads.h"
#include "warpage/texts.h"

#define LOCAL_BYTES ((uint64_t)8 << 20)   /* of a worker's table: still faster than an exchange */
#define FRONT_BYTES ((uint64_t)256 << 10) /* of one in front of it: little of an L2 cache */
#define ROUND_BYTES_MIN ((uint64_t)32 << 20)
#define ROUND_RATIO 2
#define NEAR_WEIGHT 2 /* dense keys' rows take less than half the time of others */
#define ROUND_BYTES ((uint64_t)512 << 20)    /* of rows in transit to partitions, at most */
#define ROUND_BYTES_ENOUGH (ROUND_BYTES / 2) /* unless totals are larger than twice that */
#define NEAR_SHARE 4
#define NEAR_BYTES_MIN ((uint64_t)64 << 10)
#define PARTITION_BITS 8u
#define PARTITION_SLOTS_MAX ((uint32_t)1 << 16) /* initially */

wp_status wpi_cpu_step_run(wpi_cpu_grouper *g, wpi_cpu_step *s, uint64_t parts, wpi_cpu_work work,
                           wp_error *err) {
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

/* ---- open and close ---- */

static void close_grouper(wpi_grouper *grouper) {
    wpi_cpu_grouper *g = (wpi_cpu_grouper *)grouper;
    for (uint32_t i = 0; g->workers != NULL && i < g->worker_count; i++)
        wpi_cpu_worker_destroy(g->workers[i]);
    wpi_cpu_near_deinit(&g->shared.near);
    wpi_cpu_totals_deinit(&g->shared.totals);
    wpi_cpu_exchange_deinit(&g->shared.exchange);
    wpi_cpu_layout_deinit(&g->shared.layout);
    pthread_mutex_destroy(&g->shared.totals.lock);
    wpi_free(g->shared.traits.has_nulls);
    wpi_free(g->shared.traits.is_wide);
    wpi_free(g->workers);
    wpi_free(g->statuses);
    wpi_free(g->errors);
    wpi_free(g);
}

/* The largest power of two of groups that fit. */
static uint32_t slots_in(uint64_t bytes, const wpi_cpu_layout *layout) {
    uint32_t slots = WPI_CPU_PARTITION_SLOTS_MIN;
    while (slots < UINT32_C(1) << 30 && (uint64_t)2 * slots * layout->stride * 8 <= bytes)
        slots *= 2;
    return slots;
}

/* Slots for an expected number of groups, so that tables need not grow; at least some. */
static uint32_t slots_expected(uint64_t group_count) {
    uint32_t slots = WPI_CPU_PARTITION_SLOTS_MIN;
    while (slots < PARTITION_SLOTS_MAX && slots / 2 < group_count >> PARTITION_BITS)
        slots *= 2;
    return slots;
}

/* Sets the bytes of a morsel in transit to partitions. */
static void set_morsel_bytes(wpi_cpu_shared *shared) {
    uint32_t row_bytes = wp_type_bytes(wpi_cpu_hash_type(&shared->layout));
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
    traits->hash_bits = wpi_keys_bits(keys) <= 32 ? 32 : 64;
    traits->has_nulls = wpi_calloc(shape->value_count + 1, sizeof *traits->has_nulls);
    traits->is_wide = wpi_calloc(shape->value_count + 1, sizeof *traits->is_wide);
    if (traits->has_nulls == NULL || traits->is_wide == NULL)
        return WP_FAIL(err, NOMEM, "a group-by");
    WP_TRY(wpi_cpu_layout_init(&shared->layout, shape, traits, err));
    shared->local_slots = slots_in(LOCAL_BYTES, &shared->layout);
    shared->front_slots = slots_in(FRONT_BYTES, &shared->layout);
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
    wpi_cpu_grouper *g = wpi_calloc(1, sizeof *g);
    *out = NULL;
    if (g == NULL) return WP_FAIL(err, NOMEM, "a group-by");
    g->base.ops = &wpi_grouper_cpu;
    pthread_mutex_init(&g->shared.totals.lock, NULL);
    g->worker_count = wpi_cpu_thread_count();
    if (options->thread_count != 0 && options->thread_count < WPI_CPU_THREADS_MAX)
        g->worker_count = (uint32_t)options->thread_count;
    g->workers = wpi_calloc(g->worker_count, sizeof *g->workers);
    g->statuses = wpi_calloc(g->worker_count, sizeof *g->statuses);
    g->errors = wpi_calloc(g->worker_count, sizeof *g->errors);
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

/* ---- rows ---- */

/* Converts everything to the layout of the new traits. */
static wp_status change_layout(wpi_cpu_grouper *g, wp_error *err) {
    wp_status status = WP_STATUS_OK;
    wpi_cpu_shared *shared = &g->shared;
    wpi_cpu_layout old = shared->layout;
    wpi_cpu_exchange_deinit(&shared->exchange); /* its columns have changed */
    WP_TRY_GOTO(wpi_cpu_layout_init(&shared->layout, shared->shape, &shared->traits, err), done);
    set_morsel_bytes(shared);
    for (uint32_t i = 0; i < g->worker_count; i++)
        WP_TRY_GOTO(wpi_cpu_worker_convert(g->workers[i], &old, err), done);
    WP_TRY_GOTO(wpi_cpu_near_convert(&shared->near, &old, err), done);
    WP_TRY_GOTO(wpi_cpu_totals_convert(&shared->totals, &old, err), done);
done:
    wpi_cpu_layout_deinit(&old);
    return status;
}

/* Changes the layout when columns have NULLs for the first time, or there are very many rows. */
static wp_status fit_layout(wpi_cpu_grouper *g, const wp_column *values, uint64_t row_count,
                            wp_error *err) {
    bool is_new = false;
    const uint64_t before = g->row_count;
    g->row_count += row_count;
    const bool is_over = before <= WPI_CPU_NARROW_ROWS && g->row_count > WPI_CPU_NARROW_ROWS;
    if (is_over) is_new = g->shared.traits.has_wide_rows = true;
    for (uint32_t i = 0; i < g->shared.shape->value_count; i++) {
        if (values[i].valid != NULL && !g->shared.traits.has_nulls[i])
            is_new = g->shared.traits.has_nulls[i] = true;
        if (is_over) is_new = g->shared.traits.is_wide[i] = true;
    }
    return is_new ? change_layout(g, err) : WP_STATUS_OK;
}

/* Widens sums for a morsel that was refused. */
static wp_status widen(wpi_cpu_grouper *g, const wp_column *values, uint64_t first, uint32_t count,
                       wp_error *err) {
    bool is_new = false;
    for (uint32_t i = 0; i < g->shared.shape->value_count; i++) {
        if (g->shared.traits.is_wide[i] || wpi_cpu_is_narrow(&values[i], first, count)) continue;
        is_new = g->shared.traits.is_wide[i] = true;
    }
    return is_new ? change_layout(g, err) : WP_STATUS_OK;
}

/* Tests the first chunk for dense keys. Their array may take a share of the rows' bytes: for few
 * keys that are far apart, most of it would be empty. */
static wp_status expect_near(wpi_cpu_grouper *g, const wp_column *keys, uint64_t row_count,
                             wp_error *err) {
    wpi_cpu_span span;
    wpi_cpu_shared *shared = &g->shared;
    const wp_texts *texts =
        shared->shape->key_count == 1 ? wpi_shape_texts(shared->shape, 0) : NULL;
    const uint64_t rows = row_count > g->expected_rows ? row_count : g->expected_rows;
    const uint64_t bytes = rows * (shared->morsel_bytes / WPI_CPU_MORSEL) / NEAR_SHARE;
    const uint64_t group_bytes = sizeof(uint64_t) * wpi_cpu_array_stride(&shared->layout);
    const uint64_t keys_max = (bytes < NEAR_BYTES_MIN ? NEAR_BYTES_MIN : bytes) / group_bytes;
    if (texts != NULL)
        wpi_cpu_span_of_codes(&span, wp_texts_count(texts), row_count);
    else
        WP_TRY(wpi_cpu_span_find(&span, shared->keys, keys, row_count, keys_max, err));
    if (span.bits == 0) return WP_STATUS_OK;
    WP_TRY(wpi_cpu_near_init(&shared->near, &span, &shared->layout, err));
    for (uint32_t i = 0; i < g->worker_count; i++)
        WP_TRY(wpi_cpu_worker_expect_near(g->workers[i], err));
    return WP_STATUS_OK;
}

static uint32_t rows_of_morsel(const wpi_cpu_step *s, uint64_t morsel) {
    const uint64_t left = s->count - morsel * WPI_CPU_MORSEL;
    return left < WPI_CPU_MORSEL ? (uint32_t)left : WPI_CPU_MORSEL;
}

static void take_morsels(void *object, uint32_t thread) {
    wpi_cpu_step *s = object;
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
    wpi_cpu_step *s = object;
    for (uint32_t part; wpi_cpu_step_next(s, thread, &part);)
        wpi_cpu_worker_gather_near(s->g->workers[thread], part);
}

static void gather_partitions(void *object, uint32_t thread) {
    wpi_cpu_step *s = object;
    for (uint32_t partition; wpi_cpu_step_next(s, thread, &partition);)
        s->g->statuses[thread] =
            wpi_cpu_worker_gather(s->g->workers[thread], partition, &s->g->errors[thread]);
}

static wp_status prepare_near(wpi_cpu_grouper *g, uint32_t morsels, wp_error *err) {
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
static wp_status take_round(wpi_cpu_grouper *g, wpi_cpu_step *take, wp_error *err) {
    const uint64_t morsels = (take->count + WPI_CPU_MORSEL - 1) / WPI_CPU_MORSEL;
    g->shared.used_morsels = (uint32_t)morsels;
    wpi_cpu_exchange_clear(&g->shared.exchange, (uint32_t)morsels);
    WP_TRY(prepare_near(g, (uint32_t)morsels, err));
    WP_TRY(wpi_cpu_step_run(g, take, morsels, take_morsels, err));
    if (g->shared.near.exchange.starts != NULL) {
        wpi_cpu_step parts = {.count = g->shared.near.part_count};
        WP_TRY(wpi_cpu_step_run(g, &parts, parts.count, gather_parts, err));
    }
    if (g->shared.exchange.starts == NULL) return WP_STATUS_OK;
    wpi_cpu_step gather = {.count = g->shared.exchange.partition_count};
    return wpi_cpu_step_run(g, &gather, gather.count, gather_partitions, err);
}

/* Takes refused morsels, after widening sums for them. */
static wp_status take_refused(wpi_cpu_grouper *g, const wpi_cpu_step *refusing, wp_error *err) {
    for (uint32_t i = 0; i < g->worker_count; i++) {
        if (refusing->refused[i] == 0) continue;
        const uint64_t morsel = refusing->refused[i] - 1;
        wpi_cpu_step again = {.keys = refusing->keys,
                              .values = refusing->values,
                              .first = refusing->first + morsel * WPI_CPU_MORSEL,
                              .count = rows_of_morsel(refusing, morsel)};
        WP_TRY(widen(g, again.values, again.first, (uint32_t)again.count, err));
        WP_TRY(take_round(g, &again, err));
    }
    return WP_STATUS_OK;
}

/* Takes rows from `first` on, at most `count`; *taken: their number. */
static wp_status add_round(wpi_cpu_grouper *g, const wp_column *keys, const wp_column *values,
                           uint64_t first, uint64_t count, uint64_t *taken, wp_error *err) {
    wpi_cpu_step take = {.keys = keys, .values = values, .first = first, .count = count};
    WP_TRY(take_round(g, &take, err));
    WP_TRY(take_refused(g, &take, err));
    const uint64_t begun = (uint64_t)atomic_load(&take.next) * WPI_CPU_MORSEL;
    *taken = begun < count ? begun : count;
    return WP_STATUS_OK;
}

/* A round reads and writes all totals, so its rows should have more bytes than they; and fit the
 * last-level cache, if totals are small enough. */
static uint64_t rows_of_round(const wpi_cpu_grouper *g) {
    const wpi_cpu_shared *shared = &g->shared;
    const uint64_t totals =
        wpi_cpu_totals_bytes(&shared->totals) + NEAR_WEIGHT * wpi_cpu_near_bytes(&shared->near);
    const uint64_t enough = totals / 2 < ROUND_BYTES_ENOUGH ? ROUND_BYTES_ENOUGH : totals / 2;
    const uint64_t wanted = ROUND_RATIO * totals < enough ? ROUND_RATIO * totals : enough;
    const uint64_t most = (uint64_t)shared->round_morsels * shared->morsel_bytes;
    const uint64_t bytes = wanted < ROUND_BYTES_MIN ? ROUND_BYTES_MIN : wanted;
    return (bytes < most ? bytes : most) / shared->morsel_bytes * WPI_CPU_MORSEL;
}

static wp_status add(wpi_grouper *grouper, const wp_column *keys, const wp_column *values,
                     uint64_t row_count, wp_error *err) {
    wpi_cpu_grouper *g = (wpi_cpu_grouper *)grouper;
    if (g->is_broken)
        return WP_FAIL(err, INVALID, "the group-by has failed before and cannot be continued");
    g->is_broken = true; /* until this is done */
    const bool is_first = g->row_count == 0;
    WP_TRY(fit_layout(g, values, row_count, err));
    g->shared.expected_rows = g->row_count > g->expected_rows ? g->row_count : g->expected_rows;
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

static const char *explain(const wpi_grouper *grouper) {
    return ((const wpi_cpu_grouper *)grouper)->explanation;
}

const wpi_grouper_ops wpi_grouper_cpu = {.name = "cpu",
                                         .open = open_grouper,
                                         .add = add,
                                         .count = wpi_cpu_count_groups,
                                         .emit = wpi_cpu_emit_groups,
                                         .explain = explain,
                                         .close = close_grouper};

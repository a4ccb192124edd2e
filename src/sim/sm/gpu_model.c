/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/sm/gpu_model.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "sim/paging/paging.h"
#include "sim/sm/gpu_parts.h"

/* Adds the counters of launches, not their times. */
static void add_numbers(wpi_launch_numbers *sum, const wpi_launch_numbers *more) {
    sum->ctas += more->ctas;
    sum->swapped_ctas += more->swapped_ctas;
    sum->warp_instructions += more->warp_instructions;
    sum->thread_instructions += more->thread_instructions;
    sum->blocks += more->blocks;
    for (uint32_t kind = 0; kind < WP_TRACE_ACCESS_COUNT; kind++)
        sum->accesses[kind] += more->accesses[kind];
    sum->shared_accesses += more->shared_accesses;
    sum->shared_conflict_cycles += more->shared_conflict_cycles;
    sum->resident_warp_ps += more->resident_warp_ps;
    for (uint32_t what = 0; what < WPI_WARP_TIME_COUNT; what++)
        sum->warp_ps[what] += more->warp_ps[what];
    sum->issue_ps += more->issue_ps;
}

static void end_launch(wpi_gpu *gpu, wpi_grid *launch, bool is_good) {
    wpi_grid **link = &gpu->launches;
    while (*link != NULL && *link != launch)
        link = &(*link)->next;
    if (*link == NULL) return; /* it has already failed */
    *link = launch->next;
    launch->numbers.end_ps = wpi_engine_now(gpu->engine);
    add_numbers(&gpu->past, &launch->numbers);
    if (gpu->launches == NULL) gpu->busy_ps += launch->numbers.end_ps - gpu->busy_since;
    launch->next = gpu->ended;
    gpu->ended = launch;
    launch->end(launch->object, &launch->numbers, is_good);
}

static void free_launches(wpi_grid **list) {
    while (*list != NULL) {
        wpi_grid *launch = *list;
        *list = launch->next;
        wpi_free(launch->by_slot);
        wpi_free(launch);
    }
}

/* ---- CTAs go to SMs ---- */

/* Whether a whole cluster fits the SMs of this one's GPC. */
static bool has_cluster_room(const wpi_gpu *gpu, const wpi_sm *sm, const wpi_warp_source *source) {
    const uint32_t gpc = gpu->plan.gpc[wpi_sm_number(sm)];
    uint32_t room = 0;
    for (uint32_t i = 0; i < gpu->sm_count; i++) {
        if (gpu->plan.gpc[i] == gpc) room += wpi_sm_room(gpu->sms[i], source);
    }
    return room >= source->cluster_size;
}

static bool has_room(const wpi_gpu *gpu, const wpi_sm *sm, const wpi_warp_source *source) {
    return source->cluster_size > 1 ? has_cluster_room(gpu, sm, source)
                                    : wpi_sm_has_room(sm, source);
}

/* Those that were swapped out come before others of their launch, so their number is bounded. */
static wpi_grid *oldest_with_ctas(const wpi_gpu *gpu, const wpi_sm *sm) {
    for (wpi_grid *l = gpu->launches; l != NULL; l = l->next) {
        const bool is_next = l->next_cta < l->source->cta_count && l->swapped_out == 0;
        if (is_next && has_room(gpu, sm, l->source)) return l;
    }
    return NULL;
}

bool wpi_gpu_start_next(wpi_gpu *gpu, wpi_grid *launch, wpi_sm *sm) {
    const wpi_time_ps now = wpi_engine_now(gpu->engine);
    const wpi_time_ps start = launch->numbers.start_ps + gpu->profile->kernel_ps;
    const wpi_time_ps open = gpu->quiet_ps > start ? gpu->quiet_ps : start;
    const uint32_t place = (wpi_sm_number(sm) + gpu->sm_count - gpu->first_fed) % gpu->sm_count;
    const wpi_time_ps skewed = open + place * gpu->profile->skew_ps;
    const wpi_time_ps turn =
        wpi_bus_take(&launch->distributor, now > open ? now : open, gpu->profile->cta_interval_ps);
    gpu->last_fed = wpi_sm_number(sm);
    if (wpi_sm_start_cta(sm, launch, launch->next_cta++, turn > skewed ? turn : skewed, NULL) ==
        WP_STATUS_OK)
        return true;
    end_launch(gpu, launch, false);
    return false;
}

/* Starts a cluster, a CTA each on the SMs of this one's GPC in turn. */
static bool start_cluster(wpi_gpu *gpu, wpi_grid *launch, const wpi_sm *first) {
    const uint32_t at = wpi_sm_number(first), gpc = gpu->plan.gpc[at];
    uint32_t left = launch->source->cluster_size;
    for (uint32_t i = 0; left != 0; i++) {
        const uint32_t number = (at + i) % gpu->sm_count;
        wpi_sm *sm = gpu->sms[number];
        if (gpu->plan.gpc[number] != gpc || !wpi_sm_has_room(sm, launch->source)) continue;
        if (!wpi_gpu_start_next(gpu, launch, sm)) return false;
        left--;
    }
    return true;
}

/* Starts a CTA on the SM, or a cluster in its GPC, if one fits. */
static bool feed(wpi_gpu *gpu, wpi_sm *sm) {
    if (gpu->due != NULL && wpi_gpu_swap_in_on(gpu, sm)) return true;
    wpi_grid *launch = oldest_with_ctas(gpu, sm);
    if (launch == NULL) return false;
    return launch->source->cluster_size > 1 ? start_cluster(gpu, launch, sm)
                                            : wpi_gpu_start_next(gpu, launch, sm);
}

/* One per SM in turn, or (fill) one SM after the other. */
void wpi_gpu_feed_all(wpi_gpu *gpu) {
    const uint32_t placement = gpu->profile->cta_placement;
    const uint32_t first =
        placement == WPI_CTA_PLACEMENT_ROTATE ? (gpu->last_fed + 1) % gpu->sm_count : 0;
    gpu->first_fed = first;
    for (bool has_fed = true; has_fed;) {
        has_fed = false;
        for (uint32_t i = 0; i < gpu->sm_count; i++) {
            wpi_sm *sm = gpu->sms[(first + i) % gpu->sm_count];
            while (feed(gpu, sm)) {
                has_fed = true;
                if (placement != WPI_CTA_PLACEMENT_FILL) break;
            }
        }
    }
}

/* ---- ends ---- */

static void stores_done(void *object, uint64_t sm, const wpi_answer *answer) {
    wpi_grid *launch = object;
    (void)sm;
    (void)answer;
    if (--launch->sms_storing == 0) end_launch(launch->gpu, launch, true);
}

/* A launch ends when all of its stores have reached L2. */
static void await_stores(wpi_gpu *gpu, wpi_grid *launch) {
    const wpi_time_ps now = wpi_engine_now(gpu->engine);
    launch->sms_storing = 1; /* at least one, so that a launch ends in an event */
    for (uint32_t i = 1; i < gpu->sm_count; i++)
        launch->sms_storing += wpi_memory_is_storing(gpu->memory, i);
    wpi_memory_fence(gpu->memory, 0, now, stores_done, launch, 0);
    for (uint32_t i = 1; i < gpu->sm_count; i++) {
        if (wpi_memory_is_storing(gpu->memory, i))
            wpi_memory_fence(gpu->memory, i, now, stores_done, launch, i);
    }
}

static void cta_ended(void *object, wpi_sm *sm, wpi_grid *launch) {
    wpi_gpu *gpu = object;
    launch->numbers.ctas++;
    if (++launch->ended_ctas == launch->source->cta_count) await_stores(gpu, launch);
    while (!gpu->is_ending_ctas && feed(gpu, sm))
        ;
}

/* No page is in flight: all CTAs that are done end together (paging.cta_ends). */
static void links_are_quiet(void *object, uint64_t token, wpi_time_ps now) {
    wpi_gpu *gpu = object;
    (void)token;
    gpu->is_ending_ctas = true;
    for (uint32_t i = 0; i < gpu->sm_count; i++)
        wpi_sm_end_ctas(gpu->sms[i]);
    gpu->is_ending_ctas = false;
    gpu->quiet_ps = now;
    wpi_gpu_feed_all(gpu);
}

static bool may_end_cta(void *object, wpi_time_ps now) {
    wpi_gpu *gpu = object;
    wpi_paging *paging = wpi_memory_paging(gpu->memory);
    if (gpu->profile->paging.cta_ends == WPI_CTA_ENDS_DONE || paging == NULL) return true;
    return wpi_paging_is_quiet(paging, now, links_are_quiet, gpu);
}

static void failed(void *object, wpi_grid *launch) {
    wpi_gpu *gpu = object;
    end_launch(gpu, launch, false);
    wpi_engine_stop(gpu->engine);
}

static void at_grid(void *object, wpi_grid *launch) {
    wpi_gpu *gpu = object;
    if (++launch->ctas_at_grid != launch->source->cta_count) return;
    launch->ctas_at_grid = 0;
    for (uint32_t i = 0; i < gpu->sm_count; i++)
        wpi_sm_release_grid(gpu->sms[i], launch);
}

static void cta_waits(void *object) {
    wpi_gpu_want_room(object);
}

/* ---- launches ---- */

static bool can_ever_hold_cluster(const wpi_gpu *gpu, const wpi_warp_source *source) {
    const uint32_t each = wpi_sm_room_when_empty(gpu->profile, source);
    for (uint32_t i = 0; i < gpu->sm_count; i++) {
        uint32_t room = 0;
        for (uint32_t k = 0; k < gpu->sm_count; k++)
            room += gpu->plan.gpc[k] == gpu->plan.gpc[i] ? each : 0;
        if (room >= source->cluster_size) return true;
    }
    return false;
}

wp_status wpi_gpu_launch(wpi_gpu *gpu, wpi_warp_source *source, wpi_launch_end_fn end, void *object,
                         wp_error *err) {
    const char *what;
    wpi_sm_share_l1(gpu->profile, source);
    if (!wpi_sm_can_ever_hold(gpu->profile, source, &what)) {
        return WP_FAIL(err, LAUNCH, "a block of %u threads needs more %s than an SM of %s has",
                       source->threads_per_cta, what, gpu->profile->title);
    }
    if (source->cluster_size > 1 && !can_ever_hold_cluster(gpu, source)) {
        return WP_FAIL(err, LAUNCH,
                       "a cluster of %u blocks of %u threads does not fit the SMs of a GPC of %s",
                       source->cluster_size, source->threads_per_cta, gpu->profile->title);
    }
    const wpi_code *code;
    WP_TRY(wpi_memory_place_code(gpu->memory, source->tables, &code, err));
    wpi_grid *launch = wpi_calloc(1, sizeof *launch);
    if (launch == NULL) return WP_FAIL(err, NOMEM, "launch on the simulated GPU");
    free_launches(&gpu->ended);
    launch->gpu = gpu;
    launch->source = source;
    launch->code = code;
    launch->end = end;
    launch->object = object;
    launch->numbers.start_ps = wpi_engine_now(gpu->engine);
    if (gpu->launches == NULL) gpu->busy_since = launch->numbers.start_ps;
    wpi_grid **link = &gpu->launches;
    while (*link != NULL)
        link = &(*link)->next;
    *link = launch;
    wpi_memory_begin_launch(gpu->memory, source->l1_bytes, gpu->launches == launch);
    wpi_gpu_feed_all(gpu);
    if (source->is_nested && launch->next_cta < source->cta_count) wpi_gpu_want_room(gpu);
    return WP_STATUS_OK;
}

bool wpi_gpu_get_progress(const wpi_gpu *gpu, wpi_gpu_progress *out) {
    const wpi_grid *l = gpu->launches;
    if (l == NULL) return false;
    *out = (wpi_gpu_progress){l->object, l->ended_ctas, l->source->cta_count};
    return true;
}

uint64_t wpi_gpu_thread_instructions(const wpi_gpu *gpu) {
    uint64_t sum = gpu->past.thread_instructions;
    for (const wpi_grid *l = gpu->launches; l != NULL; l = l->next)
        sum += l->numbers.thread_instructions;
    return sum;
}

void wpi_gpu_cut(wpi_gpu *gpu) {
    while (gpu->launches != NULL)
        end_launch(gpu, gpu->launches, true);
}

/* ---- statistics ---- */

static const char *const warp_time_names[WPI_WARP_TIME_COUNT] = {
    [WPI_WARP_TIME_EXECUTE] = "execute",
    [WPI_WARP_TIME_NOT_SELECTED] = "not_selected",
    [WPI_WARP_TIME_LSU] = "lsu",
    [WPI_WARP_TIME_SHARED] = "shared",
    [WPI_WARP_TIME_BARRIER] = "barrier",
    [WPI_WARP_TIME_THREADS] = "threads",
    [WPI_WARP_TIME_FENCE] = "fence",
    [WPI_WARP_TIME_CODE] = "code",
    [WPI_WARP_TIME_TRANSLATION] = "translation",
    [WPI_WARP_TIME_FAULT] = "fault",
    [WPI_WARP_TIME_L1] = "l1",
    [WPI_WARP_TIME_L2] = "l2",
    [WPI_WARP_TIME_DRAM] = "dram",
    [WPI_WARP_TIME_LINK] = "link",
    [WPI_WARP_TIME_DRAIN] = "drain"};

void wpi_launch_statistics(const wpi_launch_numbers *n, wpi_visit visit, void *object) {
    const char *prefix = "kernel.";
    wpi_visit_value(visit, object, prefix, "time", "ps", n->end_ps - n->start_ps);
    wpi_visit_value(visit, object, prefix, "ctas", "CTAs", n->ctas);
    wpi_visit_value(visit, object, prefix, "thread_instructions", "instructions",
                    n->thread_instructions);
    wpi_visit_value(visit, object, prefix, "warp_instructions", "instructions",
                    n->warp_instructions);
    wpi_visit_value(visit, object, prefix, "blocks", "blocks of code", n->blocks);
    wpi_visit_value(visit, object, prefix, "loads", "warp accesses", n->accesses[WP_TRACE_LOAD]);
    wpi_visit_value(visit, object, prefix, "stores", "warp accesses", n->accesses[WP_TRACE_STORE]);
    wpi_visit_value(visit, object, prefix, "atomics", "warp accesses",
                    n->accesses[WP_TRACE_ATOMIC]);
    wpi_visit_value(visit, object, prefix, "reductions", "warp accesses",
                    n->accesses[WP_TRACE_REDUCE]);
    wpi_visit_value(visit, object, prefix, "resident_warps", "ps", n->resident_warp_ps);
    for (uint32_t what = 0; what < WPI_WARP_TIME_COUNT; what++)
        wpi_visit_value(visit, object, "warp_time.", warp_time_names[what], "ps", n->warp_ps[what]);
    wpi_visit_value(visit, object, prefix, "issue", "ps", n->issue_ps);
    wpi_visit_value(visit, object, "shared.", "accesses", "warp accesses", n->shared_accesses);
    wpi_visit_value(visit, object, "shared.", "conflict", "cycles", n->shared_conflict_cycles);
}

void wpi_gpu_statistics(const wpi_gpu *gpu, wpi_visit visit, void *object) {
    wpi_launch_numbers sum = gpu->past;
    for (const wpi_grid *l = gpu->launches; l != NULL; l = l->next)
        add_numbers(&sum, &l->numbers);
    sum.start_ps = 0;
    sum.end_ps = gpu->busy_ps;
    if (gpu->launches != NULL) sum.end_ps += wpi_engine_now(gpu->engine) - gpu->busy_since;
    wpi_launch_statistics(&sum, visit, object);
    wpi_visit_utilisation(visit, object, "warps.", "resident", &gpu->warps);
}

void wpi_gpu_describe_wait(const wpi_gpu *gpu, char *out, size_t out_bytes) {
    uint32_t warps = 0;
    uint64_t ctas = 0, swapped_out = 0;
    bool has_one = false;
    snprintf(out, out_bytes, "no warp is there");
    for (uint32_t i = 0; i < 2 * gpu->sm_count && !has_one; i++)
        has_one =
            wpi_sm_describe_wait(gpu->sms[i % gpu->sm_count], i < gpu->sm_count, out, out_bytes);
    for (uint32_t i = 0; i < gpu->sm_count; i++)
        warps += wpi_sm_warp_count(gpu->sms[i]);
    for (const wpi_grid *l = gpu->launches; l != NULL; l = l->next) {
        ctas += l->source->cta_count - l->next_cta;
        swapped_out += l->swapped_out;
    }
    size_t length = strlen(out);
    if (warps > 1) snprintf(out + length, out_bytes - length, "; %u warps are there", warps);
    length = strlen(out);
    if (ctas != 0)
        snprintf(out + length, out_bytes - length,
                 "; %llu CTAs have no place before one of those there ends",
                 (unsigned long long)ctas);
    length = strlen(out);
    if (swapped_out != 0)
        snprintf(out + length, out_bytes - length, "; %llu CTAs are swapped out",
                 (unsigned long long)swapped_out);
}

wp_status wpi_gpu_create(const wpi_profile *profile, wpi_engine *engine, wpi_memory *memory,
                         wpi_gpu **out, wp_error *err) {
    *out = NULL;
    wpi_gpu *gpu = wpi_calloc(1, sizeof *gpu);
    if (gpu == NULL) return WP_FAIL(err, NOMEM, "simulated GPU");
    gpu->profile = profile;
    gpu->engine = engine;
    gpu->memory = memory;
    gpu->due_last = &gpu->due;
    wpi_floorplan_init(&gpu->plan, profile);
    gpu->sms = wpi_calloc(profile->sm_count, sizeof(wpi_sm *));
    wp_status status = WP_STATUS_OK;
    if (gpu->sms == NULL) WP_TRY_GOTO(WP_FAIL(err, NOMEM, "simulated GPU"), failed);
    const wpi_sm_parent parent = {cta_ended, failed, may_end_cta, at_grid,
                                  cta_waits, gpu,    &gpu->warps};
    wpi_utilisation_init(&gpu->warps, profile->slice_ps,
                         (uint64_t)profile->sm_count * profile->warps);
    for (; gpu->sm_count < profile->sm_count; gpu->sm_count++) {
        WP_TRY_GOTO(wpi_sm_create(profile, gpu->sm_count, engine, memory, &parent,
                                  &gpu->sms[gpu->sm_count], err),
                    failed);
    }
    *out = gpu;
    return WP_STATUS_OK;

failed:
    wpi_gpu_destroy(gpu);
    return status;
}

void wpi_gpu_destroy(wpi_gpu *gpu) {
    if (gpu == NULL) return;
    for (uint32_t i = 0; i < gpu->sm_count; i++)
        wpi_sm_destroy(gpu->sms[i]);
    wpi_gpu_destroy_swapped(gpu);
    free_launches(&gpu->launches);
    free_launches(&gpu->ended);
    wpi_free(gpu->sms);
    wpi_free(gpu);
}

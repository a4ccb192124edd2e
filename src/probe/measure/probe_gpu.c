/* SPDX-License-Identifier: Apache-2.0 */
#include "probe/measure/probe_gpu.h"

#include <inttypes.h>

#include "base/alloc.h"
#include "probe/measure/chain.h"
#include "probe/measure/probe_kernels.h"
#include "probe/measure/timed_rounds.h"

#define LINE_BYTES WPI_CHASE_LINE_BYTES
#define SPAN_BYTES 4096u
#define LINK_THREADS 128u
#define PLACEMENT_TRIES 4u
#define MEMORY_MIN_BYTES ((uint64_t)32 << 20) /* enough for a first TLB of 16 entries of 2 MiB */
#define LOADS_MAX (UINT32_MAX / 2)
/* Entries cover aligned bytes, at most this many as far as known. */
#define ALIGN_MAX_BYTES ((uint64_t)512 << 20)

typedef struct link {
    wpi_chain chain;
    uint64_t offset_bytes;
    wpi_chase_order order;
    uint64_t seed;
    uint64_t hot;
} link;

struct wpi_gpu_sampler {
    wpi_sampler sampler;
    wp_device *device;
    wp_queue *queue;
    wp_module *module;
    wp_kernel *kernels[WPI_PROBE_KERNEL_COUNT];
    wpi_round_listener listener;
    void *allocation;
    char *base;                           /* aligned */
    wpi_probe_note *device_notes, *notes; /* [sm_count] */
    uint32_t *ctas_to;                    /* [sm_count]: CTAs that it takes to reach the SM */
    uint32_t *device_order, *order;
    uint32_t order_capacity;
    uint64_t launches;
    double overhead_cycles; /* of reading the clock twice */
    link linked[2];         /* chains now in memory: a chase's, or both of a contest */
    bool is_linked[2];
};

/* ---- launches ---- */

static wp_status launch(wpi_gpu_sampler *s, wpi_probe_kernel kernel, uint32_t ctas,
                        uint32_t threads, uint32_t shared_bytes, void **args, wp_error *err) {
    const wp_launch it = {.kernel = s->kernels[kernel],
                          .grid = {ctas, 1, 1},
                          .block = {threads, 1, 1},
                          .shared_dynamic_bytes = shared_bytes,
                          .args = args};
    WP_TRY(wp_queue_launch(s->queue, &it, err));
    return wp_queue_wait(s->queue, err);
}

typedef struct rounds {
    const char *first;
    uint32_t loads, untimed, timed, sm;
} rounds;

/* Shared memory of a CTA such that an SM holds only one. */
static uint32_t claiming_bytes(const wpi_gpu_sampler *s) {
    const uint64_t taken = wp_kernel_get_info(s->kernels[WPI_PROBE_CHASE])->shared_static_bytes;
    const uint64_t most = wp_device_get_info(s->device)->shared_bytes_per_block;
    return most > taken ? (uint32_t)(most - taken) : 0;
}

static wp_status fetch_notes(wpi_gpu_sampler *s, uint32_t ctas, wp_error *err) {
    WP_TRY(wp_queue_copy(s->queue, s->notes, s->device_notes, ctas * sizeof *s->notes, err));
    return wp_queue_wait(s->queue, err);
}

/* Runs one CTA on the requested SM, and gets its note; NULL if none was there, or two. */
static wp_status try_rounds(wpi_gpu_sampler *s, const rounds *r, const wpi_probe_note **out,
                            wp_error *err) {
    const bool is_placed = r->sm != WPI_SM_ANY;
    const uint32_t ctas = is_placed ? s->ctas_to[r->sm] : 1;
    const uint64_t number = ++s->launches;
    void *args[] = {(void *)&r->first, (void *)&r->loads, (void *)&r->untimed, (void *)&r->timed,
                    (void *)&r->sm,    (void *)&number,   &s->device_notes};
    *out = NULL;
    WP_TRY(launch(s, WPI_PROBE_CHASE, ctas, 1, is_placed ? claiming_bytes(s) : 0, args, err));
    WP_TRY(fetch_notes(s, ctas, err));
    uint32_t found = 0;
    for (uint32_t i = 0; i < ctas; i++) {
        if (s->notes[i].launch != number) continue;
        *out = &s->notes[i];
        found++;
    }
    if (found != 1) *out = NULL;
    if (is_placed)
        s->ctas_to[r->sm] = found == 1 ? (uint32_t)(*out - s->notes) + 1 : s->sampler.sm_count;
    return WP_STATUS_OK;
}

static wp_status fail_placement(const wpi_gpu_sampler *s, uint32_t sm, wp_error *err) {
    return WP_FAIL(err, UNSUPPORTED,
                   "%s: no thread block was scheduled on SM %" PRIu32
                   " alone; is another process using the device?",
                   wp_device_get_info(s->device)->spec, sm);
}

/* ---- chains ---- */

static void fill_order(uint32_t *order, const link *l) {
    const uint32_t count = l->chain.loads;
    if (l->order == WPI_ORDER_SHUFFLED) {
        wpi_rounds_shuffle(order, count, l->seed);
        return;
    }
    if (l->order == WPI_ORDER_REUSE) {
        wpi_rounds_reuse(order, count, (uint32_t)l->hot);
        return;
    }
    for (uint32_t pair = 0; 2 * pair < count; pair++)
        order[pair] = pair;
    wpi_rounds_halve(order, count);
}

static wp_status put_order(wpi_gpu_sampler *s, const link *l, wp_error *err) {
    const uint32_t count = l->chain.loads;
    if (count > s->order_capacity) {
        WP_TRY(wp_memory_free(s->device, s->device_order, err));
        wpi_free(s->order);
        s->device_order = NULL;
        s->order = wpi_calloc(count, sizeof *s->order);
        s->order_capacity = s->order != NULL ? count : 0;
        if (s->order == NULL) return WP_FAIL(err, NOMEM, "an order of %" PRIu32 " loads", count);
        WP_TRY(wp_memory_alloc(s->device, WP_MEMORY_DEVICE, count * sizeof *s->order, 0,
                               (void **)&s->device_order, err));
    }
    fill_order(s->order, l);
    return wp_queue_copy(s->queue, s->device_order, s->order, count * sizeof *s->order, err);
}

static bool is_same(const link *a, const link *b) {
    return a->chain.stride_bytes == b->chain.stride_bytes && a->chain.loads == b->chain.loads &&
           a->offset_bytes == b->offset_bytes && a->order == b->order && a->seed == b->seed &&
           a->hot == b->hot;
}

/* Writes the chain, unless it is there already. */
static wp_status put_link(wpi_gpu_sampler *s, unsigned slot, const link *l, wp_error *err) {
    if (s->is_linked[slot] && is_same(&s->linked[slot], l)) return WP_STATUS_OK;
    s->is_linked[0] = s->is_linked[0] && slot != 0;
    s->is_linked[1] = false;
    const bool is_ordered = l->order != WPI_ORDER_STRIDED;
    if (is_ordered) WP_TRY(put_order(s, l, err));
    char *base = s->base + l->offset_bytes;
    const uint32_t *order = is_ordered ? s->device_order : NULL;
    const uint32_t ctas = (l->chain.loads + LINK_THREADS - 1) / LINK_THREADS;
    void *args[] = {&base, (void *)&l->chain, &order};
    WP_TRY(launch(s, WPI_PROBE_LINK, ctas, LINK_THREADS, 0, args, err));
    s->linked[slot] = *l;
    s->is_linked[slot] = true;
    return WP_STATUS_OK;
}

static const char *first_of(const wpi_gpu_sampler *s, const link *l) {
    const uint32_t first = l->order != WPI_ORDER_STRIDED ? s->order[0] : 0;
    return s->base + l->offset_bytes + wpi_chain_place(&l->chain, first);
}

static uint64_t bytes_of(uint64_t stride_bytes, uint64_t loads) {
    return loads > LOADS_MAX || stride_bytes > UINT64_MAX / loads ? UINT64_MAX
                                                                  : stride_bytes * loads;
}

static wp_status check_sm(const wpi_gpu_sampler *s, uint32_t sm, wp_error *err) {
    if (sm == WPI_SM_ANY || sm < s->sampler.sm_count) return WP_STATUS_OK;
    return WP_FAIL(err, INVALID, "%s has no SM %" PRIu32, wp_device_get_info(s->device)->spec, sm);
}

static wp_status check_room(const wpi_gpu_sampler *s, uint64_t stride_bytes, uint64_t loads,
                            wp_error *err) {
    const uint64_t bytes = loads != 0 ? bytes_of(stride_bytes, loads) : 0;
    if (loads == 0 || stride_bytes < sizeof(uint64_t) || stride_bytes % sizeof(uint64_t) != 0)
        return WP_FAIL(
            err, INVALID,
            "a chain needs at least one load and strides that are a multiple of 8 bytes");
    if (bytes > s->sampler.memory_bytes)
        return WP_FAIL(err, DEVICE_NOMEM,
                       "%" PRIu64 " loads %" PRIu64 " bytes apart need more than the %" PRIu64
                       " bytes of the probe",
                       loads, stride_bytes, s->sampler.memory_bytes);
    return WP_STATUS_OK;
}

/* ---- the sampler ---- */

static uint32_t rounds_wanted(uint32_t repeats) {
    if (repeats == 0) return 1;
    return repeats < WPI_PROBE_ROUNDS_MAX ? repeats : WPI_PROBE_ROUNDS_MAX;
}

static wp_status chase(void *object, const wpi_chase *wanted, wpi_timing *out, wp_error *err) {
    wpi_gpu_sampler *s = object;
    const uint64_t stride = wanted->is_control ? LINE_BYTES : wanted->stride_bytes;
    WP_TRY(check_sm(s, wanted->sm, err));
    WP_TRY(check_room(s, stride, wpi_chase_places(wanted), err));
    const link l = {.chain = {stride, SPAN_BYTES, LINE_BYTES, (uint32_t)wanted->loads},
                    .order = wanted->order,
                    .seed = wanted->seed,
                    .hot = wanted->hot};
    WP_TRY(put_link(s, 0, &l, err));
    const rounds r = {first_of(s, &l), l.chain.loads, 1, rounds_wanted(wanted->repeats),
                      wanted->sm};
    const wpi_probe_note *note = NULL;
    for (unsigned i = 0; i < PLACEMENT_TRIES && note == NULL; i++)
        WP_TRY(try_rounds(s, &r, &note, err));
    if (note == NULL) return fail_placement(s, wanted->sm, err);
    double cycles[WPI_PROBE_ROUNDS_MAX];
    for (uint32_t i = 0; i < note->rounds; i++) {
        cycles[i] = (double)note->cycles[i];
        if (s->listener.chased != NULL)
            s->listener.chased(s->listener.object, wanted, i, cycles[i] - s->overhead_cycles);
    }
    wpi_rounds_sum_up(cycles, note->rounds, wanted->loads, s->overhead_cycles, out);
    return WP_STATUS_OK;
}

/* The three stages, once; `*cycles` of the third one, negative if the SMs were not reached.
 */
static wp_status contest_once(wpi_gpu_sampler *s, const rounds stages[3], double *cycles,
                              wp_error *err) {
    const wpi_probe_note *note = NULL;
    *cycles = -1;
    for (unsigned i = 0; i < 3; i++) {
        WP_TRY(try_rounds(s, &stages[i], &note, err));
        if (note == NULL) return WP_STATUS_OK;
    }
    *cycles = (double)note->cycles[0];
    return WP_STATUS_OK;
}

static wp_status contest(void *object, const wpi_contest *wanted, wpi_timing *out, wp_error *err) {
    wpi_gpu_sampler *s = object;
    WP_TRY(check_sm(s, wanted->sm_timed, err));
    WP_TRY(check_sm(s, wanted->sm_other, err));
    WP_TRY(check_room(s, wanted->stride_bytes, wanted->loads_timed + wanted->loads_other, err));
    const link timed = {
        .chain = {wanted->stride_bytes, SPAN_BYTES, LINE_BYTES, (uint32_t)wanted->loads_timed}};
    const link other = {
        .chain = {wanted->stride_bytes, SPAN_BYTES, LINE_BYTES, (uint32_t)wanted->loads_other},
        .offset_bytes = wanted->stride_bytes * wanted->loads_timed};
    WP_TRY(put_link(s, 0, &timed, err));
    WP_TRY(put_link(s, 1, &other, err));
    const rounds stages[3] = {{first_of(s, &timed), timed.chain.loads, 1, 0, wanted->sm_timed},
                              {first_of(s, &other), other.chain.loads, 1, 0, wanted->sm_other},
                              {first_of(s, &timed), timed.chain.loads, 0, 1, wanted->sm_timed}};
    const uint32_t repeats = rounds_wanted(wanted->repeats);
    double cycles[WPI_PROBE_ROUNDS_MAX];
    for (uint32_t r = 0; r < repeats; r++) {
        cycles[r] = -1;
        for (unsigned i = 0; i < PLACEMENT_TRIES && cycles[r] < 0; i++)
            WP_TRY(contest_once(s, stages, &cycles[r], err));
        if (cycles[r] < 0) return fail_placement(s, wanted->sm_timed, err);
        if (s->listener.contested != NULL)
            s->listener.contested(s->listener.object, wanted, r, cycles[r] - s->overhead_cycles);
    }
    wpi_rounds_sum_up(cycles, repeats, wanted->loads_timed, s->overhead_cycles, out);
    return WP_STATUS_OK;
}

/* ---- beginning and end ---- */

/* Measures a round without loads. */
static wp_status measure_overhead(wpi_gpu_sampler *s, wp_error *err) {
    const rounds none = {s->base, 0, 1, 5, WPI_SM_ANY};
    const wpi_probe_note *note = NULL;
    WP_TRY(try_rounds(s, &none, &note, err));
    WP_CHECK(note != NULL);
    s->overhead_cycles = (double)note->cycles[0];
    for (unsigned i = 1; i < 5; i++)
        if ((double)note->cycles[i] < s->overhead_cycles)
            s->overhead_cycles = (double)note->cycles[i];
    return WP_STATUS_OK;
}

static wp_status load_kernels(wpi_gpu_sampler *s, wp_error *err) {
    for (int k = 0; k < WPI_PROBE_KERNEL_COUNT; k++) {
        const void *image;
        const char *name;
        WP_TRY(wp_image_find(wpi_probe_kernel_of((wpi_probe_kernel)k), &image, &name, err));
        if (s->module == NULL) WP_TRY(wp_module_load(s->device, image, &s->module, err));
        WP_TRY(wp_module_find_kernel(s->module, name, &s->kernels[k], err));
    }
    return WP_STATUS_OK;
}

/* Allocates all memory but a sixteenth, which is left for others; uses it from the first aligned
 * address on. */
static wp_status take_memory(wpi_gpu_sampler *s, uint64_t max_bytes, wp_error *err) {
    uint64_t free_bytes = 0, total_bytes = 0, align_bytes = MEMORY_MIN_BYTES / 16;
    wp_memory_info(s->device, &free_bytes, &total_bytes);
    uint64_t bytes = free_bytes - free_bytes / 16;
    if (max_bytes != 0 && bytes > max_bytes) bytes = max_bytes;
    if (bytes < MEMORY_MIN_BYTES)
        return WP_FAIL(err, DEVICE_NOMEM,
                       "%s: %" PRIu64 " MiB are not enough to probe the L1 TLB; at least %" PRIu64
                       " MiB are needed",
                       wp_device_get_info(s->device)->spec, bytes >> 20, MEMORY_MIN_BYTES >> 20);
    while (align_bytes * 32 <= bytes && align_bytes < ALIGN_MAX_BYTES)
        align_bytes *= 2;
    WP_TRY(wp_memory_alloc(s->device, WP_MEMORY_DEVICE, bytes, 0, &s->allocation, err));
    const uint64_t skipped = -(uint64_t)(uintptr_t)s->allocation & (align_bytes - 1);
    s->base = (char *)s->allocation + skipped;
    s->sampler.memory_bytes = bytes - skipped;
    return WP_STATUS_OK;
}

static wp_status begin(wpi_gpu_sampler *s, uint64_t max_memory_bytes, wp_error *err) {
    const uint32_t sms = s->sampler.sm_count;
    s->notes = wpi_calloc(sms, sizeof *s->notes);
    s->ctas_to = wpi_calloc(sms, sizeof *s->ctas_to);
    if (s->notes == NULL || s->ctas_to == NULL)
        return WP_FAIL(err, NOMEM, "notes of %" PRIu32 " SMs", sms);
    for (uint32_t sm = 0; sm < sms; sm++)
        s->ctas_to[sm] = sms;
    WP_TRY(load_kernels(s, err));
    WP_TRY(wp_memory_alloc(s->device, WP_MEMORY_DEVICE, sms * sizeof *s->notes, 0,
                           (void **)&s->device_notes, err));
    WP_TRY(wp_queue_fill(s->queue, s->device_notes, 0, 1, sms * sizeof *s->notes, err));
    WP_TRY(take_memory(s, max_memory_bytes, err));
    return measure_overhead(s, err);
}

wp_status wpi_gpu_sampler_create(wp_device *device, uint64_t max_memory_bytes,
                                 const wpi_round_listener *listener, wpi_gpu_sampler **out,
                                 wp_error *err) {
    *out = NULL;
    wpi_gpu_sampler *s = wpi_calloc(1, sizeof *s);
    if (s == NULL) return WP_FAIL(err, NOMEM, "a probe");
    s->device = device;
    s->queue = wp_device_default_queue(device);
    if (listener != NULL) s->listener = *listener;
    s->sampler = (wpi_sampler){.object = s,
                               .sm_count = wp_device_get_info(device)->sm_count,
                               .chase = chase,
                               .contest = contest};
    const wp_status status = begin(s, max_memory_bytes, err);
    if (status == WP_STATUS_OK)
        *out = s;
    else
        wpi_gpu_sampler_destroy(s);
    return status;
}

/* Fails only if the device is lost. */
static void give_back(wp_device *device, void *memory) {
    const wp_status ignored = wp_memory_free(device, memory, NULL);
    (void)ignored;
}

void wpi_gpu_sampler_destroy(wpi_gpu_sampler *s) {
    if (s == NULL) return;
    give_back(s->device, s->allocation);
    give_back(s->device, s->device_notes);
    give_back(s->device, s->device_order);
    wp_module_unload(s->module);
    wpi_free(s->notes);
    wpi_free(s->ctas_to);
    wpi_free(s->order);
    wpi_free(s);
}

const wpi_sampler *wpi_gpu_sampler_get(wpi_gpu_sampler *s) {
    return &s->sampler;
}

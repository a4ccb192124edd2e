/* SPDX-License-Identifier: Apache-2.0 */
/* The loop of passes. The bitmaps are in device memory; the one of done units is read after each
 * pass: a bit for each unit, against the record itself that is not sent again. */
#include "warpage/postpone.h"
#include "warpage/report.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "table/table_state.h"

#define UNITS_MAX ((uint64_t)1 << 40)
#define REQUESTS_MAX (1u << 20)
#define IDLE_PASSES_MAX 8u

struct wp_postpone {
    wp_device *device;
    wp_queue *queue;
    wp_units units;
    wp_event *start, *stop;
    /* The host's copies; here, not on a stack: a wait may fail and the copy come later. */
    uint32_t *done, *served_bits;
    uint32_t faults;
    uint64_t words, served_words;
    uint64_t chunk_units;
    uint64_t pass, done_units, served;
    uint64_t added; /* wp_postpone_add_served, in this pass */
    uint32_t idle_passes, idle_passes_max;
    bool has_moved; /* wpi_postpone_moved, in this pass */
};

static wp_status make_bits(wp_postpone *p, uint64_t words, uint32_t **out, wp_error *err) {
    WP_TRY(
        wp_memory_alloc(p->device, WP_MEMORY_DEVICE, words * sizeof **out, 0, (void **)out, err));
    return wp_queue_fill(p->queue, *out, 0, 4, words, err);
}

static wp_status make(wp_postpone *p, const wp_postpone_spec *spec, wp_error *err) {
    p->queue = wp_device_default_queue(p->device);
    p->units.count = spec->unit_count;
    p->units.requests = spec->requests_per_unit == 0 ? 1 : spec->requests_per_unit;
    p->idle_passes_max = spec->idle_passes_max == 0 ? IDLE_PASSES_MAX : spec->idle_passes_max;
    const bool is_whole = spec->chunk_units == 0 || spec->chunk_units > spec->unit_count;
    p->chunk_units = ((is_whole ? spec->unit_count : spec->chunk_units) + 31) & ~(uint64_t)31;
    p->words = spec->unit_count == 0 ? 1 : (spec->unit_count + 31) / 32;
    p->done = wpi_calloc(p->words, sizeof *p->done);
    if (p->done == NULL)
        return WP_FAIL(err, NOMEM, "postpone: no memory for a bitmap of %llu units",
                       (unsigned long long)spec->unit_count);
    WP_TRY(make_bits(p, p->words, &p->units.done, err));
    WP_TRY(make_bits(p, 1, &p->units.faults, err));
    if (p->units.requests > 1) {
        p->served_words = (spec->unit_count * p->units.requests + 31) / 32 + 1;
        p->served_bits = wpi_calloc(p->served_words, sizeof *p->served_bits);
        if (p->served_bits == NULL)
            return WP_FAIL(err, NOMEM, "postpone: no memory for a bitmap of %llu requests",
                           (unsigned long long)(spec->unit_count * p->units.requests));
        WP_TRY(make_bits(p, p->served_words, &p->units.served, err));
    }
    WP_TRY(wp_event_create(p->device, &p->start, err));
    WP_TRY(wp_event_create(p->device, &p->stop, err));
    return wp_queue_wait(p->queue, err); /* a program may write to the bits itself */
}

wp_status wp_postpone_create(wp_device *device, const wp_postpone_spec *spec, wp_postpone **out,
                             wp_error *err) {
    *out = NULL;
    if (device == NULL) return WP_FAIL(err, INVALID, "postpone: there is no device");
    if (spec->unit_count > UNITS_MAX)
        return WP_FAIL(err, INVALID, "postpone: %llu units; at most 2^40 are possible",
                       (unsigned long long)spec->unit_count);
    if (spec->requests_per_unit > REQUESTS_MAX)
        return WP_FAIL(err, INVALID, "postpone: %u requests of a unit; at most %u are possible",
                       spec->requests_per_unit, REQUESTS_MAX);
    wp_postpone *p = wpi_calloc(1, sizeof *p);
    if (p == NULL) return WP_FAIL(err, NOMEM, "postpone: no host memory");
    p->device = device;
    const wp_status status = make(p, spec, err);
    if (status != WP_STATUS_OK)
        wp_postpone_destroy(p);
    else
        *out = p;
    return status;
}

static void free_device(wp_device *device, void *memory) {
    const wp_status ignored = memory == NULL ? WP_STATUS_OK : wp_memory_free(device, memory, NULL);
    (void)ignored; /* fails only where the device has freed it */
}

void wp_postpone_destroy(wp_postpone *p) {
    if (p == NULL) return;
    free_device(p->device, p->units.done);
    free_device(p->device, p->units.served);
    free_device(p->device, p->units.faults);
    wp_event_destroy(p->start);
    wp_event_destroy(p->stop);
    wpi_free(p->done);
    wpi_free(p->served_bits);
    wpi_free(p);
}

wp_units wp_postpone_units(const wp_postpone *postpone) {
    return postpone->units;
}

/* ---- bits ------------------------------------------------------------------------------------ */

static uint64_t ones(const uint32_t *words, uint64_t count) {
    uint64_t sum = 0;
    for (uint64_t i = 0; i < count; i++)
        sum += (uint64_t)__builtin_popcount(words[i]);
    return sum;
}

/* Units of the last word that there are not count as done. */
static bool all_done(const wp_postpone *p, uint64_t first_word, uint64_t outer_word) {
    for (uint64_t i = first_word; i < outer_word; i++) {
        const uint64_t left = p->units.count - i * 32;
        const uint32_t all = left >= 32 ? UINT32_MAX : (1u << left) - 1;
        if (p->done[i] != all) return false;
    }
    return true;
}

static uint64_t first_not_done(const wp_postpone *p) {
    for (uint64_t i = 0; i < p->words; i++)
        if (p->done[i] != UINT32_MAX) {
            const uint64_t unit = i * 32 + (uint64_t)__builtin_ctz(~p->done[i]);
            return unit < p->units.count ? unit : p->units.count;
        }
    return p->units.count;
}

static wp_status fetch(wp_postpone *p, void *to, const void *from, uint64_t bytes, wp_error *err) {
    WP_TRY(wp_queue_copy(p->queue, to, from, bytes, err));
    return wp_queue_wait(p->queue, err);
}

/* ---- a pass ---------------------------------------------------------------------------------- */

static wp_status process(wp_postpone *p, const wp_requester *requester,
                         const wp_requestee *requestee, wp_postpone_facts *facts, wp_error *err) {
    const uint64_t chunk_words = p->chunk_units / 32;
    if (p->idle_passes != 0) {
        /* Requests that compete may all be postponed, pass after pass: the first one goes alone. */
        const uint64_t unit = first_not_done(p);
        WP_TRY(requester->process(requester->object, &p->units, unit, unit + 1, err));
        WP_TRY(wp_device_wait(p->device, err));
    }
    uint64_t word = first_not_done(p) / 32 / chunk_words * chunk_words;
    for (; word < p->words && !facts->was_halted; word += chunk_words) {
        const uint64_t outer_word = p->words - word < chunk_words ? p->words : word + chunk_words;
        if (all_done(p, word, outer_word)) continue;
        const uint64_t outer = outer_word * 32 < p->units.count ? outer_word * 32 : p->units.count;
        WP_TRY(requester->process(requester->object, &p->units, word * 32, outer, err));
        facts->chunks++;
        if (requestee->halts != NULL && outer < p->units.count) {
            WP_TRY(wp_device_wait(p->device, err));
            WP_TRY(requestee->halts(requestee->object, &facts->was_halted, err));
        }
    }
    return wp_device_wait(p->device, err);
}

/* What the pass did, from the bitmaps. */
static wp_status look(wp_postpone *p, wp_postpone_facts *facts, wp_error *err) {
    WP_TRY(fetch(p, &p->faults, p->units.faults, sizeof p->faults, err));
    if (p->faults != 0)
        return WP_FAIL(err, INVALID,
                       "postpone: a unit made more than the %u requests that "
                       "wp_postpone_spec.requests_per_unit allows",
                       p->units.requests);
    WP_TRY(fetch(p, p->done, p->units.done, p->words * sizeof *p->done, err));
    const uint64_t done = ones(p->done, p->words);
    uint64_t served = done;
    if (p->units.served != NULL) {
        WP_TRY(fetch(p, p->served_bits, p->units.served, p->served_words * sizeof *p->served_bits,
                     err));
        served += ones(p->served_bits, p->served_words);
    }
    facts->served = served - p->served + p->added;
    p->added = 0;
    p->served = served;
    p->done_units = done;
    facts->done_units = done;
    facts->postponed_units = p->units.count - done;
    facts->first_postponed = first_not_done(p);
    return WP_STATUS_OK;
}

static wp_status run_pass(wp_postpone *p, const wp_requester *requester,
                          const wp_requestee *requestee, wp_postpone_facts *facts, wp_error *err) {
    *facts = (wp_postpone_facts){.pass = ++p->pass};
    p->has_moved = false;
    if (requestee->begin != NULL) WP_TRY(requestee->begin(requestee->object, err));
    WP_TRY(wp_device_wait(p->device, err));
    WP_TRY(wp_event_record(p->start, p->queue, err));
    WP_TRY(process(p, requester, requestee, facts, err));
    WP_TRY(wp_event_record(p->stop, p->queue, err));
    WP_TRY(wp_event_wait(p->stop, err));
    facts->pass_ns = wp_event_time_ns(p->stop) - wp_event_time_ns(p->start);
    char name[32];
    (void)snprintf(name, sizeof name, "pass %" PRIu64, facts->pass);
    wp_timeline_phase("passes", name, wp_event_time_ns(p->start), wp_event_time_ns(p->stop));
    WP_TRY(look(p, facts, err));
    return requestee->end != NULL ? requestee->end(requestee->object, facts, err) : WP_STATUS_OK;
}

wp_status wp_postpone_run(wp_postpone *p, const wp_requester *requester,
                          const wp_requestee *requestee, wp_postpone_facts *facts, wp_error *err) {
    const wp_requestee always = {0};
    wp_postpone_facts own = {.pass = p->pass,
                             .done_units = p->done_units,
                             .postponed_units = p->units.count - p->done_units,
                             .first_postponed = first_not_done(p)};
    if (facts == NULL) facts = &own;
    *facts = own;
    if (requestee == NULL) requestee = &always;
    while (facts->postponed_units != 0) {
        WP_TRY(run_pass(p, requester, requestee, facts, err));
        p->idle_passes = facts->served == 0 && !p->has_moved ? p->idle_passes + 1 : 0;
        if (facts->postponed_units == 0) break;
        if (p->idle_passes >= p->idle_passes_max)
            return WP_FAIL(err, INVALID,
                           "postpone: %u passes in a row served nothing of the %llu units that are "
                           "left, from unit %llu on",
                           p->idle_passes, (unsigned long long)facts->postponed_units,
                           (unsigned long long)facts->first_postponed);
        if (requestee->retries != NULL && !requestee->retries(requestee->object, facts)) break;
        if (requester->retries != NULL && !requester->retries(requester->object, facts)) break;
    }
    return WP_STATUS_OK;
}

void wp_postpone_add_served(wp_postpone *postpone, uint64_t count) {
    postpone->added += count;
}

void wpi_postpone_moved(wp_postpone *postpone) {
    postpone->has_moved = true;
}

/* ---- when it pays ---------------------------------------------------------------------------- */

bool wp_postpone_pays(const wp_postpone_terms *t, double *postponing_ns, double *serving_ns) {
    const double postponing = t->postponements * (t->pre_ns + t->postpone_ns) + t->pre_ns +
                              t->postponed_service_ns + t->post_ns;
    const double serving = t->pre_ns + t->service_ns + t->post_ns;
    if (postponing_ns != NULL) *postponing_ns = postponing;
    if (serving_ns != NULL) *serving_ns = serving;
    return postponing < serving;
}

size_t wp_postpone_explain(const wp_postpone_terms *t, char *text, size_t text_bytes) {
    double postponing, serving;
    const bool pays = wp_postpone_pays(t, &postponing, &serving);
    const int length =
        snprintf(text, text_bytes,
                 "  before the request     %10.2f ns\n"
                 "  to postpone it         %10.2f ns, %.2f times on average\n"
                 "  to serve it later      %10.2f ns\n"
                 "  to serve it at once    %10.2f ns\n"
                 "  after the request      %10.2f ns\n"
                 "  %.2f * (%.2f + %.2f) + (%.2f + %.2f + %.2f) = %.2f ns with postponing\n"
                 "  %.2f + %.2f + %.2f = %.2f ns without: postponing %s\n",
                 t->pre_ns, t->postpone_ns, t->postponements, t->postponed_service_ns,
                 t->service_ns, t->post_ns, t->postponements, t->pre_ns, t->postpone_ns, t->pre_ns,
                 t->postponed_service_ns, t->post_ns, postponing, t->pre_ns, t->service_ns,
                 t->post_ns, serving, pays ? "pays" : "does not pay");
    return length < 0 ? 0 : (size_t)length;
}

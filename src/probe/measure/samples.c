/* SPDX-License-Identifier: Apache-2.0 */
#include "probe/measure/samples.h"

#include <inttypes.h>

#include "base/alloc.h"

static wpi_sample *add(wpi_probe_record *r) {
    if (r->count == r->capacity) {
        const size_t capacity = r->capacity != 0 ? 2 * r->capacity : 1024;
        wpi_sample *more = wpi_realloc(r->samples, capacity * sizeof *more);
        r->is_lost = r->is_lost || more == NULL;
        if (more == NULL) return NULL;
        r->samples = more;
        r->capacity = capacity;
    }
    return &r->samples[r->count++];
}

static void chased(void *object, const wpi_chase *chase, uint32_t round, double cycles) {
    wpi_sample *sample = add(object);
    if (sample != NULL) *sample = (wpi_sample){false, round, cycles, .chase = *chase};
}

static void contested(void *object, const wpi_contest *contest, uint32_t round, double cycles) {
    wpi_sample *sample = add(object);
    if (sample != NULL) *sample = (wpi_sample){true, round, cycles, .contest = *contest};
}

wpi_round_listener wpi_probe_record_listener(wpi_probe_record *record) {
    return (wpi_round_listener){record, chased, contested};
}

void wpi_probe_record_deinit(wpi_probe_record *record) {
    wpi_free(record->samples);
    *record = (wpi_probe_record){0};
}

static const char *const orders[] = {[WPI_ORDER_STRIDED] = "strided",
                                     [WPI_ORDER_SHUFFLED] = "shuffled",
                                     [WPI_ORDER_HALVES] = "halves",
                                     [WPI_ORDER_REUSE] = "reuse"};

static void append_chase(const wpi_sample *s, wpi_text *out) {
    const wpi_chase *c = &s->chase;
    wpi_text_appendf(out, "%s,%" PRIu64 ",%" PRIu64 ",", c->is_control ? "control" : "chase",
                     c->stride_bytes, c->loads);
    if (c->order == WPI_ORDER_REUSE) wpi_text_appendf(out, "%" PRIu64, c->hot);
    wpi_text_appendf(out, ",%s,%" PRIu64 ",", orders[c->order], c->seed);
    if (c->sm != WPI_SM_ANY) wpi_text_appendf(out, "%" PRIu32, c->sm);
    wpi_text_appendf(out, ",,%" PRIu32 ",%.0f\n", s->round, s->cycles);
}

static void append_contest(const wpi_sample *s, wpi_text *out) {
    const wpi_contest *c = &s->contest;
    wpi_text_appendf(out,
                     "contest,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",strided,,%" PRIu32 ",%" PRIu32
                     ",%" PRIu32 ",%.0f\n",
                     c->stride_bytes, c->loads_timed, c->loads_other, c->sm_timed, c->sm_other,
                     s->round, s->cycles);
}

void wpi_probe_record_csv(const wpi_probe_record *record, wpi_text *out) {
    wpi_text_append(out,
                    "kind,stride_bytes,loads,loads_other,order,seed,sm,sm_other,round,cycles\n");
    for (size_t i = 0; i < record->count; i++) {
        const wpi_sample *sample = &record->samples[i];
        if (sample->is_contest)
            append_contest(sample, out);
        else
            append_chase(sample, out);
    }
}

/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Selective postponement (SePo): a request may be answered "later", and is made again in a later
 * pass (Mokhtari, thesis, section 6.2.1).
 *
 * A requester processes units of work (records of an input) in any order; each unit makes requests
 * of a requestee (pairs for a hash table, say). The requestee serves a request, or postpones it
 * when it is cheaper to serve it later: the data that it needs are not resident, a heap is full.
 * Between passes the requestee makes room. A bitmap says which requests were served, so that each
 * is served exactly once:
 *
 *     pass 1   units 0 1 2 3 4 5 …      1, 4 postponed
 *              requestee makes room
 *     pass 2   units   1     4          chunks without such units are not processed again
 *
 * In a kernel (or on a thread of the host), for each unit:
 *
 *     if (wp_units_is_done(&units, unit)) return;
 *     wp_attempt attempt = wp_attempt_begin(&units, unit);
 *     for (each request)                                   all of them, also after one is postponed
 *         if (wp_attempt_wants(&attempt)) wp_attempt_note(&attempt, serve(…));
 *     wp_attempt_end(&attempt);
 *
 * A unit makes the same requests in the same order in every pass. It must make all of them in every
 * pass: a unit that stops at the first postponed one leaves later ones unknown to the requestee.
 *
 * Thread rule: one thread on one wp_postpone. Ownership: `_create` and `_destroy`, which accepts
 * NULL.
 */
#ifndef WARPAGE_POSTPONE_H
#define WARPAGE_POSTPONE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "warpage/device.h"
#include "warpage/error.h"
#include "warpage/shared_words.h"

#ifdef __cplusplus
extern "C" {
#endif

/** What a requestee answers. */
typedef enum wp_answer {
    WP_DONE = 0, /* served */
    WP_POSTPONE, /* ask again in the next pass */
    WP_REFUSED   /* cannot be served at all; the requestee reports why when the pass ends */
} wp_answer;

/** The units of a run, for kernels: pass it by value. */
typedef struct wp_units {
    uint32_t *done;   /* a bit for each unit */
    uint32_t *served; /* a bit for each request; NULL where a unit makes one */
    uint32_t *faults; /* [1]: 1 if a unit made more requests than it may */
    uint64_t count;
    uint32_t requests; /* of a unit, at most */
} wp_units;

/* ---- the host's side ------------------------------------------------------------------------ */

typedef struct wp_postpone wp_postpone;

typedef struct wp_postpone_spec {
    uint64_t unit_count;
    uint64_t chunk_units;       /* processed together; 0: all. Rounded up to a multiple of 32 */
    uint32_t requests_per_unit; /* at most; 0: 1 */
    uint32_t idle_passes_max;   /* passes in a row that serve nothing, before the run fails; 0: 8 */
} wp_postpone_spec;

/** What is known after a pass. */
typedef struct wp_postpone_facts {
    uint64_t pass; /* 1 is the first */
    uint64_t done_units, postponed_units;
    uint64_t served;          /* requests served, and units done, in this pass */
    uint64_t first_postponed; /* unit; unit_count if there is none */
    uint64_t chunks;          /* processed in this pass */
    uint64_t pass_ns; /* from its begin to the end of its last chunk, by the device's clock */
    bool was_halted;  /* the requestee ended the pass before the last chunk */
} wp_postpone_facts;

/** Who makes requests. */
typedef struct wp_requester {
    void *object;
    /** Processes the units [first, outer) that are not done: queues copies and kernels. It need not
     * wait for them. Chunks come in order; after a pass that served nothing, the first unit comes
     * once more before them, alone, so that at least one request meets no competition. */
    wp_status (*process)(void *object, const wp_units *units, uint64_t first, uint64_t outer,
                         wp_error *err);
    /** Whether to make the postponed requests again now. NULL: the requestee decides. */
    bool (*retries)(void *object, const wp_postpone_facts *facts);
} wp_requester;

/** Who serves requests. All functions may be NULL. */
typedef struct wp_requestee {
    void *object;
    wp_status (*begin)(void *object, wp_error *err); /* before a pass */
    /** After each chunk, whose work has ended: whether the pass ends here. */
    wp_status (*halts)(void *object, bool *out, wp_error *err);
    /** After a pass, when its work has ended. */
    wp_status (*end)(void *object, const wp_postpone_facts *facts, wp_error *err);
    /** Whether postponed requests can be made again now. NULL: the requester decides. */
    bool (*retries)(void *object, const wp_postpone_facts *facts);
} wp_requestee;

/** INVALID: more than 2^40 units, more than 2^20 requests of a unit; NOMEM, DEVICE_NOMEM. */
WP_NODISCARD WP_API wp_status wp_postpone_create(wp_device *device, const wp_postpone_spec *spec,
                                                 wp_postpone **out, wp_error *err);
WP_API void wp_postpone_destroy(wp_postpone *postpone);
WP_API wp_units wp_postpone_units(const wp_postpone *postpone);
/** Runs passes until every unit is done, or until requester or requestee declines to try again: a
 * pass follows only if both want it. `facts` (may be NULL) are those of the last pass. A further
 * call goes on where this one stopped. INVALID: a unit made more requests than it may, or nothing
 * was served in `idle_passes_max` passes in a row; else what the functions return. */
WP_NODISCARD WP_API wp_status wp_postpone_run(wp_postpone *postpone, const wp_requester *requester,
                                              const wp_requestee *requestee,
                                              wp_postpone_facts *facts, wp_error *err);

/** In `process`: the requester keeps track of requests itself (where their number is not known
 * beforehand, say), and `count` of them were served in this pass. They count in `facts->served`, so
 * that a pass that finished no unit is not taken for one that served nothing. */
WP_API void wp_postpone_add_served(wp_postpone *postpone, uint64_t count);

/** When postponing pays: the inequality of section 6.2.1, with the number of times that a request
 * is postponed. Times of one unit. */
typedef struct wp_postpone_terms {
    double pre_ns;               /* from the unit's start to its request, input transfer included */
    double postpone_ns;          /* to answer "later", to keep track of it, to undo */
    double postponed_service_ns; /* to serve a request that was postponed */
    double service_ns;           /* to serve it when it is first made, inefficiently */
    double post_ns;              /* from the answer to the unit's end */
    double postponements;        /* of a request, on average */
} wp_postpone_terms;

/** Whether postponements * (pre + postpone) + (pre + postponed service + post)
 * < pre + service + post; the two sides, where not NULL. */
WP_API bool wp_postpone_pays(const wp_postpone_terms *terms, double *postponing_ns,
                             double *serving_ns);
/** The inequality with its terms, as lines of text. Returns the length, as snprintf does. */
WP_API size_t wp_postpone_explain(const wp_postpone_terms *terms, char *text, size_t text_bytes);

#ifdef __cplusplus
}
#endif

/* ---- in kernels, and on threads of the host ------------------------------------------------- */

WP_WORD_CALL bool wp_bits_has(const uint32_t *bits, uint64_t bit) {
    return (wp_word_load32(&bits[bit / 32u]) >> (bit % 32u) & 1u) != 0;
}
WP_WORD_CALL void wp_bits_set(uint32_t *bits, uint64_t bit) {
    (void)wp_word_or32(&bits[bit / 32u], 1u << (bit % 32u));
}

/** Whether all requests of the unit were served, in this pass or before. */
WP_WORD_CALL bool wp_units_is_done(const wp_units *units, uint64_t unit) {
    return wp_bits_has(units->done, unit);
}

/** One thread processing one unit in one pass. */
typedef struct wp_attempt {
    const wp_units *units;
    uint64_t unit;
    uint32_t request;
    bool is_postponed;
} wp_attempt;

WP_WORD_CALL wp_attempt wp_attempt_begin(const wp_units *units, uint64_t unit) {
    wp_attempt attempt;
    attempt.units = units;
    attempt.unit = unit;
    attempt.request = 0;
    attempt.is_postponed = false;
    return attempt;
}
/** Whether the next request is to be made; if not, it was served in an earlier pass, and is
 * skipped.
 */
WP_WORD_CALL bool wp_attempt_wants(wp_attempt *attempt) {
    const wp_units *units = attempt->units;
    if (attempt->request >= units->requests) {
        (void)wp_word_exchange32(units->faults, 1u);
        attempt->request++;
        attempt->is_postponed = true;
        return false;
    }
    if (units->served == NULL ||
        !wp_bits_has(units->served, attempt->unit * units->requests + attempt->request))
        return true;
    attempt->request++;
    return false;
}
/** The request that wp_attempt_wants asked for got this answer. */
WP_WORD_CALL void wp_attempt_note(wp_attempt *attempt, wp_answer answer) {
    const wp_units *units = attempt->units;
    if (answer != WP_DONE)
        attempt->is_postponed = true;
    else if (units->served != NULL)
        wp_bits_set(units->served, attempt->unit * units->requests + attempt->request);
    attempt->request++;
}
/** The unit has made all of its requests. */
WP_WORD_CALL void wp_attempt_end(const wp_attempt *attempt) {
    if (!attempt->is_postponed) wp_bits_set(attempt->units->done, attempt->unit);
}

#endif

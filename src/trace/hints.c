/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/hints.h"

#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "base/units.h"
#include "warpage/device.h"
#include "warpage/report.h"

#define ALL 0u /* allocations are counted from 1 */

enum { HOST = 1, READ_MOSTLY = 2, PREFETCH = 4, COPY = 8, DEVICE = 16, ACCESSED_BY = 32 };

typedef struct hint {
    uint64_t number;
    uint32_t what;
} hint;

/* An allocation with a hint. */
typedef struct hinted {
    uint64_t address, bytes;
    uint32_t what;
    uint64_t host_bytes;   /* of a copy: bytes that the device lacks, or has outdated */
    bool has_run;          /* a host thread has waited for a launch since it was allocated */
    uint64_t device_bytes; /* … bytes that the host lacks, at most */
} hinted;

struct wpi_hints {
    wpi_op_visit visit;
    void *object;
    hint *hints;
    size_t hint_count;
    uint64_t allocation_count; /* managed ones, so far */
    hinted *live;
    size_t live_count, live_capacity;
};

/* ---- parsing ---- */

static uint32_t find_word(const char *text, size_t length) {
    static const char *const words[] = {"host", "read-mostly", "prefetch",
                                        "copy", "device",      "accessed-by"};
    for (uint32_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strlen(words[i]) == length && memcmp(words[i], text, length) == 0) return 1u << i;
    return 0;
}

static wp_status read_words(const char *text, size_t length, uint32_t *what, wp_error *err) {
    for (size_t at = 0; at < length;) {
        const char *comma = memchr(text + at, ',', length - at);
        const size_t outer = comma != NULL ? (size_t)(comma - text) : length;
        const uint32_t word = find_word(text + at, outer - at);
        if (word == 0)
            return WP_FAIL(err, INVALID,
                           "hint '%.*s': expected host, device, accessed-by, read-mostly, "
                           "prefetch or copy",
                           (int)(outer - at), text + at);
        *what |= word;
        at = outer + 1;
    }
    return WP_STATUS_OK;
}

/* "2=host,read-mostly" */
static wp_status add_hint(wpi_hints *h, const char *text, size_t length, wp_error *err) {
    const char *equals = memchr(text, '=', length);
    char number[24] = "";
    const size_t digits = equals != NULL ? (size_t)(equals - text) : 0;
    hint added = {.number = ALL};
    if (digits == 0 || digits >= sizeof number || digits + 1 == length)
        return WP_FAIL(err, INVALID,
                       "hint '%.*s': expected the number of an allocation, or all, and a hint: "
                       "2=host",
                       (int)length, text);
    memcpy(number, text, digits);
    if (strcmp(number, "all") != 0 &&
        (wpi_parse_count(number, &added.number, NULL) != WP_STATUS_OK || added.number == ALL))
        return WP_FAIL(err, INVALID, "hint '%.*s': allocations are numbered from 1", (int)length,
                       text);
    WP_TRY(read_words(equals + 1, length - digits - 1, &added.what, err));
    if ((added.what & HOST) != 0 && (added.what & DEVICE) != 0)
        return WP_FAIL(err, INVALID,
                       "hint '%.*s': the preferred location is the host or the device, not both",
                       (int)length, text);
    hint *hints = wpi_realloc(h->hints, (h->hint_count + 1) * sizeof *hints);
    if (hints == NULL) return WP_FAIL(err, NOMEM, "hints");
    h->hints = hints;
    hints[h->hint_count++] = added;
    return WP_STATUS_OK;
}

static wp_status read_hints(wpi_hints *h, const char *text, wp_error *err) {
    while (*text != '\0') {
        const size_t length = strcspn(text, ";");
        if (length != 0) WP_TRY(add_hint(h, text, length, err));
        text += length + (text[length] == ';');
    }
    return WP_STATUS_OK;
}

static uint32_t what_of(const wpi_hints *h, uint64_t number) {
    uint32_t own = 0, all = 0;
    for (size_t i = 0; i < h->hint_count; i++) {
        if (h->hints[i].number == number) own |= h->hints[i].what;
        if (h->hints[i].number == ALL) all |= h->hints[i].what;
    }
    return own != 0 ? own : all;
}

/* ---- allocations ---------------------------------------------------------------------------- */

static hinted *find_live(const wpi_hints *h, uint64_t address) {
    for (size_t i = 0; i < h->live_count; i++) {
        const hinted *a = &h->live[i];
        if (address >= a->address && address - a->address < a->bytes) return &h->live[i];
    }
    return NULL;
}

static wp_status add_live(wpi_hints *h, const wpi_op *op, uint32_t what, wp_error *err) {
    if (h->live_count == h->live_capacity) {
        const size_t capacity = h->live_capacity == 0 ? 16 : 2 * h->live_capacity;
        hinted *live = wpi_realloc(h->live, capacity * sizeof *live);
        if (live == NULL) return WP_FAIL(err, NOMEM, "hints");
        h->live = live;
        h->live_capacity = capacity;
    }
    h->live[h->live_count++] = (hinted){.address = op->fields[2],
                                        .bytes = op->fields[1],
                                        .what = what,
                                        .host_bytes = op->fields[1]};
    return WP_STATUS_OK;
}

/* ---- operations ----------------------------------------------------------------------------- */

static wp_status pass(wpi_hints *h, const wpi_op *op, wp_error *err) {
    return h->visit(h->object, op, err);
}

static uint64_t advice_of(uint32_t what) {
    return ((what & HOST) != 0 ? WPI_ADVICE_PREFERS_HOST | WPI_ADVICE_ACCESSED_BY : 0) |
           ((what & DEVICE) != 0 ? WPI_ADVICE_PREFERS_DEVICE : 0) |
           ((what & ACCESSED_BY) != 0 ? WPI_ADVICE_ACCESSED_BY : 0) |
           ((what & READ_MOSTLY) != 0 ? WPI_ADVICE_READ_MOSTLY : 0);
}

/* Passes a `copy` allocation on as device memory. */
static wp_status pass_as_device_memory(wpi_hints *h, const wpi_op *op, wp_error *err) {
    wpi_op changed = *op;
    changed.fields[0] = WP_MEMORY_DEVICE;
    return pass(h, &changed, err);
}

static wp_status alloc(wpi_hints *h, const wpi_op *op, wp_error *err) {
    const uint32_t what = what_of(h, ++h->allocation_count);
    if (what == 0) return pass(h, op, err);
    WP_TRY(add_live(h, op, what, err));
    if ((what & COPY) != 0) return pass_as_device_memory(h, op, err);
    WP_TRY(pass(h, op, err));
    const wpi_op advice = {.kind = WPI_OP_ADVICE,
                           .fields = {op->fields[2], op->fields[1], advice_of(what)}};
    return advice_of(what) != 0 ? pass(h, &advice, err) : WP_STATUS_OK;
}

static wp_status release(wpi_hints *h, const wpi_op *op, wp_error *err) {
    hinted *a = find_live(h, op->fields[2]);
    if (a == NULL) return pass(h, op, err);
    const bool is_copy = (a->what & COPY) != 0;
    *a = h->live[--h->live_count];
    return is_copy ? pass_as_device_memory(h, op, err) : pass(h, op, err);
}

/* Adds the program's own advice to the hint. */
static wp_status advise(wpi_hints *h, const wpi_op *op, wp_error *err) {
    const hinted *a = find_live(h, op->fields[0]);
    if (a == NULL) return pass(h, op, err);
    wpi_op both = *op;
    both.fields[2] |= advice_of(a->what);
    return pass(h, &both, err);
}

static wp_status touch(wpi_hints *h, const wpi_op *op, wp_error *err) {
    hinted *a = find_live(h, op->fields[0]);
    if (a == NULL || (a->what & COPY) == 0) return pass(h, op, err);
    if (!a->has_run) return WP_STATUS_OK; /* touched before its first launch */
    const uint64_t bytes = op->fields[1] < a->device_bytes ? op->fields[1] : a->device_bytes;
    if (bytes == 0) return WP_STATUS_OK;
    a->device_bytes -= bytes;
    a->host_bytes += bytes;
    const uint64_t at = op->fields[0];
    const wpi_op copy = {.kind = WPI_OP_COPY, .fields = {0, WP_COPY_D2H, bytes, at, at}};
    const wpi_op wait = {.kind = WPI_OP_QUEUE_WAIT, .fields = {0}};
    WP_TRY(pass(h, &copy, err));
    return pass(h, &wait, err);
}

static wp_status wait_for(wpi_hints *h, const wpi_op *op, wp_error *err) {
    for (size_t i = 0; i < h->live_count; i++)
        h->live[i].has_run = h->live[i].has_run || h->live[i].device_bytes != 0;
    return pass(h, op, err);
}

static wp_status launch(wpi_hints *h, const wpi_op *op, wp_error *err) {
    const uint64_t queue = op->fields[0];
    for (size_t i = 0; i < h->live_count; i++) {
        hinted *a = &h->live[i];
        const wpi_op prefetch = {.kind = WPI_OP_PREFETCH,
                                 .fields = {queue, a->address, a->bytes, 1}};
        const wpi_op copy = {.kind = WPI_OP_COPY,
                             .fields = {queue, WP_COPY_H2D, a->host_bytes, a->address, a->address}};
        const bool is_copy = (a->what & COPY) != 0;
        if (is_copy && a->host_bytes != 0) WP_TRY(pass(h, &copy, err));
        if (!is_copy && (a->what & PREFETCH) != 0) WP_TRY(pass(h, &prefetch, err));
        a->host_bytes = 0;
        a->device_bytes = a->bytes;
    }
    return pass(h, op, err);
}

wp_status wpi_hints_op(void *hints, const wpi_op *op, wp_error *err) {
    wpi_hints *h = hints;
    switch (op->kind) {
    case WPI_OP_ALLOC:
        return op->fields[0] == WP_MEMORY_MANAGED ? alloc(h, op, err) : pass(h, op, err);
    case WPI_OP_FREE:
        return op->fields[0] == WP_MEMORY_MANAGED ? release(h, op, err) : pass(h, op, err);
    case WPI_OP_ADVICE: return advise(h, op, err);
    case WPI_OP_HOST_TOUCH: return touch(h, op, err);
    case WPI_OP_LAUNCH: return launch(h, op, err);
    case WPI_OP_QUEUE_WAIT:
    case WPI_OP_EVENT_WAIT:
    case WPI_OP_DEVICE_WAIT: return wait_for(h, op, err);
    case WPI_OP_RESET: h->live_count = 0; return pass(h, op, err);
    default: return pass(h, op, err);
    }
}

wp_status wpi_hints_check(const wpi_hints *hints, wp_error *err) {
    for (size_t i = 0; i < hints->hint_count; i++) {
        if (hints->hints[i].number <= hints->allocation_count) continue;
        return WP_FAIL(err, INVALID,
                       "a hint names allocation %" PRIu64 ", but there are %" PRIu64
                       " managed allocations",
                       hints->hints[i].number, hints->allocation_count);
    }
    return WP_STATUS_OK;
}

/* ---- life ----------------------------------------------------------------------------------- */

wp_status wpi_hints_create(const char *text, wpi_op_visit visit, void *object, wpi_hints **out,
                           wp_error *err) {
    *out = NULL;
    wpi_hints *h = wpi_calloc(1, sizeof *h);
    if (h == NULL) return WP_FAIL(err, NOMEM, "hints");
    h->visit = visit;
    h->object = object;
    const wp_status status = read_hints(h, text, err);
    if (status == WP_STATUS_OK)
        *out = h;
    else
        wpi_hints_destroy(h);
    return status;
}

void wpi_hints_destroy(wpi_hints *hints) {
    if (hints == NULL) return;
    wpi_free(hints->hints);
    wpi_free(hints->live);
    wpi_free(hints);
}

wp_status wpi_hints_visit_ops(wpi_trace *trace, const char *hints, wpi_op_visit visit, void *object,
                              wp_error *err) {
    wpi_hints *h;
    if (hints == NULL) return wpi_trace_visit_ops(trace, visit, object, err);
    WP_TRY(wpi_hints_create(hints, visit, object, &h, err));
    wp_status status = wpi_trace_visit_ops(trace, wpi_hints_op, h, err);
    if (status == WP_STATUS_OK) status = wpi_hints_check(h, err);
    wpi_hints_destroy(h);
    return status;
}

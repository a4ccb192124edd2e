/* SPDX-License-Identifier: Apache-2.0 */
#include "study/advice_plan.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "base/units.h"

static const struct {
    const char *hint, *words, *how;
} calls[WP_CALL_COUNT] = {
    [WP_CALL_HOST] = {"host", "pin to host",
                      "cudaMemAdviseSetPreferredLocation (host), SetAccessedBy"},
    [WP_CALL_DEVICE] = {"device", "prefer device", "cudaMemAdviseSetPreferredLocation (device)"},
    [WP_CALL_READ_MOSTLY] = {"read-mostly", "read-mostly", "cudaMemAdviseSetReadMostly"},
    [WP_CALL_PREFETCH] = {"prefetch", "prefetch", "cudaMemPrefetchAsync"}};

void wpi_advice_plan_init(wpi_advice_plan *plan, const wpi_managed_groups *groups) {
    *plan = (wpi_advice_plan){.group_count = groups->count};
    plan->calls = wpi_calloc(groups->count + 1, sizeof *plan->calls);
    WP_CHECK(plan->calls != NULL);
}

void wpi_advice_plan_copy(wpi_advice_plan *plan, const wpi_advice_plan *from) {
    memcpy(plan->calls, from->calls, from->group_count * sizeof *plan->calls);
    plan->prefetches_others = from->prefetches_others;
}

void wpi_advice_plan_deinit(wpi_advice_plan *plan) {
    wpi_free(plan->calls);
    *plan = (wpi_advice_plan){0};
}

size_t wpi_advice_plan_count(const wpi_advice_plan *plan, wpi_call call) {
    size_t count = 0;
    for (size_t i = 0; i < plan->group_count; i++)
        count += plan->calls[i] == call;
    return count;
}

/* ---- words ---------------------------------------------------------------------------------- */

static void append_groups(const wpi_advice_plan *plan, const wpi_managed_groups *groups,
                          wpi_call call, wpi_text *out) {
    const char *before = ": ";
    for (size_t i = 0; i < plan->group_count; i++) {
        if (plan->calls[i] != call) continue;
        wpi_text_appendf(out, "%s%s", before, groups->items[i].name);
        before = ", ";
    }
}

char *wpi_advice_plan_name(const wpi_advice_plan *plan, const wpi_managed_groups *groups) {
    wpi_text out = {0};
    for (wpi_call call = WP_CALL_HOST; call < WP_CALL_COUNT; call++) {
        if (wpi_advice_plan_count(plan, call) == 0) continue;
        wpi_text_appendf(&out, "%s%s", out.length != 0 ? "; " : "", calls[call].words);
        append_groups(plan, groups, call, &out);
    }
    if (plan->prefetches_others)
        wpi_text_appendf(&out, "%sprefetch the others", out.length != 0 ? "; " : "");
    return wpi_text_take(&out);
}

char *wpi_advice_plan_how(const wpi_advice_plan *plan, const wpi_managed_groups *groups) {
    wpi_text out = {0};
    for (wpi_call call = WP_CALL_HOST; call < WP_CALL_COUNT; call++) {
        if (wpi_advice_plan_count(plan, call) == 0) continue;
        wpi_text_appendf(&out, "%s%s", out.length != 0 ? "; " : "", calls[call].how);
        append_groups(plan, groups, call, &out);
    }
    if (plan->prefetches_others)
        wpi_text_appendf(&out, "%s%s: the others", out.length != 0 ? "; " : "",
                         calls[WP_CALL_PREFETCH].how);
    return wpi_text_take(&out);
}

/* ---- hints ---------------------------------------------------------------------------------- */

/* One call for all allocations is "all=…", so that equal plans have equal hints. */
char *wpi_advice_plan_hints(const wpi_advice_plan *plan, const wpi_managed_groups *groups) {
    wpi_text out = {0};
    const wpi_call first = plan->group_count != 0 ? plan->calls[0] : WP_CALL_NONE;
    if (first != WP_CALL_NONE && wpi_advice_plan_count(plan, first) == plan->group_count)
        return wpi_format("all=%s", calls[first].hint);
    for (size_t i = 0; i < plan->group_count; i++) {
        const wpi_strings *numbers = &groups->items[i].numbers;
        for (size_t k = 0; plan->calls[i] != WP_CALL_NONE && k < numbers->count; k++)
            wpi_text_appendf(&out, "%s%s=%s", out.length != 0 ? ";" : "", numbers->items[k],
                             calls[plan->calls[i]].hint);
    }
    if (plan->prefetches_others)
        wpi_text_appendf(&out, "%sall=%s", out.length != 0 ? ";" : "",
                         calls[WP_CALL_PREFETCH].hint);
    return wpi_text_take(&out);
}

/* ---- code ----------------------------------------------------------------------------------- */

static bool is_identifier(const char *name) {
    if (isalpha((unsigned char)name[0]) == 0 && name[0] != '_') return false;
    for (; *name != '\0'; name++)
        if (isalnum((unsigned char)*name) == 0 && *name != '_') return false;
    return true;
}

/* The allocation's size and place, after a line of code. */
static void append_comment(const wpi_managed_group *g, wpi_text *out) {
    char bytes[32];
    wpi_text_append(out, " // ");
    if (!is_identifier(g->name)) wpi_text_appendf(out, "%s, ", g->name);
    if (g->count > 1) wpi_text_appendf(out, "each of %" PRIu64 " of ", g->count);
    wpi_text_append(out, wpi_format_bytes(g->bytes, bytes));
    if (g->site[0] != '\0') wpi_text_appendf(out, " by %s", g->site);
}

static void add_line(const wpi_managed_group *g, const char *format, bool has_comment,
                     wpi_strings *out) {
    wpi_text line = {0};
    const char *pointer = is_identifier(g->name) ? g->name : "pointer";
    for (const char *c = format; *c != '\0'; c++) {
        if (*c == '@')
            wpi_text_appendf(&line, "%s, %" PRIu64, pointer, g->bytes);
        else
            wpi_text_append_n(&line, c, 1);
    }
    if (has_comment) append_comment(g, &line);
    wpi_strings_add(out, wpi_text_string(&line));
    wpi_text_deinit(&line);
}

static void add_call(const wpi_managed_group *g, wpi_call call, wpi_strings *out) {
    switch (call) {
    case WP_CALL_HOST:
        add_line(g, "cudaMemAdvise(@, cudaMemAdviseSetPreferredLocation, cudaCpuDeviceId);", true,
                 out);
        add_line(g, "cudaMemAdvise(@, cudaMemAdviseSetAccessedBy, device);", false, out);
        break;
    case WP_CALL_DEVICE:
        add_line(g, "cudaMemAdvise(@, cudaMemAdviseSetPreferredLocation, device);", true, out);
        break;
    case WP_CALL_READ_MOSTLY:
        add_line(g, "cudaMemAdvise(@, cudaMemAdviseSetReadMostly, device);", true, out);
        break;
    case WP_CALL_PREFETCH:
        add_line(g, "cudaMemPrefetchAsync(@, device, stream); /* before each launch */", true, out);
        break;
    case WP_CALL_NONE:
    case WP_CALL_COUNT: break;
    }
}

void wpi_advice_plan_code(const wpi_advice_plan *plan, const wpi_managed_groups *groups,
                          wpi_strings *out) {
    for (wpi_call call = WP_CALL_HOST; call < WP_CALL_COUNT; call++)
        for (size_t i = 0; i < plan->group_count; i++) {
            const bool is_other = plan->prefetches_others && plan->calls[i] == WP_CALL_NONE;
            if (plan->calls[i] == call || (is_other && call == WP_CALL_PREFETCH))
                add_call(&groups->items[i], call, out);
        }
}

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

void wpi_advice_plan_init(wp_advice_plan *plan, const wp_managed_groups *groups) {
    *plan = (wp_advice_plan){.group_count = groups->count};
    plan->calls = wp_calloc(groups->count + 1, sizeof *plan->calls);
    WP_CHECK(plan->calls != NULL);
}

void wpi_advice_plan_copy(wp_advice_plan *plan, const wp_advice_plan *from) {
    memcpy(plan->calls, from->calls, from->group_count * sizeof *plan->calls);
    plan->prefetches_others = from->prefetches_others;
}

void wpi_advice_plan_deinit(wp_advice_plan *plan) {
    wp_free(plan->calls);
    *plan = (wp_advice_plan){0};
}

size_t wpi_advice_plan_count(const wp_advice_plan *plan, wp_call call) {
    size_t count = 0;
    for (size_t i = 0; i < plan->group_count; i++)
        count += plan->calls[i] == call;
    return count;
}

/* ---- words ---------------------------------------------------------------------------------- */

static void append_groups(const wp_advice_plan *plan, const wp_managed_groups *groups, wp_call call,
                          wp_text *out) {
    const char *before = ": ";
    for (size_t i = 0; i < plan->group_count; i++) {
        if (plan->calls[i] != call) continue;
        wp_text_appendf(out, "%s%s", before, groups->items[i].name);
        before = ", ";
    }
}

char *wpi_advice_plan_name(const wp_advice_plan *plan, const wp_managed_groups *groups) {
    wp_text out = {0};
    for (wp_call call = WP_CALL_HOST; call < WP_CALL_COUNT; call++) {
        if (wpi_advice_plan_count(plan, call) == 0) continue;
        wp_text_appendf(&out, "%s%s", out.length != 0 ? "; " : "", calls[call].words);
        append_groups(plan, groups, call, &out);
    }
    if (plan->prefetches_others)
        wp_text_appendf(&out, "%sprefetch the others", out.length != 0 ? "; " : "");
    return wp_text_take(&out);
}

char *wpi_advice_plan_how(const wp_advice_plan *plan, const wp_managed_groups *groups) {
    wp_text out = {0};
    for (wp_call call = WP_CALL_HOST; call < WP_CALL_COUNT; call++) {
        if (wpi_advice_plan_count(plan, call) == 0) continue;
        wp_text_appendf(&out, "%s%s", out.length != 0 ? "; " : "", calls[call].how);
        append_groups(plan, groups, call, &out);
    }
    if (plan->prefetches_others)
        wp_text_appendf(&out, "%s%s: the others", out.length != 0 ? "; " : "",
                        calls[WP_CALL_PREFETCH].how);
    return wp_text_take(&out);
}

/* ---- hints ---------------------------------------------------------------------------------- */

/* One call for all allocations is "all=…", so that equal plans have equal hints. */
char *wpi_advice_plan_hints(const wp_advice_plan *plan, const wp_managed_groups *groups) {
    wp_text out = {0};
    const wp_call first = plan->group_count != 0 ? plan->calls[0] : WP_CALL_NONE;
    if (first != WP_CALL_NONE && wpi_advice_plan_count(plan, first) == plan->group_count)
        return wp_format("all=%s", calls[first].hint);
    for (size_t i = 0; i < plan->group_count; i++) {
        const wp_strings *numbers = &groups->items[i].numbers;
        for (size_t k = 0; plan->calls[i] != WP_CALL_NONE && k < numbers->count; k++)
            wp_text_appendf(&out, "%s%s=%s", out.length != 0 ? ";" : "", numbers->items[k],
                            calls[plan->calls[i]].hint);
    }
    if (plan->prefetches_others)
        wp_text_appendf(&out, "%sall=%s", out.length != 0 ? ";" : "", calls[WP_CALL_PREFETCH].hint);
    return wp_text_take(&out);
}

/* ---- code ----------------------------------------------------------------------------------- */

static bool is_identifier(const char *name) {
    if (isalpha((unsigned char)name[0]) == 0 && name[0] != '_') return false;
    for (; *name != '\0'; name++)
        if (isalnum((unsigned char)*name) == 0 && *name != '_') return false;
    return true;
}

/* The allocation's size and place, after a line of code. */
static void append_comment(const wp_managed_group *g, wp_text *out) {
    char bytes[32];
    wp_text_append(out, " // ");
    if (!is_identifier(g->name)) wp_text_appendf(out, "%s, ", g->name);
    if (g->count > 1) wp_text_appendf(out, "each of %" PRIu64 " of ", g->count);
    wp_text_append(out, wp_format_bytes(g->bytes, bytes));
    if (g->site[0] != '\0') wp_text_appendf(out, " by %s", g->site);
}

static void add_line(const wp_managed_group *g, const char *format, bool has_comment,
                     wp_strings *out) {
    wp_text line = {0};
    const char *pointer = is_identifier(g->name) ? g->name : "pointer";
    for (const char *c = format; *c != '\0'; c++) {
        if (*c == '@')
            wp_text_appendf(&line, "%s, %" PRIu64, pointer, g->bytes);
        else
            wp_text_append_n(&line, c, 1);
    }
    if (has_comment) append_comment(g, &line);
    wp_strings_add(out, wp_text_string(&line));
    wp_text_deinit(&line);
}

static void add_call(const wp_managed_group *g, wp_call call, wp_strings *out) {
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

void wpi_advice_plan_code(const wp_advice_plan *plan, const wp_managed_groups *groups,
                          wp_strings *out) {
    for (wp_call call = WP_CALL_HOST; call < WP_CALL_COUNT; call++)
        for (size_t i = 0; i < plan->group_count; i++) {
            const bool is_other = plan->prefetches_others && plan->calls[i] == WP_CALL_NONE;
            if (plan->calls[i] == call || (is_other && call == WP_CALL_PREFETCH))
                add_call(&groups->items[i], call, out);
        }
}

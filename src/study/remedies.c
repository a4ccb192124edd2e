/* SPDX-License-Identifier: Apache-2.0 */
#include "study/remedies.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/units.h"
#include "warpage/device.h"

#define LARGE_PAGE_BYTES (2 * WP_MIB)

#define PIN "cudaMemAdviseSetPreferredLocation (host), SetAccessedBy"
#define PREFETCH_CALL "cudaMemPrefetchAsync"

const char *wpi_remedy_kind_name(wpi_remedy_kind kind) {
    static const char *const names[WP_REMEDY_KIND_COUNT] = {"now", "program", "driver", "simulated",
                                                            "reference"};
    return names[kind];
}

const char *wpi_key_value(const wpi_strings *keys, const char *name) {
    for (size_t i = 0; i + 1 < keys->count; i += 2)
        if (strcmp(keys->items[i], name) == 0) return keys->items[i + 1];
    return "";
}

/* ---- remedies ------------------------------------------------------------------------------- */

/* Takes the texts. */
static wpi_remedy *add(wpi_remedies *t, wpi_remedy_kind kind, char *name, char *settings,
                       char *hints, char *how) {
    wpi_remedy *items = wpi_realloc(t->items, (t->count + 1) * sizeof *items);
    WP_CHECK(items != NULL);
    t->items = items;
    items[t->count] =
        (wpi_remedy){.name = name, .settings = settings, .hints = hints, .how = how, .kind = kind};
    return &items[t->count++];
}

void wpi_remedies_drop_last(wpi_remedies *t) {
    const wpi_remedy *last = &t->items[--t->count];
    wpi_free(last->name);
    wpi_free(last->settings);
    wpi_free(last->hints);
    wpi_free(last->how);
    wpi_strings_deinit(&t->items[t->count].code);
}

static bool comes_before(const wpi_remedy *a, const wpi_remedy *b) {
    if (a->has_result != b->has_result) return a->has_result;
    return a->facts.time_ns < b->facts.time_ns;
}

void wpi_remedies_rank(wpi_remedies *t) {
    for (size_t i = 1; i < t->count; i++) {
        const wpi_remedy tried = t->items[i];
        size_t at = i;
        for (; at > 0 && comes_before(&tried, &t->items[at - 1]); at--)
            t->items[at] = t->items[at - 1];
        t->items[at] = tried;
    }
}

void wpi_remedies_deinit(wpi_remedies *t) {
    while (t->count != 0)
        wpi_remedies_drop_last(t);
    wpi_free(t->items);
    *t = (wpi_remedies){0};
}

/* Conditions of a row. */
enum {
    FITS = 1,       /* no page was evicted */
    FULL = 2,       /* pages were evicted */
    HOST = 4,       /* pages were migrated back to the host */
    PREFETCHES = 8, /* there is a prefetcher with a threshold */
    BATCHES = 16    /* faults are serviced in batches */
};

typedef struct row {
    const char *name;
    wpi_remedy_kind kind;
    unsigned when;
    const char *settings, *hints, *how;
} row;

static const row rows[] = {
    {"prefetch all before each launch", WP_REMEDY_PROGRAM, 0, "", "all=prefetch",
     PREFETCH_CALL ": each allocation, in the launch's stream"},
    {"pin all to host", WP_REMEDY_PROGRAM, 0, "", "all=host",
     PIN ": each allocation; or cudaHostAlloc"},
    {"explicit copies of all", WP_REMEDY_PROGRAM, FITS, "", "all=copy",
     "cudaMalloc and cudaMemcpyAsync in place of cudaMallocManaged"},
    {"no prefetcher", WP_REMEDY_DRIVER, 0, "paging.prefetch=none", NULL,
     "uvm_perf_prefetch_enable=0"},
    {"prefetch threshold 25 %", WP_REMEDY_DRIVER, PREFETCHES, "paging.prefetch_threshold=25%", NULL,
     "uvm_perf_prefetch_threshold=25"},
    {"prefetch threshold 75 %", WP_REMEDY_DRIVER, PREFETCHES, "paging.prefetch_threshold=75%", NULL,
     "uvm_perf_prefetch_threshold=75"},
    {"access-counter migration (64 KiB, 256 accesses)", WP_REMEDY_DRIVER, 0,
     "paging.migrate=always;paging.migrate_threshold=256", NULL,
     "uvm_perf_access_counter_migration_enable=1 (Volta or later) and cudaMemAdviseSetAccessedBy"},
    {"thrashing mitigation", WP_REMEDY_DRIVER, HOST, "paging.thrash=driver", NULL,
     "uvm_perf_thrashing_enable=1 (the default)"},
    {"no thrashing mitigation", WP_REMEDY_DRIVER, HOST, "paging.thrash=none", NULL,
     "uvm_perf_thrashing_enable=0"},
    {"replay policy: block", WP_REMEDY_DRIVER, BATCHES, "paging.replay=block", NULL,
     "uvm_perf_fault_replay_policy=0"},
    {"replay policy: batch", WP_REMEDY_DRIVER, BATCHES, "paging.replay=batch", NULL,
     "uvm_perf_fault_replay_policy=1"},
    {"replay policy: batch flush", WP_REMEDY_DRIVER, BATCHES, "paging.replay=batch-flush", NULL,
     "uvm_perf_fault_replay_policy=2 (the default)"},
    {"replay policy: once", WP_REMEDY_DRIVER, BATCHES, "paging.replay=once", NULL,
     "uvm_perf_fault_replay_policy=3"},
    {"fault batches of up to 1024", WP_REMEDY_DRIVER, BATCHES, "paging.batch=1024", NULL,
     "uvm_perf_fault_batch_count=1024"},
    {"adaptive migration threshold", WP_REMEDY_SIMULATED, 0, "paging.migrate=adaptive", NULL,
     "Ganguly et al., IPDPS'20"},
    {"no prefetching once memory is full", WP_REMEDY_SIMULATED, FULL, "paging.prefetch_full=none",
     NULL, "in a program: fewer and smaller prefetches"},
    {"sequential-local prefetcher (64 KiB)", WP_REMEDY_SIMULATED, 0,
     "paging.prefetch=sequential-local", NULL, "Ganguly et al., ISCA'19"},
    {"evict single pages (LRU)", WP_REMEDY_SIMULATED, FULL, "paging.evict=lru-4k", NULL,
     "the driver evicts blocks of 2 MiB"},
    {"tree pre-eviction", WP_REMEDY_SIMULATED, FULL, "paging.evict=tree", NULL,
     "Ganguly et al., ISCA'19"},
    {"enough memory", WP_REMEDY_REFERENCE, FULL, "paging.oversubscribe=50%", NULL,
     "more memory, or less data at a time"},
    {"enough memory, explicit copies of all", WP_REMEDY_REFERENCE, FULL, "paging.oversubscribe=50%",
     "all=copy", "the same, with cudaMalloc and cudaMemcpyAsync"},
};

/* Whether a key is a parameter of the policy that another key selects. */
typedef struct parameter_search {
    const char *selector, *policy, *key;
    bool is_found;
} parameter_search;

static void look_at_policy(void *object, const wp_policy_info *policy) {
    parameter_search *search = object;
    if (strcmp(policy->key, search->selector) == 0 && strcmp(policy->name, search->policy) == 0)
        search->is_found = strstr(policy->keys, search->key) != NULL;
}

static bool is_parameter(const wpi_strings *keys, const char *selector, const char *key) {
    parameter_search search = {selector, wpi_key_value(keys, selector), key, false};
    wp_device_visit_policies(look_at_policy, &search);
    return search.is_found;
}

static unsigned conditions_of(const wpi_remedy_base *base) {
    const bool has_threshold =
        is_parameter(base->keys, "paging.prefetch", "paging.prefetch_threshold");
    const bool batches = strcmp(wpi_key_value(base->keys, "paging.service"), "batch") == 0;
    return (base->facts.evicted_pages == 0 ? FITS : FULL) |
           (base->facts.host_pages != 0 ? HOST : 0) | (has_threshold ? PREFETCHES : 0) |
           (batches ? BATCHES : 0);
}

/* Whether the first of the settings has that value already. */
static bool is_so_already(const wpi_remedy_base *base, const char *settings) {
    const char *equals = strchr(settings, '=');
    if (equals == NULL) return false;
    char *key = wpi_strndup(settings, (size_t)(equals - settings));
    WP_CHECK(key != NULL);
    const char *value = wpi_key_value(base->keys, key);
    const size_t length = strcspn(equals + 1, ";");
    const bool is_so = strlen(value) == length && strncmp(value, equals + 1, length) == 0;
    wpi_free(key);
    return is_so;
}

static char *copy_of(const char *text) {
    return text != NULL ? wpi_format("%s", text) : NULL;
}

/* The code of a row that makes one call for all allocations. */
static void add_code(wpi_remedy *tried, const wpi_managed_groups *groups) {
    wpi_advice_plan plan;
    wpi_advice_plan_init(&plan, groups);
    for (wpi_call call = WP_CALL_HOST; call < WP_CALL_COUNT; call++) {
        for (size_t i = 0; i < groups->count; i++)
            plan.calls[i] = call;
        char *hints = wpi_advice_plan_hints(&plan, groups);
        if (strcmp(hints, tried->hints) == 0 && tried->settings[0] == '\0')
            wpi_advice_plan_code(&plan, groups, &tried->code);
        wpi_free(hints);
    }
    wpi_advice_plan_deinit(&plan);
}

static void add_row(wpi_remedies *t, const row *r, const wpi_managed_groups *groups) {
    wpi_remedy *added =
        add(t, r->kind, copy_of(r->name), copy_of(r->settings), copy_of(r->hints), copy_of(r->how));
    if (r->hints != NULL) add_code(added, groups);
}

static bool is_below(const char *bytes_text, uint64_t limit_bytes) {
    uint64_t bytes = 0;
    return wpi_parse_bytes(bytes_text, &bytes, NULL) == WP_STATUS_OK && bytes != 0 &&
           bytes < limit_bytes;
}

/* A fully resident block of 2 MiB is one page of the page table and of TLBs. */
static void add_large_pages(wpi_remedies *t, const wpi_strings *keys) {
    if (!is_below(wpi_key_value(keys, "page.bytes"), LARGE_PAGE_BYTES)) return;
    wpi_text settings = {0};
    wpi_text_append(&settings, "page.bytes=2MiB");
    for (size_t i = 0; i + 1 < keys->count; i += 2) {
        const char *key = keys->items[i], *dot = strrchr(key, '.');
        if (strncmp(key, "tlb.", 4) == 0 && strcmp(dot, ".coverage") == 0 &&
            is_below(keys->items[i + 1], LARGE_PAGE_BYTES))
            wpi_text_appendf(&settings, ";%s=2MiB", key);
    }
    (void)add(t, WP_REMEDY_SIMULATED, copy_of("2 MiB pages"), wpi_text_take(&settings), NULL,
              copy_of("the driver maps a fully resident block of 2 MiB so"));
}

/* Allocations that the device only reads. */
static void add_read_mostly(wpi_remedies *t, const wpi_managed_groups *groups) {
    wpi_advice_plan plan;
    wpi_advice_plan_init(&plan, groups);
    for (size_t i = 0; i < groups->count; i++)
        if (groups->items[i].writes == 0 && groups->items[i].reads != 0)
            plan.calls[i] = WP_CALL_READ_MOSTLY;
    if (wpi_advice_plan_count(&plan, WP_CALL_READ_MOSTLY) != 0)
        (void)wpi_remedies_add_plan(t, groups, &plan);
    wpi_advice_plan_deinit(&plan);
}

void wpi_remedies_add_all(wpi_remedies *t, const wpi_remedy_base *base) {
    const unsigned conditions = conditions_of(base);
    (void)add(t, WP_REMEDY_NOW, copy_of("unchanged"), copy_of(""), NULL, copy_of(""));
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if ((rows[i].when & ~conditions) == 0 && !is_so_already(base, rows[i].settings))
            add_row(t, &rows[i], base->groups);
    add_read_mostly(t, base->groups);
    add_large_pages(t, base->keys);
}

size_t wpi_remedies_add_plan(wpi_remedies *t, const wpi_managed_groups *groups,
                             const wpi_advice_plan *plan) {
    char *hints = wpi_advice_plan_hints(plan, groups);
    for (size_t i = 0; i < t->count; i++) {
        const wpi_remedy *tried = &t->items[i];
        if (tried->settings[0] != '\0' || tried->hints == NULL || strcmp(tried->hints, hints) != 0)
            continue;
        wpi_free(hints);
        return i;
    }
    wpi_remedy *added = add(t, WP_REMEDY_PROGRAM, wpi_advice_plan_name(plan, groups), copy_of(""),
                            hints, wpi_advice_plan_how(plan, groups));
    wpi_advice_plan_code(plan, groups, &added->code);
    return t->count - 1;
}

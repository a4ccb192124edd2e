/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/tries.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/units.h"

#define SINGLE_GROUPS_MAX 8u /* that are tried one by one */
#define LARGE_PAGE_BYTES (2 * WP_MIB)
#define SMALL_PCT 1u /* of managed memory: not tried alone */

#define STAYS "cudaMemAdviseSetPreferredLocation (host), SetAccessedBy"
#define PREFETCH_CALL "cudaMemPrefetchAsync"

const char *wpi_try_kind_name(wp_try_kind kind) {
    static const char *const names[WP_TRY_KIND_COUNT] = {"now", "program", "driver", "simulated",
                                                         "reference"};
    return names[kind];
}

const char *wpi_key_value(const wp_strings *keys, const char *name) {
    for (size_t i = 0; i + 1 < keys->count; i += 2)
        if (strcmp(keys->items[i], name) == 0) return keys->items[i + 1];
    return "";
}

/* ---- allocations ---------------------------------------------------------------------------- */

void wpi_managed_groups_add(void *groups, const wp_trace_allocation *allocation) {
    wp_managed_groups *g = groups;
    size_t i = 0;
    while (i < g->count && (g->items[i].bytes != allocation->bytes ||
                            strcmp(g->items[i].site, allocation->site) != 0))
        i++;
    if (i == g->count) {
        wp_managed_group *items = wp_realloc(g->items, (g->count + 1) * sizeof *items);
        WP_CHECK(items != NULL);
        g->items = items;
        items[g->count++] = (wp_managed_group){
            .name = wp_format("allocation %" PRIu64, allocation->number),
            .site = wp_format("%s", allocation->site),
            .bytes = allocation->bytes,
        };
    }
    g->items[i].count++;
    wp_strings_addf(&g->items[i].numbers, "%" PRIu64, allocation->number);
}

static void describe(wp_managed_group *group, const wp_run_simulation *s) {
    for (size_t i = 0; i < s->allocation_count; i++) {
        const wp_run_allocation *a = &s->allocations[i];
        if (strcmp(a->kind, "managed") != 0 || a->bytes != group->bytes ||
            strcmp(a->site, group->site) != 0)
            continue;
        group->reads += a->touches.reads;
        group->writes += a->touches.writes;
        if (a->name[0] == '\0') continue;
        wp_free(group->name);
        group->name = wp_format("%s", a->name);
    }
}

void wpi_managed_groups_describe(wp_managed_groups *groups, const wp_run_record *record) {
    for (size_t i = 0; i < groups->count; i++)
        describe(&groups->items[i], record->simulation);
}

void wpi_managed_groups_deinit(wp_managed_groups *groups) {
    for (size_t i = 0; i < groups->count; i++) {
        wp_free(groups->items[i].name);
        wp_free(groups->items[i].site);
        wp_strings_deinit(&groups->items[i].numbers);
    }
    wp_free(groups->items);
    *groups = (wp_managed_groups){0};
}

/* "3=host;4=host" */
static void append_hint(wp_text *hints, const wp_managed_group *group, const char *word) {
    for (size_t i = 0; i < group->numbers.count; i++)
        wp_text_appendf(hints, "%s%s=%s", hints->length != 0 ? ";" : "", group->numbers.items[i],
                        word);
}

static void append_name(wp_text *names, const wp_managed_group *group) {
    wp_text_appendf(names, "%s%s", names->length != 0 ? ", " : "", group->name);
}

/* ---- tries ---------------------------------------------------------------------------------- */

/* Takes the texts. */
static wp_try *add(wp_tries *t, wp_try_kind kind, char *name, char *settings, char *hints,
                   char *how) {
    wp_try *items = wp_realloc(t->items, (t->count + 1) * sizeof *items);
    WP_CHECK(items != NULL);
    t->items = items;
    items[t->count] = (wp_try){.name = name,
                               .settings = settings,
                               .hints = hints,
                               .how = how,
                               .kind = kind,
                               .group = WP_NO_GROUP};
    return &items[t->count++];
}

void wpi_tries_drop_last(wp_tries *t) {
    const wp_try *last = &t->items[--t->count];
    wp_free(last->name);
    wp_free(last->settings);
    wp_free(last->hints);
    wp_free(last->how);
}

static bool comes_before(const wp_try *a, const wp_try *b) {
    if (a->has_result != b->has_result) return a->has_result;
    return a->facts.time_ns < b->facts.time_ns;
}

void wpi_tries_rank(wp_tries *t) {
    for (size_t i = 1; i < t->count; i++) {
        const wp_try tried = t->items[i];
        size_t at = i;
        for (; at > 0 && comes_before(&tried, &t->items[at - 1]); at--)
            t->items[at] = t->items[at - 1];
        t->items[at] = tried;
    }
}

void wpi_tries_deinit(wp_tries *t) {
    while (t->count != 0)
        wpi_tries_drop_last(t);
    wp_free(t->items);
    *t = (wp_tries){0};
}

/* When a row makes sense. */
enum {
    FITS = 1,       /* nothing was evicted */
    FULL = 2,       /* something was */
    HOST = 4,       /* the host took pages back */
    PREFETCHES = 8, /* there is a prefetcher with a threshold */
    BATCHES = 16    /* faults are served as the driver does */
};

typedef struct row {
    const char *name;
    wp_try_kind kind;
    unsigned when;
    const char *settings, *hints, *how;
} row;

static const row rows[] = {
    {"all prefetched before each launch", WP_TRY_PROGRAM, 0, "", "all=prefetch",
     PREFETCH_CALL ": each allocation, in the launch's stream"},
    {"all across the link", WP_TRY_PROGRAM, 0, "", "all=host",
     STAYS ": each allocation; or cudaHostAlloc"},
    {"all copied", WP_TRY_PROGRAM, FITS, "", "all=copy",
     "cudaMalloc and cudaMemcpyAsync in place of cudaMallocManaged"},
    {"no prefetcher", WP_TRY_DRIVER, 0, "paging.prefetch=none", NULL, "uvm_perf_prefetch_enable=0"},
    {"prefetch threshold 25 %", WP_TRY_DRIVER, PREFETCHES, "paging.prefetch_threshold=25%", NULL,
     "uvm_perf_prefetch_threshold=25"},
    {"prefetch threshold 75 %", WP_TRY_DRIVER, PREFETCHES, "paging.prefetch_threshold=75%", NULL,
     "uvm_perf_prefetch_threshold=75"},
    {"64 KiB come after 256 accesses", WP_TRY_DRIVER, 0,
     "paging.migrate=always;paging.migrate_threshold=256", NULL,
     "uvm_perf_access_counter_migration_enable=1 (Volta or later) and cudaMemAdviseSetAccessedBy"},
    {"pages both want are held or pinned", WP_TRY_DRIVER, HOST, "paging.thrash=driver", NULL,
     "uvm_perf_thrashing_enable=1 (the default)"},
    {"pages both want always move", WP_TRY_DRIVER, HOST, "paging.thrash=none", NULL,
     "uvm_perf_thrashing_enable=0"},
    {"replay by block", WP_TRY_DRIVER, BATCHES, "paging.replay=block", NULL,
     "uvm_perf_fault_replay_policy=0"},
    {"replay by batch, no flush", WP_TRY_DRIVER, BATCHES, "paging.replay=batch", NULL,
     "uvm_perf_fault_replay_policy=1"},
    {"replay by batch, flush", WP_TRY_DRIVER, BATCHES, "paging.replay=batch-flush", NULL,
     "uvm_perf_fault_replay_policy=2 (the default)"},
    {"replay once", WP_TRY_DRIVER, BATCHES, "paging.replay=once", NULL,
     "uvm_perf_fault_replay_policy=3"},
    {"batches of 1024 faults", WP_TRY_DRIVER, BATCHES, "paging.batch=1024", NULL,
     "uvm_perf_fault_batch_count=1024"},
    {"few accesses stay remote", WP_TRY_SIMULATED, 0, "paging.migrate=adaptive", NULL,
     "adaptive migration (Ganguly et al., IPDPS'20)"},
    {"no prefetches once full", WP_TRY_SIMULATED, FULL, "paging.prefetch_full=none", NULL,
     "by hand: fewer, smaller prefetches"},
    {"64 KiB come with a fault", WP_TRY_SIMULATED, 0, "paging.prefetch=sequential-local", NULL,
     "sequential-local prefetcher (Ganguly et al., ISCA'19)"},
    {"single pages leave", WP_TRY_SIMULATED, FULL, "paging.evict=lru-4k", NULL,
     "the driver evicts 2 MiB"},
    {"pages leave as they came", WP_TRY_SIMULATED, FULL, "paging.evict=tree", NULL,
     "tree pre-eviction (Ganguly et al., ISCA'19)"},
    {"enough memory", WP_TRY_REFERENCE, FULL, "paging.oversubscribe=50%", NULL,
     "more memory, or less data at a time"},
    {"enough memory, all copied", WP_TRY_REFERENCE, FULL, "paging.oversubscribe=50%", "all=copy",
     "… and cudaMalloc and cudaMemcpyAsync"},
};

static unsigned conditions_of(const wp_try_base *base) {
    const char *prefetch = wpi_key_value(base->keys, "paging.prefetch");
    const bool has_threshold = strcmp(prefetch, "tree") == 0 || strcmp(prefetch, "driver") == 0;
    const bool batches = strcmp(wpi_key_value(base->keys, "paging.service"), "batch") == 0;
    return (base->facts.evicted_pages == 0 ? FITS : FULL) |
           (base->facts.host_pages != 0 ? HOST : 0) | (has_threshold ? PREFETCHES : 0) |
           (batches ? BATCHES : 0);
}

/* Whether the first of the settings has that value anyway. */
static bool is_so_already(const wp_try_base *base, const char *settings) {
    const char *equals = strchr(settings, '=');
    if (equals == NULL) return false;
    char *key = wp_strndup(settings, (size_t)(equals - settings));
    WP_CHECK(key != NULL);
    const char *value = wpi_key_value(base->keys, key);
    const size_t length = strcspn(equals + 1, ";");
    const bool is_so = strlen(value) == length && strncmp(value, equals + 1, length) == 0;
    wp_free(key);
    return is_so;
}

static char *copy_of(const char *text) {
    return text != NULL ? wp_format("%s", text) : NULL;
}

static void add_row(wp_tries *t, const row *r) {
    (void)add(t, r->kind, copy_of(r->name), copy_of(r->settings), copy_of(r->hints),
              copy_of(r->how));
}

static bool is_below(const char *bytes_text, uint64_t limit_bytes) {
    uint64_t bytes = 0;
    return wp_parse_bytes(bytes_text, &bytes, NULL) == WP_STATUS_OK && bytes != 0 &&
           bytes < limit_bytes;
}

/* 2 MiB that are there as a whole are one page: of the page table, and of TLBs. */
static void add_large_pages(wp_tries *t, const wp_strings *keys) {
    if (!is_below(wpi_key_value(keys, "page.bytes"), LARGE_PAGE_BYTES)) return;
    wp_text settings = {0};
    wp_text_append(&settings, "page.bytes=2MiB");
    for (size_t i = 0; i + 1 < keys->count; i += 2) {
        const char *key = keys->items[i], *dot = strrchr(key, '.');
        if (strncmp(key, "tlb.", 4) == 0 && strcmp(dot, ".coverage") == 0 &&
            is_below(keys->items[i + 1], LARGE_PAGE_BYTES))
            wp_text_appendf(&settings, ";%s=2MiB", key);
    }
    (void)add(t, WP_TRY_SIMULATED, copy_of("pages of 2 MiB"), wp_text_take(&settings), NULL,
              copy_of("the driver does so itself with 2 MiB that are there as a whole"));
}

/* What the device only reads. */
static void add_read_mostly(wp_tries *t, const wp_managed_groups *groups) {
    wp_text hints = {0}, names = {0};
    for (size_t i = 0; i < groups->count; i++) {
        const wp_managed_group *g = &groups->items[i];
        if (g->writes != 0 || g->reads == 0) continue;
        append_hint(&hints, g, "read-mostly");
        append_name(&names, g);
    }
    if (hints.length != 0)
        (void)add(t, WP_TRY_PROGRAM, wp_format("read-mostly: %s", wp_text_string(&names)),
                  copy_of(""), wp_text_take(&hints),
                  wp_format("cudaMemAdviseSetReadMostly: %s", wp_text_string(&names)));
    wp_text_deinit(&hints);
    wp_text_deinit(&names);
}

static double accesses_per_byte(const wp_managed_group *g) {
    return (double)(g->reads + g->writes) / ((double)g->bytes * (double)g->count);
}

/* Groups that are worth it, coldest first: an access across the link takes longer than one to a
 * page that is there, and a page costs the same however rarely it is used. */
static size_t coldest(const wp_managed_groups *groups, size_t out[SINGLE_GROUPS_MAX]) {
    uint64_t all_bytes = 0;
    size_t count = 0;
    for (size_t i = 0; i < groups->count; i++)
        all_bytes += groups->items[i].bytes * groups->items[i].count;
    for (size_t i = 0; i < groups->count; i++) {
        const wp_managed_group *g = &groups->items[i];
        if (g->bytes * g->count < all_bytes * SMALL_PCT / 100) continue;
        size_t at = count < SINGLE_GROUPS_MAX ? count++ : count;
        for (; at > 0 && accesses_per_byte(g) < accesses_per_byte(&groups->items[out[at - 1]]);
             at--)
            if (at < SINGLE_GROUPS_MAX) out[at] = out[at - 1];
        if (at < SINGLE_GROUPS_MAX) out[at] = i;
    }
    return count;
}

static void add_singles(wp_tries *t, const wp_managed_groups *groups) {
    size_t chosen[SINGLE_GROUPS_MAX];
    const size_t count = coldest(groups, chosen);
    for (size_t i = 0; i < count && groups->count > 1; i++) {
        wpi_tries_add_combination(t, groups, &chosen[i], 1, false);
        t->items[t->count - 1].group = chosen[i];
    }
}

void wpi_tries_add_all(wp_tries *t, const wp_try_base *base) {
    const unsigned conditions = conditions_of(base);
    (void)add(t, WP_TRY_NOW, copy_of("as it is now"), copy_of(""), NULL, copy_of(""));
    add_singles(t, base->groups);
    add_read_mostly(t, base->groups);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if ((rows[i].when & ~conditions) == 0 && !is_so_already(base, rows[i].settings))
            add_row(t, &rows[i]);
    add_large_pages(t, base->keys);
}

void wpi_tries_add_combination(wp_tries *t, const wp_managed_groups *groups, const size_t *members,
                               size_t member_count, bool prefetches_others) {
    wp_text hints = {0}, names = {0};
    for (size_t i = 0; i < member_count; i++) {
        append_hint(&hints, &groups->items[members[i]], "host");
        append_name(&names, &groups->items[members[i]]);
    }
    if (prefetches_others) wp_text_append(&hints, ";all=prefetch");
    const char *list = wp_text_string(&names);
    (void)add(t, WP_TRY_PROGRAM,
              wp_format("across the link: %s%s", list,
                        prefetches_others ? "; the others prefetched" : ""),
              copy_of(""), wp_text_take(&hints),
              wp_format(STAYS ": %s%s", list,
                        prefetches_others ? "; " PREFETCH_CALL ": the others" : ""));
    wp_text_deinit(&names);
}

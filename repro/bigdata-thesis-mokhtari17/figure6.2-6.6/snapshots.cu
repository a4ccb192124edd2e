/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a hash table larger than device memory looks like while it is filled (Figures 6.2 to 6.6).
 *
 *     snapshots [FOLDER]
 *
 * After each chunk of records the state of the table on the device is copied and looked at:
 * buckets, heap, pages, the bitmap of records. Prints numbers about it; with a folder, draws
 * pictures into it: table-snapshot.svg (6.2), table-pages.svg (6.3), table-organisations.svg
 * (6.4, 6.5) and table-passes.svg (6.6).
 */
#include <cuda_runtime.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <warpage/cudart.h>
#include <warpage/table.h>

#define KEY_ROOM 32
#define VALUE_ROOM 16
#define CHUNKS_MAX 256u
#define PASSES_MAX 32u

typedef struct input_record {
    char key[KEY_ROOM], value[VALUE_ROOM];
    uint32_t key_bytes, value_bytes;
} input_record;

/* The table on the device at one moment. */
typedef struct snapshot {
    wp_table_view view;
    wp_table_control control;
    uint64_t *buckets;
    wp_table_page *pages;
    char *heap;
} snapshot;

/* What became of a chunk of records in a pass. */
typedef struct chunk_state {
    bool is_tried;
    uint32_t before, served, postponed; /* records: done in earlier passes, in this one, not done */
    double keys, values;                /* parts of the heap in use after it */
    bool is_full;                       /* every page was taken before the chunk */
} chunk_state;

typedef struct filler {
    const char *name;
    wp_table_spec spec;
    const input_record *records;
    input_record *device_records;
    uint64_t count, chunk;
    wp_table *table;
    snapshot now;       /* after the last chunk */
    uint64_t look_pass; /* its state is kept */
    snapshot kept;      /* at the end of that pass */
    uint32_t *done;     /* bitmap after the last chunk */
    uint64_t pass, first_tried[PASSES_MAX], first_postponed[PASSES_MAX];
    double postponing_groups; /* part of the groups, when the first pass ended */
    chunk_state chunks[PASSES_MAX][CHUNKS_MAX];
    wp_table_segment *segments; /* of the finished table */
    uint64_t segment_count;
    wp_table_report report;
} filler;

static wp_error err;

static void need(bool is_good, const char *what) {
    if (is_good) return;
    (void)fprintf(stderr, "snapshots: %s failed. %s\n", what, err.message);
    exit(1);
}

static void *allocate(uint64_t count, uint64_t bytes) {
    void *memory = calloc(count != 0 ? count : 1, bytes);
    need(memory != NULL, "memory");
    return memory;
}

static void copy_back(void *to, const void *from, uint64_t bytes) {
    need(cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToHost) == cudaSuccess, "a copy");
}

static uint64_t mix(uint64_t x) {
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

/* ---- records --------------------------------------------------------------------------------- */

static void set_pair(input_record *to, const char *key, const void *value, uint32_t value_bytes) {
    memset(to, 0, sizeof *to);
    to->key_bytes = (uint32_t)strlen(key);
    to->value_bytes = value_bytes;
    need(to->key_bytes <= KEY_ROOM && value_bytes <= VALUE_ROOM, "a record");
    memcpy(to->key, key, to->key_bytes);
    memcpy(to->value, value, value_bytes);
}

/* Requests for pages, as Page View Count sees them: the key is a URL, the value is 1. Low numbers
 * are asked for more often. */
static input_record *make_views(uint64_t count, uint64_t pages, uint64_t seed) {
    static const char *const folders[] = {"", "news/", "shop/", "help/"};
    input_record *records = (input_record *)allocate(count, sizeof *records);
    const uint64_t one = 1;
    for (uint64_t i = 0; i < count; i++) {
        const double u = (double)(mix(i * 977u + seed) >> 11) / 9007199254740992.0;
        const uint64_t page = (uint64_t)((double)pages * u * u);
        char key[KEY_ROOM];
        (void)snprintf(key, sizeof key, "/%s%llu", folders[mix(page + 5u) % 4u],
                       (unsigned long long)page);
        set_pair(&records[i], key, &one, sizeof one);
    }
    return records;
}

/* ---- a run ----------------------------------------------------------------------------------- */

__global__ void insert(wp_table_view table, wp_units units, const input_record *records,
                       uint64_t first, uint64_t outer) {
    const uint64_t i = first + blockIdx.x * (uint64_t)blockDim.x + threadIdx.x;
    if (i >= outer || wp_units_is_done(&units, i)) return;
    const input_record *r = &records[i];
    wp_attempt attempt = wp_attempt_begin(&units, i);
    wp_table_emit(&table, &attempt, r->key, r->key_bytes, r->value, r->value_bytes);
    wp_attempt_end(&attempt);
}

static void take_snapshot(filler *f, snapshot *s) {
    const wp_table_view view = wp_table_get_view(f->table);
    if (s->buckets == NULL) {
        s->buckets = (uint64_t *)allocate(view.bucket_mask + 1, sizeof *s->buckets);
        s->pages = (wp_table_page *)allocate(view.page_count, sizeof *s->pages);
        s->heap = (char *)allocate(view.page_count, view.page_bytes);
    }
    s->view = view;
    copy_back(&s->control, view.control, sizeof s->control);
    copy_back(s->buckets, view.buckets, (view.bucket_mask + 1) * sizeof *s->buckets);
    copy_back(s->pages, view.pages, view.page_count * sizeof *s->pages);
    for (uint64_t page = 0; page < view.page_count; page++) {
        wp_table_page *p = &s->pages[page];
        if (p->run == 0 && p->used > view.page_bytes) {
            p->used = p->end;
        }
    }
    copy_back(s->heap, view.heap, view.page_count << view.page_shift);
}

static bool is_done(const uint32_t *bits, uint64_t i) {
    return (bits[i / 32] >> i % 32 & 1u) != 0;
}

static uint64_t page_used(const snapshot *s, uint64_t page) {
    return s->pages[page].owner != 0 ? s->pages[page].used : 0;
}

static bool has_values(const snapshot *s, uint64_t page) {
    return s->view.organisation == WP_TABLE_MULTIVALUED &&
           ((s->pages[page].owner >> 32) - 1u) % 2u == 1u;
}

static bool is_all_taken(const snapshot *s) {
    for (uint64_t page = 0; page < s->view.page_count; page++)
        if (s->pages[page].owner == 0) return false;
    return true;
}

static wp_status process(void *object, const wp_units *units, uint64_t first, uint64_t outer,
                         wp_error *) {
    filler *f = (filler *)object;
    chunk_state *c = &f->chunks[f->pass][first / f->chunk];
    const uint64_t words = (f->count + 31) / 32;
    uint32_t *before = (uint32_t *)allocate(words, sizeof *before);
    if (f->first_tried[f->pass] == UINT64_MAX) f->first_tried[f->pass] = first;
    take_snapshot(f, &f->now);
    copy_back(before, units->done, words * sizeof *before);
    c->is_full = is_all_taken(&f->now);
    insert<<<(unsigned)((outer - first + 127) / 128), 128>>>(wp_table_get_view(f->table), *units,
                                                             f->device_records, first, outer);
    need(cudaDeviceSynchronize() == cudaSuccess, "a launch");
    take_snapshot(f, &f->now);
    copy_back(f->done, units->done, words * sizeof *f->done);
    c->is_tried = true;
    c->before = c->served = c->postponed = 0;
    for (uint64_t i = first; i < outer; i++) {
        if (is_done(before, i))
            c->before++;
        else if (is_done(f->done, i))
            c->served++;
        else
            c->postponed++;
    }
    c->keys = c->values = 0;
    for (uint64_t page = 0; page < f->now.view.page_count; page++) {
        const double part = (double)page_used(&f->now, page) /
                            (double)(f->now.view.page_count << f->now.view.page_shift);
        *(has_values(&f->now, page) ? &c->values : &c->keys) += part;
    }
    if (f->pass + 1 == f->look_pass) take_snapshot(f, &f->kept);
    free(before);
    return WP_STATUS_OK;
}

static void end_pass(filler *f) {
    f->first_postponed[f->pass] = f->count;
    for (uint64_t i = f->count; i > 0; i--)
        if (!is_done(f->done, i - 1)) f->first_postponed[f->pass] = i - 1;
    if (f->pass == 0)
        f->postponing_groups = (double)f->now.control.full_groups / (double)f->report.groups;
    f->pass++;
}

static bool retries(void *object, const wp_postpone_facts *) {
    end_pass((filler *)object);
    need(((filler *)object)->pass < PASSES_MAX, "few passes");
    return true;
}

static void fill(filler *f) {
    const wp_postpone_spec units = {f->count, f->chunk, 1, 0};
    const wp_requester requester = {f, process, retries};
    wp_postpone *postpone;
    need(f->count / f->chunk < CHUNKS_MAX, "few chunks");
    f->done = (uint32_t *)allocate((f->count + 31) / 32, sizeof *f->done);
    memset(f->first_tried, 0xff, sizeof f->first_tried);
    need(cudaMalloc((void **)&f->device_records, f->count * sizeof *f->records) == cudaSuccess &&
             cudaMemcpy(f->device_records, f->records, f->count * sizeof *f->records,
                        cudaMemcpyHostToDevice) == cudaSuccess,
         "device memory");
    need(wp_table_create(wp_cudart_device(), &f->spec, &f->table, &err) == WP_STATUS_OK, "a table");
    need(wp_postpone_create(wp_cudart_device(), &units, &postpone, &err) == WP_STATUS_OK, "units");
    wp_table_get_report(f->table, &f->report);
    need(wp_table_run(f->table, postpone, &requester, NULL, &err) == WP_STATUS_OK, "a run");
    end_pass(f);
    wp_table_get_report(f->table, &f->report);
    wp_postpone_destroy(postpone);
    const wp_table_view view = wp_table_get_view(f->table);
    f->segment_count = view.segment_count;
    f->segments = (wp_table_segment *)allocate(f->segment_count, sizeof *f->segments);
    copy_back(f->segments, view.segments, f->segment_count * sizeof *f->segments);
    need(wp_table_pair_count(f->table) == f->count || f->spec.organisation == WP_TABLE_COMBINING,
         "the check of pairs");
}

static filler *make(const char *name, wp_table_organisation organisation, uint64_t buckets,
                    uint64_t of_group, uint64_t heap_bytes, uint64_t page_bytes,
                    const input_record *records, uint64_t count, uint64_t chunk) {
    filler *f = (filler *)allocate(1, sizeof *f);
    f->name = name;
    f->spec = WP_TABLE_SPEC_INIT;
    f->spec.organisation = organisation;
    f->spec.bucket_count = buckets;
    f->spec.buckets_per_group = of_group;
    f->spec.heap_bytes = heap_bytes;
    f->spec.page_bytes = page_bytes;
    f->records = records;
    f->count = count;
    f->chunk = chunk;
    f->look_pass = 1;
    return f;
}

/* ---- places ---------------------------------------------------------------------------------- */

/* Where a place is in host memory, in the finished table. */
static const char *on_host(const filler *f, uint64_t place) {
    for (uint64_t i = 0; i < f->segment_count; i++)
        if (place >= f->segments[i].first && place < f->segments[i].outer)
            return f->segments[i].memory + (place - f->segments[i].first);
    need(false, "finding a place");
    return NULL;
}
static const wp_table_entry *entry_on_host(const filler *f, uint64_t place) {
    return (const wp_table_entry *)(const void *)on_host(f, place);
}
static uint64_t head_of(uint64_t bucket) {
    return (bucket & WP_TABLE_PLACE_MASK) << 3;
}
static uint64_t padded(uint64_t bytes) {
    return (bytes + 7u) & ~(uint64_t)7u;
}
static uint64_t entry_bytes(const wp_table_entry *e, uint32_t organisation) {
    const uint64_t key = sizeof *e + padded(e->key_bytes);
    return organisation == WP_TABLE_MULTIVALUED ? key + 8u : key + padded(e->value_bytes);
}
static const char *key_of(const wp_table_entry *e, uint32_t organisation) {
    return (const char *)(e + 1) +
           (organisation == WP_TABLE_MULTIVALUED ? 8u : padded(e->value_bytes));
}
static uint64_t count_of(const wp_table_entry *e) {
    uint64_t count;
    memcpy(&count, e + 1, sizeof count);
    return count;
}

/* ---- numbers --------------------------------------------------------------------------------- */

static void print_snapshot(const filler *f) {
    const snapshot *s = &f->kept;
    uint64_t behind = 0, mixed = 0, resident = 0, left = 0, different = 0;
    for (uint64_t b = 0; b <= s->view.bucket_mask; b++) {
        bool has_left = false, is_here = false;
        for (uint64_t place = head_of(s->buckets[b]); place != 0;
             place = entry_on_host(f, place)->next) {
            const wp_table_entry *e = entry_on_host(f, place);
            if (place < s->view.base) {
                has_left = true;
                left++;
                continue;
            }
            is_here = true;
            resident++;
            behind += has_left;
            different += memcmp(e, s->heap + (place - s->view.base),
                                entry_bytes(e, s->view.organisation)) != 0;
        }
        mixed += has_left && is_here;
    }
    printf("snapshot_resident %llu\n", (unsigned long long)resident);
    printf("snapshot_left %llu\n", (unsigned long long)left);
    printf("snapshot_mixed_chains %llu\n", (unsigned long long)mixed);
    printf("snapshot_resident_behind_left %llu\n", (unsigned long long)behind);
    printf("snapshot_different_on_host %llu\n", (unsigned long long)different);
}

/* The page that follows this one in its group, or page_count. */
static uint64_t page_after(const snapshot *s, uint64_t page) {
    for (uint64_t p = 0; p < s->view.page_count; p++)
        if (s->pages[p].owner != 0 && (s->pages[p].owner & UINT32_MAX) == page + 1) return p;
    return s->view.page_count;
}

static void print_pages(const filler *f) {
    const snapshot *s = &f->kept;
    uint64_t longest = 0, chained = 0, early = 0, foreign = 0, most = 0;
    for (uint64_t b = 0; b <= s->view.bucket_mask; b++)
        for (uint64_t place = head_of(s->buckets[b]); place != 0;
             place = entry_on_host(f, place)->next) {
            const uint64_t bytes = entry_bytes(entry_on_host(f, place), s->view.organisation);
            const uint64_t page = (place - s->view.base) >> s->view.page_shift;
            longest = bytes > longest ? bytes : longest;
            foreign += ((s->pages[page].owner >> 32) - 1u) / 2u != b >> s->view.group_shift;
        }
    for (uint64_t page = 0; page < s->view.page_count; page++) {
        if (s->pages[page].owner == 0) continue;
        if (page_after(s, page) < s->view.page_count) {
            chained++;
            early += s->view.page_bytes - s->pages[page].used >= longest;
        }
        uint64_t length = 1;
        for (uint64_t p = s->pages[page].owner & UINT32_MAX; p != 0;
             p = s->pages[p - 1].owner & UINT32_MAX)
            length++;
        most = length > most ? length : most;
    }
    printf("pages_chained %llu\n", (unsigned long long)chained);
    printf("pages_chained_early %llu\n", (unsigned long long)early);
    printf("pages_of_longest_chain %llu\n", (unsigned long long)most);
    printf("pages_entries_of_other_group %llu\n", (unsigned long long)foreign);
}

static void print_links(const filler *f, const char *key) {
    wp_table_cursor cursor;
    wp_table_pair pair;
    uint64_t values = 0;
    memset(&cursor, 0, sizeof cursor);
    while (wp_table_find_next(f->table, key, strlen(key), &cursor, &pair))
        values++;
    printf("links_values_of_the_key %llu\n", (unsigned long long)values);
}

static void print_passes(const filler *f) {
    const uint64_t all = (f->count + f->chunk - 1) / f->chunk;
    uint64_t tried = 0, served_full = 0, heap_full = 0;
    bool restarts = true;
    for (uint64_t i = 0; i < all; i++) {
        tried += f->chunks[0][i].is_tried;
        served_full += f->chunks[0][i].is_full ? f->chunks[0][i].served : 0;
        heap_full += f->chunks[0][i].is_full;
    }
    for (uint64_t pass = 1; pass < f->pass; pass++)
        restarts =
            restarts && f->first_tried[pass] == f->first_postponed[pass - 1] / f->chunk * f->chunk;
    printf("%s_passes %llu\n", f->name, (unsigned long long)f->pass);
    printf("%s_tried_of_first_pass %.6f\n", f->name, (double)tried / (double)all);
    printf("%s_restarts_at_first_postponed %d\n", f->name, restarts);
    printf("%s_served_while_full %llu\n", f->name, (unsigned long long)served_full);
    printf("%s_chunks_while_full %llu\n", f->name, (unsigned long long)heap_full);
    printf("%s_postponing_groups %.6f\n", f->name, f->postponing_groups);
    printf("%s_pages_kept %llu\n", f->name, (unsigned long long)f->report.pages_kept);
}

/* ---- pictures -------------------------------------------------------------------------------- */

#define FONT "font-family='sans-serif'"
#define DEVICE_FILL "#9ecae1"
#define HOST_FILL "#d9d9d9"
#define VALUE_FILL "#c7e9c0"
#define LATE_FILL "#fdae6b"
#define DARK_FILL "#31a354"

static FILE *open_picture(const char *folder, const char *name, int width, int height) {
    char path[4096];
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *out = fopen(path, "w");
    need(out != NULL, path);
    (void)fprintf(out,
                  "<svg xmlns='http://www.w3.org/2000/svg' width='%d' height='%d' " FONT
                  " font-size='12'>\n<rect width='100%%' height='100%%' fill='white'/>\n",
                  width, height);
    return out;
}

static void close_picture(FILE *out) {
    (void)fprintf(out, "</svg>\n");
    need(fclose(out) == 0, "writing a picture");
}

static void text(FILE *out, double x, double y, const char *anchor, const char *format, ...) {
    va_list list;
    (void)fprintf(out, "<text x='%.1f' y='%.1f' text-anchor='%s'>", x, y, anchor);
    va_start(list, format);
    (void)vfprintf(out, format, list);
    va_end(list);
    (void)fprintf(out, "</text>\n");
}

static void box(FILE *out, double x, double y, double width, double height, const char *fill,
                const char *stroke) {
    (void)fprintf(out, "<rect x='%.2f' y='%.2f' width='%.2f' height='%.2f' fill='%s'", x, y, width,
                  height, fill);
    if (stroke != NULL) (void)fprintf(out, " stroke='%s'", stroke);
    (void)fprintf(out, "/>\n");
}

static void line(FILE *out, double x1, double y1, double x2, double y2, const char *more) {
    (void)fprintf(out, "<line x1='%.1f' y1='%.1f' x2='%.1f' y2='%.1f' stroke='black' %s/>\n", x1,
                  y1, x2, y2, more);
}

/* A link from a box to the next one. */
static void arrow(FILE *out, double x1, double y1, double x2, double y2) {
    line(out, x1, y1, x2, y2, "");
    if (y1 == y2)
        (void)fprintf(out, "<path d='M%.1f %.1f l-6 -3 v6 z'/>\n", x2, y2);
    else
        (void)fprintf(out, "<path d='M%.1f %.1f l-3 -6 h6 z'/>\n", x2, y2);
}

static void key_text(FILE *out, double x, double y, const char *key, uint32_t bytes) {
    text(out, x, y, "start", "%.*s", (int)bytes, key);
}

/* Figure 6.2: chains at the end of the second pass. */
static void draw_snapshot(const filler *f, const char *folder) {
    const snapshot *s = &f->kept;
    const double left = 120, step = 112, width = 96, height = 26, row = 38, top = 62;
    uint64_t most = 0, most_left = 0;
    for (uint64_t b = 0; b <= s->view.bucket_mask; b++) {
        uint64_t here = 0, there = 0;
        for (uint64_t place = head_of(s->buckets[b]); place != 0;
             place = entry_on_host(f, place)->next)
            *(place >= s->view.base ? &here : &there) += 1;
        most = here > most ? here : most;
        most_left = there > most_left ? there : most_left;
    }
    const double border = left + (double)most * step, rows = (double)(s->view.bucket_mask + 1);
    FILE *out =
        open_picture(folder, "table-snapshot.svg", (int)(border + 16 + (double)most_left * step),
                     (int)(top + rows * row + 6));
    text(out, 16, 20, "start",
         "Chains at the end of pass %llu, before its entries leave the device",
         (unsigned long long)f->look_pass);
    text(out, 28, 48, "start", "buckets");
    text(out, left, 48, "start", "entries in device memory");
    text(out, border + 16, 48, "start", "entries in host memory");
    line(out, border, 34, border, top + rows * row, "stroke-dasharray='5 4'");
    for (uint64_t b = 0; b <= s->view.bucket_mask; b++) {
        const double y = top + (double)b * row;
        double end = 76, here = left, there = border + 16;
        box(out, 28, y, 48, height, "white", "black");
        text(out, 52, y + 17, "middle", "%llu", (unsigned long long)b);
        for (uint64_t place = head_of(s->buckets[b]); place != 0;
             place = entry_on_host(f, place)->next) {
            const bool is_here = place >= s->view.base;
            double *x = is_here ? &here : &there;
            const wp_table_entry *e =
                is_here ? (const wp_table_entry *)(const void *)(s->heap + (place - s->view.base))
                        : entry_on_host(f, place);
            arrow(out, end, y + height / 2, *x, y + height / 2);
            box(out, *x, y, width, height, is_here ? DEVICE_FILL : HOST_FILL, "black");
            key_text(out, *x + 5, y + 17, key_of(e, s->view.organisation), e->key_bytes);
            text(out, *x + width - 5, y + 17, "end", "%llu", (unsigned long long)count_of(e));
            end = *x + width;
            *x += step;
        }
    }
    close_picture(out);
}

/* Figure 6.3: groups of buckets and their pages. */
static void draw_pages(const filler *f, const char *folder) {
    const snapshot *s = &f->kept;
    const double left = 190, scale = 0.75, row = 74, height = 30, top = 66;
    const double page_width = (double)s->view.page_bytes * scale, step = page_width + 28;
    uint64_t most = 0, longest = 0, longest_bucket = 0, free_pages = 0;
    for (uint64_t page = 0; page < s->view.page_count; page++)
        free_pages += s->pages[page].owner == 0;
    for (uint64_t b = 0; b <= s->view.bucket_mask; b++) {
        uint64_t length = 0;
        for (uint64_t p = head_of(s->buckets[b]); p != 0; p = entry_on_host(f, p)->next)
            length++;
        if (length > longest) longest_bucket = b;
        longest = length > longest ? length : longest;
    }
    for (uint64_t page = 0; page < s->view.page_count; page++) {
        uint64_t length = 0;
        for (uint64_t p = s->pages[page].owner != 0 ? page + 1 : 0; p != 0;
             p = s->pages[p - 1].owner & UINT32_MAX)
            length++;
        most = length > most ? length : most;
    }
    const uint64_t groups = f->report.groups, of_group = (s->view.bucket_mask + 1) / groups;
    FILE *out = open_picture(folder, "table-pages.svg", (int)(left + (double)most * step + 16),
                             (int)(top + (double)groups * row + 24));
    double *x_of = (double *)allocate(s->view.page_count, sizeof *x_of);
    double *y_of = (double *)allocate(s->view.page_count, sizeof *y_of);
    text(out, 16, 20, "start",
         "Groups of %llu buckets and their pages of %u bytes, the newest page first",
         (unsigned long long)of_group, s->view.page_bytes);
    text(out, 16, 48, "start", "buckets");
    text(out, left, 48, "start",
         "pages with entries (number of the bucket); line: the chain of bucket %llu",
         (unsigned long long)longest_bucket);
    for (uint64_t g = 0; g < groups; g++) {
        const double y = top + (double)g * row;
        for (uint64_t i = 0; i < of_group; i++) {
            box(out, 16 + (double)i * 34, y, 34, height, "white", "black");
            text(out, 33 + (double)i * 34, y + 19, "middle", "%llu",
                 (unsigned long long)(g * of_group + i));
        }
        uint64_t last = s->view.page_count; /* the group's newest page */
        for (uint64_t p = 0; p < s->view.page_count; p++)
            if (s->pages[p].owner >> 32 == g * 2 + 1 && page_after(s, p) == s->view.page_count)
                last = p;
        double x = left, end = 16 + (double)of_group * 34;
        for (uint64_t p = last == s->view.page_count ? 0 : last + 1; p != 0;
             p = s->pages[p - 1].owner & UINT32_MAX) {
            arrow(out, end, y + height / 2, x, y + height / 2);
            box(out, x, y, page_width, height, "white", "black");
            text(out, x + page_width / 2, y + height + 15, "middle", "page %llu, %u bytes used",
                 (unsigned long long)(p - 1), s->pages[p - 1].used);
            x_of[p - 1] = x;
            y_of[p - 1] = y;
            end = x + page_width;
            x += step;
        }
    }
    for (uint64_t b = 0; b <= s->view.bucket_mask; b++)
        for (uint64_t place = head_of(s->buckets[b]); place != 0;
             place = entry_on_host(f, place)->next) {
            const uint64_t at = place - s->view.base, page = at >> s->view.page_shift;
            const double x = x_of[page] + (double)(at & (s->view.page_bytes - 1)) * scale;
            const double width =
                (double)entry_bytes(entry_on_host(f, place), s->view.organisation) * scale;
            box(out, x, y_of[page], width, height, b == longest_bucket ? LATE_FILL : DEVICE_FILL,
                "black");
            text(out, x + width / 2, y_of[page] + 19, "middle", "%llu", (unsigned long long)b);
        }
    double x = 33 + (double)(longest_bucket % of_group) * 34,
           y = top + (double)(longest_bucket / of_group) * row;
    for (uint64_t place = head_of(s->buckets[longest_bucket]); place != 0;
         place = entry_on_host(f, place)->next) {
        const uint64_t at = place - s->view.base, page = at >> s->view.page_shift;
        const double to = x_of[page] + (double)(at & (s->view.page_bytes - 1)) * scale + 12;
        (void)fprintf(out,
                      "<path d='M%.1f %.1f Q%.1f %.1f %.1f %.1f' fill='none' stroke='#a63603' "
                      "stroke-width='1.5'/>\n",
                      x, y, (x + to) / 2, y - 18, to, y_of[page]);
        x = to;
        y = y_of[page];
    }
    text(out, 16, top + (double)groups * row + 8, "start", "%llu pages of the heap are free",
         (unsigned long long)free_pages);
    free(x_of);
    free(y_of);
    close_picture(out);
}

/* A finished table from (x, y) on; returns where it ends. */
static double draw_table(FILE *out, const filler *f, double x, double y, const char *title) {
    const uint32_t organisation = (uint32_t)f->spec.organisation;
    const double height = 24, row = 34;
    const bool has_text_values = f->records[0].value_bytes != 8u;
    const double width = has_text_values ? 136 : 84, value_width = has_text_values ? 60 : 24;
    text(out, x, y, "start", "%s: %llu bytes", title, (unsigned long long)f->report.table_bytes);
    y += 14;
    for (uint64_t b = 0; b <= f->now.view.bucket_mask; b++) {
        box(out, x, y, 28, height, "white", "black");
        text(out, x + 14, y + 16, "middle", "%llu", (unsigned long long)b);
        double end = x + 28, at = x + 50, below = y;
        uint64_t count = 0;
        for (uint64_t place = head_of(f->now.buckets[b]); place != 0; count++) {
            const wp_table_entry *e = entry_on_host(f, place);
            if (organisation == WP_TABLE_MULTIVALUED && count != 0) {
                arrow(out, at + 20, below + height, at + 20, below + row);
                below += row;
            } else {
                arrow(out, end, below + height / 2, at, below + height / 2);
            }
            box(out, at, below, width, height, DEVICE_FILL, "black");
            key_text(out, at + 5, below + 16, key_of(e, organisation), e->key_bytes);
            end = at + width;
            if (organisation == WP_TABLE_MULTIVALUED) {
                uint64_t value;
                memcpy(&value, e + 1, sizeof value);
                for (double v = end + 18; value != 0; v += value_width + 18) {
                    const wp_table_value *node =
                        (const wp_table_value *)(const void *)on_host(f, value);
                    uint64_t number = 0;
                    arrow(out, v - 18, below + height / 2, v, below + height / 2);
                    box(out, v, below, value_width, height, VALUE_FILL, "black");
                    if (has_text_values)
                        key_text(out, v + 5, below + 16, (const char *)(node + 1),
                                 node->value_bytes);
                    memcpy(&number, node + 1, has_text_values ? 0 : sizeof number);
                    if (!has_text_values)
                        text(out, v + value_width / 2, below + 16, "middle", "%llu",
                             (unsigned long long)number);
                    value = node->next;
                }
            } else {
                text(out, end - 5, below + 16, "end", "%llu", (unsigned long long)count_of(e));
                at += width + 18;
            }
            place = e->next;
        }
        y = below + row;
    }
    return y + 26;
}

/* Figures 6.4 and 6.5. */
static void draw_organisations(filler *const *views, const filler *links, const char *folder) {
    static const char *const titles[] = {"(a) basic", "(b) multi-valued", "(c) combining"};
    FILE *out = open_picture(folder, "table-organisations.svg", 1000, 600);
    double y = 24, right = 0;
    for (int i = 0; i < WP_TABLE_ORGANISATION_COUNT; i++) {
        y = draw_table(out, views[i], 16, y, titles[i]);
        right = i == 0 ? y : right;
    }
    (void)draw_table(out, links, 500, right, "Links between pages, multi-valued");
    close_picture(out);
}

#define LAYERS 5

/* From where to where a layer of the picture of passes goes, as parts of its band. */
static void layer_of(const chunk_state *c, int layer, double *low, double *high) {
    const double sum = (double)(c->before + c->served + c->postponed);
    const double parts[LAYERS] = {(double)c->before / sum, (double)c->served / sum,
                                  (double)c->postponed / sum, c->keys, c->values};
    *low = 0;
    for (int i = layer < 3 ? 0 : 3; i < layer; i++)
        *low += parts[i];
    *high = *low + parts[layer];
}

/* Figure 6.6. */
static void draw_passes(filler *const *runs, const char *folder) {
    static const char *const titles[] = {"(a) basic", "(b) multi-valued", "(c) combining"};
    const double left = 76, width = 760, row = 46, records = 26, heap = 12;
    uint64_t passes = 0;
    for (int i = 0; i < WP_TABLE_ORGANISATION_COUNT; i++)
        passes += runs[i]->pass;
    FILE *out = open_picture(folder, "table-passes.svg", (int)(left + width + 16),
                             (int)(60 + 3 * 34 + (double)passes * row));
    static const char *const fills[] = {HOST_FILL, DEVICE_FILL, LATE_FILL, "#006d2c", "#a1d99b"};
    static const char *const names[] = {"done in an earlier pass", "inserted", "postponed",
                                        "heap: keys", "heap: values"};
    for (int i = 0; i < LAYERS; i++) {
        box(out, 16 + i * 168, 12, 14, 12, fills[i], NULL);
        text(out, 36 + i * 168, 22, "start", "%s", names[i]);
    }
    double y = 52;
    for (int r = 0; r < WP_TABLE_ORGANISATION_COUNT; r++) {
        const filler *f = runs[r];
        const uint64_t all = (f->count + f->chunk - 1) / f->chunk;
        text(out, 16, y, "start",
             "%s: %llu records in chunks of %llu, heap of %llu KiB, table of %llu KiB", titles[r],
             (unsigned long long)f->count, (unsigned long long)f->chunk,
             (unsigned long long)(f->report.heap_bytes >> 10),
             (unsigned long long)(f->report.table_bytes >> 10));
        y += 10;
        for (uint64_t pass = 0; pass < f->pass; pass++, y += row) {
            text(out, 16, y + 17, "start", "pass %llu", (unsigned long long)pass + 1);
            box(out, left, y, width, records, "none", "#bdbdbd");
            box(out, left, y + records, width, heap, "none", "#bdbdbd");
            for (int layer = 0; layer < LAYERS; layer++) {
                (void)fprintf(out, "<path fill='%s' d='", fills[layer]);
                for (uint64_t i = 0; i < all; i++) {
                    const chunk_state *c = &f->chunks[pass][i];
                    double low, high;
                    layer_of(c, layer, &low, &high);
                    if (!c->is_tried || high <= low) continue;
                    const double scale = layer < 3 ? records : heap;
                    const double floor = layer < 3 ? y + records : y + records + heap;
                    (void)fprintf(out, "M%.1f %.1fh%.2fv%.1fh-%.2fz",
                                  left + width * (double)i / (double)all, floor - low * scale,
                                  width / (double)all, -(high - low) * scale, width / (double)all);
                }
                (void)fprintf(out, "'/>\n");
            }
        }
        y += 24;
    }
    close_picture(out);
}

/* ---- the runs -------------------------------------------------------------------------------- */

static input_record *make_links(uint64_t *count) {
    static const char *const pairs[][2] = {
        {"http://google.com", "a.html"},  {"http://utoronto.ca", "a.html"},
        {"http://acm.org", "b.html"},     {"http://google.com", "c.html"},
        {"http://utoronto.ca", "c.html"}, {"http://ieee.org", "c.html"},
        {"http://google.com", "d.html"},  {"http://acm.org", "d.html"},
    };
    *count = sizeof pairs / sizeof *pairs;
    input_record *records = (input_record *)allocate(*count, sizeof *records);
    for (uint64_t i = 0; i < *count; i++)
        set_pair(&records[i], pairs[i][0], pairs[i][1], (uint32_t)strlen(pairs[i][1]));
    return records;
}

static const wp_table_organisation organisations[] = {WP_TABLE_BASIC, WP_TABLE_MULTIVALUED,
                                                      WP_TABLE_COMBINING};

int main(int argc, char **argv) {
    static const char *const names[] = {"basic", "multivalued", "combining"};
    if (argc > 2) {
        (void)fprintf(stderr, "usage: snapshots [FOLDER]\n");
        return 2;
    }
    filler *chains =
        make("chains", WP_TABLE_COMBINING, 8, 4, 512, 256, make_views(96, 24, 1), 96, 32);
    chains->look_pass = 2;
    fill(chains);
    print_snapshot(chains);

    filler *pages =
        make("pages", WP_TABLE_COMBINING, 16, 4, 4096, 256, make_views(256, 48, 2), 256, 256);
    fill(pages);
    print_pages(pages);

    uint64_t link_count;
    const input_record *link_records = make_links(&link_count);
    filler *links =
        make("links", WP_TABLE_MULTIVALUED, 4, 2, 8192, 1024, link_records, link_count, 32);
    fill(links);
    print_links(links, "http://google.com");

    const input_record *few = make_views(12, 6, 3);
    const input_record *many = make_views(16384, 6000, 4);
    filler *views[WP_TABLE_ORGANISATION_COUNT], *runs[WP_TABLE_ORGANISATION_COUNT];
    for (int i = 0; i < WP_TABLE_ORGANISATION_COUNT; i++) {
        views[i] = make(names[i], organisations[i], 4, 4, 4096, 1024, few, 12, 32);
        fill(views[i]);
        printf("%s_table_bytes %llu\n", names[i], (unsigned long long)views[i]->report.table_bytes);
        runs[i] = make(names[i], organisations[i], 4096, 256, 192 << 10, 1024, many, 16384, 256);
        fill(runs[i]);
        print_passes(runs[i]);
    }
    if (argc == 2) {
        draw_snapshot(chains, argv[1]);
        draw_pages(pages, argv[1]);
        draw_organisations(views, links, argv[1]);
        draw_passes(runs, argv[1]);
    }
    wp_table_close(chains->table);
    wp_table_close(pages->table);
    wp_table_close(links->table);
    for (int i = 0; i < WP_TABLE_ORGANISATION_COUNT; i++) {
        wp_table_close(views[i]->table);
        wp_table_close(runs[i]->table);
    }
    return 0;
}

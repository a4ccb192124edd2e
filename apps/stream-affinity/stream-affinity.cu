/* SPDX-License-Identifier: Apache-2.0 */
/*
 * MasterCard affinity: which merchants the customers of one merchant also visit. Payments are lines
 * of text; a first pass over them collects the cards that were used at the merchant, a second one
 * counts where else these cards were used. A thread takes the lines that begin in its part of the
 * text. With an index of where the card is in each line, it takes lines by number, and reads only
 * card and terminal.
 *
 *     number,date time,card (16 digits),terminal (8 digits),amount,currency,...\n
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <warpage/stream.h>

#include "common/memory.h"
#include "common/names.h"
#include "common/random.h"
#include "common/report.h"
#include "common/text.h"
#include "streaming/growth.h"
#include "streaming/streaming.h"
#include "streaming/table.h"

#define CARD_DIGITS 16
#define TERMINAL_DIGITS 8
#define MOST_TERMINALS 100000000u
#define FIRST_CARD UINT64_C(4000000000000000)
#define LINE_BYTES 96.0 /* about */

/* What both passes work with; passed to kernels as it is. */
typedef struct search {
    app_table customers; /* of the target: keys are cards */
    uint32_t *visits;    /* [terminals] by customers of the target */
    uint32_t terminals, target;
    int is_second; /* pass */
} search;

typedef struct affinity {
    search search;
    const uint64_t *index; /* of the lines: where the card begins; NULL: none */
    unsigned blocks, threads;
} affinity;

static __host__ __device__ __forceinline__ void take_payment(const search s, uint64_t card,
                                                             uint64_t terminal) {
    if (!s.is_second) {
        if (terminal == s.target) {
            app_add(&app_table_put(s.customers, card)->count, 1);
        }
    } else if (terminal < s.terminals && app_table_find(s.customers, card) != NULL) {
        app_add(&s.visits[terminal], 1);
    }
}

/* The lines that begin in text[start, end). */
static __host__ __device__ __forceinline__ void
take_lines(const char *text, uint64_t start, uint64_t end, uint64_t bytes, const search s) {
    uint64_t p = start;
    if (p != 0) {
        while (p < end && text[p - 1] != '\n') {
            p++;
        }
    }
    while (p < end) {
        uint64_t card = 0, terminal = 0;
        uint32_t column = 0;
        for (; p < bytes; p++) {
            const unsigned char c = (unsigned char)text[p];
            if (c == '\n') {
                break;
            }
            if (c == ',') {
                column++;
            } else if (column == 2) {
                card = 10 * card + (c - '0');
            } else if (column == 3) {
                terminal = 10 * terminal + (c - '0');
            }
        }
        p++;
        take_payment(s, card, terminal);
    }
}

/* One line, whose card begins at `field`. */
static __host__ __device__ __forceinline__ void take_fields(const char *field, const search s) {
    uint64_t card = 0, terminal = 0;
    for (int i = 0; i < CARD_DIGITS; i++) {
        card = 10 * card + ((unsigned char)field[i] - '0');
    }
    for (int i = 0; i < TERMINAL_DIGITS; i++) {
        terminal = 10 * terminal + ((unsigned char)field[CARD_DIGITS + 1 + i] - '0');
    }
    take_payment(s, card, terminal);
}

static __global__ void scan_text(const char *text, uint64_t bytes, const search s) {
    const uint64_t threads = (uint64_t)gridDim.x * blockDim.x;
    const uint64_t thread = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
    const uint64_t each = (bytes + threads - 1) / threads;
    const uint64_t start = thread * each;
    const uint64_t end = start + each < bytes ? start + each : bytes;
    if (start < end) {
        take_lines(text, start, end, bytes, s);
    }
}

/* `text` begins with what is byte `base` for the index. Pointers are parameters of their own, so
 * that the index is seen to be none of what is written. */
static __global__ void scan_index(const char *text, uint64_t base, const uint64_t *index,
                                  uint64_t count, app_table_entry *customers, uint64_t mask,
                                  uint32_t *visits, uint32_t terminals, uint32_t target,
                                  int is_second) {
    const search s = {{customers, mask}, visits, terminals, target, is_second};
    const uint64_t threads = (uint64_t)gridDim.x * blockDim.x;
    const uint64_t thread = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
    const uint64_t each = (count + threads - 1) / threads;
    const uint64_t start = thread * each;
    const uint64_t end = start + each < count ? start + each : count;
    for (uint64_t i = start; i < end; i++) {
        take_fields(text + (index[i] - base), s);
    }
}

typedef struct payments {
    char *text;
    uint64_t bytes, count;
    uint64_t *starts; /* [count + 1] of lines */
    uint64_t *cards;  /* [count] where the card begins */
} payments;

/* What a launch needs beside the task. */
typedef struct job_object {
    affinity task;
    const payments *all;
    bool maps_index;
} job_object;

static void launch(void *object, void *records, uint64_t first, uint64_t count,
                   cudaStream_t stream) {
    const job_object *o = (const job_object *)object;
    const affinity *a = &o->task;
    const search *s = &a->search;
    if (a->index == NULL) {
        scan_text<<<a->blocks, a->threads, 0, stream>>>((const char *)records, count, *s);
    } else {
        scan_index<<<a->blocks, a->threads, 0, stream>>>(
            (const char *)records, o->all->starts[first], a->index + first, count,
            s->customers.entry, s->customers.mask, s->visits, s->terminals, s->target,
            s->is_second);
    }
}

static void on_host(void *object, void *records, uint64_t first, uint64_t outer) {
    const affinity *a = &((const job_object *)object)->task;
    const char *text = (const char *)records;
    if (a->index == NULL) {
        if (first < outer) {
            take_lines(text, first, outer, outer, a->search);
        }
        return;
    }
    for (uint64_t i = first; i < outer; i++) {
        take_fields(text + a->index[i], a->search);
    }
}

/* ---- input ---- */

typedef struct purchase {
    uint32_t customer, merchant;
} purchase;

typedef struct purchases {
    purchase *row;
    uint64_t count;
    uint32_t customers, merchants;
    app_names merchant_names; /* empty for generated input */
    char title[160];
} purchases;

enum { MOST_COLUMNS = 64 };

/* Cuts a line of CSV in place; quotes around a cell are taken off. Returns the number of cells. */
static unsigned cut_line(char *line, char **cell) {
    unsigned cells = 0;
    char *p = line;
    for (;;) {
        char *to = p;
        if (cells < MOST_COLUMNS) {
            cell[cells++] = p;
        }
        if (*p == '"') {
            for (p++; *p != '\0' && (*p != '"' || p[1] == '"'); p++) {
                p += *p == '"';
                *to++ = *p;
            }
            p += *p == '"';
        }
        while (*p != '\0' && *p != ',') {
            *to++ = *p++;
        }
        const bool is_last = *p == '\0';
        *to = '\0';
        if (is_last) {
            return cells;
        }
        p++;
    }
}

/* The columns of customer and merchant, by the names of the header: those of --columns, or known
 * ones. */
static void choose_columns(char **cell, unsigned cells, const char *columns, unsigned *customer,
                           unsigned *merchant, const char *path) {
    static const char *const known[][2] = {{"CUSTOMER_ID", "TERMINAL_ID"},
                                           {"CustomerID", "StockCode"},
                                           {"reviewerId", "vendorId"},
                                           {"customer", "merchant"}};
    char names[2][64];
    *customer = *merchant = MOST_COLUMNS;
    if (columns != NULL && sscanf(columns, "%63[^,],%63[^,]", names[0], names[1]) != 2) {
        app_fail_usage("--columns needs two names from the header, as in customer,merchant");
    }
    for (unsigned k = 0; k < (columns != NULL ? 1 : sizeof known / sizeof known[0]); k++) {
        *customer = *merchant = MOST_COLUMNS;
        for (unsigned c = 0; c < cells; c++) {
            if (strcmp(cell[c], columns != NULL ? names[0] : known[k][0]) == 0) {
                *customer = c;
            }
            if (strcmp(cell[c], columns != NULL ? names[1] : known[k][1]) == 0) {
                *merchant = c;
            }
        }
        if (*customer != MOST_COLUMNS && *merchant != MOST_COLUMNS) {
            return;
        }
    }
    app_fail("%s:1: the header has no columns of customer and merchant%s; name them with --columns",
             path, columns != NULL ? " called so" : " that are known");
}

static void read_purchases(purchases *all, const char *path, const char *columns) {
    app_text *text = app_text_open(path);
    app_names customers = {};
    uint64_t capacity = 0;
    unsigned customer = 0, merchant = 0;
    char *line, *cell[MOST_COLUMNS];
    size_t length;
    while (app_text_line(text, &line, &length)) {
        const unsigned cells = cut_line(line, cell);
        if (app_text_line_number(text) == 1) {
            choose_columns(cell, cells, columns, &customer, &merchant, path);
            continue;
        }
        if (customer >= cells || merchant >= cells || *cell[customer] == '\0' ||
            *cell[merchant] == '\0') {
            continue; /* an anonymous purchase */
        }
        if (all->count == capacity) {
            capacity = capacity != 0 ? 2 * capacity : 4096;
            all->row = (purchase *)app_reallocate(all->row, capacity, sizeof *all->row, path);
        }
        purchase *row = &all->row[all->count++];
        row->customer = app_names_number(&customers, cell[customer], strlen(cell[customer]));
        row->merchant =
            app_names_number(&all->merchant_names, cell[merchant], strlen(cell[merchant]));
    }
    app_text_close(text);
    if (all->count == 0) {
        app_fail("%s holds no purchases", path);
    }
    all->customers = customers.count;
    all->merchants = all->merchant_names.count;
    app_names_free(&customers);
    const char *slash = strrchr(path, '/');
    snprintf(all->title, sizeof all->title, "%.150s", slash != NULL ? slash + 1 : path);
}

/* Merchants of different fame; half of the time customers go to one of their eight favourites. */
static void generate_purchases(purchases *all, uint64_t count, uint64_t seed) {
    all->count = count;
    all->customers = (uint32_t)(count / 50) + 10;
    all->merchants = (uint32_t)(count / 30) + 10;
    all->row = (purchase *)app_allocate(count, sizeof *all->row, "the purchases");
    for (uint64_t i = 0; i < count; i++) {
        app_random random = {app_random_at(seed, i), 0};
        purchase *row = &all->row[i];
        row->customer = app_random_below(&random, all->customers);
        if (app_random_below(&random, 2) == 0) {
            const uint32_t favourite = app_random_below(&random, 8);
            app_random choice = {app_random_at(seed + 1, row->customer), favourite};
            row->merchant = app_random_below(&choice, all->merchants);
        } else {
            row->merchant = (uint32_t)((double)all->merchants * app_random_unit(&random) *
                                       app_random_unit(&random) * app_random_unit(&random));
        }
    }
    snprintf(all->title, sizeof all->title, "generated, seed %llu", (unsigned long long)seed);
}

/* The names that customers or merchants have in the copies: numbers from 0. */
typedef struct aliases {
    app_growth growth;
    uint32_t *now;    /* [originals] in this copy */
    uint32_t *origin; /* [count] of an alias: the original */
    uint32_t originals, count, capacity;
} aliases;

static void start_aliases(aliases *a, const purchases *all, bool is_merchant, uint64_t seed) {
    uint32_t *keys = (uint32_t *)app_allocate(all->count, sizeof *keys, "the keys");
    memset(a, 0, sizeof *a);
    a->originals = is_merchant ? all->merchants : all->customers;
    for (uint64_t i = 0; i < all->count; i++) {
        keys[i] = is_merchant ? all->row[i].merchant : all->row[i].customer;
    }
    a->growth = app_growth_measure(keys, all->count, a->originals, seed);
    a->now = (uint32_t *)app_allocate(a->originals, sizeof *a->now, "the keys");
    free(keys);
}

static void next_copy(aliases *a, uint64_t copy) {
    for (uint32_t o = 0; o < a->originals; o++) {
        a->now[o] = o;
        if (copy != 0 && !app_growth_renames(&a->growth, o, copy)) {
            continue;
        }
        if (a->count == a->capacity) {
            a->capacity = a->capacity != 0 ? 2 * a->capacity : 4096;
            a->origin =
                (uint32_t *)app_reallocate(a->origin, a->capacity, sizeof *a->origin, "the keys");
        }
        a->origin[a->count] = o;
        a->now[o] = a->count++;
    }
}

static void free_aliases(aliases *a) {
    app_growth_free(&a->growth);
    free(a->now);
    free(a->origin);
}

/* Writes payment `number`; returns its length, and where the card is in it. */
static uint64_t write_line(char *line, uint64_t number, uint64_t card, uint32_t terminal,
                           uint64_t seed, uint64_t *card_at) {
    static const char *const places[] = {"Arles",  "Brno",      "Cork",  "Delft",     "Esbjerg",
                                         "Faro",   "Groningen", "Hamar", "Innsbruck", "Jena",
                                         "Kaunas", "Lausanne",  "Malmo", "Nantes",    "Oradea"};
    static const char *const ways[] = {"chip", "swipe", "tap", "online"};
    app_random random = {app_random_at(seed, number), 0};
    const time_t seconds = (time_t)(1522540800u + number * 9);
    struct tm when;
    gmtime_r(&seconds, &when);
    int length = sprintf(line, "%llu,%04d-%02d-%02d %02d:%02d:%02d,", (unsigned long long)number,
                         when.tm_year + 1900, when.tm_mon + 1, when.tm_mday, when.tm_hour,
                         when.tm_min, when.tm_sec);
    *card_at = (uint64_t)length;
    length += sprintf(line + length, "%016llu,%08u,", (unsigned long long)card, terminal);
    const uint32_t cents = app_random_below(&random, 100) * app_random_below(&random, 100) + 99;
    length += sprintf(line + length, "%u.%02u,EUR,%s,%014llx,%05u,%s\n", cents / 100, cents % 100,
                      ways[app_random_below(&random, 4)],
                      (unsigned long long)(app_random_next(&random) >> 8),
                      app_random_below(&random, 100000), places[app_random_below(&random, 15)]);
    return (uint64_t)length;
}

static void write_payments(payments *out, const purchases *all, uint64_t count, bool is_indexed,
                           uint64_t seed, aliases *customers, aliases *merchants) {
    uint64_t capacity = 0;
    memset(out, 0, sizeof *out);
    out->count = count;
    if (is_indexed) {
        out->starts = (uint64_t *)app_allocate(count + 1, sizeof(uint64_t), "the index");
        out->cards = (uint64_t *)app_allocate(count, sizeof(uint64_t), "the index");
    }
    for (uint64_t i = 0; i < count; i++) {
        char line[200];
        uint64_t card_at;
        if (i % all->count == 0) {
            next_copy(customers, i / all->count);
            next_copy(merchants, i / all->count);
        }
        const purchase *row = &all->row[i % all->count];
        const uint64_t length = write_line(line, i, FIRST_CARD + customers->now[row->customer],
                                           merchants->now[row->merchant], seed, &card_at);
        if (capacity - out->bytes < length) {
            capacity = 2 * capacity + 65536;
            out->text = (char *)app_reallocate(out->text, capacity, 1, "the payments");
        }
        if (is_indexed) {
            out->starts[i] = out->bytes;
            out->cards[i] = out->bytes + card_at;
        }
        memcpy(out->text + out->bytes, line, length);
        out->bytes += length;
    }
    if (is_indexed) {
        out->starts[count] = out->bytes;
    }
    if (merchants->count > MOST_TERMINALS) {
        app_fail("%s merchants are more than a terminal's %d digits can tell apart",
                 app_count(merchants->count), TERMINAL_DIGITS);
    }
}

/* The merchant of most purchases, unless one was chosen by name or, in generated input, number. */
static uint32_t choose_target(const purchases *all, const char *merchant) {
    uint32_t *purchases_of, best = 0;
    if (merchant != NULL) {
        for (uint32_t m = 0; m < all->merchants; m++) {
            char number[16];
            snprintf(number, sizeof number, "%u", m);
            if (strcmp(merchant, all->merchant_names.count != 0
                                     ? app_names_word(&all->merchant_names, m)
                                     : number) == 0) {
                return m;
            }
        }
        app_fail_usage("%s has no merchant '%s'", all->title, merchant);
    }
    purchases_of = (uint32_t *)app_allocate(all->merchants, sizeof *purchases_of, "the merchants");
    memset(purchases_of, 0, all->merchants * sizeof *purchases_of);
    for (uint64_t i = 0; i < all->count; i++) {
        purchases_of[all->row[i].merchant]++;
    }
    for (uint32_t m = 1; m < all->merchants; m++) {
        best = purchases_of[m] > purchases_of[best] ? m : best;
    }
    free(purchases_of);
    return best;
}

/* ---- both passes ---- */

typedef struct states {
    app_state customers, visits, index;
} states;

static void check(cudaError_t result, const char *what) {
    app_cuda_check(result, what, "the index", 0);
}

/* The index is streamed, too. */
static void map_index(job_object *object) {
    const uint64_t bytes = object->all->count * sizeof(uint64_t);
    void *mapped;
    check(streamingMalloc(&mapped, bytes), "streamingMalloc");
    check(streamingMap(mapped, object->all->cards, bytes), "streamingMap");
    object->task.index = (const uint64_t *)mapped;
}

static void start_search(states *s, job_object *object, int variant, uint32_t customers,
                         uint32_t terminals) {
    search *what = &object->task.search;
    what->customers =
        app_table_create(&s->customers, variant, customers, "customers of the merchant");
    app_state_create(&s->visits, variant, NULL, (uint64_t)terminals * sizeof(uint32_t),
                     "visits of merchants");
    what->visits = (uint32_t *)s->visits.data;
    what->terminals = terminals;
    if (object->maps_index && !app_streaming_is_host(variant)) {
        map_index(object);
    } else if (object->all->cards != NULL) {
        app_state_create(&s->index, variant, object->all->cards,
                         object->all->count * sizeof(uint64_t), "the index");
        object->task.index = (const uint64_t *)s->index.data;
    }
}

static void free_search(states *s) {
    app_state_free(&s->customers);
    app_state_free(&s->visits);
    if (s->index.data != NULL) {
        app_state_free(&s->index);
    }
}

static void run_passes(const app_streaming *job, job_object *object, int variant,
                       app_streaming_times *times) {
    object->task.search.is_second = 0;
    app_streaming_run(job, variant, times);
    object->task.search.is_second = 1;
    app_streaming_run(job, variant, times);
}

/* ---- results ---- */

typedef struct affine {
    uint32_t terminal, visits;
} affine;

static int by_visits(const void *x, const void *y) {
    const affine *a = (const affine *)x, *b = (const affine *)y;
    if (a->visits != b->visits) {
        return a->visits < b->visits ? 1 : -1;
    }
    return (a->terminal > b->terminal) - (a->terminal < b->terminal);
}

static void print_merchants(const uint32_t *visits, const purchases *all, const aliases *merchants,
                            uint32_t target, uint64_t top) {
    affine *list = (affine *)app_allocate(merchants->count, sizeof *list, "the result");
    uint64_t kept = 0;
    for (uint32_t m = 0; m < merchants->count; m++) {
        if (visits[m] != 0 && m != target) {
            list[kept].terminal = m;
            list[kept++].visits = visits[m];
        }
    }
    printf("affine     %s merchants\n\n  visits  terminal\n", app_count(kept));
    if (kept != 0) {
        qsort(list, kept, sizeof *list, by_visits);
    }
    for (uint64_t i = 0; i < kept && i < top; i++) {
        const uint32_t origin = merchants->origin[list[i].terminal];
        char name[32] = "";
        if (all->merchant_names.count != 0) { /* a plus: one of the enlarged input */
            snprintf(name, sizeof name, "%.20s%s", app_names_word(&all->merchant_names, origin),
                     origin != list[i].terminal ? "+" : "");
        }
        printf("%8s  %08u  %-20s  ", app_count(list[i].visits), list[i].terminal, name);
        app_bar(stdout, (double)list[i].visits / (double)list[0].visits, 24);
        putchar('\n');
    }
    putchar('\n');
    free(list);
}

int main(int argc, char **argv) {
    const app_program program = {
        "stream-affinity",
        "merchants that a merchant's customers visit, over text that need not "
        "fit the GPU",
        "payments, or bytes such as 1GiB",
        "purchases, as CSV with a header that names a column of customers and one of merchants "
        "(also .zst)",
        "stream-affinity --size 500K --indexed --check"};
    app_common common = {NULL, {0, false}, 1, APP_MEMORY_COPY, false};
    app_streaming_options how = APP_STREAMING_DEFAULTS;
    bool is_indexed = false, maps_index = false;
    uint64_t top = 10;
    const char *columns = NULL, *merchant = NULL;
    const app_option options[] = {
        APP_STREAMING_ROWS(how),
        APP_STREAMING_KEEP_ROW(how),
        {"--indexed", APP_OPTION_FLAG, &is_indexed, NULL, 0, 0,
         "use an index, in device memory, of where the card is in each line"},
        {"--map-index", APP_OPTION_FLAG, &maps_index, NULL, 0, 0,
         "full, volume, overlap: stream the index of --indexed, too"},
        {"--columns", APP_OPTION_TEXT, &columns, "NAMES", 0, 0,
         "customer,merchant: the columns of --input, by the names of its header"},
        {"--merchant", APP_OPTION_TEXT, &merchant, "NAME", 0, 0,
         "the merchant whose customers are looked for (default: that of most purchases)"},
        {"--top", APP_OPTION_COUNT, &top, "N", 1, 1e6, "merchants to print"},
        {NULL, APP_OPTION_FLAG, NULL, NULL, 0, 0, NULL}};
    app_options_parse(argc, argv, &program, &common, options);
    app_streaming job = {};
    app_streaming_set(&job, &how);
    if (maps_index && (!is_indexed || !app_streaming_has_files(how.variant))) {
        app_fail_usage("--map-index needs --indexed, and --variant full, volume or overlap");
    }

    purchases all = {};
    uint64_t count = app_size_items(common.size, LINE_BYTES, 100000, 1, UINT32_MAX);
    if (common.input != NULL) {
        read_purchases(&all, common.input, columns);
        count = common.size.value != 0 ? count : all.count;
    } else {
        generate_purchases(&all, count < 100000 ? count : 100000, common.seed);
    }
    aliases customers, merchants;
    start_aliases(&customers, &all, false, common.seed);
    start_aliases(&merchants, &all, true, common.seed + 1);
    payments text;
    write_payments(&text, &all, count, is_indexed, common.seed, &customers, &merchants);

    job_object object = {};
    states state = {};
    object.all = &text;
    object.maps_index = maps_index;
    object.task.search.target = choose_target(&all, merchant);
    object.task.blocks = (unsigned)how.blocks;
    object.task.threads = (unsigned)how.threads;
    start_search(&state, &object, how.variant, customers.count, merchants.count);
    job.records = text.text;
    job.count = is_indexed ? count : text.bytes;
    job.record_bytes = 1;
    job.starts = text.starts;
    job.is_text = !is_indexed;
    job.launch = launch;
    job.on_host = on_host;
    job.object = &object;
    app_streaming_times times = {};
    app_streaming_kept kept = {};
    app_streaming_keep(&job, &kept, &how);
    run_passes(&job, &object, how.variant, &times);
    app_streaming_let_go(&job);
    void *mapped_index = (void *)object.task.index;
    uint64_t found;
    app_table_entry *cards = app_table_take(&state.customers, &found, "--size");
    uint32_t *visits = (uint32_t *)app_state_copy(&state.visits);
    printf("purchases  %s: %s of %s customers at %s merchants\n", all.title, app_count(all.count),
           app_count(all.customers), app_count(all.merchants));
    printf("payments   %s lines, %s bytes, %s customers, %s merchants\n", app_count(count),
           app_count(text.bytes), app_count(customers.count), app_count(merchants.count));
    printf("target     terminal %08u with %s customers\n", object.task.search.target,
           app_count(found));
    print_merchants(visits, &all, &merchants, object.task.search.target, top);
    app_streaming_report(&job, how.variant, &times);
    uint64_t different = 0;
    if (common.check) {
        states serial = {};
        app_streaming_times ignored = {};
        uint64_t serial_found;
        start_search(&serial, &object, APP_STREAMING_SERIAL, customers.count, merchants.count);
        run_passes(&job, &object, APP_STREAMING_SERIAL, &ignored);
        app_table_entry *serial_cards = app_table_take(&serial.customers, &serial_found, "--size");
        different = app_table_compare(cards, found, serial_cards, serial_found);
        for (uint32_t m = 0; m < merchants.count; m++) {
            different += visits[m] != object.task.search.visits[m];
        }
        printf("check      customers and visits against a serial search: %s, %s differ\n",
               different == 0 ? "equal" : "DIFFERENT", app_count(different));
        free(serial_cards);
        free_search(&serial);
    }
    if (maps_index) {
        check(streamingFree(mapped_index), "streamingFree");
    }
    free_search(&state);
    free(cards);
    free(visits);
    free(text.text);
    free(text.starts);
    free(text.cards);
    free_aliases(&customers);
    free_aliases(&merchants);
    free(all.row);
    app_names_free(&all.merchant_names);
    return different == 0 ? 0 : 1;
}

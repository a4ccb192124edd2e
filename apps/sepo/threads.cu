/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The host's side of comparisons: threads take slices of the records in turn and insert their pairs
 * into the table, all of which is in host memory. The code of a record is that of the kernel. Nothing
 * is allocated while they run: the heap is one piece of memory.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/report.h"
#include "sepo/threads.h"

#define SLICE_RECORDS 4096u

typedef struct crew {
    const app_sepo_records *input;
    wp_table *table;
    wp_units units;
    uint64_t next; /* record */
    uint64_t skipped;
    unsigned workers;
    double wall_s, processor_s; /* of inserting */
} crew;

static wp_device *host; /* that the table is on */

static double seconds(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void *work(void *object) {
    crew *c = (crew *)object;
    const app_sepo_records *input = c->input;
    for (;;) {
        const uint64_t first = __atomic_fetch_add(&c->next, SLICE_RECORDS, __ATOMIC_RELAXED);
        if (first >= input->count) {
            return NULL;
        }
        const uint64_t more = first + SLICE_RECORDS;
        app_sepo_chunk chunk = {};
        chunk.table = wp_table_get_view(c->table);
        chunk.units = c->units;
        chunk.starts = input->starts != NULL ? input->starts + first : NULL;
        chunk.records = (const char *)input->records + (input->starts != NULL
                                                            ? input->starts[first]
                                                            : first * input->record_bytes);
        chunk.record_bytes = input->record_bytes;
        chunk.first = first;
        chunk.outer = more < input->count ? more : input->count;
        chunk.skipped = &c->skipped;
        input->kernel.on_host(&chunk, input->argument);
    }
}

static wp_status process(void *object, const wp_units *units, uint64_t first, uint64_t outer,
                         wp_error *err) {
    crew *c = (crew *)object;
    pthread_t threads[1024];
    unsigned started = 0;
    (void)first;
    (void)outer;
    (void)err;
    c->units = *units;
    c->next = 0;
    const double wall = seconds(CLOCK_MONOTONIC), processor = seconds(CLOCK_PROCESS_CPUTIME_ID);
    while (started + 1 < c->workers &&
           pthread_create(&threads[started], NULL, work, c) == 0) {
        started++;
    }
    work(c);
    for (unsigned i = 0; i < started; i++) {
        pthread_join(threads[i], NULL);
    }
    c->wall_s += seconds(CLOCK_MONOTONIC) - wall;
    c->processor_s += seconds(CLOCK_PROCESS_CPUTIME_ID) - processor;
    return WP_STATUS_OK;
}

static void check_status(wp_status status, const wp_error *err) {
    if (status != WP_STATUS_OK) {
        app_fail("%s", err->message);
    }
}

wp_table *app_sepo_insert_on_host(const wp_table_spec *spec, const app_sepo_options *options,
                                  app_sepo_records *input) {
    crew c = {};
    wp_error err = WP_ERROR_INIT;
    wp_postpone *postpone;
    wp_postpone_facts facts;
    wp_table_report report;
    c.input = input;
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    c.workers = options->workers != 0 ? (unsigned)options->workers : (unsigned)processors;
    check_status(wp_device_open("cpu", &host, &err), &err);
    const wp_postpone_spec units = {input->count, 0, input->pairs, 0};
    check_status(wp_postpone_create(host, &units, &postpone, &err), &err);
    check_status(wp_table_create(host, spec, &c.table, &err), &err);
    const wp_requester requester = {&c, process, NULL};
    const wp_status status = wp_table_run(c.table, postpone, &requester, &facts, &err);
    if (status != WP_STATUS_OK) {
        app_sepo_fail(status, &err);
    }
    input->skipped = c.skipped;
    wp_table_get_report(c.table, &report);
    fprintf(stderr, "  threads         %12s   %u of the host; %s of processor time\n",
            app_time(c.wall_s), c.workers, app_time(c.processor_s));
    fprintf(stderr, "  table           %12s   %s of heap in host memory\n",
            app_bytes(report.table_bytes), app_bytes(report.heap_bytes));
    app_value("host_threads_ns", 1e9 * c.wall_s);
    app_value("host_processor_ns", 1e9 * c.processor_s);
    wp_postpone_destroy(postpone);
    return c.table;
}

void app_sepo_close(wp_table *table) {
    wp_table_close(table);
    wp_device_close(host);
    host = NULL;
}

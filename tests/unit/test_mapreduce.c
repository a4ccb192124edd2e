/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs whose "kernel" is a loop on the host, on the CPU device: partitioners, the error for
 * each bad input, reports, results and files. */
#include "warpage/mapreduce.h"

#include <signal.h>
#include <sys/resource.h>

#include "base/alloc.h"
#include "base/file.h"
#include "mapreduce/mapreduce_job.h"
#include "test_folder.h"
#include "wp_test.h"

static wp_device *device;
static wp_error err;

/* ---- programs -------------------------------------------------------------------------------- */

typedef void (*map_function)(const wp_map_record *record, wp_emitter *to);
static map_function current_map;
static wp_table_combine current_combine;

static wp_status launch(const wp_map_batch *batch, wp_error *e) {
    const wp_status status = wp_device_wait(device, e);
    if (status != WP_STATUS_OK) return status;
    for (uint64_t thread = 0; thread < batch->count; thread++) {
        uint32_t digest = 0;
        wp_map_record record;
        wp_emitter to;
        if (!wp_map_begin(batch, thread, current_combine, &record, &to, &digest)) continue;
        do
            current_map(&record, &to);
        while (wp_map_again(batch, thread, &to, &digest));
    }
    return WP_STATUS_OK;
}

static void (*current_reduce)(wp_reduce_group *group, wp_reducer *to);
static uint64_t reduce_launches;

static wp_status launch_reduce(const wp_reduce_batch *batch, wp_error *e) {
    const wp_status status = wp_device_wait(device, e);
    if (status != WP_STATUS_OK) return status;
    reduce_launches++;
    for (uint64_t thread = 0; thread < batch->count; thread++) {
        wp_reduce_group group;
        wp_reducer to;
        assert_true(wp_reduce_begin(batch, thread, &group, &to));
        current_reduce(&group, &to);
    }
    return WP_STATUS_OK;
}

static const wp_mapreduce_program program = {"test", launch, false, NULL};
static const wp_mapreduce_program program_with = {"test", launch, true, NULL};
static const wp_mapreduce_program program_groups = {"test", launch, false, launch_reduce};

/* (first letter, 1) for each word of a line. */
static void letters(const wp_map_record *r, wp_emitter *to) {
    const uint64_t one = 1;
    for (uint32_t i = 0; i < r->bytes; i++)
        if (r->data[i] != ' ' && (i == 0 || r->data[i - 1] == ' '))
            wp_emit(to, r->data + i, 1, &one, sizeof one);
}

/* (record, its number). */
static void whole(const wp_map_record *r, wp_emitter *to) {
    const uint64_t number = r->number;
    wp_emit(to, r->data, r->bytes, &number, sizeof number);
}

static uint32_t restless_runs, map_runs;
static void restless(const wp_map_record *r, wp_emitter *to) {
    const uint64_t one = 1;
    const uint32_t pairs = r->number == 2 ? 1 + ++restless_runs : 1;
    for (uint32_t i = 0; i < pairs; i++)
        wp_emit(to, "k", 1, &one, sizeof one);
}

static void fickle(const wp_map_record *r, wp_emitter *to) {
    const uint64_t value = r->number == 1 ? ++restless_runs : 7;
    wp_emit(to, "k", 1, &value, sizeof value);
    wp_emit(to, "k", 1, &value, sizeof value);
}

static void moody(const wp_map_record *r, wp_emitter *to) {
    const uint64_t value = ++restless_runs;
    wp_emit(to, r->data, r->bytes, &value, sizeof value);
}

static void sizes_differ(const wp_map_record *r, wp_emitter *to) {
    const uint64_t value = 1;
    wp_emit(to, "k", 1, &value, r->number == 3 ? 4 : 8);
}

static void many(const wp_map_record *r, wp_emitter *to) {
    for (uint64_t i = 0; i < 5000; i++) {
        const uint64_t key = r->number * 5000 + i;
        wp_emit(to, &key, sizeof key, &key, sizeof key);
    }
}

static wp_mapreduce_spec over(const char *text, wp_partitioner partitioner, map_function map) {
    wp_mapreduce_spec spec = WP_MAPREDUCE_SPEC_INIT;
    spec.program = &program;
    spec.partitioner = partitioner;
    spec.memory = text;
    spec.memory_bytes = strlen(text);
    spec.table.bucket_count = 64;
    spec.table.heap_bytes = 1 << 16;
    spec.is_ordered = true;
    current_map = map;
    current_combine = WP_TABLE_NO_CALLBACK;
    return spec;
}

static void assert_keys(const wp_mapreduce *job, const char *const *keys, uint64_t count) {
    wp_mapreduce_cursor cursor = {0};
    wp_table_pair pair;
    uint64_t i = 0;
    for (; wp_mapreduce_next(job, &cursor, &pair); i++) {
        assert_true(i < count);
        assert_u64(pair.key_bytes, strlen(keys[i]));
        assert_memory_equal(pair.key, keys[i], pair.key_bytes);
    }
    assert_u64(i, count);
    assert_u64(wp_mapreduce_pair_count(job), count);
}

static void assert_records(const char *text, wp_partitioner partitioner, const char *const *records,
                           uint64_t count) {
    wp_mapreduce *job;
    const wp_mapreduce_spec spec = over(text, partitioner, whole);
    assert_status_ok(wp_mapreduce_run(device, &spec, &job, &err), &err);
    assert_keys(job, records, count);
    wp_mapreduce_close(job);
}

static void assert_fails(const wp_mapreduce_spec *spec, wp_status status, const char *message) {
    wp_mapreduce *job;
    assert_status_fails(wp_mapreduce_run(device, spec, &job, &err), status, &err, message);
    assert_null(job);
}

/* ---- partitioners ---------------------------------------------------------------------------- */

static void lines_lose_their_ends(void **state) {
    (void)state;
    assert_records("b\nc d\r\n\na", wp_partition_lines(), (const char *[]){"", "a", "b", "c d"}, 4);
}

static void records_of_fixed_length_follow_one_another(void **state) {
    (void)state;
    assert_records("cdab", wp_partition_fixed(2), (const char *[]){"ab", "cd"}, 2);
    wp_mapreduce_spec spec = over("cdabx", wp_partition_fixed(2), whole);
    assert_fails(&spec, WP_STATUS_PARSE, "the input, record 3 (at byte 4): the file ends within");
}

static void records_with_a_size_are_as_long_as_it_says(void **state) {
    (void)state;
    static const uint32_t sizes[] = {9, 4};
    char text[32];
    memcpy(text, &sizes[0], 4);
    memcpy(text + 4, "hello", 5);
    memcpy(text + 9, &sizes[1], 4);
    wp_mapreduce_spec spec = over("", wp_partition_sized(), whole);
    wp_mapreduce *job;
    wp_mapreduce_cursor cursor = {0};
    wp_table_pair pair;
    spec.memory = text;
    spec.memory_bytes = 13;
    assert_status_ok(wp_mapreduce_run(device, &spec, &job, &err), &err);
    assert_u64(wp_mapreduce_pair_count(job), 2);
    assert_true(wp_mapreduce_next(job, &cursor, &pair)); /* ordered by its bytes: 4 first */
    assert_u64(pair.key_bytes, 4);
    assert_true(wp_mapreduce_next(job, &cursor, &pair));
    assert_u64(pair.key_bytes, 9);
    assert_memory_equal(pair.key, text, 9);
    wp_mapreduce_close(job);
    spec.memory_bytes = 12;
    assert_fails(&spec, WP_STATUS_PARSE, "record 2 (at byte 9): the input ends within the size");
    spec.memory_bytes = 8;
    assert_fails(&spec, WP_STATUS_PARSE, "record 1 (at byte 0): the input ends within a record");
    memset(text, 0, 4);
    assert_fails(&spec, WP_STATUS_PARSE, "less than its own 4 bytes");
}

static void sequences_of_fasta_keep_their_lines(void **state) {
    (void)state;
    assert_records("\n>b\nAC\nGT\n\n>a\r\nTT\r\n", wp_partition_fasta(),
                   (const char *[]){">a\r\nTT", ">b\nAC\nGT"}, 2);
    wp_mapreduce_spec spec = over("AC\n", wp_partition_fasta(), whole);
    assert_fails(&spec, WP_STATUS_PARSE, "record 1 (at byte 0): a FASTA file begins with '>'");
}

static void reads_of_fastq_have_four_lines(void **state) {
    (void)state;
    /* A quality line may begin with '@'. */
    assert_records("@r2\nAC\n+\n@I\n@r1\r\nG\r\n+r1\r\nI", wp_partition_fastq(),
                   (const char *[]){"@r1\r\nG\r\n+r1\r\nI", "@r2\nAC\n+\n@I"}, 2);
    wp_mapreduce_spec spec = over("@r\nAC\n+\nI\n", wp_partition_fastq(), whole);
    assert_fails(&spec, WP_STATUS_PARSE, "a read has a different number of bases and qualities");
    spec = over("@r\nAC\n+\nII\n@s\nA\n", wp_partition_fastq(), whole);
    assert_fails(&spec, WP_STATUS_PARSE, "record 2 (at byte 11): the file ends within a read");
    spec = over("@r\nAC\n-\nII\n", wp_partition_fastq(), whole);
    assert_fails(&spec, WP_STATUS_PARSE, "the third line of a read begins with '+'");
}

/* Records end with a semicolon. */
static wp_cut_answer cut_own(const wp_partitioner *p, const char *text, uint64_t bytes,
                             wp_cut *out) {
    const char *end = memchr(text, (int)p->number, bytes);
    if (end == NULL) return WP_CUT_END;
    out->bytes = (uint64_t)(end - text);
    out->used = out->bytes + 1;
    return WP_CUT_RECORD;
}

static wp_cut_answer cut_outside(const wp_partitioner *p, const char *text, uint64_t bytes,
                                 wp_cut *out) {
    (void)p;
    (void)text;
    out->bytes = out->used = bytes + 1;
    return WP_CUT_RECORD;
}

static void a_program_can_bring_its_partitioner(void **state) {
    (void)state;
    const wp_partitioner own = {.cut = cut_own, .number = ';'};
    assert_records("b;a;rest", own, (const char *[]){"a", "b"}, 2);
    wp_mapreduce_spec spec = over("abc", own, whole);
    assert_fails(&spec, WP_STATUS_INVALID, "the partitioner found no record in the input");
    spec = over("abc", (wp_partitioner){.cut = cut_outside}, whole);
    assert_fails(&spec, WP_STATUS_INVALID, "the partitioner cut outside of the 3 bytes");
}

/* ---- results --------------------------------------------------------------------------------- */

static void values_are_combined_as_they_are_emitted(void **state) {
    (void)state;
    wp_mapreduce *job;
    const wp_mapreduce_spec spec = over("b a\nb\n\nc b\n", wp_partition_lines(), letters);
    assert_status_ok(wp_mapreduce_run(device, &spec, &job, &err), &err);
    assert_keys(job, (const char *[]){"a", "b", "c"}, 3);
    wp_table_cursor cursor = {0};
    wp_table_pair pair;
    assert_true(wp_table_find_next(wp_mapreduce_table(job), "b", 1, &cursor, &pair));
    uint64_t count;
    memcpy(&count, pair.value, sizeof count);
    assert_u64(count, 3);
    wp_mapreduce_report report;
    wp_mapreduce_get_report(job, &report);
    assert_u64(report.records, 4);
    assert_u64(report.pairs, 5);
    assert_u64(report.input_bytes, 11);
    assert_u64(report.passes, 1);
    assert_u64(report.sent_again_bytes, 0);
    wp_mapreduce_close(job);
}

static void add(const void *value, void *existing) {
    uint64_t a, b;
    memcpy(&a, value, 8);
    memcpy(&b, existing, 8);
    b += a * 10;
    memcpy(existing, &b, 8);
}

static void a_combine_function_is_called(void **state) {
    (void)state;
    wp_mapreduce *job;
    wp_mapreduce_spec spec = over("a a a", wp_partition_lines(), letters);
    spec.program = &program_with;
    current_combine = add;
    assert_status_ok(wp_mapreduce_run(device, &spec, &job, &err), &err);
    wp_mapreduce_cursor cursor = {0};
    wp_table_pair pair;
    assert_true(wp_mapreduce_next(job, &cursor, &pair));
    uint64_t count;
    memcpy(&count, pair.value, sizeof count);
    assert_u64(count, 21);
    wp_mapreduce_close(job);
}

/* Joins the numbers of a key to a text; drops keys that occur once. */
static wp_status join(void *object, const wp_group *group, wp_mapreduce *job, wp_error *e) {
    char text[100] = "";
    if (object != NULL) return WP_STATUS_UNSUPPORTED;
    if (group->count == 1) return WP_STATUS_OK;
    for (uint64_t i = 0; i < group->count; i++) {
        uint64_t number;
        memcpy(&number, group->values[i].data, sizeof number);
        const size_t length = strlen(text);
        (void)snprintf(text + length, sizeof text - length, "%s%llu", i == 0 ? "" : ",",
                       (unsigned long long)number);
    }
    return wp_reduce_set(job, text, strlen(text), e);
}

static void finished_groups_are_reduced(void **state) {
    (void)state;
    (void)state;
    const char *folder = test_folder();
    char path[300];
    wp_mapreduce *job;
    wp_mapreduce_spec spec = over("x\ny\nx\nz\ny\nx", wp_partition_lines(), whole);
    spec.mode = WP_MAP_GROUP;
    spec.reduce = join;
    assert_status_ok(wp_mapreduce_run(device, &spec, &job, &err), &err);
    assert_keys(job, (const char *[]){"x", "y"}, 2);
    (void)snprintf(path, sizeof path, "%s/joined", folder);
    assert_status_ok(wp_mapreduce_write(job, path, WP_OUTPUT_TEXT, &err), &err);
    char *text;
    size_t bytes;
    assert_status_ok(wpi_file_read(path, &text, &bytes, &err), &err);
    assert_string_equal(text, "x\t0,2,5\ny\t1,4\n");
    wpi_free(text);
    assert_status_fails(wp_mapreduce_write(job, path, WP_OUTPUT_NUMBERS, &err), WP_STATUS_INVALID,
                        &err, "a value has 5 bytes; numbers have 4 or 8");
    assert_status_fails(wp_mapreduce_write(job, path, WP_OUTPUT_TABLE, &err), WP_STATUS_INVALID,
                        &err, "a table has the pairs as they were emitted");
    wp_mapreduce_close(job);
    spec.reduce_object = &spec; /* the function fails */
    assert_int_equal(wp_mapreduce_run(device, &spec, &job, &err), WP_STATUS_UNSUPPORTED);
}

static uint64_t digit_bytes;

/* The numbers of a key, below 10, each `digit_bytes` times; drops keys that occur once. */
static void spell(wp_reduce_group *group, wp_reducer *to) {
    const char *value;
    uint64_t bytes, number;
    if (group->count == 1) return;
    char *text = wp_reduce_take(to, group->count * digit_bytes);
    if (text == NULL) return;
    while ((value = wp_reduce_next(group, &bytes)) != NULL) {
        assert_u64(bytes, sizeof number);
        memcpy(&number, value, sizeof number);
        memset(text, '0' + (int)number, digit_bytes);
        text += digit_bytes;
    }
}

static void take_twice(wp_reduce_group *group, wp_reducer *to) {
    (void)group;
    assert_non_null(wp_reduce_take(to, 0));
    assert_null(wp_reduce_take(to, 0));
}

static void finished_groups_are_reduced_by_a_kernel(void **state) {
    (void)state;
    wp_mapreduce *job;
    wp_mapreduce_spec spec = over("x\ny\nx\nz\ny\nx", wp_partition_lines(), whole);
    spec.program = &program_groups;
    spec.mode = WP_MAP_GROUP;
    current_reduce = spell;
    /* Values that fit a chunk together; then one beside the groups; then none. */
    spec.chunk_bytes = 1024;
    for (digit_bytes = 1; digit_bytes <= 350; digit_bytes += 349) {
        reduce_launches = 0;
        assert_status_ok(wp_mapreduce_run(device, &spec, &job, &err), &err);
        assert_keys(job, (const char *[]){"x", "y"}, 2);
        wp_mapreduce_cursor cursor = {0};
        wp_table_pair pair;
        for (int k = 0; k < 2; k++) {
            const char *const digits = k == 0 ? "025" : "14";
            assert_true(wp_mapreduce_next(job, &cursor, &pair));
            assert_u64(pair.value_bytes, strlen(digits) * digit_bytes);
            for (uint64_t i = 0; i < pair.value_bytes; i++)
                assert_int_equal(((const char *)pair.value)[i], digits[i / digit_bytes]);
        }
        assert_u64(reduce_launches, digit_bytes == 1 ? 1 : 2);
        assert_status_fails(wp_mapreduce_write(job, "table", WP_OUTPUT_TABLE, &err),
                            WP_STATUS_INVALID, &err, "a table has the pairs as they were emitted");
        wp_mapreduce_close(job);
    }
    digit_bytes = 1000;
    assert_fails(&spec, WP_STATUS_INVALID,
                 "the reduced value of a group of 3 values takes 3000 bytes, and a chunk has");
    current_reduce = take_twice;
    assert_fails(&spec, WP_STATUS_INVALID, "the reduce kernel took two values for a group");
    spec.reduce = join;
    assert_fails(&spec, WP_STATUS_INVALID, "test reduces groups by a kernel");
    spec.reduce = NULL;
    spec.mode = WP_MAP_REDUCE;
    assert_fails(&spec, WP_STATUS_INVALID, "a reduce function gets groups");
    char text[4000];
    for (size_t i = 0; i < sizeof text; i++)
        text[i] = i % 2 == 0 ? 'x' : '\n';
    text[sizeof text - 1] = '\0';
    spec = over(text, wp_partition_lines(), whole);
    spec.program = &program_groups;
    spec.mode = WP_MAP_GROUP;
    spec.chunk_bytes = 64;
    assert_fails(&spec, WP_STATUS_INVALID, "a group of 2000 values takes 32008 bytes, more than");
}

/* ---- passes ---------------------------------------------------------------------------------- */

static uint64_t progress_calls, progress_passes;
static void note_progress(void *object, const wp_mapreduce_progress *p) {
    assert_ptr_equal(object, &progress_calls);
    assert_true(p->records_done <= p->records);
    progress_calls++;
    progress_passes = p->pass;
}

/* 20 records of 5,000 pairs each: one record's pairs alone exceed the heap. */
static void pairs_of_a_record_may_exceed_the_heap(void **state) {
    (void)state;
    wp_mapreduce *job;
    wp_mapreduce_spec spec =
        over("1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n13\n14\n15\n16\n17\n18\n19\n20",
             wp_partition_lines(), many);
    spec.progress = note_progress;
    spec.progress_object = &progress_calls;
    assert_status_ok(wp_mapreduce_run(device, &spec, &job, &err), &err);
    assert_u64(wp_mapreduce_pair_count(job), 100000);
    wp_mapreduce_report report;
    wp_mapreduce_pass pass;
    wp_mapreduce_get_report(job, &report);
    assert_true(report.passes > 8);
    assert_u64(report.passes, progress_passes);
    assert_u64(report.pairs, 100000);
    uint64_t pairs = 0, sent = 0, records = 0, heap = 0, unused = 0;
    uint64_t map_ns = 0, heap_ns = 0;
    for (uint64_t i = 1; wp_mapreduce_get_pass(job, i, &pass); i++) {
        pairs += pass.pairs_done;
        sent += pass.sent_bytes;
        records += pass.records_done;
        heap += pass.heap_bytes;
        unused += pass.unused_bytes;
        map_ns += pass.map_ns;
        heap_ns += pass.heap_ns;
        assert_true(pass.map_ns != 0 && pass.copy_ns != 0 && pass.heap_ns != 0);
        assert_u64(pass.pairs_postponed, 100000 - pairs);
        assert_u64(pass.records_postponed, 20 - records);
    }
    assert_u64(pairs, 100000);
    assert_u64(records, 20);
    assert_u64(sent, report.sent_bytes);
    assert_u64(heap, report.table.table_bytes);
    assert_u64(unused, report.table.unused_bytes);
    assert_u64(map_ns, report.map_ns);
    assert_u64(heap_ns, report.heap_ns);
    char text[100];
    assert_true(wp_mapreduce_explain(job, text, sizeof text) > 100 * report.passes);
    wp_mapreduce_close(job);
}

/* A heap of all free memory is mostly empty; so must be the pages that groups have taken. */
static void pages_of_a_heap_of_default_size_are_small(void **state) {
    (void)state;
    wp_mapreduce *job;
    wp_mapreduce_report report;
    uint64_t free_bytes, total_bytes;
    wp_mapreduce_spec spec = over("a b\nc", wp_partition_lines(), letters);
    spec.table.heap_bytes = spec.table.page_bytes = 0;
    wp_memory_info(device, &free_bytes, &total_bytes);
    assert_status_ok(wp_mapreduce_run(device, &spec, &job, &err), &err);
    wp_mapreduce_get_report(job, &report);
    assert_true(report.table.page_bytes >= 16 << 10);
    assert_true(report.table.page_bytes == 16 << 10 ||
                report.table.page_bytes < 2 * (free_bytes >> 20));
    wp_mapreduce_close(job);
}

/* A chunk whose bits hold one of its records' pairs at a time. */
static void records_without_room_for_bits_go_again_in_the_same_pass(void **state) {
    (void)state;
    wp_mapreduce *job;
    wp_mapreduce_report report;
    for (uint32_t pairs_max = 0; pairs_max <= 5000; pairs_max += 5000) {
        wp_mapreduce_spec spec = over("1\n2\n3\n4\n5", wp_partition_lines(), many);
        spec.chunk_bytes = 5024; /* 157 + 5 words; 5,000 pairs take 157 */
        spec.pairs_max = pairs_max;
        spec.table.heap_bytes = 1 << 22;
        assert_status_ok(wp_mapreduce_run(device, &spec, &job, &err), &err);
        wp_mapreduce_get_report(job, &report);
        assert_u64(report.passes, 1);
        assert_u64(report.pairs, 25000);
        assert_u64(wp_mapreduce_pair_count(job), 25000);
        wp_mapreduce_pass pass;
        assert_true(wp_mapreduce_get_pass(job, 1, &pass));
        assert_u64(pass.records_done, 5);
        assert_true(pass.chunks > 2);
        wp_mapreduce_close(job);
    }
}

/* ---- bad input ------------------------------------------------------------------------------- */

static void a_specification_must_be_complete(void **state) {
    (void)state;
    wp_mapreduce_spec spec = over("a", wp_partition_lines(), letters);
    wp_mapreduce *job;
    assert_status_fails(wp_mapreduce_run(NULL, &spec, &job, &err), WP_STATUS_INVALID, &err,
                        "there is no device");
    spec.partitioner.cut = NULL;
    assert_fails(&spec, WP_STATUS_INVALID, "no partitioner; set one");
    spec = over("a", wp_partition_lines(), letters);
    spec.program = NULL;
    assert_fails(&spec, WP_STATUS_INVALID, "no program; set it to what WP_MAPREDUCE made");
    spec = over("a", wp_partition_lines(), letters);
    spec.memory = NULL;
    assert_fails(&spec, WP_STATUS_INVALID, "no input");
    spec = over("", wp_partition_lines(), letters);
    assert_fails(&spec, WP_STATUS_INVALID, "the input is empty");
    spec = over("a", wp_partition_lines(), letters);
    spec.mode = WP_MAP_GROUP;
    spec.program = &program_with;
    assert_fails(&spec, WP_STATUS_INVALID, "combines values, which WP_MAP_GROUP does not");
    spec = over("a", wp_partition_lines(), letters);
    spec.reduce = join;
    assert_fails(&spec, WP_STATUS_INVALID, "a reduce function gets groups");
    spec = over("a", wp_partition_lines(), letters);
    spec.table.combiner = WP_TABLE_CALLBACK;
    assert_fails(&spec, WP_STATUS_INVALID, "test has no combine function");
    spec = over("a", wp_partition_lines(), letters);
    spec.threads = 2000;
    assert_fails(&spec, WP_STATUS_INVALID, "blocks of 2000 threads");
}

static void a_record_that_emits_differently_is_named(void **state) {
    (void)state;
    wp_mapreduce_spec spec = over("a\nb\nc\nd", wp_partition_lines(), restless);
    restless_runs = 0;
    assert_fails(&spec, WP_STATUS_INVALID,
                 "the input, record 3 (at byte 4): map emitted 2 pairs, and 3 when it ran again");
    spec = over("a\nb\nc\nd", wp_partition_lines(), fickle);
    restless_runs = 0;
    assert_fails(&spec, WP_STATUS_INVALID, "record 2 (at byte 2): map emitted other pairs");
    spec = over("a\nb", wp_partition_lines(), moody); /* in the second pass */
    spec.table.heap_bytes = spec.table.page_bytes = 64;
    restless_runs = 0;
    assert_fails(&spec, WP_STATUS_INVALID, "record 2 (at byte 2): map emitted other pairs");
    assert_int_equal(restless_runs, 3);
}

/* Five records of one byte, of which some emit more pairs than there are bits for at once. */
static void few_and_many(const wp_map_record *r, wp_emitter *to) {
    map_runs++;
    for (uint64_t i = 0; i < (r->number % 2 == 0 ? 1 : 40); i++) {
        const uint64_t key = r->number * 40 + i;
        wp_emit(to, &key, sizeof key, &key, sizeof key);
    }
}

static void map_runs_twice_only_where_there_are_more_pairs_than_expected(void **state) {
    (void)state;
    wp_mapreduce *job;
    wp_mapreduce_spec spec = over("1\n2\n3\n4\n5", wp_partition_lines(), few_and_many);
    map_runs = 0;
    assert_status_ok(wp_mapreduce_run(device, &spec, &job, &err), &err);
    assert_u64(map_runs, 5 + 2);
    assert_u64(wp_mapreduce_pair_count(job), 3 + 80);
    wp_mapreduce_close(job);
    spec.pairs_max = 40;
    map_runs = 0;
    assert_status_ok(wp_mapreduce_run(device, &spec, &job, &err), &err);
    assert_u64(map_runs, 5);
    wp_mapreduce_close(job);
}

static void a_record_with_too_many_pairs_is_named(void **state) {
    (void)state;
    wp_mapreduce_spec spec = over("a\nb c d\ne", wp_partition_lines(), letters);
    spec.pairs_max = 2;
    assert_fails(&spec, WP_STATUS_INVALID,
                 "record 2 (at byte 2): map emitted 3 pairs, more than the 2 of pairs_max");
    spec = over("1\n2", wp_partition_lines(), many);
    spec.chunk_bytes = 1024;
    assert_fails(&spec, WP_STATUS_INVALID, "map emits 5000 pairs; a chunk of 1024 bytes allows");
}

static void a_record_longer_than_a_chunk_is_named(void **state) {
    (void)state;
    char text[301];
    memset(text, 'x', 300);
    memcpy(text, "ab\n", 3);
    text[300] = '\0';
    wp_mapreduce_spec spec = over(text, wp_partition_lines(), whole);
    spec.chunk_bytes = 256;
    assert_fails(&spec, WP_STATUS_INVALID,
                 "the input, record 2 (at byte 3) has 297 bytes, more than a chunk of 256");
}

static void the_table_s_refusals_name_the_record(void **state) {
    (void)state;
    char text[3001];
    memset(text, 'x', 3000);
    text[10] = '\n';
    text[3000] = '\0';
    wp_mapreduce_spec spec = over(text, wp_partition_lines(), whole);
    spec.table.heap_bytes = 1024;
    spec.table.page_bytes = 256;
    assert_fails(
        &spec, WP_STATUS_INVALID,
        "the input, record 2 (at byte 11): table: a pair takes 3024 bytes and the heap has "
        "1024");
    spec = over("a\nb\nc\nd\ne", wp_partition_lines(), sizes_differ);
    assert_fails(
        &spec, WP_STATUS_INVALID,
        "record 4 (at byte 6): table: a value of 4 bytes was to be combined with one of 8");
}

static void files_are_read_and_named(void **state) {
    (void)state;
    const char *folder = test_folder();
    char one[300], two[300];
    wp_mapreduce *job;
    (void)snprintf(one, sizeof one, "%s/one", folder);
    (void)snprintf(two, sizeof two, "%s/two", folder);
    const char *paths[] = {one, two};
    wp_mapreduce_spec spec = over("", wp_partition_files(), whole);
    spec.memory = NULL;
    spec.paths = paths;
    spec.path_count = 2;
    assert_status_ok(wpi_file_write(one, "b\nc", 3, &err), &err);
    assert_fails(&spec, WP_STATUS_NOT_FOUND, two);
    assert_status_ok(wpi_file_write(two, "", 0, &err), &err);
    assert_fails(&spec, WP_STATUS_INVALID, "/two is empty");
    assert_status_ok(wpi_file_write(two, "a\n", 2, &err), &err);
    assert_status_ok(wp_mapreduce_run(device, &spec, &job, &err), &err);
    assert_keys(job, (const char *[]){"a\n", "b\nc"}, 2);
    wp_mapreduce_close(job);
    spec = over("", wp_partition_fixed(2), whole); /* a record ends with its file */
    spec.paths = paths;
    spec.path_count = 2;
    assert_fails(&spec, WP_STATUS_PARSE, "/one, record 2 (at byte 2): the file ends within");
}

static void damaged_packed_files_are_refused(void **state) {
    static const unsigned char gzip[] = {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 0x4b, 0x4c},
                               zstd[] = {0x28, 0xb5, 0x2f, 0xfd, 0x24, 5, 0x29};
    (void)state;
    const char *folder = test_folder();
    char path[300];
    (void)snprintf(path, sizeof path, "%s/packed", folder);
    const char *paths[] = {path};
    wp_mapreduce_spec spec = over("", wp_partition_lines(), whole);
    spec.paths = paths;
    spec.path_count = 1;
    assert_status_ok(wpi_file_write(path, gzip, sizeof gzip, &err), &err);
    assert_fails(&spec, WP_STATUS_PARSE, "/packed");
    assert_status_ok(wpi_file_write(path, zstd, sizeof zstd, &err), &err);
    assert_fails(&spec, WP_STATUS_PARSE, "/packed");
}

static void a_file_that_cannot_be_written_is_not_there(void **state) {
    (void)state;
    const char *folder = test_folder();
    char path[300];
    wp_mapreduce *job;
    wp_mapreduce_spec spec = over("1\n2\n3\n4\n5", wp_partition_lines(), many);
    spec.table.heap_bytes = 1 << 22;
    assert_status_ok(wp_mapreduce_run(device, &spec, &job, &err), &err);
    (void)snprintf(path, sizeof path, "%s/none/out", folder);
    assert_status_fails(wp_mapreduce_write(job, path, WP_OUTPUT_NUMBERS, &err), WP_STATUS_IO, &err,
                        "cannot write the result to");
    (void)snprintf(path, sizeof path, "%s/out", folder);
    struct rlimit old, small;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    small = old;
    small.rlim_cur = 1000;
    (void)signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    const wp_status status = wp_mapreduce_write(job, path, WP_OUTPUT_NUMBERS, &err);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    assert_int_equal(status, WP_STATUS_IO);
    assert_false(wpi_file_exists(path));
    wp_mapreduce_close(job);
}

/* Each allocation fails once; nothing leaks (the address sanitizer looks). */
static void each_allocation_may_fail(void **state) {
    (void)state;
    digit_bytes = 1;
    current_reduce = spell;
    bool is_on_host = true;
    for (uint64_t n = 1;; n++) {
        wp_mapreduce *job;
        wp_mapreduce_spec spec = over("x\ny\nx\nz\ny\nx", wp_partition_lines(), whole);
        spec.mode = WP_MAP_GROUP;
        spec.reduce = is_on_host ? join : NULL;
        if (!is_on_host) spec.program = &program_groups;
        wpi_alloc_fail_at(n);
        const wp_status status = wp_mapreduce_run(device, &spec, &job, &err);
        wpi_alloc_fail_at(0);
        if (status == WP_STATUS_OK) assert_keys(job, (const char *[]){"x", "y"}, 2);
        wp_mapreduce_close(job);
        assert_true(n < 500);
        if (status != WP_STATUS_OK) continue;
        if (!is_on_host) break;
        is_on_host = false;
        n = 0;
    }
}

static int start(void **state) {
    (void)state;
    return wp_device_open("cpu", &device, &err) != WP_STATUS_OK;
}

static int end(void **state) {
    (void)state;
    wp_device_close(device);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_lose_their_ends),
        cmocka_unit_test(records_of_fixed_length_follow_one_another),
        cmocka_unit_test(records_with_a_size_are_as_long_as_it_says),
        cmocka_unit_test(sequences_of_fasta_keep_their_lines),
        cmocka_unit_test(reads_of_fastq_have_four_lines),
        cmocka_unit_test(a_program_can_bring_its_partitioner),
        cmocka_unit_test(values_are_combined_as_they_are_emitted),
        cmocka_unit_test(a_combine_function_is_called),
        cmocka_unit_test(finished_groups_are_reduced),
        cmocka_unit_test(finished_groups_are_reduced_by_a_kernel),
        cmocka_unit_test(pairs_of_a_record_may_exceed_the_heap),
        cmocka_unit_test(pages_of_a_heap_of_default_size_are_small),
        cmocka_unit_test(records_without_room_for_bits_go_again_in_the_same_pass),
        cmocka_unit_test(a_specification_must_be_complete),
        cmocka_unit_test(a_record_that_emits_differently_is_named),
        cmocka_unit_test(map_runs_twice_only_where_there_are_more_pairs_than_expected),
        cmocka_unit_test(a_record_with_too_many_pairs_is_named),
        cmocka_unit_test(a_record_longer_than_a_chunk_is_named),
        cmocka_unit_test(the_table_s_refusals_name_the_record),
        cmocka_unit_test(files_are_read_and_named),
        cmocka_unit_test(damaged_packed_files_are_refused),
        cmocka_unit_test(a_file_that_cannot_be_written_is_not_there),
        cmocka_unit_test(each_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, start, end);
}

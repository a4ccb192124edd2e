/* SPDX-License-Identifier: Apache-2.0 */
/* PageRank in rounds of MapReduce: the result of a round is the input of the next one.
 *     wpcc -O2 pagerank_mapreduce.cu -o pagerank_mapreduce && ./pagerank_mapreduce
 * With arguments: FILE, a graph in lines "from to", and the number of rounds. HEAP=BYTES in the environment is the
 * device memory for pairs: less than they need is enough.
 *
 * First round: an edge makes a pair (from, to), and (to, nothing), so that pages without links are there, too; a key
 * with its list becomes a page. Further rounds: a page sends each page that it links to an equal share of its rank;
 * shares are added up. Ranks are whole numbers of 2^-50, so that all devices give the same ones. */
#include <cuda_runtime.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <warpage/cudart.h>
#include <warpage/mapreduce.h>

#define ONE (UINT64_C(1) << 50)
#define DAMPED(rank) ((rank) * 85 / 100)

/* A record of the further rounds; behind it the keys of the pages that it links to. */
typedef struct page {
    uint32_t bytes; /* of the record: for wp_partition_sized */
    uint32_t count; /* links */
    uint32_t key, unused;
    uint64_t rank;
} page;

/* Keys have their highest byte first: results that are ordered by key are so by number. */
static __host__ __device__ uint32_t swap_bytes(uint32_t number) {
    return number >> 24 | (number >> 8 & 0xff00) | (number & 0xff00) << 8 | number << 24;
}

/* ---- the first round: edges to pages ---- */

static __device__ void map_edge(const wp_map_record *line, wp_emitter *to) {
    uint32_t at = 0, keys[2] = {0, 0};
    for (int end = 0; end < 2; end++) {
        const uint32_t first = at;
        for (; at < line->bytes && (unsigned)(line->data[at] - '0') < 10; at++)
            keys[end] = keys[end] * 10 + (unsigned)(line->data[at] - '0');
        if (at == first) return; /* a comment, or an empty line */
        keys[end] = swap_bytes(keys[end]);
        while (at < line->bytes && (line->data[at] == ' ' || line->data[at] == '\t')) at++;
    }
    wp_emit(to, &keys[0], sizeof keys[0], &keys[1], sizeof keys[1]);
    wp_emit(to, &keys[1], sizeof keys[1], &keys[0], 0);
}

WP_MAPREDUCE(edges, map_edge)

static wp_status make_page(void *, const wp_group *group, wp_mapreduce *job, wp_error *err) {
    page *made = (page *)calloc(1, sizeof *made + (group->count + 1) * sizeof(uint32_t));
    if (made == NULL) return WP_STATUS_NOMEM;
    uint32_t *links = (uint32_t *)(made + 1);
    for (uint64_t i = 0; i < group->count; i++)
        if (group->values[i].bytes != 0)
            memcpy(&links[made->count++], group->values[i].data, sizeof *links);
    memcpy(&made->key, group->key.data, sizeof made->key);
    made->bytes = sizeof *made + (made->count + made->count % 2) * sizeof *links;
    const wp_status status = wp_reduce_set(job, made, made->bytes, err);
    free(made);
    return status;
}

/* ---- further rounds: pages to ranks ---- */

static __device__ void map_page(const wp_map_record *record, wp_emitter *to) {
    const page *from = (const page *)record->data;
    const uint32_t *links = (const uint32_t *)(from + 1);
    const uint64_t share = from->count == 0 ? 0 : DAMPED(from->rank) / from->count;
    for (uint32_t i = 0; i < from->count; i++)
        wp_emit(to, &links[i], sizeof links[i], &share, sizeof share);
}

WP_MAPREDUCE(pages, map_page)

/* ---- host ---- */

static void fail(const char *problem) {
    fprintf(stderr, "pagerank_mapreduce: %s\n", problem);
    exit(1);
}

static wp_mapreduce *run(int round, wp_mapreduce_spec *spec) {
    wp_error err = WP_ERROR_INIT;
    wp_mapreduce *job;
    wp_mapreduce_report report;
    spec->is_ordered = true;
    spec->table.heap_bytes = getenv("HEAP") == NULL ? 0 : strtoull(getenv("HEAP"), NULL, 10);
    if (wp_mapreduce_run(wp_cudart_device(), spec, &job, &err) != WP_STATUS_OK) fail(err.message);
    wp_mapreduce_get_report(job, &report);
    printf("round %2d: %" PRIu64 " records, %" PRIu64 " pairs, passes: %" PRIu64 "\n", round,
           report.records, report.pairs, report.passes);
    return job;
}

/* The pages of the first round, one behind the other. */
static char *copy_pages(const wp_mapreduce *job, uint64_t *bytes) {
    wp_table_pair pair;
    wp_mapreduce_cursor count = {}, copy = {};
    uint64_t at = 0;
    for (*bytes = 0; wp_mapreduce_next(job, &count, &pair);) *bytes += pair.value_bytes;
    char *text = (char *)malloc(*bytes + 1);
    if (text == NULL) fail("not enough host memory for the pages");
    for (; wp_mapreduce_next(job, &copy, &pair); at += pair.value_bytes)
        memcpy(text + at, pair.value, pair.value_bytes);
    return text;
}

/* Gives pages their ranks, from a round's sums, which are in the same order; NULL: equal ranks. */
static void set_ranks(char *text, uint64_t bytes, uint64_t count, const wp_mapreduce *sums) {
    wp_mapreduce_cursor cursor = {};
    wp_table_pair pair;
    uint64_t kept = 0; /* rank of pages without links: all pages get a share */
    for (uint64_t at = 0; at < bytes; at += ((page *)(text + at))->bytes)
        if (((page *)(text + at))->count == 0) kept += ((page *)(text + at))->rank;
    const uint64_t least =
        sums == NULL ? ONE / count : (ONE - DAMPED(ONE) + DAMPED(kept)) / count;
    bool is_left = sums != NULL && wp_mapreduce_next(sums, &cursor, &pair);
    for (uint64_t at = 0; at < bytes; at += ((page *)(text + at))->bytes) {
        page *p = (page *)(text + at);
        uint64_t sum = 0;
        if (is_left && memcmp(pair.key, &p->key, sizeof p->key) == 0) {
            memcpy(&sum, pair.value, sizeof sum);
            is_left = wp_mapreduce_next(sums, &cursor, &pair);
        }
        p->rank = least + sum;
    }
}

static void write_ranks(const char *text, uint64_t bytes) {
    FILE *out = fopen("ranks.txt", "w");
    bool is_written = out != NULL;
    for (uint64_t at = 0; is_written && at < bytes; at += ((const page *)(text + at))->bytes) {
        const page *p = (const page *)(text + at);
        is_written = fprintf(out, "%" PRIu32 "\t%.12f\n", swap_bytes(p->key), (double)p->rank / ONE) > 0;
    }
    if (!is_written || fclose(out) != 0) fail("cannot write ranks.txt");
}

int main(int argc, char **argv) {
    static const char example[] = "1 2\n1 3\n2 3\n3 1\n4 3\n";
    const int rounds = argc > 2 ? atoi(argv[2]) : 20;
    wp_mapreduce_spec first = WP_MAPREDUCE_SPEC_INIT, next = WP_MAPREDUCE_SPEC_INIT;
    first.program = &edges;
    first.mode = WP_MAP_GROUP;
    first.reduce = make_page;
    first.partitioner = wp_partition_lines();
    first.paths = argv + 1;
    first.path_count = argc > 1 ? 1 : 0;
    first.memory = example;
    first.memory_bytes = sizeof example - 1;
    wp_mapreduce *job = run(0, &first);
    const uint64_t count = wp_mapreduce_pair_count(job);
    if (count == 0) fail("the graph has no line \"from to\"");
    uint64_t bytes;
    char *text = copy_pages(job, &bytes);
    wp_mapreduce_close(job);
    set_ranks(text, bytes, count, NULL);

    next.program = &pages;
    next.partitioner = wp_partition_sized();
    next.memory = text;
    next.memory_bytes = bytes;
    for (int round = 1; round <= rounds; round++) {
        job = run(round, &next);
        set_ranks(text, bytes, count, job);
        wp_mapreduce_close(job);
    }
    write_ranks(text, bytes);
    printf("ranks of %" PRIu64 " pages are in ranks.txt\n", count);
    free(text);
    return 0;
}

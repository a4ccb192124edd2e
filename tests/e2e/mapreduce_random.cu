/* SPDX-License-Identifier: Apache-2.0 */
/* Random programs, against the C++ library: maps that emit 0, 1, 7 or 1000 pairs of a record, records
 * and values of 0 to 64 KiB, hot keys, heaps that hold little more than the largest pair, chunks from
 * the longest record on, random postponement; sums, a combine function, groups, and groups reduced on
 * the host and by a kernel. SEED= repeats one case. */
#include <algorithm>
#include <map>
#include <string>
#include <vector>
#include <warpage/cudart.h>
#include <warpage/mapreduce.h>
#include "check.h"

enum { BYTES_MAX = 64 << 10, CASES = 10 };

static uint64_t seed, state;

__host__ __device__ static uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}
static uint64_t below(uint64_t bound) { return mix(state += 0x9e3779b97f4a7c15u) % bound; }

/* How a program maps; in memory that kernels can read, with the bytes that keys and values are made of. */
struct rules {
    uint64_t seed, distinct;
    uint32_t hot_pct, key_bytes_max, value_bytes_max, is_number, big_pct;
    unsigned char bytes[2 * BYTES_MAX];
};

__host__ __device__ static uint32_t pairs_of(const rules *r, const char *data, uint32_t bytes, uint64_t number)
{
    uint64_t x = mix(r->seed + number * 31 + bytes + (bytes == 0 ? 0 : (unsigned char)data[bytes - 1]));
    uint32_t draw = (uint32_t)(x % 100);
    return draw < 20 ? 0 : draw < 60 ? 1 : draw < 100 - r->big_pct ? 7 : 1000;
}

/* Pair `pair` of a record: slices of the rules' bytes; the key's offset is its number. */
__host__ __device__ static void make_pair(const rules *r, uint64_t number, uint32_t pairs, uint32_t pair,
                                          uint32_t *key, uint32_t *key_bytes, uint32_t *value,
                                          uint32_t *value_bytes)
{
    uint64_t draw = mix(r->seed ^ (number * 1000 + pair) * 0x9e3779b97f4a7c15u);
    uint64_t which = draw % 100 < r->hot_pct ? 0 : mix(draw) % r->distinct;
    *key = (uint32_t)(which * 3);
    *key_bytes = which == 1 ? 0 : 8 + (uint32_t)(mix(r->seed * 3 + which) % (r->key_bytes_max + 1));
    *value = (uint32_t)(mix(draw + 2) % BYTES_MAX);
    uint32_t most = pairs > 7 && r->value_bytes_max > 24 ? 24 : r->value_bytes_max;
    *value_bytes = r->is_number ? 8 : (uint32_t)(mix(draw + 1) % (most + 1));
}

__device__ static void map_record(const wp_map_record *record, wp_emitter *to)
{
    const rules *r = (const rules *)record->argument;
    uint32_t pairs = pairs_of(r, record->data, record->bytes, record->number), key, key_bytes, value, value_bytes;
    for (uint32_t pair = 0; pair < pairs; pair++) {
        make_pair(r, record->number, pairs, pair, &key, &key_bytes, &value, &value_bytes);
        wp_emit(to, r->bytes + key, key_bytes, r->bytes + value, value_bytes);
    }
}

/* Of 8 bytes: not a built-in combiner. */
__device__ static void blend(const void *value, void *existing)
{
    const unsigned char *v = (const unsigned char *)value;
    unsigned char *e = (unsigned char *)existing;
    for (int i = 0; i < 8; i++) e[i] = (unsigned char)(i % 2 ? e[i] ^ v[i] : e[i] + v[i]);
}

WP_MAPREDUCE(plain, map_record)
WP_MAPREDUCE_WITH(blended, map_record, blend)

/* The number of values, and the sum of their bytes; groups of one value are left out. */
static wp_status weigh(void *object, const wp_group *group, wp_mapreduce *job, wp_error *err)
{
    uint64_t out[2] = {group->count, 0};
    (void)object;
    for (uint64_t i = 0; i < group->count; i++)
        for (uint64_t b = 0; b < group->values[i].bytes; b++)
            out[1] += ((const unsigned char *)group->values[i].data)[b];
    return group->count == 1 ? WP_STATUS_OK : wp_reduce_set(job, out, sizeof out, err);
}

/* The same by a kernel, and behind both numbers as many bytes as there are values. */
__device__ static void weigh_there(wp_reduce_group *group, wp_reducer *to)
{
    uint64_t out[2] = {group->count, 0}, bytes;
    if (group->count == 1) return;
    char *room = wp_reduce_take(to, sizeof out + group->count);
    if (room == NULL) return;
    memset(room + sizeof out, 'x', group->count);
    while (const char *value = wp_reduce_next(group, &bytes))
        for (uint64_t b = 0; b < bytes; b++) out[1] += (unsigned char)value[b];
    memcpy(room, out, sizeof out);
}
WP_MAPREDUCE_GROUPS(weighed, map_record, weigh_there)

/* Records have their length before them. */
static wp_cut_answer cut(const wp_partitioner *, const char *text, uint64_t, wp_cut *out)
{
    uint32_t bytes;
    memcpy(&bytes, text, 4);
    out->first = 4;
    out->bytes = bytes;
    out->used = 4 + (uint64_t)bytes;
    return WP_CUT_RECORD;
}

typedef std::vector<std::pair<std::string, std::string>> pairs_list;

static void run_case(bool is_large)
{
    static rules r;
    state = seed;
    enum { SUM, BLEND, GROUP, WEIGH, WEIGH_THERE } kind = (decltype(SUM))below(5);
    memset(&r, 0, sizeof r);
    r.seed = below(1u << 30);
    r.distinct = below(3) == 0 ? 2 + below(4) : 2 + below(is_large ? 1500 : 150);
    r.hot_pct = below(3) == 0 ? 70 : 0;
    r.key_bytes_max = (uint32_t)(below(4) == 0 ? 300 : below(30));
    r.value_bytes_max = (uint32_t)(below(3) == 0 ? BYTES_MAX : below(40));
    r.is_number = kind == SUM || kind == BLEND;
    r.big_pct = is_large ? 10 : 4;
    for (auto &byte : r.bytes) byte = (unsigned char)below(256);

    std::string text;
    std::vector<std::string> records(1 + below(is_large ? 100 : 20));
    for (auto &record : records) {
        uint32_t bytes = (uint32_t)(below(10) == 0 ? below(BYTES_MAX + 1) : below(200));
        for (uint32_t i = 0; i < bytes; i++) record += (char)below(256);
        text.append((const char *)&bytes, 4);
        text += record;
    }
    uint64_t largest = 0, total = 0;
    pairs_list wanted;
    std::map<std::string, std::vector<std::string>> groups;
    for (uint64_t n = 0; n < records.size(); n++) {
        uint32_t pairs = pairs_of(&r, records[n].data(), (uint32_t)records[n].size(), n), key, kb, value, vb;
        for (uint32_t p = 0; p < pairs; p++) {
            make_pair(&r, n, pairs, p, &key, &kb, &value, &vb);
            largest = std::max(largest, (uint64_t)(24 + 8 + 16 + 16) + kb + vb);
            total += 64u + kb + vb;
            groups[std::string((char *)r.bytes + key, kb)].push_back(std::string((char *)r.bytes + value, vb));
        }
    }
    for (auto &g : groups) {
        uint64_t sum = 0, weight[2] = {g.second.size(), 0};
        std::string blended = g.second[0];
        for (uint64_t i = 0; i < g.second.size(); i++) {
            const std::string &v = g.second[i];
            uint64_t number = 0;
            if (r.is_number) memcpy(&number, v.data(), 8);
            sum += number;
            for (unsigned char c : v) weight[1] += c;
            for (int b = 0; r.is_number && i != 0 && b < 8; b++)
                blended[b] = (char)(b % 2 ? blended[b] ^ v[b] : blended[b] + v[b]);
            if (kind == GROUP) wanted.push_back({g.first, v});
        }
        if (kind == SUM) wanted.push_back({g.first, std::string((char *)&sum, 8)});
        if (kind == BLEND) wanted.push_back({g.first, blended});
        if (kind >= WEIGH && weight[0] > 1)
            wanted.push_back({g.first, std::string((char *)weight, 16) + std::string(kind == WEIGH ? 0 : weight[0], 'x')});
    }
    std::sort(wanted.begin(), wanted.end());

    void *argument;
    wp_error err = WP_ERROR_INIT;
    wp_mapreduce *job;
    wp_mapreduce_spec spec = WP_MAPREDUCE_SPEC_INIT;
    cudaMalloc(&argument, sizeof r);
    cudaMemcpy(argument, &r, sizeof r, cudaMemcpyHostToDevice);
    spec.program = kind == BLEND ? &blended : kind == WEIGH_THERE ? &weighed : &plain;
    spec.mode = kind == SUM || kind == BLEND ? WP_MAP_REDUCE : WP_MAP_GROUP;
    spec.reduce = kind == WEIGH ? weigh : NULL;
    spec.partitioner.cut = cut;
    spec.memory = text.data();
    spec.memory_bytes = text.size();
    spec.argument = argument;
    spec.pairs_max = below(3) == 0 ? 1000 : 0;
    spec.threads = (uint32_t)(1 + below(256));
    spec.is_ordered = below(2);
    /* Bits for 1,000 pairs must fit: 32 bytes a word. */
    spec.chunk_bytes = below(2) ? 0 : BYTES_MAX + 8 + below(200000);
    if (kind == WEIGH_THERE) { /* and the largest group, with its value */
        for (auto &g : groups) {
            uint64_t bytes = BYTES_MAX + 1024 + g.first.size();
            for (auto &value : g.second) bytes += value.size() + 24;
            spec.chunk_bytes = std::max(spec.chunk_bytes, bytes);
        }
    }
    spec.table.bucket_count = 1 + below(500);
    spec.table.page_bytes = UINT64_C(64) << below(7);
    uint64_t share = total / (1 + below(8));
    while (share / spec.table.page_bytes > 100) spec.table.page_bytes *= 2; /* a page that stays is a copy */
    uint64_t least = (largest + spec.table.page_bytes - 1) / spec.table.page_bytes * spec.table.page_bytes;
    spec.table.heap_bytes = std::max(least + spec.table.page_bytes, share);
    spec.table.postpone_pct = below(3) == 0 ? (uint32_t)below(50) : 0;
    spec.table.seed = below(1000);
    wp_status status = wp_mapreduce_run(wp_cudart_device(), &spec, &job, &err);
    if (status != WP_STATUS_OK) {
        printf("seed %llu: %s\n", (unsigned long long)seed, err.message);
        exit(1);
    }
    pairs_list ours;
    wp_mapreduce_cursor cursor = {0, {0, 0, 0}};
    wp_table_pair pair;
    while (wp_mapreduce_next(job, &cursor, &pair))
        ours.push_back({std::string((const char *)pair.key, pair.key_bytes),
                        std::string((const char *)pair.value, pair.value_bytes)});
    if (!spec.is_ordered) std::sort(ours.begin(), ours.end());
    CHECK(ours == wanted);
    CHECK_EQ(wp_mapreduce_pair_count(job), wanted.size());
    wp_mapreduce_report report;
    wp_mapreduce_get_report(job, &report);
    uint64_t emitted = 0;
    for (auto &g : groups) emitted += g.second.size();
    CHECK_EQ(report.pairs, emitted);
    CHECK_EQ(report.records, records.size());
    if (getenv("SEED") || check_failures)
        printf("seed %llu: kind %d, %zu records, %llu pairs of %zu keys, heap %llu, page %llu, %llu passes\n",
               (unsigned long long)seed, (int)kind, records.size(), (unsigned long long)emitted, groups.size(),
               (unsigned long long)report.table.heap_bytes, (unsigned long long)report.table.page_bytes,
               (unsigned long long)report.passes);
    wp_mapreduce_close(job);
    cudaFree(argument);
}

int main(void)
{
    const char *given = getenv("SEED"), *device = getenv("WARPAGE_DEVICE"), *cases = getenv("CASES");
    bool is_cpu = device == NULL || strcmp(device, "cpu") == 0;
    int count = given ? 1 : cases ? atoi(cases) : is_cpu ? 2 * CASES : CASES;
    for (int i = 0; i < count; i++) {
        seed = given ? strtoull(given, NULL, 10) : 20261125u + (uint64_t)i;
        printf("seed %llu\n", (unsigned long long)seed);
        run_case(is_cpu);
    }
    return check_done();
}

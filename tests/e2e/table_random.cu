/* SPDX-License-Identifier: Apache-2.0 */
/* Tables filled by kernels under random conditions, against the C++ library's: the three
 * organisations, heaps from the smallest possible one to one that holds all, pages, groups, chunks,
 * random postponement, units of several pairs, keys of any length (none, zero bytes, unaligned), all
 * keys in one bucket, one hot key, values longer than a page. Then heaps of the other kinds, large
 * enough for all. SEED= repeats one case, KIND= with another kind of heap. */
#include <algorithm>
#include <map>
#include <string>
#include <vector>
#include <warpage/cudart.h>
#include <warpage/table.h>
#include "check.h"

enum { PAIRS = 3, CASES = 24, OTHER_CASES = 6 };

#define OK(call)                                                                                   \
    do {                                                                                           \
        wp_error err = WP_ERROR_INIT;                                                              \
        if ((call) != WP_STATUS_OK) {                                                              \
            printf("seed %llu, line %d: %s\n", (unsigned long long)seed, __LINE__, err.message);   \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

static uint64_t seed;

/* The pairs of a unit: made the same way by kernels and by the check. */
struct input {
    uint64_t seed, distinct;
    uint32_t key_bytes_max, value_bytes_max, is_combining, hot_pct;
};

__host__ __device__ static uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

__host__ __device__ static uint32_t pairs_of(input in, uint64_t unit)
{
    return (uint32_t)(mix(in.seed + unit) % (PAIRS + 1));
}

__host__ __device__ static void make_pair(input in, uint64_t unit, uint32_t pair, unsigned char *key,
                                          uint32_t *key_bytes, unsigned char *value,
                                          uint32_t *value_bytes)
{
    uint64_t draw = mix(in.seed ^ (unit * PAIRS + pair) * 0x9e3779b97f4a7c15u);
    uint64_t number = draw % 100 < in.hot_pct ? 0 : mix(draw) % in.distinct;
    uint64_t x = mix(in.seed * 3 + number);
    *key_bytes = number == 1 ? 0 : (uint32_t)(x % (in.key_bytes_max + 1));
    if (*key_bytes < 3 && number != 1) *key_bytes = 3;
    for (uint32_t i = 0; i < *key_bytes; i++)
        key[i] = (unsigned char)(i < 3 ? number >> i * 8 : x >> i % 7);
    *value_bytes = in.is_combining ? 8 : (uint32_t)(mix(draw + 1) % (in.value_bytes_max + 1));
    for (uint32_t i = 0; i < *value_bytes; i++)
        value[i] = (unsigned char)(in.is_combining && i > 2 ? 0 : draw >> i % 8 * 8);
}

__device__ static void add(const void *value, void *existing)
{
    *(uint64_t *)existing += *(const uint64_t *)value;
}

__device__ __forceinline__ void fill_unit(const wp_table_view *table, const wp_units *units, input in, uint64_t unit)
{
    unsigned char key[48 + 1];
    __align__(8) unsigned char value[512];
    uint32_t key_bytes, value_bytes;
    wp_attempt attempt = wp_attempt_begin(units, unit);
    for (uint32_t p = 0; p < pairs_of(in, unit); p++) {
        unsigned char *at = key + unit % 2; /* unaligned, too */
        make_pair(in, unit, p, at, &key_bytes, value, &value_bytes);
        if (in.is_combining && table->combiner == WP_TABLE_CALLBACK)
            wp_table_emit_with(table, &attempt, at, key_bytes, value, value_bytes, add);
        else
            wp_table_emit(table, &attempt, at, key_bytes, value, value_bytes);
    }
    wp_attempt_end(&attempt);
}

/* For tables of any organisation; fill_basic runs ahead on simulated GPUs. */
__global__ void fill(wp_table_view table, wp_units units, input in, uint64_t first, uint64_t outer)
{
    uint64_t unit = first + blockIdx.x * (uint64_t)blockDim.x + threadIdx.x;
    if (unit < outer && !wp_units_is_done(&units, unit)) fill_unit(&table, &units, in, unit);
}

__global__ void fill_basic(wp_table_view table, wp_units units, input in, uint64_t first, uint64_t outer)
{
    uint64_t unit = first + blockIdx.x * (uint64_t)blockDim.x + threadIdx.x;
    const wp_table_view basic = wp_table_view_as(&table, WP_TABLE_BASIC);
    in.is_combining = false;
    if (unit < outer && !wp_units_is_done(&units, unit)) fill_unit(&basic, &units, in, unit);
}

__global__ void fill_combining(wp_table_view table, wp_units units, input in, uint64_t first, uint64_t outer)
{
    uint64_t unit = first + blockIdx.x * (uint64_t)blockDim.x + threadIdx.x;
    wp_table_view combining = wp_table_view_as(&table, WP_TABLE_COMBINING);
    combining.combiner = WP_TABLE_ADD;
    if (unit < outer && !wp_units_is_done(&units, unit)) fill_unit(&combining, &units, in, unit);
}

__global__ void look_up(wp_table_view table, input in, uint64_t units, unsigned long long *found,
                        unsigned *missing)
{
    uint64_t unit = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x;
    if (unit >= units || pairs_of(in, unit) == 0) return;
    unsigned char key[49], value[512];
    uint32_t key_bytes, value_bytes;
    make_pair(in, unit, 0, key, &key_bytes, value, &value_bytes);
    uint64_t place = wp_table_find(&table, key, key_bytes, 0);
    if (place == 0) {
        atomicAdd(missing, 1u);
    } else if (table.organisation == WP_TABLE_MULTIVALUED) {
        uint64_t at = 0;
        while (wp_table_next_value(&table, place, &at, &value_bytes) != NULL)
            atomicAdd(found, 1ull);
    } else {
        for (; place != 0; place = wp_table_find(&table, key, key_bytes, place))
            atomicAdd(found, 1ull);
    }
    for (int i = 0; i < 8; i++) key[i] = 0xee; /* of no unit: longer keys have other bytes */
    if (wp_table_find(&table, key, 8, 0) != 0) atomicAdd(missing, 1u);
}

struct filler {
    wp_table *table;
    input in;
};

static wp_status process(void *object, const wp_units *units, uint64_t first, uint64_t outer,
                         wp_error *err)
{
    filler *f = (filler *)object;
    (void)err;
    const wp_table_view view = wp_table_get_view(f->table);
    const bool is_added = view.organisation == WP_TABLE_COMBINING && view.combiner == WP_TABLE_ADD;
    const unsigned blocks = (unsigned)((outer - first + 63) / 64);
    (view.organisation == WP_TABLE_BASIC ? fill_basic : is_added ? fill_combining : fill)<<<blocks, 64>>>(
        view, *units, f->in, first, outer);
    return cudaGetLastError() == cudaSuccess ? WP_STATUS_OK : WP_STATUS_LAUNCH;
}

static uint64_t state;
static uint64_t below(uint64_t bound) { return mix(state += 0x9e3779b97f4a7c15u) % bound; }

static void run_case(uint64_t units_max, int kind)
{
    state = seed;
    input in = {below(1u << 30) + 1, below(4) == 0 ? 1 + below(3) : 1 + below(units_max),
                (uint32_t)(3 + below(45)), (uint32_t)below(below(3) == 0 ? 500 : 40), 0,
                below(3) == 0 ? 60u : 0u};
    wp_table_spec spec = WP_TABLE_SPEC_INIT;
    spec.organisation = (wp_table_organisation)below(WP_TABLE_ORGANISATION_COUNT);
    spec.combiner = below(2) ? WP_TABLE_CALLBACK : WP_TABLE_ADD;
    in.is_combining = spec.organisation == WP_TABLE_COMBINING;
    spec.bucket_count = below(4) == 0 ? 1 : 1 + below(300);
    spec.buckets_per_group = below(3) == 0 ? 0 : 1 + below(spec.bucket_count);
    spec.page_bytes = UINT64_C(64) << below(7);
    /* The largest pair must fit: header, key, value, and the value's header. */
    uint64_t pair = 24 + 48 + 8 + 16 + (in.is_combining ? 8 : in.value_bytes_max + 8u);
    uint64_t least = (pair + spec.page_bytes - 1) / spec.page_bytes * spec.page_bytes;
    spec.heap_bytes = below(4) == 0 ? least : least + below(units_max * 150);
    spec.halt_pct = below(2) ? 0 : 1 + (uint32_t)below(100);
    spec.postpone_pct = below(3) == 0 ? (uint32_t)below(60) : 0;
    spec.seed = below(1000);
    if (kind != WP_TABLE_HEAP_SEPO) {
        spec.heap_kind = (wp_table_heap_kind)kind;
        spec.heap_bytes = 3 * units_max * PAIRS * 700 + 600 * spec.page_bytes;
        spec.postpone_pct = 0;
    }
    wp_postpone_spec units = {1 + below(units_max), below(2) ? 0 : 1 + below(units_max), PAIRS, 40};

    if (getenv("SEED"))
        printf("organisation %d, %llu units, %llu buckets, %llu a group, heap %llu, page %llu, halt %u, postpone %u\n",
               spec.organisation, (unsigned long long)units.unit_count, (unsigned long long)spec.bucket_count,
               (unsigned long long)spec.buckets_per_group, (unsigned long long)spec.heap_bytes,
               (unsigned long long)spec.page_bytes, spec.halt_pct, spec.postpone_pct);
    filler f = {NULL, in};
    wp_postpone *postpone;
    wp_postpone_facts facts;
    OK(wp_table_create(wp_cudart_device(), &spec, &f.table, &err));
    OK(wp_postpone_create(wp_cudart_device(), &units, &postpone, &err));
    wp_requester requester = {&f, process, NULL};
    OK(wp_table_run(f.table, postpone, &requester, &facts, &err));

    std::multimap<std::string, std::string> wanted;
    std::map<std::string, uint64_t> sums;
    uint64_t wanted_found = 0;
    for (uint64_t u = 0; u < units.unit_count; u++)
        for (uint32_t p = 0; p < pairs_of(in, u); p++) {
            unsigned char key[49], value[512];
            uint32_t key_bytes, value_bytes;
            make_pair(in, u, p, key, &key_bytes, value, &value_bytes);
            std::string k((char *)key, key_bytes), v((char *)value, value_bytes);
            uint64_t number = 0;
            if (in.is_combining) memcpy(&number, value, 8), sums[k] += number;
            else wanted.insert({k, v});
        }
    for (auto &sum : sums) wanted.insert({sum.first, std::string((char *)&sum.second, 8)});
    std::vector<std::pair<std::string, std::string>> ours, theirs(wanted.begin(), wanted.end());
    wp_table_cursor cursor = {0, 0, 0};
    wp_table_pair pair_of;
    std::map<std::string, int> keys;
    std::string last;
    uint64_t entries = 0;
    while (wp_table_next(f.table, &cursor, &pair_of)) {
        std::string k((const char *)pair_of.key, pair_of.key_bytes);
        ours.push_back({k, std::string((const char *)pair_of.value, pair_of.value_bytes)});
        if (keys[k]++ == 0 || k != last) entries++;
        last = k;
    }
    std::sort(ours.begin(), ours.end());
    std::sort(theirs.begin(), theirs.end());
    CHECK(ours == theirs);
    CHECK_EQ(wp_table_pair_count(f.table), theirs.size());
    if (spec.organisation != WP_TABLE_BASIC) {
        CHECK_EQ(entries, keys.size()); /* a key is one entry */
        CHECK_EQ(wp_table_key_count(f.table), keys.size());
    }
    for (auto &k : keys) {
        wp_table_cursor at = {0, 0, 0};
        int count = 0;
        while (wp_table_find_next(f.table, k.first.data(), k.first.size(), &at, &pair_of)) count++;
        CHECK_EQ(count, k.second);
    }
    for (uint64_t u = 0; u < units.unit_count; u++) {
        if (pairs_of(in, u) == 0) continue;
        unsigned char key[49], value[512];
        uint32_t key_bytes, value_bytes;
        make_pair(in, u, 0, key, &key_bytes, value, &value_bytes);
        wanted_found += keys[std::string((char *)key, key_bytes)];
    }
    struct { unsigned long long found; unsigned missing; } counts = {0, 0}, *device_counts;
    cudaMalloc((void **)&device_counts, sizeof counts);
    cudaMemcpy(device_counts, &counts, sizeof counts, cudaMemcpyHostToDevice);
    look_up<<<(unsigned)(units.unit_count + 63) / 64, 64>>>(wp_table_get_view(f.table), in,
                                                           units.unit_count, &device_counts->found,
                                                           &device_counts->missing);
    cudaMemcpy(&counts, device_counts, sizeof counts, cudaMemcpyDeviceToHost);
    CHECK_EQ(counts.found, wanted_found);
    CHECK_EQ(counts.missing, 0u);
    cudaFree(device_counts);

    wp_table_report report;
    wp_table_get_report(f.table, &report);
    CHECK_EQ(report.passes, facts.pass);
    if (kind != WP_TABLE_HEAP_SEPO) CHECK_EQ(report.passes, 1u);
    if (getenv("SEED") || check_failures)
        printf("seed %llu: organisation %d, combiner %d, %llu units, %llu keys, heap %llu, page %llu, "
               "%llu groups, %llu passes, %llu pages kept, unused %llu of %llu\n",
               (unsigned long long)seed, (int)spec.organisation, (int)spec.combiner,
               (unsigned long long)units.unit_count, (unsigned long long)keys.size(),
               (unsigned long long)report.heap_bytes, (unsigned long long)report.page_bytes,
               (unsigned long long)report.groups, (unsigned long long)report.passes,
               (unsigned long long)report.pages_kept, (unsigned long long)report.unused_bytes,
               (unsigned long long)report.table_bytes);
    wp_postpone_destroy(postpone);
    wp_table_close(f.table);
}

int main(void)
{
    const char *given = getenv("SEED"), *device = getenv("WARPAGE_DEVICE"), *cases = getenv("CASES");
    bool is_cpu = device == NULL || strcmp(device, "cpu") == 0;
    uint64_t units_max = is_cpu ? 3000 : 150;
    int count = cases ? atoi(cases) : is_cpu ? 2 * CASES : CASES;
    if (given != NULL) {
        seed = strtoull(given, NULL, 10);
        run_case(units_max, getenv("KIND") ? atoi(getenv("KIND")) : WP_TABLE_HEAP_SEPO);
    }
    for (int i = 0; given == NULL && i < count; i++) {
        seed = 20261125u + (uint64_t)i;
        run_case(units_max, WP_TABLE_HEAP_SEPO);
    }
    for (int i = 0; given == NULL && i < OTHER_CASES * (WP_TABLE_HEAP_KIND_COUNT - 1); i++) {
        seed = 20261225u + (uint64_t)i;
        run_case(units_max, 1 + i % (WP_TABLE_HEAP_KIND_COUNT - 1));
    }
    return check_done();
}

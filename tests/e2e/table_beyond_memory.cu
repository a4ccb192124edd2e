/* SPDX-License-Identifier: Apache-2.0 */
/* A table of four times device memory, all of it in host memory, then most of it in a file: searched by
 * kernels, which have parts brought back, and on the host; iterated, saved, opened, mapped. */
#include <map>
#include <string>
#include <vector>
#include <unistd.h>
#include <warpage/cudart.h>
#include <warpage/table.h>
#include "check.h"

enum { DEVICE_KIB = 192, KEY_BYTES = 200, DUPLICATES = 2, STEP = 4 };

static wp_error err = WP_ERROR_INIT;
#define OK(call)                                                                                   \
    do {                                                                                           \
        if ((call) != WP_STATUS_OK) {                                                              \
            printf("line %d: %s\n", __LINE__, err.message);                                        \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

__host__ __device__ static uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

/* Of length 150 to 200, and not aligned. */
__host__ __device__ static uint32_t make_key(uint64_t number, unsigned char *key)
{
    uint32_t bytes = KEY_BYTES - (uint32_t)(mix(number) % 51);
    for (uint32_t i = 0; i < bytes; i++) key[i] = (unsigned char)(mix(number * 31 + i / 8) >> i % 8 * 8);
    return bytes;
}

__global__ void fill(wp_table_view table, wp_units units, uint64_t distinct, uint64_t first, uint64_t outer)
{
    uint64_t unit = first + blockIdx.x * (uint64_t)blockDim.x + threadIdx.x;
    if (unit >= outer || wp_units_is_done(&units, unit)) return;
    unsigned char key[KEY_BYTES];
    uint64_t value = unit + 1;
    uint32_t bytes = make_key(unit % distinct, key);
    wp_attempt attempt = wp_attempt_begin(&units, unit);
    wp_table_emit(&table, &attempt, key, bytes, &value, sizeof value);
    wp_attempt_end(&attempt);
}

struct found {
    uint64_t pairs, sum;
};

/* Unit n looks for key STEP * n and, in a second request, for a key that is not there. */
__global__ void look(wp_table_view table, wp_units units, wp_table_seek *seeks, found *results,
                     uint64_t first, uint64_t outer)
{
    uint64_t unit = first + blockIdx.x * (uint64_t)blockDim.x + threadIdx.x;
    if (unit >= outer || wp_units_is_done(&units, unit)) return;
    unsigned char key[KEY_BYTES];
    wp_attempt attempt = wp_attempt_begin(&units, unit);
    for (uint32_t r = 0; r < 2; r++) {
        if (!wp_attempt_wants(&attempt)) continue;
        uint32_t key_bytes = make_key(r == 0 ? STEP * unit : unit + (UINT64_C(1) << 40), key), value_bytes;
        const void *value;
        wp_answer answer;
        do {
            answer = wp_table_seek_next(&table, &seeks[2 * unit + r], key, key_bytes, &value, &value_bytes);
            if (value == NULL) break;
            results[unit].pairs += r == 0 ? 1 : 1000;
            results[unit].sum += *(const uint64_t *)value;
        } while (answer == WP_DONE);
        wp_attempt_note(&attempt, answer);
    }
    wp_attempt_end(&attempt);
}

struct filler {
    wp_table *table;
    uint64_t distinct;
    wp_table_seek *seeks;
    found *results;
};

static wp_status process(void *object, const wp_units *units, uint64_t first, uint64_t outer, wp_error *)
{
    filler *f = (filler *)object;
    unsigned blocks = (unsigned)((outer - first + 63) / 64);
    wp_table_view view = wp_table_get_view(f->table);
    if (f->seeks == NULL) fill<<<blocks, 64>>>(view, *units, f->distinct, first, outer);
    else look<<<blocks, 64>>>(view, *units, f->seeks, f->results, first, outer);
    return cudaGetLastError() == cudaSuccess ? WP_STATUS_OK : WP_STATUS_LAUNCH;
}

static std::string key_of(uint64_t number)
{
    unsigned char key[KEY_BYTES];
    uint32_t bytes = make_key(number, key);
    return std::string((char *)key, bytes);
}

typedef std::map<std::string, found> contents;

static contents expect(uint64_t units, uint64_t distinct, bool is_combining)
{
    contents wanted;
    for (uint64_t u = 0; u < units; u++) {
        found &f = wanted[key_of(u % distinct)];
        f.pairs = is_combining ? 1 : f.pairs + 1;
        f.sum += u + 1;
    }
    return wanted;
}

static void check_contents(const wp_table *table, const contents &wanted)
{
    contents ours;
    wp_table_cursor cursor = {0, 0, 0, 0, 0};
    wp_table_pair pair;
    uint64_t pairs = 0;
    while (wp_table_next(table, &cursor, &pair)) {
        found &f = ours[std::string((const char *)pair.key, pair.key_bytes)];
        f.pairs++;
        f.sum += *(const uint64_t *)pair.value;
        pairs++;
    }
    OK(wp_table_check(table, &cursor, &err));
    CHECK_EQ(wp_table_pair_count(table), pairs);
    CHECK_EQ(ours.size(), wanted.size());
    bool is_equal = ours.size() == wanted.size();
    for (auto &w : wanted) {
        found f = {0, 0};
        wp_table_cursor at = {0, 0, 0, 0, 0};
        is_equal = is_equal && ours[w.first].pairs == w.second.pairs && ours[w.first].sum == w.second.sum;
        while (wp_table_find_next(table, w.first.data(), w.first.size(), &at, &pair)) {
            f.pairs++;
            f.sum += *(const uint64_t *)pair.value;
        }
        is_equal = is_equal && f.pairs == w.second.pairs && f.sum == w.second.sum;
    }
    CHECK(is_equal);
}

static void search(filler f, const contents &wanted)
{
    uint64_t count = f.distinct / STEP;
    wp_postpone_spec units = {count, 200, 2, 0};
    wp_postpone *searches;
    wp_postpone_facts facts;
    wp_table_report before, after;
    std::vector<found> results(count);
    cudaMalloc((void **)&f.seeks, 2 * count * sizeof *f.seeks);
    cudaMalloc((void **)&f.results, count * sizeof *f.results);
    CHECK_EQ(cudaMemset(f.seeks, 0, 2 * count * sizeof *f.seeks), cudaSuccess);
    CHECK_EQ(cudaMemset(f.results, 0, count * sizeof *f.results), cudaSuccess);
    wp_table_get_report(f.table, &before);
    OK(wp_postpone_create(wp_cudart_device(), &units, &searches, &err));
    wp_requester requester = {&f, process, NULL};
    OK(wp_table_search(f.table, searches, &requester, &facts, &err));
    wp_table_get_report(f.table, &after);
    cudaMemcpy(results.data(), f.results, count * sizeof *f.results, cudaMemcpyDeviceToHost);
    CHECK_EQ(facts.postponed_units, 0u);
    CHECK(facts.pass >= after.table_bytes / after.heap_bytes);
    /* Each part came back at least once, and not many times. */
    CHECK(after.to_device_bytes - before.to_device_bytes >= after.table_bytes - after.heap_bytes);
    CHECK(after.to_device_bytes - before.to_device_bytes < 4 * after.table_bytes);
    bool is_equal = true;
    for (uint64_t n = 0; n < count; n++) {
        const found &w = wanted.at(key_of(STEP * n));
        is_equal = is_equal && results[n].pairs == w.pairs && results[n].sum == w.sum;
    }
    CHECK(is_equal);
    wp_postpone_destroy(searches);
    cudaFree(f.seeks);
    cudaFree(f.results);
}

/* In a kernel without passes: over the link, or told that a part is in a file. */
__global__ void find_all(wp_table_view table, uint64_t count, unsigned *missing)
{
    uint64_t n = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x;
    unsigned char key[KEY_BYTES];
    if (n >= count) return;
    uint32_t bytes = make_key(n, key);
    if (wp_table_find(&table, key, bytes, 0) == 0) atomicAdd(missing, 1u);
}

static void check_find(const wp_table *table, uint64_t count, bool is_in_file)
{
    wp_table_cursor cursor = {0, 0, 0, 0, 0};
    unsigned missing = 0, *device_missing;
    cudaMalloc((void **)&device_missing, sizeof missing);
    cudaMemset(device_missing, 0, sizeof missing);
    find_all<<<(unsigned)(count + 63) / 64, 64>>>(wp_table_get_view(table), count, device_missing);
    cudaMemcpy(&missing, device_missing, sizeof missing, cudaMemcpyDeviceToHost);
    CHECK_EQ(missing != 0, is_in_file);
    wp_status status = wp_table_check(table, &cursor, &err);
    CHECK_EQ(status, is_in_file ? WP_STATUS_INVALID : WP_STATUS_OK);
    if (is_in_file) CHECK(strstr(err.message, "wp_table_seek_next") != NULL);
    cudaFree(device_missing);
}

static void run(wp_table_organisation organisation, uint64_t host_bytes)
{
    size_t free_bytes, total_bytes;
    wp_table_spec spec = WP_TABLE_SPEC_INIT;
    wp_postpone *postpone;
    wp_postpone_facts facts;
    wp_table_report report;
    char path[] = "/tmp/table_beyond_memory.XXXXXX";
    cudaMemGetInfo(&free_bytes, &total_bytes);
    CHECK_EQ(total_bytes, (size_t)DEVICE_KIB << 10);
    uint64_t entry = sizeof(wp_table_entry) + 8 + KEY_BYTES - 25 + 4;
    uint64_t distinct = 4 * total_bytes / entry * 21 / 20;
    if (organisation == WP_TABLE_BASIC) distinct /= DUPLICATES;
    filler f = {NULL, distinct, NULL, NULL};
    wp_postpone_spec units = {distinct * DUPLICATES, 1024, 1, 0};
    OK(wp_postpone_create(wp_cudart_device(), &units, &postpone, &err));
    spec.organisation = organisation;
    spec.bucket_count = 512;
    spec.page_bytes = 1024;
    spec.buckets_per_group = 128;
    spec.host_bytes = host_bytes;
    cudaMemGetInfo(&free_bytes, &total_bytes);
    spec.heap_bytes = free_bytes / 4; /* as large as leaves room for the searches */
    OK(wp_table_create(wp_cudart_device(), &spec, &f.table, &err));
    wp_requester requester = {&f, process, NULL};
    OK(wp_table_run(f.table, postpone, &requester, &facts, &err));
    wp_table_get_report(f.table, &report);
    CHECK(report.table_bytes >= 4 * total_bytes);
    CHECK_EQ(report.file_bytes != 0, host_bytes != 0);
    if (host_bytes != 0) CHECK(report.host_bytes <= host_bytes);
    const contents wanted = expect(units.unit_count, distinct, organisation == WP_TABLE_COMBINING);
    check_contents(f.table, wanted);
    check_find(f.table, distinct, host_bytes != 0);
    search(f, wanted);
    check_contents(f.table, wanted);
    if (host_bytes == 0) check_find(f.table, distinct, false);

    wp_table *opened;
    close(mkstemp(path));
    OK(wp_table_save(f.table, path, &err));
    wp_table_close(f.table);
    OK(wp_table_open(path, &opened, &err));
    check_contents(opened, wanted);
    wp_table_close(opened);
    OK(wp_table_map(path, &opened, &err));
    check_contents(opened, wanted);
    wp_table_get_report(opened, &report);
    CHECK_EQ(report.host_bytes, 0u);
    wp_table_close(opened);
    remove(path);
    wp_postpone_destroy(postpone);
}

int main(void)
{
    char memory[32];
    snprintf(memory, sizeof memory, "%dKiB", DEVICE_KIB);
    setenv("WARPAGE_DEVICE_MEMORY", memory, 1);
    for (int organisation = 0; organisation < WP_TABLE_ORGANISATION_COUNT; organisation++) {
        run((wp_table_organisation)organisation, 0);
        run((wp_table_organisation)organisation, 200000);
    }
    return check_done();
}

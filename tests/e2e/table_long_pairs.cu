/* SPDX-License-Identifier: Apache-2.0 */
/* A value and a key of more than 2^31 bytes, most of them pages that were never written, on the CPU device if
 * 6 GiB of memory are free; and on each device one of 2^32, which is refused. The table is in page-locked host memory, so that there is one
 * copy of it. */
// WORKERS: 1 (one thread of one block inserts)
#include <stdlib.h>
#include <sys/mman.h>
#include <warpage/cudart.h>
#include <warpage/table.h>
#include "check.h"

enum { MARKS = 4 };
static const uint64_t long_bytes = ((uint64_t)1 << 31) + 13, limit_bytes = (uint64_t)1 << 32;
static const uint64_t marks[MARKS] = {0, ((uint64_t)1 << 31) - 1, (uint64_t)1 << 31, long_bytes - 1};
static wp_error err = WP_ERROR_INIT;

struct pair {
    const char *key, *value;
    uint64_t key_bytes, value_bytes;
};

__global__ void insert(wp_table_view table, wp_units units, pair p)
{
    if (wp_units_is_done(&units, 0)) return;
    wp_attempt attempt = wp_attempt_begin(&units, 0);
    wp_table_emit(&table, &attempt, p.key, p.key_bytes, p.value, p.value_bytes);
    wp_attempt_end(&attempt);
}

struct job {
    wp_table *table;
    pair p;
};

static wp_status process(void *object, const wp_units *units, uint64_t, uint64_t, wp_error *)
{
    job *j = (job *)object;
    insert<<<1, 1>>>(wp_table_get_view(j->table), *units, j->p);
    return cudaGetLastError() == cudaSuccess ? WP_STATUS_OK : WP_STATUS_LAUNCH;
}

static bool has_memory(uint64_t bytes)
{
    FILE *file = fopen("/proc/meminfo", "r");
    char line[128];
    unsigned long long kib = 0;
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "MemAvailable: %llu kB", &kib) == 1) break;
    if (file) fclose(file);
    return kib << 10 >= bytes;
}

static wp_status run(wp_table_organisation organisation, uint64_t heap_bytes, pair p, wp_table **table)
{
    wp_table_spec spec = WP_TABLE_SPEC_INIT;
    wp_postpone_spec units = {1, 0, 1, 0};
    wp_postpone *postpone;
    spec.organisation = organisation;
    spec.heap_kind = WP_TABLE_HEAP_PINNED;
    spec.heap_bytes = heap_bytes;
    spec.bucket_count = 1;
    CHECK_EQ(wp_table_create(wp_cudart_device(), &spec, table, &err), WP_STATUS_OK);
    CHECK_EQ(wp_postpone_create(wp_cudart_device(), &units, &postpone, &err), WP_STATUS_OK);
    job j = {*table, p};
    wp_requester requester = {&j, process, NULL};
    wp_status status = wp_table_run(*table, postpone, &requester, NULL, &err);
    wp_postpone_destroy(postpone);
    return status;
}

int main(void)
{
    const char *device = getenv("WARPAGE_DEVICE");
    const bool is_long =
        (device == NULL || strncmp(device, "cpu", 3) == 0) && has_memory((uint64_t)6 << 30);
    char *bytes = (char *)mmap(NULL, limit_bytes, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    CHECK(bytes != MAP_FAILED);
    for (int i = 0; i < MARKS && is_long; i++) bytes[marks[i]] = (char)(i + 1);
    const uint64_t heap_bytes = long_bytes + (1 << 20);
    for (int is_key = 0; is_key < 2 && is_long; is_key++) {
        pair p = {"short", "short", 5, 5};
        (is_key ? p.key : p.value) = bytes;
        (is_key ? p.key_bytes : p.value_bytes) = long_bytes;
        wp_table *table;
        wp_table_cursor cursor = {0, 0, 0, 0, 0};
        wp_table_pair found;
        CHECK_EQ(run(is_key ? WP_TABLE_BASIC : WP_TABLE_MULTIVALUED, heap_bytes, p, &table), WP_STATUS_OK);
        CHECK(wp_table_find_next(table, p.key, p.key_bytes, &cursor, &found));
        CHECK_EQ(found.key_bytes, p.key_bytes);
        CHECK_EQ(found.value_bytes, p.value_bytes);
        const char *got = (const char *)(is_key ? found.key : found.value);
        for (int i = 0; i < MARKS; i++) CHECK_EQ((int)got[marks[i]], i + 1);
        CHECK_EQ((int)got[long_bytes / 2], 0);
        CHECK(!memcmp(is_key ? found.value : found.key, "short", 5));
        wp_table_close(table);
    }
    for (int is_key = 0; is_key < 2; is_key++) {
        pair p = {bytes, bytes, 5, 5};
        (is_key ? p.key_bytes : p.value_bytes) = limit_bytes;
        wp_table *table;
        CHECK_EQ(run(WP_TABLE_BASIC, 1 << 20, p, &table), WP_STATUS_INVALID);
        CHECK(strstr(err.message, "each must be shorter than 4 GiB") != NULL);
        wp_table_close(table);
    }
    munmap(bytes, limit_bytes);
    return check_done();
}

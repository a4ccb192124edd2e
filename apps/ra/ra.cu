/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random access: how fast a device gets to words that lie anywhere in a large memory.
 *
 * Two forms:
 *   update  a table of 2^k words; every update xors a random number into the word that its low
 *           bits name, as HPC Challenge's RandomAccess does. Xor does not mind the order, so the
 *           table comes out the same whichever thread is first
 *   lookup  three arrays; one thread in `stride` reads its place, the table there, and writes the
 *           output there, as the page-migration studies' benchmark of this name does. Threads that
 *           got the same place write the same value
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/kernel.h"
#include "common/memory.h"
#include "common/points.h"
#include "common/random.h"
#include "common/report.h"

#define THREADS 256

enum { VARIANT_UPDATE, VARIANT_LOOKUP };

typedef unsigned long long word; /* what atomicXor takes */

/* ---- update --------------------------------------------------------------------------------- */

/* Each thread makes a run of consecutive updates: number i of all is the i-th random number. */
__global__ void update_words(word *table, uint64_t mask, uint64_t seed, uint64_t update_count,
                             uint64_t updates_per_thread) {
    app_random random = {seed, app_thread() * updates_per_thread};
    for (uint64_t i = 0; i < updates_per_thread && random.index < update_count; i++) {
        uint64_t value = app_random_next(&random);
        atomicXor(&table[value & mask], (word)value);
    }
}

static bool check_update(const word *table, uint64_t word_count, uint64_t seed,
                         uint64_t update_count) {
    word *expected = (word *)app_allocate(word_count, sizeof *expected, "the check");
    app_random random = {seed, 0};
    for (uint64_t i = 0; i < word_count; i++) {
        expected[i] = i;
    }
    while (random.index < update_count) {
        uint64_t value = app_random_next(&random);
        expected[value & (word_count - 1)] ^= value;
    }
    uint64_t different = 0;
    for (uint64_t i = 0; i < word_count; i++) {
        different += table[i] != expected[i];
    }
    printf("check      %s words against %s serial updates: %s, %s differ\n", app_count(word_count),
           app_count(update_count), different == 0 ? "equal" : "DIFFERENT", app_count(different));
    free(expected);
    return different == 0;
}

static void print_update(const word *table, uint64_t word_count, uint64_t seed,
                         uint64_t update_count) {
    uint64_t changed = 0;
    word all = 0;
    for (uint64_t i = 0; i < word_count; i++) {
        changed += table[i] != i;
        all ^= table[i];
    }
    printf("table      %s words of %zu bytes, seed %llu\n", app_count(word_count), sizeof *table,
           (unsigned long long)seed);
    printf("updates    %s, words changed: %s (%.1f%%)\n", app_count(update_count),
           app_count(changed), 100.0 * (double)changed / (double)word_count);
    printf("xor        of all words %016llx\n\n", all);
}

static bool run_update(const app_common *common, uint64_t updates_per_word,
                       uint64_t updates_per_thread) {
    uint64_t wanted =
        app_size_items(common->size, sizeof(word), UINT64_C(1) << 20, 1, UINT64_C(1) << 40);
    uint64_t word_count = 1;
    while (word_count <= wanted / 2) {
        word_count *= 2;
    }
    uint64_t update_count = word_count * updates_per_word;
    uint64_t thread_count = (update_count + updates_per_thread - 1) / updates_per_thread;

    app_device device;
    app_array table;
    app_device_open(&device, common->memory);
    app_array_create(&device, &table, word_count, sizeof(word), "table", APP_ROLE_UPDATED);
    for (uint64_t i = 0; i < word_count; i++) {
        ((word *)table.host)[i] = i;
    }
    app_array_to_device(&device, &table);
    app_kernels_begin(&device);
    update_words<<<app_blocks(thread_count, THREADS), THREADS>>>(
        (word *)table.device, word_count - 1, common->seed, update_count, updates_per_thread);
    app_kernels_end(&device, "update_words", 1);
    app_array_to_host(&device, &table);

    const word *words = (const word *)table.host;
    print_update(words, word_count, common->seed, update_count);
    app_device_report(&device, (double)update_count, "updates");
    bool is_right = !common->check || check_update(words, word_count, common->seed, update_count);
    app_array_free(&device, &table);
    app_device_close(&device);
    return is_right;
}

/* ---- lookup --------------------------------------------------------------------------------- */

static __host__ __device__ __forceinline__ float answer(float entry) {
    return 0.5f * entry;
}

__global__ void look_up(const uint32_t *place, const float *table, float *output, uint32_t count,
                        uint32_t stride) {
    uint64_t thread = app_thread();
    if (thread >= count || (uint32_t)thread % stride != 0) {
        return;
    }
    uint32_t there = place[thread];
    output[there] = answer(table[there]);
}

static bool check_lookup(const uint32_t *place, const float *table, const float *output,
                         uint64_t count, uint64_t stride) {
    float *expected = (float *)app_allocate(count, sizeof *expected, "the check");
    memset(expected, 0, count * sizeof *expected);
    for (uint64_t i = 0; i < count; i += stride) {
        expected[place[i]] = answer(table[place[i]]);
    }
    double largest = app_floats_difference(output, expected, count);
    printf("check      %s outputs against %s serial lookups: %s, largest difference %g\n",
           app_count(count), app_count((count + stride - 1) / stride),
           largest == 0.0 ? "equal" : "DIFFERENT", largest);
    free(expected);
    return largest == 0.0;
}

static void print_lookup(const float *output, uint64_t count, uint64_t lookup_count,
                         uint64_t seed) {
    uint64_t written = 0;
    double sum = 0.0;
    for (uint64_t i = 0; i < count; i++) {
        written += output[i] != 0.0f;
        sum += (double)output[i];
    }
    printf("arrays     places, table and output of %s items each, seed %llu\n", app_count(count),
           (unsigned long long)seed);
    printf("lookups    %s, of %s different items, sum %.3f\n\n", app_count(lookup_count),
           app_count(written), sum);
}

static bool run_lookup(const app_common *common, uint64_t stride) {
    const double item_bytes = sizeof(uint32_t) + 2 * sizeof(float);
    uint64_t count = app_size_items(common->size, item_bytes, UINT64_C(1) << 20, 1, UINT32_MAX);
    uint64_t lookup_count = (count + stride - 1) / stride;
    app_random random = {common->seed, 0};

    app_device device;
    app_array place;
    app_array table;
    app_array output;
    app_device_open(&device, common->memory);
    app_array_create(&device, &place, count, sizeof(uint32_t), "places", APP_ROLE_INPUT);
    app_array_create(&device, &table, count, sizeof(float), "table", APP_ROLE_INPUT);
    app_array_create(&device, &output, count, sizeof(float), "output", APP_ROLE_UPDATED);
    for (uint64_t i = 0; i < count; i++) {
        ((uint32_t *)place.host)[i] = app_random_below(&random, (uint32_t)count);
        ((float *)table.host)[i] = (float)(1.0 + app_random_unit(&random));
    }
    memset(output.host, 0, output.size_bytes);
    app_array_to_device(&device, &place);
    app_array_to_device(&device, &table);
    app_array_to_device(&device, &output);
    app_kernels_begin(&device);
    look_up<<<app_blocks(count, THREADS), THREADS>>>((const uint32_t *)place.device,
                                                     (const float *)table.device,
                                                     (float *)output.device, count, stride);
    app_kernels_end(&device, "look_up", 1);
    app_array_to_host(&device, &output);

    const float *outputs = (const float *)output.host;
    print_lookup(outputs, count, lookup_count, common->seed);
    app_device_report(&device, (double)lookup_count, "lookups");
    bool is_right =
        !common->check || check_lookup((const uint32_t *)place.host, (const float *)table.host,
                                       outputs, count, stride);
    app_array_free(&device, &place);
    app_array_free(&device, &table);
    app_array_free(&device, &output);
    app_device_close(&device);
    return is_right;
}

int main(int argc, char **argv) {
    const app_program program = {"ra", "random reads or updates of a large table",
                                 "words of the table (update, rounded down to a power of two) or "
                                 "items of each array (lookup), or bytes such as 1GiB",
                                 NULL, "ra --size 16M --check"};
    app_common common = {NULL, {0, false}, 1, APP_MEMORY_COPY, false};
    int variant = VARIANT_UPDATE;
    uint64_t updates_per_word = 4;
    uint64_t updates_per_thread = 16;
    uint64_t stride = 100;
    const app_option options[] = {
        {"--variant", APP_OPTION_CHOICE, &variant, "update|lookup", 0, 0,
         "update: xor into random words; lookup: read a table at random places"},
        {"--updates", APP_OPTION_COUNT, &updates_per_word, "N", 1, 1e6,
         "update: updates per word of the table"},
        {"--updates-per-thread", APP_OPTION_COUNT, &updates_per_thread, "N", 1, 1e9,
         "update: updates per thread"},
        {"--stride", APP_OPTION_COUNT, &stride, "N", 1, 1e9,
         "lookup: one thread in N does a look-up"},
        {NULL, APP_OPTION_FLAG, NULL, NULL, 0, 0, NULL}};
    app_options_parse(argc, argv, &program, &common, options);
    bool is_right = variant == VARIANT_UPDATE
                        ? run_update(&common, updates_per_word, updates_per_thread)
                        : run_lookup(&common, stride);
    return is_right ? 0 : 1;
}

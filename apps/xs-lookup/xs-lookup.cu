/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cross-section lookups: what a Monte Carlo simulation of a nuclear reactor does most of its time.
 *
 * A neutron of some energy is in some material: how likely is it to react with it, and how? For
 * each nuclide of the material the two points of the nuclide's table around that energy are found
 * and interpolated between, and the results are added up, weighted by density. Two ways:
 *
 *   union    one search in a grid that has the energies of all nuclides; next to each of them
 * stands where it lies in every nuclide's table. One search, much memory nuclide  a search in each
 * nuclide's own table
 *
 *     union    0.11  0.13  0.20 ...        nuclide 0   0.11        0.20 ...    points of
 *     index     0,·   0,0   1,0 ...        nuclide 1         0.13        ...   energy and 5 values
 *
 * The data and their use are those of XSBench, smaller by default. Every multiply-add is a fused
 * one by name, so all devices and the serial check agree to the bit.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/kernel.h"
#include "common/memory.h"
#include "common/random.h"
#include "common/report.h"

#define THREADS 256
#define KINDS 5 /* of reactions: total, elastic, absorption, fission, neutrons from fission */
#define MATERIALS 12

enum { GRID_UNION, GRID_NUCLIDE };

typedef struct point {
    double energy; /* 0 to 1; ascending within a nuclide's table */
    double value[KINDS];
} point;

#define POINT_DOUBLES (sizeof(point) / sizeof(double))

/* What a lookup reads. */
typedef struct tables {
    const point *points;     /* [nuclide_count * point_count] nuclide by nuclide */
    const double *energies;  /* [nuclide_count * point_count] of all nuclides, ascending; or NULL */
    const uint32_t *index;   /* [the same * nuclide_count] the last point at or below the energy */
    const uint32_t *first;   /* [MATERIALS + 1] where the nuclides of a material begin */
    const uint32_t *nuclide; /* [first[MATERIALS]] */
    const double *density;   /* [first[MATERIALS]] */
    uint32_t nuclide_count;
    uint32_t point_count; /* of each nuclide, at least 2 */
} tables;

/* How often of 1000 lookups a neutron is in each material, and how many nuclides that has. The
 * first is the fuel, which has half of all. */
static const struct {
    uint32_t permille;
    uint32_t nuclides;
} materials[MATERIALS] = {{140, 0}, {52, 5},  {275, 4}, {134, 4}, {154, 27}, {64, 21},
                          {66, 21}, {55, 21}, {8, 21},  {15, 21}, {25, 9},   {12, 9}};

/* ---- one lookup, for the kernel and the check ------------------------------------------------ */

/* The last of `count` ascending energies, `step` doubles apart, that is not above `energy`; the
 * first if all are. */
static __host__ __device__ __forceinline__ uint64_t find_energy(const double *energies, size_t step,
                                                                uint64_t count, double energy) {
    uint64_t first = 0;
    uint64_t outer = count;
    while (outer - first > 1) {
        uint64_t middle = first + (outer - first) / 2;
        if (energies[middle * step] <= energy) {
            first = middle;
        } else {
            outer = middle;
        }
    }
    return first;
}

/* Adds what a nuclide contributes; `at` is the point at or below the energy. */
static __host__ __device__ __forceinline__ void add_nuclide(const point *points, uint32_t count,
                                                            uint64_t at, double energy,
                                                            double density, double *sums) {
    const point *low = points + (at + 2 <= count ? at : at - 1);
    const point *high = low + 1;
    double below = (high->energy - energy) / (high->energy - low->energy);
    for (int k = 0; k < KINDS; k++) {
        double value = fma(-below, high->value[k] - low->value[k], high->value[k]);
        sums[k] = fma(density, value, sums[k]);
    }
}

/* A number that depends on every bit of the sums. */
static __host__ __device__ __forceinline__ uint64_t digest(const double *sums) {
    uint64_t result = 0;
    for (int k = 0; k < KINDS; k++) {
        uint64_t bits;
        memcpy(&bits, &sums[k], sizeof bits);
        result = app_random_mix(result + bits);
    }
    return result;
}

static __host__ __device__ __forceinline__ uint64_t look_up(tables t, double energy,
                                                            uint32_t material) {
    double sums[KINDS] = {0.0};
    uint64_t place = 0;
    if (t.energies != NULL) {
        place = find_energy(t.energies, 1, (uint64_t)t.nuclide_count * t.point_count, energy);
    }
    for (uint32_t i = t.first[material]; i < t.first[material + 1]; i++) {
        uint32_t n = t.nuclide[i];
        const point *points = t.points + (size_t)n * t.point_count;
        uint64_t at = t.energies != NULL
                          ? t.index[place * t.nuclide_count + n]
                          : find_energy(&points->energy, POINT_DOUBLES, t.point_count, energy);
        add_nuclide(points, t.point_count, at, energy, t.density[i], sums);
    }
    return digest(sums);
}

/* Lookup i has the same energy and material wherever it is made. `borders` are the sums of the
 * materials' permille. */
static __host__ __device__ __forceinline__ uint64_t make_lookup(tables t, const uint32_t *borders,
                                                                uint64_t seed, uint64_t i) {
    app_random random = {seed, 2 * i};
    double energy = app_random_unit(&random);
    uint32_t drawn = app_random_below(&random, 1000);
    uint32_t material = 0;
    while (drawn >= borders[material]) {
        material++;
    }
    return look_up(t, energy, material);
}

__global__ void make_lookups(tables t, const uint32_t *borders, uint64_t seed, uint64_t *digests,
                             uint64_t count) {
    uint64_t i = app_thread();
    if (i < count) {
        digests[i] = make_lookup(t, borders, seed, i);
    }
}

/* ---- input ----------------------------------------------------------------------------------- */

static int compare_doubles(const void *a, const void *b) {
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Tables of random values at random energies; `energies` has room for those of one nuclide. */
static void generate_points(point *points, uint32_t nuclide_count, uint32_t point_count,
                            double *energies, uint64_t seed) {
    app_random random = {seed, 0};
    for (uint32_t n = 0; n < nuclide_count; n++) {
        for (uint32_t i = 0; i < point_count; i++) {
            energies[i] = app_random_unit(&random);
        }
        qsort(energies, point_count, sizeof *energies, compare_doubles);
        for (uint32_t i = 0; i < point_count; i++) {
            point *p = points + (size_t)n * point_count + i;
            p->energy = energies[i];
            for (int k = 0; k < KINDS; k++) {
                p->value[k] = app_random_unit(&random);
            }
        }
    }
}

/* The grid of all energies, and the index beside it. */
static void unite(const point *points, uint32_t nuclide_count, uint32_t point_count,
                  double *energies, uint32_t *index) {
    size_t count = (size_t)nuclide_count * point_count;
    uint32_t *at = (uint32_t *)app_allocate(nuclide_count, sizeof *at, "the grid");
    memset(at, 0, nuclide_count * sizeof *at);
    for (size_t i = 0; i < count; i++) {
        energies[i] = points[i].energy;
    }
    qsort(energies, count, sizeof *energies, compare_doubles);
    for (size_t i = 0; i < count; i++) {
        for (uint32_t n = 0; n < nuclide_count; n++) {
            const point *own = points + (size_t)n * point_count;
            while (at[n] + 1 < point_count && own[at[n] + 1].energy <= energies[i]) {
                at[n]++;
            }
            index[i * nuclide_count + n] = at[n];
        }
    }
    free(at);
}

static uint32_t nuclides_of(int material, uint32_t nuclide_count) {
    uint32_t count = material == 0 ? nuclide_count / 2 : materials[material].nuclides;
    return count < 1 ? 1 : count < nuclide_count ? count : nuclide_count;
}

/* Each material has one nuclide from each of as many equal parts of the list of all. */
static void generate_materials(uint32_t *first, uint32_t *nuclide, double *density,
                               uint32_t *borders, uint32_t nuclide_count, uint64_t seed) {
    app_random random = {seed, 0};
    uint32_t border = 0;
    first[0] = 0;
    for (int m = 0; m < MATERIALS; m++) {
        uint32_t count = nuclides_of(m, nuclide_count);
        for (uint32_t i = 0; i < count; i++) {
            uint32_t begin = (uint32_t)((uint64_t)i * nuclide_count / count);
            uint32_t outer = (uint32_t)((uint64_t)(i + 1) * nuclide_count / count);
            nuclide[first[m] + i] = begin + app_random_below(&random, outer - begin);
            density[first[m] + i] = app_random_unit(&random);
        }
        first[m + 1] = first[m] + count;
        border += materials[m].permille;
        borders[m] = border;
    }
}

/* ---- check, output --------------------------------------------------------------------------- */

static bool check(tables t, const uint32_t *borders, uint64_t seed, const uint64_t *digests,
                  uint64_t count) {
    uint64_t different = 0;
    for (uint64_t i = 0; i < count; i++) {
        different += digests[i] != make_lookup(t, borders, seed, i);
    }
    printf("check      %s lookups against serial ones: %s, %s differ\n", app_count(count),
           different == 0 ? "equal" : "DIFFERENT", app_count(different));
    return different == 0;
}

static void print_result(tables t, const uint64_t *digests, uint64_t count, uint64_t seed) {
    uint64_t sum = 0;
    for (uint64_t i = 0; i < count; i++) {
        sum += digests[i];
    }
    printf("tables     %s nuclides of %s points, %s in %d materials, seed %llu\n",
           app_count(t.nuclide_count), app_count(t.point_count), app_count(t.first[MATERIALS]),
           MATERIALS, (unsigned long long)seed);
    printf("lookups    %s, checksum %016llx\n\n", app_count(count), (unsigned long long)sum);
}

/* ---- the loop -------------------------------------------------------------------------------- */

typedef struct arrays {
    app_array points;
    app_array energies; /* the grid of all, and its index: not with GRID_NUCLIDE */
    app_array index;
    app_array first;
    app_array nuclide;
    app_array density;
    app_array borders;
    app_array digests;
} arrays;

static void create_materials(app_device *device, arrays *a, uint32_t nuclide_count, uint64_t seed) {
    size_t count = 0;
    for (int m = 0; m < MATERIALS; m++) {
        count += nuclides_of(m, nuclide_count);
    }
    app_array_create(device, &a->first, MATERIALS + 1, sizeof(uint32_t), "starts of materials",
                     APP_ROLE_INPUT);
    app_array_create(device, &a->nuclide, count, sizeof(uint32_t), "nuclides of materials",
                     APP_ROLE_INPUT);
    app_array_create(device, &a->density, count, sizeof(double), "densities", APP_ROLE_INPUT);
    app_array_create(device, &a->borders, MATERIALS, sizeof(uint32_t), "shares of materials",
                     APP_ROLE_INPUT);
    generate_materials((uint32_t *)a->first.host, (uint32_t *)a->nuclide.host,
                       (double *)a->density.host, (uint32_t *)a->borders.host, nuclide_count,
                       app_random_at(seed, 0));
    app_array_to_device(device, &a->first);
    app_array_to_device(device, &a->nuclide);
    app_array_to_device(device, &a->density);
    app_array_to_device(device, &a->borders);
}

static void create_arrays(app_device *device, arrays *a, uint32_t nuclide_count,
                          uint32_t point_count, int grid, uint64_t lookup_count, uint64_t seed) {
    size_t count = (size_t)nuclide_count * point_count;
    double *energies = (double *)app_allocate(point_count, sizeof *energies, "the tables");
    memset(a, 0, sizeof *a);
    app_array_create(device, &a->points, count, sizeof(point), "tables", APP_ROLE_INPUT);
    generate_points((point *)a->points.host, nuclide_count, point_count, energies, seed);
    free(energies);
    if (grid == GRID_UNION) {
        app_array_create(device, &a->energies, count, sizeof(double), "grid", APP_ROLE_INPUT);
        app_array_create(device, &a->index, count, nuclide_count * sizeof(uint32_t), "index",
                         APP_ROLE_INPUT);
        unite((const point *)a->points.host, nuclide_count, point_count, (double *)a->energies.host,
              (uint32_t *)a->index.host);
        app_array_to_device(device, &a->energies);
        app_array_to_device(device, &a->index);
    }
    app_array_to_device(device, &a->points);
    create_materials(device, a, nuclide_count, seed);
    app_array_create(device, &a->digests, lookup_count, sizeof(uint64_t), "digests",
                     APP_ROLE_STATE);
}

static void free_arrays(app_device *device, arrays *a) {
    app_array *all[] = {&a->points,  &a->energies, &a->index,   &a->first,
                        &a->nuclide, &a->density,  &a->borders, &a->digests};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        app_array_free(device, all[i]);
    }
}

int main(int argc, char **argv) {
    const app_program program = {"xs-lookup", "cross-section look-up of neutron transport",
                                 "points of each nuclide's table, or bytes such as 1GiB", NULL,
                                 "xs-lookup --size 1K --lookups 1M --check"};
    app_common common = {NULL, {0, false}, 1, APP_MEMORY_COPY, false};
    uint64_t nuclide_count = 68;
    uint64_t lookup_count = 64 * 1024;
    int grid = GRID_UNION;
    const app_option options[] = {
        {"--nuclides", APP_OPTION_COUNT, &nuclide_count, "N", 1, 10000, "nuclides with a table"},
        {"--lookups", APP_OPTION_COUNT, &lookup_count, "N", 1, 1e11, "number of look-ups"},
        {"--grid", APP_OPTION_CHOICE, &grid, "union|nuclide", 0, 0,
         "one search in all energies, or one in each nuclide's table"},
        {NULL, APP_OPTION_FLAG, NULL, NULL, 0, 0, NULL}};
    app_options_parse(argc, argv, &program, &common, options);
    double index_bytes = grid == GRID_UNION ? 8.0 + 4.0 * (double)nuclide_count : 0.0;
    uint32_t point_count = (uint32_t)app_size_items(
        common.size, (double)nuclide_count * (sizeof(point) + index_bytes), 256, 2, 1u << 31);
    uint64_t lookup_seed = app_random_at(common.seed, 1);

    app_device device;
    arrays a;
    app_device_open(&device, common.memory);
    create_arrays(&device, &a, (uint32_t)nuclide_count, point_count, grid, lookup_count,
                  common.seed);
    tables on_device = {(const point *)a.points.device,
                        (const double *)a.energies.device,
                        (const uint32_t *)a.index.device,
                        (const uint32_t *)a.first.device,
                        (const uint32_t *)a.nuclide.device,
                        (const double *)a.density.device,
                        (uint32_t)nuclide_count,
                        point_count};
    app_kernels_begin(&device);
    make_lookups<<<app_blocks(lookup_count, THREADS), THREADS>>>(
        on_device, (const uint32_t *)a.borders.device, lookup_seed, (uint64_t *)a.digests.device,
        lookup_count);
    app_kernels_end(&device, "make_lookups", 1);
    app_array_to_host(&device, &a.digests);

    tables on_host = {(const point *)a.points.host,     (const double *)a.energies.host,
                      (const uint32_t *)a.index.host,   (const uint32_t *)a.first.host,
                      (const uint32_t *)a.nuclide.host, (const double *)a.density.host,
                      (uint32_t)nuclide_count,          point_count};
    print_result(on_host, (const uint64_t *)a.digests.host, lookup_count, common.seed);
    app_device_report(&device, (double)lookup_count, "lookups");
    bool is_right = !common.check || check(on_host, (const uint32_t *)a.borders.host, lookup_seed,
                                           (const uint64_t *)a.digests.host, lookup_count);
    free_arrays(&device, &a);
    app_device_close(&device);
    return is_right ? 0 : 1;
}

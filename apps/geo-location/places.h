/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Places of the earth, and the nearest one to a point: for a kernel, and for the host.
 *
 * Coordinates are whole numbers of 1/100000 degree, so that both find the same place. The earth is
 * divided into cells of half a degree. The nearest place is looked for in the point's cell and the
 * eight around it; distances are those of a plane on which the longitude is scaled by the cosine of
 * the cell's latitude.
 */
#ifndef GEO_PLACES_H
#define GEO_PLACES_H

#include <cuda_runtime.h>
#include <stdbool.h>
#include <stdint.h>

#define PLACE_NONE UINT32_MAX
#define DEGREE 100000
#define CELL (DEGREE / 2)
#define CELL_ROWS 360
#define CELL_COLUMNS 720
#define CELL_COUNT (CELL_ROWS * CELL_COLUMNS)
#define SCALE_BITS 15

typedef struct place {
    int32_t latitude, longitude;
    uint32_t name, name_bytes; /* in places.names: "Toronto, CA" */
} place;

typedef struct places {
    place *place;         /* [count], by cell */
    uint32_t *cell_first; /* [CELL_COUNT + 1]: cell c has the places from cell_first[c] on */
    char *names;
    uint32_t count, names_bytes;
    int32_t scale[CELL_ROWS]; /* the cosine of the row's latitude, in SCALE_BITS */
} places;

/** Reads a table of GeoNames, plain or `.zst`. */
void app_places_read(places *p, const char *path);
void app_places_generate(places *p, uint32_t count, uint64_t seed);
void app_places_free(places *p);
/** A copy in device memory, whose address kernels use; app_places_free_copy frees it. */
const places *app_places_copy(const places *p);
void app_places_free_copy(const places *on_device);

static __host__ __device__ __forceinline__ int32_t app_cell_row(int32_t latitude) {
    const int32_t row = (latitude + 90 * DEGREE) / CELL;
    return row < CELL_ROWS ? row : CELL_ROWS - 1;
}
static __host__ __device__ __forceinline__ int32_t app_cell_column(int32_t longitude) {
    return (longitude + 180 * DEGREE) / CELL % CELL_COLUMNS;
}

/** The square of the distance of a place from a point in `row`. */
static __host__ __device__ __forceinline__ uint64_t app_place_distance(const place *to, int32_t row,
                                                                       int32_t latitude,
                                                                       int32_t longitude,
                                                                       const int32_t *scale) {
    const int64_t north = to->latitude - latitude;
    int64_t east = to->longitude - longitude;
    east = east < 0 ? -east : east;
    east = east > 180 * DEGREE ? 360 * DEGREE - east : east;
    east = east * scale[row] >> SCALE_BITS;
    return (uint64_t)(north * north + east * east);
}

/** The nearest place; PLACE_NONE: there is none in the nine cells. */
static __host__ __device__ __forceinline__ uint32_t app_places_nearest(const places *p,
                                                                       int32_t latitude,
                                                                       int32_t longitude) {
    const int32_t row = app_cell_row(latitude), column = app_cell_column(longitude);
    uint32_t nearest = PLACE_NONE;
    uint64_t shortest = UINT64_MAX;
    for (int32_t r = row - 1; r <= row + 1; r++) {
        if (r < 0 || r >= CELL_ROWS) {
            continue;
        }
        for (int32_t c = column - 1; c <= column + 1; c++) {
            const uint32_t cell =
                (uint32_t)(r * CELL_COLUMNS + (c + CELL_COLUMNS) % CELL_COLUMNS);
            const uint32_t outer = p->cell_first[cell + 1];
            for (uint32_t i = p->cell_first[cell]; i < outer; i++) {
                const uint64_t distance =
                    app_place_distance(&p->place[i], row, latitude, longitude, p->scale);
                if (distance < shortest || (distance == shortest && i < nearest)) {
                    shortest = distance;
                    nearest = i;
                }
            }
        }
    }
    return nearest;
}

#endif

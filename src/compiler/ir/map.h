/* SPDX-License-Identifier: Apache-2.0 */
/** A map from LLVM values (or blocks) to values or numbers, for cloning and analyses. `{0}` is an
 *  empty map. There is no iteration, as order by pointer is not deterministic. */
#ifndef WP_IR_MAP_H
#define WP_IR_MAP_H

#include <stdbool.h>
#include <stdint.h>

typedef struct wpi_map_entry wpi_map_entry;
typedef struct wpi_map {
    wpi_map_entry *entries;
} wpi_map;

void wpi_map_set(wpi_map *map, const void *key, void *value);
void *wpi_map_get(const wpi_map *map, const void *key); /* NULL when absent */
void wpi_map_set_index(wpi_map *map, const void *key, uint32_t index);
uint32_t wpi_map_index(const wpi_map *map, const void *key); /* UINT32_MAX when absent */
bool wpi_map_has(const wpi_map *map, const void *key);
void wpi_map_deinit(wpi_map *map);

#endif

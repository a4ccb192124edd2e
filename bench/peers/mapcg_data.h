/* SPDX-License-Identifier: Apache-2.0 */
/* What map of mapcg_map.h knows beside its record: MapCG includes this as "DS.h". */
#ifndef MAPCG_DATA_H
#define MAPCG_DATA_H

struct places;

struct global_data_t {
    char *content;            /* the lines, a NUL behind each; MapCG copies it to the device */
    const struct places *all; /* on the device */
};

#endif

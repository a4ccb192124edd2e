/* SPDX-License-Identifier: Apache-2.0 */
/** The places of an event wheel that are not empty: a bitmap with a summary. */
#ifndef WP_SIM_PLACE_SET_H
#define WP_SIM_PLACE_SET_H

#include <stdbool.h>
#include <stdint.h>

#define WPI_PLACES_MAX (1u << 16)
#define WPI_PLACE_WORDS (WPI_PLACES_MAX / 64)
#define WPI_PLACE_SUMMARIES (WPI_PLACE_WORDS / 64)
#define WPI_NO_PLACE UINT32_MAX

typedef struct wpi_place_set {
    uint64_t summary[WPI_PLACE_SUMMARIES]; /* a bit for each word that is not 0 */
    uint64_t words[WPI_PLACE_WORDS];       /* a bit for each place */
} wpi_place_set;

static inline bool wpi_place_set_has(const wpi_place_set *places, uint32_t at) {
    return (places->words[at / 64] >> (at % 64) & 1) != 0;
}

static inline void wpi_place_set_add(wpi_place_set *places, uint32_t at) {
    places->words[at / 64] |= (uint64_t)1 << (at % 64);
    places->summary[at / 4096] |= (uint64_t)1 << (at / 64 % 64);
}

static inline void wpi_place_set_remove(wpi_place_set *places, uint32_t at) {
    places->words[at / 64] &= ~((uint64_t)1 << (at % 64));
    if (places->words[at / 64] == 0) places->summary[at / 4096] &= ~((uint64_t)1 << (at / 64 % 64));
}

/** The first place of the set at or after `from`, with wrap-around; WPI_NO_PLACE: none. */
static inline uint32_t wpi_place_set_next(const wpi_place_set *places, uint32_t from) {
    const uint32_t word = from / 64;
    const uint64_t here = places->words[word] >> (from % 64);
    if (here != 0) return from + (uint32_t)__builtin_ctzll(here);
    uint32_t group = word / 64;
    /* Searches later words of this group, the other groups, then the first words of this group. */
    uint64_t summary =
        word % 64 == 63 ? 0 : places->summary[group] >> (word % 64 + 1) << (word % 64 + 1);
    for (uint32_t i = 0; summary == 0 && i < WPI_PLACE_SUMMARIES; i++) {
        group = (group + 1) % WPI_PLACE_SUMMARIES;
        summary = places->summary[group];
    }
    if (summary == 0) return WPI_NO_PLACE;
    const uint32_t found = group * 64 + (uint32_t)__builtin_ctzll(summary);
    return found * 64 + (uint32_t)__builtin_ctzll(places->words[found]);
}

#endif

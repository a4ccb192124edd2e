/* SPDX-License-Identifier: Apache-2.0 */
/** The words that an actor waits for (wp_actor_watch). Thread rule: the actor's. */
#ifndef WP_DEVICE_WATCHED_WORDS_H
#define WP_DEVICE_WATCHED_WORDS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct wpi_watched_word {
    const volatile uint32_t *word;
    uint32_t value;
} wpi_watched_word;

/** `{0}`: none. */
typedef struct wpi_watched_words {
    wpi_watched_word *list;
    uint32_t count, room;
    bool is_incomplete; /* there was no memory for one of them: asks to be polled */
} wpi_watched_words;

void wpi_watched_words_add(wpi_watched_words *words, const volatile uint32_t *word, uint32_t value);
/** Keeps the memory. */
void wpi_watched_words_clear(wpi_watched_words *words);
/** Whether to step: one has changed, or not all that there are could be noted, or there are none.
 */
bool wpi_watched_words_are_due(const wpi_watched_words *words);
void wpi_watched_words_deinit(wpi_watched_words *words);

#endif

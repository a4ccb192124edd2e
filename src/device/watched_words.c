/* SPDX-License-Identifier: Apache-2.0 */
#include "device/watched_words.h"

#include "base/alloc.h"

void wpi_watched_words_add(wpi_watched_words *w, const volatile uint32_t *word, uint32_t value) {
    if (w->count == w->room) {
        const uint32_t room = w->room == 0 ? 4 : 2 * w->room;
        wpi_watched_word *list = wpi_realloc(w->list, room * sizeof *list);
        if (list == NULL) {
            w->is_incomplete = true;
            return;
        }
        w->list = list;
        w->room = room;
    }
    w->list[w->count++] = (wpi_watched_word){word, value};
}

void wpi_watched_words_clear(wpi_watched_words *w) {
    w->count = 0;
    w->is_incomplete = false;
}

bool wpi_watched_words_are_due(const wpi_watched_words *w) {
    for (uint32_t i = 0; i < w->count; i++)
        if (__atomic_load_n(w->list[i].word, __ATOMIC_ACQUIRE) != w->list[i].value) return true;
    return w->count == 0 || w->is_incomplete;
}

void wpi_watched_words_deinit(wpi_watched_words *w) {
    wpi_free(w->list);
    *w = (wpi_watched_words){0};
}

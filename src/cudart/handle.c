/* SPDX-License-Identifier: Apache-2.0 */
/* Sets of live handles: a hash table a kind, under one lock. */
#include <pthread.h>

#include "base/alloc.h"
#include "cudart/cudart.h"
#include "cudart/hash_map.h"

typedef struct handle_entry {
    const void *handle;
    UT_hash_handle hh;
} handle_entry;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static handle_entry *sets[WPI_HANDLE_COUNT];

bool wpi_handle_add(wpi_handle_kind kind, void *handle) {
    handle_entry *entry = wpi_calloc(1, sizeof *entry);
    if (entry == NULL) return false;
    entry->handle = handle;
    pthread_mutex_lock(&lock);
    HASH_ADD_PTR(sets[kind], handle, entry);
    const bool is_in = entry->hh.tbl != NULL; /* uthash clears it when memory is out */
    pthread_mutex_unlock(&lock);
    if (!is_in) wpi_free(entry);
    return is_in;
}

bool wpi_handle_is_live(wpi_handle_kind kind, const void *handle) {
    handle_entry *entry = NULL;
    pthread_mutex_lock(&lock);
    HASH_FIND_PTR(sets[kind], &handle, entry);
    pthread_mutex_unlock(&lock);
    return entry != NULL;
}

bool wpi_handle_remove(wpi_handle_kind kind, const void *handle) {
    handle_entry *entry = NULL;
    pthread_mutex_lock(&lock);
    HASH_FIND_PTR(sets[kind], &handle, entry);
    if (entry != NULL) HASH_DEL(sets[kind], entry);
    pthread_mutex_unlock(&lock);
    wpi_free(entry);
    return entry != NULL;
}

void *wpi_handle_take(wpi_handle_kind kind, bool (*is_wanted)(void *handle, const void *arg),
                      const void *arg) {
    void *handle = NULL;
    pthread_mutex_lock(&lock);
    handle_entry *entry = sets[kind];
    while (entry != NULL && !is_wanted((void *)(uintptr_t)entry->handle, arg))
        entry = entry->hh.next;
    if (entry != NULL) {
        handle = (void *)(uintptr_t)entry->handle;
        HASH_DEL(sets[kind], entry);
    }
    pthread_mutex_unlock(&lock);
    wpi_free(entry);
    return handle;
}

bool wpi_handle_all(wpi_handle_kind kind, bool (*visit)(void *handle, void *arg), void *arg) {
    bool go_on = true;
    pthread_mutex_lock(&lock);
    for (handle_entry *e = sets[kind]; e != NULL && go_on; e = e->hh.next)
        go_on = visit((void *)(uintptr_t)e->handle, arg);
    pthread_mutex_unlock(&lock);
    return go_on;
}

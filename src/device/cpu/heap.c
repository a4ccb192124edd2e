/* SPDX-License-Identifier: Apache-2.0 */
/**
 * malloc and free of kernels: one range of memory, divided into chunks with boundary tags.
 *
 *     ┌────────┬───────────┬────────┬──────────────┬─ ─ ─
 *     │ header │ user data │ header │ free: links  │
 *     └────────┴───────────┴────────┴──────────────┴─ ─ ─
 *
 * Free chunks are in lists by size class (powers of two); neighbours are merged when freed. A
 * header has a mark that depends on its address: a write past a chunk is detected at the next call
 * that reads the header, before a damaged link is followed. One lock: device malloc is rare, and
 * slow on GPUs too.
 */
#define _GNU_SOURCE /* MAP_ANONYMOUS, MAP_NORESERVE */
#include "device/cpu/arena.h"
#include "device/cpu/cpu.h"

#include <sys/mman.h>

#include "base/alloc.h"

#define UNIT_BYTES ((size_t)16)
#define CLASS_COUNT 64u
#define MARK_USED 0x75736564u
#define MARK_FREE 0x66726565u

typedef struct chunk {
    uint32_t mark;         /* depends on the address; first, so that an overrun hits it first */
    uint32_t before_units; /* size of the chunk before it, in units; 0: it is the first */
    size_t size_bytes;     /* of this chunk with its header */
    /* a free chunk's links lie in its data */
    struct chunk *next_free, *previous_free;
} chunk;

#define HEADER_BYTES offsetof(chunk, next_free)
#define CHUNK_BYTES_MIN (((sizeof(chunk) + UNIT_BYTES - 1) / UNIT_BYTES) * UNIT_BYTES)

struct wpi_heap {
    pthread_mutex_t lock;
    char *memory;
    size_t size_bytes;
    size_t live_count;
    chunk *free[CLASS_COUNT];
    uint64_t classes; /* bit c: free[c] is not empty */
};

static uint32_t mark_of(const chunk *c, uint32_t mark) {
    return mark ^ (uint32_t)((uintptr_t)c >> 4);
}

static bool is_marked(const chunk *c, uint32_t mark) {
    return c->mark == mark_of(c, mark);
}

static uint32_t class_of(size_t size_bytes) {
    return 63u - (uint32_t)__builtin_clzll((unsigned long long)size_bytes);
}

static chunk *after(const wpi_heap *heap, chunk *c) {
    char *next = (char *)c + c->size_bytes;
    return next < heap->memory + heap->size_bytes ? (chunk *)(void *)next : NULL;
}

static chunk *before(chunk *c) {
    if (c->before_units == 0) return NULL;
    return (chunk *)(void *)((char *)c - (size_t)c->before_units * UNIT_BYTES);
}

static void set_size(wpi_heap *heap, chunk *c, size_t size_bytes) {
    c->size_bytes = size_bytes;
    chunk *next = after(heap, c);
    if (next != NULL) next->before_units = (uint32_t)(size_bytes / UNIT_BYTES);
}

static void insert(wpi_heap *heap, chunk *c) {
    const uint32_t class = class_of(c->size_bytes);
    c->mark = mark_of(c, MARK_FREE);
    c->previous_free = NULL;
    c->next_free = heap->free[class];
    if (c->next_free != NULL) c->next_free->previous_free = c;
    heap->free[class] = c;
    heap->classes |= (uint64_t)1 << class;
}

static void take_out(wpi_heap *heap, chunk *c) {
    const uint32_t class = class_of(c->size_bytes);
    if (c->next_free != NULL) c->next_free->previous_free = c->previous_free;
    *(c->previous_free != NULL ? &c->previous_free->next_free : &heap->free[class]) = c->next_free;
    if (heap->free[class] == NULL) heap->classes &= ~((uint64_t)1 << class);
}

static void *map_heap(size_t size_bytes, bool is_fixed, uint32_t device) {
    void *memory = is_fixed ? wpi_arena_map_on(device, size_bytes, 0) : NULL;
    if (memory != NULL) return memory;
    memory = mmap(NULL, size_bytes, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return memory != MAP_FAILED ? memory : NULL;
}

wp_status wpi_heap_create(size_t size_bytes, bool is_fixed, uint32_t device, wpi_heap **out,
                          wp_error *err) {
    *out = NULL;
    const size_t size_max = (size_t)UINT32_MAX * UNIT_BYTES; /* before_units counts up to here */
    size_bytes = size_bytes / UNIT_BYTES * UNIT_BYTES;
    if (size_bytes > size_max) size_bytes = size_max;
    if (size_bytes < CHUNK_BYTES_MIN) size_bytes = CHUNK_BYTES_MIN;
    wpi_heap *heap = wpi_calloc(1, sizeof *heap);
    if (heap == NULL) return WP_FAIL(err, NOMEM, "heap of kernels");
    void *memory = map_heap(size_bytes, is_fixed, device);
    if (memory == NULL) {
        wpi_free(heap);
        return WP_FAIL(err, NOMEM, "a heap of %zu bytes for kernels", size_bytes);
    }
    pthread_mutex_init(&heap->lock, NULL);
    heap->memory = memory;
    heap->size_bytes = size_bytes;
    chunk *c = memory;
    c->size_bytes = size_bytes;
    c->before_units = 0;
    insert(heap, c);
    *out = heap;
    return WP_STATUS_OK;
}

void wpi_heap_destroy(wpi_heap *heap) {
    if (heap == NULL) return;
    if (!wpi_arena_unmap(heap->memory, heap->size_bytes)) munmap(heap->memory, heap->size_bytes);
    pthread_mutex_destroy(&heap->lock);
    wpi_free(heap);
}

size_t wpi_heap_size(const wpi_heap *heap) {
    return heap->size_bytes;
}

const void *wpi_heap_base(const wpi_heap *heap) {
    return heap->memory;
}

bool wpi_heap_is_empty(wpi_heap *heap) {
    pthread_mutex_lock(&heap->lock);
    const bool answer = heap->live_count == 0;
    pthread_mutex_unlock(&heap->lock);
    return answer;
}

/* A free chunk of at least `need` bytes. All of a higher class fit; in the request's own class a
 * few are examined. NULL: none, or the list was overwritten. */
static chunk *find(wpi_heap *heap, size_t need) {
    const uint32_t class = class_of(need);
    chunk *c = heap->free[class];
    for (uint32_t looks = 0; c != NULL && looks < 16; looks++, c = c->next_free) {
        if (!is_marked(c, MARK_FREE)) return NULL;
        if (c->size_bytes >= need) return c;
    }
    const uint64_t higher = class < 63u ? heap->classes & ~(((uint64_t)2 << class) - 1) : 0;
    if (higher != 0) {
        c = heap->free[__builtin_ctzll(higher)];
        return is_marked(c, MARK_FREE) ? c : NULL;
    }
    for (; c != NULL; c = c->next_free) { /* last, all of its own class */
        if (!is_marked(c, MARK_FREE)) return NULL;
        if (c->size_bytes >= need) return c;
    }
    return NULL;
}

void *wpi_heap_alloc(wpi_heap *heap, uint64_t size_bytes) {
    if (size_bytes == 0 || size_bytes > heap->size_bytes) return NULL;
    size_t need = (HEADER_BYTES + (size_t)size_bytes + UNIT_BYTES - 1) / UNIT_BYTES * UNIT_BYTES;
    if (need < CHUNK_BYTES_MIN) need = CHUNK_BYTES_MIN;
    pthread_mutex_lock(&heap->lock);
    chunk *c = find(heap, need);
    if (c != NULL) {
        take_out(heap, c);
        if (c->size_bytes - need >= CHUNK_BYTES_MIN) {
            chunk *rest = (chunk *)(void *)((char *)c + need);
            const size_t rest_bytes = c->size_bytes - need;
            c->size_bytes = need;
            rest->before_units = (uint32_t)(need / UNIT_BYTES);
            set_size(heap, rest, rest_bytes);
            insert(heap, rest);
        }
        c->mark = mark_of(c, MARK_USED);
        heap->live_count++;
    }
    pthread_mutex_unlock(&heap->lock);
    return c != NULL ? (char *)c + HEADER_BYTES : NULL;
}

bool wpi_heap_free(wpi_heap *heap, void *pointer) {
    char *const p = pointer;
    if (p < heap->memory + HEADER_BYTES || p >= heap->memory + heap->size_bytes ||
        (size_t)(p - heap->memory) % UNIT_BYTES != HEADER_BYTES % UNIT_BYTES) {
        return false;
    }
    chunk *c = (chunk *)(void *)(p - HEADER_BYTES);
    pthread_mutex_lock(&heap->lock);
    const bool is_live = is_marked(c, MARK_USED);
    if (is_live) {
        heap->live_count--;
        size_t size_bytes = c->size_bytes;
        chunk *next = after(heap, c);
        if (next != NULL && is_marked(next, MARK_FREE)) {
            take_out(heap, next);
            next->mark = 0;
            size_bytes += next->size_bytes;
        }
        chunk *previous = before(c);
        if (previous != NULL && is_marked(previous, MARK_FREE)) {
            take_out(heap, previous);
            c->mark = 0;
            size_bytes += previous->size_bytes;
            c = previous;
        }
        set_size(heap, c, size_bytes);
        insert(heap, c);
    }
    pthread_mutex_unlock(&heap->lock);
    return is_live;
}

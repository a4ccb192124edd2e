/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events that processes share: two counters in a page of a file in memory. A record takes a number
 * and queues a host function that stores it as done; a wait takes the last number and waits until
 * it is done. Waiters look again at intervals, since their work is a kernel's or a process' length.
 */
#define _GNU_SOURCE /* memfd_create */
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "cudart/process/process.h"
#include "device/device.h"

#define LOOK_INTERVAL_NS 20000

typedef struct counters {
    _Atomic uint64_t recorded; /* the last number that was taken */
    _Atomic uint64_t done;     /* the largest number that was reached */
} counters;

struct wpi_shared_event {
    counters *shared;
    int file; /* negative: of another process */
    atomic_uint uses;
};

/* Work in a queue that concerns an event. */
typedef struct step {
    wpi_shared_event *event;
    uint64_t number;
} step;

static wpi_shared_event *map_file(int file) {
    wpi_shared_event *made = wpi_calloc(1, sizeof *made);
    if (made == NULL) return NULL;
    void *shared = mmap(NULL, sizeof(counters), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (shared == MAP_FAILED) {
        wpi_free(made);
        return NULL;
    }
    made->shared = shared;
    made->file = -1;
    atomic_init(&made->uses, 1);
    return made;
}

wpi_shared_event *wpi_shared_event_create(void) {
    const int file = memfd_create("warpage-event", MFD_CLOEXEC);
    if (file < 0) return NULL;
    wpi_shared_event *made = ftruncate(file, (off_t)sizeof(counters)) == 0 ? map_file(file) : NULL;
    if (made == NULL)
        (void)close(file);
    else
        made->file = file;
    return made;
}

wpi_shared_event *wpi_shared_event_open(const wpi_shared_handle *handle) {
    if (handle->size_bytes != sizeof(counters)) return NULL;
    const int file = wpi_shared_open(handle, WPI_SHARED_EVENT_MAGIC);
    if (file < 0) return NULL;
    wpi_shared_event *made = map_file(file);
    (void)close(file);
    return made;
}

bool wpi_shared_event_describe(const wpi_shared_event *event, wpi_shared_handle *out) {
    return event->file >= 0 &&
           wpi_shared_describe(event->file, WPI_SHARED_EVENT_MAGIC, sizeof(counters), out);
}

void wpi_shared_event_release(wpi_shared_event *event) {
    if (event == NULL || atomic_fetch_sub(&event->uses, 1) > 1) return;
    (void)munmap(event->shared, sizeof(counters));
    if (event->file >= 0) (void)close(event->file);
    wpi_free(event);
}

static bool is_reached(const wpi_shared_event *event, uint64_t number) {
    return atomic_load(&event->shared->done) >= number;
}

static void wait_for(const wpi_shared_event *event, uint64_t number) {
    const struct timespec interval = {.tv_nsec = LOOK_INTERVAL_NS};
    while (!is_reached(event, number))
        (void)nanosleep(&interval, NULL);
}

static void reach(void *arg) {
    const step s = *(step *)arg;
    wpi_free(arg);
    uint64_t done = atomic_load(&s.event->shared->done);
    while (done < s.number &&
           !atomic_compare_exchange_weak(&s.event->shared->done, &done, s.number))
        ;
    wpi_shared_event_release(s.event);
}

static void wait_in_queue(void *arg) {
    const step s = *(step *)arg;
    wpi_free(arg);
    wait_for(s.event, s.number);
    wpi_shared_event_release(s.event);
}

static cudaError_t queue_step(wpi_shared_event *event, uint64_t number, wp_queue *queue,
                              void (*function)(void *)) {
    step *queued = wpi_malloc(sizeof *queued);
    if (queued == NULL) return cudaErrorMemoryAllocation;
    *queued = (step){.event = event, .number = number};
    atomic_fetch_add(&event->uses, 1);
    wp_error err = {0};
    const wp_status status = wp_queue_host_call(queue, function, queued, &err);
    if (status != WP_STATUS_OK) {
        wpi_free(queued);
        wpi_shared_event_release(event);
    }
    return wpi_result(status, &err);
}

cudaError_t wpi_shared_event_record(wpi_shared_event *event, wp_queue *queue) {
    const uint64_t number = atomic_fetch_add(&event->shared->recorded, 1) + 1;
    return queue_step(event, number, queue, reach);
}

cudaError_t wpi_shared_event_queue_wait(wpi_shared_event *event, wp_queue *queue) {
    const uint64_t number = atomic_load(&event->shared->recorded);
    if (is_reached(event, number)) return cudaSuccess;
    return queue_step(event, number, queue, wait_in_queue);
}

bool wpi_shared_event_is_done(const wpi_shared_event *event) {
    return is_reached(event, atomic_load(&event->shared->recorded));
}

void wpi_shared_event_wait(const wpi_shared_event *event) {
    wait_for(event, atomic_load(&event->shared->recorded));
}

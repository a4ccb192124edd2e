/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The host as part of the machine: work that it does, and actors that answer a running kernel.
 *
 * On a simulated GPU host code takes no time unless it is declared here, or is a memcpy into
 * page-locked memory: gathering a gigabyte for a copy would be free. Work that is both declared and
 * copied by memcpy counts once. Declared work costs what the host model says (cores, memory
 * bandwidth, latency; docs/rooms/host.md). On cpu and cuda the work itself takes time, so declaring
 * it does nothing there, and one program serves all devices.
 *
 * An actor is a state machine on the host that a running kernel talks to through words of mapped
 * memory. It is a function that is called, does a little, and says what to wait for:
 *
 *     kernel ── stores to a word in mapped memory ──► step(): gathers, declares the work
 *     kernel ◄── copies: data, then a flag ────────── step(): the work is done, queues copies
 *
 * On cpu and cuda each actor is a thread that yields while it waits. On sim it is an event: it
 * wakes host.notice after the store, and the same program takes the same simulated time in every
 * run.
 *
 * Thread rule: functions may be called from any thread, those marked "in a step" only by the
 * actor's own step function.
 */
#ifndef WARPAGE_HOST_H
#define WARPAGE_HOST_H

#include "warpage/device.h"

#ifdef __cplusplus
extern "C" {
#endif

/** How memory is read. */
typedef enum wp_host_pattern {
    WP_HOST_SEQUENTIAL = 0, /* in order: the prefetchers keep up */
    WP_HOST_RANDOM,         /* pieces of access_bytes that lie anywhere: each begins with a miss */
    WP_HOST_PATTERN_COUNT
} wp_host_pattern;

/** Work on host memory. Zeros are allowed everywhere; work without bytes costs nothing. */
typedef struct wp_host_work {
    uint64_t read_bytes;    /* read by `pattern` */
    uint64_t written_bytes; /* written in order; cost includes reading the lines first */
    wp_host_pattern pattern;
    uint32_t access_bytes; /* RANDOM: bytes of a piece; 0: 8 */
    uint32_t threads;      /* that share the work; 0: 1 */
} wp_host_work;

/** The calling thread has done, or is about to do, this work: on sim simulated time passes by its
 * cost before the call returns. In a host function of a queue the function takes that much longer;
 * in an actor's step the next step comes when the work is done. INVALID: no such pattern, more than
 * 4096 threads, more than 1 PiB. */
WP_NODISCARD WP_API wp_status wp_device_host_work(wp_device *device, const wp_host_work *work,
                                                  wp_error *err);
/** The same as a command of a queue: what is queued behind it waits for it. */
WP_NODISCARD WP_API wp_status wp_queue_host_work(wp_queue *queue, const wp_host_work *work,
                                                 wp_error *err);

typedef struct wp_actor wp_actor;

typedef enum wp_actor_answer {
    WP_ACTOR_GOES_ON = 0, /* step again, after the declared work, when a watched word has changed */
    WP_ACTOR_ENDS
} wp_actor_answer;

/** What an actor does. It may read and write host memory, queue commands, and declare work; it must
 * not wait. Commands that it queues start before the work it declares in the same step; what must
 * come after that work belongs into the next step. */
typedef wp_actor_answer (*wp_actor_step)(wp_actor *actor, void *object);

/** Starts an actor; its first step comes at once. `name` (static storage) is for messages. NOMEM.
 */
WP_NODISCARD WP_API wp_status wp_actor_start(wp_device *device, const char *name,
                                             wp_actor_step step, void *object, wp_actor **out,
                                             wp_error *err);
/** In a step: the next one comes when `*word` is no longer `value`; at once, if it is not now. May
 * be called for several words: a change of one is enough. Words lie in mapped memory
 * (WP_MEMORY_PINNED or registered), 4 bytes, aligned. A step that watches nothing and declares
 * nothing is called again after host.poll. */
WP_API void wp_actor_watch(wp_actor *actor, const volatile uint32_t *word, uint32_t value);
/** Waits until the actor has ended. The device's sticky error, if its kernels failed meanwhile:
 * then the actor is ended as well, without another step. */
WP_NODISCARD WP_API wp_status wp_actor_wait(wp_actor *actor, wp_error *err);
/** Ends the actor after the step under way, if any, and frees it. NULL allowed. */
WP_API void wp_actor_destroy(wp_actor *actor);

#ifdef __cplusplus
}
#endif
#endif

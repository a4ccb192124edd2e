/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The insides of the stand-in for the driver: its objects, its lock, and how every function begins
 * and ends. One lock guards everything; it is not held while a stream works or a thread waits.
 */
#ifndef FAKE_H
#define FAKE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/cuda/libcuda.h"
#include "fake_cuda.h"
#include "ptx_machine/ptx_machine.h"

#define EXPORT __attribute__((visibility("default")))

enum { FAKE_SM_COUNT = 108, FAKE_THREADS_PER_SM = 2048, FAKE_SHARED_PER_SM = 167936 };

typedef struct fake_kernel {
    const pm_kernel *info;
    struct fake_object *module;
    int shared_dynamic_max;
} fake_kernel;

/* What was said of managed memory; locations are numbers of devices, -1 the host, -2 nowhere. */
typedef struct fake_advice {
    bool is_read_mostly;
    unsigned accessed_by; /* bits 1 << (location + 1) */
    int preferred, last_prefetch;
} fake_advice;

typedef struct fake_object {
    fake_cuda_kind kind;
    bool is_live;
    struct fake_object *next, **link; /* among the live ones */

    char *base; /* memory: the range; arrays: the elements */
    size_t bytes;
    bool is_managed;
    fake_advice advice;

    wpi_cu_array_desc array;
    size_t row_bytes, rows, slices;
    wpi_cu_resource resource; /* textures, surfaces */
    wpi_cu_texture texture;

    pm_module *module;
    fake_kernel *kernels;
    unsigned kernel_count;

    struct fake_stream *stream; /* streams; events: where they were recorded last, NULL: nowhere */
    uint64_t ticket;            /* events: complete when the stream has done this */
    double ms;
} fake_object;

typedef struct fake_state {
    pthread_mutex_t lock;
    pthread_cond_t changed; /* some stream has done something */
    fake_object *live;
    unsigned generation, retains;
    int sticky;
    bool is_initialised;
    size_t used_bytes;
    size_t limits[5];
    unsigned left_at_release;
    fake_cuda_launch last_launch;
    unsigned launch_count;
    fake_cuda_given last_given;
} fake_state;
extern fake_state fake;

/* ---- how a function begins and ends ---- */

bool fake_is_sticky(int result);
int fake_begin(const char *name, bool needs_init);
int fake_check_context(const char *name);
size_t fake_env_number(const char *name, size_t otherwise);
__attribute__((format(printf, 1, 2))) int fake_misuse(const char *format, ...);
wpi_cu_context fake_context(void); /* of device 0 */
wpi_cu_context fake_context_of(wpi_cu_device device);
bool fake_is_context(wpi_cu_context context);
extern _Thread_local wpi_cu_context fake_current;
extern _Thread_local bool fake_in_host_call;

#define CALL_AS(name, needs_init)                                                                  \
    pthread_mutex_lock(&fake.lock);                                                                \
    int result = fake_begin(name, needs_init)
#define CALL(name) CALL_AS(name, true)
#define CALL_IN_CONTEXT(name)                                                                      \
    CALL(name);                                                                                    \
    if (result == 0) result = fake_check_context(name)
#define RETURN                                                                                     \
    pthread_mutex_unlock(&fake.lock);                                                              \
    return result

/* ---- objects ---- */

fake_object *fake_make(fake_cuda_kind kind);
void fake_end(fake_object *object);
void fake_end_all(void);
fake_object *fake_check_handle(const void *handle, fake_cuda_kind kind, const char *call);
/* The object of the kind whose range holds all of it. */
fake_object *fake_find_range(const void *address, size_t bytes, fake_cuda_kind kind);
bool fake_is_device_range(const void *address, size_t bytes);
/* Begins in device memory, wherever it ends. */
bool fake_touches_device(const void *address);
size_t fake_element_bytes(const wpi_cu_array_desc *array);

/* Ends a handle's object, after a check. */
int fake_destroy(const void *handle, fake_cuda_kind kind, const char *call);

/* ---- work in streams ---- */

/* The work, without the lock; what it returns, if not 0, sticks. Frees its argument. */
typedef int (*fake_work)(void *argument);

bool fake_check_stream(wpi_cu_stream stream, const char *call);
/* Queues work; *ticket, if asked for, is when it is done. */
struct fake_stream *fake_enqueue(wpi_cu_stream stream, fake_work work, void *argument,
                                 uint64_t *ticket);
/* Queues and waits; the error that sticks. */
int fake_enqueue_and_wait(wpi_cu_stream stream, fake_work work, void *argument);
/* Waits until everything is done that was queued before; then the kernels' output is written. */
int fake_wait_all(void);
void fake_stream_make(fake_object *object, bool is_blocking);
void fake_stream_end(fake_object *object);
/* Ends all threads; the default stream too. */
void fake_streams_stop(void);

/* ---- kernels ---- */

fake_kernel *fake_check_function(wpi_cu_function function, const char *call);
/* Blocks that a multiprocessor takes at a time. */
int fake_blocks_per_sm(const fake_kernel *k, unsigned threads, size_t shared_dynamic_bytes);

/* ---- what kernels need ---- */

bool fake_texture_read(void *context, uint64_t handle, const pm_texture_read *read,
                       uint32_t out[4]);
bool fake_surface_place(void *context, uint64_t handle, const pm_surface_place *place, void **out);
void *fake_heap_alloc(void *context, size_t bytes);
void fake_heap_free(void *context, void *memory);
/* The heap's range; false: there is none. */
bool fake_heap_range(pm_range *out);
void fake_heap_end(void);
void fake_print(void *context, const char *text, size_t bytes);
void fake_print_flush(void);

/* The table's types are the prototypes. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

#endif

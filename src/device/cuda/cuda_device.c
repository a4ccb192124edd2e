/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The CUDA device: one GPU through its primary context; properties, limits, errors.
 *
 * All libraries in a process share the primary context, so programs may mix this runtime with
 * libraries that use the driver.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/log.h"
#include "device/cuda/cuda.h"
#include "device/cuda/cuda_managed_table.h"
#include "device/cuda/pci_link.h"
#include "report/recorder.h"

/* ---- lists ---- */

static void link_init(wpi_link *head) {
    head->next = head->before = head;
}

void wpi_link_add(wpi_cuda_device *device, wpi_link *head, wpi_link *link) {
    pthread_mutex_lock(&device->lock);
    link->next = head;
    link->before = head->before;
    head->before->next = link;
    head->before = link;
    pthread_mutex_unlock(&device->lock);
}

void wpi_link_remove(wpi_cuda_device *device, wpi_link *link) {
    pthread_mutex_lock(&device->lock);
    link->before->next = link->next;
    link->next->before = link->before;
    pthread_mutex_unlock(&device->lock);
}

/* ---- errors ---- */

/* Makes the error sticky, unless there is one already: every later call returns it. */
static void stick(wpi_cuda_device *device, const wp_error *error) {
    pthread_mutex_lock(&device->lock);
    const bool is_first = !atomic_load(&device->has_failed);
    if (is_first) {
        device->sticky = *error;
        atomic_store(&device->has_failed, true);
    }
    pthread_mutex_unlock(&device->lock);
    if (is_first) wpi_log(WP_LOG_ERROR, "device.cuda", "%s", error->message);
}

wp_status wpi_cuda_check(wpi_cuda_device *device, wpi_cu_result result, const char *what,
                         wp_error *err) {
    if (result == WPI_CU_SUCCESS) return WP_STATUS_OK;
    const wp_status status = wpi_cu_status(result);
    wp_error error = {0};
    const char *name = wpi_cu_name(result), *named = NULL;
    /* A newer driver may know its own number. */
    if (device->cu->error_name(result, &named) == WPI_CU_SUCCESS && named != NULL) name = named;
    (void)wpi_fail(&error, status, __FILE__, __LINE__, "%s: %s: %s (%s)", device->base.info.spec,
                   what, wpi_cu_text(result), name);
    if (err != NULL) *err = error;
    if (wpi_cu_is_sticky(result)) stick(device, &error);
    return status;
}

wp_status wpi_cuda_check_end(wpi_cuda_device *device, wpi_cu_result result, const char *what,
                             wp_error *err) {
    if (result == WPI_CU_DEINITIALIZED) return WP_STATUS_OK;
    return wpi_cuda_check(device, result, what, err);
}

static wp_status sticky_error(wp_device *base, wp_error *err) {
    wpi_cuda_device *device = wpi_cuda_of(base);
    if (!atomic_load(&device->has_failed)) return WP_STATUS_OK;
    pthread_mutex_lock(&device->lock);
    const wp_error sticky = device->sticky;
    pthread_mutex_unlock(&device->lock);
    if (err != NULL) *err = sticky;
    return sticky.status;
}

wp_status wpi_cuda_enter(wpi_cuda_device *device, wp_error *err) {
    if (device->context == NULL)
        return WP_FAIL(err, DEVICE, "%s: unusable after a failed reset", device->base.info.spec);
    return wpi_cuda_check_end(device, device->cu->context_set(device->context),
                              "acquiring the context", err);
}

wp_status wpi_cuda_device_wait(wp_device *base, wp_error *err) {
    wpi_cuda_device *device = wpi_cuda_of(base);
    WP_TRY(wpi_cuda_enter(device, err));
    WP_TRY(wpi_cuda_check_end(device, device->cu->context_wait(), "waiting for the device", err));
    (void)wpi_cuda_queues_have_left(device);
    wpi_cuda_recorder_collect(device);
    return WP_STATUS_OK;
}

static bool is_idle(wp_device *base) {
    return wpi_cuda_queues_have_left(wpi_cuda_of(base));
}

/* ---- what it is ---- */

/* Queries an attribute; 0: unknown to the driver. */
static uint32_t ask(const wpi_cuda_device *device, int attribute) {
    int value = 0;
    if (device->cu->device_attribute(&value, attribute, device->number) != WPI_CU_SUCCESS) return 0;
    return value > 0 ? (uint32_t)value : 0;
}

static wp_status attribute(wp_device *base, int number, int *value, wp_error *err) {
    wpi_cuda_device *device = wpi_cuda_of(base);
    return wpi_cuda_check(device, device->cu->device_attribute(value, number, device->number),
                          "asking for an attribute", err);
}

/* The driver stages copies from memory that the GPU cannot access. */
static bool stages_pageable(wp_device *base) {
    return !wpi_cuda_of(base)->reaches_pageable;
}

static void fill_link(wp_device_info *info) {
    char folder[64];
    for (char *c = info->pci_id; *c != '\0'; c++)
        if (*c >= 'A' && *c <= 'F') *c = (char)(*c - 'A' + 'a');
    (void)snprintf(folder, sizeof folder, "/sys/bus/pci/devices/%s", info->pci_id);
    wpi_pci_link_read(folder, info);
}

static wp_status fill_info(wpi_cuda_device *device, wp_error *err) {
    const wpi_driver *cu = device->cu;
    wp_device_info *info = &device->base.info;
    size_t memory_bytes = 0;
    WP_TRY(wpi_cuda_check(device,
                          cu->device_name(info->name, (int)sizeof info->name, device->number),
                          "asking for the name", err));
    WP_TRY(wpi_cuda_check(device, cu->device_memory(&memory_bytes, device->number),
                          "asking for the memory", err));
    info->driver_version = (uint32_t)cu->version;
    info->sm_count = ask(device, WPI_CU_ATTRIBUTE_SM_COUNT);
    info->compute_major = ask(device, WPI_CU_ATTRIBUTE_COMPUTE_MAJOR);
    info->compute_minor = ask(device, WPI_CU_ATTRIBUTE_COMPUTE_MINOR);
    info->has_page_faults = info->compute_major >= 6;
    info->cluster_blocks_max =
        info->compute_major >= 9 && cu->launch_ex != NULL ? WP_CLUSTER_BLOCKS_MAX : 0;
    info->threads_per_block_max = ask(device, WPI_CU_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
    info->threads_per_sm_max = ask(device, WPI_CU_ATTRIBUTE_THREADS_PER_SM);
    info->blocks_per_sm_max = ask(device, WPI_CU_ATTRIBUTE_BLOCKS_PER_SM);
    /* Drivers before CUDA 11 do not report it, and support no GPU with another value. */
    if (info->blocks_per_sm_max == 0) info->blocks_per_sm_max = info->compute_minor == 5 ? 16 : 32;
    info->registers_per_sm = ask(device, WPI_CU_ATTRIBUTE_REGISTERS_PER_SM);
    info->registers_per_block = ask(device, WPI_CU_ATTRIBUTE_REGISTERS_PER_BLOCK);
    info->shared_bytes_per_block = ask(device, WPI_CU_ATTRIBUTE_SHARED_PER_BLOCK);
    info->shared_bytes_per_block_optin = ask(device, WPI_CU_ATTRIBUTE_SHARED_PER_BLOCK_OPTIN);
    info->shared_reserved_bytes = (uint32_t)ask(device, WPI_CU_ATTRIBUTE_SHARED_RESERVED);
    if (info->shared_bytes_per_block_optin < info->shared_bytes_per_block)
        info->shared_bytes_per_block_optin = info->shared_bytes_per_block;
    info->shared_bytes_per_sm = ask(device, WPI_CU_ATTRIBUTE_SHARED_PER_SM);
    info->constant_bytes = ask(device, WPI_CU_ATTRIBUTE_CONSTANT_BYTES);
    info->l2_bytes = ask(device, WPI_CU_ATTRIBUTE_L2_BYTES);
    info->clock_hz = (uint64_t)ask(device, WPI_CU_ATTRIBUTE_CLOCK_KHZ) * 1000;
    info->memory_clock_hz = (uint64_t)ask(device, WPI_CU_ATTRIBUTE_MEMORY_CLOCK_KHZ) * 1000;
    info->memory_bus_bits = ask(device, WPI_CU_ATTRIBUTE_MEMORY_BUS_BITS);
    if (cu->device_pci(info->pci_id, (int)sizeof info->pci_id, device->number) != WPI_CU_SUCCESS)
        info->pci_id[0] = '\0';
    fill_link(info);
    info->memory_bytes = memory_bytes;
    if (device->limit_bytes == 0 || device->limit_bytes > memory_bytes)
        device->limit_bytes = memory_bytes;
    info->memory_bytes = device->limit_bytes;
    device->reaches_pageable = ask(device, WPI_CU_ATTRIBUTE_PAGEABLE_ACCESS) != 0;
    if (ask(device, WPI_CU_ATTRIBUTE_UNIFIED_ADDRESSING) == 0) {
        return WP_FAIL(err, UNSUPPORTED,
                       "%s: %s does not share one address space with the host, which Warpage needs",
                       info->spec, info->name);
    }
    return WP_STATUS_OK;
}

/* ---- limits ---- */

static int driver_limit(wpi_limit limit) {
    switch (limit) {
    case WPI_LIMIT_STACK: return WPI_CU_LIMIT_STACK;
    case WPI_LIMIT_HEAP: return WPI_CU_LIMIT_HEAP;
    case WPI_LIMIT_PRINTF_FIFO: return WPI_CU_LIMIT_PRINTF_FIFO;
    case WPI_LIMIT_SYNC_DEPTH: return WPI_CU_LIMIT_SYNC_DEPTH;
    case WPI_LIMIT_PENDING_LAUNCHES: return WPI_CU_LIMIT_PENDING_LAUNCHES;
    case WPI_LIMIT_COUNT: break;
    }
    return -1;
}

static wp_status set_limit(wp_device *base, wpi_limit limit, uint64_t value, wp_error *err) {
    wpi_cuda_device *device = wpi_cuda_of(base);
    WP_TRY(wpi_cuda_enter(device, err));
    return wpi_cuda_check(device, device->cu->limit_set(driver_limit(limit), value),
                          "setting a limit", err);
}

static wp_status get_limit(wp_device *base, wpi_limit limit, uint64_t *value, wp_error *err) {
    wpi_cuda_device *device = wpi_cuda_of(base);
    size_t found = 0;
    WP_TRY(wpi_cuda_enter(device, err));
    WP_TRY(wpi_cuda_check(device, device->cu->limit_get(&found, driver_limit(limit)),
                          "asking for a limit", err));
    *value = found;
    return WP_STATUS_OK;
}

/* The driver prints kernels' output when the host waits. */
static void flush_output(wp_device *base) {
    const wp_status ignored = wpi_cuda_device_wait(base, NULL);
    (void)ignored; /* printed if it is sticky */
}

/* ---- several ---- */

/* The devices that were opened together, by their numbers; under group_lock. */
static wpi_cuda_device *members[WP_DEVICES_MAX];
static pthread_mutex_t group_lock = PTHREAD_MUTEX_INITIALIZER;

wpi_cuda_device *wpi_cuda_member(wpi_cuda_device *device, int number) {
    wpi_cuda_device *found = NULL;
    if (!device->base.is_one_of_several) return number == 0 ? device : NULL;
    pthread_mutex_lock(&group_lock);
    if (number >= 0 && number < (int)WP_DEVICES_MAX) found = members[number];
    pthread_mutex_unlock(&group_lock);
    return found;
}

static wp_status join(wpi_cuda_device *device, wp_error *err) {
    uint32_t place = 0;
    bool is_there = false;
    pthread_mutex_lock(&group_lock);
    for (; place < WP_DEVICES_MAX && members[place] != NULL; place++)
        is_there = is_there || members[place]->number == device->number;
    const bool fits = place < WP_DEVICES_MAX && !is_there;
    if (fits) members[place] = device;
    pthread_mutex_unlock(&group_lock);
    if (!fits)
        return WP_FAIL(err, UNSUPPORTED, "%s is named twice: a program has each GPU once",
                       device->base.info.spec);
    device->base.number = place;
    device->base.group = members;
    device->base.is_one_of_several = true;
    return WP_STATUS_OK;
}

static void leave(const wpi_cuda_device *device) {
    pthread_mutex_lock(&group_lock);
    for (uint32_t i = 0; i < WP_DEVICES_MAX; i++)
        if (members[i] == device) members[i] = NULL;
    pthread_mutex_unlock(&group_lock);
}

static bool can_access_peer(const wp_device *base, const wp_device *peer) {
    const wpi_cuda_device *device = (const wpi_cuda_device *)base;
    int can = 0;
    return device->cu->peer_can != NULL &&
           device->cu->peer_can(&can, device->number, ((const wpi_cuda_device *)peer)->number) ==
               WPI_CU_SUCCESS &&
           can != 0;
}

static wp_status set_peer_access(wp_device *base, wp_device *peer_base, bool is_on, wp_error *err) {
    wpi_cuda_device *device = wpi_cuda_of(base);
    const wpi_cuda_device *peer = wpi_cuda_of(peer_base);
    WP_TRY(wpi_cuda_enter(device, err));
    return is_on ? wpi_cuda_check(device, device->cu->peer_enable(peer->context, 0),
                                  "enabling access to another GPU", err)
                 : wpi_cuda_check(device, device->cu->peer_disable(peer->context),
                                  "disabling access to another GPU", err);
}

/* ---- life ---- */

static wp_queue *default_queue(wp_device *base) {
    return &wpi_cuda_of(base)->default_queue.base;
}

static wp_status take_context(wpi_cuda_device *device, wp_error *err) {
    const wpi_driver *cu = device->cu;
    WP_TRY(wpi_cuda_check(device, cu->context_retain(&device->context, device->number),
                          "making a context", err));
    wp_status status = wpi_cuda_enter(device, err);
    if (status == WP_STATUS_OK) {
        status =
            wpi_cuda_check(device, cu->event_create(&device->start, 0), "making an event", err);
    }
    if (status == WP_STATUS_OK) {
        status = wpi_cuda_check(device, cu->event_record(device->start, NULL), "starting the clock",
                                err);
    }
    if (status == WP_STATUS_OK) return WP_STATUS_OK;
    if (device->start != NULL) (void)cu->event_destroy(device->start);
    device->start = NULL;
    (void)cu->context_release(device->number);
    device->context = NULL;
    return status;
}

static void forget_sticky(wpi_cuda_device *device) {
    pthread_mutex_lock(&device->lock);
    device->sticky = (wp_error){0};
    atomic_store(&device->has_failed, false);
    pthread_mutex_unlock(&device->lock);
}

/* Creates a new context, with the objects whose handles callers hold. */
static wp_status renew(wpi_cuda_device *device, wp_error *err) {
    const wpi_driver *cu = device->cu;
    /* The reset destroys everything even if others hold the context; then we release our
     * reference. */
    WP_TRY(wpi_cuda_check(device, cu->context_reset(device->number), "resetting the device", err));
    device->start = NULL;
    if (device->context != NULL) (void)cu->context_release(device->number);
    device->context = NULL;
    forget_sticky(device);
    WP_TRY(take_context(device, err));
    for (wpi_link *l = device->queues.next; l != &device->queues; l = l->next)
        WP_TRY(wpi_cuda_queue_restore(WPI_MEMBER(l, wpi_cuda_queue), err));
    for (wpi_link *l = device->events.next; l != &device->events; l = l->next)
        WP_TRY(wpi_cuda_event_restore(WPI_MEMBER(l, wpi_cuda_event), err));
    WP_TRY(wpi_cuda_modules_restore(device, err));
    return wpi_cuda_recorder_create(device, err);
}

/* Destroys everything in the context, and creates our objects again in a new one. Streams and
 * events of the old context must not be destroyed again. After some faults a process gets no
 * working context any more: then the device keeps failing with that error. */
static wp_status reset(wp_device *base, wp_error *err) {
    wpi_cuda_device *device = wpi_cuda_of(base);
    const wp_status ignored = wpi_cuda_device_wait(base, NULL); /* cleared by the reset */
    (void)ignored;
    wpi_cuda_recorder_destroy(device);
    wpi_cuda_memory_free_all(device);
    wpi_cuda_modules_unregister(device);
    wp_error error = {0};
    const wp_status status = renew(device, &error);
    if (status == WP_STATUS_OK) return WP_STATUS_OK;
    stick(device, &error);
    if (err != NULL) *err = error;
    return status;
}

static void close_device(wp_device *base) {
    wpi_cuda_device *device = wpi_cuda_of(base);
    if (device->context != NULL) {
        const wp_status ignored = wpi_cuda_device_wait(base, NULL);
        (void)ignored;
        wpi_cuda_recorder_destroy(device);
        wpi_cuda_memory_free_all(device);
        if (device->start != NULL) (void)device->cu->event_destroy(device->start);
        (void)device->cu->context_release(device->number);
    }
    leave(device);
    pthread_mutex_destroy(&device->lock);
    wpi_free(device);
}

static const wpi_device_ops ops = {
    .kind = "cuda",
    .queue = &wpi_cuda_queue_ops,
    .event = &wpi_cuda_event_ops,
    .module = &wpi_cuda_module_ops,
    .close = close_device,
    .default_queue = default_queue,
    .wait = wpi_cuda_device_wait,
    .reset = reset,
    .sticky_error = sticky_error,
    .memory_alloc = wpi_cuda_memory_alloc,
    .memory_free = wpi_cuda_memory_free,
    .memory_register = wpi_cuda_memory_register,
    .memory_unregister = wpi_cuda_memory_unregister,
    .memory_info = wpi_cuda_memory_info,
    .managed_advise = wpi_cuda_managed_advise,
    .managed_attribute = wpi_cuda_managed_attribute,
    .set_limit = set_limit,
    .get_limit = get_limit,
    .flush_output = flush_output,
    .stages_pageable = stages_pageable,
    .is_idle = is_idle,
    .attribute = attribute,
    .array_create = wpi_cuda_array_create,
    .texture_create = wpi_cuda_texture_create,
    .texture_destroy = wpi_cuda_texture_destroy,
    .texture_bind = wpi_cuda_texture_bind,
    .can_access_peer = can_access_peer,
    .set_peer_access = set_peer_access,
};

static wp_status parse_number(const char *rest, int *number, wp_error *err) {
    char *end;
    const unsigned long value = strtoul(rest, &end, 10);
    if ((rest[0] != '\0' && (rest[0] < '0' || rest[0] > '9')) || *end != '\0' || value > 1023) {
        return WP_FAIL(err, NOT_FOUND, "'cuda:%s' is not a GPU; cuda:0 is the first", rest);
    }
    *number = (int)value; /* "": the first */
    return WP_STATUS_OK;
}

static wp_status find_device(wpi_cuda_device *device, int number, wp_error *err) {
    int count = 0;
    WP_TRY(wpi_cuda_check(device, device->cu->device_count(&count), "counting the GPUs", err));
    if (count == 0) return WP_FAIL(err, NOT_FOUND, "%s", wpi_cu_text(WPI_CU_NO_DEVICE));
    if (number >= count) {
        return WP_FAIL(err, NOT_FOUND,
                       "there is no cuda:%d; the driver reports %d GPU%s, from cuda:0", number,
                       count, count == 1 ? "" : "s");
    }
    return wpi_cuda_check(device, device->cu->device_get(&device->number, number),
                          "finding the GPU", err);
}

static wp_status open_with(const char *rest, bool is_one_of_several, wp_device **out,
                           wp_error *err) {
    int number = 0;
    const wpi_driver *cu;
    WP_TRY(parse_number(rest, &number, err));
    WP_TRY(wpi_driver_load(&cu, err));
    wpi_cuda_device *device = wpi_calloc(1, sizeof *device);
    if (device == NULL) return WP_FAIL(err, NOMEM, "cuda device");
    device->base.ops = &ops;
    device->cu = cu;
    (void)snprintf(device->base.info.spec, sizeof device->base.info.spec, "cuda:%d", number);
    pthread_mutex_init(&device->lock, NULL);
    link_init(&device->queues);
    link_init(&device->events);
    link_init(&device->modules);
    link_init(&device->arrays);
    link_init(&device->leaving);
    device->default_queue.base.device = &device->base;

    wp_status status;
    WP_TRY_GOTO(wpi_device_memory_limit(&device->limit_bytes, err), failed);
    WP_TRY_GOTO(find_device(device, number, err), failed);
    if (is_one_of_several) WP_TRY_GOTO(join(device, err), failed);
    WP_TRY_GOTO(fill_info(device, err), failed);
    WP_TRY_GOTO(take_context(device, err), failed);
    WP_TRY_GOTO(wpi_cuda_recorder_create(device, err), failed);
    wpi_report_device(device->base.info.spec, device->base.info.name);
    *out = &device->base;
    return WP_STATUS_OK;

failed:
    close_device(&device->base);
    return status;
}

static wp_status open_device(const char *rest, wp_device **out, wp_error *err) {
    return open_with(rest, false, out, err);
}

static wp_status open_beside(const char *rest, wp_device *beside, wp_device **out, wp_error *err) {
    (void)beside; /* there is one driver, and one group */
    return open_with(rest, true, out, err);
}

const wpi_device_kind wpi_device_kind_cuda = {
    .name = "cuda",
    .summary = "a real GPU, through the CUDA driver",
    .example = "0",
    .open = open_device,
    .open_beside = open_beside,
};

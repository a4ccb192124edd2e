/* SPDX-License-Identifier: Apache-2.0 */
/**
 * include/warpage/device.h over the tables of device.h: finds the kind, checks arguments, supplies
 * the defaults of optional operations. Nothing here knows any particular device.
 */
#include "device/device.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/nearest.h"
#include "base/param.h"
#include "base/strings.h"
#include "device/host_copies.h"
#include "report/recorder.h"

const wpi_param wpi_device_params[] = {{"device-memory", WP_UNIT_BYTES, "0", 0, UINT64_MAX,
                                        "limit of device memory; 0: what the device has"},
                                       {0}};

static const wpi_device_kind *const kinds[] = {&wpi_device_kind_cpu, &wpi_device_kind_sim,
                                               &wpi_device_kind_cuda, NULL};

const wpi_device_kind *const *wpi_device_kinds(void) {
    return kinds;
}

static pthread_once_t map_once = PTHREAD_ONCE_INIT;
static wpi_memory_map *map;

static void create_map(void) {
    WP_CHECK(wpi_memory_map_create(&map, NULL) == WP_STATUS_OK);
}

wpi_memory_map *wpi_memory_map_global(void) {
    pthread_once(&map_once, create_map);
    return map;
}

/* ---- devices --------------------------------------------------------------------------------- */

/* NULL: none. */
static const wpi_device_kind *find_kind(const char *spec, const char **rest) {
    const char *colon = strchr(spec, ':');
    const size_t length = colon != NULL ? (size_t)(colon - spec) : strlen(spec);
    *rest = colon != NULL ? colon + 1 : "";
    for (size_t i = 0; kinds[i] != NULL; i++)
        if (strlen(kinds[i]->name) == length && strncmp(kinds[i]->name, spec, length) == 0)
            return kinds[i];
    return NULL;
}

void wpi_device_place_variable(const char *spec, void *address, size_t size_bytes) {
    const char *rest;
    const wpi_device_kind *kind = find_kind(spec, &rest);
    if (kind != NULL && kind->place_variable != NULL && size_bytes != 0)
        kind->place_variable(address, size_bytes);
}

static void offer_name(void *nearest, const char *spec) {
    wpi_nearest_offer(nearest, strchr(spec, ':') + 1);
}

/* "k80", "V100" and "sim-k80" are near. */
static wp_status fail_unknown(const char *spec, wp_error *err) {
    char name[WP_NEAREST_NAME_MAX];
    (void)snprintf(name, sizeof name, "%s", spec);
    for (char *at = name; *at != '\0'; at++)
        if (*at >= 'A' && *at <= 'Z') *at = (char)(*at - 'A' + 'a');
    const bool has_prefix = strncmp(name, "sim", 3) == 0 && name[3] != '\0';
    wpi_nearest nearest = {.wanted = has_prefix ? name + 4 : name};
    wp_device_visit_simulated(offer_name, &nearest);
    const char *found = wpi_nearest_result(&nearest);
    if (found != NULL)
        return WP_FAIL(err, NOT_FOUND, "there is no device '%s'; did you mean 'sim:%s'?", spec,
                       found);
    return WP_FAIL(err, NOT_FOUND, "there is no device '%s'; `warpage devices` lists them", spec);
}

wp_status wp_device_open(const char *spec, wp_device **out, wp_error *err) {
    *out = NULL;
    if (spec == NULL || spec[0] == '\0') spec = "cpu";
    if (strchr(spec, ',') != NULL)
        return WP_FAIL(err, UNSUPPORTED, "'%s' names several devices, where there can be only one",
                       spec);
    const char *rest;
    const wpi_device_kind *kind = find_kind(spec, &rest);
    if (kind != NULL) return kind->open(rest, out, err);
    return fail_unknown(spec, err);
}

/* `first` NULL: it is the first one. */
static wp_status open_one(const char *spec, wp_device *first, wp_device **out, wp_error *err) {
    const char *rest;
    const wpi_device_kind *kind = find_kind(spec, &rest);
    if (kind == NULL) return fail_unknown(spec, err);
    if (first != NULL && strcmp(kind->name, first->ops->kind) != 0)
        return WP_FAIL(err, UNSUPPORTED,
                       "the devices of one program are of one kind; '%s' and '%s' are not",
                       first->info.spec, spec);
    if (kind->open_beside == NULL)
        return WP_FAIL(err, UNSUPPORTED, "a program can have only one device of the kind '%s'",
                       kind->name);
    WP_TRY(kind->open_beside(rest, first, out, err));
    (*out)->is_one_of_several = true;
    return WP_STATUS_OK;
}

/* The parts of "a,b,c"; spaces around them are left out. */
static void split_specs(const char *specs, wpi_strings *out) {
    for (const char *at = specs;; at++) {
        at += strspn(at, " ");
        size_t length = strcspn(at, ",");
        const char *end = at + length;
        while (length != 0 && at[length - 1] == ' ')
            length--;
        wpi_strings_addf(out, "%.*s", (int)length, at);
        at = end;
        if (*at == '\0') return;
    }
}

wp_status wp_devices_open(const char *specs, wp_device **out, uint32_t *count, wp_error *err) {
    *count = 0;
    if (specs == NULL || strchr(specs, ',') == NULL) {
        WP_TRY(wp_device_open(specs, &out[0], err));
        *count = 1;
        return WP_STATUS_OK;
    }
    wpi_strings names = {0};
    split_specs(specs, &names);
    wp_status status = WP_STATUS_OK;
    if (names.count > WP_DEVICES_MAX)
        status = WP_FAIL(err, UNSUPPORTED, "%zu devices; a program can have %u", names.count,
                         WP_DEVICES_MAX);
    for (size_t i = 0; i < names.count && status == WP_STATUS_OK; i++) {
        const char *name = names.items[i];
        if (name[0] == '\0')
            status = WP_FAIL(err, NOT_FOUND, "the list of devices '%s' has an empty name", specs);
        else
            status = open_one(name, i == 0 ? NULL : out[0], &out[i], err);
        if (status == WP_STATUS_OK) *count = (uint32_t)i + 1;
    }
    if (status == WP_STATUS_OK) wpi_report_device(specs, out[0]->info.name);
    while (status != WP_STATUS_OK && *count != 0)
        wp_device_close(out[--*count]);
    wpi_strings_deinit(&names);
    return status;
}

bool wpi_device_can_access_peer(const wp_device *device, const wp_device *peer) {
    return device->ops->can_access_peer == NULL || device->ops->can_access_peer(device, peer);
}

wp_status wpi_device_set_peer_access(wp_device *device, wp_device *peer, bool is_on,
                                     wp_error *err) {
    if (device->ops->set_peer_access == NULL) return WP_STATUS_OK;
    return device->ops->set_peer_access(device, peer, is_on, err);
}

void wp_device_close(wp_device *device) {
    if (device != NULL) device->ops->close(device);
}

const wp_device_info *wp_device_get_info(const wp_device *device) {
    return &device->info;
}

wp_status wp_device_sticky_error(wp_device *device, wp_error *err) {
    return device->ops->sticky_error(device, err);
}

wp_status wp_device_reset(wp_device *device, wp_error *err) {
    return device->ops->reset(device, err);
}

/* A host thread calls the device. */
static void arrive(wp_device *device) {
    if (device->ops->host != NULL) device->ops->host->arrive(device);
}

wp_status wp_device_wait(wp_device *device, wp_error *err) {
    arrive(device);
    return device->ops->wait(device, err);
}

wp_status wpi_device_set_limit(wp_device *device, wpi_limit limit, uint64_t value, wp_error *err) {
    if (device->ops->set_limit == NULL) {
        return WP_FAIL(err, UNSUPPORTED, "%s does not support this limit", device->info.spec);
    }
    return device->ops->set_limit(device, limit, value, err);
}

wp_status wpi_device_get_limit(wp_device *device, wpi_limit limit, uint64_t *value, wp_error *err) {
    if (device->ops->get_limit == NULL) {
        return WP_FAIL(err, UNSUPPORTED, "%s does not support this limit", device->info.spec);
    }
    return device->ops->get_limit(device, limit, value, err);
}

void wpi_device_flush_output(wp_device *device) {
    if (device->ops->flush_output != NULL) device->ops->flush_output(device);
}

bool wpi_device_is_idle(wp_device *device) {
    return device->ops->is_idle == NULL || device->ops->is_idle(device);
}

bool wpi_device_stages_pageable(wp_device *device) {
    return device->ops->stages_pageable != NULL && device->ops->stages_pageable(device);
}

wp_status wpi_device_memory_limit(uint64_t *limit_bytes, wp_error *err) {
    wpi_param_value value;
    WP_TRY(wpi_param_load(&wpi_device_params[0], &value, err));
    *limit_bytes = value.number;
    return WP_STATUS_OK;
}

wp_status wpi_device_attribute(wp_device *device, int attribute, int *value, wp_error *err) {
    if (device->ops->attribute == NULL) {
        return WP_FAIL(err, UNSUPPORTED, "%s has no device-specific attributes", device->info.spec);
    }
    return device->ops->attribute(device, attribute, value, err);
}

void wpi_device_note_query(wp_device *device, const char *call, uint32_t fields) {
    if (fields != 0 && device->ops->note_query != NULL)
        device->ops->note_query(device, call, fields);
}

void wpi_device_note_occupancy(const wp_kernel *kernel, uint32_t block_threads,
                               uint32_t shared_dynamic_bytes, uint32_t blocks) {
    wp_device *device = kernel->device;
    if (device->ops->note_occupancy != NULL)
        device->ops->note_occupancy(device, kernel, block_threads, shared_dynamic_bytes, blocks);
}

/* ---- arrays and textures --------------------------------------------------------------------- */

wp_status wpi_device_array_create(wp_device *device, const wpi_array *array, void **out,
                                  wp_error *err) {
    *out = NULL;
    if (device->ops->array_create != NULL) {
        return device->ops->array_create(device, array, out, err);
    }
    size_t bytes;
    if (!wpi_mul_size(array->width, array->element_bytes, &bytes) ||
        !wpi_mul_size(bytes, array->height != 0 ? array->height : 1, &bytes) ||
        !wpi_mul_size(bytes, array->depth != 0 ? array->depth : 1, &bytes)) {
        return WP_FAIL(err, DEVICE_NOMEM, "an array of %zu x %zu x %zu elements", array->width,
                       array->height, array->depth);
    }
    return wp_memory_alloc(device, WP_MEMORY_DEVICE, bytes, 0, out, err);
}

wp_status wpi_device_texture_create(wp_device *device, const wpi_texture *description,
                                    bool is_surface, uint64_t *handle, wp_error *err) {
    if (device->ops->texture_create == NULL) return wpi_texture_create(description, handle, err);
    return device->ops->texture_create(device, description, is_surface, handle, err);
}

void wpi_device_texture_destroy(wp_device *device, uint64_t handle, bool is_surface) {
    if (device->ops->texture_create == NULL) {
        wpi_texture_destroy(handle);
    } else if (handle != 0) {
        device->ops->texture_destroy(device, handle, is_surface);
    }
}

wp_status wpi_device_texture_bind(wp_device *device, void *variable, uint64_t handle,
                                  wp_error *err) {
    if (device->ops->texture_create == NULL) {
        memcpy(variable, &handle, sizeof handle);
        return WP_STATUS_OK;
    }
    return device->ops->texture_bind(device, variable, handle, err);
}

/* ---- memory ---------------------------------------------------------------------------------- */

wp_status wp_memory_alloc(wp_device *device, wp_memory_kind kind, size_t size_bytes, uint32_t flags,
                          void **out, wp_error *err) {
    *out = NULL;
    if (kind != WP_MEMORY_DEVICE && kind != WP_MEMORY_MANAGED && kind != WP_MEMORY_PINNED) {
        return WP_FAIL(err, INVALID, "memory of kind %d cannot be allocated", (int)kind);
    }
    if (size_bytes == 0) return WP_STATUS_OK;
    arrive(device);
    return device->ops->memory_alloc(device, kind, size_bytes, flags, out, err);
}

/* The entry of `device` that starts at `base`. */
static wp_status find_base(wp_device *device, const void *base, wp_allocation *out, wp_error *err) {
    wpi_memory_entry entry;
    if (!wpi_memory_map_find(wpi_memory_map_global(), base, &entry) || entry.device != device) {
        return WP_FAIL(err, INVALID, "%p is not memory of the device %s", base, device->info.spec);
    }
    if (entry.allocation.base != base) {
        return WP_FAIL(err, INVALID, "%p lies inside the allocation at %p and is not its start",
                       base, entry.allocation.base);
    }
    *out = entry.allocation;
    return WP_STATUS_OK;
}

void wpi_memory_advise(wp_device *device, const void *address, size_t size_bytes,
                       const wpi_advice *advice) {
    if (device->ops->memory_advise != NULL)
        device->ops->memory_advise(device, address, size_bytes, advice);
}

wp_status wpi_managed_advise(wp_device *device, const void *address, size_t size_bytes, int advice,
                             int location, wp_error *err) {
    if (device->ops->managed_advise == NULL) return WP_STATUS_OK;
    return device->ops->managed_advise(device, address, size_bytes, advice, location, err);
}

wp_status wpi_managed_attribute(wp_device *device, const void *address, size_t size_bytes,
                                int attribute, void *data, size_t data_bytes, wp_error *err) {
    if (device->ops->managed_attribute == NULL)
        return WP_FAIL(err, UNSUPPORTED, "%s does not store attributes", device->info.spec);
    return device->ops->managed_attribute(device, address, size_bytes, attribute, data, data_bytes,
                                          err);
}

wp_status wp_memory_free(wp_device *device, void *base, wp_error *err) {
    if (base == NULL) return WP_STATUS_OK;
    wp_allocation allocation;
    WP_TRY(find_base(device, base, &allocation, err));
    if (allocation.kind == WP_MEMORY_VARIABLE || allocation.kind == WP_MEMORY_REGISTERED) {
        return WP_FAIL(err, INVALID, "%p was not allocated: it is %s", base,
                       allocation.kind == WP_MEMORY_VARIABLE ? "a variable of a kernel"
                                                             : "registered host memory");
    }
    arrive(device);
    WP_TRY(device->ops->wait(device, err));
    if (allocation.kind == WP_MEMORY_PINNED)
        wpi_host_memory_forget(allocation.base, allocation.size_bytes);
    return device->ops->memory_free(device, &allocation, err);
}

wp_status wp_memory_register(wp_device *device, void *base, size_t size_bytes, uint32_t flags,
                             wp_error *err) {
    if (base == NULL || size_bytes == 0) {
        return WP_FAIL(err, INVALID, "cannot register %zu bytes at %p", size_bytes, base);
    }
    const wp_allocation allocation = {base, size_bytes, WP_MEMORY_REGISTERED, flags};
    if (device->ops->memory_register != NULL) {
        return device->ops->memory_register(device, &allocation, err);
    }
    const wpi_memory_entry entry = {.allocation = allocation, .device = device};
    return wpi_memory_map_add(wpi_memory_map_global(), &entry, err);
}

wp_status wp_memory_unregister(wp_device *device, void *base, wp_error *err) {
    wp_allocation allocation;
    WP_TRY(find_base(device, base, &allocation, err));
    if (allocation.kind != WP_MEMORY_REGISTERED) {
        return WP_FAIL(err, INVALID, "%p is not registered host memory", base);
    }
    arrive(device);
    WP_TRY(device->ops->wait(device, err));
    if (device->ops->memory_unregister != NULL) {
        return device->ops->memory_unregister(device, &allocation, err);
    }
    (void)wpi_memory_map_remove(wpi_memory_map_global(), base, NULL);
    return WP_STATUS_OK;
}

bool wp_memory_find(wp_device *device, const void *address, wp_allocation *out) {
    wpi_memory_entry entry;
    if (!wpi_memory_map_find(wpi_memory_map_global(), address, &entry) || entry.device != device) {
        return false;
    }
    *out = entry.allocation;
    return true;
}

void wp_memory_info(wp_device *device, uint64_t *free_bytes, uint64_t *total_bytes) {
    device->ops->memory_info(device, free_bytes, total_bytes);
}

/* ---- queues ---------------------------------------------------------------------------------- */

wp_queue *wp_device_default_queue(wp_device *device) {
    return device->ops->default_queue(device);
}

wp_status wpi_queue_create(wp_device *device, bool is_blocking, int priority, wp_queue **out,
                           wp_error *err) {
    arrive(device);
    *out = NULL;
    return device->ops->queue->create(device, is_blocking, priority, out, err);
}

wp_status wp_queue_create(wp_device *device, bool is_blocking, wp_queue **out, wp_error *err) {
    return wpi_queue_create(device, is_blocking, 0, out, err);
}

void wp_queue_destroy(wp_queue *queue) {
    if (queue != NULL) queue->device->ops->queue->destroy(queue);
}

wp_status wp_queue_wait(wp_queue *queue, wp_error *err) {
    arrive(queue->device);
    return queue->device->ops->queue->wait(queue, err);
}

bool wp_queue_is_idle(wp_queue *queue) {
    arrive(queue->device);
    return queue->device->ops->queue->is_idle(queue);
}

/* A range that starts in a known allocation must end in it. */
static wp_status check_range(const void *first, size_t size_bytes, const char *what,
                             wp_error *err) {
    wpi_memory_entry entry;
    if (!wpi_memory_map_find(wpi_memory_map_global(), first, &entry)) return WP_STATUS_OK;
    const size_t offset = (size_t)((uintptr_t)first - (uintptr_t)entry.allocation.base);
    if (size_bytes > entry.allocation.size_bytes - offset) {
        return WP_FAIL(err, INVALID,
                       "%s: %zu bytes from offset %zu do not fit the allocation of %zu bytes at %p",
                       what, size_bytes, offset, entry.allocation.size_bytes,
                       entry.allocation.base);
    }
    return WP_STATUS_OK;
}

/* From the first byte of the first row to the last of the last; false when that overflows. */
static bool rows_bytes(size_t pitch_bytes, size_t width_bytes, size_t height, size_t *out) {
    size_t all_but_last;
    if (__builtin_mul_overflow(pitch_bytes, height - 1, &all_but_last)) return false;
    return !__builtin_add_overflow(all_but_last, width_bytes, out);
}

wp_status wp_queue_copy(wp_queue *queue, void *dst, const void *src, size_t size_bytes,
                        wp_error *err) {
    return wp_queue_copy_2d(queue, dst, size_bytes, src, size_bytes, size_bytes, 1, err);
}

wp_status wp_queue_copy_2d(wp_queue *queue, void *dst, size_t dst_pitch_bytes, const void *src,
                           size_t src_pitch_bytes, size_t width_bytes, size_t height,
                           wp_error *err) {
    if (width_bytes == 0 || height == 0) return WP_STATUS_OK;
    if (dst == NULL || src == NULL) {
        return WP_FAIL(err, INVALID, "copy: the %s is NULL", dst == NULL ? "target" : "source");
    }
    if (height > 1 && (dst_pitch_bytes < width_bytes || src_pitch_bytes < width_bytes)) {
        return WP_FAIL(err, INVALID, "copy: rows of %zu bytes do not fit a pitch of %zu bytes",
                       width_bytes,
                       dst_pitch_bytes < width_bytes ? dst_pitch_bytes : src_pitch_bytes);
    }
    size_t dst_bytes, src_bytes;
    if (!rows_bytes(dst_pitch_bytes, width_bytes, height, &dst_bytes) ||
        !rows_bytes(src_pitch_bytes, width_bytes, height, &src_bytes)) {
        return WP_FAIL(err, INVALID, "copy: %zu rows exceed the address space", height);
    }
    WP_TRY(check_range(dst, dst_bytes, "copy target", err));
    WP_TRY(check_range(src, src_bytes, "copy source", err));
    arrive(queue->device);
    return queue->device->ops->queue->copy(queue, dst, dst_pitch_bytes, src, src_pitch_bytes,
                                           width_bytes, height, err);
}

wp_status wp_queue_fill(wp_queue *queue, void *dst, uint32_t value, uint32_t value_bytes,
                        size_t count, wp_error *err) {
    if (value_bytes != 1 && value_bytes != 2 && value_bytes != 4) {
        return WP_FAIL(err, INVALID, "fill: a pattern of %u bytes", value_bytes);
    }
    if (count == 0) return WP_STATUS_OK;
    if (dst == NULL || (uintptr_t)dst % value_bytes != 0) {
        return WP_FAIL(err, INVALID, "fill: %p is not aligned for values of %u bytes", dst,
                       value_bytes);
    }
    size_t size_bytes;
    if (__builtin_mul_overflow(count, (size_t)value_bytes, &size_bytes)) {
        return WP_FAIL(err, INVALID, "fill: %zu values exceed the address space", count);
    }
    WP_TRY(check_range(dst, size_bytes, "fill", err));
    arrive(queue->device);
    return queue->device->ops->queue->fill(queue, dst, value, value_bytes, count, err);
}

wp_status wpi_launch_cluster(const wp_launch *launch, wp_dim3 *out, wp_error *err) {
    const wp_kernel_info *kernel = &launch->kernel->info;
    const uint32_t *own = kernel->cluster_dim,
                   most = launch->kernel->device->info.cluster_blocks_max;
    wp_dim3 c = launch->cluster;
    if (c.x == 0 && own[0] != 0) c = (wp_dim3){own[0], own[1], own[2]};
    if (c.x == 0) c = (wp_dim3){1, 1, 1};
    *out = c;
    if (own[0] != 0 && (c.x != own[0] || c.y != own[1] || c.z != own[2]))
        return WP_FAIL(err, LAUNCH,
                       "kernel %s: launched with clusters of %u x %u x %u blocks, but its "
                       "__cluster_dims__ are %u x %u x %u",
                       kernel->name, c.x, c.y, c.z, own[0], own[1], own[2]);
    if (own[0] != 0 && most == 0)
        return WP_FAIL(err, LAUNCH, "kernel %s: %s has no thread-block clusters", kernel->name,
                       launch->kernel->device->info.spec);
    const wp_dim3 g = launch->grid;
    if (c.y == 0 || c.z == 0 || c.x > 0xffffu || c.y > 0xffffu || c.z > 0xffffu ||
        (uint64_t)c.x * c.y * c.z > (most != 0 ? most : 1u))
        return WP_FAIL(err, LAUNCH,
                       "kernel %s: a cluster of %u x %u x %u blocks; at most %u are allowed on %s",
                       kernel->name, c.x, c.y, c.z, most != 0 ? most : 1u,
                       launch->kernel->device->info.spec);
    if (g.x % c.x != 0 || g.y % c.y != 0 || g.z % c.z != 0)
        return WP_FAIL(err, LAUNCH,
                       "kernel %s: a grid of %u x %u x %u blocks is not made of whole clusters of "
                       "%u x %u x %u",
                       kernel->name, g.x, g.y, g.z, c.x, c.y, c.z);
    return WP_STATUS_OK;
}

wp_status wp_queue_launch(wp_queue *queue, const wp_launch *launch, wp_error *err) {
    const wp_kernel *kernel = launch->kernel;
    if (kernel == NULL || kernel->device != queue->device) {
        return WP_FAIL(err, INVALID, "launch: %s",
                       kernel == NULL ? "no kernel is given"
                                      : "the kernel belongs to another device");
    }
    const wp_device_info *device = &queue->device->info;
    const wp_dim3 g = launch->grid, b = launch->block;
    if (g.x == 0 || g.y == 0 || g.z == 0 || g.x > 0x7fffffffu || g.y > 65535u || g.z > 65535u) {
        return WP_FAIL(err, LAUNCH,
                       "kernel %s: a grid of %u x %u x %u blocks is outside 1 to 2147483647 x "
                       "65535 x 65535",
                       kernel->info.name, g.x, g.y, g.z);
    }
    const uint64_t threads = (uint64_t)b.x * b.y * (b.z <= 64u ? b.z : 0u);
    uint32_t threads_max = kernel->info.threads_per_block_max;
    if (threads_max == 0) threads_max = device->threads_per_block_max;
    if (threads == 0 || b.x > 1024u || b.y > 1024u || threads > threads_max) {
        return WP_FAIL(err, LAUNCH,
                       "kernel %s: a block of %u x %u x %u threads; at most %u threads are allowed "
                       "(1024 x 1024 x 64 along the axes), at least one",
                       kernel->info.name, b.x, b.y, b.z, threads_max);
    }
    if (launch->args == NULL && kernel->info.param_count != 0) {
        return WP_FAIL(err, INVALID, "kernel %s: its %u arguments are missing", kernel->info.name,
                       kernel->info.param_count);
    }
    if (launch->is_cooperative) {
        const uint64_t blocks = (uint64_t)g.x * g.y * g.z;
        const uint64_t blocks_max = (uint64_t)wp_kernel_occupancy_blocks(
                                        kernel, (uint32_t)threads, launch->shared_dynamic_bytes) *
                                    device->sm_count;
        if (blocks > blocks_max) {
            return WP_FAIL(
                err, LAUNCH,
                "kernel %s: a cooperative launch of %llu blocks, but only %llu blocks of this "
                "size can be resident on %s",
                kernel->info.name, (unsigned long long)blocks, (unsigned long long)blocks_max,
                device->spec);
        }
    }
    wp_dim3 cluster;
    WP_TRY(wpi_launch_cluster(launch, &cluster, err));
    arrive(queue->device);
    return queue->device->ops->queue->launch(queue, launch, err);
}

wp_status wp_queue_prefetch(wp_queue *queue, const void *address, size_t size_bytes, bool to_device,
                            wp_error *err) {
    arrive(queue->device);
    const wpi_queue_ops *ops = queue->device->ops->queue;
    if (ops->prefetch == NULL || size_bytes == 0) return WP_STATUS_OK;
    return ops->prefetch(queue, address, size_bytes, to_device, err);
}

wp_status wpi_queue_attach(wp_queue *queue, void *address, size_t size_bytes, uint32_t flags,
                           wp_error *err) {
    const wpi_queue_ops *ops = queue->device->ops->queue;
    if (ops->attach == NULL) return WP_STATUS_OK;
    return ops->attach(queue, address, size_bytes, flags, err);
}

wp_status wpi_queue_wait_word(wp_queue *queue, const wpi_word *word, wp_error *err) {
    const wpi_queue_ops *ops = queue->device->ops->queue;
    if (ops->wait_word == NULL) return WP_FAIL(err, UNSUPPORTED, "queues that wait for words");
    arrive(queue->device);
    return ops->wait_word(queue, word, err);
}

wp_status wpi_queue_write_word(wp_queue *queue, const wpi_word *word, wp_error *err) {
    const wpi_queue_ops *ops = queue->device->ops->queue;
    if (ops->write_word == NULL) return WP_FAIL(err, UNSUPPORTED, "queues that write words");
    arrive(queue->device);
    return ops->write_word(queue, word, err);
}

wp_status wp_queue_host_call(wp_queue *queue, void (*call)(void *), void *arg, wp_error *err) {
    if (call == NULL) return WP_FAIL(err, INVALID, "host call: no function is given");
    arrive(queue->device);
    return queue->device->ops->queue->host_call(queue, call, arg, err);
}

/* ---- events ---------------------------------------------------------------------------------- */

wp_status wpi_event_create(wp_device *device, uint32_t flags, wp_event **out, wp_error *err) {
    *out = NULL;
    return device->ops->event->create(device, flags, out, err);
}

wp_status wp_event_create(wp_device *device, wp_event **out, wp_error *err) {
    return wpi_event_create(device, 0, out, err);
}

void wp_event_destroy(wp_event *event) {
    if (event != NULL) event->device->ops->event->destroy(event);
}

wp_status wp_event_record(wp_event *event, wp_queue *queue, wp_error *err) {
    if (event->device != queue->device) {
        return WP_FAIL(err, INVALID, "the event and the queue belong to different devices");
    }
    arrive(queue->device);
    return event->device->ops->event->record(event, queue, err);
}

wp_status wp_event_wait(wp_event *event, wp_error *err) {
    arrive(event->device);
    return event->device->ops->event->wait(event, err);
}

wp_status wp_queue_wait_event(wp_queue *queue, wp_event *event, wp_error *err) {
    const void *group = queue->device->group;
    if (event->device != queue->device && (group == NULL || event->device->group != group))
        return wp_event_wait(event, err);
    arrive(queue->device);
    return queue->device->ops->queue->wait_event(queue, event, err);
}

bool wp_event_is_complete(const wp_event *event) {
    arrive(event->device);
    return event->device->ops->event->is_complete(event);
}

uint64_t wp_event_time_ns(const wp_event *event) {
    return event->device->ops->event->time_ns(event);
}

int64_t wpi_event_elapsed_ns(const wp_event *first, const wp_event *second) {
    const wpi_event_ops *ops = first->device->ops->event;
    if (ops->elapsed_ns != NULL && first->device == second->device) {
        return ops->elapsed_ns(first, second);
    }
    return (int64_t)(wp_event_time_ns(second) - wp_event_time_ns(first));
}

/* ---- code ------------------------------------------------------------------------------------ */

wp_status wp_module_load(wp_device *device, const void *image, wp_module **out, wp_error *err) {
    *out = NULL;
    if (image == NULL) return WP_FAIL(err, INVALID, "module: no image is given");
    return device->ops->module->load(device, image, out, err);
}

void wpi_module_restore(wp_module *module) {
    if (module->device->ops->module->restore != NULL) module->device->ops->module->restore(module);
}

wpi_param_place wpi_kernel_param_place(const wp_kernel *kernel, uint32_t i) {
    return kernel->device->ops->module->param_place(kernel, i);
}

wp_status wpi_device_range_reserve(wp_device *device, size_t size_bytes, void **out,
                                   wp_error *err) {
    *out = NULL;
    if (device->ops->range_reserve == NULL)
        return WP_FAIL(err, UNSUPPORTED, "the device %s has no virtual memory management",
                       device->info.spec);
    return device->ops->range_reserve(device, size_bytes, out, err);
}

void wpi_device_range_release(wp_device *device, void *base, size_t size_bytes) {
    device->ops->range_release(device, base, size_bytes);
}

void wp_module_unload(wp_module *module) {
    if (module != NULL) module->device->ops->module->unload(module);
}

wp_status wp_module_find_kernel(wp_module *module, const char *name, wp_kernel **out,
                                wp_error *err) {
    *out = NULL;
    return module->device->ops->module->find_kernel(module, name, out, err);
}

wp_status wp_module_find_variable(wp_module *module, const char *name, void **address,
                                  size_t *size_bytes, wp_error *err) {
    *address = NULL;
    *size_bytes = 0;
    return module->device->ops->module->find_variable(module, name, address, size_bytes, err);
}

const wp_kernel_info *wp_kernel_get_info(const wp_kernel *kernel) {
    return &kernel->info;
}

uint32_t wp_kernel_occupancy_blocks(const wp_kernel *kernel, uint32_t block_threads,
                                    uint32_t shared_dynamic_bytes) {
    const wp_device *device = kernel->device;
    const uint32_t bound = kernel->info.threads_per_block_max; /* __launch_bounds__; 0: none */
    if (bound != 0 && block_threads > bound) return 0;
    if (device->ops->module->occupancy_blocks != NULL) {
        return device->ops->module->occupancy_blocks(kernel, block_threads, shared_dynamic_bytes);
    }
    return wpi_occupancy_blocks(&device->info, &kernel->info, block_threads, shared_dynamic_bytes);
}

wp_status wpi_kernel_set_carveout(wp_kernel *kernel, int pct, wp_error *err) {
    const wpi_module_ops *ops = kernel->device->ops->module;
    if (ops->set_carveout != NULL) WP_TRY(ops->set_carveout(kernel, pct, err));
    kernel->shared_carveout = (uint8_t)(pct + 1);
    return WP_STATUS_OK;
}

wp_status wpi_kernel_set_shared_max(wp_kernel *kernel, uint32_t dynamic_bytes, wp_error *err) {
    const wp_device *device = kernel->device;
    const uint64_t bytes = (uint64_t)dynamic_bytes + kernel->info.shared_static_bytes;
    const bool can_raise = device->ops->module->set_shared_max != NULL;
    const uint64_t bytes_max =
        can_raise ? device->info.shared_bytes_per_block_optin : device->info.shared_bytes_per_block;
    if (bytes > bytes_max) {
        return WP_FAIL(
            err, INVALID,
            "kernel %s: %llu bytes of shared memory (%u of them static); %s has %llu per "
            "block",
            kernel->info.name, (unsigned long long)bytes, kernel->info.shared_static_bytes,
            device->info.spec, (unsigned long long)bytes_max);
    }
    if (!can_raise) return WP_STATUS_OK;
    return device->ops->module->set_shared_max(kernel, dynamic_bytes, err);
}

static uint64_t at_most(uint64_t limit, uint64_t capacity, uint64_t need) {
    if (need == 0 || capacity == 0) return limit;
    return capacity / need < limit ? capacity / need : limit;
}

static uint64_t rounded_up(uint64_t n, uint64_t unit) {
    return unit == 0 ? n : (n + unit - 1) / unit * unit;
}

uint32_t wpi_registers_at_most(const wp_device_info *device, uint32_t registers) {
    const uint32_t capability = device->compute_major * 10 + device->compute_minor;
    const uint32_t most = capability == 30 ? 63 : 255;
    return registers < most ? registers : most;
}

static uint64_t registers_of_warp(const wp_device_info *device, uint32_t registers_per_thread) {
    return rounded_up((uint64_t)registers_per_thread * 32, device->register_granule);
}

/* Warps that an SM has registers for, as in NVIDIA's calculator: a warp gets whole units of its
 * scheduler's share. */
static uint64_t warps_by_registers(const wp_device_info *device, uint32_t registers_per_thread) {
    const uint64_t warp = registers_of_warp(device, registers_per_thread);
    const uint64_t shares = device->schedulers == 0 ? 1 : device->schedulers;
    return warp == 0 ? UINT64_MAX : device->registers_per_sm / shares / warp * shares;
}

uint32_t wpi_occupancy_threads(const wp_device_info *device, uint32_t registers_per_thread) {
    const uint64_t most = device->threads_per_block_max;
    if (device->register_granule == 0) return (uint32_t)most;
    const uint64_t warp = registers_of_warp(device, registers_per_thread);
    uint64_t warps = warps_by_registers(device, registers_per_thread);
    if (warp != 0 && device->registers_per_block / warp < warps) /* of an SM that has more */
        warps = device->registers_per_block / warp;
    return (uint32_t)(warps < most / 32 ? warps * 32 : most);
}

uint32_t wpi_occupancy_blocks(const wp_device_info *device, const wp_kernel_info *kernel,
                              uint32_t block_threads, uint32_t shared_dynamic_bytes) {
    if (block_threads == 0 || block_threads > device->threads_per_block_max) return 0;
    const uint64_t threads = (block_threads + 31u) / 32u * 32u; /* whole warps */
    uint64_t blocks = device->blocks_per_sm_max;
    blocks = at_most(blocks, device->threads_per_sm_max, threads);
    blocks = at_most(blocks, warps_by_registers(device, kernel->register_count), threads / 32);
    const uint64_t asked_bytes = (uint64_t)kernel->shared_static_bytes + shared_dynamic_bytes;
    const uint64_t shared_bytes =
        rounded_up(asked_bytes + device->shared_reserved_bytes, device->shared_granule_bytes);
    if (asked_bytes > device->shared_bytes_per_block_optin) return 0;
    return (uint32_t)at_most(blocks, device->shared_bytes_per_sm, shared_bytes);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "stream/stream_code.h"

#include <inttypes.h>
#include <pthread.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cxx_name.h"
#include "base/fail.h"
#include "base/text.h"
#include "device/stream_library.h"

typedef struct entry {
    wp_device *device;
    const void *image;
    char *name, *display_name;
    uint64_t mask;
    wp_module *made; /* NULL: it was in the program */
    wpi_stream_code code;
    struct entry *next;
} entry;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static entry *entries;

static void free_entry(entry *e) {
    if (e == NULL) return;
    wpi_cache_code_destroy(e->code.cached);
    wp_module_unload(e->made);
    wpi_free(e->name);
    wpi_free(e->display_name);
    wpi_free(e);
}

/* Copied by a queue of its own: it does not wait for the program's work. */
static wp_status read_facts(wp_device *device, wp_module *module, const char *streamed,
                            wpi_stream_facts *out, wp_error *err) {
    void *address, *pinned = NULL;
    size_t size_bytes;
    wp_queue *queue = NULL;
    char *name = wpi_format("%s" WPI_STREAM_FACTS, streamed);
    if (name == NULL) return WP_FAIL(err, NOMEM, "the name of a variable");
    wp_status status = wp_module_find_variable(module, name, &address, &size_bytes, err);
    wpi_free(name);
    if (status != WP_STATUS_OK) return status;
    if (size_bytes != sizeof *out)
        return WP_FAIL(err, PARSE, "%s was compiled by another version of wpcc", streamed);
    if (wp_device_get_info(device)->host_pointers_are_device_pointers) {
        memcpy(out, address, sizeof *out);
        return WP_STATUS_OK;
    }
    WP_TRY_GOTO(wp_memory_alloc(device, WP_MEMORY_PINNED, sizeof *out, 0, &pinned, err), done);
    WP_TRY_GOTO(wp_queue_create(device, false, &queue, err), done);
    WP_TRY_GOTO(wp_queue_copy(queue, pinned, address, sizeof *out, err), done);
    WP_TRY_GOTO(wp_queue_wait(queue, err), done);
    memcpy(out, pinned, sizeof *out);
done:
    wp_queue_destroy(queue);
    if (pinned != NULL) {
        const wp_status freed = wp_memory_free(device, pinned, NULL);
        (void)freed;
    }
    return status;
}

static wp_status fill_entry(entry *e, wp_module *module, wp_error *err) {
    char *streamed = wpi_format("%s$stream%" PRIx64, e->name, e->mask);
    const void *image;
    wp_status status;
    if (streamed == NULL) return WP_FAIL(err, NOMEM, "the name of a kernel");
    if (wp_module_find_kernel(module, streamed, &e->code.kernel, NULL) != WP_STATUS_OK) {
        WP_TRY_GOTO(wpi_stream_library_open(e->image, e->name, e->mask, &image, err), done);
        WP_TRY_GOTO(wp_module_load(e->device, image, &e->made, err), done);
        module = e->made;
        WP_TRY_GOTO(wp_module_find_kernel(module, streamed, &e->code.kernel, err), done);
    }
    WP_TRY_GOTO(read_facts(e->device, module, streamed, &e->code.facts, err), done);
    if ((e->mask & WPI_STREAM_LINES) != 0)
        WP_TRY_GOTO(wpi_cache_code_create(e->device, module, streamed, e->code.kernel,
                                          &e->code.cached, err),
                    done);
    e->display_name = wpi_cxx_demangle(e->name);
    e->code.name = e->name;
    e->code.display_name = e->display_name != NULL ? e->display_name : e->name;
    e->code.mask = e->mask;
    e->code.param_count = wp_kernel_get_info(e->code.kernel)->param_count - 1;
done:
    wpi_free(streamed);
    return status;
}

static entry *find(const wp_device *device, const void *image, const char *name, uint64_t mask) {
    entry *e = entries;
    while (e != NULL && (e->device != device || e->image != image || e->mask != mask ||
                         strcmp(e->name, name) != 0))
        e = e->next;
    return e;
}

wp_status wpi_stream_code_find(wp_device *device, wp_module *module, const void *image,
                               const char *name, uint64_t mask, const wpi_stream_code **out,
                               wp_error *err) {
    wp_status status = WP_STATUS_OK;
    pthread_mutex_lock(&lock);
    entry *e = find(device, image, name, mask);
    if (e == NULL) {
        e = wpi_calloc(1, sizeof *e);
        if (e != NULL)
            *e = (entry){.device = device,
                         .image = image,
                         .name = wpi_strdup(name),
                         .mask = mask,
                         .next = entries};
        status = e == NULL || e->name == NULL ? WP_FAIL(err, NOMEM, "a streamed kernel")
                                              : fill_entry(e, module, err);
        if (status == WP_STATUS_OK)
            entries = e;
        else
            free_entry(e);
    }
    if (status == WP_STATUS_OK) *out = &e->code;
    pthread_mutex_unlock(&lock);
    return status;
}

void wpi_stream_codes_free(void) {
    pthread_mutex_lock(&lock);
    while (entries != NULL) {
        entry *e = entries;
        entries = e->next;
        free_entry(e);
    }
    pthread_mutex_unlock(&lock);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Two threads of the host, each with one half of the pairs, in the same table of the same header. */
#define _POSIX_C_SOURCE 200809L
#include "rate.h"

#include <pthread.h>

typedef struct half {
    const rate_filler *filler;
    const wp_units *units;
    uint64_t first, outer;
} half;

static void *fill(void *object) {
    const half *h = object;
    const wp_table_view view = wp_table_get_view(h->filler->table);
    for (uint64_t unit = h->first; unit < h->outer; unit++)
        rate_insert(&view, h->units, unit, h->filler->keys);
    return NULL;
}

static wp_status rate_process(void *object, const wp_units *units, uint64_t first, uint64_t outer,
                              wp_error *err) {
    const uint64_t middle = first + (outer - first) / 2;
    half lower = {object, units, first, middle}, upper = {object, units, middle, outer};
    pthread_t thread;
    (void)err;
    if (pthread_create(&thread, NULL, fill, &lower) != 0) return WP_STATUS_NOMEM;
    (void)fill(&upper);
    (void)pthread_join(thread, NULL);
    return WP_STATUS_OK;
}

int main(int argc, char **argv) {
    wp_device *device;
    wp_error err = WP_ERROR_INIT;
    rate_check(wp_device_open("cpu", &device, &err), &err);
    const int status = rate_run(device, argc, argv);
    wp_device_close(device);
    return status;
}

/* SPDX-License-Identifier: Apache-2.0 */
/** Runs a check on one device of every kind that opens on this machine, and prints why the others
 * do not. */
#ifndef EVERY_DEVICE_H
#define EVERY_DEVICE_H

#include "device/device.h"
#include "wp_test.h"

static inline void for_every_device(void (*check)(wp_device *device)) {
    for (const wpi_device_kind *const *kind = wpi_device_kinds(); *kind != NULL; kind++) {
        wp_device *device;
        wp_error err = {0};
        if ((*kind)->open((*kind)->example, &device, &err) != WP_STATUS_OK) {
            print_message("%s: %s\n", (*kind)->name, err.message);
            continue;
        }
        check(device);
        wp_device_close(device);
    }
}

#endif

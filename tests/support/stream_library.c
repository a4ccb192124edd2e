/* SPDX-License-Identifier: Apache-2.0 */
/* Opens the streamed form of a kernel as the runtime does, on each of the devices, and prints the
 * kernel and the number of its parameters:
 *     stream_library <image> <kernel> <mask> <device>...
 * It is a program of libwarpage, because there the library registers its code. */
#include "device/stream_library.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/text.h"
#include "warpage/device.h"

static void must(wp_status status, const wp_error *error) {
    if (status == WP_STATUS_OK) return;
    fprintf(stderr, "%s: %s\n", wp_status_string(status), error->message);
    exit(1);
}

static void show(const char *spec, const void *image, const char *name, const char *original) {
    wp_error error = {0};
    wp_device *device;
    wp_module *module;
    wp_kernel *kernel;
    must(wp_device_open(spec, &device, &error), &error);
    must(wp_module_load(device, image, &module, &error), &error);
    must(wp_module_find_kernel(module, name, &kernel, &error), &error);
    printf("%s: %s, %" PRIu32 " parameters\n", spec, name, wp_kernel_get_info(kernel)->param_count);
    if (wp_module_find_kernel(module, original, &kernel, NULL) == WP_STATUS_OK)
        printf("%s: %s is there, too\n", spec, original);
    wp_module_unload(module);
    wp_device_close(device);
}

int main(int argc, char **argv) {
    if (argc < 5) return 2;
    wp_error error = {0};
    char *image = NULL;
    size_t size_bytes = 0;
    const uint64_t mask = strtoull(argv[3], NULL, 16);
    const void *made, *again;
    must(wpi_file_read(argv[1], &image, &size_bytes, &error), &error);
    must(wpi_stream_library_open(image, argv[2], mask, &made, &error), &error);
    must(wpi_stream_library_open(image, argv[2], mask, &again, &error), &error);
    printf("%s\n", made == again && (uintptr_t)made % 16 == 0 ? "one image" : "two images");
    char *name = wpi_format("%s$stream%" PRIx64, argv[2], mask);
    for (int i = 4; i < argc; i++)
        show(argv[i], made, name, argv[2]);
    wpi_free(name);
    wpi_free(image);
    return 0;
}

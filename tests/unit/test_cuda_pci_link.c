/* SPDX-License-Identifier: Apache-2.0 */
#include "device/cuda/pci_link.h"

#include "base/alloc.h"
#include "base/file.h"
#include "test_folder.h"
#include "wp_test.h"

static void put(const char *folder, const char *name, const char *line) {
    wp_error err = {0};
    char *path = wpi_path_join(folder, name);
    assert_status_ok(wpi_file_write(path, line, strlen(line), &err), &err);
    wpi_free(path);
}

static void widths_and_rates_become_numbers(void **state) {
    (void)state;
    const char *folder = test_folder();
    put(folder, "current_link_width", "8\n");
    put(folder, "max_link_width", "16\n");
    put(folder, "current_link_speed", "2.5 GT/s PCIe\n");
    put(folder, "max_link_speed", "32.0 GT/s PCIe\n");
    wp_device_info info = {0};
    wpi_pci_link_read(folder, &info);
    assert_u64(info.link_width, 8);
    assert_u64(info.link_width_max, 16);
    assert_u64(info.link_generation, 1);
    assert_u64(info.link_generation_max, 5);
    put(folder, "current_link_speed", "16.0 GT/s PCIe\n");
    wpi_pci_link_read(folder, &info);
    assert_u64(info.link_generation, 4);
    put(folder, "current_link_speed", "Unknown\n");
    wpi_pci_link_read(folder, &info);
    assert_u64(info.link_generation, 0);
}

static void a_device_on_no_such_bus_has_no_link(void **state) {
    (void)state;
    wp_device_info info = {.link_width = 1, .link_generation_max = 1};
    wpi_pci_link_read("/nowhere", &info);
    assert_u64(info.link_width + info.link_width_max, 0);
    assert_u64(info.link_generation + info.link_generation_max, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(widths_and_rates_become_numbers),
        cmocka_unit_test(a_device_on_no_such_bus_has_no_link),
    };
    return wp_test_main(tests);
}

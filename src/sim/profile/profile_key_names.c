/* SPDX-License-Identifier: Apache-2.0 */
/* Names of units and of keys, including keys that are repeated for each class or TLB level. */
#include <stdio.h>
#include <string.h>

#include "sim/profile/profile_keys.h"

const char *wpi_class_name(wp_trace_class class) {
    static const char *const names[WP_TRACE_CLASS_COUNT] = {
        "int",   "imul",    "fp16", "fp32", "fp64",   "special",   "convert", "control", "constant",
        "local", "texture", "warp", "sync", "tensor", "convert64", "shift",   "compare"};
    return (unsigned)class < WP_TRACE_CLASS_COUNT ? names[class] : "unknown";
}

const char *wpi_key_unit_name(wpi_key_unit unit) {
    static const char *const names[WPI_KEY_UNIT_COUNT] = {"number",    "percent", "number", "bytes",
                                                          "frequency", "time",    "cycles", "rate",
                                                          "flag",      "word",    "policy", "text"};
    return (unsigned)unit < WPI_KEY_UNIT_COUNT ? names[unit] : "unknown";
}

static bool is_of_class(const wpi_key *key) {
    return strncmp(key->name, "class.*", 7) == 0;
}

static bool is_of_tlb(const wpi_key *key) {
    return strncmp(key->name, "tlb.l*", 6) == 0;
}

uint32_t wpi_key_repeats(const wpi_key *key) {
    if (is_of_class(key)) return WP_TRACE_CLASS_COUNT;
    return is_of_tlb(key) ? WPI_TLB_LEVELS_MAX : 1;
}

void wpi_key_name(const wpi_key *key, uint32_t repeat, char out[WPI_KEY_NAME_MAX]) {
    const char *star = strchr(key->name, '*');
    if (star == NULL) {
        (void)snprintf(out, WPI_KEY_NAME_MAX, "%s", key->name);
        return;
    }
    char number[4];
    (void)snprintf(number, sizeof number, "%u", (repeat + 1) % 100);
    (void)snprintf(out, WPI_KEY_NAME_MAX, "%.*s%s%s", (int)(star - key->name), key->name,
                   is_of_class(key) ? wpi_class_name((wp_trace_class)repeat) : number, star + 1);
}

size_t wpi_key_stride(const wpi_key *key) {
    if (is_of_class(key)) return sizeof(wpi_class_profile);
    return is_of_tlb(key) ? sizeof(wpi_tlb_profile) : 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cpu_isa.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"

#define OPTION "--cpu-isa="

static const struct {
    wp_cpu_isa isa;
    const char *option;
} rows[WP_CPU_ISA_COUNT] = {/* the best first */
                            {WP_CPU_ISA_X86_64_V3, OPTION "x86-64-v3"},
                            {WP_CPU_ISA_BASELINE, OPTION "baseline"}};

wp_status wpi_cpu_isas_parse(const char *text, wpi_cpu_isas *out, wp_error *err) {
    *out = (wpi_cpu_isas){0};
    const bool is_native = strcmp(text, "native") == 0, is_all = strcmp(text, "all") == 0;
    const wp_cpu_isa best = wpi_cpu_isa_best();
    for (uint32_t i = 0; i < WP_CPU_ISA_COUNT; i++)
        if (is_all || (is_native && rows[i].isa == best) ||
            strcmp(text, rows[i].option + strlen(OPTION)) == 0)
            out->isa[out->count++] = rows[i].isa;
    if (out->count != 0) return WP_STATUS_OK;
    return WP_FAIL(err, INVALID, OPTION "%s: it can be all, native, baseline or x86-64-v3", text);
}

bool wpi_cpu_isa_runs(uint32_t isa) {
    if (isa == WP_CPU_ISA_BASELINE) return true;
    const char *choice = getenv("WARPAGE_CPU_ISA");
    if (choice != NULL && strcmp(choice, "baseline") == 0) return false;
#if defined(__x86_64__)
    /* All that x86-64-v3 adds; the compiler's own check includes the operating system's part. */
    return isa == WP_CPU_ISA_X86_64_V3 && __builtin_cpu_supports("avx2") &&
           __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
           __builtin_cpu_supports("fma") && __builtin_cpu_supports("f16c") &&
           __builtin_cpu_supports("lzcnt") && __builtin_cpu_supports("movbe");
#else
    return false;
#endif
}

const char *wpi_cpu_isa_option(wp_cpu_isa isa) {
    uint32_t i = 0;
    while (rows[i].isa != isa)
        i++;
    return rows[i].option;
}

wp_cpu_isa wpi_cpu_isa_best(void) {
    return wpi_cpu_isa_runs(WP_CPU_ISA_X86_64_V3) ? WP_CPU_ISA_X86_64_V3 : WP_CPU_ISA_BASELINE;
}

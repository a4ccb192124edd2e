/* SPDX-License-Identifier: Apache-2.0 */
/** The instruction sets of CPU code (wp_cpu_isa in base/abi.h) and their names. */
#ifndef WP_BASE_CPU_ISA_H
#define WP_BASE_CPU_ISA_H

#include <stdbool.h>
#include <stdint.h>

#include "base/abi.h"
#include "warpage/error.h"

enum { WP_CPU_ISA_COUNT = 2 };

/** Sets to compile for. The last one's code defines the program's variables. */
typedef struct wpi_cpu_isas {
    uint32_t count;
    wp_cpu_isa isa[WP_CPU_ISA_COUNT];
} wpi_cpu_isas;

/** "all", "native" (the best that runs here), "baseline" or "x86-64-v3". INVALID: another text. */
WP_NODISCARD wp_status wpi_cpu_isas_parse(const char *text, wpi_cpu_isas *out, wp_error *err);
/** Whether this processor can run it; with WARPAGE_CPU_ISA=baseline it runs only that. */
bool wpi_cpu_isa_runs(uint32_t isa);
/** wpcc's option for one set, or for the best one that runs here: "--cpu-isa=x86-64-v3". */
const char *wpi_cpu_isa_option(wp_cpu_isa isa);
wp_cpu_isa wpi_cpu_isa_best(void);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#include "probe/infer/hierarchy_number.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

const char *const wpi_level_replacement_names[WPI_LEVEL_REPLACEMENT_COUNT] = {
    [WPI_LEVEL_LRU] = "lru", [WPI_LEVEL_FIFO] = "fifo", [WPI_LEVEL_RANDOM] = "random"};

void wpi_number_set(wpi_number *number, double value, double confidence) {
    *number = (wpi_number){.is_known = true, .value = value, .confidence = confidence};
}

void wpi_number_explain(wpi_number *number, const char *format, ...) {
    va_list args;
    va_start(args, format);
    (void)vsnprintf(number->reason, sizeof number->reason, format, args);
    va_end(args);
}

void wpi_number_unknown(wpi_number *number, const char *format, ...) {
    va_list args;
    va_start(args, format);
    *number = (wpi_number){0};
    (void)vsnprintf(number->reason, sizeof number->reason, format, args);
    va_end(args);
}

double wpi_confidence(double z) {
    return 0.5 * (1 + erf(z / sqrt(2.0)));
}

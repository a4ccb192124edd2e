/* SPDX-License-Identifier: Apache-2.0 */
/** Values as words of 64 bits, for host and kernels alike. */
#ifndef WP_OPS_WORDS_H
#define WP_OPS_WORDS_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "ops/key_hash.h"
#include "warpage/ops.h"

WPI_EVERYWHERE bool wpi_type_is_float(wp_type type) {
    return type == WP_TYPE_FLOAT32 || type == WP_TYPE_FLOAT64;
}
WPI_EVERYWHERE bool wpi_type_is_signed(wp_type type) {
    return type <= WP_TYPE_INT64;
}

/** Bits of a value as a word whose unsigned order is the values' order, and back. Integers and
 * floats are widened to 64 bits first. A NaN is larger than all other floats. */
WPI_EVERYWHERE uint64_t wpi_ordered_integer(wp_type type, uint64_t value) {
    return wpi_type_is_signed(type) ? value ^ (uint64_t)1 << 63 : value;
}
WPI_EVERYWHERE uint64_t wpi_ordered_float(uint64_t bits) {
    return (bits >> 63) != 0 ? ~bits : bits | (uint64_t)1 << 63;
}
WPI_EVERYWHERE uint64_t wpi_unordered_integer(wp_type type, uint64_t word) {
    return wpi_ordered_integer(type, word);
}
WPI_EVERYWHERE uint64_t wpi_unordered_float(uint64_t word) {
    return (word >> 63) != 0 ? word & ~((uint64_t)1 << 63) : ~word;
}

WPI_EVERYWHERE uint64_t wpi_bits_of(double number) {
    uint64_t bits;
    memcpy(&bits, &number, sizeof bits);
    return bits;
}
WPI_EVERYWHERE double wpi_double_of(uint64_t bits) {
    double number;
    memcpy(&number, &bits, sizeof number);
    return number;
}

/** Value `row` of a column: an integer widened to 64 bits (sign or zeros), or the bits of a double.
 */
WPI_EVERYWHERE uint64_t wpi_load_word(wp_type type, const void *values, uint64_t row) {
    switch (type) {
    case WP_TYPE_INT8: return (uint64_t)(int64_t)((const int8_t *)values)[row];
    case WP_TYPE_INT16: return (uint64_t)(int64_t)((const int16_t *)values)[row];
    case WP_TYPE_INT32: return (uint64_t)(int64_t)((const int32_t *)values)[row];
    case WP_TYPE_UINT8: return ((const uint8_t *)values)[row];
    case WP_TYPE_UINT16: return ((const uint16_t *)values)[row];
    case WP_TYPE_UINT32: return ((const uint32_t *)values)[row];
    case WP_TYPE_FLOAT32: return wpi_bits_of((double)((const float *)values)[row]);
    default: return ((const uint64_t *)values)[row];
    }
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The properties of a device that programs can query, as a set of members of wp_device_info. A
 * program that gets 28 multiprocessors may do something else on a device with 56, so a trace
 * records the queries.
 */
#ifndef WP_BASE_DEVICE_QUERY_H
#define WP_BASE_DEVICE_QUERY_H

#include "warpage/device.h"

/** X(name, member of wp_device_info, words) */
#define WPI_INFO_MAP(X)                                                                            \
    X(SM_COUNT, sm_count, "multiprocessors")                                                       \
    X(COMPUTE_MAJOR, compute_major, "compute capability (major)")                                  \
    X(COMPUTE_MINOR, compute_minor, "compute capability (minor)")                                  \
    X(THREADS_PER_BLOCK, threads_per_block_max, "threads of a block")                              \
    X(THREADS_PER_SM, threads_per_sm_max, "threads of a multiprocessor")                           \
    X(BLOCKS_PER_SM, blocks_per_sm_max, "blocks of a multiprocessor")                              \
    X(REGISTERS_PER_SM, registers_per_sm, "registers of a multiprocessor")                         \
    X(REGISTERS_PER_BLOCK, registers_per_block, "registers of a block")                            \
    X(SHARED_PER_BLOCK, shared_bytes_per_block, "shared bytes of a block")                         \
    X(SHARED_OPTIN, shared_bytes_per_block_optin, "shared bytes of a block that asks for more")    \
    X(SHARED_PER_SM, shared_bytes_per_sm, "shared bytes of a multiprocessor")                      \
    X(MEMORY, memory_bytes, "bytes of memory")                                                     \
    X(CONSTANT, constant_bytes, "bytes of constant memory")                                        \
    X(L2, l2_bytes, "bytes of L2 cache")                                                           \
    X(CLOCK, clock_hz, "clock in Hz")                                                              \
    X(MEMORY_CLOCK, memory_clock_hz, "memory clock in Hz")                                         \
    X(BUS_WIDTH, memory_bus_bits, "bits of the memory bus")

typedef enum wpi_info_field {
#define WPI_INFO_ENUM(name, member, words) WPI_INFO_##name,
    WPI_INFO_MAP(WPI_INFO_ENUM)
#undef WPI_INFO_ENUM
        WPI_INFO_COUNT /* must be last */
} wpi_info_field;

#define WPI_INFO_SET(name) ((uint32_t)1 << WPI_INFO_##name)
#define WPI_INFO_ALL (((uint32_t)1 << WPI_INFO_COUNT) - 1)

static inline uint64_t wpi_info_value(const wp_device_info *info, wpi_info_field field) {
    switch (field) {
#define WPI_INFO_VALUE(name, member, words)                                                        \
    case WPI_INFO_##name: return info->member;
        WPI_INFO_MAP(WPI_INFO_VALUE)
#undef WPI_INFO_VALUE
    default: return 0;
    }
}

static inline const char *wpi_info_words(wpi_info_field field) {
    switch (field) {
#define WPI_INFO_WORDS(name, member, words)                                                        \
    case WPI_INFO_##name: return words;
        WPI_INFO_MAP(WPI_INFO_WORDS)
#undef WPI_INFO_WORDS
    default: return "";
    }
}

#endif

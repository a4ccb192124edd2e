/* SPDX-License-Identifier: Apache-2.0 */
/* For each bank, the distinct words of a turn, at most 64. */
#include "sim/sm/shared_banks.h"

#include "sim/sm/warp_source.h"

#define BANKS_MAX 64u

typedef struct turn {
    uint64_t words[BANKS_MAX][WPI_LANES];
    uint8_t count[BANKS_MAX];
} turn;

static void want(turn *t, const wpi_shared *shared, uint64_t word, bool is_atomic) {
    const uint32_t bank = (uint32_t)(word & (shared->banks - 1));
    uint64_t *words = t->words[bank];
    const uint32_t count = t->count[bank];
    for (uint32_t i = 0; i < count && !is_atomic; i++)
        if (words[i] == word) return;
    words[count] = word;
    t->count[bank]++;
}

/* Whether the lanes' words lie within as many consecutive words as there are banks, so that none
 * conflict. */
static bool is_dense(const wpi_shared *shared, uint32_t mask, const uint64_t *addresses,
                     uint32_t size_bytes) {
    uint64_t first = UINT64_MAX, last = 0;
    for (; mask != 0; mask &= mask - 1) {
        const uint64_t address = addresses[__builtin_ctz(mask)];
        if (address < first) first = address;
        if (address > last) last = address;
    }
    const uint32_t bits = (uint32_t)__builtin_ctz(shared->bank_bytes);
    return ((last + size_bytes - 1) >> bits) - (first >> bits) < shared->banks;
}

static uint32_t turn_cycles(const wpi_shared *shared, uint32_t mask, const uint64_t *addresses,
                            uint32_t size_bytes, bool is_atomic) {
    if (!is_atomic && is_dense(shared, mask, addresses, size_bytes)) return 1;
    const uint32_t bits = (uint32_t)__builtin_ctz(shared->bank_bytes);
    turn t;
    for (uint32_t bank = 0; bank < shared->banks; bank++)
        t.count[bank] = 0;
    for (; mask != 0; mask &= mask - 1) {
        const uint64_t address = addresses[__builtin_ctz(mask)];
        const uint64_t first = address >> bits, last = (address + size_bytes - 1) >> bits;
        for (uint64_t word = first; word <= last; word++)
            want(&t, shared, word, is_atomic);
    }
    uint32_t cycles = 0;
    for (uint32_t bank = 0; bank < shared->banks; bank++)
        if (t.count[bank] > cycles) cycles = t.count[bank];
    return cycles;
}

uint32_t wpi_shared_cycles(const wpi_shared *shared, uint32_t mask, const uint64_t *addresses,
                           uint32_t size_bytes, bool is_atomic) {
    const uint32_t turns = size_bytes <= shared->bank_bytes ? 1 : size_bytes / shared->bank_bytes;
    const uint32_t lanes = WPI_LANES / turns;
    uint32_t cycles = 0;
    for (uint32_t i = 0; i < turns; i++) {
        const uint32_t part = turns == 1 ? mask : mask & (((1u << lanes) - 1) << (i * lanes));
        if (part != 0) cycles += turn_cycles(shared, part, addresses, size_bytes, is_atomic);
    }
    return cycles;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Eight bytes a step, multiply and fold; the length takes part so that padding zeros count. */
#include "base/hash.h"

#include <string.h>

static uint64_t mix(uint64_t h) {
    h ^= h >> 32;
    h *= 0x9e3779b97f4a7c15u; /* 2^64 / golden ratio: odd, bits well spread */
    h ^= h >> 29;
    return h;
}

uint64_t wpi_hash64(const void *data, size_t size_bytes, uint64_t seed) {
    const unsigned char *bytes = data;
    uint64_t h = mix(seed ^ (uint64_t)size_bytes);
    for (size_t first = 0; first < size_bytes; first += 8) {
        const size_t outer = size_bytes - first < 8 ? size_bytes : first + 8;
        uint64_t word = 0;
        for (size_t i = outer; i > first; i--)
            word = word << 8 | bytes[i - 1];
        h = mix(h ^ word) + seed;
    }
    return mix(mix(h));
}

uint64_t wpi_kernel_id(const char *name) {
    return wpi_hash64(name, strlen(name), 0) | 1;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Sources: Intel's Software Developer's Manual, volume 2, CPUID; AMD's Programmer's Manual,
 * volume 3. */
#include "probe/measure/cpuid.h"

#include <string.h>

#if defined(__x86_64__)
#include <cpuid.h>
void wpi_cpuid_native(uint32_t leaf, uint32_t subleaf, uint32_t registers[4]) {
    if (!__get_cpuid_count(leaf, subleaf, &registers[0], &registers[1], &registers[2],
                           &registers[3]))
        memset(registers, 0, 4 * sizeof *registers);
}
#else
void wpi_cpuid_native(uint32_t leaf, uint32_t subleaf, uint32_t registers[4]) {
    (void)leaf, (void)subleaf;
    memset(registers, 0, 4 * sizeof *registers);
}
#endif

enum { EAX, EBX, ECX, EDX };

typedef struct list {
    wpi_cpuid_tlb *tlbs;
    size_t count;
} list;

static void add(list *l, wpi_cpuid_tlb tlb) {
    if (tlb.entries != 0 && l->count < WPI_CPUID_TLBS_MAX) l->tlbs[l->count++] = tlb;
}

/* ---- Intel, leaf 2: a byte names a TLB ---- */

static const struct {
    uint8_t byte;
    wpi_cpuid_tlb tlb;
} bytes[] = {
    {0x03, {1, 64, 4, WPI_CPUID_4K, 2}},
    {0x04, {1, 8, 4, WPI_CPUID_4M, 2}},
    {0x05, {1, 32, 4, WPI_CPUID_4M, 2}},
    {0x56, {1, 16, 4, WPI_CPUID_4M, 2}},
    {0x57, {1, 16, 4, WPI_CPUID_4K, 2}},
    {0x59, {1, 16, 0, WPI_CPUID_4K, 2}},
    {0x5a, {1, 32, 4, WPI_CPUID_2M | WPI_CPUID_4M, 2}},
    {0x63, {1, 32, 4, WPI_CPUID_2M | WPI_CPUID_4M, 2}},
    {0x64, {1, 512, 4, WPI_CPUID_4K, 2}},
    {0x6a, {1, 64, 8, WPI_CPUID_4K, 2}},
    {0x6b, {1, 256, 8, WPI_CPUID_4K, 2}},
    {0x6c, {1, 128, 8, WPI_CPUID_2M | WPI_CPUID_4M, 2}},
    {0xa0, {1, 32, 0, WPI_CPUID_4K, 2}},
    {0xb3, {1, 128, 4, WPI_CPUID_4K, 2}},
    {0xb4, {1, 256, 4, WPI_CPUID_4K, 2}},
    {0xba, {1, 64, 4, WPI_CPUID_4K, 2}},
    {0xc0, {1, 8, 4, WPI_CPUID_4K | WPI_CPUID_4M, 2}},
    {0xc1, {2, 1024, 8, WPI_CPUID_4K | WPI_CPUID_2M, 2}},
    {0xc2, {1, 16, 4, WPI_CPUID_4K | WPI_CPUID_2M, 2}},
    /* The manual says 6 ways here; 1536 entries in 128 sets make 12, as its other volumes say. */
    {0xc3, {2, 1536, 12, WPI_CPUID_4K | WPI_CPUID_2M, 2}},
    {0xc4, {1, 32, 4, WPI_CPUID_2M | WPI_CPUID_4M, 2}},
    {0xca, {2, 512, 4, WPI_CPUID_4K, 2}},
};

static void add_byte(list *l, uint8_t byte) {
    for (size_t i = 0; i < sizeof bytes / sizeof bytes[0]; i++)
        if (bytes[i].byte == byte) add(l, bytes[i].tlb);
}

static void add_leaf_2(list *l, wpi_cpuid_read read) {
    uint32_t registers[4];
    read(2, 0, registers);
    for (int r = EAX; r <= EDX; r++) {
        if ((registers[r] & UINT32_C(0x80000000)) != 0) continue; /* no information */
        for (int shift = r == EAX ? 8 : 0; shift < 32; shift += 8)
            add_byte(l, (uint8_t)(registers[r] >> shift));
    }
}

/* ---- Intel, leaf 0x18: a subleaf describes one ---- */

static void add_leaf_18(list *l, wpi_cpuid_read read) {
    enum { INSTRUCTIONS = 2, STORES = 5 };
    uint32_t registers[4];
    read(0x18, 0, registers);
    const uint32_t last = registers[EAX] < 64 ? registers[EAX] : 0;
    for (uint32_t i = 0; i <= last; i++) {
        read(0x18, i, registers);
        const uint32_t type = registers[EDX] & 0x1f;
        if (type == 0 || type == INSTRUCTIONS || type >= STORES) continue;
        const uint32_t ways = registers[EBX] >> 16;
        add(l, (wpi_cpuid_tlb){.level = registers[EDX] >> 5 & 7,
                               .entries = ways * registers[ECX],
                               .ways = (registers[EDX] & 0x100) != 0 ? 0 : ways,
                               .pages = registers[EBX] & 0xf,
                               .leaf = 0x18});
    }
}

/* ---- AMD ---- */

/* 0x8000_0006's codes, which stand for ranges from some value on; the lowest is taken. */
static uint32_t ways_of_code(uint32_t code) {
    static const uint32_t ways[16] = {0, 1, 2, 3, 4, 6, 8, 0, 16, 0, 32, 48, 64, 96, 128, 0};
    return ways[code & 0xf];
}

static void add_leaves_amd(list *l, wpi_cpuid_read read) {
    uint32_t first[4], second[4];
    read(0x80000005, 0, first);
    read(0x80000006, 0, second);
    const uint32_t pages[] = {WPI_CPUID_2M, WPI_CPUID_4K};
    for (int r = EAX; r <= EBX; r++) {
        const uint32_t ways = first[r] >> 24;
        add(l, (wpi_cpuid_tlb){1, first[r] >> 16 & 0xff, ways == 0xff ? 0 : ways, pages[r],
                               0x80000005});
    }
    for (int r = EAX; r <= EBX; r++)
        add(l, (wpi_cpuid_tlb){2, second[r] >> 16 & 0xfff, ways_of_code(second[r] >> 28), pages[r],
                               0x80000006});
}

size_t wpi_cpuid_tlbs(wpi_cpuid_read read, wpi_cpuid_tlb tlbs[WPI_CPUID_TLBS_MAX]) {
    list l = {tlbs, 0};
    uint32_t registers[4];
    read(0, 0, registers);
    const uint32_t highest = registers[EAX];
    const bool is_amd = registers[EBX] == UINT32_C(0x68747541); /* "Auth" */
    if (is_amd) {
        add_leaves_amd(&l, read);
        return l.count;
    }
    if (highest >= 2) add_leaf_2(&l, read);
    if (highest >= 0x18) add_leaf_18(&l, read);
    return l.count;
}

bool wpi_cpuid_has_hypervisor(wpi_cpuid_read read) {
    uint32_t registers[4];
    read(1, 0, registers);
    return (registers[ECX] & UINT32_C(0x80000000)) != 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/** CPUID's description of the processor's TLBs, to compare with measurements. */
#ifndef WP_PROBE_CPUID_H
#define WP_PROBE_CPUID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WPI_CPUID_TLBS_MAX 32u
#define WPI_CPUID_4K 1u
#define WPI_CPUID_2M 2u
#define WPI_CPUID_4M 4u
#define WPI_CPUID_1G 8u

/** A TLB that holds translations of data. */
typedef struct wpi_cpuid_tlb {
    uint32_t level; /* from 1 */
    uint32_t entries;
    uint32_t ways;  /* 0: fully associative */
    uint32_t pages; /* WPI_CPUID_4K … */
    uint32_t leaf;  /* its source */
} wpi_cpuid_tlb;

/** Fills {eax, ebx, ecx, edx}. */
typedef void (*wpi_cpuid_read)(uint32_t leaf, uint32_t subleaf, uint32_t registers[4]);

/** This processor's, or zeros where there is no CPUID. */
void wpi_cpuid_native(uint32_t leaf, uint32_t subleaf, uint32_t registers[4]);

/** All TLBs that leaves 2, 0x18 (Intel), 0x8000_0005 and 0x8000_0006 (AMD) name; returns how many.
 * None: the processor, or a hypervisor, hides them. */
size_t wpi_cpuid_tlbs(wpi_cpuid_read read, wpi_cpuid_tlb tlbs[WPI_CPUID_TLBS_MAX]);

/** Whether a hypervisor reports itself: then its pages back those of the system. */
bool wpi_cpuid_has_hypervisor(wpi_cpuid_read read);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#include "probe/cpu_claims.h"

#include <inttypes.h>

typedef struct comparison {
    const wpi_cpuid_tlb *tlbs;
    size_t count;
    bool has_hypervisor;
    wpi_probe_result *result;
} comparison;

/* A level may have several TLBs, for loads and for all accesses; a chase of loads uses the one with
 * most entries. */
static const wpi_cpuid_tlb *find(const comparison *c, uint32_t level, uint32_t pages) {
    const wpi_cpuid_tlb *best = NULL;
    for (size_t i = 0; i < c->count; i++) {
        const wpi_cpuid_tlb *tlb = &c->tlbs[i];
        if (tlb->level != level || (tlb->pages & pages) == 0) continue;
        if (best == NULL || tlb->entries > best->entries) best = tlb;
    }
    return best;
}

static void compare_level(const comparison *c, const wpi_hierarchy *h, uint32_t level,
                          uint32_t pages) {
    const wpi_cpuid_tlb *tlb = find(c, level, pages);
    const wpi_number *measured = level <= h->level_count ? &h->levels[level - 1].entries : NULL;
    const bool is_measured = measured != NULL && measured->is_known;
    const bool is_huge = pages != WPI_CPUID_4K;
    const char *size = is_huge ? "2 MiB" : "4 KiB";
    if (tlb == NULL) return;
    if (!is_measured) {
        wpi_strings_addf(&c->result->notes,
                         "L%" PRIu32 ", pages of %s: CPUID (leaf %#" PRIx32 ") says %" PRIu32
                         " entries; not measured.",
                         level, size, tlb->leaf, tlb->entries);
        return;
    }
    const bool is_same = (uint32_t)measured->value == tlb->entries;
    const char *why = "";
    if (!is_same && is_huge && c->has_hypervisor)
        why = " The hypervisor's own pages are smaller: entries hold those.";
    wpi_strings_addf(&c->result->notes,
                     "L%" PRIu32 ", pages of %s: %.0f entries measured, CPUID (leaf %#" PRIx32
                     ") says %" PRIu32 ": %s.%s",
                     level, size, measured->value, tlb->leaf, tlb->entries,
                     is_same ? "equal" : "different", why);
}

void wpi_cpu_claims_compare(const wpi_cpuid_tlb *tlbs, size_t count, bool has_hypervisor,
                            wpi_probe_result *result) {
    const comparison c = {tlbs, count, has_hypervisor, result};
    if (count == 0)
        wpi_strings_addf(&result->notes,
                         "CPUID says nothing of this processor's TLBs%s: there is "
                         "nothing to compare with.",
                         has_hypervisor ? " (a hypervisor answers for it)" : "");
    for (uint32_t level = 1; level <= 3 && result->tlbs != NULL; level++)
        compare_level(&c, result->tlbs, level, WPI_CPUID_4K);
    for (uint32_t level = 1; level <= 3 && result->huge_tlbs != NULL; level++)
        compare_level(&c, result->huge_tlbs, level, WPI_CPUID_2M);
}

void wpi_cpu_claims_note(wpi_probe_result *result) {
    wpi_cpuid_tlb tlbs[WPI_CPUID_TLBS_MAX];
    const size_t count = wpi_cpuid_tlbs(wpi_cpuid_native, tlbs);
    wpi_cpu_claims_compare(tlbs, count, wpi_cpuid_has_hypervisor(wpi_cpuid_native), result);
}

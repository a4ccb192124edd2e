/* SPDX-License-Identifier: Apache-2.0 */
/** Compares CPUID's description of the TLBs with the measurement. */
#ifndef WP_PROBE_CPU_CLAIMS_H
#define WP_PROBE_CPU_CLAIMS_H

#include "probe/measure/cpuid.h"
#include "probe/result.h"

/** Adds a note for each level and page size that either of the two has; or that CPUID describes
 * none.
 */
void wpi_cpu_claims_note(wpi_probe_result *result);
/** The same with given claims; `has_hypervisor` is the reason why huge pages may differ. */
void wpi_cpu_claims_compare(const wpi_cpuid_tlb *tlbs, size_t count, bool has_hypervisor,
                            wpi_probe_result *result);

#endif

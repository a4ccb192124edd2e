/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What claims exclude. A reproduced claim says little if a wrong model would meet it, too. Three
 * wrong models are tried on every claim with a published value, whatever its verdict, with the
 * values that figures keep:
 *
 * - All runs are alike: each value has the same number in every run, so that ratios of runs are 1
 * and differences 0. It applies to claims over several runs whose result follows from that alone.
 * - A constant: 0 (nothing is counted, no effect) or 1 (no effect on a ratio, all of a share).
 * - Another run: a claim of the figure, or of the study of its runs, with the same formula over
 * other runs has a value that is within this claim's tolerance, too. The runs have the same program
 * and arguments, so they differ in policy, settings or device.
 *
 * An order is tried on runs that are alike only.
 */
#ifndef WP_STUDY_CLAIMS_POWER_H
#define WP_STUDY_CLAIMS_POWER_H

#include "study/claims.h"
#include "study/claims_value.h"

/** Fills also_true_for of all claims: what claims.json states, then what is found. */
void wpi_claims_weigh(wpi_figure *figure);

/** Of claims.c: whether the value is within the claim's tolerance of the published one. */
bool wpi_claims_is_within(const json_t *claim, double published, double value);
/** Of claims.c: each value is larger than the one before. PARSE, as wpi_claims_value. */
WP_NODISCARD wp_status wpi_claims_is_ascending(const json_t *values, const wpi_outcome *from,
                                               bool *out, wp_error *err);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Counts of machine code (machine/machine_code.h) in place of estimates.
 *
 * The machine code's counts are those of the bitcode's blocks; passes since then have moved
 * instructions, and the blocks that are recorded end at calls and stops, too. So the count of a
 * bitcode block is divided among the recorded blocks that have instructions of it, by their
 * estimated costs; mostly there is one. Within a recorded block, steps get their parts of it by the
 * same estimate. */
#include <string.h>

#include "base/must.h"
#include "compiler/machine/block_lines.h"
#include "compiler/machine/machine_code.h"
#include "compiler/pass/trace/trace_pass.h"

#define OF_COST 16 /* weight of an instruction of machine code; each one of the bitcode has 1 */

/* What the estimate knows better: places of texels, products in units of work. */
static bool is_kept(int class) {
    return class == WP_TRACE_TENSOR || class == WP_TRACE_TEXTURE;
}

static double weight_of(const tracer *t, LLVMValueRef instruction) {
    trace_cost cost;
    double weight = 1;
    if (LLVMIsAPHINode(instruction) || !wpi_trace_cost(t, instruction, &cost)) return weight;
    for (int class = 0; class < WP_TRACE_CLASS_COUNT; class ++)
        weight += OF_COST * (double)cost.count[class];
    return weight;
}

typedef void (*part_fn)(tracer *t, trace_block *block, uint32_t number, double weight,
                        double *weights, double (*parts)[WPI_MACHINE_COUNTS]);

static void add_weight(tracer *t, trace_block *block, uint32_t number, double weight,
                       double *weights, double (*parts)[WPI_MACHINE_COUNTS]) {
    (void)t, (void)block, (void)parts;
    weights[number] += weight;
}

static void add_part(tracer *t, trace_block *block, uint32_t number, double weight, double *weights,
                     double (*parts)[WPI_MACHINE_COUNTS]) {
    (void)block;
    for (int class = 0; class < WPI_MACHINE_COUNTS; class ++)
        (*parts)[class] += t->c->machine->counts[number][class] * weight / weights[number];
}

static void each_instruction(tracer *t, trace_block *block, part_fn part, double *weights,
                             double (*parts)[WPI_MACHINE_COUNTS]) {
    for (LLVMValueRef i = LLVMGetFirstInstruction(block->code); i; i = LLVMGetNextInstruction(i)) {
        const uint32_t number = wpi_block_number_of(i);
        if (number != 0 && number <= t->c->machine->block_count)
            part(t, block, number, weight_of(t, i), weights, parts);
    }
}

static bool is_measured(const tracer *t, const double *weights) {
    for (uint32_t b = 1; b <= t->c->machine->block_count; b++)
        if (weights[b] > 0 && t->c->machine->kernels_of[b] != 0) return true;
    return false;
}

void wpi_trace_plan_machine(tracer *t, uint32_t first) {
    const wpi_machine_code *machine = t->c->machine;
    if (!machine) return;
    double *weights = wpi_must_calloc(machine->block_count + 1, sizeof *weights);
    double rest[WPI_MACHINE_COUNTS] = {0}; /* of rounding, carried to the next block */
    for (uint32_t b = first; b < t->block_count; b++)
        each_instruction(t, &t->blocks[b], add_weight, weights, NULL);
    const bool is_known = is_measured(t, weights);
    for (uint32_t b = first; b < t->block_count && is_known; b++) {
        trace_block *block = &t->blocks[b];
        double parts[WPI_MACHINE_COUNTS] = {0};
        each_instruction(t, block, add_part, weights, &parts);
        block->is_planned = true;
        for (int class = 0; class < WPI_MACHINE_COUNTS; class ++) {
            const double wanted = parts[class] + rest[class];
            block->planned[class] = wanted > 0.5 ? (uint32_t)(wanted + 0.5) : 0;
            rest[class] = wanted - block->planned[class];
        }
    }
    wpi_free(weights);
}

void wpi_trace_plan_begin(const tracer *t, const trace_block *block, trace_plan *plan) {
    *plan = (trace_plan){.is_on = block->is_planned};
    if (!plan->is_on) return;
    for (LLVMValueRef i = LLVMGetFirstInstruction(block->code); i; i = LLVMGetNextInstruction(i)) {
        trace_cost cost;
        if (LLVMIsAPHINode(i) || !wpi_trace_cost(t, i, &cost)) continue;
        for (int class = 0; class < WP_TRACE_CLASS_COUNT; class ++)
            plan->estimated[class] += cost.count[class];
    }
    for (int class = 0; class < WP_TRACE_CLASS_COUNT; class ++)
        plan->planned[class] = is_kept(class) ? plan->estimated[class] : block->planned[class];
    /* recorded loads of constant memory are accesses, not issued besides */
    uint32_t *constants = &plan->planned[WP_TRACE_CONSTANT];
    for (uint32_t a = 0; a < block->access_count && *constants != 0; a++)
        *constants -= wpi_map_has(&t->spread, block->accesses[a]);
    plan->paired = block->planned[WPI_MACHINE_PAIRED];
}

/* An estimate has shifts and comparisons among the integers. */
static int estimated_as(int class) {
    return class == WP_TRACE_SHIFT || class == WP_TRACE_COMPARE ? WP_TRACE_INT : class;
}

void wpi_trace_plan_step(trace_plan *plan, bool is_last, uint32_t *count, uint32_t *chain) {
    uint32_t estimates[WP_TRACE_CLASS_COUNT], chains[WP_TRACE_CLASS_COUNT];
    if (!plan->is_on) return;
    memcpy(estimates, count, sizeof estimates);
    memcpy(chains, chain, sizeof chains);
    for (int class = 0; class < WP_TRACE_CLASS_COUNT; class ++)
        plan->seen[class] += estimates[class];
    for (int class = 0; class < WP_TRACE_CLASS_COUNT; class ++) {
        const int as = estimated_as(class);
        const uint32_t estimate = estimates[as];
        const uint64_t all = plan->estimated[as], planned = plan->planned[class];
        const uint64_t due = is_last    ? planned
                             : all != 0 ? (planned * plan->seen[as] + all / 2) / all
                                        : 0;
        count[class] = due > plan->given[class] ? (uint32_t)due - plan->given[class] : 0;
        plan->given[class] += count[class];
        const uint64_t longer =
            estimate != 0 ? ((uint64_t)chains[as] * count[class] + estimate / 2) / estimate : 0;
        chain[class] = longer < count[class] ? (uint32_t)longer : count[class];
    }
}

/* Pairs go to the first steps that have room. */
uint32_t wpi_trace_plan_pairs(trace_plan *plan, uint32_t count) {
    if (!plan->is_on) return 0;
    const uint32_t left = plan->paired - plan->paired_given;
    const uint32_t pairs = left < count / 2 ? left : count / 2;
    plan->paired_given += pairs;
    return 1 + pairs;
}

void wpi_trace_plan_end(tracer *t, const trace_plan *plan, trace_block *block, uint32_t place) {
    if (!plan->is_on) return;
    uint64_t estimated = 0, given = 0, seen = 0, done = 0;
    wp_trace_share *shares = t->shares + block->row.first_share;
    for (int class = 0; class < WP_TRACE_CLASS_COUNT; class ++)
        given += plan->given[class];
    for (uint32_t s = 0; s < block->row.share_count; s++)
        estimated += shares[s].count;
    if (estimated == 0 && given != 0) {
        wpi_trace_add_share(t, block, place, (uint32_t)given);
        return;
    }
    for (uint32_t s = 0; s < block->row.share_count; s++) {
        seen += shares[s].count;
        const uint64_t due = (given * seen + estimated / 2) / estimated;
        shares[s].count = (uint32_t)(due - done);
        done = due;
    }
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The passes in order. LLVM's own pipelines are rows of the same table, so that they can be printed
 * and stopped after too. */
#include "compiler/pipeline.h"

#include <llvm-c/Support.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "base/file.h"
#include "compiler/passes.h"

static wp_status clean(wpi_compile *c, wp_error *err) {
    /* Infers address spaces of shared memory accesses by nvptx64's rules. */
    LLVMTargetMachineRef machine;
    WP_TRY(wpi_target_nvptx(&machine, err));
    return wpi_compile_run(c, "function(infer-address-spaces,sroa,early-cse,simplifycfg),globaldce",
                           machine, err);
}

static wp_status simplify(wpi_compile *c, wp_error *err) {
    LLVMTargetMachineRef machine;
    WP_TRY(wpi_target_host(c->isa, &machine, err));
    return wpi_compile_run(c,
                           "cgscc(inline),function(sroa,early-cse,instcombine<no-verify-fixpoint>,"
                           "simplifycfg),globaldce",
                           machine, err);
}

/* Hoists uniform values out of thread loops, for `narrow`. */
static wp_status hoist(wpi_compile *c, wp_error *err) {
    LLVMTargetMachineRef machine;
    WP_TRY(wpi_target_host(c->isa, &machine, err));
    return wpi_compile_run(c,
                           "function(sroa,early-cse<memssa>,simplifycfg,loop-simplify,lcssa,"
                           "loop-mssa(licm,simple-loop-unswitch<nontrivial;trivial>),"
                           "instsimplify,simplifycfg,lcssa)",
                           machine, err);
}

/* Inlines regions that are parts of one function into it. */
static wp_status merge(wpi_compile *c, wp_error *err) {
    LLVMTargetMachineRef machine;
    WP_TRY(wpi_target_host(c->isa, &machine, err));
    return wpi_compile_run(c,
                           "always-inline,function(sroa,early-cse<memssa>,simplifycfg,"
                           "jump-threading,loop-simplify,lcssa,loop-mssa(licm))",
                           machine, err);
}

/* Vectorises the remainder of rows of threads too, as rows are short. */
static void allow_short_vectors(void) {
    static bool is_done;
    const char *const words[] = {"wpcc", "-epilogue-vectorization-minimum-VF=8"};
    if (!is_done) LLVMParseCommandLineOptions(2, words, NULL);
    is_done = true;
}

/* Instructions of a module from which on it is compiled with less effort, as kernels of C++
 * libraries, of which one call brings ten: baseline code, which processors older than AVX2 run, and
 * code for newer ones, which is not vectorised either if the module is huge. */
#define LARGE_BASELINE 30000
#define LARGE 60000
#define VERY_LARGE 400000

static uint32_t count_instructions(LLVMModuleRef module) {
    uint32_t count = 0;
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
        for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
            for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
                count++;
    return count;
}

/* In large modules a loop has one vector body, and addresses stay as they are: LLVM's search for
 * cheaper ones grows faster than the code, and takes a third of the time. */
static void save_effort(void) {
    static bool is_done;
    const char *const words[] = {"wpcc", "-force-vector-interleave=1", "-disable-lsr"};
    if (!is_done) LLVMParseCommandLineOptions(3, words, NULL);
    is_done = true;
}

/* The front end has optimised the code; what the passes above added is optimised. */
#define BRIEF                                                                                      \
    "function(sroa,early-cse<memssa>,instcombine<no-verify-fixpoint>,simplifycfg,loop-simplify,"   \
    "lcssa,loop-mssa(licm),gvn,dse,simplifycfg),globaldce"

static wp_status optimize(wpi_compile *c, wp_error *err) {
    LLVMTargetMachineRef machine;
    WP_TRY(wpi_target_host(c->isa, &machine, err));
    const bool is_baseline = c->isa == WP_CPU_ISA_BASELINE;
    const uint32_t count = count_instructions(c->module);
    const bool is_large = count > (is_baseline ? LARGE_BASELINE : LARGE);
    c->is_quick = is_large && (is_baseline || count > VERY_LARGE);
    if (is_large)
        save_effort();
    else
        allow_short_vectors();
    return wpi_compile_run(c, c->is_quick ? BRIEF : "default<O3>", machine, err);
}

/* Recorded kernels stay as a GPU runs them: no vectorisation, and no loop becomes a call. */
static wp_status optimize_recorded(wpi_compile *c, wp_error *err) {
    LLVMTargetMachineRef machine;
    WP_TRY(wpi_target_host(c->isa, &machine, err));
    return wpi_compile_run(c, "cgscc(inline)," BRIEF, machine, err);
}

/* The kinds of code that a pass applies to. */
enum {
    PLAIN = 1 << WP_VARIANT_OWN | 1 << WP_VARIANT_COPY,
    CHECK = 1 << WP_VARIANT_CHECK,
    RECORDED = 1 << WP_VARIANT_TRACE, /* as a GPU's threads run */
    FAST = PLAIN | CHECK,             /* as fast as the CPU can */
    ALL = FAST | RECORDED
};

typedef struct pass {
    const char *name;
    wp_status (*run)(wpi_compile *c, wp_error *err);
    unsigned audience;
} pass;

static const pass passes[] = {
    {"limits", wpi_pass_limits, ALL},
    {"kernel-ids", wpi_pass_kernel_ids, ALL},
    {"as-ptx", wpi_pass_as_ptx, RECORDED},
    {"lower-asm", wpi_pass_lower_asm, ALL},
    {"lower-intrinsics", wpi_pass_lower_intrinsics, ALL},
    {"inline-stops", wpi_pass_inline_stops, ALL},
    {"clean", clean, ALL},
    {"spare-steps", wpi_pass_spare_steps, FAST},
    {"lockstep", wpi_pass_lockstep, ALL},
    {"warp-synchronous", wpi_pass_warp_synchronous, ALL},
    {"last-barrier", wpi_pass_last_barrier, RECORDED},
    {"rejoin", wpi_pass_rejoin, ALL},
    {"registers", wpi_pass_registers, ALL},
    {"check", wpi_pass_check, CHECK},
    {"trace", wpi_pass_trace, RECORDED},
    {"retarget", wpi_pass_retarget, ALL},
    {"managed", wpi_pass_managed, ALL},
    {"retries", wpi_pass_retries, FAST},
    {"simplify", simplify, ALL},
    {"lower-shared", wpi_pass_lower_shared, ALL},
    {"fences", wpi_pass_fences, FAST},
    {"params", wpi_pass_params, FAST},
    {"warp-guards", wpi_pass_warp_guards, PLAIN},
    {"rounds", wpi_pass_rounds, FAST},
    {"together", wpi_pass_together, FAST},
    {"cuts", wpi_pass_cuts, FAST},
    {"row-order", wpi_pass_row_order, FAST},
    {"regions", wpi_pass_regions, FAST},
    {"fibers", wpi_pass_fibers, RECORDED},
    {"table", wpi_pass_table, ALL},
    {"hoist", hoist, FAST},
    {"narrow", wpi_pass_narrow, FAST},
    {"settle", wpi_pass_settle, FAST},
    {"check-loops", wpi_pass_check_loops, CHECK},
    {"merge", merge, PLAIN},
    {"ahead", wpi_pass_ahead, PLAIN},
    {"deep-values", wpi_pass_deep_values, FAST},
    {"optimize", optimize, FAST},
    {"optimize-recorded", optimize_recorded, RECORDED},
};
enum { PASS_COUNT = sizeof passes / sizeof *passes };

bool wpi_pipeline_has(const char *name) {
    for (size_t i = 0; i < PASS_COUNT; i++)
        if (strcmp(passes[i].name, name) == 0) return true;
    fprintf(stderr, "wpcc: there is no pass \"%s\"; the passes are:", name);
    for (size_t i = 0; i < PASS_COUNT; i++)
        fprintf(stderr, " %s", passes[i].name);
    fputc('\n', stderr);
    return false;
}

static void print_module(wpi_compile *c, const char *after) {
    char *ir = LLVMPrintModuleToString(c->module);
    fprintf(stderr, "; ---- after %s ----\n%s\n", after, ir);
    LLVMDisposeMessage(ir);
}

wp_status wpi_pipeline_run(wpi_compile *c, const wpi_pipeline_options *options, bool *stopped,
                           wp_error *err) {
    *stopped = false;
    for (size_t i = 0; i < PASS_COUNT; i++) {
        const char *name = passes[i].name;
        if (!(passes[i].audience & 1u << c->variant.kind)) continue;
        WP_TRY(passes[i].run(c, err));
        if (options->print_after &&
            (strcmp(options->print_after, name) == 0 || strcmp(options->print_after, "all") == 0))
            print_module(c, name);
        WP_TRY(wpi_compile_verify(c, name, err));
        if (options->stop_after && strcmp(options->stop_after, name) == 0) {
            char *ir = LLVMPrintModuleToString(c->module);
            wp_status status = wpi_file_write(options->stop_output, ir, strlen(ir), err);
            LLVMDisposeMessage(ir);
            *stopped = true;
            return status;
        }
    }
    return WP_STATUS_OK;
}

wp_status wpi_emit_object(wpi_compile *c, const char *path, wp_error *err) {
    LLVMTargetMachineRef machine;
    WP_TRY(c->is_quick ? wpi_target_host_quick(c->isa, &machine, err)
                       : wpi_target_host(c->isa, &machine, err));
    char *message = NULL;
    if (!LLVMTargetMachineEmitToFile(machine, c->module, path, LLVMObjectFile, &message))
        return WP_STATUS_OK;
    wp_status status = WP_FAIL(err, TOOLCHAIN, "code generation: %s", message);
    LLVMDisposeMessage(message);
    return status;
}

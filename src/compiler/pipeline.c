/* SPDX-License-Identifier: Apache-2.0 */
/* The passes in order. LLVM's own pipelines are rows of the same table, so that they can be printed
 * and stopped after too. */
#include "compiler/pipeline.h"

#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "base/file.h"
#include "compiler/passes.h"

static wp_status clean(wp_compile *c, wp_error *err) {
    /* Shared memory accesses get their address space while nvptx64's rules are known. */
    LLVMTargetMachineRef machine;
    WP_TRY(wpi_target_nvptx(&machine, err));
    return wpi_compile_run(c, "function(infer-address-spaces,sroa,early-cse,simplifycfg),globaldce",
                           machine, err);
}

static wp_status simplify(wp_compile *c, wp_error *err) {
    LLVMTargetMachineRef machine;
    WP_TRY(wpi_target_host(c->isa, &machine, err));
    return wpi_compile_run(c,
                           "cgscc(inline),function(sroa,early-cse,instcombine<no-verify-fixpoint>,"
                           "simplifycfg),globaldce",
                           machine, err);
}

/* Thread loops with what is uniform outside of them, for `narrow`. */
static wp_status hoist(wp_compile *c, wp_error *err) {
    LLVMTargetMachineRef machine;
    WP_TRY(wpi_target_host(c->isa, &machine, err));
    return wpi_compile_run(c,
                           "function(sroa,early-cse<memssa>,simplifycfg,loop-simplify,lcssa,"
                           "loop-mssa(licm,simple-loop-unswitch<nontrivial;trivial>),"
                           "instsimplify,simplifycfg,lcssa)",
                           machine, err);
}

static wp_status optimize(wp_compile *c, wp_error *err) {
    LLVMTargetMachineRef machine;
    WP_TRY(wpi_target_host(c->isa, &machine, err));
    return wpi_compile_run(c, "default<O3>", machine, err);
}

typedef struct pass {
    const char *name;
    wp_status (*run)(wp_compile *c, wp_error *err);
    const char *variant; /* the only one that it is for; NULL: all code */
} pass;

static const pass passes[] = {
    {"lower-asm", wpi_pass_lower_asm, NULL},
    {"lower-intrinsics", wpi_pass_lower_intrinsics, NULL},
    {"inline-stops", wpi_pass_inline_stops, NULL},
    {"clean", clean, NULL},
    {"lockstep", wpi_pass_lockstep, NULL},
    {"warp-synchronous", wpi_pass_warp_synchronous, NULL},
    {"check", wpi_pass_check, "check"},
    {"retarget", wpi_pass_retarget, NULL},
    {"managed", wpi_pass_managed, NULL},
    {"simplify", simplify, NULL},
    {"lower-shared", wpi_pass_lower_shared, NULL},
    {"rounds", wpi_pass_rounds, NULL},
    {"together", wpi_pass_together, NULL},
    {"cuts", wpi_pass_cuts, NULL},
    {"streams", wpi_pass_streams, NULL},
    {"regions", wpi_pass_regions, NULL},
    {"table", wpi_pass_table, NULL},
    {"hoist", hoist, NULL},
    {"narrow", wpi_pass_narrow, NULL},
    {"settle", wpi_pass_settle, NULL},
    {"check-loops", wpi_pass_check_loops, "check"},
    {"optimize", optimize, NULL},
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

bool wpi_pipeline_has_variant(const char *name) {
    for (size_t i = 0; i < PASS_COUNT; i++)
        if (passes[i].variant && strcmp(passes[i].variant, name) == 0) return true;
    return false;
}

static void print_module(wp_compile *c, const char *after) {
    char *ir = LLVMPrintModuleToString(c->module);
    fprintf(stderr, "; ---- after %s ----\n%s\n", after, ir);
    LLVMDisposeMessage(ir);
}

wp_status wpi_pipeline_run(wp_compile *c, const wp_pipeline_options *options, bool *stopped,
                           wp_error *err) {
    *stopped = false;
    for (size_t i = 0; i < PASS_COUNT; i++) {
        const char *name = passes[i].name, *only = passes[i].variant;
        if (only && (!c->variant || strcmp(only, c->variant) != 0)) continue;
        WP_TRY(passes[i].run(c, err));
        if (options->print_after &&
            (strcmp(options->print_after, name) == 0 || strcmp(options->print_after, "all") == 0))
            print_module(c, name);
        WP_TRY(wpi_compile_verify(c, name, err));
        if (options->stop_after && strcmp(options->stop_after, name) == 0) {
            char *ir = LLVMPrintModuleToString(c->module);
            wp_status status = wp_file_write(options->stop_output, ir, strlen(ir), err);
            LLVMDisposeMessage(ir);
            *stopped = true;
            return status;
        }
    }
    return WP_STATUS_OK;
}

wp_status wpi_emit_object(wp_compile *c, const char *path, wp_error *err) {
    LLVMTargetMachineRef machine;
    WP_TRY(wpi_target_host(c->isa, &machine, err));
    char *message = NULL;
    if (!LLVMTargetMachineEmitToFile(machine, c->module, path, LLVMObjectFile, &message))
        return WP_STATUS_OK;
    wp_status status = WP_FAIL(err, TOOLCHAIN, "code generation: %s", message);
    LLVMDisposeMessage(message);
    return status;
}

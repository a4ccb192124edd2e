/* SPDX-License-Identifier: Apache-2.0 */
/* Special registers, barriers, warp operations, sleep and exit. Translated to LLVM's NVVM
 * intrinsics, or to __wp_* functions if there is none.
 */
#include <stdio.h>
#include <string.h>

#include "compiler/ir/edit.h"
#include "compiler/ptx/ptx.h"

static const wpi_ptx_type word = {WP_PTX_BITS, 32, 1}, predicate = {WP_PTX_PREDICATE, 1, 1};

/* ---- special registers ---- */

static const struct special {
    const char *name, *function; /* without llvm.nvvm.read.ptx.sreg. */
    unsigned bits;
} specials[] = {
    {"%tid.x", "tid.x", 32},
    {"%tid.y", "tid.y", 32},
    {"%tid.z", "tid.z", 32},
    {"%ntid.x", "ntid.x", 32},
    {"%ntid.y", "ntid.y", 32},
    {"%ntid.z", "ntid.z", 32},
    {"%ctaid.x", "ctaid.x", 32},
    {"%ctaid.y", "ctaid.y", 32},
    {"%ctaid.z", "ctaid.z", 32},
    {"%nctaid.x", "nctaid.x", 32},
    {"%nctaid.y", "nctaid.y", 32},
    {"%nctaid.z", "nctaid.z", 32},
    {"%laneid", "laneid", 32},
    {"%warpid", "warpid", 32},
    {"%nwarpid", "nwarpid", 32},
    {"%smid", "smid", 32},
    {"%nsmid", "nsmid", 32},
    {"%gridid", "gridid", 32},
    {"%lanemask_eq", "lanemask.eq", 32},
    {"%lanemask_le", "lanemask.le", 32},
    {"%lanemask_lt", "lanemask.lt", 32},
    {"%lanemask_ge", "lanemask.ge", 32},
    {"%lanemask_gt", "lanemask.gt", 32},
    {"%clock", "clock", 32},
    {"%clock64", "clock64", 64},
    {"%globaltimer", "globaltimer", 64},
    {"%globaltimer_lo", "globaltimer", 64},
    {"%cluster_ctaid.x", "cluster.ctaid.x", 32},
    {"%cluster_ctaid.y", "cluster.ctaid.y", 32},
    {"%cluster_ctaid.z", "cluster.ctaid.z", 32},
    {"%cluster_nctaid.x", "cluster.nctaid.x", 32},
    {"%cluster_nctaid.y", "cluster.nctaid.y", 32},
    {"%cluster_nctaid.z", "cluster.nctaid.z", 32},
    {"%clusterid.x", "clusterid.x", 32},
    {"%clusterid.y", "clusterid.y", 32},
    {"%clusterid.z", "clusterid.z", 32},
    {"%nclusterid.x", "nclusterid.x", 32},
    {"%nclusterid.y", "nclusterid.y", 32},
    {"%nclusterid.z", "nclusterid.z", 32},
    {"%cluster_ctarank", "cluster.ctarank", 32},
    {"%cluster_nctarank", "cluster.nctarank", 32},
};

static LLVMValueRef read_register(wpi_ptx *t, const char *name, unsigned bits) {
    char full[64];
    snprintf(full, sizeof full, "llvm.nvvm.read.ptx.sreg.%s", name);
    return wpi_ptx_call(t, full, bits == 64 ? t->c->i64 : t->c->i32, NULL, 0);
}

/* The halves of the address of a cooperative grid's workspace, 0 in others: a size, then the word
 * of nvcc's barrier, whose lower bits are 0 again after each one. So a variable of the module
 * serves all of its grids, one at a time. */
static LLVMValueRef workspace_half(wpi_ptx *t, bool is_high) {
    static const char name[] = "__wp_grid_workspace";
    wpi_compile *c = t->c;
    LLVMValueRef variable = LLVMGetNamedGlobal(c->module, name);
    if (!variable) {
        variable = LLVMAddGlobalInAddressSpace(c->module, c->i64, name, WP_SPACE_GLOBAL);
        LLVMSetInitializer(variable, wpi_const64(c, 0));
        LLVMSetExternallyInitialized(variable, 1);
    }
    LLVMValueRef is_there = wpi_ptx_call(t, "__wp_grid_is_valid", c->i32, NULL, 0);
    is_there = LLVMBuildICmp(t->b, LLVMIntNE, is_there, wpi_const32(c, 0), "");
    LLVMValueRef address = LLVMConstPtrToInt(LLVMConstAddrSpaceCast(variable, c->ptr), c->i64);
    address = LLVMBuildSelect(t->b, is_there, address, wpi_const64(c, 0), "");
    if (is_high) address = LLVMBuildLShr(t->b, address, wpi_const64(c, 32), "");
    return LLVMBuildTrunc(t->b, address, c->i32, "");
}

LLVMValueRef wpi_ptx_special(wpi_ptx *t, const char *name) {
    for (size_t i = 0; i < sizeof specials / sizeof *specials; i++)
        if (strcmp(specials[i].name, name) == 0)
            return read_register(t, specials[i].function, specials[i].bits);
    bool is_clock = strcmp(name, "%clock_hi") == 0, is_timer = strcmp(name, "%globaltimer_hi") == 0;
    if (is_clock || is_timer) {
        LLVMValueRef whole = read_register(t, is_clock ? "clock64" : "globaltimer", 64);
        return LLVMBuildLShr(t->b, whole, wpi_const64(t->c, 32), "");
    }
    if (strcmp(name, "%envreg1") == 0 || strcmp(name, "%envreg2") == 0)
        return workspace_half(t, name[strlen("%envreg")] == '1');
    if (strcmp(name, "WARP_SZ") == 0) return wpi_const32(t->c, 32);
    if (strcmp(name, "%dynamic_smem_size") == 0)
        return wpi_ptx_call(t, "__wp_ptx_dynamic_smem_size", t->c->i32, NULL, 0);
    if (strcmp(name, "%total_smem_size") == 0)
        return wpi_ptx_call(t, "__wp_ptx_total_smem_size", t->c->i32, NULL, 0);
    return NULL;
}

/* ---- barriers ---- */

static LLVMValueRef read_predicate(wpi_ptx *t, unsigned index) {
    return LLVMBuildZExt(t->b, wpi_ptx_read(t, index, predicate), t->c->i32, "");
}

/* bar.red.op d, id{, count}, {!}p */
static void reduce(wpi_ptx *t) {
    static const char *const names[] = {"popc", "and", "or", NULL};
    int i = wpi_ptx_choice(t, names);
    wpi_ptx_type type = wpi_ptx_type_take(t);
    wpi_ptx_expect(t, 3, 4);
    bool has_count = t->s->operand_count == 4;
    if (i < 0 || (i == 0) == (type.kind == WP_PTX_PREDICATE)) {
        wpi_ptx_fail(t, NULL);
        return;
    }
    LLVMValueRef args[3] = {wpi_ptx_read(t, 1, word),
                            has_count ? wpi_ptx_read(t, 2, word) : wpi_const32(t->c, 0),
                            read_predicate(t, has_count ? 3 : 2)};
    char name[32];
    snprintf(name, sizeof name, "__wp_bar_red_%s", names[i]);
    LLVMValueRef result = wpi_ptx_call(t, name, t->c->i32, args, 3);
    if (i > 0) result = LLVMBuildICmp(t->b, LLVMIntNE, result, wpi_const32(t->c, 0), "");
    wpi_ptx_write(t, 0, type, result);
}

static void emit_bar(wpi_ptx *t) {
    if (wpi_ptx_has(t, "cluster")) {
        wpi_ptx_cluster_barrier(t);
        return;
    }
    wpi_ptx_skip(t, "cta");
    wpi_ptx_skip(t, "aligned");
    if (wpi_ptx_has(t, "red")) {
        reduce(t);
        return;
    }
    if (wpi_ptx_has(t, "warp")) {
        if (!wpi_ptx_has(t, "sync")) wpi_ptx_fail(t, NULL);
        wpi_ptx_expect(t, 1, 1);
        LLVMValueRef mask = wpi_ptx_read(t, 0, word);
        wpi_ptx_call(t, "llvm.nvvm.bar.warp.sync", t->c->none, &mask, 1);
        return;
    }
    bool is_arrive = wpi_ptx_has(t, "arrive");
    if (!is_arrive && !wpi_ptx_has(t, "sync")) wpi_ptx_fail(t, NULL);
    wpi_ptx_expect(t, is_arrive ? 2 : 1, 2);
    bool has_count = t->s->operand_count == 2;
    LLVMValueRef args[2] = {wpi_ptx_read(t, 0, word), has_count ? wpi_ptx_read(t, 1, word) : NULL};
    if (t->status != WP_STATUS_OK) return;
    if (is_arrive)
        wpi_ptx_call(t, "__wp_bar_arrive", t->c->none, args, 2);
    else if (has_count)
        wpi_ptx_call(t, "llvm.nvvm.barrier.sync.cnt", t->c->none, args, 2);
    else if (LLVMIsAConstantInt(args[0]) && LLVMConstIntGetZExtValue(args[0]) == 0)
        wpi_ptx_call(t, "llvm.nvvm.barrier0", t->c->none, NULL, 0);
    else
        wpi_ptx_call(t, "llvm.nvvm.bar.sync", t->c->none, args, 1);
}

/* ---- shuffles and votes ---- */

/* Whether a shuffle's source lane is in range: a function of the lane, b and c alone. */
static LLVMValueRef in_range(wpi_ptx *t, int mode, LLVMValueRef b, LLVMValueRef c) {
    LLVMValueRef lane = read_register(t, "laneid", 32), low = wpi_const32(t->c, 31);
    LLVMValueRef offset = LLVMBuildAnd(t->b, b, low, ""), clamp = LLVMBuildAnd(t->b, c, low, "");
    LLVMValueRef segment = LLVMBuildLShr(t->b, c, wpi_const32(t->c, 8), "");
    segment = LLVMBuildAnd(t->b, segment, low, "");
    LLVMValueRef inverse = LLVMBuildNot(t->b, segment, "");
    LLVMValueRef first = LLVMBuildAnd(t->b, lane, segment, "");
    LLVMValueRef most = LLVMBuildOr(t->b, first, LLVMBuildAnd(t->b, clamp, inverse, ""), "");
    LLVMValueRef source;
    switch (mode) {
    case 0: source = LLVMBuildOr(t->b, first, LLVMBuildAnd(t->b, offset, inverse, ""), ""); break;
    case 1: source = LLVMBuildSub(t->b, lane, offset, ""); break;
    case 2: source = LLVMBuildAdd(t->b, lane, offset, ""); break;
    default: source = LLVMBuildXor(t->b, lane, offset, ""); break;
    }
    return LLVMBuildICmp(t->b, mode == 1 ? LLVMIntSGE : LLVMIntSLE, source, most, "");
}

static void emit_shfl(wpi_ptx *t) {
    static const char *const modes[] = {"idx", "up", "down", "bfly", NULL};
    bool is_sync = wpi_ptx_has(t, "sync");
    int mode = wpi_ptx_choice(t, modes);
    wpi_ptx_type type = wpi_ptx_type_take(t);
    wpi_ptx_expect(t, is_sync ? 5 : 4, is_sync ? 5 : 4);
    if (mode < 0 || type.bits * type.lanes != 32) {
        wpi_ptx_fail(t, NULL);
        return;
    }
    const wpi_ptx_operand *p = wpi_ptx_second(t, 0);
    LLVMValueRef a = wpi_ptx_read(t, 1, word), b = wpi_ptx_read(t, 2, word),
                 c = wpi_ptx_read(t, 3, word);
    LLVMValueRef range = NULL, value;
    char name[48];
    if (!is_sync) {
        snprintf(name, sizeof name, "__wp_shfl_%s_active", modes[mode]);
        if (p) range = in_range(t, mode, b, c);
        value = wpi_ptx_call(t, name, t->c->i32, (LLVMValueRef[]){a, b, c}, 3);
    } else {
        LLVMValueRef args[4] = {wpi_ptx_read(t, 4, word), a, b, c};
        snprintf(name, sizeof name, "llvm.nvvm.shfl.sync.%s.i32%s", modes[mode], p ? "p" : "");
        LLVMTypeRef pair[2] = {t->c->i32, t->c->i1};
        LLVMTypeRef result = p ? LLVMStructTypeInContext(t->c->context, pair, 2, 0) : t->c->i32;
        value = wpi_ptx_call(t, name, result, args, 4);
        if (p) {
            range = LLVMBuildExtractValue(t->b, value, 1, "");
            value = LLVMBuildExtractValue(t->b, value, 0, "");
        }
    }
    wpi_ptx_write(t, 0, word, value);
    if (p) wpi_ptx_write_operand(t, p, predicate, range);
}

static void emit_vote(wpi_ptx *t) {
    static const char *const modes[] = {"all", "any", "uni", "ballot", NULL};
    bool is_sync = wpi_ptx_has(t, "sync");
    int mode = wpi_ptx_choice(t, modes);
    wpi_ptx_type type = wpi_ptx_type_take(t);
    wpi_ptx_expect(t, is_sync ? 3 : 2, is_sync ? 3 : 2);
    bool is_ballot = mode == 3;
    if (mode < 0 || is_ballot != (type.kind == WP_PTX_BITS && type.bits == 32)) {
        wpi_ptx_fail(t, NULL);
        return;
    }
    char name[48];
    LLVMValueRef result;
    if (is_sync) {
        LLVMValueRef args[2] = {wpi_ptx_read(t, 2, word), wpi_ptx_read(t, 1, predicate)};
        snprintf(name, sizeof name, "llvm.nvvm.vote.%s.sync", modes[mode]);
        result = wpi_ptx_call(t, name, is_ballot ? t->c->i32 : t->c->i1, args, 2);
    } else {
        LLVMValueRef p = read_predicate(t, 1);
        snprintf(name, sizeof name, "__wp_vote_%s_active", modes[mode]);
        result = wpi_ptx_call(t, name, t->c->i32, &p, 1);
        if (!is_ballot) result = LLVMBuildICmp(t->b, LLVMIntNE, result, wpi_const32(t->c, 0), "");
    }
    wpi_ptx_write(t, 0, type, result);
}

static void emit_match(wpi_ptx *t) {
    bool is_all = wpi_ptx_has(t, "all");
    bool is_known = (is_all || wpi_ptx_has(t, "any")) && wpi_ptx_has(t, "sync");
    wpi_ptx_type type = wpi_ptx_type_take(t);
    wpi_ptx_expect(t, 3, 3);
    const wpi_ptx_operand *p = wpi_ptx_second(t, 0);
    if (!is_known || (p && !is_all) || (type.bits != 32 && type.bits != 64)) {
        wpi_ptx_fail(t, NULL);
        return;
    }
    LLVMValueRef args[2] = {wpi_ptx_read(t, 2, word), wpi_ptx_read(t, 1, type)};
    char name[48];
    snprintf(name, sizeof name, "llvm.nvvm.match.%s.sync.i%u%s", is_all ? "all" : "any", type.bits,
             is_all ? "p" : "");
    LLVMTypeRef pair[2] = {t->c->i32, t->c->i1};
    LLVMTypeRef result = is_all ? LLVMStructTypeInContext(t->c->context, pair, 2, 0) : t->c->i32;
    LLVMValueRef value = wpi_ptx_call(t, name, result, args, 2);
    wpi_ptx_write(t, 0, word, is_all ? LLVMBuildExtractValue(t->b, value, 0, "") : value);
    if (p) wpi_ptx_write_operand(t, p, predicate, LLVMBuildExtractValue(t->b, value, 1, ""));
}

static void emit_redux(wpi_ptx *t) {
    static const char *const names[] = {"add", "min", "max", "and", "or", "xor", NULL};
    bool is_sync = wpi_ptx_has(t, "sync");
    int i = wpi_ptx_choice(t, names);
    wpi_ptx_type type = wpi_ptx_type_take(t);
    wpi_ptx_expect(t, 3, 3);
    if (!is_sync || i < 0 || !wpi_ptx_is_integer(type) || type.bits != 32) {
        wpi_ptx_fail(t, NULL);
        return;
    }
    bool is_ordered = i == 1 || i == 2;
    char name[48];
    snprintf(name, sizeof name, "llvm.nvvm.redux.sync.%s%s",
             is_ordered && !wpi_ptx_is_signed(type) ? "u" : "", names[i]);
    LLVMValueRef args[2] = {wpi_ptx_read(t, 1, type), wpi_ptx_read(t, 2, word)};
    wpi_ptx_write(t, 0, type, wpi_ptx_call(t, name, t->c->i32, args, 2));
}

static void emit_activemask(wpi_ptx *t) {
    wpi_ptx_type type = wpi_ptx_type_take(t);
    wpi_ptx_expect(t, 1, 1);
    wpi_ptx_write(t, 0, type, wpi_ptx_call(t, "llvm.nvvm.activemask", t->c->i32, NULL, 0));
}

/* elect.sync d|p, mask: the first lane of the mask leads */
static void emit_elect(wpi_ptx *t) {
    const wpi_ptx_operand *p = wpi_ptx_second(t, 0);
    if (!wpi_ptx_has(t, "sync") || !p) wpi_ptx_fail(t, NULL);
    wpi_ptx_expect(t, 2, 2);
    LLVMValueRef args[2] = {wpi_ptx_read(t, 1, word), LLVMConstInt(t->c->i1, 0, 0)};
    wpi_ptx_call(t, "llvm.nvvm.bar.warp.sync", t->c->none, args, 1);
    LLVMValueRef leader = wpi_ptx_intrinsic(t, "llvm.cttz", t->c->i32, args, 2);
    LLVMValueRef lane = read_register(t, "laneid", 32);
    wpi_ptx_write(t, 0, word, leader);
    if (p) wpi_ptx_write_operand(t, p, predicate, LLVMBuildICmp(t->b, LLVMIntEQ, lane, leader, ""));
}

/* ---- sleeping and ending ---- */

static void emit_nanosleep(wpi_ptx *t) {
    wpi_ptx_type type = wpi_ptx_type_take(t);
    wpi_ptx_expect(t, 1, 1);
    LLVMValueRef ns = wpi_ptx_read(t, 0, type);
    if (t->status == WP_STATUS_OK) wpi_ptx_call(t, "llvm.nvvm.nanosleep", t->c->none, &ns, 1);
}

static void emit_trap(wpi_ptx *t) {
    wpi_ptx_expect(t, 0, 0);
    wpi_ptx_call(t, "llvm.trap", t->c->none, NULL, 0);
}

/* Ends the thread: a return, if this is the kernel. The code after it is unreachable. */
static void emit_exit(wpi_ptx *t) {
    wpi_ptx_expect(t, 0, 0);
    if (!t->is_kernel) {
        wpi_ptx_fail(t, "a thread can end only in the kernel itself or in what is inlined there");
        return;
    }
    LLVMBasicBlockRef front = wpi_block_split_before(t->anchor);
    LLVMInstructionEraseFromParent(LLVMGetBasicBlockTerminator(front));
    LLVMPositionBuilderAtEnd(t->b, front);
    LLVMBuildRetVoid(t->b);
    LLVMPositionBuilderBefore(t->b, t->anchor);
}

const wpi_ptx_row wpi_ptx_thread[] = {
    {"bar", emit_bar},
    {"barrier", emit_bar},
    {"shfl", emit_shfl},
    {"vote", emit_vote},
    {"match", emit_match},
    {"redux", emit_redux},
    {"activemask", emit_activemask},
    {"elect", emit_elect},
    {"nanosleep", emit_nanosleep},
    {"trap", emit_trap},
    {"brkpt", emit_trap}, /* without a debugger it ends the kernel too */
    {"exit", emit_exit},
    {NULL, NULL},
};

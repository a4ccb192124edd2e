/* SPDX-License-Identifier: Apache-2.0 */
/* Lowers the GPU's intrinsics and library calls to the CPU runtime (base/abi.h).
 *
 * One table: the name of the called function (a trailing '*' matches any rest), the routine that
 * builds its replacement, and a number for it. An llvm.nvvm intrinsic that is not in the table
 * becomes a call of the devicelib function `__wp_nvvm_<name with underscores>`; if devicelib lacks
 * it, the link in `retarget` names it. */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/trace_abi.h"
#include "compiler/ir/edit.h"
#include "compiler/ir/pointer.h"
#include "compiler/pass/lower_pass.h"
#include "compiler/passes.h"

typedef LLVMValueRef (*lower_fn)(wpi_compile *c, LLVMBuilderRef at, LLVMValueRef call,
                                 uint32_t arg);

typedef struct lower_rule {
    const char *name;
    lower_fn lower;
    uint32_t arg;
} lower_rule;

static LLVMValueRef arg_of(LLVMValueRef call, unsigned index) {
    return LLVMGetOperand(call, index);
}

static LLVMValueRef to64(wpi_compile *c, LLVMBuilderRef at, LLVMValueRef value) {
    LLVMTypeRef type = LLVMTypeOf(value);
    if (LLVMGetTypeKind(type) == LLVMFloatTypeKind) value = LLVMBuildBitCast(at, value, c->i32, "");
    if (LLVMGetTypeKind(type) == LLVMDoubleTypeKind) return LLVMBuildBitCast(at, value, c->i64, "");
    return LLVMTypeOf(value) == c->i64 ? value : LLVMBuildZExt(at, value, c->i64, "");
}

/* The low bits of a 64-bit stop result as `type`. */
static LLVMValueRef from64(wpi_compile *c, LLVMBuilderRef at, LLVMValueRef value,
                           LLVMTypeRef type) {
    if (type == c->i64) return value;
    if (LLVMGetTypeKind(type) == LLVMFloatTypeKind)
        return LLVMBuildBitCast(at, LLVMBuildTrunc(at, value, c->i32, ""), type, "");
    return LLVMBuildTrunc(at, value, type, "");
}

/* {value, i1}: value in the low word, predicate in bit 32. */
static LLVMValueRef pair_from64(wpi_compile *c, LLVMBuilderRef at, LLVMValueRef value,
                                LLVMTypeRef pair) {
    LLVMValueRef first = from64(c, at, value, LLVMStructGetTypeAtIndex(pair, 0));
    LLVMValueRef second =
        LLVMBuildTrunc(at, LLVMBuildLShr(at, value, wpi_const64(c, 32), ""), c->i1, "");
    LLVMValueRef made = LLVMBuildInsertValue(at, LLVMGetUndef(pair), first, 0, "");
    return LLVMBuildInsertValue(at, made, second, 1, "");
}

static LLVMValueRef result64(wpi_compile *c, LLVMBuilderRef at, LLVMValueRef value,
                             LLVMValueRef call) {
    LLVMTypeRef type = LLVMTypeOf(call);
    if (LLVMGetTypeKind(type) == LLVMStructTypeKind) return pair_from64(c, at, value, type);
    return from64(c, at, value, type);
}

/* ---- identity ---- */

static LLVMValueRef lower_id(wpi_compile *c, LLVMBuilderRef at, LLVMValueRef call, uint32_t id) {
    (void)call;
    return wpi_lower_id(c, at, (wpi_id)id);
}

static LLVMValueRef lower_constant(wpi_compile *c, LLVMBuilderRef at, LLVMValueRef call,
                                   uint32_t value) {
    (void)c;
    (void)at;
    return LLVMConstInt(LLVMTypeOf(call), value, 0);
}

static LLVMValueRef lane_id(wpi_compile *c, LLVMBuilderRef at) {
    return LLVMBuildAnd(at, wpi_lower_id(c, at, WP_ID_THREAD), wpi_const32(c, WP_WARP_LANES - 1),
                        "");
}

static LLVMValueRef lower_laneid(wpi_compile *c, LLVMBuilderRef at, LLVMValueRef call,
                                 uint32_t arg) {
    (void)call;
    (void)arg;
    return lane_id(c, at);
}

static LLVMValueRef lower_warpid(wpi_compile *c, LLVMBuilderRef at, LLVMValueRef call,
                                 uint32_t arg) {
    (void)call;
    (void)arg;
    return LLVMBuildLShr(at, wpi_lower_id(c, at, WP_ID_THREAD), wpi_const32(c, 5), "");
}

enum { LANES_EQ, LANES_LE, LANES_LT, LANES_GE, LANES_GT };

static LLVMValueRef lower_lanemask(wpi_compile *c, LLVMBuilderRef at, LLVMValueRef call,
                                   uint32_t which) {
    (void)call;
    LLVMValueRef one = LLVMBuildShl(at, wpi_const32(c, 1), lane_id(c, at), "");
    LLVMValueRef below = LLVMBuildSub(at, one, wpi_const32(c, 1), "");
    switch (which) {
    case LANES_EQ: return one;
    case LANES_LT: return below;
    case LANES_LE: return LLVMBuildOr(at, one, below, "");
    case LANES_GE: return LLVMBuildNot(at, below, "");
    default: return LLVMBuildNot(at, LLVMBuildOr(at, one, below, ""), "");
    }
}

/* A 32-bit (or, for %gridid, 64-bit) field of the block; `arg` is its offset. */
static LLVMValueRef lower_field(wpi_compile *c, LLVMBuilderRef at, LLVMValueRef call,
                                uint32_t offset) {
    LLVMValueRef address = wpi_lower_block_field(c, at, wpi_lower_block(c, at), offset);
    return LLVMBuildLoad2(at, LLVMTypeOf(call), address, "");
}

static LLVMValueRef lower_nwarpid(wpi_compile *c, LLVMBuilderRef at, LLVMValueRef call,
                                  uint32_t arg) {
    (void)call;
    (void)arg;
    LLVMValueRef address =
        wpi_lower_block_field(c, at, wpi_lower_block(c, at), offsetof(wp_cpu_block, thread_count));
    LLVMValueRef count = LLVMBuildLoad2(at, c->i32, address, "");
    return LLVMBuildLShr(at, LLVMBuildAdd(at, count, wpi_const32(c, 31), ""), wpi_const32(c, 5),
                         "");
}

/* ---- barriers and warp operations ---- */

static LLVMValueRef lower_barrier_plain(wpi_compile *c, LLVMBuilderRef at, LLVMValueRef call,
                                        uint32_t arg) {
    (void)call;
    (void)arg;
    wpi_lower_stop(c, at, WP_STOP_BARRIER, NULL, NULL, NULL);
    return NULL;
}

/* (i32 id), (i32 id, i32 count) */
static LLVMValueRef lower_barrier_named(wpi_compile *c, LLVMBuilderRef at, LLVMValueRef call,
                                        uint32_t op) {
    LLVMValueRef count = LLVMGetNumArgOperands(call) > 1 ? arg_of(call, 1) : NULL;
    wpi_lower_stop(c, at, op, count, to64(c, at, arg_of(call, 0)), NULL);
    return NULL;
}

/* i32 (i32 predicate) on barrier 0 */
static LLVMValueRef lower_barrier_vote(wpi_compile *c, LLVMBuilderRef at, LLVMValueRef call,
                                       uint32_t op) {
    LLVMValueRef stop = wpi_lower_stop(c, at, op, NULL, NULL, to64(c, at, arg_of(call, 0)));
    return from64(c, at, stop, LLVMTypeOf(call));
}

/* i32 (i32 id, i32 count, i32 predicate) */
static LLVMValueRef lower_barrier_red(wpi_compile *c, LLVMBuilderRef at, LLVMValueRef call,
                                      uint32_t op) {
    LLVMValueRef stop = wpi_lower_stop(c, at, op, arg_of(call, 1), to64(c, at, arg_of(call, 0)),
                                       to64(c, at, arg_of(call, 2)));
    return from64(c, at, stop, LLVMTypeOf(call));
}

static LLVMValueRef lower_warp_sync(wpi_compile *c, LLVMBuilderRef at, LLVMValueRef call,
                                    uint32_t arg) {
    (void)arg;
    wpi_lower_stop(c, at, WP_STOP_WARP_SYNC, arg_of(call, 0), NULL, NULL);
    return NULL;
}

static LLVMValueRef shuffle(wpi_compile *c, LLVMBuilderRef at, LLVMValueRef call, uint32_t op,
                            unsigned first) {
    LLVMValueRef mask = first ? arg_of(call, 0) : NULL;
    LLVMValueRef lane = to64(c, at, arg_of(call, first + 1));
    LLVMValueRef clamp =
        LLVMBuildShl(at, to64(c, at, arg_of(call, first + 2)), wpi_const64(c, 32), "");
    LLVMValueRef stop = wpi_lower_stop(c, at, op, mask, to64(c, at, arg_of(call, first)),
                                       LLVMBuildOr(at, lane, clamp, ""));
    return result64(c, at, stop, call);
}

/* (mask, value, lane, c) */
static LLVMValueRef lower_shfl(wpi_compile *c, LLVMBuilderRef at, LLVMValueRef call, uint32_t op) {
    return shuffle(c, at, call, op, 1);
}

/* (value, lane, c) */
static LLVMValueRef lower_shfl_active(wpi_compile *c, LLVMBuilderRef at, LLVMValueRef call,
                                      uint32_t op) {
    return shuffle(c, at, call, op | WP_STOP_FLAG_ACTIVE, 0);
}

/* (mask, operand) */
static LLVMValueRef lower_warp_op(wpi_compile *c, LLVMBuilderRef at, LLVMValueRef call,
                                  uint32_t op) {
    LLVMValueRef stop =
        wpi_lower_stop(c, at, op, arg_of(call, 0), to64(c, at, arg_of(call, 1)), NULL);
    return result64(c, at, stop, call);
}

/* (operand) */
static LLVMValueRef lower_warp_op_active(wpi_compile *c, LLVMBuilderRef at, LLVMValueRef call,
                                         uint32_t op) {
    LLVMValueRef stop =
        wpi_lower_stop(c, at, op | WP_STOP_FLAG_ACTIVE, NULL, to64(c, at, arg_of(call, 0)), NULL);
    return result64(c, at, stop, call);
}

/* redux.sync has the operand first, the mask second. */
static LLVMValueRef lower_redux(wpi_compile *c, LLVMBuilderRef at, LLVMValueRef call, uint32_t op) {
    LLVMValueRef stop =
        wpi_lower_stop(c, at, op, arg_of(call, 1), to64(c, at, arg_of(call, 0)), NULL);
    return from64(c, at, stop, LLVMTypeOf(call));
}

/* No operand; void or an integer result. */
static LLVMValueRef lower_stop_bare(wpi_compile *c, LLVMBuilderRef at, LLVMValueRef call,
                                    uint32_t op) {
    LLVMValueRef stop = wpi_lower_stop(c, at, op, NULL, NULL, NULL);
    return LLVMTypeOf(call) == c->none ? NULL : from64(c, at, stop, LLVMTypeOf(call));
}

/* (ptr registers, i64 operation) of all lanes of the warp */
static LLVMValueRef lower_matrix(wpi_compile *c, LLVMBuilderRef at, LLVMValueRef call,
                                 uint32_t op) {
    LLVMValueRef registers = LLVMBuildPtrToInt(at, arg_of(call, 0), c->i64, "");
    wpi_lower_stop(c, at, op, wpi_const32(c, UINT32_MAX), registers, arg_of(call, 1));
    return NULL;
}

/* ---- memory ---- */

static LLVMValueRef lower_fence(wpi_compile *c, LLVMBuilderRef at, LLVMValueRef call,
                                uint32_t arg) {
    (void)arg;
    size_t length;
    const char *name = LLVMGetValueName2(wpi_called_function(call), &length);
    LLVMValueRef fence = LLVMBuildFence(at, LLVMAtomicOrderingSequentiallyConsistent, 0, "");
    if (strstr(name, ".cta")) wpi_lower_note(c, fence, WP_BLOCK_METADATA);
    return NULL;
}

/* T (ptr, i32 alignment) */
static LLVMValueRef lower_load(wpi_compile *c, LLVMBuilderRef at, LLVMValueRef call,
                               uint32_t cache) {
    LLVMValueRef load = LLVMBuildLoad2(at, LLVMTypeOf(call), arg_of(call, 0), "");
    if (LLVMGetNumArgOperands(call) > 1 && LLVMIsAConstantInt(arg_of(call, 1)))
        LLVMSetAlignment(load, (unsigned)LLVMConstIntGetZExtValue(arg_of(call, 1)));
    wpi_lower_mark_cache(c, load, cache);
    return load;
}

static void mark_accesses(wpi_compile *c, LLVMValueRef pointer, uint32_t cache) {
    for (LLVMUseRef u = LLVMGetFirstUse(pointer); u; u = LLVMGetNextUse(u)) {
        LLVMValueRef user = LLVMGetUser(u);
        bool is_store = LLVMIsAStoreInst(user) && LLVMGetOperand(user, 1) == pointer;
        if (LLVMIsALoadInst(user) || is_store)
            wpi_lower_mark_cache(c, user, cache);
        else if (LLVMIsAGetElementPtrInst(user) || LLVMIsAAddrSpaceCastInst(user))
            mark_accesses(c, user, cache);
    }
}

/* ptr (ptr): the same address, whose accesses get a cache operator. */
static LLVMValueRef lower_hint(wpi_compile *c, LLVMBuilderRef at, LLVMValueRef call,
                               uint32_t cache) {
    (void)at;
    mark_accesses(c, call, cache);
    return arg_of(call, 0);
}

/* T (ptr, T) */
static LLVMValueRef lower_atomic(wpi_compile *c, LLVMBuilderRef at, LLVMValueRef call,
                                 uint32_t op) {
    (void)c;
    return LLVMBuildAtomicRMW(at, (LLVMAtomicRMWBinOp)op, arg_of(call, 0), arg_of(call, 1),
                              LLVMAtomicOrderingSequentiallyConsistent, 0);
}

/* T (ptr, T compare, T value) */
static LLVMValueRef lower_cas(wpi_compile *c, LLVMBuilderRef at, LLVMValueRef call, uint32_t arg) {
    (void)c;
    (void)arg;
    LLVMValueRef pair = LLVMBuildAtomicCmpXchg(
        at, arg_of(call, 0), arg_of(call, 1), arg_of(call, 2),
        LLVMAtomicOrderingSequentiallyConsistent, LLVMAtomicOrderingSequentiallyConsistent, 0);
    return LLVMBuildExtractValue(at, pair, 0, "");
}

/* Address space conversions: addresses are flat. */
static LLVMValueRef lower_same_pointer(wpi_compile *c, LLVMBuilderRef at, LLVMValueRef call,
                                       uint32_t arg) {
    (void)c;
    (void)arg;
    LLVMValueRef pointer = arg_of(call, 0);
    if (LLVMTypeOf(pointer) == LLVMTypeOf(call)) return pointer;
    return LLVMBuildAddrSpaceCast(at, pointer, LLVMTypeOf(call), "");
}

/* The address space of `pointer` if known, else WP_SPACE_GENERIC. */
static uint32_t known_space(LLVMValueRef pointer) {
    LLVMValueRef base = wpi_pointer_base(pointer);
    if (LLVMIsAAllocaInst(base)) return WP_SPACE_LOCAL;
    return LLVMGetPointerAddressSpace(LLVMTypeOf(base));
}

/* Whether the pointer is in address space `wanted`. If unknown, shared memory is a range of
 * addresses, and everything else counts as global. */
static LLVMValueRef lower_is_space(wpi_compile *c, LLVMBuilderRef at, LLVMValueRef call,
                                   uint32_t wanted) {
    uint32_t known = known_space(arg_of(call, 0));
    if (known != WP_SPACE_GENERIC) return LLVMConstInt(LLVMTypeOf(call), known == wanted, 0);
    if (wanted != WP_SPACE_SHARED && wanted != WP_SPACE_GLOBAL)
        return LLVMConstInt(LLVMTypeOf(call), 0, 0);
    LLVMValueRef block = wpi_lower_block(c, at);
    LLVMValueRef base = LLVMBuildLoad2(
        at, c->i64, wpi_lower_block_field(c, at, block, offsetof(wp_cpu_block, shared)), "");
    LLVMValueRef size = LLVMBuildLoad2(
        at, c->i32, wpi_lower_block_field(c, at, block, offsetof(wp_cpu_block, shared_bytes)), "");
    LLVMValueRef address = LLVMBuildPtrToInt(at, arg_of(call, 0), c->i64, "");
    LLVMValueRef offset = LLVMBuildSub(at, address, base, "");
    LLVMValueRef inside = LLVMBuildICmp(at, wanted == WP_SPACE_SHARED ? LLVMIntULT : LLVMIntUGE,
                                        offset, LLVMBuildZExt(at, size, c->i64, ""), "");
    return LLVMBuildZExtOrBitCast(at, inside, LLVMTypeOf(call), "");
}

/* ptr (i32): the address in the block's shared memory of which these are the low bits. */
static LLVMValueRef lower_shared_at(wpi_compile *c, LLVMBuilderRef at, LLVMValueRef call,
                                    uint32_t arg) {
    (void)arg;
    LLVMValueRef field =
        wpi_lower_block_field(c, at, wpi_lower_block(c, at), offsetof(wp_cpu_block, shared));
    LLVMValueRef base = LLVMBuildLoad2(at, c->i64, field, "");
    LLVMValueRef offset =
        LLVMBuildSub(at, arg_of(call, 0), LLVMBuildTrunc(at, base, c->i32, ""), "");
    LLVMValueRef address = LLVMBuildAdd(at, base, LLVMBuildSExt(at, offset, c->i64, ""), "");
    return LLVMBuildIntToPtr(at, address, c->ptr, "");
}

/* ---- clusters ---- */

static LLVMValueRef cluster_field(wpi_compile *c, LLVMBuilderRef at, LLVMTypeRef type,
                                  uint32_t offset) {
    return LLVMBuildLoad2(at, type, wpi_lower_block_field(c, at, wpi_lower_block(c, at), offset),
                          "");
}

static LLVMValueRef lower_is_in_cluster(wpi_compile *c, LLVMBuilderRef at, LLVMValueRef call,
                                        uint32_t arg) {
    (void)arg;
    LLVMValueRef word = cluster_field(c, at, c->i32, offsetof(wp_cpu_block, is_in_cluster));
    return LLVMBuildTrunc(at, word, LLVMTypeOf(call), "");
}

/* ptr (ptr, i32 rank): the same place in the shared memory of the cluster's block `rank`. As
 * integers: a pointer computed from the own variable would claim to point into it. */
static LLVMValueRef lower_mapa(wpi_compile *c, LLVMBuilderRef at, LLVMValueRef call, uint32_t arg) {
    (void)arg;
    LLVMValueRef own = cluster_field(c, at, c->i32, offsetof(wp_cpu_block, cluster_rank));
    LLVMValueRef stride =
        cluster_field(c, at, c->i64, offsetof(wp_cpu_block, cluster_stride_bytes));
    LLVMValueRef ranks = LLVMBuildSub(at, arg_of(call, 1), own, "");
    LLVMValueRef distance = LLVMBuildMul(at, LLVMBuildSExt(at, ranks, c->i64, ""), stride, "");
    LLVMValueRef address = LLVMBuildPtrToInt(at, arg_of(call, 0), c->i64, "");
    return LLVMBuildIntToPtr(at, LLVMBuildAdd(at, address, distance, ""), LLVMTypeOf(call), "");
}

/* The offset of a pointer in the cluster's shared memory. */
static LLVMValueRef cluster_offset(wpi_compile *c, LLVMBuilderRef at, LLVMValueRef pointer) {
    LLVMValueRef base = cluster_field(c, at, c->i64, offsetof(wp_cpu_block, cluster_shared));
    return LLVMBuildSub(at, LLVMBuildPtrToInt(at, pointer, c->i64, ""), base, "");
}

/* i32 (ptr): the rank of the block in whose shared memory the pointer points. */
static LLVMValueRef lower_rank_of(wpi_compile *c, LLVMBuilderRef at, LLVMValueRef call,
                                  uint32_t arg) {
    (void)arg;
    LLVMValueRef stride =
        cluster_field(c, at, c->i64, offsetof(wp_cpu_block, cluster_stride_bytes));
    LLVMValueRef none = LLVMBuildICmp(at, LLVMIntEQ, stride, wpi_const64(c, 0), "");
    stride = LLVMBuildSelect(at, none, wpi_const64(c, INT64_MAX), stride, "");
    LLVMValueRef offset = cluster_offset(c, at, arg_of(call, 0));
    return LLVMBuildTrunc(at, LLVMBuildUDiv(at, offset, stride, ""), LLVMTypeOf(call), "");
}

static LLVMValueRef lower_is_in_cluster_memory(wpi_compile *c, LLVMBuilderRef at, LLVMValueRef call,
                                               uint32_t arg) {
    LLVMValueRef is_own = lower_is_space(c, at, call, WP_SPACE_SHARED);
    (void)arg;
    LLVMValueRef stride =
        cluster_field(c, at, c->i64, offsetof(wp_cpu_block, cluster_stride_bytes));
    LLVMValueRef size = cluster_field(c, at, c->i32, offsetof(wp_cpu_block, cluster_size));
    size = LLVMBuildMul(at, LLVMBuildZExt(at, size, c->i64, ""), stride, "");
    LLVMValueRef inside =
        LLVMBuildICmp(at, LLVMIntULT, cluster_offset(c, at, arg_of(call, 0)), size, "");
    inside = LLVMBuildZExtOrBitCast(at, inside, LLVMTypeOf(call), "");
    return LLVMBuildOr(at, is_own, inside, "");
}

/* The texture handle is the value of the variable. */
static LLVMValueRef lower_texture_handle(wpi_compile *c, LLVMBuilderRef at, LLVMValueRef call,
                                         uint32_t arg) {
    (void)arg;
    return LLVMBuildLoad2(at, c->i64, arg_of(call, 0), "");
}

static LLVMValueRef lower_bitcast(wpi_compile *c, LLVMBuilderRef at, LLVMValueRef call,
                                  uint32_t arg) {
    (void)c;
    (void)arg;
    return LLVMBuildBitCast(at, arg_of(call, 0), LLVMTypeOf(call), "");
}

/* ---- runtime services ---- */

/* The same call under the runtime's name; `arg` indexes the table below. */
static const char *const runtime_names[] = {
    "wp_rt_vprintf",   "wp_rt_assert_fail", "wp_rt_malloc", "wp_rt_free",
    "wp_rt_clock64",   "wp_rt_globaltimer", "wp_rt_trap",   "wp_rt_tex",
    "wp_rt_surf_read", "wp_rt_surf_write",  "wp_rt_launch", "wp_rt_device_call"};
enum {
    RT_VPRINTF,
    RT_ASSERT,
    RT_MALLOC,
    RT_FREE,
    RT_CLOCK64,
    RT_GLOBALTIMER,
    RT_TRAP,
    RT_TEX,
    RT_SURF_READ,
    RT_SURF_WRITE,
    RT_LAUNCH,
    RT_DEVICE_CALL
};

static LLVMValueRef lower_runtime(wpi_compile *c, LLVMBuilderRef at, LLVMValueRef call,
                                  uint32_t which) {
    unsigned count = LLVMGetNumArgOperands(call);
    if (which == RT_ASSERT) count = 4; /* without the size of a character */
    LLVMValueRef args[8];
    LLVMTypeRef types[8];
    for (unsigned i = 0; i < count; i++) {
        args[i] = arg_of(call, i);
        types[i] = LLVMTypeOf(args[i]);
    }
    LLVMValueRef function =
        wpi_compile_declare(c, runtime_names[which], LLVMTypeOf(call), types, count);
    wpi_function_attribute(c, function, "nounwind");
    return LLVMBuildCall2(at, wpi_function_type(function), function, args, count, "");
}

static LLVMValueRef lower_clock32(wpi_compile *c, LLVMBuilderRef at, LLVMValueRef call,
                                  uint32_t shift) {
    LLVMValueRef function = wpi_compile_declare(
        c, runtime_names[shift & 1 ? RT_GLOBALTIMER : RT_CLOCK64], c->i64, NULL, 0);
    LLVMValueRef time = LLVMBuildCall2(at, wpi_function_type(function), function, NULL, 0, "");
    return LLVMBuildTrunc(at, LLVMBuildLShr(at, time, wpi_const64(c, shift & 32), ""),
                          LLVMTypeOf(call), "");
}

static LLVMValueRef lower_nothing(wpi_compile *c, LLVMBuilderRef at, LLVMValueRef call,
                                  uint32_t arg) {
    (void)c;
    (void)at;
    (void)call;
    (void)arg;
    return NULL;
}

#define SREG "llvm.nvvm.read.ptx.sreg."
#define BLOCK_FIELD(field) (uint32_t)offsetof(wp_cpu_block, field)
#define ATOMIC(word, op)                                                                           \
    {"llvm.nvvm.atomic." word ".gen.*", lower_atomic, LLVMAtomicRMWBinOp##op}, {                   \
        "llvm.nvvm.atomic.load." word ".*", lower_atomic, LLVMAtomicRMWBinOp##op                   \
    }

static const lower_rule rules[] = {
    {SREG "tid.x", lower_id, WP_ID_TID_X},
    {SREG "tid.y", lower_id, WP_ID_TID_Y},
    {SREG "tid.z", lower_id, WP_ID_TID_Z},
    {SREG "ntid.x", lower_id, WP_ID_NTID_X},
    {SREG "ntid.y", lower_id, WP_ID_NTID_Y},
    {SREG "ntid.z", lower_id, WP_ID_NTID_Z},
    {SREG "ctaid.x", lower_id, WP_ID_CTAID_X},
    {SREG "ctaid.y", lower_id, WP_ID_CTAID_Y},
    {SREG "ctaid.z", lower_id, WP_ID_CTAID_Z},
    {SREG "nctaid.x", lower_id, WP_ID_NCTAID_X},
    {SREG "nctaid.y", lower_id, WP_ID_NCTAID_Y},
    {SREG "nctaid.z", lower_id, WP_ID_NCTAID_Z},
    {SREG "warpsize", lower_constant, WP_WARP_LANES},
    {SREG "laneid", lower_laneid, 0},
    {SREG "warpid", lower_warpid, 0},
    {SREG "nwarpid", lower_nwarpid, 0},
    {SREG "smid", lower_field, BLOCK_FIELD(sm_id)},
    {SREG "nsmid", lower_field, BLOCK_FIELD(sm_count)},
    {SREG "gridid", lower_field, BLOCK_FIELD(grid_id)},
    {SREG "total.smem.size", lower_field, BLOCK_FIELD(shared_bytes)},
    {SREG "dynamic.smem.size", lower_field, BLOCK_FIELD(shared_dynamic_bytes)},
    {SREG "lanemask.eq", lower_lanemask, LANES_EQ},
    {SREG "lanemask.le", lower_lanemask, LANES_LE},
    {SREG "lanemask.lt", lower_lanemask, LANES_LT},
    {SREG "lanemask.ge", lower_lanemask, LANES_GE},
    {SREG "lanemask.gt", lower_lanemask, LANES_GT},
    {SREG "clock", lower_clock32, 0},
    {SREG "clock.hi", lower_clock32, 32},
    {SREG "clock64", lower_runtime, RT_CLOCK64},
    {SREG "globaltimer", lower_runtime, RT_GLOBALTIMER},
    {SREG "globaltimer.lo", lower_clock32, 1},
    {SREG "globaltimer.hi", lower_clock32, 33},
    {SREG "pm*", lower_constant, 0},
    {SREG "cluster.ctaid.x", lower_field, BLOCK_FIELD(cluster_block[0])},
    {SREG "cluster.ctaid.y", lower_field, BLOCK_FIELD(cluster_block[1])},
    {SREG "cluster.ctaid.z", lower_field, BLOCK_FIELD(cluster_block[2])},
    {SREG "cluster.nctaid.x", lower_field, BLOCK_FIELD(cluster_dim[0])},
    {SREG "cluster.nctaid.y", lower_field, BLOCK_FIELD(cluster_dim[1])},
    {SREG "cluster.nctaid.z", lower_field, BLOCK_FIELD(cluster_dim[2])},
    {SREG "clusterid.x", lower_field, BLOCK_FIELD(cluster_idx[0])},
    {SREG "clusterid.y", lower_field, BLOCK_FIELD(cluster_idx[1])},
    {SREG "clusterid.z", lower_field, BLOCK_FIELD(cluster_idx[2])},
    {SREG "nclusterid.x", lower_field, BLOCK_FIELD(cluster_count[0])},
    {SREG "nclusterid.y", lower_field, BLOCK_FIELD(cluster_count[1])},
    {SREG "nclusterid.z", lower_field, BLOCK_FIELD(cluster_count[2])},
    {SREG "cluster.ctarank", lower_field, BLOCK_FIELD(cluster_rank)},
    {SREG "cluster.nctarank", lower_field, BLOCK_FIELD(cluster_size)},
    {"llvm.nvvm.is_explicit_cluster", lower_is_in_cluster, 0},
    {"llvm.nvvm.barrier.cluster.arrive*", lower_stop_bare, WP_STOP_CLUSTER_ARRIVE},
    {"llvm.nvvm.barrier.cluster.wait*", lower_stop_bare, WP_STOP_CLUSTER_WAIT},
    {"llvm.nvvm.mapa*", lower_mapa, 0},
    {"llvm.nvvm.getctarank*", lower_rank_of, 0},
    {"llvm.nvvm.isspacep.shared.cluster", lower_is_in_cluster_memory, 0},

    {"llvm.nvvm.barrier0", lower_barrier_plain, 0},
    {"llvm.nvvm.barrier0.popc", lower_barrier_vote, WP_STOP_BARRIER_COUNT},
    {"llvm.nvvm.barrier0.and", lower_barrier_vote, WP_STOP_BARRIER_AND},
    {"llvm.nvvm.barrier0.or", lower_barrier_vote, WP_STOP_BARRIER_OR},
    {"llvm.nvvm.barrier.n", lower_barrier_named, WP_STOP_BARRIER},
    {"llvm.nvvm.barrier", lower_barrier_named, WP_STOP_BARRIER},
    {"llvm.nvvm.bar.sync", lower_barrier_named, WP_STOP_BARRIER},
    {"llvm.nvvm.barrier.sync", lower_barrier_named, WP_STOP_BARRIER},
    {"llvm.nvvm.barrier.sync.cnt", lower_barrier_named, WP_STOP_BARRIER},
    {"__wp_bar_arrive", lower_barrier_named, WP_STOP_BARRIER_ARRIVE},
    {"__wp_bar_red_popc", lower_barrier_red, WP_STOP_BARRIER_COUNT},
    {"__wp_bar_red_and", lower_barrier_red, WP_STOP_BARRIER_AND},
    {"__wp_bar_red_or", lower_barrier_red, WP_STOP_BARRIER_OR},
    {"llvm.nvvm.bar.warp.sync", lower_warp_sync, 0},
    {"__wp_warp_sync_active", lower_stop_bare, WP_STOP_WARP_SYNC | WP_STOP_FLAG_ACTIVE},
    {"__wp_grid_sync", lower_stop_bare, WP_STOP_GRID},
    {"llvm.nvvm.activemask", lower_stop_bare, WP_STOP_ACTIVE_MASK},
    {"__wp_activemask", lower_stop_bare, WP_STOP_ACTIVE_MASK},
    {"llvm.nvvm.nanosleep", lower_stop_bare, WP_STOP_YIELD},
    {"__wp_nanosleep", lower_stop_bare, WP_STOP_YIELD},
    {"__wp_host_pause", lower_stop_bare, WP_STOP_YIELD | WP_STOP_FLAG_HOST},

    {"llvm.nvvm.shfl.sync.idx.*", lower_shfl, WP_STOP_SHFL_IDX},
    {"llvm.nvvm.shfl.sync.up.*", lower_shfl, WP_STOP_SHFL_UP},
    {"llvm.nvvm.shfl.sync.down.*", lower_shfl, WP_STOP_SHFL_DOWN},
    {"llvm.nvvm.shfl.sync.bfly.*", lower_shfl, WP_STOP_SHFL_BFLY},
    {"llvm.nvvm.shfl.idx.*", lower_shfl_active, WP_STOP_SHFL_IDX},
    {"llvm.nvvm.shfl.up.*", lower_shfl_active, WP_STOP_SHFL_UP},
    {"llvm.nvvm.shfl.down.*", lower_shfl_active, WP_STOP_SHFL_DOWN},
    {"llvm.nvvm.shfl.bfly.*", lower_shfl_active, WP_STOP_SHFL_BFLY},
    {"__wp_shfl_idx_active", lower_shfl_active, WP_STOP_SHFL_IDX},
    {"__wp_shfl_up_active", lower_shfl_active, WP_STOP_SHFL_UP},
    {"__wp_shfl_down_active", lower_shfl_active, WP_STOP_SHFL_DOWN},
    {"__wp_shfl_bfly_active", lower_shfl_active, WP_STOP_SHFL_BFLY},
    {"llvm.nvvm.vote.all.sync", lower_warp_op, WP_STOP_VOTE_ALL},
    {"llvm.nvvm.vote.any.sync", lower_warp_op, WP_STOP_VOTE_ANY},
    {"llvm.nvvm.vote.uni.sync", lower_warp_op, WP_STOP_VOTE_UNI},
    {"llvm.nvvm.vote.ballot.sync", lower_warp_op, WP_STOP_VOTE_BALLOT},
    {"llvm.nvvm.vote.all", lower_warp_op_active, WP_STOP_VOTE_ALL},
    {"llvm.nvvm.vote.any", lower_warp_op_active, WP_STOP_VOTE_ANY},
    {"llvm.nvvm.vote.uni", lower_warp_op_active, WP_STOP_VOTE_UNI},
    {"llvm.nvvm.vote.ballot", lower_warp_op_active, WP_STOP_VOTE_BALLOT},
    {"__wp_vote_all_active", lower_warp_op_active, WP_STOP_VOTE_ALL},
    {"__wp_vote_any_active", lower_warp_op_active, WP_STOP_VOTE_ANY},
    {"__wp_vote_uni_active", lower_warp_op_active, WP_STOP_VOTE_UNI},
    {"__wp_vote_ballot_active", lower_warp_op_active, WP_STOP_VOTE_BALLOT},
    {"llvm.nvvm.match.any.sync.*", lower_warp_op, WP_STOP_MATCH_ANY},
    {"llvm.nvvm.match.all.sync.*", lower_warp_op, WP_STOP_MATCH_ALL},
    {"llvm.nvvm.redux.sync.add", lower_redux, WP_STOP_REDUX_ADD},
    {"llvm.nvvm.redux.sync.min", lower_redux, WP_STOP_REDUX_MIN_S},
    {"llvm.nvvm.redux.sync.max", lower_redux, WP_STOP_REDUX_MAX_S},
    {"llvm.nvvm.redux.sync.umin", lower_redux, WP_STOP_REDUX_MIN_U},
    {"llvm.nvvm.redux.sync.umax", lower_redux, WP_STOP_REDUX_MAX_U},
    {"llvm.nvvm.redux.sync.and", lower_redux, WP_STOP_REDUX_AND},
    {"llvm.nvvm.redux.sync.or", lower_redux, WP_STOP_REDUX_OR},
    {"llvm.nvvm.redux.sync.xor", lower_redux, WP_STOP_REDUX_XOR},
    {"__wp_redux_add", lower_warp_op, WP_STOP_REDUX_ADD},
    {"__wp_redux_min", lower_warp_op, WP_STOP_REDUX_MIN_S},
    {"__wp_redux_max", lower_warp_op, WP_STOP_REDUX_MAX_S},
    {"__wp_redux_umin", lower_warp_op, WP_STOP_REDUX_MIN_U},
    {"__wp_redux_umax", lower_warp_op, WP_STOP_REDUX_MAX_U},
    {"__wp_redux_and", lower_warp_op, WP_STOP_REDUX_AND},
    {"__wp_redux_or", lower_warp_op, WP_STOP_REDUX_OR},
    {"__wp_redux_xor", lower_warp_op, WP_STOP_REDUX_XOR},
    {"__wp_matrix", lower_matrix, WP_STOP_MATRIX},

    {"llvm.nvvm.membar.*", lower_fence, 0},
    {"llvm.nvvm.fence.*", lower_fence, 0},
    {"llvm.nvvm.ldg.global.*", lower_load, WP_TRACE_CACHE_READ_ONLY},
    {"llvm.nvvm.ldu.global.*", lower_load, WP_TRACE_CACHE_ALL},
    {"__wp_cache_global", lower_hint, WP_TRACE_CACHE_GLOBAL},
    {"__wp_cache_stream", lower_hint, WP_TRACE_CACHE_STREAM},
    {"llvm.nvvm.atomic.cas.gen.*", lower_cas, 0},
    {"llvm.nvvm.atomic.exch.gen.*", lower_atomic, LLVMAtomicRMWBinOpXchg},
    {"llvm.nvvm.atomic.add.gen.f.*", lower_atomic, LLVMAtomicRMWBinOpFAdd},
    ATOMIC("add", Add),
    ATOMIC("and", And),
    ATOMIC("or", Or),
    ATOMIC("xor", Xor),
    ATOMIC("inc", UIncWrap),
    ATOMIC("dec", UDecWrap),
    {"llvm.nvvm.atomic.max.gen.ui.*", lower_atomic, LLVMAtomicRMWBinOpUMax},
    {"llvm.nvvm.atomic.min.gen.ui.*", lower_atomic, LLVMAtomicRMWBinOpUMin},
    {"llvm.nvvm.atomic.max.gen.i.*", lower_atomic, LLVMAtomicRMWBinOpMax},
    {"llvm.nvvm.atomic.min.gen.i.*", lower_atomic, LLVMAtomicRMWBinOpMin},
    {"llvm.nvvm.ptr.*", lower_same_pointer, 0},
    {"llvm.nvvm.texsurf.handle.internal.*", lower_texture_handle, 0},
    {"llvm.nvvm.bitcast.*", lower_bitcast, 0},
    {"__wp_shared_at", lower_shared_at, 0},
    {"__wp_is_shared", lower_is_space, WP_SPACE_SHARED},
    {"llvm.nvvm.isspacep.shared", lower_is_space, WP_SPACE_SHARED},
    {"__wp_is_global", lower_is_space, WP_SPACE_GLOBAL},
    {"llvm.nvvm.isspacep.global", lower_is_space, WP_SPACE_GLOBAL},
    {"__wp_is_constant", lower_is_space, WP_SPACE_CONSTANT},
    {"llvm.nvvm.isspacep.const", lower_is_space, WP_SPACE_CONSTANT},
    {"__wp_is_local", lower_is_space, WP_SPACE_LOCAL},
    {"llvm.nvvm.isspacep.local", lower_is_space, WP_SPACE_LOCAL},
    {"__wp_grid_is_valid", lower_field, BLOCK_FIELD(is_cooperative)},

    {"vprintf", lower_runtime, RT_VPRINTF},
    {"__assertfail", lower_runtime, RT_ASSERT},
    {"__assert_fail", lower_runtime, RT_ASSERT},
    {"malloc", lower_runtime, RT_MALLOC},
    {"free", lower_runtime, RT_FREE},
    {"__wp_tex", lower_runtime, RT_TEX},
    {"__wp_surf_read", lower_runtime, RT_SURF_READ},
    {"__wp_surf_write", lower_runtime, RT_SURF_WRITE},
    {"__wp_launch", lower_runtime, RT_LAUNCH},
    {"__wp_device_call", lower_runtime, RT_DEVICE_CALL},
    {"llvm.trap", lower_runtime, RT_TRAP},
    {"llvm.nvvm.exit", lower_runtime, RT_TRAP},
    {"llvm.debugtrap", lower_nothing, 0},
    {"__nvvm_reflect", lower_constant, 0},
    {"llvm.nvvm.reflect*", lower_constant, 0},
};

static bool matches(const char *pattern, const char *name) {
    size_t length = strlen(pattern);
    if (pattern[length - 1] == '*') return strncmp(pattern, name, length - 1) == 0;
    return strcmp(pattern, name) == 0;
}

static const lower_rule *rule_for(const char *name) {
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (matches(rules[i].name, name)) return &rules[i];
    return NULL;
}

static void replace_call(LLVMValueRef call, LLVMValueRef made) {
    if (made && LLVMTypeOf(made) == LLVMTypeOf(call)) LLVMReplaceAllUsesWith(call, made);
    LLVMInstructionEraseFromParent(call);
}

static void apply(wpi_compile *c, LLVMValueRef function, const lower_rule *rule) {
    uint32_t count;
    LLVMValueRef *calls = wpi_users(function, &count);
    for (uint32_t i = 0; i < count; i++) {
        if (wpi_called_function(calls[i]) != function) continue;
        LLVMPositionBuilderBefore(c->builder, calls[i]);
        LLVMValueRef before = LLVMGetPreviousInstruction(calls[i]);
        LLVMValueRef made = rule->lower(c, c->builder, calls[i], rule->arg);
        wpi_lower_pass_library(c, before, calls[i]);
        replace_call(calls[i], made);
    }
    wpi_free(calls);
}

/* llvm.nvvm.mul24.i → __wp_nvvm_mul24_i: an ordinary function that devicelib may define. */
static void rename_to_devicelib(wpi_compile *c, LLVMValueRef function, const char *name) {
    char renamed[160];
    snprintf(renamed, sizeof renamed, "__wp_nvvm_%s", name + strlen("llvm.nvvm."));
    for (char *p = renamed; *p; p++)
        if (*p == '.') *p = '_';
    LLVMTypeRef type = wpi_function_type(function);
    LLVMValueRef replacement = LLVMGetNamedFunction(c->module, renamed);
    if (!replacement) replacement = LLVMAddFunction(c->module, renamed, type);
    uint32_t count;
    LLVMValueRef *calls = wpi_users(function, &count);
    for (uint32_t i = 0; i < count; i++) {
        if (wpi_called_function(calls[i]) != function) continue;
        LLVMPositionBuilderBefore(c->builder, calls[i]);
        unsigned args_count = LLVMGetNumArgOperands(calls[i]);
        LLVMValueRef args[16];
        for (unsigned a = 0; a < args_count && a < 16; a++)
            args[a] = arg_of(calls[i], a);
        replace_call(calls[i], LLVMBuildCall2(c->builder, type, replacement, args, args_count, ""));
    }
    wpi_free(calls);
}

wp_status wpi_pass_lower_intrinsics(wpi_compile *c, wp_error *err) {
    (void)err;
    LLVMValueRef next;
    for (LLVMValueRef f = LLVMGetFirstFunction(c->module); f; f = next) {
        next = LLVMGetNextFunction(f);
        if (!LLVMIsDeclaration(f)) continue;
        size_t length;
        const char *name = LLVMGetValueName2(f, &length);
        const lower_rule *rule = rule_for(name);
        if (rule)
            apply(c, f, rule);
        else if (strncmp(name, "llvm.nvvm.", 10) == 0)
            rename_to_devicelib(c, f, name);
    }
    return WP_STATUS_OK;
}

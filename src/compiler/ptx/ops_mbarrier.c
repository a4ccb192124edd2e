/* SPDX-License-Identifier: Apache-2.0 */
/* mbarrier: barriers in shared memory that count arrivals and bytes of asynchronous copies.
 *
 * A barrier is a word of 64 bits, whose contents PTX leaves open. Here:
 *
 *     bits 0 to 19   arrivals that a phase needs
 *          20 to 39  arrivals that this phase still needs
 *          40 to 62  bytes that are awaited, signed
 *          63        the phase, 0 or 1
 *
 * An arrival returns the word as it was: only its phase is read later. The word is changed by
 * compare and swap, since other lanes' accesses come between where lanes run in step. A test that
 * fails is repeated by the program; so that other lanes arrive meanwhile, each test yields first.
 */
#include <string.h>

#include "compiler/ir/edit.h"
#include "compiler/ptx/ptx.h"

static const wpi_ptx_type word = {WP_PTX_BITS, 32, 1}, wide = {WP_PTX_BITS, 64, 1},
                          predicate = {WP_PTX_PREDICATE, 1, 1};

#define COUNT_MASK UINT64_C(0xfffff)
#define PENDING_SHIFT 20
#define BYTES_SHIFT 40
#define PHASE (UINT64_C(1) << 63)

static LLVMValueRef number(wpi_ptx *t, uint64_t value) {
    return wpi_const64(t->c, value);
}

/* Atomic, so that each test loads anew. */
static LLVMValueRef load(wpi_ptx *t, LLVMValueRef at) {
    LLVMValueRef value = LLVMBuildLoad2(t->b, t->c->i64, at, "");
    LLVMSetAlignment(value, 8);
    LLVMSetOrdering(value, LLVMAtomicOrderingMonotonic);
    return value;
}

static LLVMValueRef pending_of(wpi_ptx *t, LLVMValueRef barrier) {
    LLVMValueRef shifted = LLVMBuildLShr(t->b, barrier, number(t, PENDING_SHIFT), "");
    return LLVMBuildAnd(t->b, shifted, number(t, COUNT_MASK), "");
}

/* Adds to the counts; ends the phase where nothing is missing any more. */
static LLVMValueRef change(wpi_ptx *t, LLVMValueRef barrier, LLVMValueRef arrivals,
                           LLVMValueRef bytes, LLVMValueRef dropped) {
    LLVMValueRef expected = LLVMBuildAnd(t->b, barrier, number(t, COUNT_MASK), "");
    expected = LLVMBuildSub(t->b, expected, dropped, "");
    LLVMValueRef pending = LLVMBuildSub(t->b, pending_of(t, barrier), arrivals, "");
    LLVMValueRef awaited = LLVMBuildShl(t->b, barrier, number(t, 1), "");
    awaited = LLVMBuildAShr(t->b, awaited, number(t, BYTES_SHIFT + 1), "");
    awaited = LLVMBuildAdd(t->b, awaited, bytes, "");
    LLVMValueRef missing = LLVMBuildOr(t->b, pending, awaited, "");
    LLVMValueRef is_complete = LLVMBuildICmp(t->b, LLVMIntEQ, missing, number(t, 0), "");
    pending = LLVMBuildSelect(t->b, is_complete, expected, pending, "");
    LLVMValueRef phase = LLVMBuildAnd(t->b, barrier, number(t, PHASE), "");
    LLVMValueRef flip = LLVMBuildSelect(t->b, is_complete, number(t, PHASE), number(t, 0), "");
    phase = LLVMBuildXor(t->b, phase, flip, "");
    pending = LLVMBuildAnd(t->b, pending, number(t, COUNT_MASK), "");
    pending = LLVMBuildShl(t->b, pending, number(t, PENDING_SHIFT), "");
    awaited = LLVMBuildShl(t->b, awaited, number(t, BYTES_SHIFT + 1), "");
    awaited = LLVMBuildLShr(t->b, awaited, number(t, 1), "");
    LLVMValueRef counts = LLVMBuildOr(t->b, expected, pending, "");
    return LLVMBuildOr(t->b, LLVMBuildOr(t->b, counts, awaited, ""), phase, "");
}

/* Changes the barrier at `at` and returns what it was:
 *
 *     front ──► loop: load, change, compare and swap ──► join
 *                └──────── another was faster ───┘ */
static LLVMValueRef update(wpi_ptx *t, LLVMValueRef at, LLVMValueRef arrivals, LLVMValueRef bytes,
                           LLVMValueRef dropped) {
    LLVMBasicBlockRef join = LLVMGetInstructionParent(t->anchor);
    LLVMBasicBlockRef front = wpi_block_split_before(t->anchor);
    LLVMBasicBlockRef loop = LLVMInsertBasicBlockInContext(t->c->context, join, "arrive");
    LLVMInstructionEraseFromParent(LLVMGetBasicBlockTerminator(front));
    LLVMPositionBuilderAtEnd(t->b, front);
    LLVMBuildBr(t->b, loop);
    LLVMPositionBuilderAtEnd(t->b, loop);
    LLVMValueRef before = load(t, at), after = change(t, before, arrivals, bytes, dropped);
    LLVMValueRef pair =
        LLVMBuildAtomicCmpXchg(t->b, at, before, after, LLVMAtomicOrderingSequentiallyConsistent,
                               LLVMAtomicOrderingSequentiallyConsistent, 0);
    LLVMValueRef is_changed = LLVMBuildExtractValue(t->b, pair, 1, "");
    LLVMBuildCondBr(t->b, is_changed, join, loop);
    LLVMPositionBuilderBefore(t->b, t->anchor);
    return before;
}

static LLVMValueRef count_at(wpi_ptx *t, unsigned index) {
    return LLVMBuildZExt(t->b, wpi_ptx_read(t, index, word), t->c->i64, "");
}

static void take_space(wpi_ptx *t) {
    static const char *const spaces[] = {"shared", "shared::cta", "shared::cluster", NULL};
    static const char *const scopes[] = {"cta", "cluster", NULL};
    static const char *const orders[] = {"release", "acquire", "relaxed", NULL};
    (void)wpi_ptx_choice(t, orders);
    (void)wpi_ptx_choice(t, scopes);
    (void)wpi_ptx_choice(t, spaces);
    if (!wpi_ptx_has(t, "b64")) wpi_ptx_fail(t, NULL);
}

static void initialise(wpi_ptx *t) {
    take_space(t);
    wpi_ptx_expect(t, 2, 2);
    LLVMValueRef at = wpi_ptx_address(t, 0), count = count_at(t, 1);
    LLVMValueRef pending = LLVMBuildShl(t->b, count, number(t, PENDING_SHIFT), "");
    LLVMSetAlignment(LLVMBuildStore(t->b, LLVMBuildOr(t->b, count, pending, ""), at), 8);
}

/* {state,} [barrier]{, count}: arrive, arrive.expect_tx, arrive_drop, and those two together. */
static void arrive(wpi_ptx *t, bool drops) {
    bool expects = wpi_ptx_has(t, "expect_tx");
    wpi_ptx_skip(t, "noComplete");
    take_space(t);
    unsigned at = wpi_ptx_operand_at(t, 0)->kind == WP_PTX_OPERAND_ADDRESS ? 0 : 1;
    wpi_ptx_expect(t, at + 1 + expects, at + 2);
    if (t->status != WP_STATUS_OK) return;
    bool has_count = t->s->operand_count == at + 2;
    LLVMValueRef count = has_count ? count_at(t, at + 1) : number(t, 1);
    LLVMValueRef address = wpi_ptx_address(t, at);
    LLVMValueRef arrivals = expects ? number(t, 1) : count, none = number(t, 0);
    if (t->status != WP_STATUS_OK) return;
    LLVMValueRef before =
        update(t, address, arrivals, expects ? count : none, drops ? arrivals : none);
    if (at == 1 && wpi_ptx_operand_at(t, 0)->kind != WP_PTX_OPERAND_SINK)
        wpi_ptx_write(t, 0, wide, before);
}

/* [barrier], bytes */
static void transfer(wpi_ptx *t, bool is_complete) {
    take_space(t);
    wpi_ptx_expect(t, 2, 2);
    LLVMValueRef address = wpi_ptx_address(t, 0), bytes = count_at(t, 1), none = number(t, 0);
    if (is_complete) bytes = LLVMBuildNeg(t->b, bytes, "");
    if (t->status == WP_STATUS_OK) (void)update(t, address, none, bytes, none);
}

/* p, [barrier], state or parity{, time}: true once the phase of the state, or the phase with the
 * parity, is complete. */
static void test(wpi_ptx *t) {
    bool is_parity = wpi_ptx_has(t, "parity");
    take_space(t);
    wpi_ptx_expect(t, 3, 4);
    LLVMValueRef pause = wpi_const32(t->c, 1);
    wpi_ptx_call(t, "llvm.nvvm.nanosleep", t->c->none, &pause, 1);
    LLVMValueRef now = load(t, wpi_ptx_address(t, 1));
    LLVMValueRef then = is_parity ? LLVMBuildShl(t->b, count_at(t, 2), number(t, 63), "")
                                  : wpi_ptx_read(t, 2, wide);
    LLVMValueRef differs = LLVMBuildXor(t->b, now, then, "");
    wpi_ptx_write(t, 0, predicate, LLVMBuildICmp(t->b, LLVMIntSLT, differs, number(t, 0), ""));
}

static void emit_mbarrier(wpi_ptx *t) {
    static const char *const names[] = {"init",      "inval",    "expect_tx",     "complete_tx",
                                        "test_wait", "try_wait", "pending_count", NULL};
    static const char *const arrivals[] = {"arrive", "arrive_drop", NULL};
    int arrival = wpi_ptx_choice(t, arrivals); /* before expect_tx, which it may have */
    if (arrival >= 0) {
        arrive(t, arrival == 1);
        return;
    }
    switch (wpi_ptx_choice(t, names)) {
    case 0: initialise(t); break;
    case 1:
        take_space(t);
        wpi_ptx_expect(t, 1, 1);
        break;
    case 2: transfer(t, false); break;
    case 3: transfer(t, true); break;
    case 4:
    case 5: test(t); break;
    case 6:
        take_space(t);
        wpi_ptx_expect(t, 2, 2);
        wpi_ptx_write(t, 0, word,
                      LLVMBuildTrunc(t->b, pending_of(t, wpi_ptx_read(t, 1, wide)), t->c->i32, ""));
        break;
    default: wpi_ptx_fail(t, NULL); break;
    }
}

void wpi_ptx_count_bytes(wpi_ptx *t, LLVMValueRef barrier, LLVMValueRef bytes) {
    LLVMValueRef none = number(t, 0);
    (void)update(t, barrier, none, LLVMBuildNeg(t->b, bytes, ""), none);
}

/* cp.async.mbarrier.arrive{.noinc}: copies are complete at once, so this is an arrival; without
 * .noinc it raises the count by one first, and changes nothing. */
void wpi_ptx_copy_arrives(wpi_ptx *t) {
    bool counts = wpi_ptx_has(t, "noinc");
    if (!wpi_ptx_has(t, "arrive")) wpi_ptx_fail(t, NULL);
    take_space(t);
    wpi_ptx_expect(t, 1, 1);
    LLVMValueRef address = wpi_ptx_address(t, 0), none = number(t, 0);
    if (counts && t->status == WP_STATUS_OK) (void)update(t, address, number(t, 1), none, none);
}

const wpi_ptx_row wpi_ptx_mbarrier[] = {{"mbarrier", emit_mbarrier}, {NULL, NULL}};

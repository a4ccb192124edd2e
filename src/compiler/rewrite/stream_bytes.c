/* SPDX-License-Identifier: Apache-2.0 */
/* Finds kernels that read single bytes one after the other: in a loop, or in what is left of one
 * that was unrolled. An address thread does as much for a byte as for 16 of them. */
#include "base/must.h"
#include "compiler/ir/edit.h"
#include "compiler/ir/loop.h"
#include "compiler/ir/pointer.h"
#include "compiler/rewrite/stream.h"

enum {
    DEPTH_MOST = 16,
    RUN_MOST = 8 /* bytes, read one behind the other outside of loops: as in a loop */
};

typedef struct walk {
    const wpi_loops *loops;
    const wpi_loop *loop;
    LLVMTargetDataRef layout;
} walk;

static bool is_inside(const walk *w, LLVMValueRef value) {
    if (!LLVMIsAInstruction(value)) return false;
    const uint32_t block = wpi_map_index(&w->loops->index, LLVMGetInstructionParent(value));
    return block != UINT32_MAX && w->loop->contains[block];
}

static bool is_sum(LLVMValueRef i) {
    const LLVMOpcode opcode = LLVMGetInstructionOpcode(i);
    return opcode == LLVMAdd || (opcode == LLVMOr && LLVMGetIsDisjoint(i));
}

static void add(int64_t *sum, int64_t count, uint64_t bytes) {
    *sum = (int64_t)((uint64_t)*sum + (uint64_t)count * bytes);
}

/* Takes constants off a number or an address, and adds them up. */
static LLVMValueRef without_constants(LLVMTargetDataRef layout, LLVMValueRef value, int64_t *sum) {
    for (*sum = 0; LLVMIsAInstruction(value); value = LLVMGetOperand(value, 0)) {
        if (LLVMIsAGetElementPtrInst(value)) {
            int64_t parts_sum = 0;
            wpi_gep_walk parts = wpi_gep_walk_begin(layout, value);
            LLVMValueRef index;
            uint64_t bytes;
            while (wpi_gep_next(&parts, &index, &bytes)) {
                if (index != NULL && !LLVMIsAConstantInt(index)) return value;
                add(&parts_sum, index != NULL ? LLVMConstIntGetSExtValue(index) : 1, bytes);
            }
            add(sum, parts_sum, 1);
        } else if (is_sum(value) && LLVMIsAConstantInt(LLVMGetOperand(value, 1))) {
            add(sum, LLVMConstIntGetSExtValue(LLVMGetOperand(value, 1)), 1);
        } else if (!LLVMIsACastInst(value)) {
            break;
        }
    }
    return value;
}

static bool step_of(const walk *w, LLVMValueRef phi, int64_t *out) {
    bool is_found = false;
    if (LLVMGetInstructionParent(phi) != w->loops->blocks[w->loop->header]) return false;
    for (unsigned n = 0; n < LLVMCountIncoming(phi); n++) {
        const uint32_t from = wpi_map_index(&w->loops->index, LLVMGetIncomingBlock(phi, n));
        int64_t step;
        if (from == UINT32_MAX || !w->loop->contains[from]) continue;
        if (without_constants(w->layout, LLVMGetIncomingValue(phi, n), &step) != phi) return false;
        if (is_found && step != *out) return false;
        *out = step;
        is_found = true;
    }
    return is_found;
}

/* What a turn of the loop adds to a number or an address. */
static bool advance(const walk *w, LLVMValueRef value, int depth, int64_t *out) {
    int64_t part;
    *out = 0;
    if (!is_inside(w, value)) return true;
    if (depth > DEPTH_MOST) return false;
    if (LLVMIsAPHINode(value)) return step_of(w, value, out);
    if (!LLVMIsAGetElementPtrInst(value) && !LLVMIsACastInst(value) && !is_sum(value)) return false;
    if (!advance(w, LLVMGetOperand(value, 0), depth + 1, out)) return false;
    if (LLVMIsACastInst(value)) return true;
    if (!LLVMIsAGetElementPtrInst(value)) {
        if (!advance(w, LLVMGetOperand(value, 1), depth + 1, &part)) return false;
        add(out, part, 1);
        return true;
    }
    wpi_gep_walk parts = wpi_gep_walk_begin(w->layout, value);
    LLVMValueRef index;
    uint64_t bytes;
    while (wpi_gep_next(&parts, &index, &bytes)) {
        if (index == NULL) continue;
        if (!advance(w, index, depth + 1, &part)) return false;
        add(out, part, bytes);
    }
    return true;
}

/* ---- reads of bytes ---- */

typedef struct byte_read {
    LLVMValueRef instruction, at;
    LLVMValueRef base, index; /* `at` is base[index] and a constant; index may be NULL */
    int64_t offset;           /* the constant, in bytes */
} byte_read;

typedef struct byte_reads {
    byte_read *items;
    uint32_t count;
} byte_reads;

/* What the host finds by an index has no address here, but an entry. */
static byte_read read_of(LLVMTargetDataRef layout, LLVMValueRef i) {
    byte_read r = {.instruction = i, .at = LLVMGetOperand(i, 1)};
    if (LLVMIsAConstantPointerNull(r.at)) r.at = LLVMGetOperand(i, WPI_STREAM_READ_ENTRY);
    r.base = without_constants(layout, r.at, &r.offset);
    if (LLVMIsAGetElementPtrInst(r.base) && LLVMGetNumOperands(r.base) == 2 &&
        LLVMABISizeOfType(layout, LLVMGetGEPSourceElementType(r.base)) == 1) {
        int64_t of_base, of_index;
        r.index = without_constants(layout, LLVMGetOperand(r.base, 1), &of_index);
        r.base = without_constants(layout, LLVMGetOperand(r.base, 0), &of_base);
        add(&r.offset, of_base, 1);
        add(&r.offset, of_index, 1);
    }
    return r;
}

static byte_reads find_reads(const wpi_stream *s) {
    LLVMTargetDataRef layout = LLVMGetModuleDataLayout(s->c->module);
    byte_reads found = {0};
    for (int pass = 0; pass < 2; pass++) {
        uint32_t count = 0;
        for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(s->body); b; b = LLVMGetNextBasicBlock(b))
            for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
                if (wpi_stream_read_class(i) != 0) continue;
                if (pass == 1) found.items[count] = read_of(layout, i);
                count++;
            }
        if (pass == 0) found.items = wpi_must_calloc(count + 1, sizeof *found.items);
        found.count = count;
    }
    return found;
}

/* How many bytes from this one on are read, at most RUN_MOST. */
static int64_t run_from(const byte_reads *reads, const byte_read *first) {
    uint32_t has = 0;
    for (uint32_t n = 0; n < reads->count; n++) {
        const byte_read *r = &reads->items[n];
        const uint64_t offset = (uint64_t)r->offset - (uint64_t)first->offset;
        if (r->base == first->base && r->index == first->index && offset < RUN_MOST)
            has |= 1u << offset;
    }
    return __builtin_ctz(~has);
}

/* A turn of a loop around it reads on where the one before has stopped. */
static bool goes_on(const wpi_loops *loops, LLVMTargetDataRef layout, const byte_read *r,
                    int64_t run) {
    for (uint32_t l = 0; l < loops->loop_count; l++) {
        const walk w = {loops, &loops->loops[l], layout};
        int64_t bytes;
        if (is_inside(&w, r->instruction) && advance(&w, r->at, 0, &bytes) && bytes != 0 &&
            bytes >= -run && bytes <= run)
            return true;
    }
    return false;
}

LLVMValueRef wpi_stream_byte_after_byte(const wpi_stream *s) {
    LLVMTargetDataRef layout = LLVMGetModuleDataLayout(s->c->module);
    byte_reads reads = find_reads(s);
    LLVMValueRef found = NULL;
    wpi_loops loops;
    wpi_loops_init(&loops, s->body);
    for (uint32_t n = 0; n < reads.count && found == NULL; n++) {
        const byte_read *r = &reads.items[n];
        const int64_t run = run_from(&reads, r);
        if (run == RUN_MOST || goes_on(&loops, layout, r, run)) found = r->instruction;
    }
    wpi_loops_deinit(&loops);
    wpi_free(reads.items);
    return found;
}

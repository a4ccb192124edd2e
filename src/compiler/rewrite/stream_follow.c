/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads through an index, `values[index[i]]`, where both are mapped. The address slice does not
 * have the index; the host has. So the address is taken apart:
 *
 *     address = rest + value of the index × scale [× factor]
 *
 * The address slice sends the rest and the address of the index, which is taken apart in the same
 * way (`a[b[c[i]]]`); widths, signs and scales are facts of the kernel. An expression that wraps at
 * fewer than 64 bits is not followed.
 */
#include <string.h>

#include "compiler/ir/pointer.h"
#include "compiler/rewrite/stream.h"

enum { DEPTH = 12, LEVELS = 4 };

/* `rest` (NULL: 0) + value of an index × scale [× factor], in 64 bits. */
typedef struct sum {
    LLVMValueRef rest, load, factor; /* load NULL: no index */
    uint64_t offset;                 /* of the index, from the address of the load */
    uint32_t class;                  /* of the index */
    bool is_signed, is_bad;
    int64_t scale;
} sum;

static const sum bad = {.is_bad = true};

static bool is_index(const wpi_stream *s, LLVMValueRef value) {
    return wpi_map_has(&s->indices, value);
}

static bool has_index(const wpi_stream *s, LLVMValueRef value, int depth) {
    if (depth == 0 || !LLVMIsAInstruction(value)) return false;
    if (is_index(s, value)) return true;
    switch (LLVMGetInstructionOpcode(value)) {
    case LLVMGetElementPtr:
    case LLVMAddrSpaceCast:
    case LLVMBitCast:
    case LLVMFreeze:
    case LLVMPtrToInt:
    case LLVMIntToPtr:
    case LLVMSExt:
    case LLVMZExt:
    case LLVMTrunc:
    case LLVMAdd:
    case LLVMSub:
    case LLVMMul:
    case LLVMShl:
    case LLVMOr:
    case LLVMXor:
    case LLVMExtractElement: break;
    default: return false;
    }
    for (int o = 0; o < LLVMGetNumOperands(value); o++)
        if (has_index(s, LLVMGetOperand(value, (unsigned)o), depth - 1)) return true;
    return false;
}

static unsigned bits_of(const wpi_stream *s, LLVMValueRef value) {
    return (unsigned)LLVMSizeOfTypeInBits(LLVMGetModuleDataLayout(s->c->module), LLVMTypeOf(value));
}

/* ---- arithmetic ---- */

static sum without_index(const wpi_stream *s, LLVMValueRef value, bool is_signed) {
    LLVMBuilderRef at = s->c->builder;
    LLVMTypeRef type = LLVMTypeOf(value);
    if (LLVMGetTypeKind(type) == LLVMPointerTypeKind)
        return (sum){.rest = LLVMBuildPtrToInt(at, value, s->c->i64, "")};
    if (LLVMGetTypeKind(type) != LLVMIntegerTypeKind || LLVMGetIntTypeWidth(type) > 64) return bad;
    if (LLVMGetIntTypeWidth(type) == 64) return (sum){.rest = value};
    return (sum){.rest = (is_signed ? LLVMBuildSExt : LLVMBuildZExt)(at, value, s->c->i64, "")};
}

static sum add(const wpi_stream *s, sum a, sum b) {
    if (a.is_bad || b.is_bad || (a.load != NULL && b.load != NULL)) return bad;
    sum both = a.load != NULL ? a : b;
    both.rest = a.rest == NULL   ? b.rest
                : b.rest == NULL ? a.rest
                                 : LLVMBuildAdd(s->c->builder, a.rest, b.rest, "");
    return both;
}

static sum times(const wpi_stream *s, sum a, int64_t scale) {
    if (a.is_bad) return bad;
    if (a.rest != NULL)
        a.rest = LLVMBuildMul(s->c->builder, a.rest, wpi_const64(s->c, (uint64_t)scale), "");
    a.scale = (int64_t)((uint64_t)a.scale * (uint64_t)scale);
    return a;
}

static sum times_value(const wpi_stream *s, sum a, LLVMValueRef factor) {
    if (a.is_bad) return bad;
    if (LLVMIsAConstantInt(factor)) return times(s, a, LLVMConstIntGetSExtValue(factor));
    if (a.rest != NULL) a.rest = LLVMBuildMul(s->c->builder, a.rest, factor, "");
    if (a.load != NULL)
        a.factor = a.factor == NULL ? factor : LLVMBuildMul(s->c->builder, a.factor, factor, "");
    return a;
}

/* Whether the result, extended, is that of extended operands. */
static bool keeps(const wpi_stream *s, LLVMValueRef value, bool is_signed) {
    if (bits_of(s, value) == 64) return true;
    if (LLVMGetInstructionOpcode(value) == LLVMOr) return true; /* disjoint */
    return is_signed ? LLVMGetNSW(value) : LLVMGetNUW(value);
}

static sum sum_of(const wpi_stream *s, LLVMValueRef value, bool is_signed, int depth);

static sum product(const wpi_stream *s, LLVMValueRef value, bool is_signed, int depth) {
    unsigned other = 1;
    if (has_index(s, LLVMGetOperand(value, 1), depth)) other = 0;
    if (has_index(s, LLVMGetOperand(value, other), depth)) return bad;
    const sum factor = without_index(s, LLVMGetOperand(value, other), is_signed);
    if (factor.is_bad) return bad;
    return times_value(s, sum_of(s, LLVMGetOperand(value, 1 - other), is_signed, depth - 1),
                       factor.rest);
}

static sum shifted(const wpi_stream *s, LLVMValueRef value, bool is_signed, int depth) {
    LLVMValueRef by = LLVMGetOperand(value, 1);
    if (!LLVMIsAConstantInt(by) || LLVMConstIntGetZExtValue(by) > 62) return bad;
    return times(s, sum_of(s, LLVMGetOperand(value, 0), is_signed, depth - 1),
                 INT64_C(1) << LLVMConstIntGetZExtValue(by));
}

/* ~a: -1 - a; or, without a sign, the largest number less a. */
static sum inverted(const wpi_stream *s, LLVMValueRef value, bool is_signed, int depth) {
    LLVMValueRef ones = LLVMGetOperand(value, 1);
    const unsigned bits = bits_of(s, value);
    if (!LLVMIsAConstantInt(ones) || LLVMConstIntGetSExtValue(ones) != -1) return bad;
    const uint64_t all = is_signed || bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
    const sum a = times(s, sum_of(s, LLVMGetOperand(value, 0), is_signed, depth - 1), -1);
    return add(s, a, (sum){.rest = wpi_const64(s->c, all)});
}

static sum element(const wpi_stream *s, LLVMValueRef gep, int depth) {
    wpi_gep_walk walk = wpi_gep_walk_begin(LLVMGetModuleDataLayout(s->c->module), gep);
    sum all = sum_of(s, LLVMGetOperand(gep, 0), false, depth - 1);
    LLVMValueRef index;
    uint64_t bytes;
    while (wpi_gep_next(&walk, &index, &bytes)) {
        if (index == NULL)
            all = add(s, all, (sum){.rest = wpi_const64(s->c, bytes)});
        else
            all = add(s, all, times(s, sum_of(s, index, true, depth - 1), (int64_t)bytes));
    }
    return all;
}

/* The low `bits` of an index, which begin at `offset` in memory. */
static sum part_of(LLVMValueRef load, unsigned bits, uint64_t offset, bool is_signed) {
    uint32_t class = 0;
    while (class < 4 && 8u << class != bits)
        class ++;
    if (class == 4) return bad;
    return (sum){
        .load = load, .class = class, .offset = offset, .is_signed = is_signed, .scale = 1};
}

static sum vector_part(const wpi_stream *s, LLVMValueRef value, bool is_signed) {
    LLVMValueRef load = LLVMGetOperand(value, 0), lane = LLVMGetOperand(value, 1);
    const unsigned bits = bits_of(s, value);
    if (!is_index(s, load) || !LLVMIsAConstantInt(lane)) return bad;
    return part_of(load, bits, LLVMConstIntGetZExtValue(lane) * bits / 8, is_signed);
}

/* A value, as a number of 64 bits: extended, if it has fewer. */
static sum sum_of(const wpi_stream *s, LLVMValueRef value, bool is_signed, int depth) {
    if (!has_index(s, value, depth)) return without_index(s, value, is_signed);
    const bool is_integer = LLVMGetTypeKind(LLVMTypeOf(value)) == LLVMIntegerTypeKind;
    LLVMValueRef inner = LLVMGetOperand(value, 0);
    if (is_index(s, value))
        return is_integer ? part_of(value, bits_of(s, value), 0, is_signed) : bad;
    switch (LLVMGetInstructionOpcode(value)) {
    case LLVMGetElementPtr: return element(s, value, depth);
    case LLVMPtrToInt:
    case LLVMIntToPtr:
        if (bits_of(s, value) != bits_of(s, inner)) return bad;
        return sum_of(s, inner, is_signed, depth - 1);
    case LLVMAddrSpaceCast:
    case LLVMFreeze: return sum_of(s, inner, is_signed, depth - 1);
    case LLVMSExt:
        if (bits_of(s, value) < 64 && !is_signed) return bad;
        return sum_of(s, inner, true, depth - 1);
    case LLVMZExt: return sum_of(s, inner, false, depth - 1);
    case LLVMTrunc:
        return is_index(s, inner) && LLVMGetTypeKind(LLVMTypeOf(inner)) == LLVMIntegerTypeKind
                   ? part_of(inner, bits_of(s, value), 0, is_signed)
                   : bad;
    case LLVMExtractElement: return is_integer ? vector_part(s, value, is_signed) : bad;
    case LLVMXor: return is_integer ? inverted(s, value, is_signed, depth) : bad;
    default: break;
    }
    if (!is_integer || !keeps(s, value, is_signed)) return bad;
    switch (LLVMGetInstructionOpcode(value)) {
    case LLVMOr:
        if (!LLVMGetIsDisjoint(value)) return bad;
        /* fall through */
    case LLVMAdd:
        return add(s, sum_of(s, inner, is_signed, depth - 1),
                   sum_of(s, LLVMGetOperand(value, 1), is_signed, depth - 1));
    case LLVMSub:
        return add(s, sum_of(s, inner, is_signed, depth - 1),
                   times(s, sum_of(s, LLVMGetOperand(value, 1), is_signed, depth - 1), -1));
    case LLVMMul: return product(s, value, is_signed, depth);
    case LLVMShl: return shifted(s, value, is_signed, depth);
    default: return bad;
    }
}

/* ---- rows ---- */

/* What is read, from the data down to the last index. */
typedef struct level {
    wpi_stream_row row; /* `index` and `factor`: 1 if there is one */
    LLVMValueRef entry, factor;
} level;

/* The levels; 0: the address has no index, or cannot be followed. */
static uint32_t find_levels(const wpi_stream *s, LLVMValueRef load, uint32_t class, level *levels) {
    uint64_t offset = 0;
    bool is_signed = false;
    for (uint32_t n = 0; n < LEVELS; n++) {
        sum address = sum_of(s, LLVMGetOperand(load, 0), false, DEPTH);
        if (offset != 0) address = add(s, address, (sum){.rest = wpi_const64(s->c, offset)});
        if (address.is_bad) return 0;
        levels[n] = (level){.row = {.class = (uint8_t)class,
                                    .is_index = n != 0,
                                    .is_signed = is_signed,
                                    .index = address.load != NULL,
                                    .factor = address.factor != NULL,
                                    .scale = address.load != NULL ? address.scale : 0},
                            .entry = address.rest != NULL ? address.rest : wpi_const64(s->c, 0),
                            .factor = address.factor};
        if (address.load == NULL) return n == 0 ? 0 : n + 1;
        load = address.load;
        class = address.class;
        offset = address.offset;
        is_signed = address.is_signed;
    }
    return 0;
}

/* Whether the rows from `row` on are those of the levels. */
static bool are_rows(const wpi_stream_facts *facts, uint32_t row, const level *levels,
                     uint32_t count) {
    for (uint32_t n = 0; n < count; n++) {
        wpi_stream_row have = facts->followed[row - WPI_STREAM_CLASSES];
        row = have.index;
        have.index = have.index != 0;
        have.factor = have.factor != 0;
        if (memcmp(&have, &levels[n].row, sizeof have) != 0) return false;
    }
    return true;
}

/* Rows for the levels, behind those that there are. */
static uint32_t add_rows(wpi_stream_facts *facts, const level *levels, uint32_t count) {
    const uint32_t first = WPI_STREAM_CLASSES + facts->followed_count;
    uint32_t needed = count;
    for (uint32_t n = 0; n < count; n++)
        needed += levels[n].factor != NULL;
    if (facts->followed_count + needed > WPI_STREAM_FOLLOWED) return 0;
    for (uint32_t n = 0; n < count; n++) {
        wpi_stream_row *row = &facts->followed[facts->followed_count++];
        *row = levels[n].row;
        if (row->factor != 0) {
            facts->followed[facts->followed_count] =
                (wpi_stream_row){.is_index = 1, .is_number = 1};
            row->factor = (uint8_t)(WPI_STREAM_CLASSES + facts->followed_count++);
        }
        if (row->index != 0) row->index = (uint8_t)(WPI_STREAM_CLASSES + facts->followed_count);
    }
    return first;
}

static void put_entry(const wpi_stream *s, uint32_t row, LLVMValueRef entry) {
    wpi_compile *c = s->c;
    LLVMValueRef none = wpi_const32(c, 0);
    LLVMValueRef args[] = {wpi_const32(c, row), entry, none, none, none, none};
    LLVMTypeRef types[] = {c->i32, c->i64, c->i32, c->i32, c->i32, c->i32};
    LLVMValueRef callee = wpi_compile_declare(c, WPI_STREAM_ENTRY_CALL, c->none, types, 6);
    LLVMBuildCall2(c->builder, wpi_function_type(callee), callee, args, 6, "");
}

uint32_t wpi_stream_follow(wpi_stream *s, LLVMValueRef load, uint32_t class, LLVMValueRef *entry) {
    wpi_stream_facts *facts = &s->facts;
    level levels[LEVELS];
    LLVMPositionBuilderBefore(s->c->builder, load);
    if (!has_index(s, LLVMGetOperand(load, 0), DEPTH)) return 0;
    const uint32_t count = find_levels(s, load, class, levels);
    if (count == 0) return 0;
    uint32_t first = WPI_STREAM_CLASSES;
    const uint32_t outer = WPI_STREAM_CLASSES + facts->followed_count;
    while (first < outer && !are_rows(facts, first, levels, count))
        first++;
    if (first == outer) first = add_rows(facts, levels, count);
    if (first == 0) return 0;
    *entry = levels[0].entry;
    for (uint32_t n = 0, row = first; n < count; n++) {
        const wpi_stream_row *r = &facts->followed[row - WPI_STREAM_CLASSES];
        if (n != 0) put_entry(s, row, levels[n].entry);
        if (r->factor != 0) put_entry(s, r->factor, levels[n].factor);
        row = r->index;
    }
    return first;
}

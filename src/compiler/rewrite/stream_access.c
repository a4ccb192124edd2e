/* SPDX-License-Identifier: Apache-2.0 */
/* Mapped accesses become marker calls. That reads and writes of one parameter touch different bytes
 * follows from the offsets: a multiple of a stride that all of them share, plus a constant. Where
 * it does not, the read looks for the thread's own writes. */
#include <llvm-c/DebugInfo.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "base/must.h"
#include "base/text.h"
#include "compiler/ir/access.h"
#include "compiler/ir/edit.h"
#include "compiler/ir/map.h"
#include "compiler/ir/pointer.h"
#include "compiler/ir/source_variable.h"
#include "compiler/rewrite/stream.h"

/* ---- messages ---- */

char *wpi_stream_place(LLVMValueRef instruction) {
    const wpi_source_place place = wpi_source_place_of(instruction);
    if (place.file == NULL) return wpi_must_strdup("");
    return wpi_format("%.*s:%u", (int)place.file_length, place.file, place.line);
}

wp_status wpi_stream_refuse(const wpi_stream *s, LLVMValueRef instruction, const char *reason,
                            wp_error *err) {
    char *place = wpi_stream_place(instruction);
    const wp_status status = WP_FAIL(err, UNSUPPORTED, "kernel %s cannot be streamed:%s%s %s",
                                     s->kernel->name, place[0] != '\0' ? " " : "", place, reason);
    wpi_free(place);
    return status;
}

wp_status wpi_stream_need_windows(wpi_stream *s, const char *reason, const char *place,
                                  wp_error *err) {
    if (place[0] == '\0') place = "a place without a line";
    const char *file = strrchr(place, '/') != NULL ? strrchr(place, '/') + 1 : place;
    (void)snprintf(s->facts.reason, sizeof s->facts.reason, "%s %s", reason, file);
    return WP_FAIL(err, UNSUPPORTED, "kernel %s cannot be streamed: %s %s", s->kernel->name, reason,
                   place);
}

uint32_t wpi_stream_add_unknown(wpi_stream *s, LLVMValueRef instruction, const char *reason) {
    if (s->unknown_count == s->unknown_capacity) {
        s->unknown_capacity = s->unknown_capacity == 0 ? 16 : 2 * s->unknown_capacity;
        s->unknowns = wpi_must_realloc(s->unknowns, s->unknown_capacity * sizeof *s->unknowns);
    }
    s->unknowns[s->unknown_count] = (wpi_stream_unknown){wpi_stream_place(instruction), reason};
    return s->unknown_count++;
}

/* ---- offsets ---- */

/* A multiple of `stride`, plus `constant`; stride 0: just the constant. */
typedef struct offset {
    uint64_t stride;
    int64_t constant;
} offset;

static uint64_t common(uint64_t a, uint64_t b) {
    while (b != 0) {
        const uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

static bool constant_of(LLVMValueRef value, int64_t *out) {
    if (!LLVMIsAConstantInt(value)) return false;
    *out = LLVMConstIntGetSExtValue(value);
    return true;
}

/* Numbers wrap at 32 bits, or at 64: a stride that is a power of two survives that. */
static offset number_of(LLVMValueRef value, int depth) {
    offset a, b;
    int64_t constant;
    if (constant_of(value, &constant)) return (offset){0, constant};
    if (depth == 0 || !LLVMIsAInstruction(value)) return (offset){1, 0};
    switch (LLVMGetInstructionOpcode(value)) {
    case LLVMSExt:
    case LLVMZExt:
        a = number_of(LLVMGetOperand(value, 0), depth - 1);
        if ((a.stride & (a.stride - 1)) != 0 || a.constant < 0) return (offset){1, 0};
        return a;
    case LLVMOr:
        if (!LLVMGetIsDisjoint(value)) return (offset){1, 0};
        /* fall through */
    case LLVMAdd:
        a = number_of(LLVMGetOperand(value, 0), depth - 1);
        b = number_of(LLVMGetOperand(value, 1), depth - 1);
        return (offset){common(a.stride, b.stride), a.constant + b.constant};
    case LLVMShl:
    case LLVMMul:
        if (!constant_of(LLVMGetOperand(value, 1), &constant) || constant < 0 || constant > 4096)
            return (offset){1, 0};
        if (LLVMGetInstructionOpcode(value) == LLVMShl) {
            if (constant > 12) return (offset){1, 0};
            constant = INT64_C(1) << constant;
        }
        a = number_of(LLVMGetOperand(value, 0), depth - 1);
        return (offset){a.stride * (uint64_t)constant, a.constant * constant};
    default: return (offset){1, 0};
    }
}

static void add_scaled(offset *sum, LLVMValueRef index, uint64_t scale) {
    const offset number = number_of(index, 6);
    sum->stride = common(sum->stride, number.stride * scale);
    sum->constant += number.constant * (int64_t)scale;
}

static void add_gep(LLVMTargetDataRef layout, LLVMValueRef gep, offset *sum) {
    wpi_gep_walk walk = wpi_gep_walk_begin(layout, gep);
    LLVMValueRef index;
    uint64_t bytes;
    while (wpi_gep_next(&walk, &index, &bytes)) {
        if (index == NULL)
            sum->constant += (int64_t)bytes;
        else
            add_scaled(sum, index, bytes);
    }
}

static offset offset_of(LLVMTargetDataRef layout, LLVMValueRef pointer) {
    offset sum = {0};
    for (;;) {
        const bool is_expression = LLVMIsAConstantExpr(pointer) != NULL;
        if (!is_expression && !LLVMIsAInstruction(pointer)) break;
        const LLVMOpcode op =
            is_expression ? LLVMGetConstOpcode(pointer) : LLVMGetInstructionOpcode(pointer);
        if (op == LLVMGetElementPtr)
            add_gep(layout, pointer, &sum);
        else if (op != LLVMAddrSpaceCast && op != LLVMBitCast && op != LLVMFreeze)
            return (offset){1, 0}; /* several ways to here */
        pointer = LLVMGetOperand(pointer, 0);
    }
    return sum;
}

/* ---- the accesses ---- */

typedef struct access {
    LLVMValueRef instruction;
    uint64_t params;
    offset offset;
    int class;
    bool is_store;
    bool is_own;      /* a read of what this thread may have written, or such a write */
    uint32_t windows; /* bits: of such a write, in which it may be read again */
    uint32_t row;     /* of a read: its class, unless the host finds the address: */
    LLVMValueRef entry;
    LLVMValueRef marker;
} access;

typedef struct access_list {
    access *items;
    uint32_t count, capacity;
} access_list;

static void add_access(access_list *list, access item) {
    if (list->count == list->capacity) {
        list->capacity = list->capacity == 0 ? 16 : 2 * list->capacity;
        list->items = wpi_must_realloc(list->items, list->capacity * sizeof *list->items);
    }
    list->items[list->count++] = item;
}

static bool overlap(const access *a, const access *b) {
    const uint64_t stride = common(a->offset.stride, b->offset.stride);
    const int64_t a_bytes = INT64_C(1) << a->class, b_bytes = INT64_C(1) << b->class;
    int64_t ahead = b->offset.constant - a->offset.constant;
    if (stride == 0) return ahead < a_bytes && -ahead < b_bytes;
    ahead %= (int64_t)stride;
    if (ahead < 0) ahead += (int64_t)stride;
    return ahead < a_bytes || (int64_t)stride - ahead < b_bytes;
}

static wp_status widths_differ(wpi_stream *s, const access *a, const access *write, wp_error *err) {
    char *place = wpi_stream_place(a->instruction), *other = wpi_stream_place(write->instruction);
    char *reason =
        wpi_format("mapped data that the write at %s may change are %s with another width at",
                   other[0] != '\0' ? other : "another place", a->is_store ? "written" : "read");
    const wp_status status = wpi_stream_need_windows(s, reason, place, err);
    wpi_free(reason);
    wpi_free(other);
    wpi_free(place);
    return status;
}

static bool are_aliases(const wpi_stream *s, const access *a, const access *write) {
    return (a->params & write->params) == 0 && (s->mask & WPI_STREAM_ALIASES) != 0;
}

/* How far apart two parameters are is not known. */
static bool may_meet(const wpi_stream *s, const access *a, const access *write) {
    return are_aliases(s, a, write) || ((a->params & write->params) != 0 && overlap(write, a));
}

/* Data are sent before other threads write them. */
static wp_status check_threads(const wpi_stream *s, const access *read, const access *write,
                               wp_error *err) {
    LLVMValueRef from = LLVMGetOperand(read->instruction, 0),
                 to = LLVMGetOperand(write->instruction, 1);
    const bool is_other = are_aliases(s, read, write);
    if (!is_other && wpi_stream_is_same_place(s, from, UINT64_C(1) << read->class, to,
                                              UINT64_C(1) << write->class))
        return WP_STATUS_OK;
    LLVMValueRef barrier = wpi_stream_barrier_between(write->instruction, read->instruction);
    if (barrier == NULL) return WP_STATUS_OK;
    char *where = wpi_stream_place(write->instruction), *meet = wpi_stream_place(barrier);
    char *reason = wpi_format(
        "reads mapped data that another thread may have written at %s before the barrier at %s: "
        "threads cannot communicate through them; %s",
        where[0] != '\0' ? where : "another place", meet[0] != '\0' ? meet : "another place",
        is_other ? "two parameters are in one reservation: reserve what is only read by itself"
                 : "pass what is only read as another parameter");
    const wp_status status = wpi_stream_refuse(s, read->instruction, reason, err);
    wpi_free(reason);
    wpi_free(meet);
    wpi_free(where);
    return status;
}

/* A window for each mapped parameter. */
static uint32_t window_of(const wpi_stream *s, const access *a) {
    const uint64_t lowest = a->params & -a->params;
    const uint32_t rank = (uint32_t)__builtin_popcountll(s->mask & (lowest - 1));
    return rank < WPI_STREAM_WINDOWS ? rank : WPI_STREAM_WINDOWS - 1;
}

/* A thread sees its own writes: reads that may meet one look for it. Without windows the host
 * stores the writes of a chunk class by class, so those of one place must be of one class. */
static wp_status find_own(wpi_stream *s, access_list *list, wp_error *err) {
    for (uint32_t w = 0; w < list->count; w++) {
        access *write = &list->items[w];
        if (!write->is_store) continue;
        for (uint32_t n = 0; n < list->count; n++) {
            access *a = &list->items[n];
            if (n == w || !may_meet(s, a, write)) continue;
            if (!a->is_store) WP_TRY(check_threads(s, a, write, err));
            if (!s->has_windows && a->class != write->class) return widths_differ(s, a, write, err);
            if (a->is_store) continue;
            a->is_own = write->is_own = true;
            write->windows |= 1u << window_of(s, a);
        }
    }
    return WP_STATUS_OK;
}

static int class_of(LLVMTargetDataRef layout, LLVMTypeRef type) {
    const unsigned long long bits = LLVMSizeOfTypeInBits(layout, type);
    for (int k = 0; k < WPI_STREAM_CLASSES; k++)
        if (bits == 8ull << k) return k;
    return -1;
}

static uint64_t mapped_of(const wpi_stream *s, LLVMValueRef pointer, bool *is_mixed) {
    const wpi_stream_root root = wpi_stream_root_of(pointer);
    const uint64_t mapped = root.params & s->mask;
    *is_mixed = mapped != 0 && (mapped != root.params || root.is_local || root.is_shared ||
                                root.is_variable || root.is_loaded);
    return mapped;
}

static wp_status add_if_mapped(const wpi_stream *s, LLVMValueRef i, access_list *list,
                               wp_error *err) {
    LLVMTargetDataRef layout = LLVMGetModuleDataLayout(s->c->module);
    const wpi_ir_access what = wpi_access_of(i);
    bool is_mixed;
    const uint64_t params = mapped_of(s, what.pointer, &is_mixed);
    if (params == 0) return WP_STATUS_OK;
    if (is_mixed)
        return wpi_stream_refuse(s, i, "accesses mapped data or other memory, by one address", err);
    if (LLVMGetVolatile(i) || LLVMGetOrdering(i) != LLVMAtomicOrderingNotAtomic)
        return wpi_stream_refuse(
            s, i, "is a volatile access to mapped data: blocks cannot communicate through them",
            err);
    const int class = class_of(layout, what.type);
    if (class < 0)
        return wpi_stream_refuse(
            s, i, "accesses mapped data with a width that is none of 1, 2, 4, 8, 16 bytes", err);
    add_access(list, (access){.instruction = i,
                              .params = params,
                              .offset = offset_of(layout, what.pointer),
                              .class = class,
                              .is_store = what.kind == WP_ACCESS_WRITE,
                              .row = (uint32_t)class});
    return WP_STATUS_OK;
}

/* Slices are for threads that do not rely on their warp, and only plain barriers have been taken
 * care of. */
static const char *needs_windows(LLVMValueRef i) {
    LLVMValueRef callee = wpi_called_function(i);
    size_t length;
    if (LLVMIsACallInst(i) && LLVMIsAInlineAsm(LLVMGetCalledValue(i)))
        return "the kernel has inline PTX, at";
    const char *name = callee != NULL ? LLVMGetValueName2(callee, &length) : "";
    if (strcmp(name, "llvm.nvvm.barrier0") == 0) return NULL;
    if (strncmp(name, "llvm.nvvm.bar", 13) == 0)
        return "the kernel has a barrier other than __syncthreads(), at";
    static const char *const warp[] = {"llvm.nvvm.shfl",  "llvm.nvvm.vote",       "llvm.nvvm.match",
                                       "llvm.nvvm.redux", "llvm.nvvm.activemask", "__wp_shfl",
                                       "__wp_vote",       "__wp_activemask",      "__wp_redux",
                                       "__wp_match"};
    for (size_t w = 0; w < sizeof warp / sizeof *warp; w++)
        if (strncmp(name, warp[w], strlen(warp[w])) == 0)
            return "the lanes of a warp have to be together, at";
    return NULL;
}

static bool is_grid_barrier(LLVMValueRef i) {
    LLVMValueRef callee = wpi_called_function(i);
    size_t length;
    return callee != NULL && strncmp(LLVMGetValueName2(callee, &length), "__wp_grid_sync", 14) == 0;
}

/* Other instructions must not touch mapped data, or give its address away. */
static wp_status check_other(wpi_stream *s, LLVMValueRef i, wp_error *err) {
    if (LLVMIsAPHINode(i) || LLVMIsAGetElementPtrInst(i) || LLVMIsASelectInst(i) ||
        LLVMIsAICmpInst(i) || LLVMIsAAddrSpaceCastInst(i) || LLVMIsABitCastInst(i) ||
        LLVMIsAFreezeInst(i))
        return WP_STATUS_OK;
    if (is_grid_barrier(i)) return wpi_stream_refuse(s, i, "is a barrier of the whole grid", err);
    const char *reason = s->has_windows ? NULL : needs_windows(i);
    if (reason != NULL) {
        char *place = wpi_stream_place(i);
        const wp_status status = wpi_stream_need_windows(s, reason, place, err);
        wpi_free(place);
        return status;
    }
    const int count = LLVMGetNumOperands(i);
    for (int o = 0; o < count; o++) {
        LLVMValueRef operand = LLVMGetOperand(i, (unsigned)o);
        bool is_mixed;
        if (LLVMGetTypeKind(LLVMTypeOf(operand)) != LLVMPointerTypeKind ||
            LLVMIsAFunction(operand) || mapped_of(s, operand, &is_mixed) == 0)
            continue;
        return wpi_stream_refuse(s, i,
                                 wpi_access_is_atomic(i)
                                     ? "is an atomic operation on mapped data"
                                     : "does more with the address of mapped data than to "
                                       "read or write it",
                                 err);
    }
    return WP_STATUS_OK;
}

static wp_status collect(wpi_stream *s, access_list *list, wp_error *err) {
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(s->body); b; b = LLVMGetNextBasicBlock(b)) {
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
            bool is_mixed;
            if (LLVMIsALoadInst(i))
                WP_TRY(add_if_mapped(s, i, list, err));
            else if (!LLVMIsAStoreInst(i))
                WP_TRY(check_other(s, i, err));
            else if (LLVMGetTypeKind(LLVMTypeOf(LLVMGetOperand(i, 0))) == LLVMPointerTypeKind &&
                     mapped_of(s, LLVMGetOperand(i, 0), &is_mixed) != 0)
                return wpi_stream_refuse(s, i, "stores the address of mapped data", err);
            else
                WP_TRY(add_if_mapped(s, i, list, err));
        }
    }
    return WP_STATUS_OK;
}

/* ---- marker calls ---- */

static LLVMValueRef convert(wpi_compile *c, LLVMValueRef value, LLVMTypeRef to) {
    LLVMTypeRef from = LLVMTypeOf(value);
    if (from == to) return value;
    if (LLVMGetTypeKind(to) == LLVMPointerTypeKind)
        return LLVMBuildIntToPtr(c->builder, value, to, "");
    if (LLVMGetTypeKind(from) == LLVMPointerTypeKind)
        return LLVMBuildPtrToInt(c->builder, value, to, "");
    return LLVMBuildBitCast(c->builder, value, to, "");
}

static LLVMValueRef generic(wpi_compile *c, LLVMValueRef pointer) {
    return LLVMTypeOf(pointer) == c->ptr ? pointer
                                         : LLVMBuildAddrSpaceCast(c->builder, pointer, c->ptr, "");
}

/* A granule has room for each read, and for each write that may be read again. */
static void note_window(wpi_stream *s, const access *a) {
    wpi_stream_facts *f = &s->facts;
    const uint32_t window = window_of(s, a), class = (uint32_t)a->class;
    if (window >= f->windows) f->windows = window + 1;
    if ((!a->is_store || a->is_own) && class > f->granule) f->granule = class;
    if (f->granule < 2) f->granule = 2;
    if (a->is_store && class > f->value_class) f->value_class = class;
}

static void replace(wpi_stream *s, access *a) {
    wpi_compile *c = s->c;
    LLVMTypeRef integer = LLVMIntTypeInContext(c->context, 8u << a->class);
    char *name =
        wpi_format("%s%d", a->is_store ? WPI_STREAM_WRITE : WPI_STREAM_READ, 1 << a->class);
    LLVMValueRef own =
        wpi_const32(c, a->is_store && s->has_windows ? a->windows : (uint32_t)a->is_own);
    s->facts.reads_own |= a->is_own;
    if (a->is_store) s->facts.mapped_written |= a->params;
    if (s->has_windows) note_window(s, a);
    LLVMPositionBuilderBefore(c->builder, a->instruction);
    LLVMSetCurrentDebugLocation2(c->builder, LLVMInstructionGetDebugLoc(a->instruction));
    if (a->is_store) {
        LLVMValueRef value = convert(c, LLVMGetOperand(a->instruction, 0), integer);
        LLVMValueRef args[] = {own, generic(c, LLVMGetOperand(a->instruction, 1)), value};
        LLVMTypeRef types[] = {c->i32, c->ptr, integer};
        LLVMValueRef callee = wpi_compile_declare(c, name, c->none, types, 3);
        LLVMBuildCall2(c->builder, wpi_function_type(callee), callee, args, 3, "");
        s->write_classes |= 1u << a->class;
    } else {
        const uint32_t unknown = wpi_stream_add_unknown(
            s, a->instruction, "an address or a branch depends on mapped data, read at");
        const uint32_t window = s->has_windows ? window_of(s, a) : 0;
        LLVMValueRef none = wpi_const32(c, 0);
        LLVMValueRef pointer = a->entry == NULL || a->is_own
                                   ? generic(c, LLVMGetOperand(a->instruction, 0))
                                   : LLVMConstNull(c->ptr);
        LLVMValueRef args[] = {own,
                               pointer,
                               wpi_const32(c, unknown),
                               wpi_const32(c, window),
                               none,
                               none,
                               wpi_const32(c, a->row),
                               a->entry != NULL ? a->entry : wpi_const64(c, 0)};
        LLVMTypeRef types[] = {c->i32, c->ptr, c->i32, c->i32, c->i32, c->i32, c->i32, c->i64};
        LLVMValueRef callee = wpi_compile_declare(c, name, integer, types, 8);
        a->marker = LLVMBuildCall2(c->builder, wpi_function_type(callee), callee, args, 8, "");
        LLVMReplaceAllUsesWith(a->instruction, convert(c, a->marker, LLVMTypeOf(a->instruction)));
    }
    LLVMSetCurrentDebugLocation2(c->builder, NULL);
    LLVMInstructionEraseFromParent(a->instruction);
    wpi_free(name);
}

static int class_by_name(LLVMValueRef instruction, const char *prefix) {
    LLVMValueRef callee = wpi_called_function(instruction);
    size_t length;
    const char *name = callee != NULL ? LLVMGetValueName2(callee, &length) : "";
    if (strncmp(name, prefix, strlen(prefix)) != 0) return -1;
    for (int k = 0; k < WPI_STREAM_CLASSES; k++) {
        char bytes[8];
        (void)snprintf(bytes, sizeof bytes, "%d", 1 << k);
        if (strcmp(name + strlen(prefix), bytes) == 0) return k;
    }
    return -1;
}

int wpi_stream_read_class(LLVMValueRef instruction) {
    return class_by_name(instruction, WPI_STREAM_READ);
}

int wpi_stream_write_class(LLVMValueRef instruction) {
    return class_by_name(instruction, WPI_STREAM_WRITE);
}

int wpi_stream_row_of(LLVMValueRef instruction) {
    LLVMValueRef callee = wpi_called_function(instruction);
    size_t length;
    if (wpi_stream_read_class(instruction) >= 0)
        return (int)LLVMConstIntGetZExtValue(LLVMGetOperand(instruction, WPI_STREAM_READ_ROW));
    if (callee == NULL || strcmp(LLVMGetValueName2(callee, &length), WPI_STREAM_ENTRY_CALL) != 0)
        return -1;
    return (int)LLVMConstIntGetZExtValue(LLVMGetOperand(instruction, 0));
}

/* ---- reads through an index ---- */

/* The host may read what the kernel does not write. */
static void find_indices(wpi_stream *s, const access_list *list) {
    uint64_t written = 0;
    for (uint32_t i = 0; i < list->count; i++)
        if (list->items[i].is_store)
            written |= (s->mask & WPI_STREAM_ALIASES) != 0 ? UINT64_MAX : list->items[i].params;
    for (uint32_t i = 0; i < list->count; i++) {
        const access *a = &list->items[i];
        if (!a->is_store && (a->params & written) == 0)
            wpi_map_set_index(&s->indices, a->instruction, i);
    }
}

static void follow_indices(wpi_stream *s, access_list *list) {
    if (s->has_windows) return;
    find_indices(s, list);
    for (uint32_t i = 0; i < list->count; i++) {
        access *a = &list->items[i];
        LLVMValueRef entry;
        const uint32_t row =
            a->is_store ? 0 : wpi_stream_follow(s, a->instruction, (uint32_t)a->class, &entry);
        if (row == 0) continue;
        a->row = row;
        a->entry = entry;
    }
}

/* Whether nothing but arithmetic uses the value, in vain; then the arithmetic goes. */
static bool erase_vain_uses(LLVMValueRef value) {
    for (LLVMUseRef use = LLVMGetFirstUse(value); use != NULL; use = LLVMGetFirstUse(value)) {
        LLVMValueRef user = LLVMGetUser(use);
        const bool is_arithmetic = LLVMIsACastInst(user) || LLVMIsABinaryOperator(user) ||
                                   LLVMIsAGetElementPtrInst(user) || LLVMIsAFreezeInst(user) ||
                                   LLVMIsAExtractElementInst(user);
        if (!is_arithmetic || !erase_vain_uses(user)) return false;
        LLVMInstructionEraseFromParent(user);
    }
    return true;
}

/* What only the host needs, as an index, is not sent. */
static void drop_indices(const wpi_stream *s, access_list *list) {
    for (bool has_dropped = s->facts.followed_count != 0; has_dropped;) {
        has_dropped = false;
        for (uint32_t i = 0; i < list->count; i++) {
            access *a = &list->items[i];
            if (a->marker == NULL || !erase_vain_uses(a->marker)) continue;
            LLVMInstructionEraseFromParent(a->marker);
            a->marker = NULL;
            has_dropped = true;
        }
    }
}

static void note_rows(wpi_stream *s) {
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(s->body); b; b = LLVMGetNextBasicBlock(b)) {
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
            const int row = wpi_stream_row_of(i);
            if (row >= 0) s->address_rows |= 1u << row;
        }
    }
}

wp_status wpi_stream_find_accesses(wpi_stream *s, wp_error *err) {
    access_list list = {0};
    wp_status status;
    WP_TRY_GOTO(collect(s, &list, err), done);
    WP_TRY_GOTO(find_own(s, &list, err), done);
    follow_indices(s, &list);
    for (uint32_t i = 0; i < list.count; i++)
        replace(s, &list.items[i]);
    drop_indices(s, &list);
    note_rows(s);
    wpi_stream_note_roots(s);
    status = WP_STATUS_OK;
done:
    wpi_free(list.items);
    return status;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Each value in the computation of addresses is a node, created once; an evaluation for a block
 * shape visits the nodes in order. A node without a form that all threads share is an unknown. */
#include "compiler/ir/thread_value.h"

#include <string.h>

#include "base/must.h"
#include "compiler/ir/access.h"
#include "compiler/ir/edit.h"
#include "compiler/ir/pointer.h"
#include "compiler/pass/lower_pass.h"

enum { DEPTH_MAX = 64 };

enum {
    NODE_OPAQUE,  /* an unknown if all threads share it */
    NODE_NUMBER,  /* constant */
    NODE_ID,      /* detail: wpi_id */
    NODE_COPY,    /* a */
    NODE_SCALED,  /* a + constant * b */
    NODE_BINARY,  /* detail: LLVMOpcode */
    NODE_CAST,    /* detail: LLVMOpcode, integers */
    NODE_COMPARE, /* detail: LLVMIntPredicate, bits of the operands */
    NODE_SELECT,  /* a ? b : c */
    NODE_LIMIT,   /* detail: LLVMIntPredicate that a must fulfil against b, else b */
    NODE_MEETING  /* a phi outside of loop headers: a, if all operands are the same */
};

/* ---- nodes ---- */

static wpi_value_origin origin_of(LLVMValueRef i) {
    if (LLVMIsAAllocaInst(i) || wpi_access_is_atomic(i)) return WP_ORIGIN_DIVERGENT;
    if (!LLVMIsACallInst(i)) return WP_ORIGIN_OPERANDS;
    LLVMValueRef callee = wpi_called_function(i);
    if (!callee) return WP_ORIGIN_DIVERGENT;
    wpi_id id = wpi_lower_id_of(callee);
    if (id != WP_ID_COUNT) return id <= WP_ID_THREAD ? WP_ORIGIN_DIVERGENT : WP_ORIGIN_UNIFORM;
    size_t length;
    const char *name = LLVMGetValueName2(callee, &length);
    bool is_pure = strncmp(name, "llvm.", 5) == 0 || strncmp(name, "wp.", 3) == 0;
    return is_pure ? WP_ORIGIN_OPERANDS : WP_ORIGIN_DIVERGENT;
}

void wpi_thread_values_init(wpi_thread_values *v, wpi_compile *c, LLVMValueRef kernel) {
    memset(v, 0, sizeof *v);
    v->c = c;
    v->layout = LLVMGetModuleDataLayout(c->module);
    wpi_uniform_init(&v->uniform, kernel, origin_of);
}

void wpi_thread_values_deinit(wpi_thread_values *v) {
    for (uint32_t n = 0; n < v->count; n++)
        wpi_free(v->nodes[n].number);
    wpi_free(v->nodes);
    wpi_map_deinit(&v->index);
    wpi_uniform_deinit(&v->uniform);
}

static uint32_t append(wpi_thread_values *v, wpi_thread_node node) {
    if (v->count == v->capacity) {
        v->capacity = v->capacity ? 2 * v->capacity : 256;
        v->nodes = wpi_must_realloc(v->nodes, v->capacity * sizeof *v->nodes);
    }
    v->nodes[v->count] = node;
    return v->count++;
}

static uint32_t bits_of(const wpi_thread_values *v, LLVMValueRef value) {
    LLVMTypeRef type = LLVMTypeOf(value);
    if (LLVMGetTypeKind(type) == LLVMIntegerTypeKind) return LLVMGetIntTypeWidth(type);
    return LLVMGetTypeKind(type) == LLVMPointerTypeKind
               ? (uint32_t)LLVMSizeOfTypeInBits(v->layout, type)
               : 0;
}

static uint32_t add(wpi_thread_values *v, LLVMValueRef value, int depth);

static uint32_t add_number(wpi_thread_values *v, int64_t number) {
    return append(v, (wpi_thread_node){.kind = NODE_NUMBER, .bits = 64, .constant = number});
}

static uint32_t add_address(wpi_thread_values *v, LLVMValueRef gep, int depth) {
    uint32_t node = add(v, LLVMGetOperand(gep, 0), depth + 1);
    wpi_gep_walk walk = wpi_gep_walk_begin(v->layout, gep);
    LLVMValueRef index;
    uint64_t bytes;
    while (wpi_gep_next(&walk, &index, &bytes)) {
        uint32_t at = index ? add(v, index, depth + 1) : add_number(v, 1);
        node = append(v, (wpi_thread_node){.kind = NODE_SCALED,
                                           .bits = 64,
                                           .constant = (int64_t)bytes,
                                           .operands = {node, at},
                                           .operand_count = 2});
    }
    return node;
}

static bool is_limit(LLVMValueRef call, LLVMIntPredicate *predicate) {
    LLVMValueRef callee = wpi_called_function(call);
    if (!callee) return false;
    size_t length;
    const char *name = LLVMGetValueName2(callee, &length);
    static const struct {
        const char *name;
        LLVMIntPredicate predicate;
    } limits[] = {{"llvm.umin.i", LLVMIntULT},
                  {"llvm.umax.i", LLVMIntUGT},
                  {"llvm.smin.i", LLVMIntSLT},
                  {"llvm.smax.i", LLVMIntSGT}};
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
        if (strncmp(name, limits[i].name, strlen(limits[i].name)) == 0) {
            *predicate = limits[i].predicate;
            return true;
        }
    return false;
}

/* Whether a phi has few incoming edges, none of them a back edge. */
static bool is_meeting(const wpi_thread_values *v, LLVMValueRef phi) {
    uint32_t block = wpi_map_index(&v->uniform.block_index, LLVMGetInstructionParent(phi));
    if (LLVMCountIncoming(phi) > 3) return false;
    for (unsigned n = 0; n < LLVMCountIncoming(phi); n++)
        if (wpi_map_index(&v->uniform.block_index, LLVMGetIncomingBlock(phi, n)) >= block)
            return false;
    return true;
}

/* The node of the value that a loop's phi has in the first round; 0: it is no such phi. */
static uint32_t add_start(wpi_thread_values *v, LLVMValueRef phi, int depth) {
    const uint32_t block = wpi_map_index(&v->uniform.block_index, LLVMGetInstructionParent(phi));
    for (unsigned n = 0; LLVMCountIncoming(phi) == 2 && n < 2; n++)
        if (wpi_map_index(&v->uniform.block_index, LLVMGetIncomingBlock(phi, n)) < block &&
            wpi_map_index(&v->uniform.block_index, LLVMGetIncomingBlock(phi, 1 - n)) >= block)
            return add(v, LLVMGetIncomingValue(phi, n), depth + 1);
    return 0;
}

static wpi_thread_node describe(wpi_thread_values *v, LLVMValueRef value, int depth) {
    wpi_thread_node n = {.kind = NODE_OPAQUE, .bits = bits_of(v, value)};
    bool is_expression = LLVMIsAConstantExpr(value) != NULL;
    if (LLVMIsAConstantInt(value) && n.bits <= 64) {
        n.kind = NODE_NUMBER;
        n.constant = LLVMConstIntGetSExtValue(value);
        return n;
    }
    if (n.bits == 0 || n.bits > 64 || depth > DEPTH_MAX ||
        (!is_expression && !LLVMIsAInstruction(value)))
        return n;
    LLVMOpcode opcode = is_expression ? LLVMGetConstOpcode(value) : LLVMGetInstructionOpcode(value);
    LLVMIntPredicate predicate;
    unsigned taken = 0, first = 0;
    n.detail = (uint32_t)opcode;
    switch (opcode) {
    case LLVMAdd:
    case LLVMSub:
    case LLVMMul:
    case LLVMShl:
    case LLVMLShr:
    case LLVMAShr:
    case LLVMAnd:
    case LLVMOr:
    case LLVMXor:
    case LLVMUDiv:
    case LLVMURem:
    case LLVMSDiv:
    case LLVMSRem:
        n.kind = NODE_BINARY;
        if (opcode == LLVMOr && !is_expression && LLVMGetIsDisjoint(value)) n.detail = LLVMAdd;
        taken = 2;
        break;
    case LLVMZExt:
    case LLVMSExt:
    case LLVMTrunc:
        n.kind = NODE_CAST;
        n.bits_in = bits_of(v, LLVMGetOperand(value, 0));
        taken = n.bits_in ? 1 : 0;
        break;
    case LLVMBitCast:
    case LLVMAddrSpaceCast:
    case LLVMPtrToInt:
    case LLVMIntToPtr:
    case LLVMFreeze:
        n.kind = NODE_COPY;
        taken = bits_of(v, LLVMGetOperand(value, 0)) ? 1 : 0;
        break;
    case LLVMICmp:
        n.kind = NODE_COMPARE;
        n.detail = (uint32_t)LLVMGetICmpPredicate(value);
        n.bits = bits_of(v, LLVMGetOperand(value, 0));
        taken = n.bits ? 2 : 0;
        break;
    case LLVMSelect:
        n.kind = NODE_SELECT;
        taken = 3;
        break;
    case LLVMPHI:
        n.kind = NODE_MEETING;
        taken = is_meeting(v, value) ? LLVMCountIncoming(value) : 0;
        n.start = taken ? 0 : add_start(v, value, depth);
        break;
    case LLVMGetElementPtr:
        n.kind = NODE_COPY;
        n.operands[0] = add_address(v, value, depth);
        n.operand_count = 1;
        return n;
    case LLVMCall:
        if (!is_limit(value, &predicate)) break;
        n.kind = NODE_LIMIT;
        n.detail = (uint32_t)predicate;
        taken = 2;
        break;
    default: break;
    }
    if (!taken) n.kind = NODE_OPAQUE;
    n.operand_count = taken;
    for (; first < taken; first++)
        n.operands[first] = add(v, LLVMGetOperand(value, first), depth + 1);
    return n;
}

static uint32_t add(wpi_thread_values *v, LLVMValueRef value, int depth) {
    LLVMValueRef callee = LLVMIsAInstruction(value) ? wpi_called_function(value) : NULL;
    wpi_id id = wpi_lower_id_of(callee);
    LLVMValueRef key =
        id == WP_ID_COUNT ? value : callee; /* all calls of a placeholder are one node */
    uint32_t known = wpi_map_index(&v->index, key);
    if (known != UINT32_MAX) return known;
    wpi_thread_node node;
    if (id == WP_ID_COUNT)
        node = describe(v, value, depth);
    else
        node = (wpi_thread_node){
            .kind = id <= WP_ID_NTID_Z ? NODE_ID : NODE_OPAQUE, .detail = (uint32_t)id, .bits = 32};
    node.value = key;
    node.is_uniform = wpi_uniform_is(&v->uniform, value);
    uint32_t made = append(v, node);
    wpi_map_set_index(&v->index, key, made);
    return made;
}

uint32_t wpi_thread_values_add(wpi_thread_values *v, LLVMValueRef value) {
    return add(v, value, 0);
}

bool wpi_thread_node_is_redefined(const wpi_thread_node *node) {
    return (node->kind == NODE_OPAQUE && LLVMIsAInstruction(node->value)) ||
           node->kind == NODE_MEETING;
}

/* ---- evaluation ---- */

static uint32_t thread_count(wpi_block_shape s) {
    return s.x * s.y * s.z;
}

static int64_t id_of(wpi_block_shape s, uint32_t thread, uint32_t id) {
    switch (id) {
    case WP_ID_TID_X: return thread % s.x;
    case WP_ID_TID_Y: return thread / s.x % s.y;
    case WP_ID_TID_Z: return thread / s.x / s.y;
    case WP_ID_NTID_X: return s.x;
    case WP_ID_NTID_Y: return s.y;
    case WP_ID_NTID_Z: return s.z;
    default: return thread;
    }
}

static uint64_t zero_extended(int64_t number, uint32_t bits) {
    return bits >= 64 ? (uint64_t)number : (uint64_t)number & ((1ull << bits) - 1);
}

static int64_t sign_extended(uint64_t number, uint32_t bits) {
    if (bits >= 64) return (int64_t)number;
    uint64_t sign = 1ull << (bits - 1), low = number & ((sign << 1) - 1);
    return (int64_t)((low ^ sign) - sign);
}

/* Computes an operation. False: the result is undefined. Operands and result are sign-extended from
 * `bits`. */
static bool compute(uint32_t opcode, uint32_t bits, int64_t a, int64_t b, int64_t *out) {
    uint64_t ua = zero_extended(a, bits), ub = zero_extended(b, bits), r = 0;
    bool is_shift = opcode == LLVMShl || opcode == LLVMLShr || opcode == LLVMAShr;
    bool is_division =
        opcode == LLVMUDiv || opcode == LLVMURem || opcode == LLVMSDiv || opcode == LLVMSRem;
    if ((is_shift && ub >= bits) || (is_division && (b == 0 || b == -1))) return false;
    switch (opcode) {
    case LLVMAdd: r = ua + ub; break;
    case LLVMSub: r = ua - ub; break;
    case LLVMMul: r = ua * ub; break;
    case LLVMShl: r = ua << ub; break;
    case LLVMLShr: r = ua >> ub; break;
    case LLVMAShr: r = (uint64_t)(a >> ub); break;
    case LLVMAnd: r = ua & ub; break;
    case LLVMOr: r = ua | ub; break;
    case LLVMXor: r = ua ^ ub; break;
    case LLVMUDiv: r = ua / ub; break;
    case LLVMURem: r = ua % ub; break;
    case LLVMSDiv: r = (uint64_t)(a / b); break;
    default: r = (uint64_t)(a % b); break;
    }
    *out = sign_extended(r, bits);
    return true;
}

static bool compare(uint32_t predicate, uint32_t bits, int64_t a, int64_t b) {
    uint64_t ua = zero_extended(a, bits), ub = zero_extended(b, bits);
    switch (predicate) {
    case LLVMIntEQ: return a == b;
    case LLVMIntNE: return a != b;
    case LLVMIntUGT: return ua > ub;
    case LLVMIntUGE: return ua >= ub;
    case LLVMIntULT: return ua < ub;
    case LLVMIntULE: return ua <= ub;
    case LLVMIntSGT: return a > b;
    case LLVMIntSGE: return a >= b;
    case LLVMIntSLT: return a < b;
    default: return a <= b;
    }
}

bool wpi_thread_node_is_number(const wpi_thread_node *node) {
    return node->is_known && node->term_count == 0;
}

bool wpi_thread_node_is_alike(const wpi_thread_node *a, const wpi_thread_node *b) {
    if (!a->is_known || !b->is_known || a->term_count != b->term_count) return false;
    for (uint32_t t = 0; t < a->term_count; t++)
        if (a->terms[t].unknown != b->terms[t].unknown || a->terms[t].factor != b->terms[t].factor)
            return false;
    return true;
}

/* n.terms = a.terms + factor * b.terms; false when there are too many. */
static bool add_terms(wpi_thread_node *n, const wpi_thread_node *a, const wpi_thread_node *b,
                      int64_t factor) {
    uint32_t i = 0, j = 0;
    n->term_count = 0;
    while (i < a->term_count || j < b->term_count) {
        wpi_thread_term term;
        if (j == b->term_count ||
            (i < a->term_count && a->terms[i].unknown < b->terms[j].unknown)) {
            term = a->terms[i++];
        } else {
            term = b->terms[j++];
            term.factor = (int64_t)((uint64_t)term.factor * (uint64_t)factor);
            if (i < a->term_count && a->terms[i].unknown == term.unknown)
                term.factor = (int64_t)((uint64_t)term.factor + (uint64_t)a->terms[i++].factor);
        }
        if (term.factor == 0) continue;
        if (n->term_count == WP_THREAD_TERMS_MAX) return false;
        n->terms[n->term_count++] = term;
    }
    return true;
}

static void allocate(wpi_thread_node *n, bool varies) {
    uint32_t room = varies ? WP_BLOCK_THREADS_MAX : 1;
    n->varies = varies;
    if (n->room < room) n->number = wpi_must_realloc(n->number, room * sizeof *n->number);
    if (n->room < room) n->room = room;
}

/* a + factor * b, with unknowns. Assumes that sums of unknowns do not wrap, as they are part of
 * addresses. */
static bool evaluate_sum(wpi_thread_node *n, const wpi_thread_node *a, const wpi_thread_node *b,
                         int64_t factor, uint32_t threads) {
    if (!a->is_known || !b->is_known || !add_terms(n, a, b, factor)) return false;
    allocate(n, a->varies || b->varies);
    const uint32_t count = n->varies ? threads : 1;
    const int64_t *const x = a->number, *const y = b->number;
    const uint64_t times = (uint64_t)factor, first = (uint64_t)x[0], last = times * (uint64_t)y[0];
    int64_t *const restrict sum = n->number;
    if (a->varies && b->varies)
        for (uint32_t t = 0; t < count; t++)
            sum[t] = (int64_t)((uint64_t)x[t] + times * (uint64_t)y[t]);
    else if (a->varies)
        for (uint32_t t = 0; t < count; t++)
            sum[t] = (int64_t)((uint64_t)x[t] + last);
    else
        for (uint32_t t = 0; t < count; t++)
            sum[t] = (int64_t)(first + times * (uint64_t)y[t]);
    for (uint32_t t = 0; n->term_count == 0 && n->bits < 64 && t < count; t++)
        sum[t] = sign_extended((uint64_t)sum[t], n->bits);
    return true;
}

/* The low bits of a sum whose unknowns do not reach them. */
static bool evaluate_low_bits(wpi_thread_node *n, const wpi_thread_node *a,
                              const wpi_thread_node *b, uint32_t threads) {
    if (!wpi_thread_node_is_number(b) || b->varies || !a->is_known) return false;
    int64_t mask = b->number[0];
    if (mask < 0 || (mask & (mask + 1)) != 0) return false;
    for (uint32_t t = 0; t < a->term_count; t++)
        if ((a->terms[t].factor & mask) != 0) return false;
    allocate(n, a->varies);
    for (uint32_t t = 0; t < (n->varies ? threads : 1); t++)
        n->number[t] = wpi_thread_node_at(a, t) & mask;
    return true;
}

static bool evaluate_binary(wpi_thread_node *n, const wpi_thread_node *a, const wpi_thread_node *b,
                            uint32_t threads) {
    if (n->detail == LLVMAdd) return evaluate_sum(n, a, b, 1, threads);
    if (n->detail == LLVMSub) return evaluate_sum(n, a, b, -1, threads);
    if (wpi_thread_node_is_number(a) && wpi_thread_node_is_number(b)) {
        allocate(n, a->varies || b->varies);
        for (uint32_t t = 0; t < (n->varies ? threads : 1); t++)
            if (!compute(n->detail, n->bits, wpi_thread_node_at(a, t), wpi_thread_node_at(b, t),
                         &n->number[t]))
                return false;
        return true;
    }
    if (n->detail == LLVMAnd) return evaluate_low_bits(n, a, b, threads);
    /* a sum with unknowns times a number */
    wpi_thread_node zero = {.is_known = true, .number = (int64_t[]){0}};
    if (n->detail == LLVMMul && wpi_thread_node_is_number(b) && !b->varies)
        return evaluate_sum(n, &zero, a, b->number[0], threads);
    if (n->detail == LLVMMul && wpi_thread_node_is_number(a) && !a->varies)
        return evaluate_sum(n, &zero, b, a->number[0], threads);
    if (n->detail == LLVMShl && wpi_thread_node_is_number(b) && !b->varies && b->number[0] >= 0 &&
        b->number[0] < 32)
        return evaluate_sum(n, &zero, a, (int64_t)1 << b->number[0], threads);
    return false;
}

static bool evaluate_copy(wpi_thread_node *n, const wpi_thread_node *a, uint32_t threads) {
    wpi_thread_node zero = {.is_known = true, .number = (int64_t[]){0}};
    return evaluate_sum(n, a, &zero, 1, threads);
}

static bool evaluate_cast(wpi_thread_node *n, const wpi_thread_node *a, uint32_t threads) {
    if (!evaluate_copy(n, a, threads)) return false;
    if (n->term_count) return true;
    for (uint32_t t = 0; t < (n->varies ? threads : 1); t++) {
        int64_t number = wpi_thread_node_at(a, t);
        n->number[t] = n->detail == LLVMZExt ? (int64_t)zero_extended(number, n->bits_in)
                                             : sign_extended((uint64_t)number, n->bits);
    }
    return true;
}

static bool evaluate_compare(wpi_thread_node *n, const wpi_thread_node *a, const wpi_thread_node *b,
                             uint32_t threads) {
    if (!wpi_thread_node_is_number(a) || !wpi_thread_node_is_number(b)) return false;
    allocate(n, a->varies || b->varies);
    for (uint32_t t = 0; t < (n->varies ? threads : 1); t++)
        n->number[t] =
            -compare(n->detail, n->bits, wpi_thread_node_at(a, t), wpi_thread_node_at(b, t));
    return true;
}

static bool evaluate_choice(wpi_thread_node *n, const wpi_thread_node *condition,
                            const wpi_thread_node *a, const wpi_thread_node *b, uint32_t threads) {
    if (!wpi_thread_node_is_number(condition) || !wpi_thread_node_is_alike(a, b)) return false;
    allocate(n, condition->varies || a->varies || b->varies);
    n->term_count = a->term_count;
    memcpy(n->terms, a->terms, sizeof n->terms);
    for (uint32_t t = 0; t < (n->varies ? threads : 1); t++)
        n->number[t] =
            wpi_thread_node_at(condition, t) ? wpi_thread_node_at(a, t) : wpi_thread_node_at(b, t);
    return true;
}

static bool evaluate_limit(wpi_thread_node *n, const wpi_thread_node *a, const wpi_thread_node *b,
                           uint32_t threads) {
    if (!wpi_thread_node_is_number(a) || !wpi_thread_node_is_number(b)) return false;
    allocate(n, a->varies || b->varies);
    for (uint32_t t = 0; t < (n->varies ? threads : 1); t++) {
        int64_t first = wpi_thread_node_at(a, t), second = wpi_thread_node_at(b, t);
        n->number[t] = compare(n->detail, n->bits, first, second) ? first : second;
    }
    return true;
}

static bool evaluate_meeting(const wpi_thread_values *v, wpi_thread_node *n, uint32_t threads) {
    const wpi_thread_node *a = &v->nodes[n->operands[0]];
    for (uint32_t o = 1; o < n->operand_count; o++) {
        const wpi_thread_node *b = &v->nodes[n->operands[o]];
        if (!wpi_thread_node_is_alike(a, b)) return false;
        for (uint32_t t = 0; t < threads; t++)
            if (wpi_thread_node_at(a, t) != wpi_thread_node_at(b, t)) return false;
    }
    return evaluate_copy(n, a, threads);
}

static bool evaluate(wpi_thread_values *v, wpi_thread_node *n, wpi_block_shape shape) {
    const wpi_thread_node *a = &v->nodes[n->operands[0]], *b = &v->nodes[n->operands[1]],
                          *c = &v->nodes[n->operands[2]];
    uint32_t threads = thread_count(shape);
    switch (n->kind) {
    case NODE_NUMBER:
        allocate(n, false);
        n->number[0] = n->constant;
        return true;
    case NODE_ID:
        allocate(n, n->detail <= WP_ID_THREAD);
        for (uint32_t t = 0; t < (n->varies ? threads : 1); t++)
            n->number[t] = id_of(shape, t, n->detail);
        return true;
    case NODE_COPY: return evaluate_copy(n, a, threads);
    case NODE_SCALED: return evaluate_sum(n, a, b, n->constant, threads);
    case NODE_BINARY: return evaluate_binary(n, a, b, threads);
    case NODE_CAST: return evaluate_cast(n, a, threads);
    case NODE_COMPARE: return evaluate_compare(n, a, b, threads);
    case NODE_SELECT: return evaluate_choice(n, a, b, c, threads);
    case NODE_LIMIT: return evaluate_limit(n, a, b, threads);
    case NODE_MEETING: return evaluate_meeting(v, n, threads);
    default: return false;
    }
}

void wpi_thread_values_evaluate(wpi_thread_values *v, wpi_block_shape shape, uint32_t first,
                                uint32_t outer) {
    for (uint32_t i = first; i < outer; i++) {
        wpi_thread_node *n = &v->nodes[i];
        n->term_count = 0;
        n->is_known = evaluate(v, n, shape);
        if (n->is_known || !n->is_uniform || !n->value) continue;
        n->is_known = true;
        n->term_count = 1;
        n->terms[0] = (wpi_thread_term){i, 1};
        allocate(n, false);
        n->number[0] = 0;
    }
}

/* ---- summands ---- */

static bool differs_in_warp(const wpi_thread_node *n, uint32_t threads) {
    for (uint32_t t = 0; n->varies && t < threads; t++)
        if (n->number[t] != n->number[t - t % WP_WARP_LANES]) return true;
    return false;
}

/* How many of the node's first operands are summands, or factors beside a number. */
static uint32_t summand_count(const wpi_thread_values *v, const wpi_thread_node *n) {
    const bool has_numbers =
        n->operand_count == 2 && wpi_thread_node_is_number(&v->nodes[n->operands[1]]);
    switch (n->kind) {
    case NODE_COPY:
    case NODE_CAST: return 1;
    case NODE_SCALED: return 2;
    case NODE_BINARY:
        if (n->detail == LLVMAdd || n->detail == LLVMSub || n->detail == LLVMOr) return 2;
        return (n->detail == LLVMMul || n->detail == LLVMShl) && has_numbers ? 1 : 0;
    default: return 0;
    }
}

bool wpi_thread_node_has_lane(const wpi_thread_values *v, uint32_t node, uint32_t threads,
                              bool *is_data) {
    const wpi_thread_node *n = &v->nodes[node];
    if (wpi_thread_node_is_number(n)) return differs_in_warp(n, threads);
    if (n->start != 0 && wpi_thread_node_has_lane(v, n->start, threads, is_data)) return true;
    const uint32_t summands = summand_count(v, n);
    if (summands == 0) *is_data |= !n->is_uniform;
    bool found = false;
    for (uint32_t o = 0; o < summands; o++)
        found |= wpi_thread_node_has_lane(v, n->operands[o], threads, is_data);
    return found;
}

/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What lanes of a warp do together: *.sync. The lanes that a mask names need not be at the same
 * place in the code; each one's operands are read where it is.
 */
#include "ops.h"

static uint64_t *lane_word(pm_warp *w, unsigned lane, int32_t row) {
    return pm_lane_row(w, lane, row) + lane;
}

static bool lane_bit(pm_warp *w, unsigned lane, const pm_insn *in) {
    return ((pm_lane_row(w, lane, in->a)[0] >> lane & 1) != 0) != in->is_negated;
}

static void set_lane_bit(pm_warp *w, unsigned lane, int32_t row, bool value) {
    uint64_t *d = pm_lane_row(w, lane, row);
    *d = (*d & ~((uint64_t)1 << lane)) | (uint64_t)value << lane;
}

#define EACH(lanes, l)                                                                             \
    for (uint32_t left_##l = (lanes), l = 0;                                                       \
         left_##l != 0 && (l = (uint32_t)__builtin_ctz(left_##l), true); left_##l &= left_##l - 1)

/* ---- shuffles ---- */

enum { SHFL_UP, SHFL_DOWN, SHFL_BFLY, SHFL_IDX };
#define UNDEFINED 0xdeadbeefu /* what a lane that is not there has to say */

static bool source_lane(int mode, uint32_t lane, uint32_t b, uint32_t c, uint32_t *out) {
    const uint32_t segment = c >> 8 & 0x1f, clamp = c & 0x1f, by = b & 0x1f;
    const uint32_t last = (lane & segment) | (clamp & ~segment), first = lane & segment;
    const int32_t from = mode == SHFL_UP     ? (int32_t)lane - (int32_t)by
                         : mode == SHFL_DOWN ? (int32_t)(lane + by)
                         : mode == SHFL_BFLY ? (int32_t)(lane ^ by)
                                             : (int32_t)(first | (by & ~segment));
    const bool is_inside = mode == SHFL_UP ? from >= (int32_t)last : from <= (int32_t)last;
    *out = is_inside ? (uint32_t)from & 0x1f : lane;
    return is_inside;
}

static void complete_shfl(pm_warp *w, uint32_t lanes) {
    uint32_t values[PM_LANES];
    EACH(lanes, l) {
        values[l] = (uint32_t)*lane_word(w, l, w->insn_of[l]->a);
    }
    EACH(lanes, l) {
        const pm_insn *in = w->insn_of[l];
        uint32_t from;
        const bool is_inside = source_lane(in->aux, l, (uint32_t)*lane_word(w, l, in->b),
                                           (uint32_t)*lane_word(w, l, in->c), &from);
        *lane_word(w, l, in->d) = (lanes >> from & 1) != 0 ? values[from] : UNDEFINED;
        if (in->d2 != PM_NONE) set_lane_bit(w, l, in->d2, is_inside);
    }
}

/* ---- votes ---- */

enum { VOTE_ALL, VOTE_ANY, VOTE_UNI, VOTE_BALLOT };

static void complete_vote(pm_warp *w, uint32_t lanes) {
    uint32_t ballot = 0;
    EACH(lanes, l) {
        ballot |= (uint32_t)lane_bit(w, l, w->insn_of[l]) << l;
    }
    EACH(lanes, l) {
        const pm_insn *in = w->insn_of[l];
        switch (in->aux) {
        case VOTE_ALL: set_lane_bit(w, l, in->d, ballot == lanes); break;
        case VOTE_ANY: set_lane_bit(w, l, in->d, ballot != 0); break;
        case VOTE_UNI: set_lane_bit(w, l, in->d, ballot == 0 || ballot == lanes); break;
        default: *lane_word(w, l, in->d) = ballot; break;
        }
    }
}

/* ---- matches ---- */

static uint64_t match_value(pm_warp *w, unsigned lane) {
    const pm_insn *in = w->insn_of[lane];
    const uint64_t value = *lane_word(w, lane, in->a);
    return in->type.bytes == 4 ? (uint32_t)value : value;
}

static void complete_match(pm_warp *w, uint32_t lanes) {
    uint64_t values[PM_LANES];
    bool are_equal = true;
    EACH(lanes, l) {
        values[l] = match_value(w, l);
        are_equal = are_equal && values[l] == values[__builtin_ctz(lanes)];
    }
    EACH(lanes, l) {
        const pm_insn *in = w->insn_of[l];
        uint32_t same = 0;
        EACH(lanes, other) {
            same |= (uint32_t)(values[other] == values[l]) << other;
        }
        *lane_word(w, l, in->d) = in->aux == 0 ? same : are_equal ? lanes : 0;
        if (in->d2 != PM_NONE) set_lane_bit(w, l, in->d2, are_equal);
    }
}

/* ---- reductions ---- */

enum { RED_ADD, RED_MIN, RED_MAX, RED_AND, RED_OR, RED_XOR };

static uint32_t reduce(int how, bool is_signed, uint32_t a, uint32_t b) {
    const bool is_less = is_signed ? (int32_t)a < (int32_t)b : a < b;
    switch (how) {
    case RED_ADD: return a + b;
    case RED_MIN: return is_less ? a : b;
    case RED_MAX: return is_less ? b : a;
    case RED_AND: return a & b;
    case RED_OR: return a | b;
    default: return a ^ b;
    }
}

static void complete_redux(pm_warp *w, uint32_t lanes) {
    const unsigned first = (unsigned)__builtin_ctz(lanes);
    const pm_insn *in = w->insn_of[first];
    uint32_t result = (uint32_t)*lane_word(w, first, in->a);
    EACH(lanes & (lanes - 1), l) {
        result = reduce(in->aux, in->type.kind == PM_SIGNED, result,
                        (uint32_t)*lane_word(w, l, w->insn_of[l]->a));
    }
    EACH(lanes, l) {
        *lane_word(w, l, w->insn_of[l]->d) = result;
    }
}

/* ---- others ---- */

static void complete_nothing(pm_warp *w, uint32_t lanes) {
    (void)w;
    (void)lanes;
}

static void complete_elect(pm_warp *w, uint32_t lanes) {
    const unsigned first = (unsigned)__builtin_ctz(lanes);
    EACH(lanes, l) {
        const pm_insn *in = w->insn_of[l];
        *lane_word(w, l, in->d) = first;
        if (in->d2 != PM_NONE) set_lane_bit(w, l, in->d2, l == first);
    }
}

static void activemask(pm_warp *w, const pm_insn *in) {
    uint64_t *d = pm_row(w, in->d);
    PM_FOR_LANES(w, { d[l] = w->mask; });
}

#define SYNC(name)                                                                                 \
    static void name(pm_warp *w, const pm_insn *in) {                                              \
        pm_sync(w, in, complete_##name);                                                           \
    }
SYNC(shfl)
SYNC(vote)
SYNC(match)
SYNC(redux)
SYNC(elect)
static void bar_warp(pm_warp *w, const pm_insn *in) {
    pm_sync(w, in, complete_nothing);
}

/* The mask is the last operand; it goes into `e` whatever stands before it. */
static void decode(pm_parser *p, const pm_statement *s, pm_insn *in, const char *shape) {
    const unsigned count = (unsigned)strlen(shape);
    int32_t *sources[] = {&in->a, &in->b, &in->c};
    unsigned used = 0;
    if (s->operand_count != count) pm_bad_operand(p, s);
    for (unsigned i = 0; i < count; i++) {
        pm_operand o = s->operands[i];
        if (shape[i] == 'd') {
            const bool is_pair = o.kind == PM_OPERAND_PAIR;
            in->d = pm_destination(p, s, is_pair ? &o.items[0] : &o);
            if (is_pair) in->d2 = pm_destination(p, s, &o.items[1]);
        } else if (shape[i] == 'm') {
            in->e = pm_source(p, s, &o, (pm_type){PM_UNSIGNED, 4});
        } else {
            in->is_negated = o.is_negated;
            o.is_negated = false;
            *sources[used++] = pm_source(
                p, s, &o, shape[i] == 'q' ? (pm_type){PM_PRED, 1} : (pm_type){PM_BITS, 8});
        }
    }
}
static void decode_shfl(pm_parser *p, const pm_statement *s, pm_insn *in) {
    decode(p, s, in, "dsssm");
}
static void decode_vote(pm_parser *p, const pm_statement *s, pm_insn *in) {
    decode(p, s, in, "dqm");
}
static void decode_value(pm_parser *p, const pm_statement *s, pm_insn *in) {
    decode(p, s, in, "dsm");
}
static void decode_elect(pm_parser *p, const pm_statement *s, pm_insn *in) {
    decode(p, s, in, "dm");
}
static void decode_mask(pm_parser *p, const pm_statement *s, pm_insn *in) {
    decode(p, s, in, "m");
}

#define SHFL(name, mode) {"shfl.sync." name ".b32", NULL, NULL, 0, shfl, mode, decode_shfl}
#define REDUX(name, types, how) {"redux.sync." name ".*", types, NULL, 0, redux, how, decode_value}

const pm_op pm_warp_ops[] = {
    SHFL("up", SHFL_UP),
    SHFL("down", SHFL_DOWN),
    SHFL("bfly", SHFL_BFLY),
    SHFL("idx", SHFL_IDX),
    {"vote.sync.all.pred", NULL, NULL, 0, vote, VOTE_ALL, decode_vote},
    {"vote.sync.any.pred", NULL, NULL, 0, vote, VOTE_ANY, decode_vote},
    {"vote.sync.uni.pred", NULL, NULL, 0, vote, VOTE_UNI, decode_vote},
    {"vote.sync.ballot.b32", NULL, NULL, 0, vote, VOTE_BALLOT, decode_vote},
    {"vote.ballot.sync.b32", NULL, NULL, 0, vote, VOTE_BALLOT, decode_vote}, /* as CUB writes it */
    {"match.any.sync.*", "b32 b64", NULL, 0, match, 0, decode_value},
    {"match.all.sync.*", "b32 b64", NULL, 0, match, 1, decode_value},
    REDUX("add", "u32 s32", RED_ADD),
    REDUX("min", "u32 s32", RED_MIN),
    REDUX("max", "u32 s32", RED_MAX),
    REDUX("and", "b32", RED_AND),
    REDUX("or", "b32", RED_OR),
    REDUX("xor", "b32", RED_XOR),
    {"bar.warp.sync", NULL, NULL, 0, bar_warp, 0, decode_mask},
    {"elect.sync", NULL, NULL, 0, elect, 0, decode_elect},
    {"activemask.b32", NULL, "d", 0, activemask, 0, NULL},
    {0},
};

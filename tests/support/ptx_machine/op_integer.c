/* SPDX-License-Identifier: Apache-2.0 */
/* Integer arithmetic, bits, shifts. Sums and products are computed without sign: they wrap. */
#include "ops.h"

#define ROW(x) const uint64_t *r##x = pm_row(w, in->x)

/* One to four sources of one type; TO is the unsigned type of the result. */
#define OP_1(name, T, TO, expression)                                                              \
    static void name(pm_warp *w, const pm_insn *in) {                                              \
        uint64_t *d = pm_row(w, in->d);                                                            \
        ROW(a);                                                                                    \
        PM_FOR_LANES(w, {                                                                          \
            const T a = (T)ra[l];                                                                  \
            d[l] = (TO)(expression);                                                               \
        });                                                                                        \
    }
#define OP_2(name, T, TO, expression)                                                              \
    static void name(pm_warp *w, const pm_insn *in) {                                              \
        uint64_t *d = pm_row(w, in->d);                                                            \
        ROW(a);                                                                                    \
        ROW(b);                                                                                    \
        PM_FOR_LANES(w, {                                                                          \
            const T a = (T)ra[l], b = (T)rb[l];                                                    \
            d[l] = (TO)(expression);                                                               \
        });                                                                                        \
    }
#define OP_3(name, T, TO, TC, expression)                                                          \
    static void name(pm_warp *w, const pm_insn *in) {                                              \
        uint64_t *d = pm_row(w, in->d);                                                            \
        ROW(a);                                                                                    \
        ROW(b);                                                                                    \
        ROW(c);                                                                                    \
        PM_FOR_LANES(w, {                                                                          \
            const T a = (T)ra[l], b = (T)rb[l];                                                    \
            const TC c = (TC)rc[l];                                                                \
            d[l] = (TO)(expression);                                                               \
        });                                                                                        \
    }

__extension__ typedef unsigned __int128 u128;
__extension__ typedef __int128 s128;

/* ---- what depends on the width alone ---- */

#define FOR_WIDTH(bits, U)                                                                         \
    OP_2(add_##bits, U, U, (U)(a + b))                                                             \
    OP_2(sub_##bits, U, U, (U)(a - b))                                                             \
    OP_2(mul_lo_##bits, U, U, (u128)a *b)                                                          \
    OP_3(mad_lo_##bits, U, U, U, (u128)a *b + c)                                                   \
    OP_1(neg_##bits, U, U, (U)(0u - a))                                                            \
    OP_1(not_##bits, U, U, (U)~a)                                                                  \
    OP_1(cnot_##bits, U, U, a == 0)                                                                \
    OP_2(and_##bits, U, U, a &b)                                                                   \
    OP_2(or_##bits, U, U, a | b)                                                                   \
    OP_2(xor_##bits, U, U, a ^ b)
FOR_WIDTH(16, uint16_t)
FOR_WIDTH(32, uint32_t)
FOR_WIDTH(64, uint64_t)

/* ---- what depends on the sign too. WIDE holds every product. Dividing by 0 is unspecified. ----
 */

#define FOR_TYPE(type, T, U, WIDE, bits)                                                           \
    OP_2(mul_hi_##type, T, U, (WIDE)((WIDE)a * b) >> bits)                                         \
    OP_3(mad_hi_##type, T, U, U, (U)((WIDE)((WIDE)a * b) >> bits) + c)                             \
    OP_2(div_##type, T, U, b != 0 ? (WIDE)a / b : (WIDE) - 1)                                      \
    OP_2(rem_##type, T, U, b != 0 ? (WIDE)a % b : (WIDE)a)                                         \
    OP_2(min_##type, T, U, a < b ? a : b)                                                          \
    OP_2(max_##type, T, U, a > b ? a : b)                                                          \
    OP_3(sad_##type, T, U, U, (U)(a > b ? (WIDE)a - b : (WIDE)b - a) + c)
FOR_TYPE(u16, uint16_t, uint16_t, uint32_t, 16)
FOR_TYPE(s16, int16_t, uint16_t, int32_t, 16)
FOR_TYPE(u32, uint32_t, uint32_t, uint64_t, 32)
FOR_TYPE(s32, int32_t, uint32_t, int64_t, 32)
FOR_TYPE(u64, uint64_t, uint64_t, u128, 64)
FOR_TYPE(s64, int64_t, uint64_t, s128, 64)

#define FOR_WIDE(type, T, TO, W)                                                                   \
    OP_2(mul_wide_##type, T, TO, (W)a *b)                                                          \
    OP_3(mad_wide_##type, T, TO, TO, (TO)((W)a * b) + c)
FOR_WIDE(u16, uint16_t, uint32_t, uint32_t)
FOR_WIDE(s16, int16_t, uint32_t, int32_t)
FOR_WIDE(u32, uint32_t, uint64_t, uint64_t)
FOR_WIDE(s32, int32_t, uint64_t, int64_t)

static int64_t clamp_s32(int64_t value) {
    return value > INT32_MAX ? INT32_MAX : value < INT32_MIN ? INT32_MIN : value;
}

OP_2(add_sat_s32, int32_t, uint32_t, clamp_s32((int64_t)a + b))
OP_2(sub_sat_s32, int32_t, uint32_t, clamp_s32((int64_t)a - b))
OP_3(mad_hi_sat_s32, int32_t, uint32_t, int32_t, clamp_s32(((int64_t)a * b >> 32) + c))
OP_1(abs_s16, int16_t, uint16_t, a < 0 ? -(int32_t)a : a)
OP_1(abs_s32, int32_t, uint32_t, a < 0 ? -(int64_t)a : a)
OP_1(abs_s64, int64_t, uint64_t, a < 0 ? 0 - (uint64_t)a : (uint64_t)a)

/* ---- 24 bits ---- */

static int64_t signed_24(uint64_t value) {
    return (int64_t)(value << 40) >> 40;
}
OP_2(mul24_lo_u32, uint32_t, uint32_t, (uint64_t)(a & 0xffffff) * (b & 0xffffff))
OP_2(mul24_lo_s32, uint32_t, uint32_t, (uint64_t)(signed_24(a) * signed_24(b)))
OP_2(mul24_hi_u32, uint32_t, uint32_t, ((uint64_t)(a & 0xffffff) * (b & 0xffffff)) >> 16)
OP_2(mul24_hi_s32, uint32_t, uint32_t, (uint64_t)((signed_24(a) * signed_24(b)) >> 16))
OP_3(mad24_lo_u32, uint32_t, uint32_t, uint32_t, (uint64_t)(a & 0xffffff) * (b & 0xffffff) + c)
OP_3(mad24_lo_s32, uint32_t, uint32_t, uint32_t, (uint64_t)(signed_24(a) * signed_24(b)) + c)

/* ---- carries: a bit a lane ---- */

static void set_carry(pm_warp *w, unsigned lane, bool is_set) {
    w->carry = (w->carry & ~(1u << lane)) | (uint32_t)is_set << lane;
}

/* After a subtraction the flag is that of a + ~b + 1, as nvcc's division of 128 bits expects when
 * it adds with the flag of a subtraction: set if there is no borrow. */
#define CARRY_OP(name, U, is_sub, sets, OPERATION)                                                 \
    static void name(pm_warp *w, const pm_insn *in) {                                              \
        uint64_t *d = pm_row(w, in->d);                                                            \
        ROW(a);                                                                                    \
        ROW(b);                                                                                    \
        PM_FOR_LANES(w, {                                                                          \
            const u128 a = (U)ra[l], b = (U)rb[l], carry = w->carry >> l & 1;                      \
            (void)carry;                                                                           \
            const u128 result = OPERATION;                                                         \
            d[l] = (U)result;                                                                      \
            const bool is_out = (result >> (8 * sizeof(U)) & 1) != 0;                              \
            if (sets) set_carry(w, l, is_out != is_sub);                                           \
        });                                                                                        \
    }
#define FOR_CARRY(bits, U)                                                                         \
    CARRY_OP(add_cc_##bits, U, false, true, a + b)                                                 \
    CARRY_OP(addc_##bits, U, false, false, a + b + carry)                                          \
    CARRY_OP(addc_cc_##bits, U, false, true, a + b + carry)                                        \
    CARRY_OP(sub_cc_##bits, U, true, true, a - b)                                                  \
    CARRY_OP(subc_##bits, U, true, false, a - b - !carry)                                          \
    CARRY_OP(subc_cc_##bits, U, true, true, a - b - !carry)
FOR_CARRY(32, uint32_t)
FOR_CARRY(64, uint64_t)

/* mad{c}.{lo,hi}{.cc}: as with add, on the half of the product. */
#define MAD_CARRY(name, U, T, WIDE, shift, uses, sets)                                             \
    static void name(pm_warp *w, const pm_insn *in) {                                              \
        uint64_t *d = pm_row(w, in->d);                                                            \
        ROW(a);                                                                                    \
        ROW(b);                                                                                    \
        ROW(c);                                                                                    \
        PM_FOR_LANES(w, {                                                                          \
            const u128 half = (U)((WIDE)((WIDE)(T)ra[l] * (T)rb[l]) >> shift);                     \
            const u128 result = half + (U)rc[l] + (uses ? w->carry >> l & 1 : 0);                  \
            d[l] = (U)result;                                                                      \
            if (sets) set_carry(w, l, (result >> (8 * sizeof(U)) & 1) != 0);                       \
        });                                                                                        \
    }
#define FOR_MAD_CARRY(type, U, T, WIDE, bits)                                                      \
    MAD_CARRY(mad_lo_cc_##type, U, T, WIDE, 0, false, true)                                        \
    MAD_CARRY(mad_hi_cc_##type, U, T, WIDE, bits, false, true)                                     \
    MAD_CARRY(madc_lo_##type, U, T, WIDE, 0, true, false)                                          \
    MAD_CARRY(madc_hi_##type, U, T, WIDE, bits, true, false)                                       \
    MAD_CARRY(madc_lo_cc_##type, U, T, WIDE, 0, true, true)                                        \
    MAD_CARRY(madc_hi_cc_##type, U, T, WIDE, bits, true, true)
FOR_MAD_CARRY(u32, uint32_t, uint32_t, uint64_t, 32)
FOR_MAD_CARRY(s32, uint32_t, int32_t, int64_t, 32)
FOR_MAD_CARRY(u64, uint64_t, uint64_t, u128, 64)
FOR_MAD_CARRY(s64, uint64_t, int64_t, s128, 64)

/* ---- shifts: amounts beyond the width shift everything out ---- */

#define SHIFTS(bits, U, S)                                                                         \
    static void shl_##bits(pm_warp *w, const pm_insn *in) {                                        \
        uint64_t *d = pm_row(w, in->d);                                                            \
        ROW(a);                                                                                    \
        ROW(b);                                                                                    \
        PM_FOR_LANES(w, {                                                                          \
            const uint32_t by = (uint32_t)rb[l];                                                   \
            d[l] = by < bits ? (U)(ra[l] << (by & 63)) : (U)0;                                     \
        });                                                                                        \
    }                                                                                              \
    static void shr_u##bits(pm_warp *w, const pm_insn *in) {                                       \
        uint64_t *d = pm_row(w, in->d);                                                            \
        ROW(a);                                                                                    \
        ROW(b);                                                                                    \
        PM_FOR_LANES(w, {                                                                          \
            const uint32_t by = (uint32_t)rb[l];                                                   \
            d[l] = by < bits ? (uint64_t)(U)ra[l] >> (by & 63) : 0;                                \
        });                                                                                        \
    }                                                                                              \
    static void shr_s##bits(pm_warp *w, const pm_insn *in) {                                       \
        uint64_t *d = pm_row(w, in->d);                                                            \
        ROW(a);                                                                                    \
        ROW(b);                                                                                    \
        PM_FOR_LANES(w, {                                                                          \
            const uint32_t by = (uint32_t)rb[l] < bits ? (uint32_t)rb[l] : bits - 1;               \
            d[l] = (U)((int64_t)(S)ra[l] >> by);                                                   \
        });                                                                                        \
    }
SHIFTS(16, uint16_t, int16_t)
SHIFTS(32, uint32_t, int32_t)
SHIFTS(64, uint64_t, int64_t)

/* The funnel: [b, a] as 64 bits; .wrap takes the amount modulo 32, .clamp at most 32. */
#define FUNNEL(name, limit, expression)                                                            \
    static void name(pm_warp *w, const pm_insn *in) {                                              \
        uint64_t *d = pm_row(w, in->d);                                                            \
        ROW(a);                                                                                    \
        ROW(b);                                                                                    \
        ROW(c);                                                                                    \
        PM_FOR_LANES(w, {                                                                          \
            const uint64_t both = (rb[l] << 32) | (uint32_t)ra[l];                                 \
            const uint32_t c = (uint32_t)rc[l], by = limit;                                        \
            d[l] = (uint32_t)(expression);                                                         \
        });                                                                                        \
    }
#define CLAMPED (c < 32 ? c : 32)
FUNNEL(shf_l_wrap, c & 31, (both << by) >> 32)
FUNNEL(shf_r_wrap, c & 31, both >> by)
FUNNEL(shf_l_clamp, CLAMPED, (both << by) >> 32)
FUNNEL(shf_r_clamp, CLAMPED, both >> by)

/* ---- bits ---- */

static uint32_t reverse_32(uint32_t v) {
    v = (v >> 1 & 0x55555555u) | (v & 0x55555555u) << 1;
    v = (v >> 2 & 0x33333333u) | (v & 0x33333333u) << 2;
    v = (v >> 4 & 0x0f0f0f0fu) | (v & 0x0f0f0f0fu) << 4;
    return __builtin_bswap32(v);
}

OP_1(popc_32, uint32_t, uint32_t, __builtin_popcount(a))
OP_1(popc_64, uint64_t, uint32_t, __builtin_popcountll(a))
OP_1(clz_32, uint32_t, uint32_t, a != 0 ? __builtin_clz(a) : 32)
OP_1(clz_64, uint64_t, uint32_t, a != 0 ? __builtin_clzll(a) : 64)
OP_1(brev_32, uint32_t, uint32_t, reverse_32(a))
OP_1(brev_64, uint64_t, uint64_t,
     (uint64_t)reverse_32((uint32_t)a) << 32 | reverse_32((uint32_t)(a >> 32)))

/* The most significant bit that is not the sign; shiftamt: how far it is from the top. */
static uint32_t find_bit(uint64_t a, unsigned bits, bool is_signed, bool is_shift) {
    if (is_signed && (a >> (bits - 1) & 1) != 0) a = ~a;
    if (bits == 32) a &= 0xffffffffu;
    if (a == 0) return 0xffffffffu;
    const unsigned place = 63 - (unsigned)__builtin_clzll(a);
    return is_shift ? bits - 1 - place : place;
}
OP_1(bfind_u32, uint64_t, uint32_t, find_bit(a, 32, false, false))
OP_1(bfind_s32, uint64_t, uint32_t, find_bit(a, 32, true, false))
OP_1(bfind_u64, uint64_t, uint32_t, find_bit(a, 64, false, false))
OP_1(bfind_s64, uint64_t, uint32_t, find_bit(a, 64, true, false))
OP_1(bfind_shift_u32, uint64_t, uint32_t, find_bit(a, 32, false, true))
OP_1(bfind_shift_s32, uint64_t, uint32_t, find_bit(a, 32, true, true))
OP_1(bfind_shift_u64, uint64_t, uint32_t, find_bit(a, 64, false, true))
OP_1(bfind_shift_s64, uint64_t, uint32_t, find_bit(a, 64, true, true))

/* bfe: pos and len are the low bytes of b and c; what lies outside is the sign, or 0. */
static uint64_t extract(uint64_t a, uint64_t b, uint64_t c, unsigned bits, bool is_signed) {
    const unsigned position = b & 0xff, length = c & 0xff, top = bits - 1;
    const unsigned last = position + length - 1 < top ? position + length - 1 : top;
    const bool sign = is_signed && length != 0 && (a >> last & 1) != 0;
    uint64_t result = 0;
    for (unsigned i = 0; i < bits; i++) {
        const bool is_in = i < length && position + i <= top;
        result |= (uint64_t)(is_in ? a >> (position + i) & 1 : sign) << i;
    }
    return result;
}
static uint64_t insert(uint64_t a, uint64_t b, uint64_t c, uint64_t d, unsigned bits) {
    const unsigned position = c & 0xff, length = d & 0xff;
    uint64_t result = b;
    for (unsigned i = 0; i < length && position + i < bits; i++) {
        const uint64_t bit = (uint64_t)1 << (position + i);
        result = (result & ~bit) | ((a >> i & 1) != 0 ? bit : 0);
    }
    return result;
}
/* bmsk: `count` ones from bit `at`. */
static uint32_t mask(uint32_t at, uint32_t count) {
    const uint64_t ones = count >= 32 ? 0xffffffffu : (1ull << count) - 1;
    return at >= 32 ? 0 : (uint32_t)(ones << at);
}

OP_2(bmsk_clamp, uint32_t, uint32_t, mask(a, b))
OP_2(bmsk_wrap, uint32_t, uint32_t, mask(a & 31, b & 31))
OP_3(bfe_u32, uint32_t, uint32_t, uint32_t, extract(a, b, c, 32, false))
OP_3(bfe_s32, uint32_t, uint32_t, uint32_t, extract(a, b, c, 32, true))
OP_3(bfe_u64, uint64_t, uint64_t, uint64_t, extract(a, b, c, 64, false))
OP_3(bfe_s64, uint64_t, uint64_t, uint64_t, extract(a, b, c, 64, true))

#define INSERT(bits, U)                                                                            \
    static void bfi_##bits(pm_warp *w, const pm_insn *in) {                                        \
        uint64_t *d = pm_row(w, in->d);                                                            \
        ROW(a);                                                                                    \
        ROW(b);                                                                                    \
        ROW(c);                                                                                    \
        ROW(e);                                                                                    \
        PM_FOR_LANES(w, { d[l] = (U)insert((U)ra[l], (U)rb[l], rc[l], re[l], bits); });            \
    }
INSERT(32, uint32_t)
INSERT(64, uint64_t)

/* ---- permutations of bytes ---- */

static uint32_t permute(uint32_t a, uint32_t b, uint32_t c) {
    const uint64_t both = (uint64_t)b << 32 | a;
    uint32_t result = 0;
    for (unsigned i = 0; i < 4; i++) {
        const unsigned selector = c >> (4 * i) & 0xf;
        uint32_t byte = (uint32_t)(both >> (8 * (selector & 7))) & 0xff;
        if ((selector & 8) != 0) byte = (byte & 0x80) != 0 ? 0xff : 0; /* the sign, everywhere */
        result |= byte << (8 * i);
    }
    return result;
}

/* The modes as selectors of the general form, for c & 3 = 0…3; as the manual's table has them, the
 * lowest byte last. */
static uint32_t permute_mode(uint32_t a, uint32_t b, uint32_t c, const uint16_t *table) {
    return permute(a, b, table[c & 3]);
}
static const uint16_t forward_4[] = {0x3210, 0x4321, 0x5432, 0x6543};
static const uint16_t backward_4[] = {0x5670, 0x6701, 0x7012, 0x0123};
static const uint16_t replicate_8[] = {0x0000, 0x1111, 0x2222, 0x3333};
static const uint16_t edge_left[] = {0x3210, 0x3211, 0x3222, 0x3333};
static const uint16_t edge_right[] = {0x0000, 0x1110, 0x2210, 0x3210};
static const uint16_t replicate_16[] = {0x1010, 0x3232, 0x1010, 0x3232};
OP_3(prmt, uint32_t, uint32_t, uint32_t, permute(a, b, c))
OP_3(prmt_f4e, uint32_t, uint32_t, uint32_t, permute_mode(a, b, c, forward_4))
OP_3(prmt_b4e, uint32_t, uint32_t, uint32_t, permute_mode(a, b, c, backward_4))
OP_3(prmt_rc8, uint32_t, uint32_t, uint32_t, permute_mode(a, b, c, replicate_8))
OP_3(prmt_ecl, uint32_t, uint32_t, uint32_t, permute_mode(a, b, c, edge_left))
OP_3(prmt_ecr, uint32_t, uint32_t, uint32_t, permute_mode(a, b, c, edge_right))
OP_3(prmt_rc16, uint32_t, uint32_t, uint32_t, permute_mode(a, b, c, replicate_16))

/* Any function of three bits: bit (a b c) of the table. */
static uint32_t lookup(uint32_t a, uint32_t b, uint32_t c, uint32_t table) {
    uint32_t result = 0;
    for (unsigned i = 0; i < 8; i++) {
        if ((table >> i & 1) == 0) continue;
        result |= ((i & 4) != 0 ? a : ~a) & ((i & 2) != 0 ? b : ~b) & ((i & 1) != 0 ? c : ~c);
    }
    return result;
}
static void lop3(pm_warp *w, const pm_insn *in) {
    uint64_t *d = pm_row(w, in->d);
    ROW(a);
    ROW(b);
    ROW(c);
    ROW(e);
    PM_FOR_LANES(
        w, { d[l] = lookup((uint32_t)ra[l], (uint32_t)rb[l], (uint32_t)rc[l], (uint32_t)re[l]); });
}

/* ---- dot products of bytes ---- */

static int32_t byte_of(uint32_t v, unsigned i, bool is_signed) {
    return is_signed ? (int8_t)(v >> (8 * i)) : (int32_t)(v >> (8 * i) & 0xff);
}
static uint32_t dot_4(uint32_t a, uint32_t b, uint32_t c, bool a_signed, bool b_signed) {
    for (unsigned i = 0; i < 4; i++)
        c += (uint32_t)(byte_of(a, i, a_signed) * byte_of(b, i, b_signed));
    return c;
}
/* Two halves of a, by two bytes of b, the low or the high ones. */
static uint32_t dot_2(uint32_t a, uint32_t b, uint32_t c, bool a_signed, bool b_signed, bool high) {
    for (unsigned i = 0; i < 2; i++) {
        const int32_t half =
            a_signed ? (int16_t)(a >> (16 * i)) : (int32_t)(a >> (16 * i) & 0xffff);
        c += (uint32_t)half * (uint32_t)byte_of(b, i + (high ? 2 : 0), b_signed);
    }
    return c;
}
#define FOR_DOT(name, a_signed, b_signed)                                                          \
    OP_3(dp4a_##name, uint32_t, uint32_t, uint32_t, dot_4(a, b, c, a_signed, b_signed))            \
    OP_3(dp2a_lo_##name, uint32_t, uint32_t, uint32_t, dot_2(a, b, c, a_signed, b_signed, false))  \
    OP_3(dp2a_hi_##name, uint32_t, uint32_t, uint32_t, dot_2(a, b, c, a_signed, b_signed, true))
FOR_DOT(u32_u32, false, false)
FOR_DOT(u32_s32, false, true)
FOR_DOT(s32_u32, true, false)
FOR_DOT(s32_s32, true, true)

/* ---- the table ---- */

#define BOTH_SIGNS(name, handler, shape)                                                           \
    {name ".u16", NULL, shape, 0, handler##_16, 0, NULL},                                          \
        {name ".s16", NULL, shape, 0, handler##_16, 0, NULL},                                      \
        {name ".u32", NULL, shape, 0, handler##_32, 0, NULL},                                      \
        {name ".s32", NULL, shape, 0, handler##_32, 0, NULL},                                      \
        {name ".u64", NULL, shape, 0, handler##_64, 0, NULL}, {                                    \
        name ".s64", NULL, shape, 0, handler##_64, 0, NULL                                         \
    }
#define EACH_SIGN(name, handler, shape)                                                            \
    {name ".u16", NULL, shape, 0, handler##_u16, 0, NULL},                                         \
        {name ".s16", NULL, shape, 0, handler##_s16, 0, NULL},                                     \
        {name ".u32", NULL, shape, 0, handler##_u32, 0, NULL},                                     \
        {name ".s32", NULL, shape, 0, handler##_s32, 0, NULL},                                     \
        {name ".u64", NULL, shape, 0, handler##_u64, 0, NULL}, {                                   \
        name ".s64", NULL, shape, 0, handler##_s64, 0, NULL                                        \
    }
#define WIDTHS(name, handler, shape)                                                               \
    {name ".b16", NULL, shape, 0, handler##_16, 0, NULL},                                          \
        {name ".b32", NULL, shape, 0, handler##_32, 0, NULL}, {                                    \
        name ".b64", NULL, shape, 0, handler##_64, 0, NULL                                         \
    }
#define ONE(name, handler, shape) {name, NULL, shape, 0, handler, 0, NULL}
#define CARRIES(name, handler)                                                                     \
    ONE(name ".u32", handler##_32, "dss"), ONE(name ".s32", handler##_32, "dss"),                  \
        ONE(name ".u64", handler##_64, "dss"), ONE(name ".s64", handler##_64, "dss")
#define MAD_CARRIES(name, handler)                                                                 \
    ONE(name ".u32", handler##_u32, "dsss"), ONE(name ".s32", handler##_s32, "dsss"),              \
        ONE(name ".u64", handler##_u64, "dsss"), ONE(name ".s64", handler##_s64, "dsss")
#define DOTS(name, handler)                                                                        \
    ONE(name ".u32.u32", handler##_u32_u32, "dsss"),                                               \
        ONE(name ".u32.s32", handler##_u32_s32, "dsss"),                                           \
        ONE(name ".s32.u32", handler##_s32_u32, "dsss"),                                           \
        ONE(name ".s32.s32", handler##_s32_s32, "dsss")

const pm_op pm_integer_ops[] = {
    BOTH_SIGNS("add", add, "dss"),
    BOTH_SIGNS("sub", sub, "dss"),
    BOTH_SIGNS("mul.lo", mul_lo, "dss"),
    BOTH_SIGNS("mad.lo", mad_lo, "dsss"),
    EACH_SIGN("mul.hi", mul_hi, "dss"),
    EACH_SIGN("mad.hi", mad_hi, "dsss"),
    EACH_SIGN("div", div, "dss"),
    EACH_SIGN("rem", rem, "dss"),
    EACH_SIGN("min", min, "dss"),
    EACH_SIGN("max", max, "dss"),
    EACH_SIGN("sad", sad, "dsss"),
    ONE("mul.wide.u16", mul_wide_u16, "dss"),
    ONE("mul.wide.s16", mul_wide_s16, "dss"),
    ONE("mul.wide.u32", mul_wide_u32, "dss"),
    ONE("mul.wide.s32", mul_wide_s32, "dss"),
    ONE("mad.wide.u16", mad_wide_u16, "dsss"),
    ONE("mad.wide.s16", mad_wide_s16, "dsss"),
    ONE("mad.wide.u32", mad_wide_u32, "dsss"),
    ONE("mad.wide.s32", mad_wide_s32, "dsss"),
    ONE("add.sat.s32", add_sat_s32, "dss"),
    ONE("sub.sat.s32", sub_sat_s32, "dss"),
    ONE("mad.hi.sat.s32", mad_hi_sat_s32, "dsss"),
    ONE("mul24.lo.u32", mul24_lo_u32, "dss"),
    ONE("mul24.lo.s32", mul24_lo_s32, "dss"),
    ONE("mul24.hi.u32", mul24_hi_u32, "dss"),
    ONE("mul24.hi.s32", mul24_hi_s32, "dss"),
    ONE("mad24.lo.u32", mad24_lo_u32, "dsss"),
    ONE("mad24.lo.s32", mad24_lo_s32, "dsss"),
    CARRIES("add.cc", add_cc),
    CARRIES("addc", addc),
    CARRIES("addc.cc", addc_cc),
    CARRIES("sub.cc", sub_cc),
    CARRIES("subc", subc),
    CARRIES("subc.cc", subc_cc),
    MAD_CARRIES("mad.lo.cc", mad_lo_cc),
    MAD_CARRIES("mad.hi.cc", mad_hi_cc),
    MAD_CARRIES("madc.lo", madc_lo),
    MAD_CARRIES("madc.hi", madc_hi),
    MAD_CARRIES("madc.lo.cc", madc_lo_cc),
    MAD_CARRIES("madc.hi.cc", madc_hi_cc),
    ONE("neg.s16", neg_16, "ds"),
    ONE("neg.s32", neg_32, "ds"),
    ONE("neg.s64", neg_64, "ds"),
    ONE("abs.s16", abs_s16, "ds"),
    ONE("abs.s32", abs_s32, "ds"),
    ONE("abs.s64", abs_s64, "ds"),
    WIDTHS("not", not, "ds"),
    WIDTHS("cnot", cnot, "ds"),
    WIDTHS("and", and, "dss"),
    WIDTHS("or", or, "dss"),
    WIDTHS("xor", xor, "dss"),
    WIDTHS("shl", shl, "dss"),
    ONE("shr.b16", shr_u16, "dss"),
    ONE("shr.b32", shr_u32, "dss"),
    ONE("shr.b64", shr_u64, "dss"),
    ONE("shr.u16", shr_u16, "dss"),
    ONE("shr.u32", shr_u32, "dss"),
    ONE("shr.u64", shr_u64, "dss"),
    ONE("shr.s16", shr_s16, "dss"),
    ONE("shr.s32", shr_s32, "dss"),
    ONE("shr.s64", shr_s64, "dss"),
    ONE("shf.l.wrap.b32", shf_l_wrap, "dsss"),
    ONE("shf.r.wrap.b32", shf_r_wrap, "dsss"),
    ONE("shf.l.clamp.b32", shf_l_clamp, "dsss"),
    ONE("shf.r.clamp.b32", shf_r_clamp, "dsss"),
    ONE("popc.b32", popc_32, "ds"),
    ONE("popc.b64", popc_64, "ds"),
    ONE("clz.b32", clz_32, "ds"),
    ONE("clz.b64", clz_64, "ds"),
    ONE("brev.b32", brev_32, "ds"),
    ONE("brev.b64", brev_64, "ds"),
    ONE("bfind.u32", bfind_u32, "ds"),
    ONE("bfind.s32", bfind_s32, "ds"),
    ONE("bfind.u64", bfind_u64, "ds"),
    ONE("bfind.s64", bfind_s64, "ds"),
    ONE("bfind.shiftamt.u32", bfind_shift_u32, "ds"),
    ONE("bfind.shiftamt.s32", bfind_shift_s32, "ds"),
    ONE("bfind.shiftamt.u64", bfind_shift_u64, "ds"),
    ONE("bfind.shiftamt.s64", bfind_shift_s64, "ds"),
    ONE("bmsk.clamp.b32", bmsk_clamp, "dss"),
    ONE("bmsk.wrap.b32", bmsk_wrap, "dss"),
    ONE("bfe.u32", bfe_u32, "dsss"),
    ONE("bfe.s32", bfe_s32, "dsss"),
    ONE("bfe.u64", bfe_u64, "dsss"),
    ONE("bfe.s64", bfe_s64, "dsss"),
    ONE("bfi.b32", bfi_32, "dssss"),
    ONE("bfi.b64", bfi_64, "dssss"),
    ONE("prmt.b32", prmt, "dsss"),
    ONE("prmt.b32.f4e", prmt_f4e, "dsss"),
    ONE("prmt.b32.b4e", prmt_b4e, "dsss"),
    ONE("prmt.b32.rc8", prmt_rc8, "dsss"),
    ONE("prmt.b32.ecl", prmt_ecl, "dsss"),
    ONE("prmt.b32.ecr", prmt_ecr, "dsss"),
    ONE("prmt.b32.rc16", prmt_rc16, "dsss"),
    ONE("lop3.b32", lop3, "dssss"),
    DOTS("dp4a", dp4a),
    DOTS("dp2a.lo", dp2a_lo),
    DOTS("dp2a.hi", dp2a_hi),
    {0},
};

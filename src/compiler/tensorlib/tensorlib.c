/* SPDX-License-Identifier: Apache-2.0 */
/* Device functions for copies of tensors (ptx/ops_tensor_copy.c), linked into kernels that have
 * such copies. They are GPU code, so that their accesses are checked and traced as the program's.
 *
 * A box in shared memory is dense, dimension 0 first. It is copied row by row in pieces of 16
 * bytes, the unit of a swizzle: bits 4, 5, … of a piece's address are changed by bits 7, 8, …. A
 * piece that is partly outside the tensor is copied element by element. */
#include <stdbool.h>

#include "base/tensor_abi.h"

typedef uint32_t piece __attribute__((ext_vector_type(4)));

enum { PIECE_BYTES = 16, HELD = 4 };

/* Where a row of the box is in the tensor. */
typedef struct row {
    char *at;       /* element 0 of dimension 0 */
    bool is_inside; /* in all other dimensions */
} row;

static inline uint32_t count_of(const wp_tensor_map *m, uint32_t i) {
    return (m->box[i] + m->steps[i] - 1u) / m->steps[i];
}

static row row_at(const wp_tensor_map *m, uint32_t index, const int32_t *coordinates) {
    row r = {(char *)m->address, true};
    for (uint32_t i = 1; i < m->rank; i++) {
        const uint32_t count = count_of(m, i);
        const int64_t x = coordinates[i] + (int64_t)(index % count) * m->steps[i];
        index /= count;
        r.is_inside = r.is_inside && x >= 0 && (uint64_t)x < m->dimensions[i];
        r.at += x * (int64_t)m->strides_bytes[i - 1];
    }
    return r;
}

static inline char *swizzled(const wp_tensor_map *m, char *at) {
    const uintptr_t mask = ((uintptr_t)1 << m->swizzle_bits) - 1;
    const uintptr_t address = (uintptr_t)at, other = address ^ ((address >> 7 & mask) << 4);
    return at + (int64_t)(other - address);
}

static uint32_t rows_of(const wp_tensor_map *m) {
    uint32_t rows = 1;
    for (uint32_t i = 1; i < m->rank; i++)
        rows *= count_of(m, i);
    return rows;
}

static inline bool is_in_row(const wp_tensor_map *m, int64_t x, uint32_t count) {
    return x >= 0 && (uint64_t)x + count <= m->dimensions[0];
}

static uint64_t read_element(const void *at, uint32_t bytes) {
    switch (bytes) {
    case 1: return *(const uint8_t *)at;
    case 2: return *(const uint16_t *)at;
    case 4: return *(const uint32_t *)at;
    default: return *(const uint64_t *)at;
    }
}

static void write_element(void *at, uint32_t bytes, uint64_t value) {
    switch (bytes) {
    case 1: *(uint8_t *)at = (uint8_t)value; break;
    case 2: *(uint16_t *)at = (uint16_t)value; break;
    case 4: *(uint32_t *)at = (uint32_t)value; break;
    default: *(uint64_t *)at = value; break;
    }
}

static uint64_t fill_of(const wp_tensor_map *m) {
    if (!m->fills_nan) return 0;
    switch (m->type) {
    case WP_TENSOR_F16:
    case WP_TENSOR_BF16: return 0x7fff;
    case WP_TENSOR_F64: return UINT64_C(0x7fffffffffffffff);
    default: return 0x7fffffff;
    }
}

static inline bool flushes(const wp_tensor_map *m) {
    return m->type == WP_TENSOR_F32_FTZ || m->type == WP_TENSOR_TF32_FTZ;
}

static void check(const wp_tensor_map *m) {
    if (m->mark != WP_TENSOR_MARK) __builtin_trap();
}

static void load_piece(const wp_tensor_map *m, char *to, const row *r, int64_t x, uint32_t bytes) {
    for (uint32_t i = 0; i < PIECE_BYTES / bytes; i++) {
        uint64_t value = fill_of(m);
        if (r->is_inside && is_in_row(m, x + i, 1)) {
            value = read_element(r->at + (x + i) * bytes, bytes);
            if (flushes(m) && (value & 0x7f800000u) == 0) value &= 0x80000000u;
        }
        write_element(to + i * bytes, bytes, value);
    }
}

/* To shared memory. Gives the bytes of the box, those outside the tensor too. */
uint32_t __wp_tensor_load(char *to, const wp_tensor_map *m, int32_t c0, int32_t c1, int32_t c2,
                          int32_t c3, int32_t c4) {
    check(m);
    const int32_t coordinates[WP_TENSOR_RANK_MAX] = {c0, c1, c2, c3, c4};
    const uint32_t bytes = wpi_tensor_element_bytes(m->type), each = PIECE_BYTES / bytes;
    const uint32_t row_bytes = m->box[0] * bytes, rows = rows_of(m);
    for (uint32_t i = 0; i < rows; i++, to += row_bytes) {
        const row r = row_at(m, i, coordinates);
        const char *from = r.at + (int64_t)c0 * bytes;
        const bool is_plain = r.is_inside && is_in_row(m, c0, m->box[0]) && !flushes(m) &&
                              (uintptr_t)from % PIECE_BYTES == 0;
        uint32_t done = 0;
        for (; is_plain && done + HELD * PIECE_BYTES <= row_bytes; done += HELD * PIECE_BYTES) {
            const piece *const four = (const piece *)(from + done);
            const piece a = four[0], b = four[1], c = four[2], d = four[3];
            *(piece *)swizzled(m, to + done) = a;
            *(piece *)swizzled(m, to + done + PIECE_BYTES) = b;
            *(piece *)swizzled(m, to + done + 2 * PIECE_BYTES) = c;
            *(piece *)swizzled(m, to + done + 3 * PIECE_BYTES) = d;
        }
        for (; done < row_bytes; done += PIECE_BYTES) {
            if (is_plain)
                *(piece *)swizzled(m, to + done) = *(const piece *)(from + done);
            else
                load_piece(m, swizzled(m, to + done), &r, c0 + (int64_t)(done / PIECE_BYTES * each),
                           bytes);
        }
    }
    return rows * row_bytes;
}

void __wp_tensor_store(const char *from, const wp_tensor_map *m, int32_t c0, int32_t c1, int32_t c2,
                       int32_t c3, int32_t c4) {
    check(m);
    const int32_t coordinates[WP_TENSOR_RANK_MAX] = {c0, c1, c2, c3, c4};
    const uint32_t bytes = wpi_tensor_element_bytes(m->type), each = PIECE_BYTES / bytes;
    const uint32_t row_bytes = m->box[0] * bytes, rows = rows_of(m);
    for (uint32_t i = 0; i < rows; i++, from += row_bytes) {
        const row r = row_at(m, i, coordinates);
        if (!r.is_inside) continue;
        for (uint32_t done = 0; done < row_bytes; done += PIECE_BYTES) {
            const int64_t x = c0 + (int64_t)(done / PIECE_BYTES * each);
            const char *piece_at = swizzled(m, (char *)from + done);
            char *to = r.at + x * bytes;
            if (is_in_row(m, x, each) && (uintptr_t)to % PIECE_BYTES == 0) {
                *(piece *)to = *(const piece *)piece_at;
                continue;
            }
            for (uint32_t k = 0; k < each; k++)
                if (is_in_row(m, x + k, 1))
                    write_element(to + k * bytes, bytes, read_element(piece_at + k * bytes, bytes));
        }
    }
}

/* Ends the kernel if a product's descriptor leads outside of shared memory. */
void __wp_tensor_check(uint32_t status) {
    if (status != 0) __builtin_trap();
}

/* ---- reductions ---- */

/* The operations of ops_tensor_copy.c, in its order. */
enum { ADD, MIN, MAX, INC, DEC, AND, OR, XOR };

uint16_t __wp_ptx_atom_add_f16(void *at, uint16_t value);
uint16_t __wp_ptx_atom_min_f16(void *at, uint16_t value);
uint16_t __wp_ptx_atom_max_f16(void *at, uint16_t value);
uint16_t __wp_ptx_atom_add_bf16(void *at, uint16_t value);
uint16_t __wp_ptx_atom_min_bf16(void *at, uint16_t value);
uint16_t __wp_ptx_atom_max_bf16(void *at, uint16_t value);

static void reduce_half(void *at, uint32_t operation, uint16_t value) {
    switch (operation) {
    case ADD: (void)__wp_ptx_atom_add_f16(at, value); break;
    case MIN: (void)__wp_ptx_atom_min_f16(at, value); break;
    case MAX: (void)__wp_ptx_atom_max_f16(at, value); break;
    default: __builtin_trap();
    }
}

static void reduce_bfloat(void *at, uint32_t operation, uint16_t value) {
    switch (operation) {
    case ADD: (void)__wp_ptx_atom_add_bf16(at, value); break;
    case MIN: (void)__wp_ptx_atom_min_bf16(at, value); break;
    case MAX: (void)__wp_ptx_atom_max_bf16(at, value); break;
    default: __builtin_trap();
    }
}

#define REDUCE_INTEGER(name, type, counts)                                                         \
    static void name(type *at, uint32_t operation, type value) {                                   \
        switch (operation) {                                                                       \
        case ADD: (void)__atomic_fetch_add(at, value, __ATOMIC_RELAXED); return;                   \
        case MIN: (void)__atomic_fetch_min(at, value, __ATOMIC_RELAXED); return;                   \
        case MAX: (void)__atomic_fetch_max(at, value, __ATOMIC_RELAXED); return;                   \
        case AND: (void)__atomic_fetch_and(at, value, __ATOMIC_RELAXED); return;                   \
        case OR: (void)__atomic_fetch_or(at, value, __ATOMIC_RELAXED); return;                     \
        case XOR: (void)__atomic_fetch_xor(at, value, __ATOMIC_RELAXED); return;                   \
        default: break;                                                                            \
        }                                                                                          \
        if (!(counts)) __builtin_trap();                                                           \
        type old = *at, made;                                                                      \
        do {                                                                                       \
            if (operation == INC)                                                                  \
                made = old >= value ? 0 : old + 1;                                                 \
            else                                                                                   \
                made = old == 0 || old > value ? value : old - 1;                                  \
        } while (!__atomic_compare_exchange_n(at, &old, made, false, __ATOMIC_RELAXED,             \
                                              __ATOMIC_RELAXED));                                  \
    }
REDUCE_INTEGER(reduce_u32, uint32_t, true)
REDUCE_INTEGER(reduce_s32, int32_t, false)
REDUCE_INTEGER(reduce_u64, uint64_t, true)
REDUCE_INTEGER(reduce_s64, int64_t, false)

static void reduce_float(float *at, uint32_t operation, float value) {
    if (operation != ADD) __builtin_trap();
    (void)__atomic_fetch_add(at, value, __ATOMIC_RELAXED);
}

static void reduce_double(double *at, uint32_t operation, double value) {
    if (operation != ADD) __builtin_trap();
    (void)__atomic_fetch_add(at, value, __ATOMIC_RELAXED);
}

static void reduce_element(const wp_tensor_map *m, uint32_t operation, char *to, const char *from) {
    switch (m->type) {
    case WP_TENSOR_U32: reduce_u32((uint32_t *)to, operation, *(const uint32_t *)from); break;
    case WP_TENSOR_S32: reduce_s32((int32_t *)to, operation, *(const int32_t *)from); break;
    case WP_TENSOR_U64: reduce_u64((uint64_t *)to, operation, *(const uint64_t *)from); break;
    case WP_TENSOR_S64: reduce_s64((int64_t *)to, operation, *(const int64_t *)from); break;
    case WP_TENSOR_F16: reduce_half(to, operation, *(const uint16_t *)from); break;
    case WP_TENSOR_BF16: reduce_bfloat(to, operation, *(const uint16_t *)from); break;
    case WP_TENSOR_F64: reduce_double((double *)to, operation, *(const double *)from); break;
    case WP_TENSOR_U8:
    case WP_TENSOR_U16: __builtin_trap();
    default: reduce_float((float *)to, operation, *(const float *)from); break;
    }
}

void __wp_tensor_reduce(const char *from, const wp_tensor_map *m, int32_t c0, int32_t c1,
                        int32_t c2, int32_t c3, int32_t c4, uint32_t operation) {
    check(m);
    const int32_t coordinates[WP_TENSOR_RANK_MAX] = {c0, c1, c2, c3, c4};
    const uint32_t bytes = wpi_tensor_element_bytes(m->type);
    const uint32_t row_bytes = m->box[0] * bytes, rows = rows_of(m);
    for (uint32_t i = 0; i < rows; i++, from += row_bytes) {
        const row r = row_at(m, i, coordinates);
        for (uint32_t k = 0; r.is_inside && k < m->box[0]; k++) {
            const uint32_t done = k * bytes, in_piece = done % PIECE_BYTES;
            const int64_t x = c0 + (int64_t)k;
            if (is_in_row(m, x, 1))
                reduce_element(m, operation, r.at + x * bytes,
                               swizzled(m, (char *)from + (done - in_piece)) + in_piece);
        }
    }
}

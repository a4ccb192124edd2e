/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The `__wp_*` functions of kernels (include/warpage/cuda/wp/symbols.h) on NVIDIA GPUs: warp
 * operations without a mask, reductions, the grid barrier, address spaces, textures, surfaces.
 */
#include "device/cuda/nvptxlib/nvptxlib.h"

/* ---- among the lanes that are there together ---- */

uint32_t __wp_activemask(void) WP_CONVERGENT;
int __wp_shfl_idx_active(int value, int lane, int c) WP_CONVERGENT;
int __wp_shfl_up_active(int value, int delta, int c) WP_CONVERGENT;
int __wp_shfl_down_active(int value, int delta, int c) WP_CONVERGENT;
int __wp_shfl_bfly_active(int value, int lane_mask, int c) WP_CONVERGENT;
int __wp_vote_all_active(int pred) WP_CONVERGENT;
int __wp_vote_any_active(int pred) WP_CONVERGENT;
uint32_t __wp_vote_ballot_active(int pred) WP_CONVERGENT;

uint32_t __wp_activemask(void) {
    return __nvvm_activemask();
}
int __wp_shfl_idx_active(int value, int lane, int c) {
    return __nvvm_shfl_sync_idx_i32(__nvvm_activemask(), value, lane, c);
}
int __wp_shfl_up_active(int value, int delta, int c) {
    return __nvvm_shfl_sync_up_i32(__nvvm_activemask(), value, delta, c);
}
int __wp_shfl_down_active(int value, int delta, int c) {
    return __nvvm_shfl_sync_down_i32(__nvvm_activemask(), value, delta, c);
}
int __wp_shfl_bfly_active(int value, int lane_mask, int c) {
    return __nvvm_shfl_sync_bfly_i32(__nvvm_activemask(), value, lane_mask, c);
}
int __wp_vote_all_active(int pred) {
    return __nvvm_vote_all_sync(__nvvm_activemask(), pred != 0);
}
int __wp_vote_any_active(int pred) {
    return __nvvm_vote_any_sync(__nvvm_activemask(), pred != 0);
}
uint32_t __wp_vote_ballot_active(int pred) {
    return __nvvm_vote_ballot_sync(__nvvm_activemask(), pred != 0);
}

/* ---- waiting ---- */

void __wp_host_pause(void);
void __wp_host_pause(void) {
}

/* ---- reductions: sm_80 has an instruction, which wpcc puts in place of these ---- */

/* All lanes: by halves. Some: one after the other. */
#define REDUX(name, type, combine)                                                                 \
    type __wp_redux_##name(uint32_t mask, type value) WP_CONVERGENT;                               \
    type __wp_redux_##name(uint32_t mask, type value) {                                            \
        if (mask == 0xffffffffu) {                                                                 \
            for (int step = 16; step > 0; step >>= 1) {                                            \
                const type a = value;                                                              \
                const type b = (type)__nvvm_shfl_sync_bfly_i32(mask, (int)value, step, 0x1f);      \
                value = combine;                                                                   \
            }                                                                                      \
            return value;                                                                          \
        }                                                                                          \
        const int first = __builtin_ctz(mask);                                                     \
        type a = (type)__nvvm_shfl_sync_idx_i32(mask, (int)value, first, 0x1f);                    \
        for (uint32_t rest = mask & (mask - 1); rest != 0; rest &= rest - 1) {                     \
            const int lane = __builtin_ctz(rest);                                                  \
            const type b = (type)__nvvm_shfl_sync_idx_i32(mask, (int)value, lane, 0x1f);           \
            a = combine;                                                                           \
        }                                                                                          \
        return a;                                                                                  \
    }
REDUX(add, uint32_t, a + b)
REDUX(and, uint32_t, a &b)
REDUX(or, uint32_t, a | b)
REDUX(xor, uint32_t, a ^ b)
REDUX(umin, uint32_t, a < b ? a : b)
REDUX(umax, uint32_t, a > b ? a : b)
REDUX(min, int, a < b ? a : b)
REDUX(max, int, a > b ? a : b)

/* ---- the grid barrier ----
 *
 * The driver gives a cooperative launch a workspace in global memory, its address in %envreg1
 * (high) and %envreg2 (low): the size, then a word for the barrier, which begins as 0. Each block
 * adds 1, the first one as much more as carries the sum to the top bit: the barrier is complete
 * when that bit has changed, and the word is ready for the next one. */
typedef struct workspace {
    uint32_t size_bytes;
    uint32_t barrier;
} workspace;

static workspace *launch_workspace(void) {
    uint32_t high, low;
    __asm__("mov.u32 %0, %%envreg1;" : "=r"(high));
    __asm__("mov.u32 %0, %%envreg2;" : "=r"(low));
    return (workspace *)((uint64_t)high << 32 | low);
}

int __wp_grid_is_valid(void);
int __wp_grid_is_valid(void) {
    return launch_workspace() != 0;
}

void __wp_grid_sync(void) WP_CONVERGENT;
void __wp_grid_sync(void) {
    const uint32_t turn = 0x80000000u;
    __syncthreads();
    if ((__nvvm_read_ptx_sreg_tid_x() | __nvvm_read_ptx_sreg_tid_y() |
         __nvvm_read_ptx_sreg_tid_z()) == 0) {
        workspace *space = launch_workspace();
        const uint32_t blocks = (uint32_t)__nvvm_read_ptx_sreg_nctaid_x() *
                                (uint32_t)__nvvm_read_ptx_sreg_nctaid_y() *
                                (uint32_t)__nvvm_read_ptx_sreg_nctaid_z();
        const int is_first = (__nvvm_read_ptx_sreg_ctaid_x() | __nvvm_read_ptx_sreg_ctaid_y() |
                              __nvvm_read_ptx_sreg_ctaid_z()) == 0;
        if (space == 0) {
            __builtin_trap(); /* not a cooperative launch */
        }
        volatile uint32_t *barrier = &space->barrier;
        __nvvm_membar_gl(); /* the block's writes are visible before its arrival */
        const uint32_t before = (uint32_t)__nvvm_atom_add_gen_i(
            (int *)&space->barrier, (int)(is_first ? turn - (blocks - 1) : 1));
        while (((before ^ *barrier) & turn) == 0) {
        }
        __nvvm_membar_gl();
    }
    __syncthreads();
}

/* ---- address spaces ---- */

uint32_t __wp_is_global(const void *pointer);
uint32_t __wp_is_shared(const void *pointer);
uint32_t __wp_is_constant(const void *pointer);
uint32_t __wp_is_local(const void *pointer);
uint32_t __wp_is_global(const void *pointer) {
    return __nvvm_isspacep_global(pointer);
}
uint32_t __wp_is_shared(const void *pointer) {
    return __nvvm_isspacep_shared(pointer);
}
uint32_t __wp_is_constant(const void *pointer) {
    return __nvvm_isspacep_const(pointer);
}
uint32_t __wp_is_local(const void *pointer) {
    return __nvvm_isspacep_local(pointer);
}

/* ---- textures: objects, by their 64-bit handle ---- */

enum { /* wp_tex_kind of base/abi.h */
       KIND_1D_FETCH,
       KIND_1D,
       KIND_2D,
       KIND_3D,
       KIND_1D_LAYERED,
       KIND_2D_LAYERED,
       KIND_CUBE,
       KIND_CUBE_LAYERED,
       KIND_2D_GATHER
};

/* The four components as bits, which the caller interprets. */
#define TEX(instruction, coordinates, ...)                                                         \
    __asm__(instruction " {%0, %1, %2, %3}, [%4, " coordinates "];"                                \
            : "=r"(out[0]), "=r"(out[1]), "=r"(out[2]), "=r"(out[3])                               \
            : "l"(texture), __VA_ARGS__)

void __wp_tex(uint64_t texture, uint32_t kind, float x, float y, float z, int ix, uint32_t *out)
    __attribute__((always_inline));
void __wp_tex(uint64_t texture, uint32_t kind, float x, float y, float z, int ix, uint32_t *out) {
    switch (kind) {
    case KIND_1D_FETCH: TEX("tex.1d.v4.u32.s32", "{%5}", "r"(ix)); break;
    case KIND_1D: TEX("tex.1d.v4.u32.f32", "{%5}", "f"(x)); break;
    case KIND_2D: TEX("tex.2d.v4.u32.f32", "{%5, %6}", "f"(x), "f"(y)); break;
    case KIND_3D: TEX("tex.3d.v4.u32.f32", "{%5, %6, %7, %7}", "f"(x), "f"(y), "f"(z)); break;
    case KIND_1D_LAYERED: TEX("tex.a1d.v4.u32.f32", "{%5, %6}", "r"(ix), "f"(x)); break;
    case KIND_2D_LAYERED:
        TEX("tex.a2d.v4.u32.f32", "{%5, %6, %7, %7}", "r"(ix), "f"(x), "f"(y));
        break;
    case KIND_CUBE: TEX("tex.cube.v4.u32.f32", "{%5, %6, %7, %7}", "f"(x), "f"(y), "f"(z)); break;
    case KIND_CUBE_LAYERED:
        TEX("tex.acube.v4.u32.f32", "{%5, %6, %7, %8}", "r"(ix), "f"(x), "f"(y), "f"(z));
        break;
    case KIND_2D_GATHER:
        switch (ix) {
        case 0: TEX("tld4.r.2d.v4.u32.f32", "{%5, %6}", "f"(x), "f"(y)); break;
        case 1: TEX("tld4.g.2d.v4.u32.f32", "{%5, %6}", "f"(x), "f"(y)); break;
        case 2: TEX("tld4.b.2d.v4.u32.f32", "{%5, %6}", "f"(x), "f"(y)); break;
        default: TEX("tld4.a.2d.v4.u32.f32", "{%5, %6}", "f"(x), "f"(y)); break;
        }
        break;
    default: __builtin_trap();
    }
}

/* ---- surfaces ---- */

enum { SHAPE_1D, SHAPE_2D, SHAPE_3D, SHAPE_1D_LAYERED, SHAPE_2D_LAYERED }; /* wp_surf_shape */
enum { MODE_ZERO, MODE_CLAMP, MODE_TRAP };                                 /* wp_surf_mode */

/* One size of access: every shape, every mode. READ or WRITE puts the operands around. */
#define FOR_MODES(ACCESS, shape, coordinates, type, ...)                                           \
    switch (mode & 0xff) {                                                                         \
    case MODE_ZERO: ACCESS(shape, coordinates, type ".zero", __VA_ARGS__); break;                  \
    case MODE_CLAMP: ACCESS(shape, coordinates, type ".clamp", __VA_ARGS__); break;                \
    default: ACCESS(shape, coordinates, type ".trap", __VA_ARGS__); break;                         \
    }
#define FOR_SHAPES(ACCESS, type)                                                                   \
    switch (mode >> 8) {                                                                           \
    case SHAPE_1D: FOR_MODES(ACCESS, "1d", "{%[x]}", type, [x] "r"(x)) break;                      \
    case SHAPE_2D: FOR_MODES(ACCESS, "2d", "{%[x], %[y]}", type, [x] "r"(x), [y] "r"(y)) break;    \
    case SHAPE_3D:                                                                                 \
        FOR_MODES(ACCESS, "3d", "{%[x], %[y], %[z], %[z]}",                                        \
                  type, [x] "r"(x), [y] "r"(y), [z] "r"(z))                                        \
        break;                                                                                     \
    case SHAPE_1D_LAYERED:                                                                         \
        FOR_MODES(ACCESS, "a1d", "{%[z], %[x]}", type, [x] "r"(x), [z] "r"(z))                     \
        break;                                                                                     \
    case SHAPE_2D_LAYERED:                                                                         \
        FOR_MODES(ACCESS, "a2d", "{%[z], %[x], %[y], %[y]}",                                       \
                  type, [x] "r"(x), [y] "r"(y), [z] "r"(z))                                        \
        break;                                                                                     \
    default: __builtin_trap();                                                                     \
    }

#define READ(shape, coordinates, type, ...)                                                        \
    __asm__ volatile("suld.b." shape "." type " {%[v]}, [%[s], " coordinates "];"                  \
                     : [v] "=" REGISTER(v)                                                         \
                     : [s] "l"(surface), __VA_ARGS__                                               \
                     : "memory")
#define WRITE(shape, coordinates, type, ...)                                                       \
    __asm__ volatile("sust.b." shape "." type " [%[s], " coordinates "], {%[v]};"                  \
                     :                                                                             \
                     : [v] REGISTER(v), [s] "l"(surface), __VA_ARGS__                              \
                     : "memory")
#define READ_2(shape, coordinates, type, ...)                                                      \
    __asm__ volatile("suld.b." shape ".v2." type " {%[v], %[w]}, [%[s], " coordinates "];"         \
                     : [v] "=l"(v), [w] "=l"(w)                                                    \
                     : [s] "l"(surface), __VA_ARGS__                                               \
                     : "memory")
#define WRITE_2(shape, coordinates, type, ...)                                                     \
    __asm__ volatile("sust.b." shape ".v2." type " [%[s], " coordinates "], {%[v], %[w]};"         \
                     :                                                                             \
                     : [v] "l"(v), [w] "l"(w), [s] "l"(surface), __VA_ARGS__                       \
                     : "memory")

void __wp_surf_read(uint64_t surface, void *data, uint32_t bytes, int x, int y, int z,
                    uint32_t mode) __attribute__((always_inline));
void __wp_surf_read(uint64_t surface, void *data, uint32_t bytes, int x, int y, int z,
                    uint32_t mode) {
    switch (bytes) {
#define REGISTER "h"
    case 1: {
        uint16_t v;
        FOR_SHAPES(READ, "b8")
        *(uint8_t *)data = (uint8_t)v;
        break;
    }
    case 2: {
        uint16_t v;
        FOR_SHAPES(READ, "b16")
        __builtin_memcpy(data, &v, 2);
        break;
    }
#undef REGISTER
#define REGISTER "r"
    case 4: {
        uint32_t v;
        FOR_SHAPES(READ, "b32")
        __builtin_memcpy(data, &v, 4);
        break;
    }
#undef REGISTER
#define REGISTER "l"
    case 8: {
        uint64_t v;
        FOR_SHAPES(READ, "b64")
        __builtin_memcpy(data, &v, 8);
        break;
    }
    case 16: {
        uint64_t v, w;
        FOR_SHAPES(READ_2, "b64")
        __builtin_memcpy(data, &v, 8);
        __builtin_memcpy((char *)data + 8, &w, 8);
        break;
    }
    default: __builtin_trap();
    }
}
#undef REGISTER

void __wp_surf_write(uint64_t surface, const void *data, uint32_t bytes, int x, int y, int z,
                     uint32_t mode) __attribute__((always_inline));
void __wp_surf_write(uint64_t surface, const void *data, uint32_t bytes, int x, int y, int z,
                     uint32_t mode) {
    switch (bytes) {
#define REGISTER "h"
    case 1: {
        const uint16_t v = *(const uint8_t *)data;
        FOR_SHAPES(WRITE, "b8")
        break;
    }
    case 2: {
        uint16_t v;
        __builtin_memcpy(&v, data, 2);
        FOR_SHAPES(WRITE, "b16")
        break;
    }
#undef REGISTER
#define REGISTER "r"
    case 4: {
        uint32_t v;
        __builtin_memcpy(&v, data, 4);
        FOR_SHAPES(WRITE, "b32")
        break;
    }
#undef REGISTER
#define REGISTER "l"
    case 8: {
        uint64_t v;
        __builtin_memcpy(&v, data, 8);
        FOR_SHAPES(WRITE, "b64")
        break;
    }
    case 16: {
        uint64_t v, w;
        __builtin_memcpy(&v, data, 8);
        __builtin_memcpy(&w, (const char *)data + 8, 8);
        FOR_SHAPES(WRITE_2, "b64")
        break;
    }
    default: __builtin_trap();
    }
}

/* ---- C++ ---- */

/* The entry of a class's table for a virtual function without a definition. */
void __cxa_pure_virtual(void);
void __cxa_pure_virtual(void) {
    __builtin_trap();
}

/* ---- C ---- */

/* What assert calls, where a program declares it itself. */
void __assertfail(const char *expression, const char *file, uint32_t line, const char *function,
                  uint64_t char_bytes);
void __assert_fail(const char *expression, const char *file, uint32_t line, const char *function);
void __assert_fail(const char *expression, const char *file, uint32_t line, const char *function) {
    __assertfail(expression, file, line, function, 1);
}

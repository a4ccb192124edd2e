// Products of warpgroups (wgmma) against plain loops: shapes, types, both orders of both operands,
// all swizzles as tensor copies write them, A in registers, scales.
// FLAGS: -arch=sm_90a
// DEVICES: cpu sim:h200
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <cuda_runtime.h>

typedef unsigned long long word64;
enum { ROWS = 64, DEPTH_BYTES = 128, STEP_BYTES = 32, STEPS = DEPTH_BYTES / STEP_BYTES, GROUPS = 2 };

#define LIST4 \
    "{%0, %1, %2, %3}"
#define LIST8 \
    "{%0, %1, %2, %3, %4, %5, %6, %7}"
#define LIST16 \
    "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15}"
#define LIST128 \
    "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, " \
    "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, " \
    "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, " \
    "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, " \
    "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, " \
    "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, " \
    "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, " \
    "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127}"
#define REGISTERS4(c, i) c(d[i]), c(d[i + 1]), c(d[i + 2]), c(d[i + 3])
#define REGISTERS8(c, i) REGISTERS4(c, i), REGISTERS4(c, i + 4)
#define REGISTERS16(c, i) REGISTERS8(c, i), REGISTERS8(c, i + 8)
#define REGISTERS64(c, i) REGISTERS16(c, i), REGISTERS16(c, i + 16), REGISTERS16(c, i + 32), REGISTERS16(c, i + 48)
#define REGISTERS128(c, i) REGISTERS64(c, i), REGISTERS64(c, i + 64)

enum kind { F16, BF16, TF32, E4M3, E5M2, S8, U8, F32, S32 };

struct form {
    kind a, b, d;
    int columns;
    bool a_in_registers, a_across, b_across; // across: M or N is contiguous
    int a_sign, b_sign;
    bool saturates;
};

// With A in shared memory; next operands behind the registers: A, B, scale-d.
#define PRODUCT(name, text, list, registers, value_type, A, B, P, tail, ...)                       \
    struct name {                                                                                  \
        typedef value_type value;                                                                  \
        static constexpr form is = __VA_ARGS__;                                                    \
        static __device__ void run(value *d, const unsigned *, word64 a, word64 b, int adds) {     \
            asm volatile("{ .reg .pred p;\n\tsetp.ne.b32 p, " P ", 0;\n\t"                         \
                         "wgmma.mma_async.sync.aligned." text " " list ", " A ", " B ", p" tail    \
                         "; }"                                                                     \
                         : registers                                                               \
                         : "l"(a), "l"(b), "r"(adds));                                             \
        }                                                                                          \
    };
// With A in four registers, which come behind B and scale-d.
#define PRODUCT_OF_REGISTERS(name, text, list, registers, value_type, A, B, P, tail, ...)          \
    struct name {                                                                                  \
        typedef value_type value;                                                                  \
        static constexpr form is = __VA_ARGS__;                                                    \
        static __device__ void run(value *d, const unsigned *a, word64, word64 b, int adds) {      \
            asm volatile("{ .reg .pred p;\n\tsetp.ne.b32 p, " P ", 0;\n\t"                         \
                         "wgmma.mma_async.sync.aligned." text " " list ", " A ", " B ", p" tail    \
                         "; }"                                                                     \
                         : registers                                                               \
                         : "l"(b), "r"(adds), "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]));         \
        }                                                                                          \
    };
#define RF "+f"
#define RU "+r"

PRODUCT(halves, "m64n8k16.f32.f16.f16", LIST4, REGISTERS4(RF, 0), float, "%4", "%5", "%6", ", 1, 1, 0, 0",
        {F16, F16, F32, 8, false, false, false, 1, 1, false})
PRODUCT(halves_across, "m64n32k16.f32.f16.f16", LIST16, REGISTERS16(RF, 0), float, "%16", "%17", "%18",
        ", 1, -1, 1, 1", {F16, F16, F32, 32, false, true, true, 1, -1, false})
PRODUCT(wide, "m64n256k16.f32.bf16.bf16", LIST128, REGISTERS128(RF, 0), float, "%128", "%129", "%130",
        ", 1, 1, 0, 1", {BF16, BF16, F32, 256, false, false, true, 1, 1, false})
PRODUCT(to_halves, "m64n32k16.f16.f16.f16", LIST8, REGISTERS8(RU, 0), unsigned, "%8", "%9", "%10",
        ", -1, 1, 1, 0", {F16, F16, F16, 32, false, true, false, -1, 1, false})
PRODUCT(singles, "m64n32k8.f32.tf32.tf32", LIST16, REGISTERS16(RF, 0), float, "%16", "%17", "%18", ", 1, 1",
        {TF32, TF32, F32, 32, false, false, false, 1, 1, false})
PRODUCT(bytes, "m64n32k32.f32.e4m3.e5m2", LIST16, REGISTERS16(RF, 0), float, "%16", "%17", "%18", ", -1, -1",
        {E4M3, E5M2, F32, 32, false, false, false, -1, -1, false})
PRODUCT(bytes_to_halves, "m64n32k32.f16.e5m2.e4m3", LIST8, REGISTERS8(RU, 0), unsigned, "%8", "%9", "%10",
        ", 1, 1", {E5M2, E4M3, F16, 32, false, false, false, 1, 1, false})
PRODUCT(integers, "m64n16k32.s32.s8.u8", LIST8, REGISTERS8(RU, 0), unsigned, "%8", "%9", "%10", "",
        {S8, U8, S32, 16, false, false, false, 1, 1, false})
PRODUCT(saturated, "m64n8k32.s32.u8.s8.satfinite", LIST4, REGISTERS4(RU, 0), unsigned, "%4", "%5", "%6", "",
        {U8, S8, S32, 8, false, false, false, 1, 1, true})
PRODUCT_OF_REGISTERS(halves_held, "m64n8k16.f32.f16.f16", LIST4, REGISTERS4(RF, 0), float,
                     "{%6, %7, %8, %9}", "%4", "%5", ", 1, 1, 0",
                     {F16, F16, F32, 8, true, false, false, 1, 1, false})
PRODUCT_OF_REGISTERS(bfloats_held, "m64n8k16.f32.bf16.bf16", LIST4, REGISTERS4(RF, 0), float,
                     "{%6, %7, %8, %9}", "%4", "%5", ", -1, 1, 1",
                     {BF16, BF16, F32, 8, true, false, true, -1, 1, false})
PRODUCT_OF_REGISTERS(singles_held, "m64n8k8.f32.tf32.tf32", LIST4, REGISTERS4(RF, 0), float,
                     "{%6, %7, %8, %9}", "%4", "%5", ", 1, 1",
                     {TF32, TF32, F32, 8, true, false, false, 1, 1, false})
PRODUCT_OF_REGISTERS(bytes_held, "m64n8k32.f32.e4m3.e4m3", LIST4, REGISTERS4(RF, 0), float,
                     "{%6, %7, %8, %9}", "%4", "%5", ", 1, 1",
                     {E4M3, E4M3, F32, 8, true, false, false, 1, 1, false})
PRODUCT_OF_REGISTERS(integers_held, "m64n8k32.s32.s8.s8", LIST4, REGISTERS4(RU, 0), unsigned,
                     "{%6, %7, %8, %9}", "%4", "%5", "", {S8, S8, S32, 8, true, false, false, 1, 1, false})

// ---- the kernel ----

static __device__ unsigned at(const void *p) {
    return (unsigned)__cvta_generic_to_shared(p);
}

// A matrix in shared memory: boxes of `width` bytes and `lines` lines, one after the other.
struct place {
    unsigned width, lines, boxes;
    bool is_across;
};

static __device__ word64 descriptor(unsigned base, const place &m, unsigned step) {
    unsigned start, leading, stride;
    if (m.is_across) {
        start = base + step * 16 * m.width;
        leading = m.width == 16 ? 8 * 16 : m.lines * m.width;
        stride = m.width == 16 ? m.lines * 16 : 8 * m.width;
    } else {
        const unsigned column = step * STEP_BYTES;
        start = base + column / m.width * m.lines * m.width + column % m.width;
        leading = m.width == 16 ? m.lines * 16 : 16;
        stride = 8 * m.width;
    }
    const word64 layout = m.width == 128 ? 1 : m.width == 64 ? 2 : m.width == 32 ? 3 : 0;
    return (start & 0x3ffff) >> 4 | (word64)(leading >> 4) << 16 | (word64)(stride >> 4) << 32 | layout << 62;
}

static __device__ void load_all(void *to, const CUtensorMap *map, const place &m, unsigned elements,
                                word64 *barrier) {
    for (unsigned i = 0; i < m.boxes; i++)
        asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
                     " [%0], [%1, {%2, %3}], [%4];" ::"r"(at(to) + i * m.width * m.lines),
                     "l"(map), "r"(i * elements), "r"(0), "r"(at(barrier))
                     : "memory");
}

template <class P>
__global__ void __launch_bounds__(128 * GROUPS) multiply(const __grid_constant__ CUtensorMap a_map,
                                                         const __grid_constant__ CUtensorMap b_map, place a_place,
                                                         place b_place, unsigned a_box, unsigned b_box,
                                                         const unsigned *held, typename P::value *out) {
    __shared__ alignas(1024) unsigned char a[ROWS * DEPTH_BYTES], b[P::is.columns * DEPTH_BYTES];
    __shared__ alignas(8) word64 barrier;
    constexpr int count = P::is.columns / (P::is.d == F16 ? 4 : 2);
    const unsigned t = threadIdx.x % 128;
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(at(&barrier)) : "memory");
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(at(&barrier)),
                     "r"((unsigned)(sizeof a + sizeof b))
                     : "memory");
        load_all(a, &a_map, a_place, a_box, &barrier);
        load_all(b, &b_map, b_place, b_box, &barrier);
    }
    __syncthreads();
    asm volatile("{ .reg .pred done;\n"
                 "again: mbarrier.try_wait.parity.shared::cta.b64 done, [%0], 0;\n"
                 "@!done bra again; }" ::"r"(at(&barrier))
                 : "memory");
    typename P::value d[count];
    for (int i = 0; i < count; i++)
        d[i] = (typename P::value)12345; // not read, as the first product is not added
    unsigned words[4 * STEPS] = {};
    for (int i = 0; P::is.a_in_registers && i < 4 * STEPS; i++)
        words[i] = held[i * 128 + t];
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
    for (int step = 0; step < STEPS; step++)
        P::run(d, words + 4 * step, descriptor(at(a), a_place, (unsigned)step),
               descriptor(at(b), b_place, (unsigned)step), step > 0);
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    for (int i = 0; i < count; i++)
        out[(threadIdx.x * count) + i] = d[i];
}

// ---- the host's side ----

static unsigned state = 20261128;
static unsigned next(unsigned limit) {
    state = state * 1664525u + 1013904223u;
    return (state >> 8) % limit;
}

static unsigned size_of(kind k) {
    return k == F16 || k == BF16 ? 2 : k == TF32 || k == F32 || k == S32 ? 4 : 1;
}

static unsigned encode(kind k, double value) {
    const float f = (float)value;
    unsigned bits = 0;
    switch (k) {
    case F16: {
        const __half h = __double2half(value);
        std::memcpy(&bits, &h, 2);
        break;
    }
    case BF16: {
        const __nv_bfloat16 h = __float2bfloat16(f);
        std::memcpy(&bits, &h, 2);
        break;
    }
    case E4M3: bits = __nv_cvt_float_to_fp8(f, __NV_SATFINITE, __NV_E4M3); break;
    case E5M2: bits = __nv_cvt_float_to_fp8(f, __NV_SATFINITE, __NV_E5M2); break;
    default: std::memcpy(&bits, &f, 4); break;
    }
    return bits;
}

static double decode(kind k, unsigned bits) {
    float f;
    switch (k) {
    case F16: {
        __half h;
        std::memcpy(&h, &bits, 2);
        return __half2float(h);
    }
    case BF16: bits <<= 16; break;
    case TF32: bits &= 0xffffe000u; break;
    case E4M3: return __half2float(__half(__nv_cvt_fp8_to_halfraw((__nv_fp8_storage_t)bits, __NV_E4M3)));
    case E5M2: return __half2float(__half(__nv_cvt_fp8_to_halfraw((__nv_fp8_storage_t)bits, __NV_E5M2)));
    case S8: return (signed char)bits;
    case U8: return (unsigned char)bits;
    case S32: return (int)bits;
    default: break;
    }
    std::memcpy(&f, &bits, 4);
    return f;
}

static int wrong = 0;

// A matrix of `lines` by DEPTH_BYTES, one line for each row of A or column of B; and as it lies in memory.
struct matrix {
    kind type;
    unsigned lines, depth;
    bool is_across;
    unsigned char *memory;
    unsigned bits(unsigned line, unsigned k) const {
        unsigned value = 0;
        std::memcpy(&value, at(line, k), size_of(type));
        return value;
    }
    unsigned char *at(unsigned line, unsigned k) const {
        return memory + (is_across ? k * lines + line : line * depth + k) * size_of(type);
    }
    void fill() {
        for (unsigned line = 0; line < lines; line++)
            for (unsigned k = 0; k < depth; k++) {
                const unsigned value = type == S8 || type == U8
                                           ? next(256)
                                           : encode(type, ((int)next(20001) - 10000) / 4000.0);
                std::memcpy(at(line, k), &value, size_of(type));
            }
    }
    CUtensorMap map(unsigned width, place *p, unsigned *box_elements) const {
        const unsigned along = is_across ? lines : depth, across = is_across ? depth : lines;
        const cuuint64_t size[2] = {along, across}, stride[1] = {along * size_of(type)};
        const cuuint32_t box[2] = {width / size_of(type), across}, step[2] = {1, 1};
        const CUtensorMapDataType types[4] = {CU_TENSOR_MAP_DATA_TYPE_UINT8, CU_TENSOR_MAP_DATA_TYPE_FLOAT16,
                                              CU_TENSOR_MAP_DATA_TYPE_UINT8, CU_TENSOR_MAP_DATA_TYPE_FLOAT32};
        const CUtensorMapSwizzle swizzle = width == 128  ? CU_TENSOR_MAP_SWIZZLE_128B
                                           : width == 64 ? CU_TENSOR_MAP_SWIZZLE_64B
                                           : width == 32 ? CU_TENSOR_MAP_SWIZZLE_32B
                                                         : CU_TENSOR_MAP_SWIZZLE_NONE;
        CUtensorMap map;
        if (cuTensorMapEncodeTiled(&map, types[size_of(type) - 1], 2, memory, size, stride, box, step,
                                   CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle, CU_TENSOR_MAP_L2_PROMOTION_NONE,
                                   CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) != CUDA_SUCCESS) {
            std::printf("a map is refused\n");
            wrong++;
        }
        *p = {width, across, along * size_of(type) / width, is_across};
        *box_elements = box[0];
        return map;
    }
};

// As one instruction computes: exact products, in the order of K, rounded once.
static unsigned expected(const form &f, const matrix &a, const matrix &b, unsigned row, unsigned column) {
    const unsigned each = STEP_BYTES / size_of(f.a);
    double sum = 0;
    for (unsigned step = 0; step < STEPS; step++) {
        for (unsigned k = step * each; k < (step + 1) * each; k++)
            sum += f.a_sign * decode(f.a, a.bits(row, k)) * (f.b_sign * decode(f.b, b.bits(column, k)));
        if (f.d == F16)
            sum = decode(F16, encode(F16, sum));
        else if (f.d == F32)
            sum = (double)(float)sum;
    }
    return f.d == S32 ? (unsigned)(int)sum : encode(f.d, sum);
}

template <class P> static void test(const char *name, unsigned a_width, unsigned b_width) {
    const form f = P::is;
    const unsigned columns = (unsigned)f.columns, depth = DEPTH_BYTES / size_of(f.a);
    const unsigned count = columns / (f.d == F16 ? 4 : 2), threads = 128 * GROUPS;
    matrix a = {f.a, ROWS, depth, f.a_across, nullptr}, b = {f.b, columns, depth, f.b_across, nullptr};
    typename P::value *out;
    unsigned *held, a_box, b_box;
    cudaMallocManaged(&a.memory, ROWS * DEPTH_BYTES);
    cudaMallocManaged(&b.memory, columns * DEPTH_BYTES);
    cudaMallocManaged(&out, threads * count * sizeof *out);
    cudaMallocManaged(&held, 128 * 4 * STEPS * sizeof *held);
    a.fill();
    b.fill();
    // A's registers: four bytes along K of a row, then eight rows below, then the next 16 bytes.
    for (unsigned i = 0; i < 4 * STEPS; i++)
        for (unsigned t = 0; t < 128; t++) {
            const unsigned row = t / 32 * 16 + i % 2 * 8 + t % 32 / 4;
            const unsigned byte = i / 4 * STEP_BYTES + i % 4 / 2 * 16 + t % 4 * 4;
            if (!f.a_across) std::memcpy(&held[i * 128 + t], a.memory + row * DEPTH_BYTES + byte, 4);
        }
    place a_place, b_place;
    const CUtensorMap a_map = a.map(a_width, &a_place, &a_box), b_map = b.map(b_width, &b_place, &b_box);
    multiply<P><<<1, threads>>>(a_map, b_map, a_place, b_place, a_box, b_box, held, out);
    const cudaError_t error = cudaDeviceSynchronize();
    if (error != cudaSuccess) {
        std::printf("%s: %s\n", name, cudaGetErrorString(error));
        std::exit(1);
    }
    unsigned differ = 0;
    for (unsigned t = 0; t < threads; t++)
        for (unsigned i = 0; i < columns / 2; i++) {
            const unsigned row = t % 128 / 32 * 16 + i / 2 % 2 * 8 + t % 32 / 4;
            const unsigned column = i / 4 * 8 + t % 4 * 2 + i % 2;
            unsigned got;
            std::memcpy(&got, &out[t * count + (f.d == F16 ? i / 2 : i)], 4);
            if (f.d == F16) got = got >> i % 2 * 16 & 0xffff;
            differ += got != expected(f, a, b, row, column);
        }
    if (differ != 0) std::printf("%s: %u wrong, widths %u and %u\n", name, differ, a_width, b_width);
    wrong += differ != 0;
    cudaFree(a.memory);
    cudaFree(b.memory);
    cudaFree(out);
    cudaFree(held);
}
#define TEST(name, a_width, b_width) test<name>(#name, a_width, b_width)

int main() {
    cudaFree(nullptr);
    for (unsigned width = 16; width <= 128; width *= 2) {
        TEST(halves, width, 16 * 128 / width);
        TEST(halves_across, width, width > 64 ? 16 : width);
    }
    TEST(wide, 128, 128);
    TEST(wide, 64, 16);
    TEST(to_halves, 32, 128);
    TEST(singles, 128, 64);
    TEST(bytes, 16, 128);
    TEST(bytes_to_halves, 64, 32);
    TEST(integers, 128, 16);
    TEST(saturated, 32, 64);
    TEST(halves_held, 128, 128);
    TEST(bfloats_held, 16, 16);
    TEST(singles_held, 16, 32);
    TEST(bytes_held, 16, 64);
    TEST(integers_held, 16, 128);
    std::printf(wrong == 0 ? "PASS\n" : "FAIL: seed 20261128\n");
    return wrong != 0;
}

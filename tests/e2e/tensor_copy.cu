// Copies of tensors by maps (TMA): boxes of all ranks, element types and swizzles against plain
// loops, inside and outside the tensor; stores, sums; multicast; maps of all places; errors.
// FLAGS: -arch=sm_90
// DEVICES: cpu sim:h200
#include <cooperative_groups.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda.h>
#include <cuda_runtime.h>

typedef unsigned long long word64;
enum { SHARED_BYTES = 8192, TENSOR_BYTES = 16384, CASES = 48 };

static __device__ unsigned at(const void *p) {
    return (unsigned)__cvta_generic_to_shared(p);
}
static __device__ void init(word64 *barrier, unsigned count) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(at(barrier)), "r"(count) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}
static __device__ void expect(word64 *barrier, unsigned bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(at(barrier)), "r"(bytes)
                 : "memory");
}
static __device__ void wait(word64 *barrier, unsigned parity) {
    asm volatile("{ .reg .pred done;\n"
                 "again: mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
                 "@!done bra again; }" ::"r"(at(barrier)),
                 "r"(parity)
                 : "memory");
}

struct place {
    int rank, x[5];
};

static __device__ void load(void *to, const CUtensorMap *map, const place &p, word64 *barrier) {
    switch (p.rank) {
    case 1:
        asm volatile("cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
                     " [%0], [%1, {%2}], [%3];" ::"r"(at(to)),
                     "l"(map), "r"(p.x[0]), "r"(at(barrier))
                     : "memory");
        break;
    case 2:
        asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes"
                     ".L2::cache_hint [%0], [%1, {%2, %3}], [%4], %5;" ::"r"(at(to)),
                     "l"(map), "r"(p.x[0]), "r"(p.x[1]), "r"(at(barrier)), "l"(0x1000000000000000ull)
                     : "memory");
        break;
    case 3:
        asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
                     " [%0], [%1, {%2, %3, %4}], [%5];" ::"r"(at(to)),
                     "l"(map), "r"(p.x[0]), "r"(p.x[1]), "r"(p.x[2]), "r"(at(barrier))
                     : "memory");
        break;
    case 4:
        asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.mbarrier::complete_tx::bytes"
                     " [%0], [%1, {%2, %3, %4, %5}], [%6];" ::"r"(at(to)),
                     "l"(map), "r"(p.x[0]), "r"(p.x[1]), "r"(p.x[2]), "r"(p.x[3]), "r"(at(barrier))
                     : "memory");
        break;
    default:
        asm volatile("cp.async.bulk.tensor.5d.shared::cluster.global.mbarrier::complete_tx::bytes"
                     " [%0], [%1, {%2, %3, %4, %5, %6}], [%7];" ::"r"(at(to)),
                     "l"(map), "r"(p.x[0]), "r"(p.x[1]), "r"(p.x[2]), "r"(p.x[3]), "r"(p.x[4]),
                     "r"(at(barrier))
                     : "memory");
    }
}

static __device__ void store(const CUtensorMap *map, const place &p, const void *from) {
    switch (p.rank) {
    case 1:
        asm volatile("cp.async.bulk.tensor.1d.global.shared::cta.bulk_group [%0, {%1}], [%2];" ::"l"(map),
                     "r"(p.x[0]), "r"(at(from))
                     : "memory");
        break;
    case 2:
        asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group"
                     " [%0, {%1, %2}], [%3];" ::"l"(map),
                     "r"(p.x[0]), "r"(p.x[1]), "r"(at(from))
                     : "memory");
        break;
    case 3:
        asm volatile("cp.async.bulk.tensor.3d.global.shared::cta.bulk_group"
                     " [%0, {%1, %2, %3}], [%4];" ::"l"(map),
                     "r"(p.x[0]), "r"(p.x[1]), "r"(p.x[2]), "r"(at(from))
                     : "memory");
        break;
    case 4:
        asm volatile("cp.async.bulk.tensor.4d.global.shared::cta.bulk_group"
                     " [%0, {%1, %2, %3, %4}], [%5];" ::"l"(map),
                     "r"(p.x[0]), "r"(p.x[1]), "r"(p.x[2]), "r"(p.x[3]), "r"(at(from))
                     : "memory");
        break;
    default:
        asm volatile("cp.async.bulk.tensor.5d.global.shared::cta.bulk_group"
                     " [%0, {%1, %2, %3, %4, %5}], [%6];" ::"l"(map),
                     "r"(p.x[0]), "r"(p.x[1]), "r"(p.x[2]), "r"(p.x[3]), "r"(p.x[4]), "r"(at(from))
                     : "memory");
    }
    asm volatile("cp.async.bulk.commit_group;\n\tcp.async.bulk.wait_group 0;" ::: "memory");
}

// Loads a box, shows shared memory as it is, and stores the box elsewhere by another map.
__global__ void move(const __grid_constant__ CUtensorMap in, const __grid_constant__ CUtensorMap out,
                     place p, unsigned bytes, unsigned char *seen) {
    __shared__ alignas(1024) unsigned char box[SHARED_BYTES];
    __shared__ alignas(8) word64 barrier;
    if (threadIdx.x == 0) {
        asm volatile("prefetch.tensormap [%0];" ::"l"(&in) : "memory");
        init(&barrier, 1);
        expect(&barrier, bytes);
        load(box, &in, p, &barrier);
    }
    __syncthreads();
    wait(&barrier, 0);
    for (unsigned i = threadIdx.x; i < (bytes + 127) / 128 * 128; i += blockDim.x)
        seen[i] = box[i]; // a swizzle moves pieces within lines of 128 bytes
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (threadIdx.x == 0) store(&out, p, box);
}

static unsigned state = 20261128;
static unsigned next(unsigned limit) {
    state = state * 1664525u + 1013904223u;
    return (state >> 8) % limit;
}

static const struct {
    CUtensorMapDataType type;
    unsigned bytes;
    bool is_float;
} types[] = {{CU_TENSOR_MAP_DATA_TYPE_UINT8, 1, false},     {CU_TENSOR_MAP_DATA_TYPE_UINT16, 2, false},
             {CU_TENSOR_MAP_DATA_TYPE_UINT32, 4, false},    {CU_TENSOR_MAP_DATA_TYPE_INT32, 4, false},
             {CU_TENSOR_MAP_DATA_TYPE_UINT64, 8, false},    {CU_TENSOR_MAP_DATA_TYPE_INT64, 8, false},
             {CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, true},    {CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 4, true},
             {CU_TENSOR_MAP_DATA_TYPE_FLOAT64, 8, true},    {CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, true},
             {CU_TENSOR_MAP_DATA_TYPE_TFLOAT32, 4, true}};

typedef CUresult (*encode_fn)(CUtensorMap *, CUtensorMapDataType, cuuint32_t, void *, const cuuint64_t *,
                              const cuuint64_t *, const cuuint32_t *, const cuuint32_t *,
                              CUtensorMapInterleave, CUtensorMapSwizzle, CUtensorMapL2promotion,
                              CUtensorMapFloatOOBfill);
static encode_fn encode;

struct tensor {
    unsigned rank, type, swizzle;
    bool fills_nan;
    cuuint64_t size[5], stride[5]; // stride[i]: bytes of dimension i
    cuuint32_t box[5], step[5];
    unsigned bytes() const { return types[type].bytes; }
    unsigned count(unsigned i) const { return i == 0 ? box[0] : (box[i] + step[i] - 1) / step[i]; }
    unsigned elements() const {
        unsigned n = 1;
        for (unsigned i = 0; i < rank; i++)
            n *= count(i);
        return n;
    }
    CUresult map(CUtensorMap *out, void *at) const {
        return encode(out, types[type].type, rank, at, size, stride + 1, box, step,
                      CU_TENSOR_MAP_INTERLEAVE_NONE, (CUtensorMapSwizzle)swizzle,
                      CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
                      fills_nan ? CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA
                                : CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    }
};

static tensor random_tensor(unsigned i) {
    tensor t = {};
    for (;;) {
        t.rank = 1 + i % 5;
        t.type = next(sizeof types / sizeof *types);
        t.swizzle = next(4);
        t.fills_nan = types[t.type].is_float && next(2);
        const unsigned limit = t.swizzle ? 16u << t.swizzle : 160;
        unsigned wide = 16 * (1 + next(limit / 16));
        t.box[0] = wide / t.bytes();
        t.size[0] = 1 + next(2 * t.box[0]);
        t.stride[0] = t.bytes();
        t.step[0] = 1;
        cuuint64_t extent = t.size[0] * t.bytes();
        for (unsigned d = 1; d < t.rank; d++) {
            t.stride[d] = (extent + 15) / 16 * 16 + 16 * next(2);
            t.size[d] = 1 + next(t.rank > 3 ? 4 : 12);
            t.step[d] = next(3) ? 1 : 1 + next(3);
            t.box[d] = 1 + next(t.rank > 3 ? 4 : 10);
            extent = t.stride[d] * t.size[d];
        }
        if (t.box[0] <= 256 && t.elements() * t.bytes() <= SHARED_BYTES && extent <= TENSOR_BYTES) return t;
    }
}

static int wrong = 0;
static void check(bool is_good, const char *what, int i) {
    if (is_good) return;
    if (wrong++ < 10) std::printf("wrong: %s, %d\n", what, i);
}

static bool is_nan(const unsigned char *p, unsigned type) {
    word64 v = 0;
    std::memcpy(&v, p, types[type].bytes);
    switch (types[type].type) {
    case CU_TENSOR_MAP_DATA_TYPE_FLOAT16: return (v & 0x7fff) > 0x7c00;
    case CU_TENSOR_MAP_DATA_TYPE_BFLOAT16: return (v & 0x7fff) > 0x7f80;
    case CU_TENSOR_MAP_DATA_TYPE_FLOAT64: return (v & ~0ull >> 1) > 0x7ff0000000000000ull;
    default: return (v & 0x7fffffff) > 0x7f800000;
    }
}

static void one_case(int i, unsigned char *in, unsigned char *out, unsigned char *seen) {
    const tensor t = random_tensor((unsigned)i);
    place p = {(int)t.rank, {}};
    for (unsigned d = 0; d < t.rank; d++)
        p.x[d] = (int)next((unsigned)t.size[d] + 2) - (next(3) == 0 ? (int)t.box[d] / 2 : 0);
    CUtensorMap from, to;
    check(t.map(&from, in) == CUDA_SUCCESS && t.map(&to, in) == CUDA_SUCCESS, "encode", i);
    check(cuTensorMapReplaceAddress(&to, out) == CUDA_SUCCESS, "another address", i);
    const unsigned bytes = t.bytes(), all = t.elements();
    std::memset(out, 0xa5, TENSOR_BYTES);
    std::memset(seen, 0x5a, SHARED_BYTES);
    move<<<1, 64>>>(from, to, p, all * bytes, seen);
    const cudaError_t error = cudaDeviceSynchronize();
    if (error != cudaSuccess) {
        std::printf("case %d: %s\n", i, cudaGetErrorString(error));
        std::exit(1);
    }
    static unsigned char expected[TENSOR_BYTES];
    std::memset(expected, 0xa5, TENSOR_BYTES);
    for (unsigned n = 0; n < all; n++) {
        bool is_inside = true;
        long long offset = 0;
        unsigned left = n;
        for (unsigned d = 0; d < t.rank; d++) {
            const long long x = p.x[d] + (long long)(left % t.count(d)) * t.step[d];
            left /= t.count(d);
            is_inside = is_inside && x >= 0 && x < (long long)t.size[d];
            offset += x * (long long)t.stride[d];
        }
        unsigned where = n * bytes;
        where ^= (where >> 7 & ((1u << t.swizzle) - 1)) << 4;
        const unsigned char *got = seen + where;
        if (is_inside) {
            check(std::memcmp(got, in + offset, bytes) == 0, "loaded", i);
            std::memcpy(expected + offset, in + offset, bytes);
        } else if (t.fills_nan) {
            check(is_nan(got, t.type), "NaN outside", i);
        } else {
            const word64 zero = 0;
            check(std::memcmp(got, &zero, bytes) == 0, "zero outside", i);
        }
    }
    check(std::memcmp(out, expected, TENSOR_BYTES) == 0, "stored", i);
}

// A map in constant memory, one in global memory, multicast, and sums.
__constant__ CUtensorMap constant_map;
enum { SIZE = 4, SIDE = 16 };

__global__ void __cluster_dims__(SIZE, 1, 1) spread(const CUtensorMap *global_map, int *out) {
    __shared__ alignas(128) int tile[SIDE][SIDE];
    __shared__ alignas(8) word64 barrier;
    const auto cluster = cooperative_groups::this_cluster();
    if (threadIdx.x == 0) {
        init(&barrier, 1);
        expect(&barrier, sizeof tile);
    }
    cluster.sync();
    if (threadIdx.x == 0) // each block loads four rows for all
        asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes"
                     ".multicast::cluster [%0], [%1, {%2, %3}], [%4], %5;" ::"r"(
                         at(tile[cluster.block_rank() * 4])),
                     "l"(global_map), "r"(3), "r"((int)(2 + cluster.block_rank() * 4)), "r"(at(&barrier)),
                     "h"((unsigned short)((1 << SIZE) - 1))
                     : "memory");
    wait(&barrier, 0);
    for (int i = threadIdx.x; i < SIDE * SIDE; i += blockDim.x)
        out[blockIdx.x * SIDE * SIDE + i] = (&tile[0][0])[i];
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    cluster.sync();
    if (threadIdx.x == 0) {
        asm volatile("cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group"
                     " [%0, {%1, %2}], [%3];" ::"l"(&constant_map),
                     "r"(-1), "r"(0), "r"(at(tile))
                     : "memory");
        asm volatile("cp.async.bulk.commit_group;\n\tcp.async.bulk.wait_group.read 0;" ::: "memory");
    }
}

static void multicast(int *in, int *out) {
    const tensor t = {2, 3, 0, false, {40, 30}, {4, 160}, {SIDE, 4}, {1, 1}};
    const tensor sums = {2, 3, 0, false, {SIDE, SIDE}, {4, 64}, {SIDE, SIDE}, {1, 1}};
    CUtensorMap map, *global_map;
    int *total;
    cudaMallocManaged(&total, SIDE * SIDE * sizeof *total);
    cudaMalloc(&global_map, sizeof map);
    std::memset(total, 0, SIDE * SIDE * sizeof *total);
    for (int i = 0; i < 40 * 30; i++)
        in[i] = i;
    check(t.map(&map, in) == CUDA_SUCCESS, "encode", 100);
    cudaMemcpy(global_map, &map, sizeof map, cudaMemcpyHostToDevice);
    check(sums.map(&map, total) == CUDA_SUCCESS, "encode", 101);
    cudaMemcpyToSymbol(constant_map, &map, sizeof map);
    spread<<<SIZE, 32>>>(global_map, out);
    const cudaError_t error = cudaDeviceSynchronize();
    if (error != cudaSuccess) std::printf("multicast: %s\n", cudaGetErrorString(error));
    check(error == cudaSuccess, "multicast", 0);
    for (int i = 0; i < SIZE * SIDE * SIDE; i++)
        check(out[i] == (2 + i / SIDE % SIDE) * 40 + 3 + i % SIDE, "spread", i);
    for (int i = 0; i < SIDE * SIDE; i++) // the box begins one column before the tensor
        check(total[i] == (i % SIDE + 1 < SIDE ? SIZE * ((2 + i / SIDE) * 40 + 3 + i % SIDE + 1) : 0),
              "sum", i);
    cudaFree(total);
    cudaFree(global_map);
}

static void errors(void *memory) {
    const tensor good = {2, 3, 3, false, {64, 64}, {4, 256}, {32, 8}, {1, 1}};
    CUtensorMap map;
    int i = 0;
    check(good.map(&map, memory) == CUDA_SUCCESS, "a good map", i);
    const auto refused = [&](const tensor &t, void *at) {
        check(t.map(&map, at) == CUDA_ERROR_INVALID_VALUE, "refused", ++i);
    };
    tensor t = good;
    refused(t, (char *)memory + 8);
    refused(t, nullptr);
    t.rank = 0, refused(t, memory);
    t = good, t.rank = 6, refused(t, memory);
    t = good, t.size[1] = 0, refused(t, memory);
    t = good, t.size[1] = (1ull << 32) + 1, refused(t, memory);
    t = good, t.stride[1] = 264, refused(t, memory);
    t = good, t.stride[1] = 1ull << 40, refused(t, memory);
    t = good, t.box[1] = 0, refused(t, memory);
    t = good, t.box[1] = 257, refused(t, memory);
    t = good, t.box[0] = 30, refused(t, memory); // 120 bytes
    t = good, t.box[0] = 64, refused(t, memory); // wider than the swizzle
    t = good, t.step[1] = 0, refused(t, memory);
    t = good, t.step[1] = 9, refused(t, memory);
    t = good, t.fills_nan = true, refused(t, memory);
    check(encode((CUtensorMap *)((char *)&map + 8), CU_TENSOR_MAP_DATA_TYPE_INT32, 2, memory, good.size,
                 good.stride + 1, good.box, good.step, CU_TENSOR_MAP_INTERLEAVE_NONE,
                 CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE,
                 CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) == CUDA_ERROR_INVALID_VALUE,
          "map aligned to 8 bytes", 0);
    const cuuint64_t size[3] = {64, 4, 4}, stride[2] = {256, 1024};
    const cuuint32_t box[3] = {8, 2, 2}, step[3] = {1, 1, 1};
    check(encode(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 3, memory, size, stride, box, step,
                 CU_TENSOR_MAP_INTERLEAVE_16B, CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE,
                 CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) == CUDA_ERROR_NOT_SUPPORTED,
          "interleave", 0);
    CUtensorMap none = {};
    check(cuTensorMapReplaceAddress(&none, memory) == CUDA_ERROR_INVALID_VALUE, "no map", 0);
}

int main() {
    cudaDriverEntryPointQueryResult found;
    void *entry = nullptr;
    cudaFree(nullptr);
    cudaGetDriverEntryPoint("cuTensorMapEncodeTiled", &entry, cudaEnableDefault, &found);
    if (entry == nullptr || found != cudaDriverEntryPointSuccess) {
        std::printf("no entry point\n");
        return 1;
    }
    encode = (encode_fn)entry;
    unsigned char *in, *out, *seen;
    cudaMallocManaged(&in, TENSOR_BYTES);
    cudaMallocManaged(&out, TENSOR_BYTES);
    cudaMallocManaged(&seen, SHARED_BYTES);
    for (int i = 0; i < TENSOR_BYTES; i++)
        in[i] = (unsigned char)(1 + next(255));
    for (int i = 0; i < CASES; i++)
        one_case(i, in, out, seen);
    multicast((int *)in, (int *)out);
    errors(in);
    cudaFree(in);
    cudaFree(out);
    cudaFree(seen);
    std::printf(wrong == 0 ? "PASS\n" : "FAIL: seed 20261128\n");
    return wrong != 0;
}

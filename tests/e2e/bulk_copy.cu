// Bulk copies of one dimension, with barriers in memory of the own block and of others.
// DEVICES: cpu sim:h200
#include <cooperative_groups.h>
#include <cstdio>
#include <cuda_runtime.h>

namespace cg = cooperative_groups;

typedef unsigned long long word64;

static __device__ unsigned at(const void *p) {
    return (unsigned)__cvta_generic_to_shared(p);
}
static __device__ unsigned at_rank(const void *p, unsigned rank) {
    unsigned there;
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(at(p)), "r"(rank));
    return there;
}
static __device__ void init(word64 *barrier, unsigned count) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(at(barrier)), "r"(count) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}
static __device__ void expect(word64 *barrier, unsigned bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(at(barrier)),
                 "r"(bytes)
                 : "memory");
}
static __device__ bool is_done(word64 *barrier, unsigned parity) {
    unsigned done;
    asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n\t"
                 "selp.u32 %0, 1, 0, p; }"
                 : "=r"(done)
                 : "r"(at(barrier)), "r"(parity)
                 : "memory");
    return done != 0;
}

enum { TILE = 256, TILES = 5, SIZE = 4 };

// Tiles come in and go out by bulk copies, two buffers in turn.
__global__ void scale_tiles(const int *in, int *out) {
    __shared__ alignas(128) int tile[2][TILE];
    __shared__ alignas(8) word64 full[2];
    const int *from = in + blockIdx.x * TILE * TILES;
    int *to = out + blockIdx.x * TILE * TILES;
    if (threadIdx.x == 0) {
        init(&full[0], 1);
        init(&full[1], 1);
    }
    __syncthreads();
    for (int i = 0; i < TILES; i++) {
        const int k = i & 1;
        if (threadIdx.x == 0) {
            asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
            expect(&full[k], sizeof tile[k]);
            asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
                         "[%0], [%1], %2, [%3];" ::"r"(at(tile[k])),
                         "l"(from + i * TILE), "r"((unsigned)sizeof tile[k]), "r"(at(&full[k]))
                         : "memory");
        }
        while (!is_done(&full[k], (unsigned)(i >> 1) & 1u))
            ;
        for (int n = threadIdx.x; n < TILE; n += blockDim.x)
            tile[k][n] *= 3;
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        __syncthreads();
        if (threadIdx.x == 0) {
            asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(
                             to + i * TILE),
                         "r"(at(tile[k])), "r"((unsigned)sizeof tile[k])
                         : "memory");
            asm volatile("cp.async.bulk.commit_group;" ::: "memory");
        }
    }
    if (threadIdx.x == 0) asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

// Each block sends its words to the next one, adds to a sum, and block 0 sends to all.
__global__ void __cluster_dims__(SIZE, 1, 1) exchange(const int *in, int *out, int *sums) {
    __shared__ alignas(128) int own[TILE], got[TILE], all[TILE], marks[4];
    __shared__ alignas(8) word64 arrived, told;
    const cg::cluster_group cluster = cg::this_cluster();
    const unsigned rank = cluster.block_rank(), next = (rank + 1) % SIZE;
    for (int n = threadIdx.x; n < TILE; n += blockDim.x)
        own[n] = in[blockIdx.x * TILE + n];
    if (threadIdx.x == 0) {
        init(&arrived, 1);
        init(&told, SIZE);
        expect(&arrived, 2 * sizeof own + sizeof marks);
    }
    cluster.sync();
    if (threadIdx.x == 0) {
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        asm volatile("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes "
                     "[%0], [%1], %2, [%3];" ::"r"(at_rank(got, next)),
                     "r"(at(own)), "r"((unsigned)sizeof own), "r"(at_rank(&arrived, next))
                     : "memory");
        asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 "
                     "[%0], {%1, %2, %3, %4}, [%5];" ::"r"(at_rank(marks, next)),
                     "r"(rank), "r"(rank + 10), "r"(rank + 20), "r"(rank + 30),
                     "r"(at_rank(&arrived, next))
                     : "memory");
        asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.s32 "
                     "[%0], [%1], %2;" ::"l"(sums),
                     "r"(at(own)), "r"((unsigned)sizeof own)
                     : "memory");
        asm volatile("cp.async.bulk.commit_group;\n\tcp.async.bulk.wait_group 0;" ::: "memory");
        if (rank == 0)
            asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
                         ".multicast::cluster [%0], [%1], %2, [%3], %4;" ::"r"(at(all)),
                         "l"(in + blockIdx.x * TILE), "r"((unsigned)sizeof all),
                         "r"(at(&arrived)), "h"((unsigned short)((1u << SIZE) - 1))
                         : "memory");
        // each block tells all others that its copies are on the way
        for (unsigned r = 0; r < SIZE; r++)
            asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(
                             at_rank(&told, r))
                         : "memory");
    }
    while (!is_done(&arrived, 0))
        ;
    while (!is_done(&told, 0))
        ;
    for (int n = threadIdx.x; n < TILE; n += blockDim.x)
        out[blockIdx.x * TILE + n] = got[n] + all[n] + marks[n % 4];
    cluster.sync();
}

static int check(bool is_good, const char *what, int i) {
    if (!is_good) std::printf("wrong: %s, %d\n", what, i);
    return !is_good;
}

int main() {
    const int blocks = 2 * SIZE, count = blocks * TILE * TILES;
    int *in, *out, *sums, wrong = 0;
    cudaMallocManaged(&in, count * sizeof *in);
    cudaMallocManaged(&out, count * sizeof *out);
    cudaMallocManaged(&sums, TILE * sizeof *sums);
    for (int i = 0; i < count; i++)
        in[i] = i * 31 % 1009;
    for (int i = 0; i < TILE; i++)
        sums[i] = 0;
    scale_tiles<<<blocks, 64>>>(in, out);
    cudaError_t error = cudaDeviceSynchronize();
    if (error != cudaSuccess) {
        std::printf("tiles: %s\n", cudaGetErrorString(error));
        return 1;
    }
    for (int i = 0; i < count && wrong < 5; i++)
        wrong += check(out[i] == 3 * in[i], "tiles", i);
    exchange<<<blocks, 64>>>(in, out, sums);
    error = cudaDeviceSynchronize();
    if (error != cudaSuccess) {
        std::printf("exchange: %s\n", cudaGetErrorString(error));
        return 1;
    }
    for (int i = 0; i < blocks * TILE && wrong < 5; i++) {
        const int block = i / TILE, n = i % TILE, rank = block % SIZE, first = block - rank;
        const int before = (rank + SIZE - 1) % SIZE;
        const int expected =
            in[(first + before) * TILE + n] + in[first * TILE + n] + before + 10 * (n % 4);
        wrong += check(out[i] == expected, "exchange", i);
    }
    for (int n = 0; n < TILE && wrong < 5; n++) {
        int sum = 0;
        for (int b = 0; b < blocks; b++)
            sum += in[b * TILE + n];
        wrong += check(sums[n] == sum, "sums", n);
    }
    std::printf(wrong == 0 ? "PASS\n" : "FAIL\n");
    return wrong != 0;
}

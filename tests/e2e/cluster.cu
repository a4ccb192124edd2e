// Thread-block clusters and distributed shared memory: ranks, barriers, addresses of other blocks.
// DEVICES: cpu sim:h200
// FLAGS: -arch=sm_90
#include <cooperative_groups.h>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace cg = cooperative_groups;

static int failures;

static void check(bool is_good, const char *what) {
    if (!is_good) {
        std::printf("wrong: %s\n", what);
        failures++;
    }
}

static void check_call(cudaError_t error, const char *what) {
    if (error != cudaSuccess) {
        std::printf("%s: %s\n", what, cudaGetErrorString(error));
        std::exit(1);
    }
}

template <class... Params, class... Args>
static cudaError_t launch(void (*kernel)(Params...), dim3 grid, dim3 block, dim3 cluster,
                          size_t shared_bytes, Args... args) {
    cudaLaunchAttribute attribute;
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim.x = cluster.x;
    attribute.val.clusterDim.y = cluster.y;
    attribute.val.clusterDim.z = cluster.z;
    cudaLaunchConfig_t config = {};
    config.gridDim = grid;
    config.blockDim = block;
    config.dynamicSmemBytes = shared_bytes;
    config.attrs = &attribute;
    config.numAttrs = 1;
    return cudaLaunchKernelEx(&config, kernel, args...);
}

// ---- what a block knows about its cluster

struct facts {
    unsigned rank, blocks, x, y, z, dim_x, dim_y, dim_z, id_x, id_y, id_z, ids_x, ids_y, ids_z;
    unsigned is_explicit, own_rank, next_rank, is_in_cluster, threads, thread;
};

__device__ static void note(facts *out) {
    __shared__ int word;
    const cg::cluster_group cluster = cg::this_cluster();
    const unsigned block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
    const dim3 at = cluster.block_index(), dim = cluster.dim_blocks(), id = __clusterIdx(),
               ids = __clusterGridDimInClusters();
    const unsigned next = (cluster.block_rank() + 1) % cluster.num_blocks();
    int *there = cluster.map_shared_rank(&word, (int)next);
    out[block] = {cluster.block_rank(),
                  cluster.num_blocks(),
                  at.x,
                  at.y,
                  at.z,
                  dim.x,
                  dim.y,
                  dim.z,
                  id.x,
                  id.y,
                  id.z,
                  ids.x,
                  ids.y,
                  ids.z,
                  __clusterDimIsSpecified(),
                  cluster.query_shared_rank(&word),
                  cluster.query_shared_rank(there),
                  __isClusterShared(there),
                  cluster.num_threads(),
                  cluster.thread_rank()};
    cluster.sync();
}

__global__ void note_facts(facts *out) {
    if (threadIdx.x == blockDim.x - 1) note(out);
    else cg::this_cluster().sync();
}

__global__ void __cluster_dims__(2, 1, 2) note_fixed(facts *out) {
    if (threadIdx.x == blockDim.x - 1) note(out);
    else cg::this_cluster().sync();
}

static void check_facts(const std::vector<facts> &all, dim3 grid, dim3 c, unsigned threads,
                        bool is_explicit, const char *what) {
    for (unsigned z = 0; z < grid.z; z++)
        for (unsigned y = 0; y < grid.y; y++)
            for (unsigned x = 0; x < grid.x; x++) {
                const facts &f = all[x + grid.x * (y + grid.y * z)];
                const unsigned size = c.x * c.y * c.z;
                const unsigned rank = x % c.x + c.x * (y % c.y + c.y * (z % c.z));
                const bool is_good =
                    f.rank == rank && f.blocks == size && f.x == x % c.x && f.y == y % c.y &&
                    f.z == z % c.z && f.dim_x == c.x && f.dim_y == c.y && f.dim_z == c.z &&
                    f.id_x == x / c.x && f.id_y == y / c.y && f.id_z == z / c.z &&
                    f.ids_x == grid.x / c.x && f.ids_y == grid.y / c.y &&
                    f.ids_z == grid.z / c.z && f.is_explicit == is_explicit &&
                    f.own_rank == rank && f.next_rank == (rank + 1) % size && f.is_in_cluster &&
                    f.threads == size * threads && f.thread == rank * threads + threads - 1;
                if (!is_good)
                    std::printf("block %u %u %u: rank %u of %u, %u %u %u, own %u next %u\n", x, y,
                                z, f.rank, f.blocks, f.x, f.y, f.z, f.own_rank, f.next_rank);
                check(is_good, what);
            }
}

static void test_facts() {
    const dim3 grid(4, 6, 2);
    const unsigned threads = 40, blocks = 48;
    facts *out;
    check_call(cudaMallocManaged(&out, blocks * sizeof *out), "managed memory");
    check_call(launch(note_facts, grid, dim3(threads), dim3(2, 3, 1), 0, out), "clusters of 2x3");
    check_call(cudaDeviceSynchronize(), "clusters of 2x3");
    check_facts({out, out + blocks}, grid, dim3(2, 3, 1), threads, true, "clusters of 2x3");
    note_fixed<<<grid, threads>>>(out);
    check_call(cudaDeviceSynchronize(), "__cluster_dims__");
    check_facts({out, out + blocks}, grid, dim3(2, 1, 2), threads, true, "__cluster_dims__");
    note_facts<<<grid, threads>>>(out);
    check_call(cudaDeviceSynchronize(), "no clusters");
    check_facts({out, out + blocks}, grid, dim3(1, 1, 1), threads, false, "no clusters");
    cudaFree(out);
}

// ---- a histogram whose bins are spread over the blocks of a cluster

__global__ void histogram(unsigned *bins, int bin_count, int bins_per_block, const int *values,
                          int count) {
    extern __shared__ unsigned own[];
    const cg::cluster_group cluster = cg::this_cluster();
    for (int i = threadIdx.x; i < bins_per_block; i += blockDim.x)
        own[i] = 0;
    cluster.sync(); // all blocks have started, and their bins are empty
    const int step = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step) {
        int bin = values[i];
        if (bin < 0) bin = 0;
        if (bin >= bin_count) bin = bin_count - 1;
        unsigned *there = cluster.map_shared_rank(own, bin / bins_per_block);
        atomicAdd(there + bin % bins_per_block, 1u);
    }
    cluster.sync(); // no block adds to these bins any more
    const int first = (int)cluster.block_rank() * bins_per_block;
    for (int i = threadIdx.x; i < bins_per_block && first + i < bin_count; i += blockDim.x)
        atomicAdd(&bins[first + i], own[i]);
}

static void test_histogram(unsigned size) {
    const int bin_count = 500, count = 20000, per_block = (bin_count + (int)size - 1) / (int)size;
    int *values;
    unsigned *bins;
    std::vector<unsigned> expected(bin_count);
    check_call(cudaMallocManaged(&values, count * sizeof *values), "values");
    check_call(cudaMallocManaged(&bins, bin_count * sizeof *bins), "bins");
    for (int i = 0; i < count; i++) {
        values[i] = (i * 7919 + i / 3) % (bin_count + 20) - 10;
        const int bin = values[i] < 0 ? 0 : values[i] >= bin_count ? bin_count - 1 : values[i];
        expected[(size_t)bin]++;
    }
    for (int i = 0; i < bin_count; i++)
        bins[i] = 0;
    check_call(cudaFuncSetAttribute(histogram, cudaFuncAttributeNonPortableClusterSizeAllowed,
                                    size > 8),
               "large clusters");
    check_call(launch(histogram, dim3(16), dim3(96), dim3(size), per_block * sizeof(unsigned),
                      bins, bin_count, per_block, values, count),
               "histogram");
    check_call(cudaDeviceSynchronize(), "histogram");
    bool is_good = true;
    for (int i = 0; i < bin_count; i++)
        is_good = is_good && bins[i] == expected[(size_t)i];
    check(is_good, "histogram");
    cudaFree(values);
    cudaFree(bins);
}

// ---- a sum over the ranks, the halves of the barrier apart

__global__ void sum_ranks(const int *in, int *out) {
    __shared__ int own, sum;
    cg::cluster_group cluster = cg::this_cluster();
    if (threadIdx.x == 0) own = 0;
    __syncthreads();
    atomicAdd(&own, in[blockIdx.x * blockDim.x + threadIdx.x]);
    __syncthreads();
    auto token = cluster.barrier_arrive();
    if (threadIdx.x == 0) sum = 0;
    cluster.barrier_wait(static_cast<cg::cluster_group::arrival_token &&>(token));
    if (threadIdx.x < cluster.num_blocks())
        atomicAdd(&sum, *cluster.map_shared_rank(&own, (int)threadIdx.x));
    cluster.sync();
    if (threadIdx.x == 0) out[blockIdx.x] = sum;
}

static void test_sum(unsigned size) {
    const unsigned blocks = 24, threads = 33;
    int *in, *out;
    check_call(cudaMallocManaged(&in, blocks * threads * sizeof *in), "in");
    check_call(cudaMallocManaged(&out, blocks * sizeof *out), "out");
    for (unsigned i = 0; i < blocks * threads; i++)
        in[i] = (int)(i * i % 1013);
    check_call(launch(sum_ranks, dim3(blocks), dim3(threads), dim3(size), 0, in, out), "sum");
    check_call(cudaDeviceSynchronize(), "sum");
    for (unsigned b = 0; b < blocks; b++) {
        int sum = 0;
        for (unsigned i = b / size * size * threads; i < (b / size + 1) * size * threads; i++)
            sum += in[i];
        check(out[b] == sum, "sum over the ranks");
    }
    cudaFree(in);
    cudaFree(out);
}

// ---- random ranks against a plain kernel: rounds of reads from, and adds to, random blocks

__device__ static unsigned mix(unsigned x) {
    x = (x ^ 61u) ^ (x >> 16);
    x *= 9u;
    x ^= x >> 4;
    x *= 0x27d4eb2du;
    return x ^ (x >> 15);
}

enum { ROUNDS = 6, WORDS = 64 };

__global__ void random_ranks(unsigned seed, unsigned *out) {
    __shared__ unsigned words[2][WORDS];
    cg::cluster_group cluster = cg::this_cluster();
    const unsigned size = cluster.num_blocks(), t = threadIdx.x;
    words[0][t] = mix(seed + blockIdx.x * WORDS + t);
    words[1][t] = 0;
    cluster.sync();
    for (unsigned round = 0; round < ROUNDS; round++) {
        const unsigned from = round & 1u, to = 1u - from;
        const unsigned r = mix(seed ^ (round * 77u + blockIdx.x * WORDS + t));
        const unsigned got = cluster.map_shared_rank(words[from], (int)(r % size))[r / 64 % WORDS];
        atomicAdd(cluster.map_shared_rank(&words[to][r / 4096 % WORDS], (int)(r / 16 % size)),
                  got | 1u);
        cluster.sync();
        words[from][t] = 0;
        cluster.sync();
    }
    out[blockIdx.x * WORDS + t] = words[ROUNDS & 1][t];
}

// The same in global memory, a round each launch.
__global__ void plain_start(unsigned seed, unsigned *words) {
    words[blockIdx.x * WORDS + threadIdx.x] = mix(seed + blockIdx.x * WORDS + threadIdx.x);
}

__global__ void plain_round(unsigned seed, unsigned round, unsigned size, const unsigned *from,
                            unsigned *to) {
    const unsigned t = threadIdx.x, first = blockIdx.x / size * size;
    const unsigned r = mix(seed ^ (round * 77u + blockIdx.x * WORDS + t));
    const unsigned got = from[(first + r % size) * WORDS + r / 64 % WORDS];
    atomicAdd(&to[(first + r / 16 % size) * WORDS + r / 4096 % WORDS], got | 1u);
}

static void test_random(unsigned size, unsigned seed) {
    const unsigned blocks = 3 * size, bytes = blocks * WORDS * sizeof(unsigned);
    unsigned *out, *words[2];
    check_call(cudaMallocManaged(&out, bytes), "out");
    check_call(cudaMallocManaged(&words[0], bytes), "words");
    check_call(cudaMallocManaged(&words[1], bytes), "words");
    check_call(launch(random_ranks, dim3(blocks), dim3(WORDS), dim3(size), 0, seed, out),
               "random ranks");
    plain_start<<<blocks, WORDS>>>(seed, words[0]);
    for (unsigned round = 0; round < ROUNDS; round++) {
        cudaMemsetAsync(words[1 - (round & 1)], 0, bytes);
        plain_round<<<blocks, WORDS>>>(seed, round, size, words[round & 1],
                                       words[1 - (round & 1)]);
    }
    check_call(cudaDeviceSynchronize(), "random ranks");
    bool is_good = true;
    for (unsigned i = 0; i < blocks * WORDS; i++)
        is_good = is_good && out[i] == words[ROUNDS & 1][i];
    if (!is_good) std::printf("size %u, seed %u\n", size, seed);
    check(is_good, "random ranks");
    cudaFree(out);
    cudaFree(words[0]);
    cudaFree(words[1]);
}

// ---- errors

static void test_errors() {
    facts *out;
    check_call(cudaMallocManaged(&out, 64 * sizeof *out), "out");
    check(launch(note_facts, dim3(5), dim3(32), dim3(2), 0, out) == cudaErrorInvalidClusterSize,
          "a grid that is not made of whole clusters");
    check(launch(note_facts, dim3(16), dim3(32), dim3(16), 0, out) == cudaErrorInvalidClusterSize,
          "16 blocks without permission");
    check(launch(note_facts, dim3(32), dim3(32), dim3(32), 0, out) == cudaErrorInvalidClusterSize,
          "32 blocks");
    check(launch(note_fixed, dim3(4, 1, 4), dim3(32), dim3(4), 0, out) ==
              cudaErrorInvalidClusterSize,
          "other dimensions than __cluster_dims__");
    note_fixed<<<dim3(3, 1, 2), 32>>>(out);
    check(cudaGetLastError() == cudaErrorInvalidClusterSize, "a grid for __cluster_dims__");
    cudaFuncAttributes attributes;
    check_call(cudaFuncGetAttributes(&attributes, note_fixed), "attributes");
    check(attributes.requiredClusterWidth == 2 && attributes.requiredClusterHeight == 1 &&
              attributes.requiredClusterDepth == 2,
          "attributes");
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(8);
    config.blockDim = dim3(64);
    int clusters = 0, size = 0, has_clusters = 0;
    check_call(cudaOccupancyMaxPotentialClusterSize(&size, histogram, &config), "cluster size");
    check(size >= 1 && size <= 16, "cluster size");
    check_call(cudaOccupancyMaxActiveClusters(&clusters, histogram, &config), "clusters");
    check(clusters >= 1, "clusters");
    check_call(cudaDeviceGetAttribute(&has_clusters, cudaDevAttrClusterLaunch, 0), "attribute");
    check(has_clusters == 1, "cudaDevAttrClusterLaunch");
    cudaFree(out);
}

int main() {
    test_facts();
    for (unsigned size = 1; size <= 16; size *= 2)
        test_histogram(size);
    for (unsigned size : {1u, 2u, 3u, 8u})
        test_sum(size);
    for (unsigned size : {2u, 5u, 8u})
        for (unsigned seed = 1; seed <= 2; seed++)
            test_random(size, seed * 2654435761u);
    test_errors();
    std::printf(failures == 0 ? "PASS\n" : "%d wrong\n", failures);
    return failures != 0;
}

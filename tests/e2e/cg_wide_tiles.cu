/* SPDX-License-Identifier: Apache-2.0 */
/* Cooperative groups: tiles of 64 to 512 threads, their collectives, tiles in tiles; one thread for all. */
#include "check.h"
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
namespace cg = cooperative_groups;

enum { threads = 512, words = 12 };

template <unsigned int size> __global__ void collectives(const int *in, int *out)
{
    __shared__ cg::block_tile_memory<threads> scratch;
    __shared__ int slots[threads];
    auto block = cg::this_thread_block(scratch);
    auto tile = cg::tiled_partition<size>(block);
    int t = threadIdx.x, rank = (int)tile.thread_rank(), *o = out + t * words;
    o[0] = rank * 10000 + (int)tile.num_threads();
    o[1] = (int)tile.meta_group_rank() * 100 + (int)tile.meta_group_size();
    /* tiles go different numbers of rounds: each waits for its own warps only */
    int v = in[t];
    for (unsigned round = 0; round <= tile.meta_group_rank(); round++) {
        slots[t] = v;
        tile.sync();
        v = slots[t / size * size + (rank + 33) % size];
        tile.sync();
    }
    o[2] = v;
    o[3] = tile.shfl(in[t], size - 3);
    o[4] = cg::reduce(tile, in[t], cg::plus<int>());
    o[5] = (int)(cg::reduce(tile, in[t] * 0.5, cg::greater<double>()) * 2);
    o[6] = (tile.any(rank == 40) ? 1 : 0) + (tile.all(rank < (int)size) ? 2 : 0) + (tile.any(rank < 0) ? 4 : 0) +
           (tile.all(rank != 40) ? 8 : 0);
    o[7] = cg::inclusive_scan(tile, in[t]);
    o[8] = cg::exclusive_scan(tile, in[t]);
    o[9] = cg::invoke_one_broadcast(tile, [&]() { return in[t] + 1; });
    auto warp = cg::tiled_partition<32>(tile);
    cg::thread_block_tile<8> part = cg::tiled_partition<8>(warp);
    o[10] = (int)warp.meta_group_rank() * 100 + (int)warp.meta_group_size();
    o[11] = (int)part.meta_group_rank() * 100 + (int)part.meta_group_size();
}

template <int size> static void check_collectives(const int *in, int *out)
{
    collectives<size><<<1, threads>>>(in, out);
    KERNEL_OK();
    for (int t = 0; t < threads; t++) {
        const int first = t / size * size, rank = t % size, *o = out + t * words;
        int sum = 0, below = 0, most = in[first];
        for (int i = 0; i < size; i++) {
            below += i < rank ? in[first + i] : 0;
            sum += in[first + i];
            most = in[first + i] > most ? in[first + i] : most;
        }
        CHECK_EQ(o[0], rank * 10000 + size);
        CHECK_EQ(o[1], t / size * 100 + threads / size);
        CHECK_EQ(o[2], in[first + (rank + 33 * (t / size + 1)) % size]);
        CHECK_EQ(o[3], in[first + size - 3]);
        CHECK_EQ(o[4], sum);
        CHECK_EQ(o[5], most);
        CHECK_EQ(o[6], 3);
        CHECK_EQ(o[7], below + in[t]);
        CHECK_EQ(o[8], below);
        CHECK_EQ(o[9], in[first] + 1);
        CHECK_EQ(o[10], rank / 32 * 100 + size / 32);
        CHECK_EQ(o[11], t % 32 / 8 * 100 + 4);
    }
}

/* A tile of a tile of several warps; only one of the outer tiles goes on. */
__global__ void nested(const int *in, int *out)
{
    auto outer = cg::tiled_partition<256>(cg::this_thread_block());
    int sum = 0;
    if (outer.meta_group_rank() == 1) {
        auto inner = cg::tiled_partition<64>(outer);
        sum = cg::reduce(inner, in[threadIdx.x], cg::plus<int>()) + (int)inner.meta_group_rank() * 1000000;
        cg::invoke_one(inner, [=]() { atomicAdd(&out[threads], 1); });
    }
    sum += cg::reduce(outer, 1, cg::plus<int>());
    out[threadIdx.x] = sum;
}

int main(void)
{
    int *in = check_managed<int>(threads), *out = check_managed<int>(threads * words);
    uint32_t seed = 5;
    for (int i = 0; i < threads; i++)
        in[i] = (int)(check_random(&seed) % 2001) - 1000;
    check_collectives<64>(in, out);
    check_collectives<128>(in, out);
    check_collectives<256>(in, out);
    check_collectives<512>(in, out);
    out[threads] = 0;
    nested<<<1, threads>>>(in, out);
    KERNEL_OK();
    for (int t = 0; t < threads; t++) {
        int sum = 256;
        for (int i = 0; i < 64 && t >= 256; i++)
            sum += in[t / 64 * 64 + i];
        CHECK_EQ(out[t], sum + (t >= 256 ? (t - 256) / 64 * 1000000 : 0));
    }
    CHECK_EQ(out[threads], 4);
    return check_done();
}

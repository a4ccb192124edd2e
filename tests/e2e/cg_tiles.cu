/* SPDX-License-Identifier: Apache-2.0 */
/* Cooperative groups inside a block: the block, tiles of 1 to 32 threads, ranks, shuffles, votes. */
#include "check.h"
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

template <class G> __device__ int group_sum(G g, int v, int *slots)
{
    int rank = g.thread_rank();
    for (int half = g.size() / 2; half > 0; half /= 2) {
        slots[rank] = v;
        g.sync();
        if (rank < half)
            v += slots[rank + half];
        g.sync();
    }
    return v;
}

__global__ void block_group(int *out)
{
    __shared__ int slots[128];
    cg::thread_block block = cg::this_thread_block();
    int sum = group_sum(block, (int)block.thread_rank(), slots);
    dim3 index = block.group_index(), thread = block.thread_index();
    if (block.thread_rank() == 0)
        out[blockIdx.x * 2] = sum;
    cg::sync(block);
    if (block.thread_rank() == block.size() - 1)
        out[blockIdx.x * 2 + 1] = index.x * 1000 + thread.x * 100 + thread.y;
}

template <int size> __global__ void tiles(int *out)
{
    __shared__ int slots[64];
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<size> tile = cg::tiled_partition<size>(block);
    int t = threadIdx.x, rank = tile.thread_rank(), v = t;
    for (int d = tile.size() / 2; d > 0; d /= 2)
        v += tile.shfl_down(v, d);
    v = tile.shfl(v, 0);
    int by_memory = tile.shfl(group_sum(tile, t, slots + t / size * size), 0);
    int up = tile.shfl_up(t, 1), flipped = tile.shfl_xor(t, size / 2);
    unsigned odd = tile.ballot(t % 2);
    int votes = (tile.any(rank == 0) ? 1 : 0) + (tile.all(rank < size) ? 2 : 0) + (tile.all(rank == 0) ? 4 : 0);
    unsigned same = tile.match_any(rank / 2);
    tile.sync();
    int *o = out + t * 9;
    o[0] = v;
    o[1] = by_memory;
    o[2] = up;
    o[3] = flipped;
    o[4] = (int)odd;
    o[5] = votes;
    o[6] = (int)tile.meta_group_rank() * 100 + (int)tile.meta_group_size();
    o[7] = rank * 100 + (int)tile.num_threads();
    o[8] = (int)same;
}

template <int size> static void check_tiles(int *out)
{
    tiles<size><<<1, 64>>>(out);
    KERNEL_OK();
    for (int t = 0; t < 64; t++) {
        int first = t / size * size, rank = t % size, sum = 0, *o = out + t * 9;
        unsigned odd = 0, same = 0;
        for (int i = 0; i < size; i++) {
            sum += first + i;
            odd |= (unsigned)((first + i) % 2) << i;
            same |= (unsigned)(i / 2 == rank / 2) << i;
        }
        CHECK_EQ(o[0], sum);
        CHECK_EQ(o[1], sum);
        CHECK_EQ(o[2], rank > 0 ? t - 1 : t);
        CHECK_EQ(o[3], size > 1 ? t ^ size / 2 : t);
        CHECK_EQ((unsigned)o[4], odd);
        CHECK_EQ(o[5], size == 1 ? 7 : 3);
        CHECK_EQ(o[6], t / size * 100 + 64 / size);
        CHECK_EQ(o[7], rank * 100 + size);
        CHECK_EQ((unsigned)o[8], same);
    }
}

/* a tile of a tile, and tiles that do different things */
__global__ void nested(int *out)
{
    cg::thread_block block = cg::this_thread_block();
    auto warp = cg::tiled_partition<32>(block);
    auto quad = cg::tiled_partition<4>(warp);
    int v = threadIdx.x;
    if (warp.meta_group_rank() % 2 == 0) {
        v = quad.shfl(v, 3);
        if (quad.meta_group_rank() == 1)
            v += quad.shfl_xor(1000 * (int)quad.thread_rank(), 1);
    } else {
        v = warp.shfl(v, 31);
    }
    block.sync();
    out[threadIdx.x] = v;
}

int main(void)
{
    int *out = check_managed<int>(64 * 9);
    block_group<<<3, dim3(32, 4)>>>(out);
    KERNEL_OK();
    for (int b = 0; b < 3; b++) {
        CHECK_EQ(out[2 * b], 127 * 64);
        CHECK_EQ(out[2 * b + 1], b * 1000 + 3103);
    }
    check_tiles<1>(out);
    check_tiles<2>(out);
    check_tiles<4>(out);
    check_tiles<8>(out);
    check_tiles<16>(out);
    check_tiles<32>(out);
    nested<<<1, 64>>>(out);
    KERNEL_OK();
    for (int t = 0; t < 64; t++) {
        int e = t / 4 * 4 + 3;
        if (t / 4 == 1)
            e += 1000 * (t % 4 ^ 1);
        CHECK_EQ(out[t], t < 32 ? e : 63);
    }
    return check_done();
}

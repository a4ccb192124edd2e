/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Tiles of several warps; part of cooperative_groups.h. A tile has a counter in shared memory that its warps raise
 * when they arrive at sync(). Values go through slots in shared memory, one a warp of the block:
 *
 *     sync ─► the warps write their slots ─► sync ─► all read the slots of their tile
 */
#ifndef WARPAGE_CUDA_WIDE_TILE_H
#define WARPAGE_CUDA_WIDE_TILE_H

namespace cooperative_groups {

namespace wp {

template <unsigned int Size> static WP_CG unsigned int *arrivals() {
    __shared__ unsigned int count[1024 / Size];
    return &count[thread_rank_in_block() / Size];
}

template <class Value> static WP_CG Value *slots() {
    __shared__ __align__(16) char bytes[32 * sizeof(Value)];
    return (Value *)bytes;
}

} // namespace wp

template <unsigned int Size, class Parent> class thread_block_tile<Size, Parent, true> {
    static_assert(Size == 64 || Size == 128 || Size == 256 || Size == 512 || Size == 1024,
                  "a tile of several warps has 64, 128, 256, 512 or 1024 threads");

  public:
    template <class Other>
    WP_CG thread_block_tile(const thread_block_tile<Size, Other> &other)
        : parent_threads_(other.wp_parent_threads()) {
    }
    WP_CG void sync() const {
        __syncwarp();
        if (wp::lane() == 0) {
            unsigned int *count = wp::arrivals<Size>();
            const unsigned int warps = wp_warps();
            __threadfence_block();
            const unsigned int goal = (atomicAdd(count, 1u) / warps + 1u) * warps;
            while ((int)(*(volatile unsigned int *)count - goal) < 0) {
            }
            __threadfence_block();
        }
        __syncwarp();
    }
    static WP_CG constexpr unsigned int size() {
        return Size;
    }
    static WP_CG constexpr unsigned int num_threads() {
        return Size;
    }
    static WP_CG unsigned int thread_rank() {
        return wp::thread_rank_in_block() & (Size - 1u);
    }
    WP_CG unsigned int meta_group_rank() const {
        return wp::rank_in_parent(Size, parent_threads_);
    }
    WP_CG unsigned int meta_group_size() const {
        return wp::count_in_parent(Size, parent_threads_);
    }
    WP_CG bool is_valid() const {
        return true;
    }
    template <class Value>
    WP_CG typename wp::copy_of<Value>::type shfl(Value &&value, unsigned int rank) const {
        typedef typename wp::copy_of<Value>::type copy;
        copy *slot = wp::slots<copy>() + wp_first_warp();
        sync();
        if (thread_rank() == rank) {
            *slot = value;
        }
        sync();
        return *slot;
    }
    WP_CG int any(int predicate) const {
        return is_any(__any_sync(0xffffffffu, predicate));
    }
    WP_CG int all(int predicate) const {
        return !is_any(!__all_sync(0xffffffffu, predicate));
    }

    /* For the collectives of reduce.h and scan.h. */
    static WP_CG unsigned int wp_warps() {
        const unsigned int rest = wp::threads_in_block() - wp_first_warp() * 32u;
        return ((rest < Size ? rest : Size) + 31u) / 32u;
    }
    static WP_CG unsigned int wp_first_warp() {
        return wp::thread_rank_in_block() / Size * (Size / 32u);
    }
    WP_CG unsigned int wp_parent_threads() const {
        return parent_threads_;
    }
    /** What each warp of the tile has given: an array of wp_warps(). */
    template <class Value> WP_CG const Value *wp_exchange(const Value &of_warp, bool is_giver) const {
        sync();
        if (is_giver) {
            wp::slots<Value>()[wp::thread_rank_in_block() / 32u] = of_warp;
        }
        sync();
        return wp::slots<Value>() + wp_first_warp();
    }

  private:
    WP_CG explicit thread_block_tile(const Parent &parent)
        : parent_threads_(wp::threads_of(parent)) {
        parent.sync();
        if (thread_rank() == 0) {
            *wp::arrivals<Size>() = 0;
        }
        parent.sync();
    }
    WP_CG int is_any(int of_warp) const {
        const int *given = wp_exchange(of_warp, wp::lane() == 0);
        int any = 0;
        for (unsigned int w = 0; w < wp_warps(); w++) {
            any |= given[w];
        }
        return any;
    }
    unsigned int parent_threads_; /* 0: the block */

    template <unsigned int OtherSize, class Outer>
    friend WP_CG thread_block_tile<OtherSize, Outer> tiled_partition(const Outer &);
};

/** Memory that programs lend to tiles of several warps. Tiles have their own here. */
template <unsigned int MaxBlockSize = 1024> struct block_tile_memory {
    char wp_unused[1];
};

template <unsigned int MaxBlockSize>
WP_CG thread_block this_thread_block(block_tile_memory<MaxBlockSize> &) {
    return this_thread_block();
}

/* As toolkits before 12 had it. */
namespace experimental {

template <unsigned int TileCommunicationSize = 8, unsigned int MaxBlockSize = 1024>
struct block_tile_memory {
    char wp_unused[1];
};

template <unsigned int TileCommunicationSize, unsigned int MaxBlockSize>
WP_CG thread_block this_thread_block(block_tile_memory<TileCommunicationSize, MaxBlockSize> &) {
    return cooperative_groups::this_thread_block();
}

template <unsigned int Size, class Parent>
WP_CG thread_block_tile<Size, Parent> tiled_partition(const Parent &parent) {
    return cooperative_groups::tiled_partition<Size>(parent);
}

} // namespace experimental

} // namespace cooperative_groups

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Cooperative groups: sets of threads that synchronise and exchange values.
 *
 *     grid_group ⊃ thread_block ⊃ thread_block_tile<N> (N = 1 … 32) and coalesced_group
 *                              ⊃ thread_block_tile<N> (N = 64 … 1024): wp/wide_tile.h
 *
 * `thread_group` is the common base of all groups. Tiles and coalesced groups are
 * lanes of one warp, named by a lane mask; their collectives are the warp operations on that mask.
 * Shuffles accept any trivially copyable type and move 32 bits at a time.
 */
#ifndef WARPAGE_CUDA_COOPERATIVE_GROUPS_H
#define WARPAGE_CUDA_COOPERATIVE_GROUPS_H

#define _COOPERATIVE_GROUPS_H_

#include "cuda_runtime.h"

#if defined(__cplusplus) && defined(__CUDA__)

#if __cplusplus < 201103L
#error "cooperative_groups.h needs C++11"
#endif

#define WP_CG __device__ __inline__ __attribute__((always_inline))

namespace cooperative_groups {

namespace wp {

static WP_CG unsigned int lane() {
    return (unsigned int)__nvvm_read_ptx_sreg_laneid();
}

static WP_CG unsigned int thread_rank_in_block() {
    return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
}

static WP_CG unsigned int threads_in_block() {
    return blockDim.x * blockDim.y * blockDim.z;
}

/* One shuffle for each 32 bits of a value. */
template <class Value, class Function>
static WP_CG Value each_word(const Value &value, Function shuffle) {
    const unsigned int word_count = (sizeof(Value) + 3) / 4;
    unsigned int words[word_count];
    words[word_count - 1] = 0;
    __builtin_memcpy(words, &value, sizeof(Value));
#pragma unroll
    for (unsigned int i = 0; i < word_count; i++) {
        words[i] = shuffle(words[i]);
    }
    Value result;
    __builtin_memcpy(&result, words, sizeof(Value));
    return result;
}

template <class Value> struct copy_of { typedef Value type; };
template <class Value> struct copy_of<Value &> { typedef Value type; };
template <class Value> struct copy_of<const Value> { typedef Value type; };
template <class Value> struct copy_of<const Value &> { typedef Value type; };

template <unsigned int Size> struct is_tile_size {
    static const bool value =
        Size == 1 || Size == 2 || Size == 4 || Size == 8 || Size == 16 || Size == 32;
};

/* Tiles of `size` threads in a parent of `parent_threads`; 0: the block. */
static WP_CG unsigned int rank_in_parent(unsigned int size, unsigned int parent_threads) {
    const unsigned int own = thread_rank_in_block();
    return (parent_threads == 0 ? own : own & (parent_threads - 1u)) / size;
}

static WP_CG unsigned int count_in_parent(unsigned int size, unsigned int parent_threads) {
    return ((parent_threads == 0 ? threads_in_block() : parent_threads) + size - 1u) / size;
}

enum kind { kind_lanes, kind_block, kind_cluster, kind_grid };

} // namespace wp

/* ---- any group ------------------------------------------------------------------------------- */

class thread_group {
  public:
    WP_CG void sync() const {
        if (kind_ == wp::kind_lanes) {
            __syncwarp(mask_);
        } else if (kind_ == wp::kind_block) {
            __syncthreads();
        } else if (kind_ == wp::kind_cluster) {
            __cluster_barrier_arrive();
            __cluster_barrier_wait();
        } else {
            __wp_grid_sync();
        }
    }
    WP_CG unsigned long long size() const {
        if (kind_ == wp::kind_lanes) {
            return (unsigned long long)__popc(mask_);
        }
        const unsigned long long block = wp::threads_in_block();
        if (kind_ == wp::kind_cluster) {
            return block * __clusterSizeInBlocks();
        }
        return kind_ == wp::kind_block ? block : block * gridDim.x * gridDim.y * gridDim.z;
    }
    WP_CG unsigned long long num_threads() const {
        return size();
    }
    WP_CG unsigned long long thread_rank() const {
        if (kind_ == wp::kind_lanes) {
            return (unsigned long long)__popc(mask_ & ((1u << wp::lane()) - 1u));
        }
        const unsigned long long in_block = wp::thread_rank_in_block();
        if (kind_ == wp::kind_block) {
            return in_block;
        }
        if (kind_ == wp::kind_cluster) {
            return in_block + (unsigned long long)wp::threads_in_block() *
                                  __clusterRelativeBlockRank();
        }
        const unsigned long long block =
            blockIdx.x + (unsigned long long)gridDim.x *
                             (blockIdx.y + (unsigned long long)gridDim.y * blockIdx.z);
        return block * wp::threads_in_block() + in_block;
    }
    WP_CG bool is_valid() const {
        return kind_ != wp::kind_grid || __wp_grid_is_valid() != 0;
    }
    /** The lanes of a tile or coalesced group. */
    WP_CG unsigned int wp_mask() const {
        return mask_;
    }

  protected:
    WP_CG thread_group(wp::kind kind, unsigned int mask) : kind_(kind), mask_(mask) {
    }
    wp::kind kind_;
    unsigned int mask_; /* lanes of the warp; all ones for larger groups */

    friend WP_CG thread_group tiled_partition(const thread_group &parent, unsigned int tile_size);
};

/* ---- block and grid -------------------------------------------------------------------------- */

class thread_block : public thread_group {
  public:
    static WP_CG void sync() {
        __syncthreads();
    }
    static WP_CG unsigned int size() {
        return wp::threads_in_block();
    }
    static WP_CG unsigned int num_threads() {
        return wp::threads_in_block();
    }
    static WP_CG unsigned int thread_rank() {
        return wp::thread_rank_in_block();
    }
    static WP_CG dim3 group_index() {
        return dim3(blockIdx.x, blockIdx.y, blockIdx.z);
    }
    static WP_CG dim3 thread_index() {
        return dim3(threadIdx.x, threadIdx.y, threadIdx.z);
    }
    static WP_CG dim3 group_dim() {
        return dim3(blockDim.x, blockDim.y, blockDim.z);
    }
    static WP_CG dim3 dim_threads() {
        return dim3(blockDim.x, blockDim.y, blockDim.z);
    }

  private:
    WP_CG thread_block() : thread_group(wp::kind_block, 0xffffffffu) {
    }
    friend WP_CG thread_block this_thread_block();
};

WP_CG thread_block this_thread_block() {
    return thread_block();
}

/** The blocks of a cluster: those of a launch without clusters are clusters of one block. */
class cluster_group : public thread_group {
  public:
    struct arrival_token {};

    static WP_CG void sync() {
        __cluster_barrier_arrive();
        __cluster_barrier_wait();
    }
    static WP_CG arrival_token barrier_arrive() {
        __cluster_barrier_arrive();
        return arrival_token();
    }
    static WP_CG void barrier_wait() {
        __cluster_barrier_wait();
    }
    static WP_CG void barrier_wait(arrival_token &&) {
        __cluster_barrier_wait();
    }
    /** The rank of the block in whose shared memory the address is. */
    static WP_CG unsigned int query_shared_rank(const void *address) {
        return __cluster_query_shared_rank(address);
    }
    /** The same variable in the shared memory of the block `rank`. */
    template <class T> static WP_CG T *map_shared_rank(T *address, int rank) {
        return (T *)__cluster_map_shared_rank((const void *)address, (unsigned int)rank);
    }
    static WP_CG dim3 block_index() {
        return __clusterRelativeBlockIdx();
    }
    static WP_CG unsigned int block_rank() {
        return __clusterRelativeBlockRank();
    }
    static WP_CG dim3 thread_index() {
        const dim3 block = __clusterRelativeBlockIdx();
        return dim3(block.x * blockDim.x + threadIdx.x, block.y * blockDim.y + threadIdx.y,
                    block.z * blockDim.z + threadIdx.z);
    }
    static WP_CG unsigned int thread_rank() {
        return __clusterRelativeBlockRank() * wp::threads_in_block() + wp::thread_rank_in_block();
    }
    static WP_CG dim3 dim_blocks() {
        return __clusterDim();
    }
    static WP_CG unsigned int num_blocks() {
        return __clusterSizeInBlocks();
    }
    static WP_CG dim3 dim_threads() {
        const dim3 blocks = __clusterDim();
        return dim3(blocks.x * blockDim.x, blocks.y * blockDim.y, blocks.z * blockDim.z);
    }
    static WP_CG unsigned int num_threads() {
        return __clusterSizeInBlocks() * wp::threads_in_block();
    }
    static WP_CG unsigned int size() {
        return num_threads();
    }

  private:
    WP_CG cluster_group() : thread_group(wp::kind_cluster, 0xffffffffu) {
    }
    friend WP_CG cluster_group this_cluster();
};

WP_CG cluster_group this_cluster() {
    return cluster_group();
}

class grid_group : public thread_group {
  public:
    static WP_CG void sync() {
        __wp_grid_sync();
    }
    static WP_CG bool is_valid() {
        return __wp_grid_is_valid() != 0;
    }
    WP_CG unsigned long long size() const {
        return thread_group::size();
    }
    WP_CG unsigned long long num_threads() const {
        return thread_group::size();
    }
    WP_CG unsigned long long thread_rank() const {
        return thread_group::thread_rank();
    }
    static WP_CG dim3 group_dim() {
        return dim3(gridDim.x, gridDim.y, gridDim.z);
    }
    static WP_CG dim3 dim_blocks() {
        return dim3(gridDim.x, gridDim.y, gridDim.z);
    }
    static WP_CG dim3 block_index() {
        return dim3(blockIdx.x, blockIdx.y, blockIdx.z);
    }
    static WP_CG unsigned long long num_blocks() {
        return (unsigned long long)gridDim.x * gridDim.y * gridDim.z;
    }
    static WP_CG unsigned long long block_rank() {
        return blockIdx.x + (unsigned long long)gridDim.x *
                                (blockIdx.y + (unsigned long long)gridDim.y * blockIdx.z);
    }

  private:
    WP_CG grid_group() : thread_group(wp::kind_grid, 0xffffffffu) {
    }
    friend WP_CG grid_group this_grid();
};

WP_CG grid_group this_grid() {
    return grid_group();
}

/* ---- lanes ----------------------------------------------------------------------------------- */

/** The lanes of a mask, ranked in lane order. */
class coalesced_group : public thread_group {
  public:
    WP_CG void sync() const {
        __syncwarp(mask_);
    }
    WP_CG unsigned int size() const {
        return (unsigned int)__popc(mask_);
    }
    WP_CG unsigned int num_threads() const {
        return size();
    }
    WP_CG unsigned int thread_rank() const {
        return (unsigned int)__popc(mask_ & ((1u << wp::lane()) - 1u));
    }
    WP_CG unsigned int meta_group_rank() const {
        return 0;
    }
    WP_CG unsigned int meta_group_size() const {
        return 1;
    }

    template <class Value>
    WP_CG typename wp::copy_of<Value>::type shfl(Value &&value, unsigned int rank) const {
        return from_lane<typename wp::copy_of<Value>::type>(value, lane_of(rank));
    }
    /* Beyond either end, a thread receives its own value. */
    template <class Value>
    WP_CG typename wp::copy_of<Value>::type shfl_up(Value &&value, unsigned int delta) const {
        const unsigned int own = thread_rank();
        return from_lane<typename wp::copy_of<Value>::type>(
            value, lane_of(own < delta ? own : own - delta));
    }
    template <class Value>
    WP_CG typename wp::copy_of<Value>::type shfl_down(Value &&value, unsigned int delta) const {
        const unsigned int own = thread_rank();
        const bool is_inside = delta < size() - own;
        return from_lane<typename wp::copy_of<Value>::type>(value,
                                                            lane_of(is_inside ? own + delta : own));
    }
    WP_CG int any(int predicate) const {
        return __any_sync(mask_, predicate);
    }
    WP_CG int all(int predicate) const {
        return __all_sync(mask_, predicate);
    }
    WP_CG unsigned int ballot(int predicate) const {
        return pack(__ballot_sync(mask_, predicate));
    }
    template <class Value> WP_CG unsigned int match_any(Value value) const {
        return pack(__match_any_sync(mask_, value));
    }
    template <class Value> WP_CG unsigned int match_all(Value value, int &predicate) const {
        return pack(__match_all_sync(mask_, value, &predicate));
    }

  private:
    WP_CG explicit coalesced_group(unsigned int mask) : thread_group(wp::kind_lanes, mask) {
    }

    WP_CG unsigned int lane_of(unsigned int rank) const {
        return __fns(mask_, 0, (int)rank + 1) & 31u;
    }
    template <class Value> WP_CG Value from_lane(const Value &value, unsigned int source) const {
        const unsigned int mask = mask_;
        return wp::each_word(value, [mask, source](unsigned int word) {
            return __shfl_sync(mask, word, (int)source);
        });
    }
    /* Converts a mask of lanes to a mask of ranks. */
    WP_CG unsigned int pack(unsigned int lanes) const {
        unsigned int packed = 0, rank = 0;
        for (unsigned int rest = mask_; rest != 0; rest &= rest - 1) {
            packed |= (lanes & rest & (0u - rest)) != 0 ? 1u << rank : 0u;
            rank++;
        }
        return packed;
    }

    friend WP_CG coalesced_group coalesced_threads();
    template <class Group> friend WP_CG coalesced_group binary_partition(const Group &, bool);
    template <class Group, class Label>
    friend WP_CG coalesced_group labeled_partition(const Group &, Label);
};

WP_CG coalesced_group coalesced_threads() {
    return coalesced_group(__activemask());
}

template <unsigned int Size, class Parent = void, bool IsWide = (Size > 32)>
class thread_block_tile;

namespace wp {

/* The threads of a tile that is partitioned again; 0: the block. */
template <class Group> static WP_CG constexpr unsigned int threads_of(const Group &) {
    return 0;
}
template <unsigned int Size, class Parent>
static WP_CG constexpr unsigned int threads_of(const thread_block_tile<Size, Parent> &) {
    return Size;
}

} // namespace wp

/** A tile of Size adjacent lanes. */
template <unsigned int Size, class Parent>
class thread_block_tile<Size, Parent, false> : public thread_group {
    static_assert(wp::is_tile_size<Size>::value, "a tile has 1, 2, 4, 8, 16 or 32 threads");

  public:
    /* Converts implicitly to the tile type that does not name the parent. */
    template <class Other>
    WP_CG thread_block_tile(const thread_block_tile<Size, Other> &other)
        : thread_block_tile(other.wp_parent_threads()) {
    }
    WP_CG void sync() const {
        __syncwarp(mask_);
    }
    static WP_CG constexpr unsigned int size() {
        return Size;
    }
    static WP_CG constexpr unsigned int num_threads() {
        return Size;
    }
    static WP_CG unsigned int thread_rank() {
        return wp::lane() & (Size - 1u);
    }
    /* Rank of this tile among those of the parent. */
    WP_CG unsigned int meta_group_rank() const {
        return wp::rank_in_parent(Size, parent_threads_);
    }
    WP_CG unsigned int meta_group_size() const {
        return wp::count_in_parent(Size, parent_threads_);
    }
    WP_CG unsigned int wp_parent_threads() const {
        return parent_threads_;
    }

    template <class Value>
    WP_CG typename wp::copy_of<Value>::type shfl(Value &&value, int rank) const {
        const unsigned int mask = mask_;
        return wp::each_word<typename wp::copy_of<Value>::type>(
            value, [mask, rank](unsigned int word) { return __shfl_sync(mask, word, rank, Size); });
    }
    template <class Value>
    WP_CG typename wp::copy_of<Value>::type shfl_up(Value &&value, unsigned int delta) const {
        const unsigned int mask = mask_;
        return wp::each_word<typename wp::copy_of<Value>::type>(
            value,
            [mask, delta](unsigned int word) { return __shfl_up_sync(mask, word, delta, Size); });
    }
    template <class Value>
    WP_CG typename wp::copy_of<Value>::type shfl_down(Value &&value, unsigned int delta) const {
        const unsigned int mask = mask_;
        return wp::each_word<typename wp::copy_of<Value>::type>(
            value,
            [mask, delta](unsigned int word) { return __shfl_down_sync(mask, word, delta, Size); });
    }
    template <class Value>
    WP_CG typename wp::copy_of<Value>::type shfl_xor(Value &&value, unsigned int lane_mask) const {
        const unsigned int mask = mask_;
        return wp::each_word<typename wp::copy_of<Value>::type>(
            value, [mask, lane_mask](unsigned int word) {
                return __shfl_xor_sync(mask, word, (int)lane_mask, Size);
            });
    }
    WP_CG int any(int predicate) const {
        return __any_sync(mask_, predicate);
    }
    WP_CG int all(int predicate) const {
        return __all_sync(mask_, predicate);
    }
    WP_CG unsigned int ballot(int predicate) const {
        return __ballot_sync(mask_, predicate) >> first_lane();
    }
    template <class Value> WP_CG unsigned int match_any(Value value) const {
        return __match_any_sync(mask_, value) >> first_lane();
    }
    template <class Value> WP_CG unsigned int match_all(Value value, int &predicate) const {
        return __match_all_sync(mask_, value, &predicate) >> first_lane();
    }

  private:
    WP_CG explicit thread_block_tile(unsigned int parent_threads)
        : thread_group(wp::kind_lanes, all_lanes() << first_lane()),
          parent_threads_(parent_threads) {
    }
    template <class Group>
    WP_CG explicit thread_block_tile(const Group &parent)
        : thread_block_tile(wp::threads_of(parent)) {
    }
    static WP_CG unsigned int first_lane() {
        return wp::lane() & ~(Size - 1u);
    }
    static WP_CG unsigned int all_lanes() {
        return 0xffffffffu >> (32u - Size);
    }

    template <unsigned int OtherSize, class Outer>
    friend WP_CG thread_block_tile<OtherSize, Outer> tiled_partition(const Outer &);
    friend WP_CG thread_block_tile<1, void> this_thread();

    unsigned int parent_threads_; /* 0: the block */
};

template <unsigned int Size, class Parent>
WP_CG thread_block_tile<Size, Parent> tiled_partition(const Parent &parent) {
    return thread_block_tile<Size, Parent>(parent);
}

WP_CG thread_block_tile<1, void> this_thread() {
    return thread_block_tile<1, void>(1u);
}

/** Partitions `parent` into tiles of `tile_size` ranks, a size known only at run time. */
WP_CG thread_group tiled_partition(const thread_group &parent, unsigned int tile_size) {
    if (parent.kind_ != wp::kind_lanes || parent.mask_ == 0xffffffffu) {
        const unsigned int lanes = tile_size >= 32u ? 0xffffffffu : (1u << tile_size) - 1u;
        const unsigned int first = tile_size >= 32u ? 0u : wp::lane() / tile_size * tile_size;
        return thread_group(wp::kind_lanes, lanes << first);
    }
    const unsigned int own_tile = (unsigned int)parent.thread_rank() / tile_size;
    unsigned int mask = 0, rank = 0;
    for (unsigned int rest = parent.mask_; rest != 0; rest &= rest - 1) {
        mask |= rank / tile_size == own_tile ? rest & (0u - rest) : 0u;
        rank++;
    }
    return thread_group(wp::kind_lanes, mask);
}

/** Partitions a tile or coalesced group by label, or by predicate. */
template <class Group, class Label>
WP_CG coalesced_group labeled_partition(const Group &group, Label label) {
    return coalesced_group(__match_any_sync(group.wp_mask(), label));
}
template <class Group> WP_CG coalesced_group binary_partition(const Group &group, bool side) {
    const unsigned int yes = __ballot_sync(group.wp_mask(), side);
    return coalesced_group(side ? yes : group.wp_mask() & ~yes);
}
/* With the tile's size named, binary_partition<Size>(tile, side). */
template <unsigned int Size, class Parent>
WP_CG coalesced_group binary_partition(const thread_block_tile<Size, Parent> &tile, bool side) {
    return binary_partition<thread_block_tile<Size, Parent>>(tile, side);
}

/* ---- free functions -------------------------------------------------------------------------- */

template <class Group> WP_CG void sync(const Group &group) {
    group.sync();
}
template <class Group> WP_CG auto thread_rank(const Group &group) -> decltype(group.thread_rank()) {
    return group.thread_rank();
}
template <class Group> WP_CG auto group_size(const Group &group) -> decltype(group.size()) {
    return group.size();
}
template <class Group> WP_CG bool is_valid(const Group &group) {
    return group.is_valid();
}

/** One unspecified thread calls `function`. The second form returns its result to all threads. */
template <class Group, class Function, class... Arguments>
WP_CG void invoke_one(const Group &group, Function &&function, Arguments &&...arguments) {
    if (group.thread_rank() == 0) {
        function(static_cast<Arguments &&>(arguments)...);
    }
}
template <class Group, class Function, class... Arguments>
WP_CG auto invoke_one_broadcast(const Group &group, Function &&function, Arguments &&...arguments)
    -> decltype(function(static_cast<Arguments &&>(arguments)...)) {
    decltype(function(static_cast<Arguments &&>(arguments)...)) answer{};
    if (group.thread_rank() == 0) {
        answer = function(static_cast<Arguments &&>(arguments)...);
    }
    return group.shfl(answer, 0);
}

/** Copies with all threads of a group; wait() makes the copy visible to all of them. */
template <class Group, class Value>
WP_CG void memcpy_async(const Group &group, Value *to, const Value *from, size_t bytes) {
    const size_t count = (size_t)group.size();
    for (size_t i = (size_t)group.thread_rank(); i < bytes; i += count) {
        ((char *)to)[i] = ((const char *)from)[i];
    }
}
template <class Group> WP_CG void wait(const Group &group) {
    group.sync();
}
template <unsigned int Size, class Group> WP_CG void wait_prior(const Group &group) {
    group.sync();
}

} // namespace cooperative_groups

#include "wp/wide_tile.h"

#endif
#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The device side of windows: what a kernel that follows its data calls in place of reading and
 * writing mapped data (src/compiler/rewrite/stream_window.c). A thread waits where it reads, so the
 * kernel keeps its control flow, its barriers and its warp functions.
 *
 * Lanes of a warp that wait one after the other would make all of them wait each time. So a lane
 * that misses raises the warp's epoch, and the others ask for a new window at their next read if
 * they have used half of theirs. The store comes before the load: lanes that are together refill
 * together.
 */
#include "base/stream_window_abi.h"
#include "stream/streamlib/streamlib.h"

#define EACH_WINDOW_IF(condition)                                                                  \
    _Pragma("clang loop unroll(full)") for (int w = 0; w < WPI_STREAM_WINDOWS; w++) if (condition)
#define EACH_WINDOW EACH_WINDOW_IF((uint32_t)w < windows)
#define EACH_WINDOW_OF(mask) EACH_WINDOW_IF((mask) >> w & 1)

typedef wpi_window_thread thread_state;

#define SHARED static __attribute__((address_space(3)))
SHARED uint32_t shared_set, shared_ended;
/* Of each warp. With the name `__wp_hint_`, it does not have lanes meet before each access. */
SHARED uint32_t __wp_hint_epoch[WPI_STREAM_WINDOWS][WPI_WINDOW_LANES];

static INLINE uint32_t thread_number(void) {
    return (uint32_t)__nvvm_read_ptx_sreg_tid_x() +
           (uint32_t)__nvvm_read_ptx_sreg_ntid_x() *
               ((uint32_t)__nvvm_read_ptx_sreg_tid_y() +
                (uint32_t)__nvvm_read_ptx_sreg_ntid_y() * (uint32_t)__nvvm_read_ptx_sreg_tid_z());
}

static INLINE uint32_t threads_of_block(void) {
    return (uint32_t)__nvvm_read_ptx_sreg_ntid_x() * (uint32_t)__nvvm_read_ptx_sreg_ntid_y() *
           (uint32_t)__nvvm_read_ptx_sreg_ntid_z();
}

static INLINE uint64_t index_of(const thread_state *s) {
    return (uint64_t)s->set * s->launch->threads + s->thread;
}

static INLINE uint64_t warp_of(const thread_state *s) {
    return index_of(s) / WPI_WINDOW_LANES;
}

/* ---- requests ---- */

/* The host takes the thread's writes, then fills the window, if one is wanted. A kernel has this
 * code at each access. */
static INLINE void ask(thread_state *s, uint64_t want, uint32_t has_writes) {
    const uint64_t before_ns = now_ns();
    *s->want_at = want;
    if (has_writes) {
        *s->write_count_at = s->writes;
        s->writes = 0;
    }
    __nvvm_membar_sys();
    const uint32_t ticket = (uint32_t)__nvvm_atom_add_gen_i((int *)s->tickets, 1);
    const uint32_t lap = ticket >> s->ring_shift;
    *(volatile uint32_t *)(s->ring + (ticket - (lap << s->ring_shift))) = s->number ^ (lap & 1);
    s->asked++;
    await(s->answered_at, s->asked);
    __nvvm_membar_gl();
    s->waited_ns += now_ns() - before_ns;
}

/* ---- begin and end of a thread ---- */

INLINE void __wp_stream_window_begin(thread_state *s, const wpi_window_launch *l, uint32_t windows,
                                     uint32_t granule, uint32_t reads_own) {
    s->launch = l;
    s->thread = thread_number();
    if (s->thread == 0) {
        shared_set = take_set(l->busy, l->set_count, l->block);
        shared_ended = 0;
    }
    const uint32_t warp = s->thread / WPI_WINDOW_LANES;
    if (s->thread % WPI_WINDOW_LANES == 0) EACH_WINDOW __wp_hint_epoch[w][warp] = 0;
    __syncthreads();
    s->set = shared_set;
    const uint32_t group = s->set / l->sets_per_group;
    const uint32_t number = (s->set - group * l->sets_per_group) * l->threads + s->thread;
    s->number = number << 1 | 1;
    s->want_at = l->wants + index_of(s);
    s->write_count_at = l->write_counts + index_of(s);
    s->answered_at = l->answered + index_of(s);
    s->tickets = word_of(l->tickets, group);
    s->ring = l->ring + ((uint64_t)group << l->ring_shift);
    s->ring_shift = l->ring_shift;
    s->asked = *(const volatile uint32_t *)s->answered_at;
    s->writes = 0;
    s->waited_ns = 0;
    s->began_ns = now_ns();
    const uint64_t warps = (uint64_t)l->set_count * l->threads / WPI_WINDOW_LANES;
    s->step = l->step;
    s->kept_count = l->kept_count;
    const uint64_t head = (uint64_t)(s->thread % WPI_WINDOW_LANES) << granule;
    const uint64_t content = ((uint64_t)WPI_WINDOW_LANES << granule) + head * l->lane_step;
    EACH_WINDOW {
        const uint64_t region = ((uint64_t)w * warps + warp_of(s)) * l->region_bytes;
        s->epoch[w] = s->valid[w] = 0;
        s->first[w] = 0;
        s->head_at[w] = l->data + region + head;
        s->own_content[w] = (reads_own ? l->own_data : l->data) + region + content;
        s->content[w] = s->own_content[w];
        s->steps[w] = s->step;
    }
}

/* The last thread of a block gives its set back. */
INLINE void __wp_stream_window_end(thread_state *s, uint32_t has_writes) {
    if (has_writes && s->writes != 0) ask(s, 0, 1);
    if (s->thread == 0) {
        volatile uint64_t *times = s->launch->times + (uint64_t)s->set * WPI_STREAM_TIMES;
        times[WORKED] += now_ns() - s->began_ns - s->waited_ns;
        times[WAITED] += s->waited_ns;
    }
    __nvvm_membar_gl();
    const uint32_t ended = (uint32_t)__nvvm_atom_add_gen_i((int *)&shared_ended, 1);
    if (ended + 1 == threads_of_block()) *(volatile uint32_t *)word_of(s->launch->busy, s->set) = 0;
}

/* ---- reads ---- */

enum { KEPT_WINDOW_SHIFT = 30 };

/* The window becomes the part of the kept data that the address is in. */
static INLINE void look_into_kept(thread_state *s, uint32_t w, const wpi_stream_kept *kept,
                                  uint64_t address) {
    const uint64_t before = (address - kept->first) >> KEPT_WINDOW_SHIFT << KEPT_WINDOW_SHIFT;
    const uint64_t left = kept->bytes - before, most = (uint64_t)1 << KEPT_WINDOW_SHIFT;
    s->first[w] = kept->first + before;
    s->valid[w] = (uint32_t)(left < most ? left : most);
    s->content[w] = kept->memory + before;
    s->steps[w] = 1;
}

/* A thread that reads what it wrote has a window that only it writes to: the host's copies are of
 * whole warps, with what other lanes were sent before. */
static INLINE void refill(thread_state *s, uint32_t w, uint32_t granule, uint64_t address,
                          uint32_t bytes, uint32_t reads_own) {
    const uint64_t step = (uint64_t)s->step << granule;
    if (s->kept_count != 0) {
        const wpi_stream_kept *kept = kept_at(s->launch->kept, s->kept_count, address, bytes);
        if (kept) {
            look_into_kept(s, w, kept, address);
            return;
        }
        s->content[w] = s->own_content[w];
        s->steps[w] = s->step;
    }
    ask(s,
        address | (uint64_t)bytes << WPI_WINDOW_BYTES_SHIFT |
            (uint64_t)w << WPI_WINDOW_NUMBER_SHIFT,
        reads_own);
    char *to = s->content[w];
    const char *from = reads_own ? s->launch->data + (to - s->launch->own_data) : to;
    s->first[w] = address >> granule << granule;
    s->valid[w] = load_4(s->head_at[w]);
    if (!reads_own) return;
    for (uint32_t at = 0; at < s->valid[w]; at += 1u << granule, to += step, from += step)
        copy_value(to, from, granule);
}

static INLINE char *place(const thread_state *s, uint32_t w, uint32_t granule, uint64_t offset) {
    const uint32_t at = (uint32_t)offset, inside = (1u << granule) - 1;
    return s->content[w] + ((at & ~inside) * s->steps[w] + (at & inside));
}

/* Where the bytes are, in the thread's window. An aligned read does not begin in a window and end
 * behind it; the sum does not wrap. */
static INLINE const char *find(thread_state *s, uint32_t w, uint32_t granule, uint32_t bytes,
                               uint32_t reads_own, const void *address) {
    const uint64_t at = (uint64_t)address;
    uint64_t offset = at - s->first[w];
    const uint32_t is_missing = offset + (bytes - 1) >= s->valid[w];
    __attribute__((address_space(3))) uint32_t *epoch =
        &__wp_hint_epoch[w][s->thread / WPI_WINDOW_LANES];
    if (is_missing) *epoch = s->epoch[w] + 1;
    __asm__ volatile("" ::: "memory");
    const uint32_t now = *epoch;
    if (is_missing || now != s->epoch[w]) {
        s->epoch[w] = now;
        if (is_missing || offset * 2 >= s->valid[w]) {
            refill(s, w, granule, at, bytes, reads_own);
            offset = at - s->first[w];
        }
    }
    return place(s, w, granule, offset);
}

/* ---- writes ---- */

/* The slot for a value. Windows in which the thread may read it again get it, too: `windows` has
 * their bits. */
static INLINE char *put(thread_state *s, uint32_t k, void *address) {
    const wpi_window_launch *l = s->launch;
    if (s->writes == l->write_slots) ask(s, 0, 1);
    const uint64_t slot =
        (warp_of(s) * l->write_slots + s->writes) * WPI_WINDOW_LANES + s->thread % WPI_WINDOW_LANES;
    l->targets[slot] = (uint64_t)address | (uint64_t)k << WPI_WINDOW_BYTES_SHIFT;
    s->writes++;
    return l->values + (slot << l->value_class);
}

#define ACCESS(bytes, k, type)                                                                     \
    INLINE type __wp_stream_window_read_##bytes(thread_state *s, uint32_t w, uint32_t granule,     \
                                                uint32_t reads_own, const void *address) {         \
        return load_##bytes(find(s, w, granule, bytes, reads_own, address));                       \
    }                                                                                              \
    INLINE void __wp_stream_window_write_##bytes(thread_state *s, uint32_t windows,                \
                                                 uint32_t granule, void *address, type value) {    \
        *(type *)put(s, k, address) = value;                                                       \
        if (s->kept_count != 0) {                                                                  \
            char *kept = kept_place(s->launch->kept, s->kept_count, (uint64_t)address, bytes);     \
            if (kept) *(type *)kept = value;                                                       \
        }                                                                                          \
        EACH_WINDOW_OF(windows) {                                                                  \
            const uint64_t offset = (uint64_t)address - s->first[w];                               \
            if (offset + (bytes - 1) < s->valid[w])                                                \
                *(type *)place(s, (uint32_t)w, granule, offset) = value;                           \
        }                                                                                          \
    }
ACCESS(1, 0, uint8_t)
ACCESS(2, 1, uint16_t)
ACCESS(4, 2, uint32_t)
ACCESS(8, 3, uint64_t)
ACCESS(16, 4, unsigned __int128)

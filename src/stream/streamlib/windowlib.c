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
#define EACH_WIDTH(define)                                                                         \
    define(1, 0, uint8_t) define(2, 1, uint16_t) define(4, 2, uint32_t) define(8, 3, uint64_t)     \
        define(16, 4, unsigned __int128)

typedef wpi_window_thread thread_state;

#define SHARED __attribute__((address_space(3)))
/* With a name of `__wp_hint_`, it does not have lanes meet before each access. */
static SHARED struct {
    uint32_t set, ended;                                 /* of the block; threads that have ended */
    uint8_t epoch[WPI_STREAM_WINDOWS][WPI_WINDOW_LANES]; /* of each warp; it may wrap */
} __wp_hint_block;

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

/* ---- requests ---- */

/*
 * What a thread needs for a request follows from its index and the launch, and is found anew each
 * time: a request takes microseconds, but what a thread keeps from one to the next takes registers,
 * and so threads of an SM, all the time.
 */

static INLINE uint32_t set_of_block(void) {
    return *(volatile SHARED uint32_t *)&__wp_hint_block.set;
}

/* Thread 0 of a block adds to its times. */
static INLINE void note_time(const wpi_window_launch *l, uint32_t index, uint32_t what,
                             uint64_t since_ns) {
    const uint32_t set = set_of_block();
    if (index == set * l->threads)
        l->times[(uint64_t)set * WPI_STREAM_TIMES + what] += now_ns() - since_ns;
}

static INLINE void write_ticket(const wpi_window_launch *l, uint32_t index) {
    const uint32_t group = index / l->group_threads, number = index - group * l->group_threads;
    const uint32_t ticket = (uint32_t)__nvvm_atom_add_gen_i((int *)word_of(l->tickets, group), 1);
    const uint32_t lap = ticket >> l->ring_shift, at = ticket - (lap << l->ring_shift);
    volatile uint32_t *ring = l->ring + ((uint64_t)group << l->ring_shift);
    ring[at] = (number << 1 | 1) ^ (lap & 1);
}

/* The host takes the thread's writes, then fills the window, if one is wanted: its bytes. */
static INLINE uint32_t ask(const wpi_window_launch *l, uint32_t index, uint64_t want,
                           uint32_t writes) {
    const volatile uint32_t *answer = l->answers + index;
    const uint32_t last = *answer;
    const uint64_t before_ns = now_ns();
    uint32_t now;
    l->wants[index] = want;
    if (writes != 0) l->write_counts[index] = writes;
    __nvvm_membar_sys();
    write_ticket(l, index);
    while ((now = *answer) == last && last != WPI_STREAM_END)
        __wp_host_pause();
    if (now == WPI_STREAM_END || last == WPI_STREAM_END) __builtin_trap();
    __nvvm_membar_sys();
    note_time(l, index, WAITED, before_ns);
    return now >> 1;
}

static INLINE void send_writes(thread_state *s) {
    (void)ask(s->launch, s->index, 0, s->writes);
    s->writes = 0;
}

/* ---- begin and end of a thread ---- */

INLINE void __wp_stream_window_begin(thread_state *s, const wpi_window_launch *l,
                                     uint32_t windows) {
    const uint32_t thread = thread_number(), warp = thread / WPI_WINDOW_LANES,
                   lane = thread % WPI_WINDOW_LANES;
    if (thread == 0) {
        __wp_hint_block.set = take_set(l->busy, l->set_count, l->block);
        __wp_hint_block.ended = 0;
    }
    if (lane == 0) EACH_WINDOW __wp_hint_block.epoch[w][warp] = 0;
    __syncthreads();
    s->launch = l;
    s->index = set_of_block() * l->threads + thread;
    s->epoch_at = (void *)&__wp_hint_block.epoch[0][warp];
    s->kept_count = l->kept_count;
    s->writes = 0;
    s->slot = (uint64_t)(s->index - lane) * l->write_slots + lane;
    EACH_WINDOW {
        s->epoch[w] = s->valid[w] = 0;
        s->first[w] = 0;
        s->content[w] = NULL;
        s->gaps[w] = 0;
    }
    s->since_ns = now_ns();
}

/* The last thread of a block gives its set back. */
INLINE void __wp_stream_window_end(thread_state *s, uint32_t has_writes) {
    if (has_writes && s->writes != 0) send_writes(s);
    note_time(s->launch, s->index, WORKED, s->since_ns);
    __nvvm_membar_gl();
    const uint32_t ended = (uint32_t)__nvvm_atom_add_gen_i((int *)&__wp_hint_block.ended, 1);
    if (ended + 1 == threads_of_block())
        *(volatile uint32_t *)word_of(s->launch->busy, set_of_block()) = 0;
}

/* ---- reads ---- */

#define GLOBAL __attribute__((address_space(1)))
typedef uint32_t words __attribute__((vector_size(WPI_WINDOW_PIECE)));
typedef unsigned __int128 piece;

static INLINE piece load_piece(const char *at) {
    return (piece) * (const volatile GLOBAL words *)at;
}

static INLINE void put_granule(char *to, piece from, uint32_t granule) {
    switch (granule) {
    case 2: *(GLOBAL uint32_t *)to = (uint32_t)from; break;
    case 3: *(GLOBAL uint64_t *)to = (uint64_t)from; break;
    default: *(GLOBAL piece *)to = from;
    }
}

/* The next granule to the front. */
static INLINE void shift(piece *first, piece *second, uint32_t granule) {
    const uint32_t bits = 8u << granule, all = 8 * WPI_WINDOW_PIECE;
    *first = granule == 4 ? *second : *first >> bits | *second << (all - bits);
    *second = granule == 4 ? 0 : *second >> bits;
}

/* What the host laid out in its memory for this thread becomes the window's content, two pieces at
 * a time. Lanes that go together read neighbouring pieces over the link. */
static INLINE char *pull(const wpi_window_launch *l, uint32_t index, uint32_t w, uint32_t granule,
                         uint32_t bytes) {
    enum { LANES = WPI_WINDOW_LANES, PIECE = WPI_WINDOW_PIECE };
    const uint32_t lane = index % LANES, step = l->step << granule;
    const uint32_t warps = l->set_count * l->threads / LANES;
    const uint64_t region = (uint64_t)(w * warps + index / LANES) * l->region_bytes;
    const char *source = l->source + region + lane * PIECE;
    char *content = l->data + region + (lane * l->lane_step << granule);
    for (uint32_t at = 0, to = 0; at < bytes; at += 2 * PIECE) {
        piece first = load_piece(source + at * LANES),
              second = load_piece(source + (at + PIECE) * LANES);
        _Pragma("clang loop unroll(disable)") for (uint32_t left = 2 * PIECE >> granule; left != 0;
                                                   left--, to += step) {
            put_granule(content + to, first, granule);
            shift(&first, &second, granule);
        }
    }
    return content;
}

typedef struct filled {
    char *content;
    uint32_t bytes;
} filled;

/* Called, not inlined: what the kernel holds in registers meanwhile is saved here, and only here.
 */
static __attribute__((noinline, convergent)) filled fill(const wpi_window_launch *l, uint32_t index,
                                                         uint64_t want, uint32_t granule,
                                                         uint32_t writes) {
    const uint32_t bytes = ask(l, index, want, writes);
    return (filled){pull(l, index, (uint32_t)(want >> WPI_WINDOW_NUMBER_SHIFT), granule, bytes),
                    bytes};
}

enum { KEPT_WINDOW_SHIFT = 30 };

/* The window becomes the part of the kept data that the address is in. */
static INLINE void look_into_kept(thread_state *s, uint32_t w, const wpi_stream_kept *kept,
                                  uint64_t address) {
    const uint64_t before = (address - kept->first) >> KEPT_WINDOW_SHIFT << KEPT_WINDOW_SHIFT;
    const uint64_t left = kept->bytes - before, most = (uint64_t)1 << KEPT_WINDOW_SHIFT;
    s->first[w] = kept->first + before;
    s->valid[w] = (uint32_t)(left < most ? left : most);
    s->content[w] = kept->memory + before;
    s->gaps[w] = 0;
}

static INLINE void refill(thread_state *s, uint32_t w, uint32_t granule, uint64_t address,
                          uint32_t bytes, uint32_t reads_own) {
    const uint32_t kept_count = *(const volatile uint32_t *)&s->launch->kept_count;
    if (kept_count != 0) {
        const wpi_stream_kept *kept = kept_at(s->launch->kept, kept_count, address, bytes);
        if (kept) {
            look_into_kept(s, w, kept, address);
            return;
        }
    }
    const uint64_t want = address | (uint64_t)bytes << WPI_WINDOW_BYTES_SHIFT |
                          (uint64_t)w << WPI_WINDOW_NUMBER_SHIFT;
    const filled f = fill(s->launch, s->index, want, granule, reads_own ? s->writes : 0);
    if (reads_own) s->writes = 0;
    s->first[w] = address >> granule << granule;
    s->valid[w] = f.bytes;
    s->content[w] = f.content;
    s->gaps[w] = s->launch->step - 1;
}

static INLINE GLOBAL char *place(const thread_state *s, uint32_t w, uint32_t granule,
                                 uint64_t offset) {
    const uint32_t at = (uint32_t)offset, inside = (1u << granule) - 1;
    return (GLOBAL char *)(s->content[w] + (at + (at & ~inside) * s->gaps[w]));
}

static INLINE SHARED uint8_t *epoch_of(const thread_state *s, uint32_t w) {
    return (SHARED uint8_t *)s->epoch_at + (uint64_t)w * WPI_WINDOW_LANES;
}

static INLINE void tell_warp(thread_state *s, uint32_t w) {
    *epoch_of(s, w) = (uint8_t)(s->epoch[w] + 1);
}

/* Whether a thread of the warp has just missed: then it is time to ask for more together. */
static INLINE uint32_t is_time(thread_state *s, uint32_t w, uint32_t is_missing) {
    __asm__ volatile("" ::: "memory");
    const uint32_t now = *epoch_of(s, w), is_new = now != s->epoch[w];
    s->epoch[w] = now;
    return is_missing | is_new;
}

/* An aligned read does not begin in a window and end behind it; the sum does not wrap. The value is
 * loaded before the warp's epoch, so that neither waits for the other. */
#define READ(bytes, k, type)                                                                       \
    INLINE type __wp_stream_window_read_##bytes(thread_state *s, uint32_t w, uint32_t granule,     \
                                                uint32_t reads_own, const void *address) {         \
        const uint64_t at = (uint64_t)address, offset = at - s->first[w];                          \
        const uint32_t is_missing = offset + (bytes - 1) >= s->valid[w];                           \
        type value = 0;                                                                            \
        if (is_missing)                                                                            \
            tell_warp(s, w);                                                                       \
        else                                                                                       \
            value = *(const GLOBAL type *)place(s, w, granule, offset);                            \
        if (!is_time(s, w, is_missing) || (!is_missing && offset * 2 < s->valid[w])) return value; \
        refill(s, w, granule, at, bytes, reads_own);                                               \
        return *(const GLOBAL type *)place(s, w, granule, at - s->first[w]);                       \
    }
EACH_WIDTH(READ)

/* ---- writes ---- */

/* The slot for a value. Windows in which the thread may read it again get it, too: `windows` has
 * their bits. */
static INLINE char *put(thread_state *s, uint32_t k, void *address) {
    const wpi_window_launch *l = s->launch;
    if (s->writes == l->write_slots) send_writes(s);
    const uint64_t slot = s->slot + (uint64_t)s->writes * WPI_WINDOW_LANES;
    l->targets[slot] = (uint64_t)address | (uint64_t)k << WPI_WINDOW_BYTES_SHIFT;
    s->writes++;
    return l->values + (slot << l->value_class);
}

#define WRITE(bytes, k, type)                                                                      \
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
                *(GLOBAL type *)place(s, (uint32_t)w, granule, offset) = value;                    \
        }                                                                                          \
    }
EACH_WIDTH(WRITE)

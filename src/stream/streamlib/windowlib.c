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

#define CALLED __attribute__((noinline, convergent))

typedef wpi_window_thread thread_state;

#define SHARED __attribute__((address_space(3)))
/* With a name of `__wp_hint_`, it does not have lanes meet before each access. */
static SHARED struct {
    uint64_t since_ns, asked_ns; /* when thread 0 began, and when it last asked */
    uint32_t set, group, ended;  /* of the block; threads that have ended */
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
 * What a thread needs for a request follows from its number and the launch, and is found anew each
 * time: a request takes microseconds, but what a thread keeps from one to the next takes registers,
 * and so threads of an SM, all the time.
 */

static INLINE uint32_t set_of_block(void) {
    return *(volatile SHARED uint32_t *)&__wp_hint_block.set;
}

static INLINE uint32_t group_of_block(void) {
    return *(volatile SHARED uint32_t *)&__wp_hint_block.group;
}

/* Among the launch's threads that have a set. */
static INLINE uint32_t index_of(const wpi_window_launch *l, uint32_t thread) {
    return set_of_block() * l->threads + thread;
}

/* Thread 0 of a block adds to its times. */
static INLINE void note_time(const wpi_window_launch *l, uint32_t thread, uint32_t what,
                             uint64_t since_ns) {
    if (thread == 0)
        l->times[(uint64_t)set_of_block() * WPI_STREAM_TIMES + what] += now_ns() - since_ns;
}

static INLINE void write_ticket(const wpi_window_launch *l, uint32_t thread) {
    const uint32_t group = group_of_block();
    const uint32_t ticket = (uint32_t)__nvvm_atom_add_gen_i((int *)word_of(l->tickets, group), 1);
    const uint32_t lap = ticket >> l->ring_shift, at = ticket - (lap << l->ring_shift);
    const uint32_t number = index_of(l, thread) - group * l->group_threads;
    volatile uint32_t *ring = l->ring + ((uint64_t)group << l->ring_shift);
    ring[at] = (number << 1 | 1) ^ (lap & 1);
}

/* The host takes the thread's writes, then fills the window, if one is wanted: its bytes. */
static INLINE uint32_t ask(const wpi_window_launch *l, uint32_t thread, uint64_t want,
                           uint32_t writes) {
    const uint32_t index = index_of(l, thread);
    const volatile uint32_t *answer = l->answers + index;
    const uint32_t last = *answer;
    uint32_t now;
    if (thread == 0) __wp_hint_block.asked_ns = now_ns();
    l->wants[index] = want;
    if (writes != 0) l->write_counts[index] = writes;
    __nvvm_membar_sys();
    write_ticket(l, thread);
    while ((now = *answer) == last && last != WPI_STREAM_END)
        __wp_host_pause();
    if (now == WPI_STREAM_END || last == WPI_STREAM_END) __builtin_trap();
    __nvvm_membar_sys();
    note_time(l, thread, WAITED, __wp_hint_block.asked_ns);
    return now >> 1;
}

static INLINE void send_writes(thread_state *s) {
    (void)ask(s->launch, s->thread, 0, s->writes);
    s->writes = 0;
}

/* ---- begin and end of a thread ---- */

INLINE void __wp_stream_window_begin(thread_state *s, const wpi_window_launch *l,
                                     uint32_t windows) {
    const uint32_t thread = thread_number(), warp = thread / WPI_WINDOW_LANES,
                   lane = thread % WPI_WINDOW_LANES;
    if (thread == 0) {
        __wp_hint_block.set = take_set(l->busy, l->set_count, l->block);
        __wp_hint_block.group = set_of_block() / l->sets_per_group;
        __wp_hint_block.ended = 0;
        __wp_hint_block.since_ns = now_ns();
    }
    if (lane == 0) EACH_WINDOW __wp_hint_block.epoch[w][warp] = 0;
    __syncthreads();
    s->launch = l;
    s->thread = thread;
    s->epoch_at = (void *)&__wp_hint_block.epoch[0][warp];
    s->kept_count = l->kept_count;
    s->writes = 0;
    s->slot = (uint64_t)(index_of(l, thread) - lane) * l->write_slots + lane;
    EACH_WINDOW {
        s->epoch[w] = s->valid[w] = 0;
        s->first[w] = 0;
        s->content[w] = NULL;
        s->gaps[w] = 0;
    }
}

/* The last thread of a block gives its set back. Called, not inlined, as `fill_2` is. */
static CALLED void end(const wpi_window_launch *l, uint32_t thread, uint32_t writes) {
    if (writes != 0) (void)ask(l, thread, 0, writes);
    note_time(l, thread, WORKED, __wp_hint_block.since_ns);
    __nvvm_membar_gl();
    const uint32_t ended = (uint32_t)__nvvm_atom_add_gen_i((int *)&__wp_hint_block.ended, 1);
    if (ended + 1 == threads_of_block()) *(volatile uint32_t *)word_of(l->busy, set_of_block()) = 0;
}

INLINE void __wp_stream_window_end(thread_state *s, uint32_t has_writes) {
    end(s->launch, s->thread, has_writes ? s->writes : 0);
}

/* ---- reads ---- */

#define GLOBAL __attribute__((address_space(1)))
typedef uint32_t words __attribute__((vector_size(WPI_WINDOW_PIECE)));
typedef union piece {
    words all;
    uint32_t of_4[4];
    uint64_t of_8[2];
} piece;

static INLINE piece load_piece(const char *at) {
    return (piece){.all = *(const volatile GLOBAL words *)at};
}

static INLINE void put_piece(char *to, piece from, uint32_t granule) {
    enum { LANES = WPI_WINDOW_LANES };
    switch (granule) {
    case 2:
        for (int i = 0; i < 4; i++)
            ((GLOBAL uint32_t *)to)[i * LANES] = from.of_4[i];
        break;
    case 3:
        for (int i = 0; i < 2; i++)
            ((GLOBAL uint64_t *)to)[i * LANES] = from.of_8[i];
        break;
    default: *(GLOBAL words *)to = from.all; break;
    }
}

/* Pieces of all lanes, side by side. */
enum { ROW = WPI_WINDOW_LANES * WPI_WINDOW_PIECE };

/* Two pieces at a time; a lane's pieces are `step` bytes apart in the window. Returns where it
 * begins. */
static INLINE char *pull(char *to, const char *source, uint32_t step, uint32_t granule,
                         uint32_t bytes) {
    for (uint32_t at = 0; at < bytes; at += 2 * WPI_WINDOW_PIECE) {
        const piece first = load_piece(source), second = load_piece(source + ROW);
        put_piece(to, first, granule);
        put_piece(to + step, second, granule);
        to += 2 * step;
        source += 2 * ROW;
    }
    return to - (bytes + 2 * WPI_WINDOW_PIECE - 1) / (2 * WPI_WINDOW_PIECE) * (2 * step);
}

/* What the host laid out in its memory for this thread becomes the window's content: where it
 * begins. Lanes that go together read neighbouring pieces over the link. */
static INLINE char *take_content(const wpi_window_launch *l, uint32_t thread, uint32_t w,
                                 uint32_t granule, uint32_t bytes) {
    const uint32_t warps = l->set_count * l->threads / WPI_WINDOW_LANES;
    const uint32_t warp = index_of(l, thread) / WPI_WINDOW_LANES;
    const uint64_t region = (uint64_t)(w * warps + warp) * l->region_bytes;
    const char *source = l->source + region + thread * WPI_WINDOW_PIECE % ROW;
    char *data = l->data + region;
    if (l->step == 1)
        return pull(data + (thread % WPI_WINDOW_LANES * l->lane_step << granule), source,
                    WPI_WINDOW_PIECE, 4, bytes);
    return pull(data + (thread << granule) % (WPI_WINDOW_LANES << granule), source, ROW, granule,
                bytes);
}

typedef struct window {
    uint64_t first;
    char *content;
    uint32_t valid, gaps;
    uint32_t writes; /* not yet sent */
} window;

/* Up to the next multiple of 4 GiB: so the upper half of an address is that of all in the window.
 */
static INLINE uint32_t up_to_boundary(uint64_t first, uint64_t bytes) {
    const uint64_t left = (((first >> 32) + 1) << 32) - first;
    return (uint32_t)(bytes < left ? bytes : left);
}

enum { KEPT_WINDOW_SHIFT = 30 };

/* The part of the kept data that the address is in. */
static INLINE window look_into_kept(const wpi_stream_kept *kept, uint64_t address,
                                    uint32_t writes) {
    const uint64_t whole = address >> KEPT_WINDOW_SHIFT << KEPT_WINDOW_SHIFT;
    const uint64_t first = whole < kept->first ? kept->first : whole;
    const uint64_t outer = whole + ((uint64_t)1 << KEPT_WINDOW_SHIFT),
                   end = kept->first + kept->bytes;
    return (window){first, kept->memory + (first - kept->first),
                    (uint32_t)((outer < end ? outer : end) - first), 0, writes};
}

/* A read of so many bytes, of window `w`. */
static INLINE window fill(const wpi_window_launch *l, uint32_t thread, uint64_t address, uint32_t w,
                          uint32_t bytes, uint32_t granule, uint32_t writes) {
    const uint32_t kept_count = *(const volatile uint32_t *)&l->kept_count;
    if (kept_count != 0) {
        const wpi_stream_kept *kept = kept_at(l->kept, kept_count, address, bytes);
        if (kept) return look_into_kept(kept, address, writes);
    }
    const uint64_t want = address | (uint64_t)bytes << WPI_WINDOW_BYTES_SHIFT |
                          (uint64_t)w << WPI_WINDOW_NUMBER_SHIFT;
    const uint32_t filled = ask(l, thread, want, writes);
    char *content = take_content(l, thread, w, granule, filled);
    const uint64_t first = address >> granule << granule;
    return (window){first, content, up_to_boundary(first, filled), l->step - 1, 0};
}

/* Called, not inlined: what the kernel holds in registers meanwhile is saved here, and only here.
 */
#define FILL(granule)                                                                              \
    static CALLED window fill_##granule(const wpi_window_launch *l, uint32_t thread,               \
                                        uint64_t address, uint32_t w, uint32_t bytes,              \
                                        uint32_t writes) {                                         \
        return fill(l, thread, address, w, bytes, granule, writes);                                \
    }
FILL(2)
FILL(3)
FILL(4)

static INLINE GLOBAL char *place(const thread_state *s, uint32_t w, uint32_t granule,
                                 uint64_t address) {
    const uint32_t at = (uint32_t)address - (uint32_t)s->first[w], inside = (1u << granule) - 1;
    return (GLOBAL char *)(s->content[w] + (at + (at & ~inside) * s->gaps[w]));
}

/* An aligned access does not begin in a window and end behind it; the sum does not wrap. */
static INLINE uint32_t is_in_window(const thread_state *s, uint32_t w, uint64_t address,
                                    uint32_t bytes) {
    const uint32_t at = (uint32_t)address - (uint32_t)s->first[w];
    return address >> 32 == s->first[w] >> 32 && at + (bytes - 1) < s->valid[w];
}

static INLINE SHARED uint8_t *epoch_of(const thread_state *s, uint32_t w) {
    return (SHARED uint8_t *)s->epoch_at + (uint64_t)w * WPI_WINDOW_LANES;
}

/* Not before what precedes it. */
static INLINE void in_order(void) {
    __asm__ volatile("" ::: "memory");
}

static INLINE void refill(thread_state *s, uint32_t w, uint32_t granule, uint64_t address,
                          uint32_t bytes, uint32_t reads_own) {
    const uint32_t writes = reads_own ? s->writes : 0;
    window got;
    switch (granule) {
    case 2: got = fill_2(s->launch, s->thread, address, w, bytes, writes); break;
    case 3: got = fill_3(s->launch, s->thread, address, w, bytes, writes); break;
    default: got = fill_4(s->launch, s->thread, address, w, bytes, writes); break;
    }
    if (reads_own) s->writes = got.writes;
    s->first[w] = got.first;
    s->valid[w] = got.valid;
    s->content[w] = got.content;
    s->gaps[w] = got.gaps;
}

/* The value is loaded before the warp's epoch, so that neither waits for the other. A new epoch: a
 * thread of the warp has just missed, so it is time to ask for more together. */
#define READ(bytes, k, type)                                                                       \
    INLINE type __wp_stream_window_read_##bytes(thread_state *s, uint32_t w, uint32_t granule,     \
                                                uint32_t reads_own, const void *address) {         \
        const uint64_t at = (uint64_t)address;                                                     \
        const uint32_t is_there = is_in_window(s, w, at, bytes);                                   \
        type value = 0;                                                                            \
        if (is_there)                                                                              \
            value = *(const GLOBAL type *)place(s, w, granule, at);                                \
        else                                                                                       \
            *epoch_of(s, w) = (uint8_t)(s->epoch[w] + 1);                                          \
        in_order();                                                                                \
        const uint32_t epoch = *epoch_of(s, w);                                                    \
        if (is_there && epoch == s->epoch[w]) return value;                                        \
        in_order();                                                                                \
        if (is_there && (uint32_t)at - (uint32_t)s->first[w] < s->valid[w] / 2) {                  \
            s->epoch[w] = epoch;                                                                   \
            return value;                                                                          \
        }                                                                                          \
        refill(s, w, granule, at, bytes, reads_own);                                               \
        s->epoch[w] = *epoch_of(s, w);                                                             \
        return *(const GLOBAL type *)place(s, w, granule, at);                                     \
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
            if (is_in_window(s, (uint32_t)w, (uint64_t)address, bytes))                            \
                *(GLOBAL type *)place(s, (uint32_t)w, granule, (uint64_t)address) = value;         \
        }                                                                                          \
    }
EACH_WIDTH(WRITE)

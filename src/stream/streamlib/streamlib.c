/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The device side of streaming: what the slices of a kernel call (src/compiler/rewrite/stream*.c).
 * Compiled to nvptx64 bitcode and inlined, so `s` ends up in registers; constants for `k` and masks
 * of classes and rows leave only what a kernel uses.
 *
 * Barriers: 0 all threads of the block, 1 address threads, 2 compute threads. Before each barrier
 * the lanes of a warp meet.
 */
#include "stream/streamlib/streamlib.h"

#define UNBROKEN UINT32_MAX
#define EACH_SITE _Pragma("clang loop unroll(full)") for (int j = 0; j < WPI_STREAM_SITES; j++)
#define EACH_ROW _Pragma("clang loop unroll(full)") for (int k = 0; k < WPI_STREAM_ROWS; k++)
#define EACH_CLASS _Pragma("clang loop unroll(full)") for (int k = 0; k < WPI_STREAM_CLASSES; k++)

typedef wpi_stream_thread thread_state;
static __attribute__((address_space(3))) uint32_t shared_set;

/* Past the first-level cache, which does not see copies that arrive while a kernel runs. */
void *__wp_cache_global(const void *address) __attribute__((nothrow, const));

#define LOAD(name, type)                                                                           \
    static INLINE type load_##name(const char *at) {                                               \
        return *(const type *)__wp_cache_global(at);                                               \
    }
LOAD(1, uint8_t)
LOAD(2, uint16_t)
LOAD(4, uint32_t)
LOAD(8, uint64_t)
LOAD(16, unsigned __int128)

static INLINE void copy_value(char *to, const char *from, uint32_t class) {
    switch (class) {
    case 0: *(uint8_t *)to = load_1(from); break;
    case 1: *(uint16_t *)to = load_2(from); break;
    case 2: *(uint32_t *)to = load_4(from); break;
    case 3: *(uint64_t *)to = load_8(from); break;
    default: *(unsigned __int128 *)to = load_16(from);
    }
}

/* ---- synchronisation ---- */

/* Until the word is at least `count`. */
static INLINE void await(const uint32_t *word, uint32_t count) {
    const volatile uint32_t *at = word;
    uint32_t value;
    while ((value = *at) < count)
        __wp_host_pause();
    if (value == WPI_STREAM_END) __builtin_trap();
}

static INLINE void meet_all(void) {
    __nvvm_bar_warp_sync(0xffffffffu);
    __syncthreads();
}

static INLINE void meet(uint32_t barrier, uint32_t count) {
    __asm__ volatile("bar.sync %0, %1;" ::"r"(barrier), "r"(count) : "memory");
}

static INLINE uint32_t meet_and_ask(uint32_t barrier, uint32_t count, uint32_t is_true) {
    uint32_t all;
    __nvvm_bar_warp_sync(0xffffffffu);
    __asm__ volatile("{\n\t.reg .pred p, q;\n\tsetp.ne.u32 p, %3, 0;\n\t"
                     "bar.red.and.pred q, %1, %2, p;\n\tselp.u32 %0, 1, 0, q;\n\t}"
                     : "=r"(all)
                     : "r"(barrier), "r"(count), "r"(is_true)
                     : "memory");
    return all;
}

static INLINE void log_time(const thread_state *s, uint32_t is_computing, uint32_t what,
                            uint64_t now) {
    if (s->set >= WPI_STREAM_LOG_SETS) return;
    volatile uint64_t *log =
        s->launch->log + ((uint64_t)s->set * 2 + is_computing) * (WPI_STREAM_LOG_EVENTS + 1);
    const uint64_t count = log[0];
    if (count == WPI_STREAM_LOG_EVENTS) return;
    log[count + 1] = now << 2 | what;
    log[0] = count + 1;
}

/* The time since the last call was work, or a wait: one thread of each half measures. */
static INLINE void note_time(const thread_state *s, uint32_t is_computing, uint32_t what) {
    if (s->thread != 0) return;
    volatile uint64_t *times =
        s->launch->times + ((uint64_t)s->set * 2 + is_computing) * WPI_STREAM_TIMES;
    const uint64_t now = now_ns();
    if (what != SINCE) times[what] += now - times[SINCE];
    times[SINCE] = now;
    if (s->launch->log) log_time(s, is_computing, what, now);
}

/* ---- begin and end of a block ---- */

INLINE uint32_t __wp_stream_is_computing(const wpi_stream_launch *l) {
    return (uint32_t)__nvvm_read_ptx_sreg_tid_x() >= l->half;
}

INLINE void __wp_stream_begin(thread_state *s, const wpi_stream_launch *l) {
    const uint32_t tid = (uint32_t)__nvvm_read_ptx_sreg_tid_x();
    s->launch = l;
    s->thread = tid >= l->half ? tid - l->half : tid;
    s->x = s->thread % l->block_x;
    s->y = s->thread / l->block_x % l->block_y;
    s->z = s->thread / l->block_x / l->block_y;
    s->chunk = WPI_STREAM_END;
    s->kept_count = l->kept_count;
    s->has_flags = l->has_flags;
    EACH_CLASS {
        s->lowest[k] = UINT64_MAX;
        s->highest[k] = 0;
    }
    if (tid == 0) shared_set = take_set(l->busy, l->set_count, l->block);
    meet_all();
    s->set = shared_set;
    s->first = *(volatile uint32_t *)word_of(l->chunks, s->set);
    note_time(s, tid >= l->half, SINCE);
}

INLINE void __wp_stream_end(thread_state *s) {
    const wpi_stream_launch *l = s->launch;
    meet_all();
    if (__nvvm_read_ptx_sreg_tid_x() == 0) {
        *(volatile uint32_t *)word_of(l->chunks, s->set) = s->first + s->chunk;
        __nvvm_membar_gl();
        *(volatile uint32_t *)word_of(l->busy, s->set) = 0;
    }
}

/* A thread that only fills up a warp is done at once. */
INLINE uint32_t __wp_stream_is_extra(const thread_state *s) {
    return s->thread >= s->launch->threads;
}

/* ---- chunks ---- */

static INLINE uint64_t buffer_of(const thread_state *s) {
    return (uint64_t)s->set * WPI_STREAM_BUFFERS + (s->first + s->chunk) % WPI_STREAM_BUFFERS;
}

static INLINE void publish_writes(const thread_state *s, uint64_t buffer, uint32_t classes) {
    const uint32_t half = s->launch->half;
    uint32_t *at = s->launch->write_counts + buffer * WPI_STREAM_CLASSES * half + s->thread;
    EACH_CLASS if (classes >> k & 1) at[k * half] = s->writes[k];
}

static INLINE void put_run(thread_state *s, uint32_t k) {
    uint64_t word = s->run[k];
    if (k >= WPI_STREAM_CLASSES)
        word = (word & WPI_STREAM_ENTRY) | (s->run_stays[k] ? WPI_STREAM_SAME : 0);
    *(uint64_t *)s->read_at[k] = word | (uint64_t)(s->run_reads[k] - 1) << WPI_STREAM_RUN_SHIFT;
    s->read_at[k] += (uint64_t)s->launch->half * 8;
}

/* The reads before the pattern broke, and the last run behind them. */
static INLINE void publish_pattern(thread_state *s, uint32_t k, uint32_t rows) {
    const wpi_stream_launch *l = s->launch;
    const uint32_t half = l->half, sites = s->sites[k];
    const uint64_t row = buffer_of(s) * rows + k;
    const uint32_t count = s->broken[k] == UNBROKEN ? s->reads[k] : s->broken[k];
    if (count != s->reads[k]) put_run(s, k);
    l->pattern_reads[row * half + s->thread] = count;
    if (count == 0) return;
    wpi_stream_stride *pattern = l->patterns + row * WPI_STREAM_SITES * half + s->thread;
    const int64_t stride = s->stride[k];
    const uint64_t base = s->base[k] - (uint64_t)(stride * (int64_t)((count - 1) / sites));
    l->pattern_sites[row * half + s->thread] = sites;
    EACH_SITE {
        if ((uint32_t)j < sites)
            pattern[(uint64_t)j * half] =
                (wpi_stream_stride){base + (uint64_t)s->delta[k][j], stride};
    }
}

/* Whether all threads of a half are at a barrier of the kernel, or have ended, but not all ended.
 */
static INLINE uint32_t is_released(uint32_t barrier, uint32_t half, uint32_t kind) {
    return meet_and_ask(barrier, half, kind != WPI_STREAM_WANTS) &&
           !meet_and_ask(barrier, half, kind == WPI_STREAM_DONE);
}

static INLINE void publish_reads(thread_state *s, uint32_t reads, uint32_t rows) {
    const uint32_t half = s->launch->half;
    uint32_t *at = s->launch->read_counts + buffer_of(s) * rows * half + s->thread;
    EACH_ROW if (reads >> k & 1) at[k * half] = s->reads[k];
    EACH_ROW if (reads >> k & 1) publish_pattern(s, k, rows);
}

/* ---- data that are on the device ---- */

/* Where the device has the thread's first read of this class in the chunk, if it has all of them,
 * and they are a pattern; else NULL. */
static INLINE const char *kept_reads(const thread_state *s, uint32_t k) {
    const uint32_t turns = (s->reads[k] - 1) / s->sites[k];
    const int64_t all_strides = s->stride[k] * (int64_t)turns;
    const uint64_t first = s->base[k] - (uint64_t)all_strides;
    int64_t lowest = 0, highest = 0;
    EACH_SITE {
        if (s->delta[k][j] < lowest) lowest = s->delta[k][j];
        if (s->delta[k][j] > highest) highest = s->delta[k][j];
    }
    if (all_strides < 0)
        lowest += all_strides;
    else
        highest += all_strides;
    const char *at = kept_place(s->launch->kept, s->kept_count, first + (uint64_t)lowest,
                                (uint64_t)(highest - lowest) + (1u << k));
    return at ? at - lowest : NULL;
}

static INLINE uint32_t has_kept_reads(const thread_state *s, uint32_t reads) {
    uint32_t has = reads >> WPI_STREAM_CLASSES == 0; /* else the host follows indices */
    EACH_CLASS if (reads >> k & 1 && s->reads[k] != 0) {
        if (s->broken[k] != UNBROKEN && s->broken[k] != s->reads[k])
            has = 0;
        else if (!kept_reads(s, k))
            has = 0;
    }
    return has;
}

/* What the host would send, row by row. */
static INLINE void fill_slots(const thread_state *s, uint32_t reads) {
    const wpi_stream_launch *l = s->launch;
    char *data = l->data + buffer_of(s) * l->data_bytes;
    EACH_CLASS if (reads >> k & 1 && s->reads[k] != 0) {
        const wpi_stream_class *class = &l->classes[k];
        const uint32_t shift = wpi_stream_line_shift(l->has_lines, k), last = (1u << shift) - 1;
        char *places = data + class->data_offset + s->thread * class->thread_step;
        const char *first = kept_reads(s, k);
        EACH_SITE {
            const char *from = first + s->delta[k][j];
            for (uint32_t slot = j; (uint32_t)j < s->sites[k] && slot < s->reads[k];
                 slot += s->sites[k], from += s->stride[k])
                copy_value(places + (slot >> shift) * class->read_step + ((slot & last) << k), from,
                           k);
        }
    }
}

/* The address threads do the host's work if the device has all that the chunk reads. */
static INLINE void fill_from_kept(const thread_state *s, uint32_t reads) {
    const wpi_stream_launch *l = s->launch;
    const uint32_t is_filled = meet_and_ask(1, l->half, has_kept_reads(s, reads));
    if (is_filled) fill_slots(s, reads);
    if (s->thread == 0) *(volatile uint32_t *)&l->filled[buffer_of(s)] = is_filled;
}

/* One barrier of the block for each chunk: with the computation three chunks behind. */
static INLINE void meet_computation(const thread_state *s, uint32_t is_last) {
    const uint32_t ahead = WPI_STREAM_BUFFERS;
    uint32_t barriers = s->chunk >= ahead;
    if (is_last) barriers = s->chunk < ahead ? s->chunk : ahead;
    for (uint32_t i = 0; i < barriers; i++)
        meet_all();
}

/* Until the host has read the addresses that are in the next chunk's buffer. */
static INLINE void await_taken(const thread_state *s, uint32_t is_last) {
    const wpi_stream_launch *l = s->launch;
    const uint32_t chunk = s->first + s->chunk;
    if (is_last || chunk < WPI_STREAM_BUFFERS) return;
    if (s->thread == 0) await(word_of(l->taken, s->set), chunk + 1 - WPI_STREAM_BUFFERS);
    __nvvm_bar_warp_sync(0xffffffffu);
    meet(1, l->half);
}

/* Ends the chunk that this address thread was at, if any, and begins the next. The launch has
 * `rows`; bits of `reads` are those with addresses. */
INLINE uint32_t __wp_stream_next_addresses(thread_state *s, uint32_t kind, uint32_t reads,
                                           uint32_t has_barriers, uint32_t rows) {
    const wpi_stream_launch *l = s->launch;
    const uint32_t half = l->half;
    if (s->chunk != WPI_STREAM_END) {
        if (has_barriers && is_released(1, half, kind)) return WPI_STREAM_RELEASED;
        publish_reads(s, reads, rows);
        if (s->kept_count != 0) fill_from_kept(s, reads);
        __nvvm_membar_sys();
        const uint32_t all = meet_and_ask(1, half, kind == WPI_STREAM_DONE);
        s->chunk++;
        if (s->thread == 0) *(volatile uint32_t *)word_of(l->asked, s->set) = s->first + s->chunk;
        note_time(s, 0, WORKED);
        if (s->has_flags)
            await_taken(s, all);
        else
            meet_computation(s, all);
        note_time(s, 0, WAITED);
        if (all) return WPI_STREAM_ENDS;
    } else {
        s->chunk = 0;
    }
    char *buffer = l->addresses + buffer_of(s) * l->addresses_bytes + (uint64_t)s->thread * 8;
    s->run_most = l->looks_for_patterns ? WPI_STREAM_RUN_MAX : 1;
    EACH_CLASS s->writes[k] = s->allowed[k] = 0;
    EACH_ROW {
        s->reads[k] = 0;
        s->read_at[k] = buffer + l->classes[k].address_offset;
        s->broken[k] = l->looks_for_patterns ? UNBROKEN : 0;
        s->run[k] = s->run_reads[k] = s->run_stays[k] = 0;
        s->loop[k] = s->sites[k] = s->site[k] = 0;
        s->base[k] = s->stride[k] = 0;
        EACH_SITE s->delta[k][j] = 0;
    }
    return WPI_STREAM_CHUNK;
}

/* The same for a compute thread, which begins when the data are there. */
INLINE uint32_t __wp_stream_next_data(thread_state *s, uint32_t kind, uint32_t writes,
                                      uint32_t has_barriers) {
    const wpi_stream_launch *l = s->launch;
    const uint32_t half = l->half;
    if (s->chunk != WPI_STREAM_END) {
        if (has_barriers && is_released(2, half, kind)) return WPI_STREAM_RELEASED;
        if (writes != 0) {
            publish_writes(s, buffer_of(s), writes);
            __nvvm_membar_sys();
        }
        const uint32_t all = meet_and_ask(2, half, kind == WPI_STREAM_DONE);
        s->chunk++;
        if (s->thread == 0 && writes != 0)
            *(volatile uint32_t *)word_of(l->wrote, s->set) = s->first + s->chunk;
        note_time(s, 1, WORKED);
        if (!s->has_flags)
            meet_all();
        else if (s->thread == 0)
            *(volatile uint32_t *)word_of(l->used, s->set) = s->first + s->chunk;
        if (all) {
            if (writes != 0 && s->thread == 0)
                await(word_of(l->stored, s->set), s->first + s->chunk);
            note_time(s, 1, WAITED);
            return WPI_STREAM_ENDS;
        }
    } else {
        s->chunk = 0;
    }
    const uint32_t chunk = s->first + s->chunk;
    if (s->thread == 0) {
        await(word_of(l->answered, s->set), chunk + 1);
        if (writes != 0 && chunk >= WPI_STREAM_BUFFERS)
            await(word_of(l->stored, s->set), chunk + 1 - WPI_STREAM_BUFFERS);
        __nvvm_membar_gl();
    }
    __nvvm_bar_warp_sync(0xffffffffu);
    meet(2, half);
    note_time(s, 1, WAITED);
    const uint64_t buffer = buffer_of(s);
    char *data = l->data + buffer * l->data_bytes;
    char *targets = l->targets + buffer * l->targets_bytes + (uint64_t)s->thread * 8;
    char *values = l->values + buffer * l->values_bytes;
    EACH_ROW {
        s->reads[k] = 0;
        s->read_at[k] = data + l->classes[k].data_offset + s->thread * l->classes[k].thread_step;
    }
    EACH_CLASS {
        const wpi_stream_class *class = &l->classes[k];
        s->writes[k] = s->allowed[k] = 0;
        s->target_at[k] = targets + class->target_offset;
        s->value_at[k] = values + class->value_offset + ((uint64_t)s->thread << k);
    }
    return WPI_STREAM_CHUNK;
}

/* ---- accesses ---- */

INLINE uint32_t __wp_stream_can_read(const thread_state *s, uint32_t k, uint32_t need) {
    return s->reads[k] + need <= s->launch->classes[k].read_slots;
}

INLINE uint32_t __wp_stream_can_write(const thread_state *s, uint32_t k, uint32_t need) {
    return s->allowed[k] + need <= s->launch->classes[k].write_slots;
}

/* The address slice does not know which writes come; both count those that may. */
INLINE void __wp_stream_allow(thread_state *s, uint32_t k, uint32_t need) {
    s->allowed[k] += need;
}

/* Whether the read continues the pattern: the first turn gives the distances between its reads, the
 * second the stride. */
static INLINE uint32_t continues(thread_state *s, uint32_t k, uint64_t address, uint32_t loop,
                                 uint32_t site, uint32_t sites) {
    const uint32_t count = s->reads[k];
    const uint32_t is_next =
        count == 0 ? sites != 0 && site == 0 : s->loop[k] == loop && s->site[k] == site;
    if (!is_next) return 0;
    if (count == 0) {
        s->loop[k] = loop;
        s->sites[k] = sites;
    }
    s->site[k] = site + 1 == sites ? 0 : site + 1;
    if (site == 0) {
        const int64_t stride = count == 0 ? 0 : (int64_t)(address - s->base[k]);
        if (count > sites && stride != s->stride[k]) return 0;
        s->stride[k] = stride;
        s->base[k] = address;
    } else {
        const int64_t delta = (int64_t)(address - s->base[k]);
        if (count >= sites && delta != s->delta[k][site]) return 0;
        s->delta[k][site] = delta;
    }
    return 1;
}

/* A read behind the last one makes the run longer, or, in rows that are none of the classes, a read
 * of the same address; another one begins a run. */
static INLINE void add_to_run(thread_state *s, uint32_t k, uint32_t class, uint64_t address) {
    const uint32_t reads = s->run_reads[k], may_grow = reads != 0 && reads < s->run_most;
    const uint32_t stays =
        k >= WPI_STREAM_CLASSES && address == s->run[k] && (reads == 1 || s->run_stays[k]);
    const uint32_t follows = address == s->run[k] + ((uint64_t)reads << class) &&
                             (k < WPI_STREAM_CLASSES || !s->run_stays[k]);
    if (may_grow && (stays || follows)) {
        s->run_reads[k] = reads + 1;
        if (k >= WPI_STREAM_CLASSES) s->run_stays[k] = stays;
        return;
    }
    if (reads != 0) put_run(s, k);
    s->run[k] = address;
    s->run_reads[k] = 1;
    s->run_stays[k] = 0;
}

/* The read number `site` of the `sites` in a turn of a loop (0: they cannot be a pattern). */
INLINE void __wp_stream_record(thread_state *s, uint32_t k, uint32_t class, uint64_t address,
                               uint32_t loop, uint32_t site, uint32_t sites) {
    /* Asked first, as it is a constant: such rows need no registers for a pattern. */
    if (sites == 0) {
        if (s->broken[k] == UNBROKEN) s->broken[k] = s->reads[k];
    } else if (s->broken[k] == UNBROKEN && !continues(s, k, address, loop, site, sites)) {
        s->broken[k] = s->reads[k];
    }
    if (s->broken[k] != UNBROKEN) add_to_run(s, k, class, address);
    s->reads[k]++;
}

static INLINE const char *take(thread_state *s, uint32_t k) {
    const char *at = s->read_at[k];
    s->read_at[k] += s->launch->classes[k].read_step;
    s->reads[k]++;
    return at;
}

/* One load for as many slots as a line has; the next is always the lowest that is left. */
static INLINE uint64_t take_of_line(thread_state *s, uint32_t k) {
    const uint32_t bits = 8u << k, slots = 1u << (WPI_STREAM_LINE_CLASS - k);
    uint64_t *line = s->line[k];
    if (s->reads[k] % slots == 0) {
        const unsigned __int128 all = load_16(s->read_at[k]);
        line[0] = (uint64_t)all;
        line[1] = (uint64_t)(all >> 64);
        s->read_at[k] += s->launch->classes[k].read_step;
    }
    const uint64_t value = line[0];
    line[0] = bits == 64 ? line[1] : value >> (bits & 63) | line[1] << ((64 - bits) & 63);
    line[1] >>= bits & 63;
    s->reads[k]++;
    return value;
}

/* ---- a thread's own writes ---- */

/* What this thread wrote to `address` in this chunk or the two before, if it did: the host has the
 * chunks before those in place when it gathers. Where the newest is: NULL if there is none. */
static INLINE const char *find_own(const thread_state *s, uint32_t k, uint64_t address) {
    const wpi_stream_launch *l = s->launch;
    const uint64_t half = l->half, bytes = 1u << k;
    if (address >= s->highest[k] + bytes || address + bytes <= s->lowest[k]) return NULL;
    for (uint32_t back = 0; back < WPI_STREAM_BUFFERS && back <= s->chunk; back++) {
        const uint64_t buffer = (uint64_t)s->set * WPI_STREAM_BUFFERS +
                                (s->first + s->chunk - back) % WPI_STREAM_BUFFERS;
        const char *targets = l->targets + buffer * l->targets_bytes;
        const char *values = l->values + buffer * l->values_bytes + l->classes[k].value_offset;
        const uint64_t *target = (const uint64_t *)(targets + l->classes[k].target_offset);
        uint32_t slot = back == 0
                            ? s->writes[k]
                            : l->write_counts[(buffer * WPI_STREAM_CLASSES + k) * half + s->thread];
        while (slot-- > 0) {
            const uint64_t at = slot * half + s->thread;
            if (target[at] == address) return values + (at << k);
            if (target[at] < address + bytes && address < target[at] + bytes) __builtin_trap();
        }
    }
    return NULL;
}

static INLINE void note_own(thread_state *s, uint32_t k, uint64_t address) {
    if (address < s->lowest[k]) s->lowest[k] = address;
    if (address > s->highest[k]) s->highest[k] = address;
}

/* ---- reads and writes ---- */

#define READ_AS(name, k, type, taken)                                                              \
    INLINE type __wp_stream_##name(thread_state *s, uint32_t is_own, const void *address,          \
                                   uint32_t row) {                                                 \
        type value = (type)(taken);                                                                \
        if (is_own) {                                                                              \
            const char *own = find_own(s, k, (uint64_t)address);                                   \
            if (own) value = *(const type *)own;                                                   \
        }                                                                                          \
        return value;                                                                              \
    }
#define READ(bytes, k, type) READ_AS(take_##bytes, k, type, load_##bytes(take(s, row)))
#define READ_LINE(bytes, k, type) READ_AS(take_line_##bytes, k, type, take_of_line(s, row))
READ(1, 0, uint8_t)
READ(2, 1, uint16_t)
READ(4, 2, uint32_t)
READ(8, 3, uint64_t)
READ(16, 4, unsigned __int128)
READ_LINE(1, 0, uint8_t)
READ_LINE(2, 1, uint16_t)
READ_LINE(4, 2, uint32_t)
READ_LINE(8, 3, uint64_t)

static INLINE char *put(thread_state *s, uint32_t is_own, uint32_t k, void *address) {
    const uint64_t half = s->launch->half;
    char *at = s->value_at[k];
    *(uint64_t *)s->target_at[k] = (uint64_t)address;
    s->target_at[k] += half * 8;
    s->value_at[k] += half << k;
    s->writes[k]++;
    if (is_own) note_own(s, k, (uint64_t)address);
    return at;
}

#define PUT(name, k, type)                                                                         \
    INLINE void __wp_stream_put_##name(thread_state *s, uint32_t is_own, void *address,            \
                                       type value) {                                               \
        *(type *)put(s, is_own, k, address) = value;                                               \
        if (s->kept_count != 0) {                                                                  \
            char *kept =                                                                           \
                kept_place(s->launch->kept, s->kept_count, (uint64_t)address, UINT64_C(1) << k);   \
            if (kept) *(type *)kept = value;                                                       \
        }                                                                                          \
    }
PUT(1, 0, uint8_t)
PUT(2, 1, uint16_t)
PUT(4, 2, uint32_t)
PUT(8, 3, uint64_t)
PUT(16, 4, unsigned __int128)

/* ---- the program's view of itself ---- */

INLINE uint32_t __wp_stream_tid(const thread_state *s, uint32_t axis) {
    return axis == 0 ? s->x : axis == 1 ? s->y : s->z;
}

INLINE uint32_t __wp_stream_ntid(const thread_state *s, uint32_t axis) {
    const wpi_stream_launch *l = s->launch;
    return axis == 0 ? l->block_x : axis == 1 ? l->block_y : l->block_z;
}

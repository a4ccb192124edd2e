/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The device side of the software cache: what the copies of a loop call
 * (src/compiler/rewrite/cache*.c). Compiled to nvptx64 bitcode and inlined, so `t` ends up in
 * registers; structures `s`, masks of structures and `how` are constants and leave only what a
 * kernel uses. Line k of all threads of a block is a row of shared memory (wpi_cache_row_bytes),
 * behind the program's dynamic shared memory. Compiled once for each LINE_BYTES: 8, 16, 24, 32.
 */
#include <stddef.h>

#include "base/cache_abi.h"

#define INLINE __attribute__((always_inline))
#define SHARED __attribute__((address_space(3)))
#define UNROLLED(i, count) _Pragma("clang loop unroll(full)") for (uint32_t i = 0; i < (count); i++)
#define EACH(u) UNROLLED(u, WPI_CACHE_STRUCTURES)
#define EACH_WAY(w) UNROLLED(w, WPI_CACHE_WAYS) if (w < WAYS)
/* Tested by a branch of its own, so that what follows costs a hit nothing. */
#define IS_RARE(condition) __builtin_expect_with_probability(condition, 0, 1.0)
#define HAS(mask, u) ((mask) >> (u) & 1)
#define WAYS (how & ((1u << WPI_CACHE_PAD_SHIFT) - 1))
#define PAD_BYTES (how >> WPI_CACHE_PAD_SHIFT)

typedef wpi_cache_thread thread_state;
typedef uint32_t four_words __attribute__((ext_vector_type(4)));

extern SHARED char __wp_cache_lines[] __attribute__((aligned(16)));

enum { ACCESS = 1, HIT = 1 << 16, COUNT_MASK = 0xffff, WORD_BYTES = 4 };
#define ALL_DIRTY ((uint32_t)((UINT64_C(1) << LINE_BYTES) - 1))

/* Memory is read and written by the widest accesses that a line's alignment allows. */
#if LINE_BYTES % 16 == 0
typedef four_words line_part;
#else
typedef uint64_t line_part;
#endif
enum { PARTS = LINE_BYTES / sizeof(line_part) };

/* Lines of 24 bytes begin anew every 256 bytes, to which allocations are aligned: ten lines, and
 * one of the 16 bytes that are left. */
enum { BLOCK_BYTES = 256, SHORT_LINE = BLOCK_BYTES / LINE_BYTES * LINE_BYTES };
#define IS_IN_LINE(line, byte)                                                                     \
    (BLOCK_BYTES % LINE_BYTES == 0 || (byte) < BLOCK_BYTES - SHORT_LINE ||                         \
     (line) % BLOCK_BYTES != SHORT_LINE)

static INLINE uint32_t offset_of(uint64_t address) {
    return (uint32_t)(address % BLOCK_BYTES) % LINE_BYTES;
}

static INLINE uint64_t line_of(uint64_t address) {
#if LINE_BYTES & (LINE_BYTES - 1)
    return address - offset_of(address);
#else
    return address & ~(uint64_t)(LINE_BYTES - 1);
#endif
}

INLINE void __wp_cache_begin(thread_state *t, uint32_t how) {
    EACH(s) {
        EACH_WAY(w) {
            t->line[s][w] = WPI_CACHE_NONE;
            t->delta[s][w] = 0;
            t->dirty[s][w] = 0;
        }
        t->seen[s] = t->next[s] = 0;
    }
    t->mode = WPI_CACHE_MONITORED;
    t->calls = t->leave = t->filled = t->flushed = t->runs = 0;
}

/* ---- monitoring ---- */

/* Counts have 16 bits: a turn of the program's longest loops has some thousand accesses, a
 * threshold at most 4,000. */
INLINE void __wp_cache_simulate(thread_state *t, const char *address, uint32_t s, uint32_t how) {
    const uint64_t line = line_of((uint64_t)address);
    const uint32_t seen = t->seen[s];
    uint32_t is_hit = 0;
    EACH_WAY(w) is_hit |= t->line[s][w] == line;
    t->seen[s] = seen + (is_hit ? HIT | ACCESS : ACCESS);
    if (WAYS == 1) {
        t->line[s][0] = line;
    } else if (!is_hit) {
        EACH_WAY(w) if (w == t->next[s]) t->line[s][w] = line;
        t->next[s] = t->next[s] + 1 == WAYS ? 0 : t->next[s] + 1;
    }
}

/* Counting is straight code: a value that lives from one block to another is a register. */
static INLINE void add(uint64_t *to, uint64_t count) {
    __nvvm_atom_add_gen_ll((long long *)to, (long long)count);
}

static INLINE void count_accesses(const thread_state *t, wpi_cache_counts *counts, uint32_t used) {
    EACH(s) {
        if (!HAS(used, s)) continue;
        add(&counts->accesses[s], t->seen[s] & COUNT_MASK);
        add(&counts->hits[s], t->seen[s] >> 16);
    }
}

static INLINE uint32_t is_worth_it(uint32_t seen, uint32_t hits_pct) {
    return 100 * (seen >> 16) > hits_pct * (seen & COUNT_MASK);
}

/* Hits, where those of read-only structures count twice; at equal scores a written structure comes
 * before one that is only read, else the order of the numbers decides. */
static INLINE uint32_t score(const thread_state *t, uint32_t s, uint32_t written,
                             uint32_t hits_pct) {
    if (!is_worth_it(t->seen[s], hits_pct)) return 0;
    const uint32_t hits = t->seen[s] >> 16;
    return (HAS(written, s) ? hits : 2 * hits) * 2 + HAS(written, s);
}

static INLINE uint32_t rank_of(const uint32_t *scores, uint32_t s) {
    uint32_t rank = 0;
    EACH(u) {
        if (u < s) rank += scores[u] >= scores[s];
        if (u > s) rank += scores[u] > scores[s];
    }
    return rank;
}

/* The place of the first line of a thread, and the bytes from there to the next. */
static INLINE uint32_t first_place(uint32_t offset, uint32_t how, uint32_t *step) {
    const uint32_t x = (uint32_t)__nvvm_read_ptx_sreg_ntid_x();
    const uint32_t y = (uint32_t)__nvvm_read_ptx_sreg_ntid_y();
    const uint32_t z = (uint32_t)__nvvm_read_ptx_sreg_ntid_z();
    const uint32_t thread =
        (uint32_t)__nvvm_read_ptx_sreg_tid_x() +
        x * ((uint32_t)__nvvm_read_ptx_sreg_tid_y() + y * (uint32_t)__nvvm_read_ptx_sreg_tid_z());
    *step = wpi_cache_row_bytes(x * y * z, LINE_BYTES, PAD_BYTES);
    return offset + thread * LINE_BYTES + thread / (WPI_CACHE_ROW_BYTES / LINE_BYTES) * PAD_BYTES;
}

/* Monitoring ends: as many structures get lines as the launch has room for. */
INLINE uint32_t __wp_cache_choose(thread_state *t, wpi_cache_counts *counts, uint32_t lines,
                                  uint32_t offset, uint32_t used, uint32_t written, uint32_t how) {
    const uint32_t hits_pct =
        WPI_CACHE_FIELD(lines, WPI_CACHE_HITS_SHIFT, WPI_CACHE_THRESHOLD_SHIFT);
    const uint32_t most = WPI_CACHE_FIELD(lines, 0, WPI_CACHE_MAY_SHIFT);
    const uint32_t may = WPI_CACHE_FIELD(lines, WPI_CACHE_MAY_SHIFT, WPI_CACHE_HITS_SHIFT);
    uint32_t scores[WPI_CACHE_STRUCTURES], any_is_chosen = 0, step;
    EACH(s) scores[s] = HAS(used, s) && HAS(may, s) ? score(t, s, written, hits_pct) : 0;
    if (counts != NULL) {
        count_accesses(t, counts, used);
        add(&counts->left, 1);
        EACH(s) {
            if (!HAS(used, s)) continue;
            const uint32_t is_worth = scores[s] != 0, is_in = rank_of(scores, s) < most;
            add(&counts->chosen[s], is_worth & is_in);
            add(&counts->crowded[s], is_worth & !is_in);
            add(&counts->seldom[s], !is_worth);
        }
    }
    const uint32_t at = first_place(offset, how, &step);
    EACH(s) {
        if (!HAS(used, s)) continue;
        const uint32_t rank = rank_of(scores, s), is_chosen = (scores[s] != 0) & (rank < most);
        any_is_chosen |= is_chosen;
        EACH_WAY(w) {
            const SHARED char *place = __wp_cache_lines + at + (rank * WAYS + w) * step;
            t->line[s][w] = WPI_CACHE_NONE;
            t->delta[s][w] = is_chosen ? (uint64_t)(const char *)place - WPI_CACHE_NONE : 0;
        }
        t->seen[s] = t->next[s] = 0;
    }
    t->mode = any_is_chosen ? WPI_CACHE_CACHED : WPI_CACHE_PLAIN;
    return t->mode;
}

static INLINE uint32_t threshold_of(uint32_t lines) {
    return WPI_CACHE_FIELD(lines, WPI_CACHE_THRESHOLD_SHIFT, WPI_CACHE_RUNS_SHIFT);
}

/* At the header of a loop that all modes share. */
INLINE void __wp_cache_consider(thread_state *t, wpi_cache_counts *counts, uint32_t lines,
                                uint32_t offset, uint32_t used, uint32_t written, uint32_t how) {
    if (t->mode == WPI_CACHE_MONITORED && t->calls >= threshold_of(lines))
        (void)__wp_cache_choose(t, counts, lines, offset, used, written, how);
}

/* A loop begins that each mode has a copy of: which copy runs. Lanes of a warp that are in the
 * monitored one leave it together, since they count its turns from here; lanes that ended it before
 * wait behind it, whatever their copy. */
INLINE uint32_t __wp_cache_enter(thread_state *t, wpi_cache_counts *counts, uint32_t lines,
                                 uint32_t offset, uint32_t used, uint32_t written, uint32_t how) {
    __wp_cache_consider(t, counts, lines, offset, used, written, how);
    t->leave = t->calls + threshold_of(lines);
    return t->mode;
}

/* Whether the monitored copy is left; else the turn that begins has so many accesses. */
INLINE uint32_t __wp_cache_turn(thread_state *t, uint32_t accesses) {
    if (t->calls >= t->leave) return 1;
    t->calls += accesses;
    return 0;
}

/* ---- cached ---- */

/* Shared memory is accessed as wide as the gaps between rows of lines leave it aligned. */
#define COPY_PART(type, to, from)                                                                  \
    UNROLLED(p, sizeof(line_part) / sizeof(type))((type *)(to))[p] = ((const type *)(from))[p]

static INLINE void copy_part(void *to, const void *from, uint32_t how) {
    if (PAD_BYTES % sizeof(line_part) == 0)
        *(line_part *)to = *(const line_part *)from;
    else if (PAD_BYTES == sizeof(uint64_t))
        COPY_PART(uint64_t, to, from);
    else
        COPY_PART(uint32_t, to, from);
}

/* Bytes of a line that are dirty, while others are not. */
static INLINE void store_bytes(uint64_t line, uint64_t place, uint32_t dirty) {
    const char *from = (const char *)place;
    _Pragma("clang loop unroll(disable)") for (uint32_t b = 0; b < LINE_BYTES; b += WORD_BYTES) {
        const uint32_t bytes = dirty >> b & 0xf;
        if (bytes == 0xf) {
            *(uint32_t *)(line + b) = *(const uint32_t *)(from + b);
            continue;
        }
        if (bytes & 1) *(char *)(line + b) = from[b];
        if (bytes & 2) *(char *)(line + b + 1) = from[b + 1];
        if (bytes & 4) *(char *)(line + b + 2) = from[b + 2];
        if (bytes & 8) *(char *)(line + b + 3) = from[b + 3];
    }
}

/* Only what the thread wrote: its neighbours' bytes may have changed since. */
static INLINE void store_dirty(uint64_t line, uint64_t place, uint32_t dirty, uint32_t how) {
    if (dirty == ALL_DIRTY) {
        UNROLLED(i, PARTS) {
            line_part part;
            copy_part(&part, (const line_part *)place + i, how);
            ((line_part *)line)[i] = part;
        }
        return;
    }
    store_bytes(line, place, dirty);
}

static INLINE void fill(uint64_t place, uint64_t line, uint32_t how) {
    UNROLLED(i, PARTS) {
        if (!IS_IN_LINE(line, i * sizeof(line_part))) continue;
        const line_part part = ((const line_part *)line)[i];
        copy_part((line_part *)place + i, &part, how);
    }
}

static INLINE void clean(thread_state *t, uint32_t s, uint32_t w, uint32_t written, uint32_t how) {
    if (!HAS(written, s) || t->dirty[s][w] == 0) return;
    store_dirty(t->line[s][w], t->line[s][w] + t->delta[s][w], t->dirty[s][w], how);
    t->dirty[s][w] = 0;
    t->flushed++;
}

/* The line holds other memory, or none. */
static INLINE void set_line(thread_state *t, uint32_t s, uint32_t w, uint64_t line) {
    t->delta[s][w] += t->line[s][w] - line;
    t->line[s][w] = line;
}

/* All lines back to memory; none is valid then. */
INLINE void __wp_cache_flush(thread_state *t, uint32_t used, uint32_t written, uint32_t how) {
    EACH(s) {
        if (!HAS(used, s)) continue;
        EACH_WAY(w) {
            clean(t, s, w, written, how);
            if (t->delta[s][w] != 0) set_line(t, s, w, WPI_CACHE_NONE);
        }
    }
}

static INLINE uint32_t byte_mask(uint64_t address, uint32_t bytes) {
    return ((1u << bytes) - 1) << offset_of(address);
}

static INLINE void refill(thread_state *t, uint32_t s, uint32_t w, uint64_t line, uint32_t written,
                          uint32_t how) {
    clean(t, s, w, written, how);
    set_line(t, s, w, line);
    fill(line + t->delta[s][w], line, how);
    t->filled++;
}

/* In the structure's own lines. */
static INLINE char *access_own(thread_state *t, uint64_t at, uint64_t line, uint32_t s,
                               uint32_t written, uint32_t is_write, uint32_t mask, uint32_t how) {
    if (WAYS == 1) {
        if (IS_RARE(t->line[s][0] != line) && t->delta[s][0] != 0)
            refill(t, s, 0, line, written, how);
        if (is_write) t->dirty[s][0] |= t->delta[s][0] != 0 ? mask : 0;
        return (char *)(at + t->delta[s][0]);
    }
    uint64_t delta = 0;
    EACH_WAY(w) {
        if (t->line[s][w] != line) continue;
        t->dirty[s][w] |= mask;
        delta = t->delta[s][w];
    }
    if (delta != 0 || t->delta[s][0] == 0) return (char *)(at + delta);
    EACH_WAY(w) {
        if (w != t->next[s]) continue;
        refill(t, s, w, line, written, how);
        t->dirty[s][w] |= mask;
        delta = t->delta[s][w];
    }
    t->next[s] = t->next[s] + 1 == WAYS ? 0 : t->next[s] + 1;
    return (char *)(at + delta);
}

/* Where an access of `bytes` bytes, which are in one line, through structure `s` goes. `others`:
 * the structures whose lines may hold the same memory; for reads, those that are written. A write
 * does not go to the line of a read-only structure, which has no dirty bytes: that line is
 * invalidated.
 */
INLINE char *__wp_cache_access(thread_state *t, char *address, uint32_t s, uint32_t others,
                               uint32_t written, uint32_t bytes, uint32_t is_write, uint32_t how) {
    const uint64_t at = (uint64_t)address, line = line_of(at);
    const uint32_t mask = is_write ? byte_mask(at, bytes) : 0;
    uint64_t found = 0;
    EACH(u) {
        if (!HAS(others, u)) continue;
        EACH_WAY(w) {
            if (t->line[u][w] != line) continue;
            if (HAS(written, u)) {
                t->dirty[u][w] |= mask;
                found = t->delta[u][w];
            } else {
                set_line(t, u, w, WPI_CACHE_NONE);
            }
        }
    }
    if (others & written && found != 0) return (char *)(at + found);
    return access_own(t, at, line, s, written, is_write, mask, how);
}

/* Before an access that goes to memory: `others` as above. */
INLINE void __wp_cache_outside(thread_state *t, const char *address, uint32_t others,
                               uint32_t written, uint32_t bytes, uint32_t is_write, uint32_t how) {
    const uint64_t at = (uint64_t)address;
    EACH(u) {
        if (!HAS(others, u)) continue;
        EACH_WAY(w) {
            if (t->line[u][w] + (LINE_BYTES - 1) - at >= (uint64_t)bytes + (LINE_BYTES - 1))
                continue;
            clean(t, u, w, written, how);
            if (is_write && t->line[u][w] != WPI_CACHE_NONE) set_line(t, u, w, WPI_CACHE_NONE);
        }
    }
}

/* ---- in code that all modes share ---- */

INLINE char *__wp_cache_access_any(thread_state *t, char *address, uint32_t s, uint32_t others,
                                   uint32_t written, uint32_t bytes, uint32_t is_write,
                                   uint32_t how) {
    if (t->mode == WPI_CACHE_CACHED)
        return __wp_cache_access(t, address, s, others, written, bytes, is_write, how);
    if (t->mode == WPI_CACHE_MONITORED) {
        __wp_cache_simulate(t, address, s, how);
        t->calls++;
    }
    return address;
}

INLINE void __wp_cache_outside_any(thread_state *t, const char *address, uint32_t others,
                                   uint32_t written, uint32_t bytes, uint32_t is_write,
                                   uint32_t how) {
    if (t->mode == WPI_CACHE_CACHED)
        __wp_cache_outside(t, address, others, written, bytes, is_write, how);
}

INLINE void __wp_cache_flush_any(thread_state *t, uint32_t used, uint32_t written, uint32_t how) {
    if (t->mode == WPI_CACHE_CACHED) __wp_cache_flush(t, used, written, how);
}

/* A loop begins that goes through its arrays 16 bytes at a time, past all lines. */
INLINE void __wp_cache_run_begins(thread_state *t, uint32_t used, uint32_t written, uint32_t how) {
    __wp_cache_flush_any(t, used, written, how);
    t->runs++;
}

/* All ways out of the nest. */
INLINE void __wp_cache_end(thread_state *t, wpi_cache_counts *counts, uint32_t used,
                           uint32_t written, uint32_t how) {
    __wp_cache_flush_any(t, used, written, how);
    if (counts == NULL) return;
    if (t->mode == WPI_CACHE_MONITORED && t->calls != 0) {
        count_accesses(t, counts, used);
        add(&counts->stayed, 1);
    }
    if (t->runs != 0) add(&counts->runs, t->runs);
    add(&counts->filled_lines, t->filled);
    add(&counts->flushed_lines, t->flushed);
}

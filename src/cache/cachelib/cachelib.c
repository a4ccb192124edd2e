/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The device side of the software cache: what the copies of a loop call
 * (src/compiler/rewrite/cache*.c). Compiled to nvptx64 bitcode and inlined, so `t` ends up in
 * registers; structures `s` and masks of structures are constants and leave only what a kernel
 * uses. Line k of thread i of n is at (k * n + i) * LINE_BYTES, behind the program's dynamic shared
 * memory. Compiled once for each LINE_BYTES: 8, 16, 32.
 */
#include <stddef.h>

#include "base/cache_abi.h"

#define INLINE __attribute__((always_inline))
#define SHARED __attribute__((address_space(3)))
#define EACH(u)                                                                                    \
    _Pragma("clang loop unroll(full)") for (uint32_t u = 0; u < WPI_CACHE_STRUCTURES; u++)
#define HAS(mask, u) ((mask) >> (u) & 1)

typedef wpi_cache_thread thread_state;
typedef uint32_t line_words __attribute__((ext_vector_type(4)));

extern SHARED char __wp_cache_lines[] __attribute__((aligned(16)));

enum { ACCESS = 1, HIT = 1 << 16, COUNT_MASK = 0xffff, WORD_BYTES = 4 };
#define ALL_DIRTY ((uint32_t)((UINT64_C(1) << LINE_BYTES) - 1))

/* A line is copied by the widest loads that it allows. */
#if LINE_BYTES % 16 == 0
typedef line_words line_part;
#else
typedef uint64_t line_part;
#endif
enum { PARTS = LINE_BYTES / sizeof(line_part) };
#define EACH_PART(i) _Pragma("clang loop unroll(full)") for (uint32_t i = 0; i < PARTS; i++)

INLINE void __wp_cache_begin(thread_state *t, int32_t offset) {
    const uint32_t x = (uint32_t)__nvvm_read_ptx_sreg_ntid_x();
    const uint32_t y = (uint32_t)__nvvm_read_ptx_sreg_ntid_y();
    const uint32_t z = (uint32_t)__nvvm_read_ptx_sreg_ntid_z();
    const uint32_t thread =
        (uint32_t)__nvvm_read_ptx_sreg_tid_x() +
        x * ((uint32_t)__nvvm_read_ptx_sreg_tid_y() + y * (uint32_t)__nvvm_read_ptx_sreg_tid_z());
    EACH(s) {
        t->line[s] = WPI_CACHE_NONE;
        t->word[s] = 0;
        t->place[s] = -1;
    }
    t->at = offset + (int32_t)(thread * LINE_BYTES);
    t->step = (int32_t)(x * y * z * LINE_BYTES);
    t->calls = t->inner_calls = t->filled = t->flushed = 0;
}

/* ---- monitoring ---- */

/* Whether the thread leaves; else the turn that begins has so many accesses. */
INLINE uint32_t __wp_cache_turn(thread_state *t, uint32_t accesses) {
    if (t->calls >= WPI_CACHE_THRESHOLD) return 1;
    t->calls += accesses;
    return 0;
}

/* The same in an inner loop whose number of turns may differ between threads: only long ones are
 * left. */
INLINE uint32_t __wp_cache_inner_turn(thread_state *t, uint32_t accesses) {
    if (t->inner_calls >= WPI_CACHE_THRESHOLD_INNER) return 1;
    t->inner_calls += accesses;
    return 0;
}

INLINE void __wp_cache_simulate(thread_state *t, const char *address, uint32_t s) {
    const uint64_t line = (uint64_t)address / LINE_BYTES * LINE_BYTES;
    const uint32_t word = t->word[s];
    const uint32_t more = line == t->line[s] ? HIT | ACCESS : ACCESS;
    t->word[s] = (word & COUNT_MASK) == COUNT_MASK ? word : word + more;
    t->line[s] = line;
}

static INLINE void add(uint64_t *to, uint64_t count) {
    if (count != 0) __nvvm_atom_add_gen_ll((long long *)to, (long long)count);
}

static INLINE void count_accesses(const thread_state *t, wpi_cache_counts *counts, uint32_t used) {
    EACH(s) {
        if (!HAS(used, s)) continue;
        add(&counts->accesses[s], t->word[s] & COUNT_MASK);
        add(&counts->hits[s], t->word[s] >> 16);
    }
}

/* The loop ended before the thread left monitoring. */
INLINE void __wp_cache_end_monitored(thread_state *t, wpi_cache_counts *counts, uint32_t used) {
    if (counts == NULL) return;
    count_accesses(t, counts, used);
    add(&counts->stayed, 1);
}

static INLINE uint32_t is_worth_it(uint32_t word, uint32_t hits_pct) {
    return 100 * (word >> 16) > hits_pct * (word & COUNT_MASK);
}

/* Hits, where those of read-only structures count twice; at equal scores a written structure comes
 * before one that is only read, else the order of the numbers decides. */
static INLINE uint32_t score(const thread_state *t, uint32_t s, uint32_t written,
                             uint32_t hits_pct) {
    if (!is_worth_it(t->word[s], hits_pct)) return 0;
    const uint32_t hits = t->word[s] >> 16;
    return (HAS(written, s) ? hits : 2 * hits) * 2 + HAS(written, s);
}

/* Monitoring ends: at most as many structures get a line as a thread has. */
INLINE void __wp_cache_choose(thread_state *t, wpi_cache_counts *counts, uint32_t lines_and_hits,
                              uint32_t used, uint32_t written) {
    const uint32_t hits_pct = lines_and_hits >> WPI_CACHE_HITS_SHIFT;
    const int32_t lines = (int32_t)(lines_and_hits & ((1u << WPI_CACHE_HITS_SHIFT) - 1));
    uint32_t scores[WPI_CACHE_STRUCTURES];
    EACH(s) scores[s] = HAS(used, s) ? score(t, s, written, hits_pct) : 0;
    if (counts != NULL) {
        count_accesses(t, counts, used);
        add(&counts->left, 1);
    }
    EACH(s) {
        int32_t rank = 0;
        if (!HAS(used, s)) continue;
        EACH(u) {
            if (u < s) rank += scores[u] >= scores[s];
            if (u > s) rank += scores[u] > scores[s];
        }
        const uint32_t is_chosen = scores[s] != 0 && rank < lines;
        if (counts != NULL)
            add(is_chosen        ? &counts->chosen[s]
                : scores[s] != 0 ? &counts->crowded[s]
                                 : &counts->seldom[s],
                1);
        t->place[s] = is_chosen ? t->at + rank * t->step : -1;
    }
    EACH(s) {
        t->line[s] = WPI_CACHE_NONE;
        t->word[s] = 0;
    }
}

/* ---- cached ---- */

/* Only what the thread wrote: its neighbours' bytes may have changed since. */
static INLINE void store_dirty(uint64_t line, int32_t place, uint32_t dirty) {
    const SHARED char *from = __wp_cache_lines + place;
    if (dirty == ALL_DIRTY) {
        EACH_PART(i)((line_part *)line)[i] = ((const SHARED line_part *)from)[i];
        return;
    }
    _Pragma("clang loop unroll(disable)") for (uint32_t b = 0; b < LINE_BYTES; b += WORD_BYTES) {
        const uint32_t bytes = dirty >> b & 0xf;
        if (bytes == 0xf) {
            *(uint32_t *)(line + b) = *(const SHARED uint32_t *)(from + b);
            continue;
        }
        if (bytes & 1) *(char *)(line + b) = from[b];
        if (bytes & 2) *(char *)(line + b + 1) = from[b + 1];
        if (bytes & 4) *(char *)(line + b + 2) = from[b + 2];
        if (bytes & 8) *(char *)(line + b + 3) = from[b + 3];
    }
}

static INLINE void fill(int32_t place, uint64_t line) {
    SHARED line_part *to = (SHARED line_part *)(__wp_cache_lines + place);
    EACH_PART(i) to[i] = ((const line_part *)line)[i];
}

static INLINE void clean(thread_state *t, uint32_t s, uint32_t written) {
    if (!HAS(written, s) || t->word[s] == 0) return;
    store_dirty(t->line[s], t->place[s], t->word[s]);
    t->word[s] = 0;
    t->flushed++;
}

/* All lines back to memory; none is valid then. */
INLINE void __wp_cache_flush(thread_state *t, uint32_t used, uint32_t written) {
    EACH(s) {
        if (!HAS(used, s)) continue;
        clean(t, s, written);
        t->line[s] = WPI_CACHE_NONE;
    }
}

/* Flushed at the loop's end. */
INLINE void __wp_cache_end(thread_state *t, wpi_cache_counts *counts) {
    if (counts == NULL) return;
    add(&counts->filled_lines, t->filled);
    add(&counts->flushed_lines, t->flushed);
}

static INLINE uint32_t byte_mask(uint64_t address, uint32_t bytes) {
    return ((1u << bytes) - 1) << (address % LINE_BYTES);
}

static INLINE char *in_line(const thread_state *t, uint32_t s, uint64_t address) {
    return (char *)(__wp_cache_lines + t->place[s] + (int32_t)(address % LINE_BYTES));
}

/* Where an access of `bytes` bytes, which are in one line, through structure `s` goes. `others`:
 * the structures whose lines may hold the same memory; for reads, those that are written. A write
 * does not go to the line of a read-only structure, which has no dirty bytes: that line is
 * invalidated.
 */
INLINE char *__wp_cache_access(thread_state *t, char *address, uint32_t s, uint32_t others,
                               uint32_t written, uint32_t bytes, uint32_t is_write) {
    const uint64_t at = (uint64_t)address;
    const uint64_t line = at / LINE_BYTES * LINE_BYTES;
    char *found = NULL;
    EACH(u) {
        if (!HAS(others, u) || t->line[u] != line) continue;
        if (HAS(written, u)) {
            if (is_write) t->word[u] |= byte_mask(at, bytes);
            found = in_line(t, u, at);
        } else {
            t->line[u] = WPI_CACHE_NONE;
        }
    }
    if (others & written && found != NULL) return found;
    if (t->line[s] != line) { /* as always where the structure is not cached */
        if (t->place[s] < 0) return address;
        clean(t, s, written);
        fill(t->place[s], line);
        t->line[s] = line;
        t->filled++;
    }
    if (is_write) t->word[s] |= byte_mask(at, bytes);
    return in_line(t, s, at);
}

/* Before an access that goes to memory: `others` as above. */
INLINE void __wp_cache_outside(thread_state *t, const char *address, uint32_t others,
                               uint32_t written, uint32_t bytes, uint32_t is_write) {
    const uint64_t at = (uint64_t)address;
    EACH(u) {
        if (!HAS(others, u)) continue;
        if (t->line[u] + (LINE_BYTES - 1) - at >= (uint64_t)bytes + (LINE_BYTES - 1)) continue;
        clean(t, u, written);
        if (is_write) t->line[u] = WPI_CACHE_NONE;
    }
}

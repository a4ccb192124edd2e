/* SPDX-License-Identifier: Apache-2.0 */
#include "device/sim/merge.h"

#include <emmintrin.h>
#include <string.h>

#include "base/fail.h"

static uint32_t lowest(uint32_t lanes) {
    return (uint32_t)__builtin_ctz(lanes);
}

void wpi_merge_start(wpi_merge *merge, wpi_lane_words *lanes, uint64_t *words, uint32_t mask) {
    for (uint32_t lane = 0; lane < WPI_MERGE_LANES; lane++) {
        merge->read[lane] = merge->written[lane] = 0;
        merge->block[lane] = WP_TRACE_NONE;
        lanes[lane].words = lanes[lane].lane.cursor = words + lane;
        lanes[lane].merge = merge;
        lanes[lane].number = lane;
    }
    merge->lanes = lanes;
    merge->words = words;
    merge->exited = merge->retired = 0;
    merge->current = 0;
    merge->loose_count = 0;
    merge->used = 1;
    merge->groups[0] = (wpi_merge_group){
        .lanes = mask, .block = WP_TRACE_NONE, .join = WP_TRACE_NONE, .parent = -1};
}

void wpi_merge_take(wpi_merge *merge) {
    for (uint32_t lane = 0; lane < WPI_MERGE_LANES; lane++)
        merge->written[lane] = wpi_lane_written(&merge->lanes[lane]);
}

/* ---- numbers of all lanes ---- */

/* Lanes for which a == b. */
static uint32_t equal_lanes(const uint32_t a[WPI_MERGE_LANES], const uint32_t b[WPI_MERGE_LANES]) {
    uint32_t lanes = 0;
    for (uint32_t lane = 0; lane < WPI_MERGE_LANES; lane += 4) {
        const __m128i x = _mm_loadu_si128((const __m128i *)(const void *)(a + lane));
        const __m128i y = _mm_loadu_si128((const __m128i *)(const void *)(b + lane));
        const int equal = _mm_movemask_ps(_mm_castsi128_ps(_mm_cmpeq_epi32(x, y)));
        lanes |= (uint32_t)equal << lane;
    }
    return lanes;
}

static uint32_t lanes_with(const uint32_t numbers[WPI_MERGE_LANES], uint32_t number) {
    const __m128i y = _mm_set1_epi32((int)number);
    uint32_t lanes = 0;
    for (uint32_t lane = 0; lane < WPI_MERGE_LANES; lane += 4) {
        const __m128i x = _mm_loadu_si128((const __m128i *)(const void *)(numbers + lane));
        const int equal = _mm_movemask_ps(_mm_castsi128_ps(_mm_cmpeq_epi32(x, y)));
        lanes |= (uint32_t)equal << lane;
    }
    return lanes;
}

/* ---- groups ---- */

static bool is_used(const wpi_merge *merge, int32_t g) {
    return (merge->used >> g & 1u) != 0;
}

/* Frees groups that have no waiting lanes and only one part left, as loosened lanes leave them: the
 * part takes the place of the group, whose join is no longer needed. `keep` is not freed. */
static void take_out_empty(wpi_merge *merge, int32_t keep) {
    for (int32_t g = 0; g < (int32_t)WPI_MERGE_GROUPS; g++) {
        const wpi_merge_group *group = &merge->groups[g];
        if (!is_used(merge, g) || g == keep || group->lanes != 0 || group->part_count != 1)
            continue;
        int32_t only = 0;
        while (!is_used(merge, only) || merge->groups[only].parent != g)
            only++;
        merge->groups[only].parent = group->parent;
        merge->groups[only].join = group->join;
        merge->groups[only].join_depth = group->join_depth;
        merge->loose_count -= group->is_loose;
        merge->used &= ~((uint64_t)1 << g);
        if (merge->current == g) merge->current = only;
    }
}

static wpi_merge_group *add_part(wpi_merge *merge, int32_t parent, const wpi_merge_group *like,
                                 uint32_t lanes, uint32_t join, uint32_t join_depth) {
    if (merge->used == ~(uint64_t)0) take_out_empty(merge, parent);
    WP_CHECK(merge->used != ~(uint64_t)0);
    const int32_t g = __builtin_ctzll(~merge->used);
    merge->groups[g] = (wpi_merge_group){.lanes = lanes,
                                         .block = like->block,
                                         .depth = like->depth,
                                         .join = join,
                                         .join_depth = join_depth,
                                         .parent = parent};
    merge->used |= (uint64_t)1 << g;
    if (parent >= 0) merge->groups[parent].part_count++;
    return &merge->groups[g];
}

/* Removes a group without lanes. Its parent may continue. */
static void remove_group(wpi_merge *merge, int32_t g) {
    wpi_merge_group *group = &merge->groups[g];
    merge->used &= ~((uint64_t)1 << g);
    merge->loose_count -= group->is_loose;
    if (merge->current == g) merge->current = group->parent < 0 ? 0 : group->parent;
    if (group->parent < 0) return;
    wpi_merge_group *parent = &merge->groups[group->parent];
    parent->part_count--;
    if (parent->part_count == 0 && parent->lanes == 0) remove_group(merge, group->parent);
}

/* Lanes of the group arrive at its join, and wait there in its parent. */
static void arrive(wpi_merge *merge, int32_t g, uint32_t lanes) {
    wpi_merge_group *group = &merge->groups[g], *parent = &merge->groups[group->parent];
    parent->lanes |= lanes;
    parent->depth = group->depth;
    group->lanes &= ~lanes;
}

static bool is_at_join(const wpi_merge_group *group, uint32_t next) {
    if (group->parent < 0) return false;
    if (group->join == WP_TRACE_NONE) return group->depth < group->join_depth;
    return (next == group->join && group->depth == group->join_depth) ||
           group->depth < group->join_depth; /* returned from the function in which they diverged */
}

/* ---- reading ---- */

/* Whether all lanes of the group have unread words. Removes lanes that have returned. */
static bool is_known(wpi_merge *merge, wpi_merge_group *group) {
    const uint32_t without = group->lanes & equal_lanes(merge->read, merge->written);
    const uint32_t gone = without & merge->exited;
    group->lanes &= ~gone;
    merge->retired |= gone;
    return without == gone;
}

/* Whether the lanes' next words are one row of memory. */
static bool is_row(const wpi_merge *merge, uint32_t lanes) {
    return (lanes & ~lanes_with(merge->read, merge->read[lowest(lanes)])) == 0;
}

static const uint64_t *word_of(const wpi_merge *merge, uint32_t lane) {
    return merge->words + (size_t)merge->read[lane] * WP_TRACE_STRIDE + lane;
}

/* Fills next[] of `lanes`, which have words; next[] of other lanes becomes invalid. */
static void look_ahead(wpi_merge *merge, uint32_t lanes) {
    if (is_row(merge, lanes)) {
        const uint64_t *row = merge->words + (size_t)merge->read[lowest(lanes)] * WP_TRACE_STRIDE;
        for (uint32_t lane = 0; lane < WPI_MERGE_LANES; lane++)
            merge->next[lane] = (uint32_t)row[lane];
        return;
    }
    for (; lanes != 0; lanes &= lanes - 1)
        merge->next[lowest(lanes)] = (uint32_t)*word_of(merge, lowest(lanes));
}

/* Lanes with the same next block as the lowest lane. */
static uint32_t same_next(const wpi_merge *merge, uint32_t lanes) {
    return lanes & lanes_with(merge->next, merge->next[lowest(lanes)]);
}

/* Splits a group whose lanes have different next blocks. The part with the smallest number runs
 * first. */
static void part(wpi_merge *merge, const wp_trace_tables *tables, int32_t g) {
    wpi_merge_group *group = &merge->groups[g];
    const wpi_merge_group like = *group;
    const wp_trace_block *block = &tables->blocks[like.block];
    const uint32_t op = tables->steps[block->first_step + block->step_count - 1].op;
    const uint32_t depth = op == WP_TRACE_CALL ? like.depth - 1 : like.depth;
    const bool is_same_join =
        like.parent >= 0 && like.join == block->join && like.join_depth == depth;
    const int32_t parent = is_same_join ? like.parent : g;
    uint32_t left = like.lanes;
    group->lanes = 0;
    group->has_called = false;
    uint32_t first = WP_TRACE_NONE;
    while (left != 0) {
        const uint32_t same = same_next(merge, left), next = merge->next[lowest(left)];
        left &= ~same;
        if (next == block->join) {
            merge->groups[parent].lanes |= same;
            merge->groups[parent].depth = depth;
            continue;
        }
        const wpi_merge_group *made = add_part(merge, parent, &like, same, block->join, depth);
        if (next < first) {
            first = next;
            merge->current = (int32_t)(made - merge->groups);
        }
    }
    if (is_same_join) remove_group(merge, g);
}

static void copy_addresses(const wpi_merge *merge, uint32_t lanes, uint32_t count,
                           uint64_t *addresses) {
    if (is_row(merge, lanes)) {
        const uint64_t *row = merge->words + (size_t)merge->read[lowest(lanes)] * WP_TRACE_STRIDE;
        memcpy(addresses, row + WP_TRACE_STRIDE,
               (size_t)count * WPI_MERGE_LANES * sizeof *addresses);
        return;
    }
    for (; lanes != 0; lanes &= lanes - 1) {
        const uint32_t lane = lowest(lanes);
        const uint64_t *word = word_of(merge, lane);
        for (uint32_t i = 0; i < count; i++)
            addresses[(size_t)i * WPI_MERGE_LANES + lane] = word[(size_t)(1 + i) * WP_TRACE_STRIDE];
    }
}

/* Advances `lanes` past the block's words. */
static void advance(wpi_merge *merge, uint32_t lanes, uint32_t number, uint32_t rows) {
    if (lanes == ~0u) {
        for (uint32_t lane = 0; lane < WPI_MERGE_LANES; lane++) {
            merge->read[lane] += rows;
            merge->block[lane] = number;
        }
        return;
    }
    for (; lanes != 0; lanes &= lanes - 1) {
        merge->read[lowest(lanes)] += rows;
        merge->block[lowest(lanes)] = number;
    }
}

/* Reads block `number`, the next one of all lanes of the group. */
static void read_block(wpi_merge *merge, const wp_trace_tables *tables, wpi_merge_group *group,
                       uint32_t number, uint64_t *addresses) {
    const wp_trace_block *block = &tables->blocks[number];
    if (block->access_count != 0)
        copy_addresses(merge, group->lanes, block->access_count, addresses);
    advance(merge, group->lanes, number, 1 + block->access_count);
    group->block = number;
    const uint32_t op = block->step_count == 0
                            ? WP_TRACE_ISSUE
                            : tables->steps[block->first_step + block->step_count - 1].op;
    if (op == WP_TRACE_CALL) group->depth++;
    if (op == WP_TRACE_RETURN) group->depth--;
    group->has_called = op == WP_TRACE_CALL;
}

/* Detects a call of an untraced function, after which the caller continues. (No function begins
 * with the block after a call.) */
static void skip_untraced(const wp_trace_tables *tables, wpi_merge_group *group, uint32_t next) {
    if (group->has_called && next == tables->blocks[group->block].join) group->depth--;
    group->has_called = false;
}

/* Whether the group can run: its lanes have the same next block. Otherwise splits it, or moves
 * lanes to its join. */
static bool settle(wpi_merge *merge, const wp_trace_tables *tables, int32_t g, bool *has_changed) {
    wpi_merge_group *group = &merge->groups[g];
    if (!is_known(merge, group)) return false;
    *has_changed = true;
    if (group->lanes == 0) {
        remove_group(merge, g);
        return false;
    }
    look_ahead(merge, group->lanes);
    const uint32_t same = same_next(merge, group->lanes), next = merge->next[lowest(same)];
    if (same == group->lanes) skip_untraced(tables, group, next);
    if (is_at_join(group, next)) {
        arrive(merge, g, same);
        if (group->lanes == 0) {
            const int32_t parent = group->parent;
            remove_group(merge, g);
            merge->current = parent;
        }
        return false;
    }
    if (same != group->lanes) {
        part(merge, tables, g);
        return false;
    }
    *has_changed = false;
    return true;
}

/* Whether the group is a leaf without blocked lanes. */
static bool can_run(const wpi_merge *merge, int32_t g, uint32_t blocked) {
    const wpi_merge_group *group = &merge->groups[g];
    return is_used(merge, g) && group->part_count == 0 && (group->lanes & blocked) == 0;
}

/* ---- lanes that do not wait ---- */

/* Lanes that wait at a join, and could continue, stop waiting for the others. */
bool wpi_merge_loosen(wpi_merge *merge, uint32_t blocked) {
    for (int32_t g = 0; g < (int32_t)WPI_MERGE_GROUPS; g++) {
        wpi_merge_group *group = &merge->groups[g];
        if (!is_used(merge, g) || group->part_count == 0 || group->lanes == 0) continue;
        if ((group->lanes & blocked) != 0 || !is_known(merge, group) || group->lanes == 0) continue;
        const wpi_merge_group like = *group;
        wpi_merge_group *made =
            add_part(merge, like.parent, &like, like.lanes, like.join, like.join_depth);
        made->is_loose = true;
        merge->loose_count++;
        merge->current = (int32_t)(made - merge->groups);
        group->lanes = 0;
        return true;
    }
    return false;
}

void wpi_merge_pass(wpi_merge *merge) {
    merge->current = (merge->current + 1) % (int32_t)WPI_MERGE_GROUPS;
}

/* Merges sibling groups of `g` into it whose lanes have the same next block, `next`. */
static void gather(wpi_merge *merge, int32_t g, uint32_t next, uint32_t blocked) {
    wpi_merge_group *group = &merge->groups[g];
    for (int32_t o = 0; o < (int32_t)WPI_MERGE_GROUPS; o++) {
        wpi_merge_group *other = &merge->groups[o];
        if (o == g || !can_run(merge, o, blocked) || other->parent != group->parent ||
            other->join != group->join || other->depth != group->depth || other->lanes == 0)
            continue;
        if (!is_known(merge, other) || other->lanes == 0) continue;
        look_ahead(merge, other->lanes);
        if ((other->lanes & ~lanes_with(merge->next, next)) != 0) continue;
        group->lanes |= other->lanes;
        other->lanes = 0;
        remove_group(merge, o);
        merge->current = g;
    }
}

/* The first group in use from `from` on, with wrap-around; there is one. */
static int32_t next_used(const wpi_merge *merge, uint32_t from) {
    const uint64_t round = merge->used >> from | merge->used << (-from % WPI_MERGE_GROUPS);
    return (int32_t)((from + (uint32_t)__builtin_ctzll(round)) % WPI_MERGE_GROUPS);
}

wpi_merge_answer wpi_merge_next(wpi_merge *merge, const wp_trace_tables *tables, uint32_t blocked,
                                uint32_t *block, uint32_t *mask, uint64_t *addresses) {
    for (uint32_t tried = 0; tried < WPI_MERGE_GROUPS;) {
        if (merge->used == 0) return WPI_MERGE_EXIT;
        const int32_t g = next_used(merge, ((uint32_t)merge->current + tried) % WPI_MERGE_GROUPS);
        const uint32_t distance = ((uint32_t)g - (uint32_t)merge->current) % WPI_MERGE_GROUPS;
        if (distance < tried) break; /* all have been tried */
        tried = distance;
        bool has_changed = false;
        if (!can_run(merge, g, blocked) || !settle(merge, tables, g, &has_changed)) {
            tried = has_changed ? 0 : tried + 1;
            continue;
        }
        wpi_merge_group *group = &merge->groups[g];
        merge->current = g;
        const uint32_t next = merge->next[lowest(group->lanes)];
        if (merge->loose_count != 0) gather(merge, g, next, blocked);
        read_block(merge, tables, group, next, addresses);
        *block = group->block;
        *mask = group->lanes;
        return WPI_MERGE_BLOCK;
    }
    return WPI_MERGE_NEEDS;
}

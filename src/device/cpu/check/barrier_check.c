/* SPDX-License-Identifier: Apache-2.0 */
/* Barriers of a block at which its threads part. */
#include <inttypes.h>
#include <string.h>

#include "device/cpu/check/access_check.h"
#include "device/cpu/check/findings.h"

static bool is_same_barrier(const wp_check_site *a, const wp_check_site *b) {
    return a == b || (a->place != 0 && a->place == b->place);
}

static bool waits_here(const wpi_block *block, uint32_t t) {
    if (!block->is_mixed) return t >= block->first && t < block->outer;
    return (block->warps[t / WP_WARP_LANES].barrier >> t % WP_WARP_LANES & 1u) != 0;
}

/* Threads of a block in the same situation: their number, and the first of them. */
typedef struct crowd {
    uint32_t count, first;
    const wp_check_site *site; /* where they wait */
} crowd;

static void join(crowd *c, uint32_t t, const wp_check_site *site) {
    if (c->count++ != 0) return;
    c->first = t;
    c->site = site;
}

static void say_first(wpi_text *text, const wpi_block *block, const crowd *c) {
    wpi_text_append(text, ", the first is ");
    wpi_finding_say_thread(text, block, c->first);
}

static void say_calls(wpi_text *text, const crowd *c) {
    if (c->site->calls != NULL) wpi_text_appendf(text, ", called at %s", c->site->calls);
}

static const char *verb_ending(uint32_t count) {
    return count == 1 ? "s" : "";
}

void wpi_check_barrier(wpi_block *block) {
    const wpi_cpu_kernel *kernel = block->launch->kernel;
    const wp_cpu_block *b = &block->pub;
    crowd here = {0}, other = {0}, further = {0}, returned = {0};
    for (uint32_t t = 0; t < b->thread_count; t++) {
        if (!waits_here(block, t)) {
            join(&returned, t, NULL);
            continue;
        }
        const wp_check_site *at = &kernel->sites[b->barrier_sites[t]];
        if ((at->flags & WP_CHECK_SITE_LIBRARY) != 0) continue;
        const bool is_here = here.count == 0 || is_same_barrier(here.site, at);
        const bool is_other = other.count == 0 || is_same_barrier(other.site, at);
        join(is_here ? &here : is_other ? &other : &further, t, at);
    }
    if (here.count == 0 || (other.count == 0 && returned.count == 0)) return;
    if (wpi_finding_note(kernel, here.site, NULL, WPI_FINDING_DIVERGENT)) {
        wpi_text text = {0};
        wpi_finding_begin(&text, kernel, here.site, WPI_FINDING_DIVERGENT);
        wpi_text_appendf(&text,
                         "    %" PRIu32 " thread%s of block (%" PRIu32 ",%" PRIu32 ",%" PRIu32
                         ") wait%s here",
                         here.count, wpi_finding_plural(here.count), b->block_idx[0],
                         b->block_idx[1], b->block_idx[2], verb_ending(here.count));
        say_calls(&text, &here);
        say_first(&text, block, &here);
        if (other.count != 0) {
            wpi_text_appendf(&text, ";\n    %" PRIu32 " wait%s at another barrier", other.count,
                             verb_ending(other.count));
            if (wpi_finding_is_same_line(here.site, other.site))
                wpi_text_append(&text, " on the same line");
            else if (other.site->file != NULL)
                wpi_text_appendf(&text, ", %s:%" PRIu32, other.site->file, other.site->line);
            say_calls(&text, &other);
            say_first(&text, block, &other);
        }
        if (further.count != 0) {
            wpi_text_appendf(&text, ";\n    %" PRIu32 " wait%s at further barriers", further.count,
                             verb_ending(further.count));
            say_first(&text, block, &further);
        }
        if (returned.count != 0) {
            wpi_text_appendf(&text, ";\n    %" PRIu32 " %s returned", returned.count,
                             returned.count == 1 ? "has" : "have");
            say_first(&text, block, &returned);
        }
        wpi_finding_finish(&text, block);
    }
    wpi_finding_stop(block, WPI_FINDING_DIVERGENT, false);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "stream/stream_actor.h"

#include <string.h>

#include "base/fail.h"
#include "base/log.h"
#include "device/device.h"

enum { LINE_BYTES = 64 };

uint32_t *wpi_stream_word(uint32_t *words, uint32_t set) {
    return words + (uint64_t)set * WPI_STREAM_WORD;
}

uint64_t wpi_stream_buffer(const wpi_stream_side *side) {
    return (uint64_t)side->set * WPI_STREAM_BUFFERS + side->chunk % WPI_STREAM_BUFFERS;
}

static const wpi_stream_launch *launch_of(const wpi_stream_side *side) {
    return side->buffers->launch_source;
}

/* How many slots of a class each thread used. */
static const uint32_t *counts_of(const wpi_stream_side *side, bool is_write, uint32_t k) {
    const wpi_stream_launch *l = launch_of(side);
    return (is_write ? l->write_counts : l->read_counts) +
           (wpi_stream_buffer(side) * WPI_STREAM_CLASSES + k) * l->half;
}

/* The addresses of one thread, of one class: as they were sent, or by a pattern. */
typedef struct source {
    const uint64_t *sent;             /* [slot * half] */
    const wpi_stream_stride *pattern; /* [site * half] */
    uint32_t sites;                   /* 0: there is no pattern */
    uint32_t half;
} source;

static source source_of(const wpi_stream_side *side, bool is_write, uint32_t k, uint32_t thread) {
    const wpi_stream_launch *l = launch_of(side);
    const wpi_stream_class *class = &l->classes[k];
    const uint64_t buffer = wpi_stream_buffer(side), row = buffer * WPI_STREAM_CLASSES + k;
    const char *at = is_write ? l->targets + buffer * l->targets_bytes + class->target_offset
                              : l->addresses + buffer * l->addresses_bytes + class->address_offset;
    return (source){.sent = (const uint64_t *)(const void *)at + thread,
                    .pattern = l->patterns + row * WPI_STREAM_SITES * l->half + thread,
                    .sites = is_write ? 0 : l->pattern_sites[row * l->half + thread],
                    .half = l->half};
}

static uint64_t address_of(const source *from, uint32_t slot) {
    if (from->sites == 0) return from->sent[(uint64_t)slot * from->half];
    const wpi_stream_stride *site = &from->pattern[(uint64_t)(slot % from->sites) * from->half];
    return site->base + (uint64_t)site->stride * (slot / from->sites);
}

/* Without a pattern threads take turns, and each line is a miss; it stays for as long as its thread
 * reads from it. With one, a thread's lines are read one after the other. */
static void count_thread(wpi_stream_side *side, const source *from, uint32_t count) {
    uint64_t last = UINT64_MAX, lines = 0;
    for (uint32_t slot = 0; slot < count; slot++) {
        const uint64_t line = address_of(from, slot) / LINE_BYTES;
        lines += line != last;
        last = line;
    }
    *(from->sites == 0 ? &side->lines : &side->lines_in_order) += lines;
    side->words += from->sites == 0 ? count : 2 * from->sites;
    side->accesses += count;
}

void wpi_stream_count_chunk(wpi_stream_side *side, bool is_write) {
    const wpi_stream_launch *l = launch_of(side);
    side->words = side->accesses = side->bytes = side->lines = side->lines_in_order = 0;
    for (uint32_t k = 0; k < WPI_STREAM_CLASSES; k++) {
        const uint32_t slots = is_write ? l->classes[k].write_slots : l->classes[k].read_slots;
        side->slots[k] = 0;
        if (slots == 0) continue;
        const uint32_t *counts = counts_of(side, is_write, k);
        for (uint32_t t = 0; t < l->half; t++) {
            if (counts[t] == 0) continue;
            const source from = source_of(side, is_write, k, t);
            if (counts[t] > side->slots[k]) side->slots[k] = counts[t];
            count_thread(side, &from, counts[t]);
            side->bytes += (uint64_t)counts[t] << k;
        }
    }
    side->counts.chunks++;
    side->counts.accesses += side->accesses;
    side->counts.words += side->words;
    side->counts.useful_bytes += side->bytes;
}

/* Threads with a pattern one after the other. */
static bool visit_patterns(wpi_stream_side *side, uint32_t k, const uint32_t *counts, char *place,
                           wpi_stream_visit visit) {
    const uint32_t half = launch_of(side)->half;
    for (uint32_t t = 0; t < half; t++) {
        const source from = source_of(side, false, k, t);
        if (counts[t] == 0 || from.sites == 0) continue;
        uint32_t site = 0;
        uint64_t turn = 0;
        for (uint32_t slot = 0; slot < counts[t]; slot++) {
            const wpi_stream_stride *p = &from.pattern[(uint64_t)site * half];
            const uint64_t address = p->base + (uint64_t)p->stride * turn;
            if (!visit(side, k, address, place + (((uint64_t)slot * half + t) << k))) return false;
            if (++site == from.sites) {
                site = 0;
                turn++;
            }
        }
    }
    return true;
}

/* The others in the order of the slots: [slot][thread]. */
static bool visit_class(wpi_stream_side *side, bool is_write, uint32_t k, char *places,
                        wpi_stream_visit visit) {
    const wpi_stream_launch *l = launch_of(side);
    const uint32_t *counts = counts_of(side, is_write, k);
    const source first = source_of(side, is_write, k, 0);
    const uint32_t *sites =
        l->pattern_sites + (wpi_stream_buffer(side) * WPI_STREAM_CLASSES + k) * l->half;
    char *place = places + (is_write ? l->classes[k].value_offset : l->classes[k].data_offset);
    if (!is_write && side->slots[k] != 0 && !visit_patterns(side, k, counts, place, visit))
        return false;
    for (uint32_t slot = 0; slot < side->slots[k]; slot++) {
        for (uint32_t t = 0; t < l->half; t++) {
            const uint64_t at = (uint64_t)slot * l->half + t;
            if (slot < counts[t] && (is_write || sites[t] == 0) &&
                !visit(side, k, first.sent[at], place + (at << k)))
                return false;
        }
    }
    return true;
}

bool wpi_stream_visit_chunk(wpi_stream_side *side, bool is_write, char *places,
                            wpi_stream_visit visit) {
    for (uint32_t k = 0; k < WPI_STREAM_CLASSES; k++)
        if (!visit_class(side, is_write, k, places, visit)) return false;
    return true;
}

wp_status wpi_stream_copy_classes(wpi_stream_side *side, bool is_write, char *dst, const char *src,
                                  wp_queue *queue) {
    const wpi_stream_launch *l = launch_of(side);
    for (uint32_t k = 0; k < WPI_STREAM_CLASSES; k++) {
        const uint64_t offset = is_write ? l->classes[k].value_offset : l->classes[k].data_offset;
        const uint64_t bytes = ((uint64_t)side->slots[k] * l->half) << k;
        if (bytes == 0) continue;
        WP_TRY(wp_queue_copy(queue, dst + offset, src + offset, bytes, &side->failure));
        side->counts.copied_bytes += bytes;
    }
    return WP_STATUS_OK;
}

void wpi_stream_note_outside(wpi_stream_side *side, bool is_write, uint32_t bytes,
                             uint64_t address) {
    const uint32_t block = *wpi_stream_word(launch_of(side)->block, side->set);
    void *base = NULL;
    size_t size_bytes = 0;
    wp_status ignored;
    if (wpi_reservation_find((const void *)(uintptr_t)address, &base, &size_bytes, NULL))
        ignored = WP_FAIL(
            &side->failure, INVALID,
            "kernel %s: block %u %s %u bytes at offset %llu of the streaming reservation %p (%zu "
            "bytes), where nothing is mapped",
            side->kernel_name, block, is_write ? "writes" : "reads", bytes,
            (unsigned long long)(address - (uintptr_t)base), base, size_bytes);
    else
        ignored = WP_FAIL(&side->failure, INVALID,
                          "kernel %s: block %u %s %u bytes at 0x%llx, outside of what is mapped",
                          side->kernel_name, block, is_write ? "writes" : "reads", bytes,
                          (unsigned long long)address);
    (void)ignored;
}

/* The kernel waits for one of the two words, or will. */
wp_actor_answer wpi_stream_fail(wpi_stream_side *side) {
    const wpi_stream_launch *l = launch_of(side);
    uint32_t *words[] = {l->answered, l->stored};
    side->has_failed = true;
    if (side->failure.message[0] != '\0')
        wp_log(WP_LOG_ERROR, "stream", "%s", side->failure.message);
    for (int i = 0; i < 2; i++) {
        const wp_status ignored = wp_queue_fill(side->down, wpi_stream_word(words[i], side->set),
                                                WPI_STREAM_END, sizeof(uint32_t), 1, NULL);
        (void)ignored; /* the device has failed, and with it the kernel */
    }
    return WP_ACTOR_ENDS;
}

/* By width: a copy of a constant number of bytes is one instruction. */
void wpi_stream_copy(uint32_t class, void *to, const void *from) {
    switch (class) {
    case 0: memcpy(to, from, 1); break;
    case 1: memcpy(to, from, 2); break;
    case 2: memcpy(to, from, 4); break;
    case 3: memcpy(to, from, 8); break;
    default: memcpy(to, from, 16); break;
    }
}

wp_host_work wpi_stream_lines(const wpi_stream_side *side) {
    return (wp_host_work){.read_bytes = side->lines * LINE_BYTES,
                          .pattern = WP_HOST_RANDOM,
                          .access_bytes = LINE_BYTES};
}

wp_actor_answer wpi_stream_spend(wp_actor *actor, wpi_stream_side *side, const wp_host_work *work) {
    if (wp_device_host_work(actor->device, work, &side->failure) == WP_STATUS_OK)
        return WP_ACTOR_GOES_ON;
    return wpi_stream_fail(side);
}

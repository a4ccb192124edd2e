/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/memory/l2.h"

#include "base/alloc.h"

#define SET_BITS 20u /* of a place; in a slice with more sets, sets share places */
#define SET_MASK ((1u << SET_BITS) - 1)

static wp_status init_slice(wpi_l2_slice *slice, const wpi_cache_profile *profile, wp_error *err) {
    WP_TRY(wpi_cache_init(&slice->cache, profile, err));
    if (wpi_slots_init(&slice->mshrs, profile->mshrs)) return WP_STATUS_OK;
    return WP_FAIL(err, NOMEM, "%u MSHRs of L2", profile->mshrs);
}

static wp_status init_parts(wpi_l2 *l2, wp_error *err) {
    const wpi_profile *profile = l2->profile;
    l2->slices = wpi_calloc(profile->l2.slices, sizeof *l2->slices);
    l2->sm_ports = wpi_calloc(profile->sm_count, sizeof *l2->sm_ports);
    if (l2->slices == NULL || l2->sm_ports == NULL)
        return WP_FAIL(err, NOMEM, "%u slices of L2", profile->l2.slices);
    for (uint32_t i = 0; i < profile->l2.slices; i++)
        WP_TRY(init_slice(&l2->slices[i], &profile->l2, err));
    WP_TRY(wpi_dram_init(&l2->dram, profile, err));
    return wpi_link_init(&l2->link, profile, err);
}

wp_status wpi_l2_init(wpi_l2 *l2, const wpi_profile *profile, wp_error *err) {
    *l2 = (wpi_l2){.profile = profile, .slice_count = wpi_divider_of(profile->l2.slices)};
    l2->sector_ps =
        wpi_bytes_ps(WPI_SECTOR_BYTES * (uint64_t)profile->l2.slices, profile->l2.bytes_per_s);
    l2->sm_sector_ps = wpi_bytes_ps(WPI_SECTOR_BYTES, profile->l2.sm_bytes_per_s);
    wpi_utilisation_init(&l2->utilisation, profile->slice_ps, profile->l2.slices);
    const wp_status status = init_parts(l2, err);
    if (status != WP_STATUS_OK) wpi_l2_deinit(l2);
    return status;
}

void wpi_l2_deinit(wpi_l2 *l2) {
    for (uint32_t i = 0; l2->slices != NULL && i < l2->profile->l2.slices; i++) {
        wpi_cache_deinit(&l2->slices[i].cache);
        wpi_slots_deinit(&l2->slices[i].mshrs);
    }
    wpi_dram_deinit(&l2->dram);
    wpi_link_deinit(&l2->link);
    wpi_free(l2->slices);
    wpi_free(l2->sm_ports);
    *l2 = (wpi_l2){0};
}

/* The sectors that L2 fetches for a miss on `sectors`. */
static uint8_t widen(const wpi_l2 *l2, uint8_t sectors) {
    if (l2->profile->l2.sector_bytes == WPI_SECTOR_BYTES) return sectors;
    if (l2->profile->l2.sector_bytes == WPI_LINE_BYTES) return 0xf;
    return (uint8_t)(((sectors & 3) != 0 ? 3 : 0) | ((sectors & 12) != 0 ? 12 : 0));
}

/* Writes an evicted dirty line to DRAM, which may wait for room in DRAM's queue. */
static void write_victim(wpi_l2 *l2, const wpi_cache_answer *found, wpi_ledger *ledger) {
    if (found->evicted_dirty == 0) return;
    const wpi_time_ps room = wpi_dram_write(&l2->dram, found->evicted_line,
                                            wpi_sector_count(found->evicted_dirty), ledger->at);
    wpi_ledger_wait(ledger, WPI_SPENT_DRAM, room);
}

/* Fetches the line's sectors, which are in the cache at ledger->at. Returns the line's place. */
static uint32_t fetch(wpi_l2 *l2, wpi_l2_slice *slice, uint64_t line, uint8_t sectors,
                      wpi_ledger *ledger) {
    wpi_cache_answer found;
    for (;;) {
        wpi_cache_load(&slice->cache, line, widen(l2, sectors), ledger->at, &found);
        if (found.place != WPI_CACHE_NO_PLACE) break;
        wpi_ledger_wait(ledger, WPI_SPENT_L2, found.blocked_until);
    }
    write_victim(l2, &found, ledger);
    wpi_time_ps ready = found.pending != 0 ? found.ready : 0;
    if (found.missing != 0) {
        wpi_time_ps access_ps = 0;
        const wpi_time_ps begin = wpi_slots_begin(&slice->mshrs, ledger->at);
        l2->mshr_waits += begin > ledger->at;
        l2->mshr_wait_ps += begin - ledger->at;
        wpi_ledger_wait(ledger, WPI_SPENT_L2, begin);
        const wpi_time_ps read =
            wpi_dram_read(&l2->dram, line, wpi_sector_count(found.missing), begin, &access_ps);
        wpi_slots_end(&slice->mshrs, read);
        wpi_ledger_work(ledger, WPI_SPENT_DRAM, access_ps, read);
        if (read > ready) ready = read;
        wpi_cache_expect(&slice->cache, found.place, found.ready > ready ? found.ready : ready);
    }
    wpi_ledger_until(ledger, WPI_SPENT_DRAM, ready);
    return found.place;
}

/* Stores data in the cache (write-back), or writes them to DRAM. */
static void write(wpi_l2 *l2, wpi_l2_slice *slice, uint64_t line, uint8_t sectors,
                  wpi_ledger *ledger) {
    const wpi_write policy = l2->profile->l2.write;
    wpi_cache_answer found;
    for (;;) {
        wpi_cache_store(&slice->cache, policy, line, sectors, ledger->at, &found);
        if (policy != WPI_WRITE_BACK || found.place != WPI_CACHE_NO_PLACE) break;
        wpi_ledger_wait(ledger, WPI_SPENT_L2, found.blocked_until);
    }
    write_victim(l2, &found, ledger);
    if (policy == WPI_WRITE_BACK) return;
    wpi_ledger_wait(ledger, WPI_SPENT_DRAM,
                    wpi_dram_write(&l2->dram, line, wpi_sector_count(sectors), ledger->at));
}

/* Performs an atomic. Atomics on a line, and those of a slice, are serialised. */
static void update(wpi_l2 *l2, wpi_l2_slice *slice, const wpi_l2_request *request,
                   wpi_ledger *ledger) {
    const wpi_time_ps work_ps = request->turns * l2->profile->l2.atomic_ps;
    const wpi_time_ps turn = wpi_bus_take(&slice->atomics, ledger->at, work_ps);
    const uint32_t place = fetch(l2, slice, request->line, request->sectors, ledger);
    wpi_cache_line *line = &slice->cache.lines[place];
    wpi_ledger_wait(ledger, WPI_SPENT_L2, turn);
    wpi_ledger_wait(ledger, WPI_SPENT_L2, line->ready);
    wpi_ledger_until(ledger, WPI_SPENT_L2, ledger->at + work_ps);
    line->ready = ledger->at;
    l2->atomic_turns += request->turns;
    if (l2->profile->l2.write == WPI_WRITE_BACK)
        wpi_cache_write_at(&slice->cache, place, request->sectors, ledger->at);
    else
        write(l2, slice, request->line, request->sectors, ledger);
}

static bool is_remote(const wpi_l2 *l2, uint64_t line) {
    return line >= l2->host_first && line < l2->host_outer;
}

static bool wants_answer(const wpi_l2_request *request) {
    return request->kind == WP_TRACE_LOAD || request->kind == WP_TRACE_ATOMIC;
}

static void serve_remote(wpi_l2 *l2, const wpi_l2_request *request, wpi_ledger *ledger) {
    const bool is_write = request->kind != WP_TRACE_LOAD;
    const uint64_t bytes = wpi_sector_count(request->sectors) * WPI_SECTOR_BYTES;
    wpi_time_ps turn = ledger->at;
    if (is_write) turn = wpi_link_remote(&l2->link, bytes, WPI_DIRECTION_TO_HOST, turn);
    if (wants_answer(request))
        turn = wpi_link_remote(&l2->link, bytes, WPI_DIRECTION_TO_DEVICE, turn);
    wpi_ledger_wait(ledger, WPI_SPENT_LINK, turn);
    if (wants_answer(request))
        wpi_ledger_until(ledger, WPI_SPENT_LINK, turn + l2->profile->link.remote_ps);
}

/* An access to another GPU's memory occupies this one's ways of the link between them. */
static void serve_peer(wpi_l2 *l2, const wpi_l2_request *request, wpi_ledger *ledger) {
    wpi_peers *p = &l2->peers;
    const uint64_t address = request->line * WPI_LINE_BYTES;
    const uint64_t bytes = wpi_sector_count(request->sectors) * WPI_SECTOR_BYTES;
    const wpi_time_ps bytes_ps = wpi_bytes_ps(bytes, l2->profile->peer.bytes_per_s);
    wpi_time_ps turn = ledger->at;
    if ((p->allowed >> p->gpu_of(address) & 1) == 0) p->denied(p->object, address);
    if (request->kind != WP_TRACE_LOAD)
        turn = wpi_bus_take(&p->ways[WPI_DIRECTION_TO_HOST], turn, bytes_ps);
    if (wants_answer(request))
        turn = wpi_bus_take(&p->ways[WPI_DIRECTION_TO_DEVICE], turn, bytes_ps);
    p->accesses++;
    p->accessed_bytes += bytes;
    wpi_ledger_wait(ledger, WPI_SPENT_LINK, turn);
    if (wants_answer(request))
        wpi_ledger_until(ledger, WPI_SPENT_LINK, turn + l2->profile->peer.remote_ps);
}

static bool is_peers(const wpi_l2 *l2, uint64_t line) {
    const wpi_peers *p = &l2->peers;
    return line >= p->first && line < p->outer && (line < p->own_first || line >= p->own_outer);
}

static void serve_local(wpi_l2 *l2, wpi_l2_slice *slice, const wpi_l2_request *request,
                        wpi_ledger *ledger) {
    const wpi_cache_tally before = wpi_cache_tally_of(&slice->cache);
    switch (request->kind) {
    case WP_TRACE_LOAD: (void)fetch(l2, slice, request->line, request->sectors, ledger); break;
    case WP_TRACE_STORE: write(l2, slice, request->line, request->sectors, ledger); break;
    default: update(l2, slice, request, ledger); break;
    }
    wpi_cache_tally_line(&slice->cache, &before, request->counts, WP_RUN_LINE_L2_HITS);
}

static wpi_l2_slice *slice_of(const wpi_l2 *l2, uint64_t line) {
    return &l2->slices[wpi_cache_slice(l2->profile->l2.hash, &l2->slice_count, line)];
}

uint32_t wpi_l2_place(const wpi_l2 *l2, uint64_t line) {
    const uint32_t number = wpi_cache_slice(l2->profile->l2.hash, &l2->slice_count, line);
    const uint32_t set = wpi_cache_set(&l2->slices[number].cache, line);
    return number << SET_BITS | (set & SET_MASK);
}

void wpi_l2_expect(const wpi_l2 *l2, uint32_t place, bool is_near) {
    wpi_cache_expect_set(&l2->slices[place >> SET_BITS].cache, place & SET_MASK, is_near);
}

void wpi_l2_empty(wpi_l2 *l2, wpi_time_ps now) {
    for (uint32_t s = 0; s < l2->profile->l2.slices; s++)
        wpi_cache_empty(&l2->slices[s].cache, now);
}

void wpi_l2_copy(wpi_l2 *l2, uint64_t address, uint64_t bytes, wpi_time_ps now) {
    const uint64_t outer = address + bytes, kept = l2->profile->l2.bytes;
    const uint64_t first = bytes > kept ? outer - kept : address;
    for (uint64_t at = first; at < outer;) {
        const uint64_t line = at / WPI_LINE_BYTES, next = (line + 1) * WPI_LINE_BYTES;
        const uint64_t until = next < outer ? next : outer;
        const uint32_t from = (uint32_t)(at % WPI_LINE_BYTES / WPI_SECTOR_BYTES);
        const uint32_t to = (uint32_t)((until - 1) % WPI_LINE_BYTES / WPI_SECTOR_BYTES);
        const uint8_t sectors = (uint8_t)((2u << to) - (1u << from));
        wpi_cache_answer found;
        wpi_cache_store(&slice_of(l2, line)->cache, WPI_WRITE_BACK, line, sectors, now, &found);
        at = until;
    }
}

void wpi_l2_serve(wpi_l2 *l2, const wpi_l2_request *request, wpi_ledger *ledger) {
    const wpi_time_ps arrival = ledger->at;
    const uint32_t sectors = wpi_sector_count(request->sectors);
    wpi_l2_slice *slice = slice_of(l2, request->line);
    const wpi_time_ps taken_ps = sectors * l2->sector_ps;
    const wpi_time_ps turn = wpi_bus_take(&slice->port, arrival, taken_ps);
    wpi_utilisation_add(&l2->utilisation, turn, turn + taken_ps);
    wpi_ledger_wait(ledger, WPI_SPENT_L2, turn);
    l2->requests[request->kind]++;
    if (request->kind == WP_TRACE_LOAD)
        l2->read_bytes += sectors * WPI_SECTOR_BYTES;
    else
        l2->written_bytes += sectors * WPI_SECTOR_BYTES;
    if (request->is_remote || is_remote(l2, request->line))
        serve_remote(l2, request, ledger);
    else if (is_peers(l2, request->line))
        serve_peer(l2, request, ledger);
    else
        serve_local(l2, slice, request, ledger);
    if (wants_answer(request))
        wpi_ledger_wait(
            ledger, WPI_SPENT_L2,
            wpi_bus_take(&l2->sm_ports[request->sm], arrival, sectors * l2->sm_sector_ps));
}

void wpi_l2_statistics(const wpi_l2 *l2, wpi_visit visit, void *object) {
    static const char *const kinds[WP_TRACE_ACCESS_COUNT] = {"loads", "stores", "atomics",
                                                             "reductions"};
    uint64_t hits = 0, misses = 0, merges = 0, evictions = 0, dirty = 0;
    for (uint32_t i = 0; i < l2->profile->l2.slices; i++) {
        const wpi_cache *cache = &l2->slices[i].cache;
        hits += cache->sector_hits;
        misses += cache->sector_misses;
        merges += cache->sector_merges;
        evictions += cache->evictions;
        dirty += cache->dirty_evictions;
    }
    for (uint32_t kind = 0; kind < WP_TRACE_ACCESS_COUNT; kind++)
        wpi_visit_value(visit, object, "l2.", kinds[kind], "requests", l2->requests[kind]);
    wpi_visit_value(visit, object, "l2.", "hits", "sectors", hits);
    wpi_visit_value(visit, object, "l2.", "misses", "sectors", misses);
    wpi_visit_value(visit, object, "l2.", "merges", "sectors", merges);
    wpi_visit_value(visit, object, "l2.", "evictions", "lines", evictions);
    wpi_visit_value(visit, object, "l2.", "dirty_evictions", "lines", dirty);
    wpi_visit_value(visit, object, "l2.", "read", "bytes", l2->read_bytes);
    wpi_visit_value(visit, object, "l2.", "written", "bytes", l2->written_bytes);
    wpi_visit_value(visit, object, "l2.", "atomic_turns", "turns", l2->atomic_turns);
    wpi_visit_value(visit, object, "l2.", "mshr_waits", "lines", l2->mshr_waits);
    wpi_visit_value(visit, object, "l2.", "mshr_wait", "ps", l2->mshr_wait_ps);
    wpi_visit_utilisation(visit, object, "l2.", "utilisation", &l2->utilisation);
    wpi_dram_statistics(&l2->dram, visit, object);
    wpi_link_statistics(&l2->link, visit, object);
    if (l2->peers.outer == 0) return;
    wpi_visit_value(visit, object, "peer.", "accesses", "requests", l2->peers.accesses);
    wpi_visit_value(visit, object, "peer.", "accessed", "bytes", l2->peers.accessed_bytes);
    wpi_visit_value(visit, object, "peer.", "copies", "copies", l2->peers.copies);
    wpi_visit_value(visit, object, "peer.", "copied", "bytes", l2->peers.copied_bytes);
}

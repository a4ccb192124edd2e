/* SPDX-License-Identifier: Apache-2.0 */
/* The keys of profiles: the table, and the names of keys that are repeated. */
#include "sim/profile/profile_keys.h"

#include <stdio.h>
#include <string.h>

#define AT(field) offsetof(wpi_profile, field)
#define TLB(field) (AT(tlb) + offsetof(wpi_tlb_profile, field))
#define CLASS(field) (AT(classes) + offsetof(wpi_class_profile, field))
#define SAME WPI_KEY_SAME
#define ANY_PS WPI_KEY_PS_MAX
#define ANY_RATE WPI_KEY_RATE_MAX
#define ANY_BYTES ((uint64_t)1 << 50)

/* clang-format off */
const wpi_key wpi_keys[] = {
    {"gpu.title", WPI_KEY_TEXT, "", 0, 0, AT(title), NULL, "descriptive name of the GPU"},
    {"gpu.core_clock", WPI_KEY_HZ, "1GHz", 1000000, 100000000000, AT(core_hz), NULL,
     "clock frequency of SMs, caches and TLBs; a cycle is one of its cycles"},
    {"gpu.capability", WPI_KEY_NUMBER, "60", 20, 150, AT(capability), NULL,
     "compute capability, major * 10 + minor"},
    {"gpu.memory", WPI_KEY_BYTES, "16GiB", 1 << 20, ANY_BYTES, AT(memory_bytes), NULL,
     "device memory"},
    {"gpu.launch_latency", WPI_KEY_TIME, "5us", 0, ANY_PS, AT(launch_ps), NULL,
     "time from a launch until its first CTA starts"},
    {"gpu.sm_skew", WPI_KEY_TIME, "0ns", 0, ANY_PS, AT(skew_ps), NULL,
     "delay between the starts of a launch on consecutive SMs"},
    {"gpu.cta_placement", WPI_KEY_CHOICE, "round-robin", 0, 0, AT(cta_placement),
     "round-robin rotate fill",
     "placement of CTAs: one each to the SMs in turn, starting at the first SM (round-robin) or "
     "after the SM of the previous launch's last CTA (rotate); or the first SM with room (fill)"},
    {"gpu.time_slice", WPI_KEY_TIME, "100ns", 1000, ANY_PS, AT(slice_ps), NULL,
     "sampling interval of utilisation over time; doubled repeatedly in long runs"},
    {"gpu.seed", WPI_KEY_SEED, "1", 1, UINT64_MAX, AT(seed), NULL, "seed of random replacement"},

    {"floorplan.gpcs", WPI_KEY_NUMBER, "1", 1, WPI_SMS_MAX, AT(gpcs), NULL,
     "GPCs of the full chip"},
    {"floorplan.tpcs", WPI_KEY_NUMBER, "1", 1, WPI_SMS_MAX, AT(tpcs_per_gpc), NULL,
     "TPCs of a GPC"},
    {"floorplan.sms", WPI_KEY_NUMBER, "1", 1, WPI_SMS_MAX, AT(sms_per_tpc), NULL, "SMs of a TPC"},
    {"floorplan.disabled", WPI_KEY_TEXT, "", 0, 0, AT(disabled_text), NULL,
     "disabled SMs, by their numbers on the full chip: 10,11"},
    {"floorplan.order", WPI_KEY_CHOICE, "round-robin", 0, 0, AT(order), "row round-robin",
     "consecutive TPCs lie in the same GPC (row) or in different GPCs (round-robin)"},

    {"sm.warps", WPI_KEY_NUMBER, "64", 1, 1024, AT(warps), NULL, "resident warps of an SM"},
    {"sm.ctas", WPI_KEY_NUMBER, "32", 1, 1024, AT(ctas), NULL, "resident CTAs of an SM"},
    {"sm.threads", WPI_KEY_NUMBER, "2048", 32, 32768, AT(threads), NULL,
     "resident threads of an SM"},
    {"sm.registers", WPI_KEY_NUMBER, "65536", 1, 1 << 24, AT(registers), NULL,
     "32-bit registers of an SM"},
    {"sm.register_granule", WPI_KEY_NUMBER, "256", 1, 65536, AT(register_granule), NULL,
     "registers of a warp are allocated in multiples of this"},
    {"sm.schedulers", WPI_KEY_NUMBER, "4", 1, 64, AT(schedulers), NULL, "warp schedulers of an SM"},
    {"sm.issue_width", WPI_KEY_NUMBER, "1", 1, 16, AT(issue_width), NULL,
     "instructions that a scheduler issues per cycle"},
    {"sm.fetch_width", WPI_KEY_NUMBER, "0", 0, 64, AT(fetch_width), NULL,
     "instructions fetched per cycle, for one warp at a time in turn; 0: no limit"},
    {"sm.scheduler", WPI_KEY_POLICY, "gto", 0, 0, AT(scheduler), "scheduler",
     "policy that selects among ready warps"},

    {"class.*.latency", WPI_KEY_CYCLES, "6cycles", 1, 100000, CLASS(latency_cycles),
     NULL, "cycles until a dependent instruction can issue"},
    {"class.*.lanes", WPI_KEY_NUMBER, "32", 1, 4096, CLASS(lanes),
     NULL, "lanes that an SM executes per cycle"},

    {"shared.bytes", WPI_KEY_BYTES, "64KiB", 0, 1 << 24, AT(shared_bytes), NULL,
     "shared memory of an SM"},
    {"shared.cta_bytes", WPI_KEY_BYTES, "48KiB", 0, 1 << 24, AT(shared_bytes_per_cta), NULL,
     "shared memory available to one CTA"},
    {"shared.granule", WPI_KEY_BYTES, "256B", 1, 1 << 20, AT(shared_granule_bytes), NULL,
     "shared memory of a CTA is allocated in multiples of this"},
    {"shared.banks", WPI_KEY_NUMBER, "32", 1, 64, AT(shared_banks), NULL, "banks of shared memory"},
    {"shared.bank_bytes", WPI_KEY_BYTES, "4B", 4, 8, AT(shared_bank_bytes), NULL,
     "width of a bank: 4B or 8B"},
    {"shared.latency", WPI_KEY_CYCLES, "24cycles", 1, 100000, AT(shared_latency_cycles), NULL,
     "latency of an access without bank conflicts"},

    {"lsu.latency", WPI_KEY_TIME, "0cycles", 0, ANY_PS, AT(lsu_latency_ps), NULL,
     "latency of every global access in addition to TLBs, caches and memory"},
    {"lsu.stores", WPI_KEY_NUMBER, "64", 1, 1 << 20, AT(lsu_stores), NULL,
     "store lines in flight for each SM; as many more queue in the LSU, then warps stall"},

    {"l1.on", WPI_KEY_FLAG, "on", 0, 1, AT(l1.is_on), NULL,
     "global loads without a cache operator look up L1"},
    {"l1.bytes", WPI_KEY_BYTES, "32KiB", 128, 1 << 30, AT(l1.bytes), NULL,
     "size of the L1 cache of an SM"},
    {"l1.ways", WPI_KEY_NUMBER, "4", 1, 1024, AT(l1.ways), NULL, "lines of 128 bytes in a set"},
    {"l1.sector", WPI_KEY_BYTES, "32B", 32, 128, AT(l1.sector_bytes), NULL,
     "bytes that a miss fetches: 32B, 64B or 128B"},
    {"l1.latency", WPI_KEY_TIME, "30cycles", 0, ANY_PS, AT(l1.latency_ps), NULL,
     "latency of a look-up; a miss pays it too"},
    {"l1.mshrs", WPI_KEY_NUMBER, "64", 1, 65536, AT(l1.mshrs), NULL,
     "lines that can be outstanding"},
    {"l1.write", WPI_KEY_CHOICE, "through", 0, 0, AT(l1.write), "through evict back",
     "a store updates L1 (through), invalidates the sector (evict), or stays dirty in L1 (back)"},
    {"l1.hash", WPI_KEY_CHOICE, "modulo", 0, 0, AT(l1.hash), "modulo xor",
     "mapping of lines to sets"},

    {"l2.bytes", WPI_KEY_BYTES, "4MiB", 128, ANY_BYTES, AT(l2.bytes), NULL,
     "size of all slices together"},
    {"l2.ways", WPI_KEY_NUMBER, "16", 1, 1024, AT(l2.ways), NULL, "lines of 128 bytes in a set"},
    {"l2.sector", WPI_KEY_BYTES, "32B", 32, 128, AT(l2.sector_bytes), NULL,
     "bytes that a miss fetches: 32B, 64B or 128B"},
    {"l2.slices", WPI_KEY_NUMBER, "32", 1, 1024, AT(l2.slices), NULL,
     "slices, which work in parallel; consecutive lines lie in different slices"},
    {"l2.latency", WPI_KEY_TIME, "200cycles", 0, ANY_PS, AT(l2.latency_ps), NULL,
     "latency from the SM to the slice and back with the look-up, in addition to L1's"},
    {"l2.mshrs", WPI_KEY_NUMBER, "128", 1, 65536, AT(l2.mshrs), NULL,
     "lines that can be outstanding in each slice"},
    {"l2.bandwidth", WPI_KEY_RATE, "1TB/s", 1000000, ANY_RATE, AT(l2.bytes_per_s), NULL,
     "bandwidth of all slices together"},
    {"l2.sm_bandwidth", WPI_KEY_RATE, "64B/cycle", 1000000, ANY_RATE, AT(l2.sm_bytes_per_s), NULL,
     "bandwidth from L2 to one SM"},
    {"l2.write", WPI_KEY_CHOICE, "back", 0, 0, AT(l2.write), "through evict back",
     "handling of stores, as for l1.write"},
    {"l2.atomic_interval", WPI_KEY_TIME, "1cycles", 0, ANY_PS, AT(l2.atomic_ps), NULL,
     "interval between atomic operations on one address; a slice processes one sector at a time"},
    {"l2.hash", WPI_KEY_CHOICE, "xor", 0, 0, AT(l2.hash), "modulo xor",
     "mapping of lines to slices and sets"},

    {"page.bytes", WPI_KEY_BYTES, "2MiB", 4096, 32 << 20, AT(page_bytes), NULL,
     "page size of the page table; a power of two"},

    {"tlb.levels", WPI_KEY_NUMBER, "2", 1, WPI_TLB_LEVELS_MAX, AT(tlb_levels), NULL, "TLB levels"},
    {"tlb.requests", WPI_KEY_CHOICE, "page", 0, 0, AT(tlb_requests), "page line",
     "an access of a warp looks up the first level once for each page, or once for each line of "
     "128 bytes"},
    {"tlb.l*.entries", WPI_KEY_NUMBER, "16", 1, 1 << 20, TLB(entries), NULL, "entries"},
    {"tlb.l*.ways", WPI_KEY_NUMBER, "0", 0, 1 << 20, TLB(ways), NULL,
     "entries of a set; 0: one set (fully associative)"},
    {"tlb.l*.sets", WPI_KEY_TEXT, "", 0, 0, TLB(sets_text), NULL,
     "unequal sets as COUNTxWAYS, 6x8,1x17; tags are distributed in proportion to the ways"},
    {"tlb.l*.coverage", WPI_KEY_BYTES, "0", 0, ANY_BYTES, TLB(coverage_bytes),
     NULL, "bytes that an entry translates; 0: one page"},
    {"tlb.l*.fill", WPI_KEY_NUMBER, "0", 0, 1 << 20, TLB(fill_pages), NULL,
     "pages of an entry that a miss fills; 0: all"},
    {"tlb.l*.hash", WPI_KEY_CHOICE, "modulo", 0, 0, TLB(hash),
     "modulo xor", "mapping of tags to sets"},
    {"tlb.l*.replacement", WPI_KEY_POLICY, "lru", 0, 0, TLB(replacement), "replacement",
     "policy that selects the entry of a set to evict"},
    {"tlb.l*.ports", WPI_KEY_NUMBER, "1", 0, 1024, TLB(ports), NULL,
     "look-ups per cycle; 0: no limit"},
    {"tlb.l*.mshrs", WPI_KEY_NUMBER, "32", 0, 1 << 20, TLB(mshrs), NULL,
     "misses that can be outstanding; 0: no limit"},
    {"tlb.l*.merge", WPI_KEY_FLAG, "on", 0, 1, TLB(is_merging), NULL,
     "misses of the same pages merge; off: each of them goes to the next level"},
    {"tlb.l*.latency", WPI_KEY_TIME, "0cycles", 0, ANY_PS, TLB(latency_ps), NULL,
     "latency of a look-up; a miss pays it too"},
    {"tlb.l*.hit_under_miss", WPI_KEY_FLAG, "on", 0, 1, TLB(is_hit_under_miss),
     NULL, "look-ups continue while a miss is outstanding"},
    {"tlb.l*.sharing", WPI_KEY_CHOICE, "sm", 0, 0, TLB(sharing),
     "sm tpc gpc gpu groups", "which SMs share a TLB"},
    {"tlb.l*.groups", WPI_KEY_TEXT, "", 0, 0, TLB(groups), NULL,
     "SMs that share a TLB, for sharing = groups: 0,5 | 1,6 | 2,7,10"},

    {"tlb_sharing.policy", WPI_KEY_POLICY, "private", 0, 0, AT(tlb_sharing.policy), "tlb_sharing",
     "policy that selects the other first-level TLBs to query before the second level"},
    {"tlb_sharing.scope", WPI_KEY_CHOICE, "gpu", 0, 0, AT(tlb_sharing.scope), "sm tpc gpc gpu",
     "SMs whose TLBs form a ring"},
    {"tlb_sharing.neighbours", WPI_KEY_NUMBER, "0", 0, WPI_SMS_MAX, AT(tlb_sharing.neighbours),
     NULL, "TLBs that may be queried to each side; 0: the policy's own number"},
    {"tlb_sharing.hop", WPI_KEY_TIME, "1cycles", 0, ANY_PS, AT(tlb_sharing.hop_ps), NULL,
     "time from a TLB to the next; a link carries one message per cycle and direction"},
    {"tlb_sharing.buffer", WPI_KEY_NUMBER, "2", 1, 1024, AT(tlb_sharing.buffer_entries), NULL,
     "queries that can wait at each of a TLB's two ports; a miss that finds it full goes to the "
     "second level"},
    {"tlb_sharing.directory_entries", WPI_KEY_NUMBER, "0", 0, 1 << 20,
     AT(tlb_sharing.directory_entries), NULL, "entries of a directory; 0: as many as the TLB has"},
    {"tlb_sharing.directory_latency", WPI_KEY_TIME, "1cycles", 0, ANY_PS,
     AT(tlb_sharing.directory_ps), NULL,
     "latency of a directory look-up, in parallel with the TLB's"},
    {"tlb_sharing.tag_bits", WPI_KEY_NUMBER, "18", 1, 40, AT(tlb_sharing.tag_bits), NULL,
     "bits of a directory tag, which is a hash of the page number"},
    {"tlb_sharing.threshold", WPI_KEY_NUMBER, "2", 1, 1 << 20, AT(tlb_sharing.threshold), NULL,
     "neidty-twice stores the translation at this reply for a page"},
    {"tlb_sharing.count", WPI_KEY_CHOICE, "in-a-row", 0, 0, AT(tlb_sharing.count),
     "in-a-row by-entry",
     "replies that count: consecutive ones to the TLB for the same page (in-a-row), or all "
     "while the directory entry lives (by-entry)"},
    {"tlb_sharing.census", WPI_KEY_FLAG, "off", 0, 1, AT(tlb_sharing.has_census), NULL,
     "count for each request and each miss how many TLBs hold the page"},

    {"tlb_prefetch.policy", WPI_KEY_POLICY, WPI_POLICY_NONE, 0, 0, AT(tlb_prefetch.policy), "tlb_prefetch",
     "policy that selects translations to prefetch into the last TLB level"},
    {"tlb_prefetch.table", WPI_KEY_NUMBER, "64", 1, 1 << 20, AT(tlb_prefetch.table_entries), NULL,
     "regions whose misses are recorded"},
    {"tlb_prefetch.region", WPI_KEY_NUMBER, "16", 1, 1 << 20, AT(tlb_prefetch.region_pages), NULL,
     "pages of a region"},
    {"tlb_prefetch.threshold", WPI_KEY_NUMBER, "2", 1, 1 << 20, AT(tlb_prefetch.threshold), NULL,
     "misses in a region before the first prefetch"},
    {"tlb_prefetch.degree", WPI_KEY_NUMBER, "1", 1, 16, AT(tlb_prefetch.degree), NULL,
     "translations prefetched at a time"},
    {"tlb_prefetch.buffer", WPI_KEY_NUMBER, "32", 1, 1 << 20, AT(tlb_prefetch.buffer_entries),
     NULL, "prefetched translations kept until they are used"},

    {"itlb.on", WPI_KEY_FLAG, "off", 0, 1, AT(itlb.is_on), NULL,
     "each SM has an instruction TLB in front of the second TLB level"},
    {"itlb.entries", WPI_KEY_NUMBER, "32", 1, 1 << 20, AT(itlb.entries), NULL,
     "entries of one page each; one set, LRU"},
    {"itlb.latency", WPI_KEY_TIME, "1cycles", 0, ANY_PS, AT(itlb.latency_ps), NULL,
     "latency of a look-up that misses; instruction prefetching hides hits"},
    {"itlb.instruction_bytes", WPI_KEY_BYTES, "8B", 1, 64, AT(itlb.instruction_bytes), NULL,
     "bytes of code of an instruction"},

    {"walker.count", WPI_KEY_NUMBER, "8", 0, 1 << 20, AT(walker.count), NULL,
     "page walks at a time; 0: no limit"},
    {"walker.queue", WPI_KEY_NUMBER, "256", 1, 1 << 20, AT(walker.queue), NULL,
     "walks that can be queued; more wait in the last TLB"},
    {"walker.levels", WPI_KEY_NUMBER, "4", 1, 6, AT(walker.levels), NULL,
     "levels of the page table"},
    {"walker.level_latency", WPI_KEY_TIME, "50cycles", 0, ANY_PS, AT(walker.level_ps), NULL,
     "latency of one level of a walk"},
    {"walker.level_bits", WPI_KEY_NUMBER, "9", 1, 20, AT(walker.level_bits), NULL,
     "address bits that a level translates"},
    {"walker.cache_entries", WPI_KEY_NUMBER, "0", 0, 1 << 20, AT(walker.cache_entries), NULL,
     "entries of the page-walk cache, which skips upper levels; 0: no cache"},
    {"walker.cache_latency", WPI_KEY_TIME, "0cycles", 0, ANY_PS, AT(walker.cache_ps), NULL,
     "latency of a look-up in the page-walk cache, which every walk pays"},

    {"dram.channels", WPI_KEY_NUMBER, "8", 1, 1024, AT(dram.channels), NULL, "channels"},
    {"dram.banks", WPI_KEY_NUMBER, "16", 1, 256, AT(dram.banks), NULL, "banks of a channel"},
    {"dram.bandwidth", WPI_KEY_RATE, "300GB/s", 1000000, ANY_RATE, AT(dram.bytes_per_s), NULL,
     "bandwidth of all channels together"},
    {"dram.latency", WPI_KEY_TIME, "100ns", 0, ANY_PS, AT(dram.latency_ps), NULL,
     "latency in addition to L2's when the row is open"},
    {"dram.row", WPI_KEY_BYTES, "2KiB", 128, 1 << 20, AT(dram.row_bytes), NULL,
     "size of a bank's row; a power of two"},
    {"dram.row_miss", WPI_KEY_TIME, "24ns", 0, ANY_PS, AT(dram.row_miss_ps), NULL,
     "additional latency when another row is open; the bank is busy for this time"},
    {"dram.row_window", WPI_KEY_NUMBER, "4", 1, 64, AT(dram.row_window), NULL,
     "rows of a bank whose requests the controller groups; 1: in order of arrival"},
    {"dram.queue", WPI_KEY_NUMBER, "64", 1, 65536, AT(dram.queue), NULL,
     "lines that can wait to be written in each channel; more stall stores"},

    {"paging.on", WPI_KEY_FLAG, "off", 0, 1, AT(paging.is_on), NULL,
     "pages of managed memory migrate to the GPU; off: they are accessed across the link"},
    {"paging.oversubscribe", WPI_KEY_PERCENT, "0%", 0, 10000, AT(paging.oversubscribe_percent), NULL,
     "managed allocations of the program as a percentage of device memory; 0%: device memory is "
     "gpu.memory"},
    {"paging.round_up", WPI_KEY_FLAG, "off", 0, 1, AT(paging.rounds_up), NULL,
     "the last part of an allocation is rounded up to its tree: 64 KiB times a power of two"},
    {"paging.service", WPI_KEY_CHOICE, "drained", 0, 0, AT(paging.service),
     "drained serial added batch pipelined",
     "far faults are serviced all together (drained), one after the other (serial), with "
     "their latency only counted (added), as by NVIDIA's driver (batch), or each by itself with "
     "any number in flight (pipelined)"},
    {"paging.latency", WPI_KEY_TIME, "20us", 0, ANY_PS, AT(paging.latency_ps), NULL,
     "latency of a far-fault service, except for batch"},
    {"paging.host_latency", WPI_KEY_TIME, "20us", 0, ANY_PS, AT(paging.host_latency_ps), NULL,
     "latency of a host fault on a page that is resident on the device"},
    {"paging.batch", WPI_KEY_NUMBER, "256", 1, 1 << 20, AT(paging.batch_entries), NULL,
     "faults that the driver fetches at a time (uvm_perf_fault_batch_count)"},
    {"paging.fault_buffer", WPI_KEY_NUMBER, "4096", 1, 1 << 20, AT(paging.buffer_entries), NULL,
     "entries of the GPU's fault buffer; other faults are raised again at the next replay. The "
     "size is an assumption"},
    {"paging.coalesce", WPI_KEY_FLAG, "on", 0, 1, AT(paging.is_coalescing), NULL,
     "faults on a page are coalesced when fetched, if the SM's or the batch's previous fault "
     "was on that page (uvm_perf_fault_coalesce)"},
    {"paging.replay", WPI_KEY_CHOICE, "batch-flush", 0, 0, AT(paging.replay),
     "block batch batch-flush once",
     "stalled accesses retry after each 2 MiB (block), after each batch (batch), after each "
     "batch with the fault buffer flushed (batch-flush), or when no fault is left (once) "
     "(uvm_perf_fault_replay_policy)"},
    {"paging.flush_update", WPI_KEY_PERCENT, "50%", 0, 100, AT(paging.flush_percent), NULL,
     "percentage of duplicates in a batch above which faults that arrived meanwhile are flushed "
     "too (uvm_perf_fault_replay_update_put_ratio)"},
    {"paging.service_batches", WPI_KEY_NUMBER, "20", 1, 1 << 20, AT(paging.service_batches), NULL,
     "batches serviced in one interrupt (uvm_perf_fault_max_batches_per_service)"},
    {"paging.interrupt", WPI_KEY_TIME, "4us", 0, ANY_PS, AT(paging.interrupt_ps), NULL,
     "time from the first fault to the driver; with the next three keys 20us for a single "
     "fault, like paging.latency; the division among them is an estimate"},
    {"paging.batch_latency", WPI_KEY_TIME, "5us", 0, ANY_PS, AT(paging.batch_ps), NULL,
     "time of a batch: fetch, sort, replay"},
    {"paging.fault_latency", WPI_KEY_TIME, "350ns", 0, ANY_PS, AT(paging.fault_ps), NULL,
     "time of each coalesced fault of a batch; a kernel that reads managed memory in order "
     "achieves some 5GB/s with it"},
    {"paging.block_latency", WPI_KEY_TIME, "10650ns", 0, ANY_PS, AT(paging.block_ps), NULL,
     "time of each 2 MiB of a batch: unmap on the host, select, map on the device"},
    {"paging.service_throttles", WPI_KEY_NUMBER, "5", 1, 1 << 20, AT(paging.service_throttles),
     NULL,
     "batches with throttled faults serviced in one interrupt "
     "(uvm_perf_fault_max_throttle_per_service)"},
    {"paging.thrash", WPI_KEY_POLICY, WPI_POLICY_NONE, 0, 0, AT(paging.thrash), "thrash",
     "policy for pages that host and device access alternately"},
    {"paging.thrash_threshold", WPI_KEY_NUMBER, "3", 1, 7, AT(paging.thrash_threshold), NULL,
     "migrations within the lapse of one another at which a page counts as thrashing "
     "(uvm_perf_thrashing_threshold)"},
    {"paging.thrash_pin_threshold", WPI_KEY_NUMBER, "10", 1, 255, AT(paging.thrash_pin_threshold),
     NULL, "throttles after which a page is pinned (uvm_perf_thrashing_pin_threshold)"},
    {"paging.thrash_lapse", WPI_KEY_TIME, "500us", 0, ANY_PS, AT(paging.thrash_lapse_ps), NULL,
     "longest time between two migrations that count (uvm_perf_thrashing_lapse_usec)"},
    {"paging.thrash_adapt", WPI_KEY_CHOICE, "as-written", 0, 0, AT(paging.thrash_adapt),
     "as-written as-intended never",
     "the lapse adapts to faults as the driver's code does (as-written), as the driver intends "
     "(as-intended), or never (the driver: never if a lapse is given)"},
    {"paging.thrash_votes", WPI_KEY_NUMBER, "32", 1, 127, AT(paging.thrash_votes), NULL,
     "faults that change the lapse (uvm_perf_lapse_vote_threshold)"},
    {"paging.thrash_nap", WPI_KEY_NUMBER, "1", 1, 100, AT(paging.thrash_nap), NULL,
     "lapses for which all but one processor are throttled (uvm_perf_thrashing_nap)"},
    {"paging.thrash_epoch", WPI_KEY_NUMBER, "2000", 1, 1 << 20, AT(paging.thrash_epoch), NULL,
     "lapses without thrashing after which the state of 2 MiB is reset "
     "(uvm_perf_thrashing_epoch)"},
    {"paging.thrash_resets", WPI_KEY_NUMBER, "4", 0, 255, AT(paging.thrash_resets), NULL,
     "maximum number of such resets (uvm_perf_thrashing_max_resets)"},
    {"paging.thrash_pin", WPI_KEY_NUMBER, "300", 0, 1 << 20, AT(paging.thrash_pin), NULL,
     "lapses for which a page is pinned; 0: for ever (uvm_perf_thrashing_pin)"},
    {"paging.on_fault", WPI_KEY_CHOICE, "replay", 0, 0, AT(paging.on_fault),
     "replay hit-under-fault block",
     "an SM that waits for a page continues (replay), continues with the pages in its first TLB "
     "(hit-under-fault), or stalls (block)"},
    {"paging.cu_faults", WPI_KEY_NUMBER, "0", 0, 1 << 20, AT(paging.cu_faults), NULL,
     "pages for which an SM can have far faults outstanding; 0: no limit"},
    {"paging.cu_counts", WPI_KEY_CHOICE, "waited", 0, 0, AT(paging.cu_counts), "waited raised",
     "pages that count against paging.cu_faults: all that an SM waits for (waited), or only "
     "those that no other SM had requested before (raised)"},
    {"paging.mshrs", WPI_KEY_NUMBER, "0", 0, 1 << 20, AT(paging.mshrs), NULL,
     "outstanding far faults; 0: no limit"},
    {"paging.replay_lines", WPI_KEY_NUMBER, "0", 0, 1 << 20, AT(paging.replay_lines), NULL,
     "replayed lines that an SM issues per cycle; 0: no limit"},
    {"paging.prefetch", WPI_KEY_POLICY, "tree", 0, 0, AT(paging.prefetch), "prefetch",
     "policy that selects the pages to migrate along with faulting ones"},
    {"paging.prefetch_full", WPI_KEY_POLICY, SAME, 0, 0, AT(paging.prefetch_full), "prefetch",
     "prefetch policy after memory was full for the first time; same: unchanged"},
    {"paging.prefetch_threshold", WPI_KEY_PERCENT, "51%", 1, 100, AT(paging.threshold_percent), NULL,
     "percentage of a region that must be exceeded, for the driver's prefetcher"},
    {"paging.evict", WPI_KEY_POLICY, "lru-2m", 0, 0, AT(paging.evict), "evict",
     "policy that selects the pages to evict"},
    {"paging.reserve", WPI_KEY_PERCENT, "0%", 0, 99, AT(paging.reserve_percent), NULL,
     "percentage of the evictable pages that is protected, the least recently used first"},
    {"paging.free", WPI_KEY_PERCENT, "0%", 0, 99, AT(paging.free_percent), NULL,
     "percentage of memory that is kept free by evicting in advance"},
    {"paging.zero_fill", WPI_KEY_FLAG, "off", 0, 1, AT(paging.makes_pages), NULL,
     "a page that was never touched is zero-filled on the device; off: it is transferred like "
     "others"},
    {"paging.drop_clean", WPI_KEY_FLAG, "off", 0, 1, AT(paging.drops_clean), NULL,
     "clean pages are evicted without write-back"},
    {"paging.free_at_start", WPI_KEY_FLAG, "off", 0, 1, AT(paging.frees_at_start), NULL,
     "a frame is free when its write-back begins; off: when it ends"},
    {"paging.stage_victims", WPI_KEY_FLAG, "off", 0, 1, AT(paging.stages_victims), NULL,
     "victims are selected when pages are requested, and stay if they are used before their "
     "write-back begins; off: selected when a transfer can begin"},
    {"paging.remote_fills", WPI_KEY_FLAG, "off", 0, 1, AT(paging.fills_remote), NULL,
     "a remote access fills the TLBs, and accesses that hit there act as if the page were "
     "resident; off: they go across the link"},
    {"paging.synchronize", WPI_KEY_CHOICE, "keep", 0, 0, AT(paging.synchronize), "keep return",
     "when the host has synchronised with the device, pages stay (keep), or dirty pages are "
     "written back and memory is empty (return)"},
    {"paging.cta_ends", WPI_KEY_CHOICE, "done", 0, 0, AT(paging.cta_ends), "done quiet",
     "a CTA leaves its SM when its threads have returned (done), or when also no page transfer "
     "is in flight (quiet)"},
    {"paging.migrate", WPI_KEY_POLICY, "first-touch", 0, 0, AT(paging.migrate), "migrate",
     "policy that decides when to migrate a page instead of accessing it remotely"},
    {"paging.migrate_threshold", WPI_KEY_NUMBER, "8", 1, 1 << 26, AT(paging.migrate_threshold),
     NULL, "accesses that trigger a migration (t_s)"},
    {"paging.migrate_penalty", WPI_KEY_SEED, "8", 1, 1 << 30, AT(paging.migrate_penalty), NULL,
     "factor of the threshold after memory was full (p)"},

    {"link.latency", WPI_KEY_TIME, "2us", 0, ANY_PS, AT(link.latency_ps), NULL,
     "latency of a copy"},
    {"link.remote_latency", WPI_KEY_TIME, "1us", 0, ANY_PS, AT(link.remote_ps), NULL,
     "latency of an SM's access to host memory, in addition to L2's"},
    {"link.remote_turn", WPI_KEY_TIME, "0ns", 0, ANY_PS, AT(link.remote_turn_ps), NULL,
     "shortest time that a remote access occupies the link"},
    {"link.bandwidth", WPI_KEY_RATE, "12GB/s", 1000000, ANY_RATE, AT(link.bytes_per_s), NULL,
     "bandwidth in each direction"},
    {"link.curve", WPI_KEY_BYTES, "0", 0, 1 << 30, AT(link.curve_bytes), NULL,
     "0: every copy has the full bandwidth; else a copy of s bytes has 2/pi atan(s / this) of "
     "it"},
    {"link.engines_to_device", WPI_KEY_NUMBER, "1", 1, 64, AT(link.engines_to_device), NULL,
     "concurrent copies to the device; they share the bandwidth"},
    {"link.engines_to_host", WPI_KEY_NUMBER, "1", 1, 64, AT(link.engines_to_host), NULL,
     "concurrent copies to the host; they share the bandwidth"},

    {"host.on", WPI_KEY_FLAG, "off", 0, 1, AT(host.is_on), NULL,
     "host work that a program declares takes simulated time"},
    {"host.title", WPI_KEY_TEXT, "", 0, 0, AT(host.title), NULL, "name of the host"},
    {"host.cores", WPI_KEY_NUMBER, "4", 1, 4096, AT(host.cores), NULL,
     "cores of the host; threads beyond that take turns"},
    {"host.bandwidth", WPI_KEY_RATE, "50GB/s", 1000000, ANY_RATE, AT(host.bytes_per_s), NULL,
     "memory bandwidth of all cores together"},
    {"host.core_bandwidth", WPI_KEY_RATE, "10GB/s", 1000000, ANY_RATE, AT(host.core_bytes_per_s),
     NULL, "memory bandwidth of one core that reads or writes sequentially"},
    {"host.random_latency", WPI_KEY_TIME, "80ns", 1000, ANY_PS, AT(host.random_latency_ps), NULL,
     "latency of a read that misses all caches"},
    {"host.random_in_flight", WPI_KEY_NUMBER, "10", 1, 1024, AT(host.random_in_flight), NULL,
     "cache misses that one core has outstanding at a time"},
    {"host.call", WPI_KEY_TIME, "2us", 0, ANY_PS, AT(host.call_ps), NULL,
     "time that a host actor takes to queue a command"},
    {"host.notice", WPI_KEY_TIME, "1us", 0, ANY_PS, AT(host.notice_ps), NULL,
     "time from a GPU's store to mapped memory until a polling host thread acts on it"},
    {"host.poll", WPI_KEY_TIME, "100ns", 1000, ANY_PS, AT(host.poll_ps), NULL,
     "time between two steps of a host actor that watches no word"},
};
/* clang-format on */

const size_t wpi_key_count = sizeof wpi_keys / sizeof wpi_keys[0];

const char *wpi_class_name(wp_trace_class class) {
    static const char *const names[WP_TRACE_CLASS_COUNT] = {
        "int",     "imul",     "fp16",  "fp32",    "fp64", "special", "convert",
        "control", "constant", "local", "texture", "warp", "sync"};
    return (unsigned)class < WP_TRACE_CLASS_COUNT ? names[class] : "unknown";
}

const char *wpi_key_unit_name(wpi_key_unit unit) {
    static const char *const names[WPI_KEY_UNIT_COUNT] = {"number",    "percent", "number", "bytes",
                                                          "frequency", "time",    "cycles", "rate",
                                                          "flag",      "word",    "policy", "text"};
    return (unsigned)unit < WPI_KEY_UNIT_COUNT ? names[unit] : "unknown";
}

static bool is_of_class(const wpi_key *key) {
    return strncmp(key->name, "class.*", 7) == 0;
}

static bool is_of_tlb(const wpi_key *key) {
    return strncmp(key->name, "tlb.l*", 6) == 0;
}

uint32_t wpi_key_repeats(const wpi_key *key) {
    if (is_of_class(key)) return WP_TRACE_CLASS_COUNT;
    return is_of_tlb(key) ? WPI_TLB_LEVELS_MAX : 1;
}

void wpi_key_name(const wpi_key *key, uint32_t repeat, char out[WPI_KEY_NAME_MAX]) {
    const char *star = strchr(key->name, '*');
    if (star == NULL) {
        (void)snprintf(out, WPI_KEY_NAME_MAX, "%s", key->name);
        return;
    }
    char number[4];
    (void)snprintf(number, sizeof number, "%u", (repeat + 1) % 100);
    (void)snprintf(out, WPI_KEY_NAME_MAX, "%.*s%s%s", (int)(star - key->name), key->name,
                   is_of_class(key) ? wpi_class_name((wp_trace_class)repeat) : number, star + 1);
}

size_t wpi_key_stride(const wpi_key *key) {
    if (is_of_class(key)) return sizeof(wpi_class_profile);
    return is_of_tlb(key) ? sizeof(wpi_tlb_profile) : 0;
}

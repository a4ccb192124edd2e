/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Parameters of a simulated GPU. A profile is an .ini file (configs/ in the source tree,
 * lib/warpage/configs beside the library); every key is a row of one table with unit, default,
 * range and meaning:
 *
 *     [tlb.l2]
 *     source = Karnagel et al., DaMoN'17, Table 2      of all keys of this section …
 *     entries = 65
 *     latency = 9cycles
 *     latency.source = Table 2, delay of an L1 miss    … but of this one
 *
 * Quantities carry their unit in the text; times are written in cycles of the core clock or in ns,
 * us. The core clock's period is rounded to whole picoseconds, and a cycle is that period
 * everywhere, so that sums of cycles stay exact. docs/guide/describe-a-gpu.md lists the keys.
 *
 * A profile does not change once it is loaded; any thread may read it.
 */
#ifndef WP_SIM_PROFILE_H
#define WP_SIM_PROFILE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/fail.h"
#include "base/strings.h"
#include "base/time.h"
#include "base/trace_abi.h"
#include "policy/policy.h"

#define WPI_TLB_LEVELS_MAX 4u
#define WPI_TLB_SETS_MAX 4096u
#define WPI_SMS_MAX 512u
#define WPI_CARVEOUTS_MAX 16u
#define WPI_LINE_BYTES 128u /* of every cache */
#define WPI_SECTOR_BYTES 32u

/** What executes a class of instructions. Each scheduler has its own. */
typedef enum wpi_pipe {
    WPI_PIPE_ISSUE = 0, /* none: the scheduler issues nothing else meanwhile */
    WPI_PIPE_ALU,
    WPI_PIPE_FMA,
    WPI_PIPE_FP64,
    WPI_PIPE_XU,
    WPI_PIPE_LSU,
    WPI_PIPE_BRANCH,
    WPI_PIPE_TENSOR,
    WPI_PIPE_COUNT /* must be last */
} wpi_pipe;

/** The cost of a warp instruction of a class (wp_trace_class). */
typedef struct wpi_class_profile {
    uint32_t latency_cycles; /* until a dependent instruction can issue */
    uint32_t lanes;          /* lanes that an SM's units execute a cycle: a warp takes 32 / lanes */
    wpi_pipe pipe;
} wpi_class_profile;

typedef enum wpi_sharing {
    WPI_SHARING_SM = 0,
    WPI_SHARING_TPC,
    WPI_SHARING_GPC,
    WPI_SHARING_GPU,
    WPI_SHARING_GROUPS, /* as listed */
    WPI_SHARING_COUNT   /* must be last */
} wpi_sharing;

/** Answers of other TLBs that count towards tlb_sharing.threshold. */
typedef enum wpi_tlb_sharing_count {
    WPI_TLB_SHARING_IN_A_ROW = 0, /* to one TLB, for one page, without another page in between */
    WPI_TLB_SHARING_BY_ENTRY      /* for one entry of its directory */
} wpi_tlb_sharing_count;

typedef enum wpi_hash {
    WPI_HASH_MODULO = 0,
    WPI_HASH_XOR,  /* the tag's bits folded onto the set's number; sets are a power of two */
    WPI_HASH_COUNT /* must be last */
} wpi_hash;

typedef enum wpi_write {
    WPI_WRITE_THROUGH = 0, /* updates a present line; never allocates one */
    WPI_WRITE_EVICT,       /* invalidates the written sectors */
    WPI_WRITE_BACK,        /* keeps the data; written back on eviction */
    WPI_WRITE_COUNT        /* must be last */
} wpi_write;

/** How far faults are serviced: fault_service.c; BATCH: fault_batch.c. */
typedef enum wpi_fault_service {
    WPI_FAULT_DRAINED = 0,
    WPI_FAULT_SERIAL,
    WPI_FAULT_ADDED,
    WPI_FAULT_BATCH,
    WPI_FAULT_PIPELINED,
    WPI_FAULT_SERVICE_COUNT /* must be last */
} wpi_fault_service;

/** Which of an SM's waits count against paging.cu_faults. */
typedef enum wpi_cu_counts {
    WPI_CU_COUNTS_WAITED = 0, /* every page that it waits for */
    WPI_CU_COUNTS_RAISED,     /* of these, the ones that it requested first */
    WPI_CU_COUNTS_COUNT       /* must be last */
} wpi_cu_counts;

/** What happens to pages when the host synchronises with the device: host_synchronize.c. */
typedef enum wpi_synchronize {
    WPI_SYNCHRONIZE_KEEP = 0,
    WPI_SYNCHRONIZE_RETURN,
    WPI_SYNCHRONIZE_COUNT /* must be last */
} wpi_synchronize;

/** When a CTA whose threads have returned leaves its SM. */
typedef enum wpi_cta_ends {
    WPI_CTA_ENDS_DONE = 0,
    WPI_CTA_ENDS_QUIET, /* … and no page is in flight */
    WPI_CTA_ENDS_COUNT  /* must be last */
} wpi_cta_ends;

/** When the driver replays faults, under BATCH. Numbered as in the driver. */
typedef enum wpi_replay_policy {
    WPI_REPLAY_BLOCK = 0,   /* after each 2 MiB block */
    WPI_REPLAY_BATCH,       /* after each batch */
    WPI_REPLAY_BATCH_FLUSH, /* after each batch, after dropping the buffer's contents */
    WPI_REPLAY_ONCE,        /* when the service ends */
    WPI_REPLAY_COUNT        /* must be last */
} wpi_replay_policy;

/** What an SM still executes while it waits for far faults. */
typedef enum wpi_on_fault {
    WPI_ON_FAULT_REPLAYS = 0, /* everything */
    WPI_ON_FAULT_HITS,        /* accesses that hit its L1 TLB */
    WPI_ON_FAULT_BLOCKS,      /* no access to global memory */
    WPI_ON_FAULT_COUNT        /* must be last */
} wpi_on_fault;

/** The L1 TLB look-ups of a warp's access. */
typedef enum wpi_code_source {
    WPI_CODE_ESTIMATE = 0, /* of the compiler's intermediate code */
    WPI_CODE_PTXAS,        /* machine code */
    WPI_CODE_COUNT         /* must be last */
} wpi_code_source;

typedef enum wpi_tlb_requests {
    WPI_TLB_REQUESTS_PAGE = 0, /* one for each page */
    WPI_TLB_REQUESTS_LINE,     /* one for each line */
    WPI_TLB_REQUESTS_COUNT     /* must be last */
} wpi_tlb_requests;

/** Which SM gets the next CTA. */
typedef enum wpi_cta_placement {
    WPI_CTA_PLACEMENT_ROUND_ROBIN = 0, /* one per SM in turn, from the first SM on */
    WPI_CTA_PLACEMENT_ROTATE,          /* … from the SM after the one that got the last CTA */
    WPI_CTA_PLACEMENT_FILL,            /* the first SM that has room */
    WPI_CTA_PLACEMENT_COUNT            /* must be last */
} wpi_cta_placement;

typedef struct wpi_tlb_profile {
    uint32_t entries;
    uint32_t set_count;
    uint32_t *set_ways;        /* [set_count] */
    uint64_t coverage_bytes;   /* covered by an entry */
    uint64_t fill_bytes;       /* made valid by a miss */
    uint32_t ways, fill_pages; /* as written; 0: all */
    char *sets_text;
    wpi_hash hash;
    const wpi_policy *replacement;
    uint32_t ports;  /* look-ups a cycle; 0: unlimited */
    uint32_t mshrs;  /* outstanding misses; 0: unlimited */
    bool is_merging; /* misses on the same fill merge */
    wpi_time_ps latency_ps;
    bool is_hit_under_miss; /* otherwise a miss blocks later requests */
    wpi_sharing sharing;
    char *groups; /* of GROUPS: "0,5 | 1,6 | …" */
} wpi_tlb_profile;

typedef struct wpi_cache_profile {
    bool is_on; /* L1: for global loads without a cache operator */
    uint64_t bytes;
    uint64_t preferred_bytes; /* L1: for a launch that prefers it to shared memory; 0: as `bytes` */
    uint32_t ways;
    uint64_t sector_bytes; /* of a line of WPI_LINE_BYTES */
    uint32_t slices;       /* L2; 1 for an L1 */
    wpi_time_ps latency_ps;
    uint32_t mshrs; /* lines being fetched; in each slice */
    wpi_write write;
    uint64_t bytes_per_s;    /* L2: of all slices together */
    uint64_t sm_bytes_per_s; /* L2: to one SM */
    bool is_cold;            /* L2: empty when a kernel begins that runs alone */
    uint32_t dirty_percent;  /* L2: of a set, at most */
    bool has_copies;         /* L2: has the lines that copies and fills wrote last */
    wpi_time_ps atomic_ps;   /* L2: between two operations on one address */
    wpi_hash hash;           /* line to set, and to slice */
} wpi_cache_profile;

/** The machine that the GPU is in (sim/host/host_model.h). */
typedef struct wpi_host_profile {
    bool is_on; /* declared host work takes simulated time */
    char *title;
    uint32_t cores;
    uint64_t bytes_per_s;          /* memory bandwidth, of all cores together */
    uint64_t core_bytes_per_s;     /* … of one core, in order */
    wpi_time_ps random_latency_ps; /* of a read that misses all caches */
    uint32_t random_in_flight;     /* such reads of one core at a time */
    wpi_time_ps call_ps;           /* of a call that queues a command */
    wpi_time_ps notice_ps; /* from a GPU's store to mapped memory to a polling thread's reaction */
    wpi_time_ps poll_ps;   /* polling interval of a thread that watches no word */
} wpi_host_profile;

typedef struct wpi_profile {
    char *name;  /* as in the file's name */
    char *title; /* "NVIDIA Tesla K80 (one GPU)" */
    uint64_t core_hz;
    wpi_time_ps cycle_ps; /* of the core clock */
    uint64_t seed;

    /* Floorplan. SMs are numbered without the disabled ones. */
    uint32_t gpcs, tpcs_per_gpc, sms_per_tpc;
    uint32_t disabled_sms[WPI_SMS_MAX]; /* by physical number, ascending */
    uint32_t disabled_count;
    char *disabled_text;
    uint32_t order;      /* as written */
    bool is_round_robin; /* consecutive TPCs lie in different GPCs */
    uint32_t sm_count;   /* enabled ones */

    /* An SM. */
    uint32_t warps, ctas, threads;
    uint64_t shared_bytes; /* for all of its CTAs */
    uint64_t shared_bytes_per_cta;
    uint64_t shared_granule_bytes;
    uint64_t shared_reserved_bytes; /* of a CTA, by the system */
    /* Sizes that shared memory can have, ascending; the last is shared_bytes. None: fixed. */
    uint64_t carveouts[WPI_CARVEOUTS_MAX];
    uint32_t carveout_count;
    char *carveout_text;
    uint32_t registers;
    uint32_t register_granule; /* registers are allocated to a warp in multiples of it */
    uint32_t schedulers;
    uint32_t issue_width; /* of a scheduler, instructions a cycle */
    uint32_t
        pairs_percent;    /* of an estimate's instructions, those that issue with the one before */
    uint32_t code;        /* wpi_code_source: whose instructions are counted */
    bool has_pipes;       /* classes work beside each other */
    uint32_t fetch_width; /* of the SM, for one warp at a time; 0: no limit */
    const wpi_policy *scheduler;
    uint32_t capability; /* compute capability, major * 10 + minor */
    wpi_class_profile classes[WP_TRACE_CLASS_COUNT];

    /* Shared memory. */
    uint32_t shared_banks;
    uint64_t shared_bank_bytes;
    uint32_t shared_latency_cycles, shared_turn_cycles;
    uint32_t cluster_latency_cycles, cluster_bytes_per_cycle; /* between SMs of a cluster */

    /* Global memory. */
    wpi_time_ps lsu_latency_ps; /* of every global access, before and after caches and TLBs */
    uint32_t lsu_lanes;         /* of a global access, in a cycle */
    uint32_t lsu_stores;        /* lines of stores in flight per SM, at most */
    wpi_cache_profile l1, l2;

    uint64_t page_bytes;
    uint32_t tlb_levels;
    uint32_t tlb_requests; /* wpi_tlb_requests */
    wpi_tlb_profile tlb[WPI_TLB_LEVELS_MAX];

    struct {
        const wpi_policy *policy;
        uint32_t scope;             /* wpi_sharing except GROUPS: SMs whose TLBs form a ring */
        uint32_t neighbours;        /* per direction that may be asked; 0: the policy's default */
        wpi_time_ps hop_ps;         /* from one TLB to the next */
        uint32_t buffer_entries;    /* of each port */
        uint32_t directory_entries; /* 0: as many as the TLB has */
        wpi_time_ps directory_ps;   /* of a look-up, parallel to the TLB's */
        uint32_t tag_bits;          /* of the directory */
        uint32_t threshold;         /* number of answers from which on they are stored */
        uint32_t count;             /* wpi_tlb_sharing_count */
        bool has_census;
    } tlb_sharing;

    struct {
        const wpi_policy *policy;
        uint32_t table_entries, buffer_entries; /* of each TLB of the last level */
        uint32_t region_pages;
        uint32_t threshold; /* uses of a region before its pages are prefetched */
        uint32_t degree;    /* pages at a time */
    } tlb_prefetch;

    struct {
        bool is_on;
        uint32_t entries;       /* in one set */
        wpi_time_ps latency_ps; /* of a look-up, before a miss */
        uint64_t instruction_bytes;
    } itlb;

    struct {
        uint32_t count; /* concurrent walks; 0: unlimited */
        uint32_t levels;
        wpi_time_ps level_ps; /* for each level that is not in the walk cache */
        uint32_t queue;       /* walks that wait for a walker */
        uint32_t cache_entries;
        wpi_time_ps cache_ps; /* of a look-up, before the walk */
        uint32_t level_bits;  /* bits of an address that a level translates */
    } walker;

    struct {
        uint32_t channels, banks; /* banks of a channel */
        uint64_t bytes_per_s;     /* of all channels together */
        uint32_t bus_bits;
        uint32_t efficiency_percent;
        wpi_time_ps turnaround_ps; /* from reads to writes and back */
        uint32_t write_batch;      /* lines written between two turns */
        wpi_time_ps latency_ps;    /* beyond L2, when the row is open */
        uint64_t row_bytes;
        wpi_time_ps row_miss_ps; /* added when it is not; the bank is busy for that time */
        uint32_t row_window;     /* rows of a bank that count as open */
        uint32_t queue;          /* lines waiting to be written, per channel */
    } dram;

    struct {
        wpi_time_ps latency_ps;     /* of a copy */
        wpi_time_ps remote_ps;      /* of an access to host memory, there and back */
        wpi_time_ps remote_turn_ps; /* minimum time for which it occupies the link */
        uint64_t bytes_per_s;       /* each direction */
        uint64_t curve_bytes;       /* 0: constant; else times 2/pi atan(size / curve_bytes) */
        uint32_t engines_to_device, engines_to_host;
    } link;

    struct {                    /* the link to other GPUs of this profile */
        wpi_time_ps latency_ps; /* of a copy */
        wpi_time_ps remote_ps;  /* of an access to their memory, there and back */
        uint64_t bytes_per_s;   /* each direction */
    } peer;

    struct {
        bool is_on;                     /* managed memory migrates; off: it stays on the host */
        bool rounds_up;                 /* allocations are rounded up to full trees */
        uint32_t oversubscribe_percent; /* 0: the device has memory_bytes */
        uint32_t service;               /* wpi_fault_service */
        wpi_time_ps latency_ps;         /* of a far fault's service */
        wpi_time_ps host_latency_ps;    /* of a host fault's service */
        uint32_t buffer_entries;        /* of batches, from here … */
        uint32_t batch_entries;         /* fetched at a time */
        uint32_t service_batches;       /* batches per interrupt, at most */
        uint32_t replay;                /* wpi_replay_policy */
        uint32_t flush_percent;         /* share of duplicates from which on a flush drops all */
        bool is_coalescing;             /* equal entries are merged when fetched */
        wpi_time_ps interrupt_ps;       /* from the interrupt to the first fetch */
        wpi_time_ps batch_ps, fault_ps, block_ps; /* … to here: times per batch, fault, block */
        uint32_t service_throttles;               /* batches with throttled faults per interrupt */
        const wpi_policy *thrash;
        uint32_t thrash_threshold, thrash_pin_threshold, thrash_resets, thrash_votes;
        uint32_t thrash_adapt; /* wpi_lapse_votes */
        wpi_time_ps thrash_lapse_ps;
        uint32_t thrash_nap, thrash_epoch, thrash_pin; /* lapses */
        uint32_t on_fault;                             /* wpi_on_fault */
        uint32_t cu_faults;    /* far faults per SM at a time; 0: unlimited */
        uint32_t cu_counts;    /* wpi_cu_counts */
        uint32_t mshrs;        /* far faults of the GPU at a time; 0: unlimited */
        uint32_t replay_lines; /* that an SM replays in a cycle; 0: unlimited */
        const wpi_policy *prefetch, *prefetch_full; /* … once memory was full; NULL: the same */
        const wpi_policy *evict, *migrate;
        uint32_t threshold_percent; /* of the driver's prefetcher */
        uint32_t reserve_percent;   /* share of the least recently used that is not evicted */
        uint32_t free_percent;      /* frames kept free ahead of need */
        bool makes_pages;           /* zero-fills unused pages; otherwise they are migrated */
        bool drops_clean;           /* clean pages are evicted without a write-back */
        bool frees_at_start;        /* when the write-back starts; otherwise at its end */
        bool stages_victims;        /* staging.c */
        bool fills_remote;          /* TLBs store translations of remote pages */
        uint32_t synchronize;       /* wpi_synchronize */
        uint32_t cta_ends;          /* wpi_cta_ends */
        uint32_t migrate_threshold; /* t_s */
        uint64_t migrate_penalty;   /* p */
    } paging;

    wpi_host_profile host;

    uint64_t memory_bytes;        /* of device memory */
    wpi_time_ps launch_ps;        /* from a launch to the begin of its kernel */
    wpi_time_ps nested_launch_ps; /* … if a kernel launches it */
    wpi_time_ps kernel_ps;        /* … to the start of its first CTA */
    wpi_time_ps skew_ps;          /* … to that of the next SM */
    wpi_time_ps cta_interval_ps;
    uint32_t cta_placement; /* wpi_cta_placement */
    wpi_time_ps slice_ps;   /* slice of statistics over time */

    struct wpi_profile_text *text; /* the keys as they were written: profile_text.h */
} wpi_profile;

/** A key with its effective value. Strings live as long as the profile. */
typedef struct wpi_profile_value {
    const char *name;     /* "tlb.l2.entries" */
    const char *unit;     /* "bytes", "time", … */
    const char *text;     /* as written */
    const char *fallback; /* its default */
    bool needs_future;    /* the value is a policy that looks ahead */
    const char *source;   /* source of the number; "default"; NULL: none given */
    const char *file;     /* NULL: the default, or --set */
    uint32_t line;
    const char *doc;
} wpi_profile_value;

/**
 * Loads a profile. `spec` is a name ("k80": looked up in wpi_profile_dir) or the path of a file
 * (has a '/' or ends in .ini). Each '+' is followed by an overlay, whose keys override: a name
 * (looked up in its folder `as`) or a file NAME.ini of the current folder. '@' is followed by the
 * host that the GPU is in, likewise (folder `hosts`): "gtx680@xeon-e5-quad". `settings` are
 * "key=value" texts, applied last; NULL if there are none. Messages name key and place: NOT_FOUND
 * (no such profile or key; the nearest one is named), PARSE, INVALID (out of range, impossible
 * geometry), IO, NOMEM.
 */
WP_NODISCARD wp_status wpi_profile_load(const char *spec, const char *const *settings,
                                        size_t setting_count, wpi_profile **out, wp_error *err);
/** The same from text; `where` names it in messages. */
WP_NODISCARD wp_status wpi_profile_parse(const char *ini, const char *where,
                                         const char *const *settings, size_t setting_count,
                                         wpi_profile **out, wp_error *err);
void wpi_profile_destroy(wpi_profile *profile); /* NULL allowed */

/** Returns the folder of Warpage's own profiles; wpi_free it. NULL: not found. */
WP_NODISCARD char *wpi_profile_dir(void);

/** Returns the names of Warpage's own profiles, in order; none if the folder does not exist. */
void wpi_profile_names(wpi_strings *names);

/** The i-th key in the order of the table; false after the last one. */
bool wpi_profile_value_at(const wpi_profile *profile, size_t i, wpi_profile_value *out);
/** The key that selects a policy of this kind ("sm.scheduler", "tlb.l*.replacement"); "": none. */
const char *wpi_profile_policy_key(const char *kind);
/** The i-th row of the table itself, with its default as text ('*' stands for a level or a class).
 */
bool wpi_profile_key_at(size_t i, wpi_profile_value *out);

/** The name of a class in profiles and reports: "int", "fp32", … */
const char *wpi_class_name(wp_trace_class class);

static inline wpi_time_ps wpi_cycles_ps(const wpi_profile *profile, uint64_t cycles) {
    return cycles * profile->cycle_ps;
}

#endif

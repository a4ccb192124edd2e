/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A device's TLBs, number by number: the value, its confidence, and, if it is unknown or unsure,
 * the reason. Nothing is guessed: a number that does not follow from the samples is unknown.
 *
 *     load ─► L1 ──miss──► L2 ──miss──► … ──miss──► walk
 *               miss_cycles   miss_cycles   miss_cycles      each added to what came before
 *
 * An entry stands for page_bytes, of which a miss makes fill_bytes valid. Where both are the same
 * and larger than the page of the first level, timing cannot say whether one entry covers them or
 * a miss fills several entries: page_bytes is the product then, and its reason says so.
 */
#ifndef WP_PROBE_HIERARCHY_H
#define WP_PROBE_HIERARCHY_H

#include "base/strings.h"
#include "base/text.h"
#include "probe/measure/sampler.h"

#define WPI_PROBE_LEVELS_MAX 8u
#define WPI_PROBE_SMS_MAX 512u
#define WPI_PROBE_WAYS_MAX 64u /* different numbers of ways in one level */
#define WPI_PROBE_REASON_BYTES 192u

typedef struct wpi_number {
    bool is_known;
    double value;                        /* whole for counts and bytes */
    double confidence;                   /* 0 to 1; 0 when unknown */
    char reason[WPI_PROBE_REASON_BYTES]; /* why unknown or unsure; "" when sure */
} wpi_number;

/** The values of wpi_level's replacement. */
typedef enum wpi_level_replacement {
    WPI_LEVEL_LRU,
    WPI_LEVEL_FIFO,
    WPI_LEVEL_RANDOM,
    WPI_LEVEL_REPLACEMENT_COUNT
} wpi_level_replacement;
extern const char *const wpi_level_replacement_names[WPI_LEVEL_REPLACEMENT_COUNT];

/** `count` sets of `ways` entries. */
typedef struct wpi_way_group {
    uint32_t count, ways;
} wpi_way_group;

/** Sharing groups: group_of[sm], dense, in order of the groups' first SMs. */
typedef struct wpi_sharing_groups {
    wpi_number count; /* of groups */
    uint32_t sm_count;
    uint32_t group_of[WPI_PROBE_SMS_MAX];
} wpi_sharing_groups;

typedef struct wpi_level {
    wpi_number page_bytes; /* an entry covers */
    wpi_number fill_bytes; /* a miss makes valid, as seen through the level before */
    wpi_number fill_pages; /* the same, in pages of the first level */
    wpi_number entries;
    wpi_number sets;
    wpi_number ways; /* of each set; unknown if sets differ: see way_groups */
    wpi_way_group way_groups[WPI_PROBE_WAYS_MAX]; /* largest first */
    uint32_t way_group_count;                     /* 0: unknown; 1: all sets are equal */
    wpi_number replacement;                       /* a wpi_level_replacement */
    wpi_number miss_cycles;                       /* added by a miss here */
    wpi_number reach_bytes;                       /* entries * page_bytes */
    wpi_number plateau_bytes;                     /* from this distance on all loads miss */
    wpi_sharing_groups sharing;
} wpi_level;

typedef struct wpi_hierarchy {
    uint32_t level_count;
    wpi_number levels_known; /* value: level_count; its reason describes possible further levels */
    wpi_level levels[WPI_PROBE_LEVELS_MAX];
    wpi_number base_cycles; /* of a load that hits the first level */
    uint32_t sm_count;
    uint32_t missing_sms[WPI_PROBE_SMS_MAX]; /* physical numbers likely disabled, ascending */
    uint32_t missing_count;
    wpi_number missing;      /* value: missing_count */
    uint64_t samples, loads; /* cost of the search */
} wpi_hierarchy;

/** Called from time to time with the current stage and the number of samples. */
typedef void (*wpi_infer_progress)(void *object, const char *stage, uint64_t samples);

/** All zero: the defaults. */
typedef struct wpi_infer_options {
    uint64_t memory_bytes;        /* at most; 0: all of the sampler's */
    uint64_t samples_max;         /* 0: 20000 */
    uint64_t loads_max;           /* timed ones, of all samples; 0: 2^34 */
    uint64_t stride_min;          /* smallest page looked for; 0: 4 KiB */
    uint64_t stride_max;          /* largest page looked for; 0: 32 MiB */
    uint64_t loads_per_round_max; /* 0: 2^18 */
    uint64_t seed;                /* of random checks of sharing */
    uint32_t rounds_min;          /* of a sample; 0: 32 */
    bool is_sharing_skipped;
    wpi_infer_progress progress; /* or NULL */
    void *progress_object;
} wpi_infer_options;

/**
 * Infers a hierarchy from samples. `options` may be NULL. Numbers that could not be found are
 * unknown in *out, with the reason; errors are only those of the sampler, and NOMEM. On failure
 * *out is NULL. One thread.
 */
WP_NODISCARD wp_status wpi_infer(const wpi_sampler *sampler, const wpi_infer_options *options,
                                 wpi_hierarchy **out, wp_error *err);
void wpi_hierarchy_destroy(wpi_hierarchy *hierarchy); /* NULL allowed */

/** The number of loads, a page or more apart, of which all miss. Equal sets overflow in turn;
 * unequal ones may take all entries, depending on the stride. Entries and sets must be known. */
uint64_t wpi_level_busy_loads(const wpi_level *level);

/** The groups of a level as text: "0,5 | 1,6 | …"; appended. */
void wpi_sharing_text(const wpi_sharing_groups *sharing, wpi_text *out);

/** A profile that the simulator reads (profile_writer.c): `base` is the profile the rest comes from
 * ("k80"), `title` names the device. INVALID: a number that a profile needs is unknown. */
WP_NODISCARD wp_status wpi_profile_write(const wpi_hierarchy *hierarchy, const char *base,
                                         const char *title, wpi_text *out, wp_error *err);

/** Curves and sharing matrices measured elsewhere (curves.c), to infer from. PARSE, IO. */
typedef struct wpi_curves wpi_curves;
WP_NODISCARD wp_status wpi_curves_load(const char *const *paths, size_t count, wpi_curves **out,
                                       wp_error *err);
WP_NODISCARD wp_status wpi_curves_infer(const wpi_curves *curves, wpi_hierarchy **out,
                                        wp_error *err);
void wpi_curves_destroy(wpi_curves *curves); /* NULL allowed */

#endif

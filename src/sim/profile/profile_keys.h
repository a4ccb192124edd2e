/* SPDX-License-Identifier: Apache-2.0 */
/** Internal to profile: the table of keys, and the checks. */
#ifndef WP_SIM_PROFILE_KEYS_H
#define WP_SIM_PROFILE_KEYS_H

#include "sim/profile/profile.h"

typedef enum wpi_key_unit {
    WPI_KEY_NUMBER = 0, /* uint32_t */
    WPI_KEY_PERCENT,    /* uint32_t */
    WPI_KEY_SEED,       /* uint64_t */
    WPI_KEY_BYTES,      /* uint64_t */
    WPI_KEY_HZ,         /* uint64_t */
    WPI_KEY_TIME,       /* wpi_time_ps; cycles or ns */
    WPI_KEY_CYCLES,     /* uint32_t */
    WPI_KEY_RATE,       /* uint64_t bytes a second; GB/s or B/cycle */
    WPI_KEY_FLAG,       /* bool */
    WPI_KEY_CHOICE,     /* an enum; its words in `words` */
    WPI_KEY_POLICY,     /* const wpi_policy *; of the kind `words` */
    WPI_KEY_TEXT,       /* char *, owned by the profile */
    WPI_KEY_UNIT_COUNT  /* must be last */
} wpi_key_unit;

typedef struct wpi_key {
    const char *name; /* '*' stands for the level or class that it is repeated for */
    wpi_key_unit unit;
    const char *default_text;
    uint64_t min, max; /* inclusive, in the base unit (ps for times) */
    size_t offset;     /* in wpi_profile; of the first repetition */
    const char *words; /* of a CHOICE: "modulo xor", in the enum's order */
    const char *doc;
} wpi_key;

extern const wpi_key wpi_keys[];
extern const size_t wpi_key_count;

#define WPI_KEY_NAME_MAX 64u

/** The largest time and rate. */
#define WPI_KEY_PS_MAX (1000 * WP_PS_PER_S)
#define WPI_KEY_RATE_MAX ((uint64_t)1 << 50)
/** As a default: the value of the key before. */
#define WPI_KEY_SAME "same"

/** Repeated keys: their number, their names ("tlb.l2.entries"), and the field of the value. */
uint32_t wpi_key_repeats(const wpi_key *key);
void wpi_key_name(const wpi_key *key, uint32_t repeat, char out[WPI_KEY_NAME_MAX]);
/** Bytes from one repetition's field to the next. */
size_t wpi_key_stride(const wpi_key *key);
const char *wpi_key_unit_name(wpi_key_unit unit);

/** Reads `text` into the profile's field. The core clock must have been read before times and
 * rates. Messages do not name key and place. PARSE, INVALID. */
WP_NODISCARD wp_status wpi_key_read(const wpi_key *key, uint32_t repeat, const char *text,
                                    wpi_profile *profile, wp_error *err);

/** Derives what keys imply (set tables, SM counts, …) and refuses impossible geometry. */
WP_NODISCARD wp_status wpi_profile_check(wpi_profile *profile, wp_error *err);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Special registers. */
#include <time.h>

#include "parser.h"

typedef enum special {
    TID_X,
    TID_Y,
    TID_Z,
    NTID_X,
    NTID_Y,
    NTID_Z,
    CTAID_X,
    CTAID_Y,
    CTAID_Z,
    NCTAID_X,
    NCTAID_Y,
    NCTAID_Z,
    LANEID,
    WARPID,
    NWARPID,
    SMID,
    NSMID,
    GRIDID,
    LANEMASK_EQ,
    LANEMASK_LT,
    LANEMASK_LE,
    LANEMASK_GT,
    LANEMASK_GE,
    CLOCK,
    CLOCK_HI,
    CLOCK64,
    GLOBALTIMER,
    GLOBALTIMER_LO,
    GLOBALTIMER_HI,
    ENVREG1,
    ENVREG2,
    DYNAMIC_SMEM_SIZE,
    TOTAL_SMEM_SIZE
} special;

static const char *const names[] = {
    "%tid.x",          "%tid.y",       "%tid.z",       "%ntid.x",
    "%ntid.y",         "%ntid.z",      "%ctaid.x",     "%ctaid.y",
    "%ctaid.z",        "%nctaid.x",    "%nctaid.y",    "%nctaid.z",
    "%laneid",         "%warpid",      "%nwarpid",     "%smid",
    "%nsmid",          "%gridid",      "%lanemask_eq", "%lanemask_lt",
    "%lanemask_le",    "%lanemask_gt", "%lanemask_ge", "%clock",
    "%clock_hi",       "%clock64",     "%globaltimer", "%globaltimer_lo",
    "%globaltimer_hi", "%envreg1",     "%envreg2",     "%dynamic_smem_size",
    "%total_smem_size"};

int pm_special_find(const char *name, size_t length) {
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strlen(names[i]) == length && memcmp(names[i], name, length) == 0) return (int)i;
    return -1;
}

static uint64_t nanoseconds(void) {
    struct timespec now;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* A thousand a microsecond: about a GPU's pace. */
static uint64_t cycles(void) {
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static uint64_t value_of(const pm_warp *w, unsigned lane, special number) {
    const pm_launch *launch = w->grid->launch;
    const unsigned thread = w->number * PM_LANES + lane;
    const unsigned x = launch->block[0], y = launch->block[1];
    const uint64_t workspace = (uint64_t)(uintptr_t)launch->workspace;
    switch (number) {
    case TID_X: return thread % x;
    case TID_Y: return thread / x % y;
    case TID_Z: return thread / x / y;
    case NTID_X: return x;
    case NTID_Y: return y;
    case NTID_Z: return launch->block[2];
    case CTAID_X: return w->block->ctaid[0];
    case CTAID_Y: return w->block->ctaid[1];
    case CTAID_Z: return w->block->ctaid[2];
    case NCTAID_X: return launch->grid[0];
    case NCTAID_Y: return launch->grid[1];
    case NCTAID_Z: return launch->grid[2];
    case LANEID: return lane;
    case WARPID: return w->number;
    case NWARPID: return 64;
    case SMID: return w->block->sm;
    case NSMID: return launch->sm_count;
    case GRIDID: return 1;
    case LANEMASK_EQ: return 1u << lane;
    case LANEMASK_LT: return (1u << lane) - 1;
    case LANEMASK_LE: return (2u << lane) - 1;
    case LANEMASK_GT: return ~((2u << lane) - 1) & PM_FULL;
    case LANEMASK_GE: return ~((1u << lane) - 1) & PM_FULL;
    case CLOCK: return (uint32_t)cycles();
    case CLOCK_HI: return cycles() >> 32;
    case CLOCK64: return cycles();
    case GLOBALTIMER: return nanoseconds();
    case GLOBALTIMER_LO: return (uint32_t)nanoseconds();
    case GLOBALTIMER_HI: return nanoseconds() >> 32;
    case ENVREG1: return workspace >> 32;
    case ENVREG2: return (uint32_t)workspace;
    case DYNAMIC_SMEM_SIZE: return launch->shared_dynamic_bytes;
    case TOTAL_SMEM_SIZE: return w->grid->shared_bytes;
    }
    abort();
}

void pm_special_run(pm_warp *w, const pm_insn *in) {
    uint64_t *d = pm_row(w, in->d);
    if (in->aux >= CLOCK && in->aux <= GLOBALTIMER_HI) { /* lanes see one clock at one time */
        const uint64_t now = value_of(w, 0, (special)in->aux);
        PM_FOR_LANES(w, { d[l] = now; });
        return;
    }
    PM_FOR_LANES(w, { d[l] = value_of(w, l, (special)in->aux); });
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "probe/infer/plan.h"

#include "probe/infer/disabled_sms.h"

static bool is_missing(const wpi_hierarchy *h, uint32_t physical) {
    for (uint32_t i = 0; i < h->missing_count; i++)
        if (h->missing_sms[i] == physical) return true;
    return false;
}

static void place(wpi_plan *plan, const wpi_hierarchy *h) {
    uint32_t sm = 0;
    for (uint32_t physical = 0; sm < h->sm_count && physical < WPI_PROBE_SMS_MAX; physical++) {
        if (is_missing(h, physical)) continue;
        const uint32_t tpc = physical / plan->sms;
        plan->tpc[sm] = tpc;
        plan->gpc[sm++] = plan->is_row ? tpc / plan->tpcs : tpc % plan->gpcs;
    }
}

static bool are_same(const wpi_sharing_groups *g, const uint32_t *numbers) {
    for (uint32_t a = 0; a < g->sm_count; a++)
        for (uint32_t b = 0; b < a; b++)
            if ((g->group_of[a] == g->group_of[b]) != (numbers[a] == numbers[b])) return false;
    return true;
}

void wpi_plan_init(wpi_plan *plan, const wpi_hierarchy *h) {
    const uint32_t chip = h->sm_count + h->missing_count;
    const wpi_sharing_groups *g = wpi_floorplan_groups_of(h);
    *plan = (wpi_plan){.gpcs = 1, .tpcs = chip, .sms = wpi_floorplan_unit(h)};
    plan->tpcs = chip / plan->sms;
    if (g != NULL) {
        const uint32_t gpcs = (uint32_t)g->count.value;
        for (int row = 0; row < 2 && plan->tpcs % gpcs == 0; row++) {
            wpi_plan tried = {
                .gpcs = gpcs, .tpcs = plan->tpcs / gpcs, .sms = plan->sms, .is_row = row == 1};
            place(&tried, h);
            if (!are_same(g, tried.gpc)) continue;
            *plan = tried;
            return;
        }
    }
    place(plan, h);
}

const char *wpi_plan_sharing(const wpi_plan *plan, const wpi_sharing_groups *g) {
    if (g->count.value == 1) return "gpu";
    if (g->count.value == g->sm_count) return "sm";
    if (are_same(g, plan->tpc)) return "tpc";
    return are_same(g, plan->gpc) ? "gpc" : NULL;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/profile/floorplan.h"

#include <string.h>

#define NO_GROUP UINT32_MAX

void wpi_floorplan_init(wpi_floorplan *plan, const wpi_profile *profile) {
    const uint32_t physical = profile->gpcs * profile->tpcs_per_gpc * profile->sms_per_tpc;
    plan->sm_count = 0;
    for (uint32_t sm = 0; sm < physical; sm++) {
        bool is_disabled = false;
        for (uint32_t i = 0; i < profile->disabled_count; i++)
            is_disabled |= profile->disabled_sms[i] == sm;
        if (is_disabled) continue;
        const uint32_t tpc = sm / profile->sms_per_tpc;
        const uint32_t at = plan->sm_count++;
        plan->physical[at] = sm;
        plan->tpc[at] = tpc;
        plan->gpc[at] = profile->is_round_robin ? tpc % profile->gpcs : tpc / profile->tpcs_per_gpc;
    }
}

/* Reads a number at *at, and advances *at past it and the spaces around it. */
static wp_status read_number(const char **at, uint32_t outer, uint32_t *out, wp_error *err) {
    *at += strspn(*at, " \t");
    if (**at < '0' || **at > '9')
        return WP_FAIL(err, PARSE, "'%s' is not a list of numbers such as 0,5,10", *at);
    uint32_t value = 0;
    for (; **at >= '0' && **at <= '9'; (*at)++)
        if (value < 100000) value = value * 10 + (uint32_t)(**at - '0');
    if (value >= outer)
        return WP_FAIL(err, INVALID, "there is no SM %u; SMs are 0 to %u", value, outer - 1);
    *at += strspn(*at, " \t");
    *out = value;
    return WP_STATUS_OK;
}

wp_status wpi_floorplan_list(const char *text, uint32_t outer, uint32_t out[WPI_SMS_MAX],
                             uint32_t *count, wp_error *err) {
    *count = 0;
    if (text[strspn(text, " \t")] == '\0') return WP_STATUS_OK;
    for (const char *at = text;; at++) {
        uint32_t sm = 0;
        WP_TRY(read_number(&at, outer, &sm, err));
        for (uint32_t i = 0; i < *count; i++)
            if (out[i] == sm) return WP_FAIL(err, INVALID, "SM %u is listed twice", sm);
        out[(*count)++] = sm;
        if (*at == '\0') return WP_STATUS_OK;
        if (*at != ',')
            return WP_FAIL(err, PARSE, "'%s' is not a list of numbers such as 0,5,10", at);
    }
}

static wp_status read_groups(const char *text, uint32_t sm_count, uint32_t group_of[WPI_SMS_MAX],
                             wp_error *err) {
    for (uint32_t sm = 0; sm < sm_count; sm++)
        group_of[sm] = NO_GROUP;
    uint32_t group = 0;
    for (const char *at = text;; at++) {
        uint32_t sm = 0;
        at += strspn(at, " \t");
        if (*at == '|' || *at == '\0')
            return WP_FAIL(err, INVALID, "'%s': group %u has no SM; write groups as 0,5 | 1,6",
                           text, group);
        WP_TRY(read_number(&at, sm_count, &sm, err));
        if (group_of[sm] != NO_GROUP) return WP_FAIL(err, INVALID, "SM %u is listed twice", sm);
        group_of[sm] = group;
        if (*at == '\0') break;
        if (*at == '|')
            group++;
        else if (*at != ',')
            return WP_FAIL(err, PARSE, "'%s' is not a list of groups such as 0,5 | 1,6", at);
    }
    for (uint32_t sm = 0; sm < sm_count; sm++)
        if (group_of[sm] == NO_GROUP) return WP_FAIL(err, INVALID, "SM %u is in no group", sm);
    return WP_STATUS_OK;
}

/* Renumbers groups to 0, 1, 2, … in order of their first appearance. */
static uint32_t make_dense(uint32_t sm_count, uint32_t group_of[WPI_SMS_MAX]) {
    uint32_t seen[WPI_SMS_MAX];
    uint32_t count = 0;
    for (uint32_t sm = 0; sm < sm_count; sm++) {
        uint32_t i = 0;
        while (i < count && seen[i] != group_of[sm])
            i++;
        if (i == count) seen[count++] = group_of[sm];
        group_of[sm] = i;
    }
    return count;
}

wp_status wpi_floorplan_groups(const wpi_floorplan *plan, wpi_sharing sharing, const char *groups,
                               uint32_t group_of[WPI_SMS_MAX], uint32_t *group_count,
                               wp_error *err) {
    *group_count = 0;
    for (uint32_t sm = 0; sm < plan->sm_count; sm++) {
        switch (sharing) {
        case WPI_SHARING_SM: group_of[sm] = sm; break;
        case WPI_SHARING_TPC: group_of[sm] = plan->tpc[sm]; break;
        case WPI_SHARING_GPC: group_of[sm] = plan->gpc[sm]; break;
        case WPI_SHARING_GPU:
        case WPI_SHARING_GROUPS: group_of[sm] = 0; break;
        case WPI_SHARING_COUNT: WP_CHECK(false);
        }
    }
    if (sharing == WPI_SHARING_GROUPS) WP_TRY(read_groups(groups, plan->sm_count, group_of, err));
    *group_count = make_dense(plan->sm_count, group_of);
    return WP_STATUS_OK;
}

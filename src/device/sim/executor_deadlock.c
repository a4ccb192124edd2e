/* SPDX-License-Identifier: Apache-2.0 */
/* Deadlocks: kernels and host actors that wait for something that cannot happen. A host thread may
 * still store to the word that they wait for, so real time decides: nothing has changed for as long
 * as the parameter `patience` says. */
#include <stdio.h>
#include <time.h>

#include "base/clock.h"
#include "base/param.h"
#include "device/sim/executor_parts.h"
#include "device/sim/in_step.h"

#define IDLE_ROUNDS 1000u /* of each warp, after which all may be deadlocked */

const wpi_param wpi_patience_params[] = {
    {"patience", WP_UNIT_NS, "10s", 1000000, UINT64_MAX,
     "time after which a simulated kernel whose threads all wait is reported as deadlocked"},
    {0}};

wp_status wpi_executor_load_patience(wpi_sim_executor *x, wp_error *err) {
    wpi_param_value patience;
    WP_TRY(wpi_param_load(&wpi_patience_params[0], &patience, err));
    x->lead->patience_ns = patience.number;
    return WP_STATUS_OK;
}

void wpi_executor_fail_deadlocked(wpi_sim_executor *x, const char *why) {
    char waits[400], actor[200];
    wp_error error = {0};
    wpi_in_step in_step = WP_IN_STEP_AUTO;
    const wp_status status = wpi_in_step_load(&in_step, NULL);
    const bool is_never = status == WP_STATUS_OK && in_step == WP_IN_STEP_NEVER;
    wpi_gpu_describe_wait(x->gpu, waits, sizeof waits);
    const bool has_actor = wpi_actors_describe_wait(&x->lead->actors, actor, sizeof actor);
    (void)WP_FAIL(&error, KERNEL_DEADLOCK, "%s: %s%s%s%s", why, waits, has_actor ? "; " : "",
                  has_actor ? actor : "",
                  is_never ? "; with --in-step never, kernels that take locks may wait for ever: "
                             "leave the option out"
                           : "");
    wpi_executor_fail(x, &error);
}

void wpi_executor_wait_for_host(wpi_sim_executor *x, bool is_awaited) {
    const struct timespec moment = {.tv_nsec = 100000};
    const uint64_t now_ns = wpi_clock_ns();
    char actor[200];
    wp_error error = {0};
    if (x->lead->idle_ns == 0) x->lead->idle_ns = now_ns;
    if (!is_awaited || now_ns - x->lead->idle_ns < x->lead->patience_ns) {
        nanosleep(&moment, NULL);
    } else if (x->lead->running != NULL) {
        wpi_executor_fail_deadlocked(x, "the kernel on the simulated GPU is deadlocked");
    } else if (wpi_actors_describe_wait(&x->lead->actors, actor, sizeof actor)) {
        (void)WP_FAIL(&error, KERNEL_DEADLOCK, "%s, and nothing runs that could change it", actor);
        wpi_executor_fail(x, &error);
    }
}

static bool runs_only_launches(const wpi_sim_executor *x) {
    for (const wpi_job *j = x->lead->running; j != NULL; j = j->next)
        if (j->threads == NULL) return false;
    return true;
}

bool wpi_executor_waits_in_vain(wpi_sim_executor *x, bool is_awaited) {
    if (x->lead->activity.progress != x->lead->progress_seen || !is_awaited ||
        !runs_only_launches(x)) {
        x->lead->progress_seen = x->lead->activity.progress;
        x->lead->seen_ns = wpi_clock_ns();
        return false;
    }
    return x->lead->activity.quiet > IDLE_ROUNDS * x->lead->activity.warps &&
           x->lead->activity.warps != 0 && x->lead->actors.under_way == 0 &&
           wpi_clock_ns() - x->lead->seen_ns > x->lead->patience_ns;
}

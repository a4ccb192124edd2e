/* SPDX-License-Identifier: Apache-2.0 */
/*
 * warpage advise: changes that would speed up a program with managed memory.
 *
 *     record once ─► replay unchanged ─► choose remedies (remedies.h) ─► replay with each
 *         ─► add calls per allocation, greedily (advice_plan.h) ─► print the remedies, ranked,
 *            with how to apply each on a real GPU
 */
#include "cli/advise.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/trace_commands.h"
#include "study/trials.h"
#include "warpage/device.h"

#define GAIN_MIN 0.99 /* of the time: below it a remedy helps */
#define GROUPS_MAX 4u /* of allocations that are tried one by one */

enum option_index {
    DEVICE,
    AS,
    SET,
    OVERSUBSCRIBE, /* … and three more of paging */
    FUNCTIONAL = OVERSUBSCRIBE + 4,
    LIMIT,
    JOBS,
    FORMAT,
    OUTPUT,
    POLICY_FILE
};

const wpi_cli_option wpi_advise_options[] = {
    [DEVICE] = {"device", "sim:GPU", "simulate this GPU (default: " WPI_TRACE_DEVICE ")"},
    [AS] = WPI_AS_OPTION,
    [SET] = {"set", "KEY=VALUE", "set a parameter of the GPU; may be repeated"},
    WPI_PAGING_OPTIONS(OVERSUBSCRIBE),
    [FUNCTIONAL] =
        {"functional", NULL,
         "record the trace without timing the kernels, which is faster (see `warpage help trace`)"},
    [LIMIT] = {"limit", "N", "try at most N measures (default: all that apply)"},
    [JOBS] = {"jobs", "N",
              "run N processes at a time; also -j N (default: one for each processor)"},
    [FORMAT] = {"format", "text|json|csv", "print text (default), JSON or CSV"},
    [OUTPUT] =
        {"output", "DIR",
         "keep trace, results and plots in DIR, and reuse the results that are already there"},
    [POLICY_FILE] = WPI_POLICY_FILE_OPTION,
    {0}};

typedef struct search {
    const wpi_arguments *arguments;
    const char *device;
    char *settings; /* WARPAGE_SET, of all remedies */
    wpi_strings keys;
    uint64_t limit;
    wpi_trials trials; /* one for each remedy */
    wpi_remedies remedies;
    wpi_managed_groups groups;
    size_t reached; /* of the planned trials, for progress */
} search;

/* ---- the request ---- */

static void keep_key(void *object, const wp_device_key *key) {
    wpi_strings_add(object, key->name);
    wpi_strings_add(object, key->value);
}

static wp_status read_device(search *s, wp_error *err) {
    s->device = s->arguments->values[DEVICE];
    if (s->device == NULL) s->device = WPI_TRACE_DEVICE;
    if (strncmp(s->device, "sim:", 4) != 0)
        return WP_FAIL(err, INVALID, "'%s' is not a simulated GPU such as sim:k80", s->device);
    WP_TRY(wpi_set_keys(s->arguments, s->device, NULL, err));
    const char *settings = getenv("WARPAGE_SET");
    s->settings = wpi_format("%s", settings != NULL ? settings : "");
    WP_TRY(wp_device_visit_keys(s->device, keep_key, &s->keys, err));
    if (strcmp(wpi_key_value(&s->keys, "paging.on"), "on") == 0) return WP_STATUS_OK;
    return WP_FAIL(err, INVALID,
                   "pages do not move on %s, so nothing can be advised; --set paging.on=on lets "
                   "them",
                   s->device);
}

static wp_status read_limit(const char *text, uint64_t *limit, wp_error *err) {
    *limit = UINT64_MAX;
    if (text == NULL) return WP_STATUS_OK;
    WP_TRY(wpi_parse_count(text, limit, err));
    return *limit != 0 ? WP_STATUS_OK : WP_FAIL(err, INVALID, "--limit: at least 1");
}

/* ---- trying --------------------------------------------------------------------------------- */

static wp_status read_result(const wpi_trial *trial, wp_run_record *record, wp_error *err) {
    if (trial->failure != NULL) return WP_FAIL(err, DEVICE, "%s", trial->failure);
    WP_TRY(wp_run_record_read(trial->result_path, record, err));
    if (record->simulation != NULL) return WP_STATUS_OK;
    wp_run_record_deinit(record);
    return WP_FAIL(err, DEVICE, "the report has no simulation");
}

static void add_trial(search *s, const wpi_remedy *tried) {
    char *settings = wpi_format("%s%s%s", s->settings,
                                s->settings[0] != '\0' && tried->settings[0] != '\0' ? ";" : "",
                                tried->settings);
    wpi_trials_add(&s->trials, s->device, settings, tried->hints, tried->name);
    wpi_free(settings);
}

/* Runs all remedies that have no trial yet. A failure is printed, and leaves no result. */
static void run_tries(search *s) {
    const size_t first = s->trials.count;
    for (size_t i = first; i < s->remedies.count; i++)
        add_trial(s, &s->remedies.items[i]);
    wpi_trials_run(&s->trials, first);
    for (size_t i = first; i < s->remedies.count; i++) {
        wpi_remedy *tried = &s->remedies.items[i];
        wp_run_record record = {0};
        wp_error err = {0};
        tried->has_result = read_result(&s->trials.items[i], &record, &err) == WP_STATUS_OK;
        tried->trial = i;
        if (tried->has_result)
            tried->facts = wpi_paging_facts_of(&record);
        else
            (void)fprintf(stderr, "warpage advise: %s: %s\n", tried->name, err.message);
        wp_run_record_deinit(&record);
    }
}

static bool is_faster(const wpi_remedy *tried, uint64_t than_ns) {
    return tried->has_result && (double)tried->facts.time_ns < GAIN_MIN * (double)than_ns;
}

/* ---- by allocation -------------------------------------------------------------------------- */

/* Whether a call makes sense for a group. */
static bool makes_sense(const wpi_managed_group *group, wpi_call call) {
    return call != WP_CALL_READ_MOSTLY || group->writes == 0;
}

static size_t calls_of(const search *s, size_t group) {
    size_t count = 0;
    for (wpi_call call = WP_CALL_HOST; call < WP_CALL_COUNT; call++)
        count += makes_sense(&s->groups.items[group], call);
    return count;
}

/* Some calls were tried already with others: progress counts these, too. */
static void reach(search *s) {
    wpi_trials_reach(&s->trials, s->reached < s->trials.planned ? s->reached : s->trials.planned);
}

/* The most that can be tried, so that progress has a total from the beginning. */
static void plan_greedily(search *s) {
    size_t order[GROUPS_MAX], count = wpi_managed_groups_order(&s->groups, order, GROUPS_MAX);
    s->reached = s->remedies.count;
    s->trials.planned = s->remedies.count + 1;
    for (size_t i = 0; i < count; i++)
        s->trials.planned += calls_of(s, order[i]);
    if (s->trials.planned - 1 > s->limit) s->trials.planned = (size_t)s->limit + 1;
}

/* The fastest of those remedies that is faster than `than_ns`, or SIZE_MAX. */
static size_t fastest(const search *s, const size_t *remedies, size_t count, uint64_t than_ns) {
    size_t best = SIZE_MAX;
    for (size_t i = 0; i < count; i++) {
        const wpi_remedy *tried = &s->remedies.items[remedies[i]];
        if (!is_faster(tried, than_ns)) continue;
        if (best == SIZE_MAX ||
            tried->facts.time_ns < s->remedies.items[remedies[best]].facts.time_ns)
            best = i;
    }
    return best;
}

/* Tries each call for a group, in addition to those of the plan; keeps the best if it is faster
 * than the plan. */
static void try_group(search *s, size_t group, wpi_advice_plan *kept, uint64_t *best_ns) {
    size_t remedies[WP_CALL_COUNT], count = 0;
    wpi_call tried[WP_CALL_COUNT];
    wpi_advice_plan plan;
    wpi_advice_plan_init(&plan, &s->groups);
    wpi_advice_plan_copy(&plan, kept);
    for (wpi_call call = WP_CALL_HOST; call < WP_CALL_COUNT; call++) {
        if (!makes_sense(&s->groups.items[group], call) || s->remedies.count > s->limit) continue;
        plan.calls[group] = call;
        tried[count] = call;
        remedies[count++] = wpi_remedies_add_plan(&s->remedies, &s->groups, &plan);
    }
    wpi_advice_plan_deinit(&plan);
    run_tries(s);
    s->reached += calls_of(s, group);
    reach(s);
    const size_t best = fastest(s, remedies, count, *best_ns);
    if (best == SIZE_MAX) return;
    kept->calls[group] = tried[best];
    *best_ns = s->remedies.items[remedies[best]].facts.time_ns;
}

/* Tries the selected allocations one after the other: a call that helps one is kept for the next.
 * Finally all other allocations are prefetched, too. */
static void try_greedily(search *s) {
    size_t order[GROUPS_MAX];
    const size_t count = wpi_managed_groups_order(&s->groups, order, GROUPS_MAX);
    uint64_t best_ns = s->remedies.items[0].facts.time_ns;
    wpi_advice_plan kept;
    wpi_advice_plan_init(&kept, &s->groups);
    for (size_t i = 0; i < count; i++)
        try_group(s, order[i], &kept, &best_ns);
    kept.prefetches_others = true;
    if (wpi_advice_plan_count(&kept, WP_CALL_NONE) != 0 &&
        wpi_advice_plan_count(&kept, WP_CALL_NONE) != s->groups.count &&
        s->remedies.count <= s->limit) {
        (void)wpi_remedies_add_plan(&s->remedies, &s->groups, &kept);
        run_tries(s);
    }
    wpi_advice_plan_deinit(&kept);
}

/* Drops remedies beyond the limit. The unchanged run comes first and does not count. */
static void cut_tries(search *s) {
    if (s->remedies.count - 1 <= s->limit) return;
    (void)fprintf(stderr, "warpage advise: %zu more are not tried (--limit)\n",
                  s->remedies.count - 1 - (size_t)s->limit);
    while (s->remedies.count - 1 > s->limit)
        wpi_remedies_drop_last(&s->remedies);
}

/* ---- the search ----------------------------------------------------------------------------- */

static wp_status record(search *s, wp_error *err) {
    WP_TRY(wpi_trials_record(&s->trials, err));
    WP_TRY(wp_trace_check(s->trials.trace_path, s->device, err));
    WP_TRY(wp_trace_read_managed(s->trials.trace_path, wpi_managed_groups_add, &s->groups, err));
    if (s->groups.count != 0) return WP_STATUS_OK;
    return WP_FAIL(err, INVALID,
                   "%s allocates no managed memory (cudaMallocManaged): no page moves, and there "
                   "is nothing to advise",
                   s->arguments->operands[0]);
}

static wp_status run_as_it_is(search *s, wp_error *err) {
    wp_run_record result = {0};
    s->trials.planned = SIZE_MAX;
    wpi_trials_run(&s->trials, 0);
    WP_TRY(read_result(&s->trials.items[0], &result, err));
    const wpi_remedy_base base = {wpi_paging_facts_of(&result), &s->groups, &s->keys};
    wpi_managed_groups_describe(&s->groups, &result);
    wpi_remedies_add_all(&s->remedies, &base);
    s->remedies.items[0].facts = base.facts;
    s->remedies.items[0].has_result = true;
    wp_run_record_deinit(&result);
    return WP_STATUS_OK;
}

static wp_status search_all(search *s, wp_error *err) {
    WP_TRY(wpi_trials_open(&s->trials, s->arguments->values[OUTPUT], err));
    wpi_trials_add(&s->trials, s->device, s->settings, NULL, "unchanged");
    WP_TRY(record(s, err));
    WP_TRY(run_as_it_is(s, err));
    cut_tries(s);
    plan_greedily(s);
    run_tries(s);
    try_greedily(s);
    return WP_STATUS_OK;
}

static int answer(search *s, wpi_listing_format format) {
    wp_error err = {0};
    const wpi_advice_shown shown = {.device = s->device,
                                    .settings = s->settings,
                                    .program = s->arguments->operands,
                                    .program_count = s->arguments->operand_count};
    wpi_remedies_rank(&s->remedies);
    wpi_advice_print(&s->remedies, &shown, format);
    if (!s->trials.is_temporary &&
        wpi_advice_plot(&s->remedies, s->trials.folder, &err) != WP_STATUS_OK)
        (void)fprintf(stderr, "warpage advise: %s\n", err.message);
    if (!s->trials.is_temporary &&
        wpi_advice_page(&s->remedies, &shown, &s->trials, &err) != WP_STATUS_OK)
        return wpi_failure("advise", "%s", err.message);
    return wpi_finish("advise");
}

static void deinit(search *s) {
    wpi_trials_deinit(&s->trials);
    wpi_remedies_deinit(&s->remedies);
    wpi_managed_groups_deinit(&s->groups);
    wpi_strings_deinit(&s->keys);
    wpi_free(s->settings);
}

int wpi_advise_main(int argc, char **argv) {
    wpi_arguments arguments;
    wpi_listing_format format;
    wp_error err = {0};
    search s = {.arguments = &arguments, .trials = {.command = "advise", .only_replays = true}};
    int exit_code;
    wpi_expand_short_options(argc, argv);
    if (wpi_arguments_parse(wpi_advise_options, argc, argv, &arguments, &err) != WP_STATUS_OK ||
        wpi_listing_format_parse(arguments.values[FORMAT], &format, &err) != WP_STATUS_OK ||
        read_limit(arguments.values[LIMIT], &s.limit, &err) != WP_STATUS_OK ||
        wpi_trials_read_jobs(arguments.values[JOBS], &s.trials.jobs, &err) != WP_STATUS_OK)
        return wpi_usage_error("advise", "%s", err.message);
    if (arguments.operand_count == 0)
        return wpi_usage_error("advise",
                               "which program? For example: warpage advise --oversubscribe "
                               "125%% -- ./app");
    s.trials.program = arguments.operands;
    s.trials.wants_lines = arguments.values[OUTPUT] != NULL;
    s.trials.program_count = arguments.operand_count;
    s.trials.is_functional = arguments.values[FUNCTIONAL] != NULL;
    if (wpi_device_as(&arguments, WPI_TRACE_DEVICE, &err) != WP_STATUS_OK ||
        read_device(&s, &err) != WP_STATUS_OK)
        exit_code = wpi_usage_error("advise", "%s", err.message);
    else if (search_all(&s, &err) != WP_STATUS_OK)
        exit_code = wpi_failure("advise", "%s", err.message);
    else
        exit_code = answer(&s, format);
    deinit(&s);
    return exit_code;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "study/trials.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/subprocess.h"
#include "base/text.h"
#include "base/units.h"
#include "study/foresee.h"
#include "study/trace_recording.h"
#include "warpage/trace.h"
#include "warpage/version.h"

static char *copy_of(const char *text) {
    return text != NULL ? wpi_format("%s", text) : NULL;
}

void wpi_trials_add(wpi_trials *t, const char *device, const char *settings, const char *hints,
                    const char *label) {
    wpi_trial *items = wpi_realloc(t->items, (t->count + 1) * sizeof *items);
    WP_CHECK(items != NULL);
    t->items = items;
    items[t->count++] = (wpi_trial){.device = device,
                                    .settings = copy_of(settings),
                                    .hints = copy_of(hints),
                                    .label = copy_of(label)};
}

wp_status wpi_trials_read_jobs(const char *text, uint64_t *jobs, wp_error *err) {
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    *jobs = processors > 0 ? (uint64_t)processors : 1;
    if (text != NULL) WP_TRY(wpi_parse_count(text, jobs, err));
    return *jobs != 0 ? WP_STATUS_OK : WP_FAIL(err, INVALID, "--jobs: at least 1");
}

/* ---- names of files ------------------------------------------------------------------------- */

static char *hash_name(const char *text) {
    return wpi_format("%016" PRIx64, wpi_hash64(text, strlen(text), 1));
}

/* Hashes the contents of policy files: another build of one gives other results. */
static wp_status hash_policy_files(wpi_text *text, wp_error *err) {
    const char *files = getenv("WARPAGE_POLICY_FILES");
    wp_status status = WP_STATUS_OK;
    while (files != NULL && files[0] != '\0' && status == WP_STATUS_OK) {
        const size_t length = strcspn(files, ":");
        char *path = wpi_strndup(files, length), *data = NULL;
        size_t bytes = 0;
        WP_CHECK(path != NULL);
        if (length != 0) status = wpi_file_read(path, &data, &bytes, err);
        if (data != NULL)
            wpi_text_appendf(text, " policies %016" PRIx64, wpi_hash64(data, bytes, 1));
        wpi_free(data);
        wpi_free(path);
        files += length + (files[length] == ':');
    }
    return status;
}

/* Program, arguments and folder; the program's input files are not included. */
static wp_status make_key(wpi_trials *t, wp_error *err) {
    char *data = NULL, here[4096] = "";
    size_t bytes = 0;
    char *found = NULL;
    WP_TRY(wpi_program_require(t->program[0], &found, err));
    const wp_status status = wpi_file_read(found, &data, &bytes, err);
    wpi_free(found);
    WP_TRY(status);
    wpi_text text = {0};
    wpi_text_appendf(&text, "%s %016" PRIx64 " %s", WP_VERSION_STRING, wpi_hash64(data, bytes, 1),
                     getcwd(here, sizeof here) != NULL ? here : "");
    for (int i = 0; i < t->program_count; i++)
        wpi_text_appendf(&text, " '%s'", t->program[i]);
    const wp_status hashed = hash_policy_files(&text, err);
    if (hashed == WP_STATUS_OK) t->key = hash_name(wpi_text_string(&text));
    wpi_text_deinit(&text);
    wpi_free(data);
    return hashed;
}

/* "<folder>/<hash of everything that determines it><ending>" */
static char *path_of(const wpi_trials *t, const char *device, const char *settings,
                     const char *hints, const char *ending) {
    const bool has_pages = t->wants_pages && strcmp(ending, ".json") == 0;
    const bool has_lines = t->wants_lines && strcmp(ending, ".json") == 0;
    char *what = wpi_format("%s %s %s %d%s%s%s%s", t->key, device, settings, t->is_functional,
                            hints != NULL ? " " : "", hints != NULL ? hints : "",
                            has_pages ? " pages" : "", has_lines ? " lines" : "");
    char *hash = hash_name(what), *name = wpi_format("%s%s", hash, ending);
    char *path = wpi_path_join(t->folder, name);
    wpi_free(what);
    wpi_free(hash);
    wpi_free(name);
    return path;
}

wp_status wpi_trials_open(wpi_trials *t, const char *output, wp_error *err) {
    pthread_mutex_init(&t->lock, NULL);
    WP_TRY(make_key(t, err));
    WP_TRY(wpi_self_path(&t->self, err));
    t->is_temporary = output == NULL;
    if (t->is_temporary) return wpi_temp_dir_create(&t->folder, err);
    t->folder = wpi_format("%s", output);
    return wpi_dir_create(output, err);
}

/* ---- the recording -------------------------------------------------------------------------- */

wp_status wpi_trials_record(wpi_trials *t, wp_error *err) {
    const wpi_trial *first = &t->items[0];
    wpi_strings environment = {0};
    wp_status status = WP_STATUS_OK;
    int exit_code = 0;
    t->trace_path = path_of(t, first->device, first->settings, NULL, ".wpt");
    (void)setenv("WARPAGE_SET", first->settings, 1);
    char *instead = wpi_foresee_instead(first->device);
    wpi_strings_addf(&environment, "WARPAGE_SET=%s%s", first->settings,
                     instead != NULL ? instead : "");
    wpi_free(instead);
    wpi_text said = {0};
    const bool is_there = wpi_file_exists(t->trace_path);
    if (!is_there && !t->runs_nothing)
        status =
            wpi_trace_record((const char *const *)t->program, t->trace_path, first->device,
                             t->is_functional, "/dev/null", &said, &environment, &exit_code, err);
    /* Ctrl-C, which the program was left to answer, is meant for all that would follow, too. */
    if (status != WP_STATUS_OK && exit_code == 128 + SIGINT) (void)raise(SIGINT);
    /* The program's stderr, if it failed. */
    if (status != WP_STATUS_OK) (void)fputs(wpi_text_string(&said), stderr);
    wpi_text_deinit(&said);
    if (status != WP_STATUS_OK || (!is_there && t->runs_nothing)) {
        wpi_free(t->trace_path);
        t->trace_path = NULL;
    }
    wpi_strings_deinit(&environment);
    return status;
}

static void choose_way(wpi_trials *t, wpi_trial *trial) {
    wp_error err = {0};
    trial->result_path = path_of(t, trial->device, trial->settings, trial->hints, ".json");
    (void)setenv("WARPAGE_SET", trial->settings, 1);
    trial->is_replayed =
        t->trace_path != NULL && wp_trace_check(t->trace_path, trial->device, &err) == WP_STATUS_OK;
    if (trial->is_replayed || t->trace_path == NULL) return;
    if (t->only_replays) {
        trial->failure = wpi_format("%s", err.message);
    } else if (!t->has_said_why) {
        (void)fprintf(stderr, "warpage %s: runs the program where it cannot replay: %s\n",
                      t->command, err.message);
        t->has_said_why = true;
    }
}

/* ---- results -------------------------------------------------------------------------------- */

void wpi_trials_choose(wpi_trials *t) {
    for (size_t i = 0; i < t->count; i++)
        choose_way(t, &t->items[i]);
}

void wpi_trials_command(const wpi_trials *t, const wpi_trial *trial, wpi_strings *argv,
                        wpi_strings *environment) {
    wpi_strings_addf(environment, "WARPAGE_SET=%s", trial->settings);
    if (t->wants_pages) wpi_strings_add(environment, "WARPAGE_PAGES=on");
    if (t->wants_lines) wpi_strings_add(environment, "WARPAGE_LINES=on");
    wpi_strings_add(argv, t->self);
    if (trial->is_replayed) wpi_strings_add(argv, "trace");
    wpi_strings_add(argv, trial->is_replayed ? "replay" : "run");
    wpi_strings_addf(argv, "--device=%s", trial->device);
    wpi_strings_addf(argv, "--report=%s", trial->result_path);
    if (trial->hints != NULL) wpi_strings_addf(argv, "--hint=%s", trial->hints);
    wpi_strings_add(argv, "--");
    if (trial->is_replayed) {
        wpi_strings_add(argv, t->trace_path);
        return;
    }
    for (int i = 0; i < t->program_count; i++)
        wpi_strings_add(argv, t->program[i]);
}

/* A failed trial leaves no result: its times would be of an incomplete run. */
static void make_result(const wpi_trials *t, wpi_trial *trial) {
    wpi_strings argv = {0}, environment = {0};
    wpi_text said = {0};
    wp_error err = {0};
    int exit_code = 0;
    wpi_trials_command(t, trial, &argv, &environment);
    const wpi_subprocess_options how = {.environment = wpi_strings_argv(&environment),
                                        .stdin_path = "/dev/null",
                                        .stdout_path = "/dev/null",
                                        .stderr_text = &said};
    if (wpi_subprocess_run(wpi_strings_argv(&argv), &how, &exit_code, &err) != WP_STATUS_OK) {
        trial->failure = wpi_format("%s", err.message);
    } else if (exit_code != 0 || !wpi_file_exists(trial->result_path)) {
        trial->failure = wpi_format("exit status %d: %.400s", exit_code, wpi_text_string(&said));
        (void)remove(trial->result_path);
    }
    wpi_text_deinit(&said);
    wpi_strings_deinit(&argv);
    wpi_strings_deinit(&environment);
}

/* In the order in which trials end. */
static void say_done(wpi_trials *t, const wpi_trial *trial) {
    pthread_mutex_lock(&t->lock);
    t->done++;
    if (isatty(STDERR_FILENO) != 0 && t->planned == SIZE_MAX)
        (void)fprintf(stderr, "warpage %s: %s\n", t->command, trial->label);
    else if (isatty(STDERR_FILENO) != 0)
        (void)fprintf(stderr, "warpage %s: %zu of %zu%s%s\n", t->command, t->done,
                      t->planned > t->count ? t->planned : t->count,
                      trial->label != NULL ? ": " : "", trial->label != NULL ? trial->label : "");
    pthread_mutex_unlock(&t->lock);
}

void wpi_trials_reach(wpi_trials *t, size_t done) {
    if (t->done < done) t->done = done;
}

/* A thread that starts one process after the other. */
static void *work(void *object) {
    wpi_trials *t = object;
    for (;;) {
        pthread_mutex_lock(&t->lock);
        const size_t i = t->next++;
        pthread_mutex_unlock(&t->lock);
        if (i >= t->count) return NULL;
        wpi_trial *trial = &t->items[i];
        if (trial->failure == NULL && !wpi_file_exists(trial->result_path)) make_result(t, trial);
        say_done(t, trial);
    }
}

void wpi_trials_run(wpi_trials *t, size_t first) {
    pthread_t threads[256];
    size_t started = 0;
    const uint64_t jobs = t->jobs < t->count - first ? t->jobs : t->count - first;
    for (size_t i = first; i < t->count; i++) {
        choose_way(t, &t->items[i]);
        if (t->runs_nothing && !wpi_file_exists(t->items[i].result_path))
            t->items[i].failure = wpi_format("it has not run");
    }
    t->next = first;
    while (started + 1 < jobs && started < sizeof threads / sizeof threads[0] &&
           pthread_create(&threads[started], NULL, work, t) == 0)
        started++;
    (void)work(t);
    for (size_t i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
}

void wpi_trials_deinit(wpi_trials *t) {
    for (size_t i = 0; i < t->count; i++) {
        wpi_free(t->items[i].settings);
        wpi_free(t->items[i].hints);
        wpi_free(t->items[i].label);
        wpi_free(t->items[i].result_path);
        wpi_free(t->items[i].failure);
    }
    if (t->is_temporary && t->folder != NULL) wpi_temp_dir_remove(t->folder);
    wpi_free(t->items);
    wpi_free(t->folder);
    wpi_free(t->trace_path);
    wpi_free(t->self);
    wpi_free(t->key);
    pthread_mutex_destroy(&t->lock);
}

/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A program under many settings of a simulated GPU: recorded once, and replayed for each setting if
 * possible, else run.
 *
 *     record once ─► for each trial: replay (if it may) or run ─► <hash>.json
 *
 * Each trial is a process of its own, `warpage trace replay` or `warpage run`; a result is named by
 * a hash of everything that determines it, so that an interrupted command can be continued.
 * Callable from one thread.
 */
#ifndef WP_STUDY_TRIALS_H
#define WP_STUDY_TRIALS_H

#include <pthread.h>
#include <stdint.h>

#include "base/fail.h"
#include "base/strings.h"

typedef struct wpi_trial {
    const char *device; /* borrowed */
    char *settings;     /* WARPAGE_SET */
    char *hints;        /* applied to the trace (wp_trace_replay), only in replays; NULL */
    char *label;        /* for progress */
    char *result_path;  /* its report */
    bool is_replayed;   /* else the program runs */
    char *failure;      /* the message; NULL: none */
} wpi_trial;

typedef struct wpi_trials {
    const char *command; /* "compare", for messages */
    char *const *program;
    int program_count;
    bool is_functional; /* recorded without a model */
    bool only_replays;  /* a trial that may not be replayed has failed */
    bool wants_pages;   /* reports have the history of each page */
    bool wants_lines;   /* … counts by line of the source */
    bool runs_nothing;  /* trials without a result have failed */
    uint64_t jobs;      /* processes at a time */
    wpi_trial *items;
    size_t count;
    char *folder; /* with trace and results */
    bool is_temporary;
    char *trace_path; /* NULL: the program could not be recorded */
    char *self;
    char *key; /* of program and arguments */
    pthread_mutex_t lock;
    size_t next;       /* trial to start */
    size_t done;       /* trials, for progress */
    size_t planned;    /* … of so many; less than `count`: all there are; SIZE_MAX: not known yet */
    bool has_said_why; /* not all are replayed */
} wpi_trials;

/** One more, of `settings` (WARPAGE_SET; copied, as hints and label are). */
void wpi_trials_add(wpi_trials *trials, const char *device, const char *settings, const char *hints,
                    const char *label);
/** "4": how many processes at a time; NULL: as there are processors. INVALID. */
WP_NODISCARD wp_status wpi_trials_read_jobs(const char *text, uint64_t *jobs, wp_error *err);
/** Opens the folder, `output` or (NULL) a temporary one, and computes the hash that names results.
 * NOT_FOUND: no such program. */
WP_NODISCARD wp_status wpi_trials_open(wpi_trials *trials, const char *output, wp_error *err);
/** Records on the first trial's GPU, unless the folder has it already (or nothing is run). */
WP_NODISCARD wp_status wpi_trials_record(wpi_trials *trials, wp_error *err);
/** For each trial: whether it is replayed, and the file of its result. Runs none. */
void wpi_trials_choose(wpi_trials *trials);
/** After that: the command that makes a trial's result, and what to add to its environment. */
void wpi_trials_command(const wpi_trials *trials, const wpi_trial *trial, wpi_strings *argv,
                        wpi_strings *environment);
/** Makes the results of trials from `first` on, in parallel: each has a file at `result_path`, or a
 * `failure`. Prints once why a trial is run and not replayed. */
void wpi_trials_run(wpi_trials *trials, size_t first);
/** Progress continues at `done` trials: trials that turned out not to be needed count as done. */
void wpi_trials_reach(wpi_trials *trials, size_t done);
void wpi_trials_deinit(wpi_trials *trials); /* `{0}` is fine */

#endif

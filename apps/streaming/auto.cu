/* SPDX-License-Identifier: Apache-2.0 */
#include "streaming/auto.h"

#include <stdio.h>
#include <stdlib.h>
#include <warpage/stream.h>

#include "common/memory.h"
#include "common/report.h"

enum {
    PILOT_SHARE = 512,
    PART_SHARE = 32,
    /* A part is representative if each buffer is filled several times for it. */
    MEASURED_FROM = 48,
    /* A pilot may take so many times as long as its share of a longer run: copies that overlap with
     * nothing, threads without records. */
    PILOT_UNFAIR = 3,
    /* As many as serve a launch with windows. */
    STAGERS = 4,
    BUFFERS = 2
};
/* A launch for a measurement may take so much of the expected time … */
#define LAUNCH_MOST 0.01
/* … and what differs less is the same. */
#define GAIN_LEAST 1.05
/* Where a kernel reads so much of its records, sending all of them takes less time than choosing:
 * between 50 % and 73 % in bench/results. */
#define READS_MOST (2.0 / 3.0)

/* A job over some records of another one. */
typedef struct part {
    app_streaming job;
    const app_streaming *whole;
    uint64_t first;
    uint64_t *starts;
} part;

static void launch_part(void *object, void *records, uint64_t first, uint64_t count,
                        cudaStream_t stream) {
    const part *p = (const part *)object;
    p->whole->launch(p->whole->object, records, p->first + first, count, stream);
}

/* Seconds on the device. */
static double run_part(const app_streaming *job, int variant, uint64_t first, uint64_t outer,
                       app_streaming_times *times) {
    const double before_s = times->device_s;
    part p = {*job, job, first, NULL};
    p.job.records = (char *)job->records + app_streaming_bytes(job, 0, first);
    p.job.count = outer - first;
    p.job.launch = launch_part;
    p.job.object = &p;
    if (job->starts != NULL) {
        p.starts = (uint64_t *)app_allocate(outer - first + 1, sizeof *p.starts, "records");
        for (uint64_t i = first; i <= outer; i++) {
            p.starts[i - first] = job->starts[i] - job->starts[first];
        }
        p.job.starts = p.starts;
    }
    app_streaming_run(&p.job, variant, times);
    free(p.starts);
    return times->device_s - before_s;
}

static const char *name_of(int variant) {
    return app_choice_name(APP_STREAMING_VARIANTS, variant);
}

/* ---- the rule ---- */

/* Where all stagers have work they are faster than the link, so that direct gains nothing. */
static int staged(const app_streaming *job) {
    const bool is_shared =
        job->buffer_bytes / BUFFERS >= job->stagers * (uint64_t)APP_STREAMING_STAGED_LEAST;
    return job->is_page_locked && !is_shared ? APP_STREAMING_DIRECT : APP_STREAMING_DOUBLE;
}

/* What a streamed launch over all records would use. */
static streamingReport plan(const app_streaming *job, app_streaming_times *times) {
    streamingReport report = {};
    app_streaming planned = *job;
    planned.plans_only = true;
    app_streaming_run(&planned, APP_STREAMING_FULL, times);
    (void)streamingGetReport(&report);
    return report;
}

/* What a small streamed launch shows. */
typedef struct pilot {
    double fixed_s; /* mostly what any launch takes */
    double share;   /* of its records, that it read */
} pilot;

static pilot run_pilot(const app_streaming *job, uint64_t outer, app_streaming_times *times) {
    streamingReport report = {};
    pilot p = {};
    p.fixed_s = run_part(job, APP_STREAMING_FULL, 0, outer, times);
    if (streamingGetReport(&report) == cudaSuccess) {
        p.share = (double)report.read_bytes / (double)app_streaming_bytes(job, 0, outer);
    }
    return p;
}

/* ---- measurements ---- */

typedef struct measurement {
    const app_streaming *job;
    const pilot *p;
    uint64_t *first; /* moves on */
    app_streaming_times *times;
} measurement;

static bool is_streamed(int variant) {
    return variant == APP_STREAMING_FULL || variant == APP_STREAMING_VOLUME;
}

/* Bytes a second on the next 1/`share` of the records; 0: there is no record of so few bytes. */
static double rate_of(const measurement *m, int variant, unsigned share) {
    const app_streaming *job = m->job;
    const uint64_t first = *m->first;
    const uint64_t outer =
        app_streaming_end(job, first, app_streaming_bytes(job, 0, job->count) / share);
    const uint64_t bytes = app_streaming_bytes(job, first, outer);
    if (outer == first) {
        return 0.0;
    }
    const double s = run_part(job, variant, first, outer, m->times);
    const double launch_s = m->p->fixed_s < s / 2 ? m->p->fixed_s : s / 2;
    const double fixed_s = is_streamed(variant) ? launch_s : 0.0;
    *m->first = outer;
    if (job->explains) {
        fprintf(stderr, "measured   %s: %s for %s", name_of(variant), app_time(s), app_bytes(bytes));
        if (is_streamed(variant)) {
            fprintf(stderr, ", of which a launch takes %s", app_time(fixed_s));
        }
        fprintf(stderr, ": %s\n", app_rate((double)bytes, s - fixed_s, "B"));
    }
    return (double)bytes / (s - fixed_s);
}

/* Whether a measurement costs little, and the way may turn out to be as fast as `best_rate`. */
static bool is_worth_it(const measurement *m, int variant, double best_rate) {
    const app_streaming *job = m->job;
    const double all_s = (double)app_streaming_bytes(job, 0, job->count) / best_rate;
    if (!is_streamed(variant)) {
        return rate_of(m, variant, PILOT_SHARE) * PILOT_UNFAIR >= best_rate;
    }
    if (m->p->fixed_s <= all_s * LAUNCH_MOST) {
        return true;
    }
    if (job->explains) {
        fprintf(stderr, "unmeasured %s: a launch takes %s", name_of(variant),
                app_time(m->p->fixed_s));
        fprintf(stderr, ", more than %.0f %% of %s\n", 100 * LAUNCH_MOST, app_time(all_s));
    }
    return false;
}

/* The rule's way on 1/32 of the records, then the others that may be faster; the best of them. */
static int measure(const app_streaming *job, int by_rule, const pilot *p, uint64_t *first,
                   app_streaming_times *times) {
    const int variants[] = {APP_STREAMING_FULL, staged(job),
                            job->is_page_locked ? APP_STREAMING_DIRECT : staged(job),
                            APP_STREAMING_ZEROCOPY, APP_STREAMING_VOLUME};
    const measurement m = {job, p, first, times};
    int best = by_rule;
    double best_rate = rate_of(&m, by_rule, PART_SHARE);
    for (size_t v = 0; v < sizeof variants / sizeof *variants && best_rate > 0.0; v++) {
        const bool is_again = v != 0 && variants[v] == variants[v - 1];
        if (variants[v] == by_rule || is_again || !is_worth_it(&m, variants[v], best_rate)) {
            continue;
        }
        const double rate = rate_of(&m, variants[v], PART_SHARE);
        if (rate > best_rate * GAIN_LEAST) {
            best_rate = rate;
            best = variants[v];
        }
    }
    return best;
}

/* The choice for data that exceed the buffers; the records before `*first` are done. */
static int choose(const app_streaming *job, uint64_t *first, app_streaming_times *times) {
    const uint64_t all = app_streaming_bytes(job, 0, job->count);
    const streamingReport planned = plan(job, times);
    const bool is_measured = all / MEASURED_FROM >= planned.device_bytes;
    int by_rule = APP_STREAMING_FULL;
    pilot p = {};
    if (is_measured || !planned.has_windows) {
        *first = app_streaming_end(job, 0, all / PILOT_SHARE);
        if (*first == 0) {
            if (job->explains) {
                fprintf(stderr, "unmeasured the first record is more than 1/%d of %s\n",
                        PILOT_SHARE, app_bytes(all));
            }
            return by_rule;
        }
        p = run_pilot(job, *first, times);
        if (p.share >= READS_MOST) {
            by_rule = staged(job);
        }
    }
    if (is_measured) {
        return measure(job, by_rule, &p, first, times);
    }
    if (job->explains) {
        fprintf(stderr, "unmeasured %s are less than %d times the buffers of %s; ", app_bytes(all),
                MEASURED_FROM, app_bytes(planned.device_bytes));
        fprintf(stderr, "the kernel is streamed with %s",
                planned.has_windows ? "windows" : "address threads");
        if (p.share != 0) {
            fprintf(stderr, ", and reads %.0f %%", 100 * p.share);
        }
        fprintf(stderr, "\n");
    }
    return by_rule;
}

static void run_chosen(const app_streaming *job, app_streaming_times *times) {
    const uint64_t all = app_streaming_bytes(job, 0, job->count);
    uint64_t first = 0;
    int chosen = staged(job);
    if (all > job->buffer_bytes) {
        chosen = choose(job, &first, times);
    } else if (job->explains) {
        fprintf(stderr, "unmeasured %s fit the buffers of %s\n", app_bytes(all),
                app_bytes(job->buffer_bytes));
    }
    if (job->explains) {
        fprintf(stderr, "chosen     %s\n", name_of(chosen));
    }
    if (first < job->count) {
        run_part(job, chosen, first, job->count, times);
    }
}

void app_streaming_auto(const app_streaming *job, app_streaming_times *times) {
    app_streaming with_stagers = *job;
    if (job->stagers == 0) {
        with_stagers.stagers = STAGERS;
    }
    run_chosen(&with_stagers, times);
}

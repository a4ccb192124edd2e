/* SPDX-License-Identifier: Apache-2.0 */
#include "device/sim/host_actors.h"

#include <stdio.h>

#include "base/alloc.h"
#include "device/host_copies.h"
#include "device/watched_words.h"
#include "report/recorder.h"

struct wpi_sim_actor {
    wp_actor base; /* first */
    wpi_actors *actors;
    wpi_sim_actor *next;
    wpi_watched_words words;
    bool is_watching; /* waits for one of them to change; no event is scheduled */
    bool is_under_way;
    bool is_stepping;
    bool has_ended;
    bool is_freed;                 /* freed by its owner while it was active */
    wp_host_work declared, copied; /* by memcpy, beyond what is declared */
    uint32_t commands;             /* queued by the step */
};

/* The actor whose step this thread executes. */
static _Thread_local wpi_sim_actor *stepping;

static bool is_none(const wp_host_work *work) {
    return work->read_bytes == 0 && work->written_bytes == 0;
}

static void unlink_actor(wpi_sim_actor *a) {
    wpi_sim_actor **link = &a->actors->first;
    while (*link != a)
        link = &(*link)->next;
    *link = a->next;
    wpi_watched_words_deinit(&a->words);
    wpi_free(a);
}

static void end(wpi_sim_actor *a) {
    if (a->has_ended) return;
    a->has_ended = true;
    a->is_watching = false;
    a->actors->live--;
    a->actors->has_ended = true;
    if (a->actors->engine != NULL) wpi_engine_stop(a->actors->engine);
}

static void step(void *object, uint64_t token, wpi_time_ps now);
static void look(void *object, uint64_t token, wpi_time_ps now);

static void go_at(wpi_sim_actor *a, wpi_time_ps time, wpi_event_fn fn) {
    a->is_under_way = true;
    a->actors->under_way++;
    wpi_engine_at(a->actors->engine, time, fn, a, 0);
}

/* An event of the actor is due. False: the actor has ended meanwhile. */
static bool arrive(wpi_sim_actor *a) {
    a->is_under_way = false;
    a->actors->under_way--;
    if (!a->has_ended) return true;
    if (a->is_freed) unlink_actor(a);
    return false;
}

static void look(void *object, uint64_t token, wpi_time_ps now) {
    wpi_sim_actor *a = object;
    (void)token;
    if (!arrive(a)) return;
    if (wpi_watched_words_are_due(&a->words))
        go_at(a, now + a->actors->profile->poll_ps, step);
    else
        a->is_watching = true;
}

/* A piece of work has ended: starts the next one, or continues. */
static void work_done(void *object, uint64_t token, wpi_time_ps now) {
    wpi_sim_actor *a = object;
    const wp_host_work work = is_none(&a->declared) ? a->copied : a->declared;
    if (a->has_ended || is_none(&work)) {
        look(object, token, now);
        return;
    }
    *(is_none(&a->declared) ? &a->copied : &a->declared) = (wp_host_work){0};
    wpi_host_model_work(a->actors->model, &work, work_done, a, 0);
}

static void step(void *object, uint64_t token, wpi_time_ps now) {
    wpi_sim_actor *a = object;
    wpi_actors *actors = a->actors;
    (void)token;
    if (!arrive(a)) return;
    wpi_watched_words_clear(&a->words);
    a->declared = (wp_host_work){0};
    a->copied = (wp_host_work){0};
    a->commands = 0;
    a->is_stepping = true;
    stepping = a;
    const wpi_host_account outer = wpi_host_copies_exchange((wpi_host_account){0});
    const bool may_wait = wpi_queue_forbid_waiting(true);
    const wp_actor_answer answer = a->base.step(&a->base, a->base.object);
    (void)wpi_queue_forbid_waiting(may_wait);
    if (wpi_host_copies_take(false, &a->copied)) wpi_report_host_copied(a->copied.written_bytes);
    (void)wpi_host_copies_exchange(outer);
    stepping = NULL;
    a->is_stepping = false;
    if (a->commands != 0) {
        actors->has_queued = true;
        wpi_engine_stop(actors->engine);
    }
    if (answer == WP_ACTOR_ENDS || a->has_ended) {
        end(a);
        if (a->is_freed) unlink_actor(a);
    } else if ((!is_none(&a->declared) || !is_none(&a->copied)) && actors->profile->is_on) {
        a->is_under_way = true;
        actors->under_way++;
        work_done(a, 0, now);
    } else {
        go_at(a, now + (actors->profile->is_on ? a->commands * actors->profile->call_ps : 0), look);
    }
}

/* ---- from outside ---------------------------------------------------------------------------- */

wp_status wpi_actors_start(wpi_actors *actors, const wp_actor *actor, wp_actor **out,
                           wp_error *err) {
    wpi_sim_actor *a = wpi_calloc(1, sizeof *a);
    if (a == NULL) return WP_FAIL(err, NOMEM, "host actor '%s'", actor->name);
    a->base = *actor;
    a->actors = actors;
    wpi_sim_actor **link = &actors->first; /* in order of starts, for steps at the same time */
    while (*link != NULL)
        link = &(*link)->next;
    *link = a;
    actors->live++;
    go_at(a, wpi_engine_now(actors->engine), step);
    *out = &a->base;
    return WP_STATUS_OK;
}

void wpi_actor_watch_word(wp_actor *actor, const volatile uint32_t *word, uint32_t value) {
    wpi_sim_actor *a = (wpi_sim_actor *)(void *)actor;
    wpi_watched_words_add(&a->words, word, value);
}

bool wpi_actor_has_ended(const void *actor) {
    return ((const wpi_sim_actor *)actor)->has_ended;
}

void wpi_actors_free(wpi_actors *actors, wp_actor *actor) {
    wpi_sim_actor *a = (wpi_sim_actor *)(void *)actor;
    (void)actors;
    end(a);
    a->is_freed = true;
    if (!a->is_under_way && !a->is_stepping) unlink_actor(a);
}

void wpi_actors_look(wpi_actors *actors) {
    for (wpi_sim_actor *a = actors->first; a != NULL; a = a->next) {
        if (!a->is_watching || !wpi_watched_words_are_due(&a->words)) continue;
        a->is_watching = false;
        go_at(a, wpi_engine_now(actors->engine) + actors->profile->notice_ps, step);
    }
}

void wpi_actors_note_queued(wpi_actors *actors) {
    if (wpi_actors_is_stepping(actors)) stepping->commands++;
}

bool wpi_actors_is_stepping(const wpi_actors *actors) {
    return stepping != NULL && stepping->actors == actors;
}

bool wpi_actors_declare(wpi_actors *actors, const wp_host_work *work) {
    if (!wpi_actors_is_stepping(actors)) return false;
    stepping->declared = *work;
    return true;
}

/* Work of queues, host functions and host threads, which also counts in under_way. */
typedef struct outside_work {
    wpi_actors *actors;
    wpi_event_fn done;
    void *object;
} outside_work;

static void outside_done(void *object, uint64_t token, wpi_time_ps now) {
    outside_work *w = object;
    w->actors->under_way--;
    w->done(w->object, token, now);
    wpi_free(w);
}

void wpi_actors_work(wpi_actors *actors, const wp_host_work *work, wpi_event_fn done,
                     void *object) {
    static const wp_host_work none;
    outside_work *w = wpi_malloc(sizeof *w);
    WP_CHECK(w != NULL);
    *w = (outside_work){actors, done, object};
    actors->under_way++;
    wpi_host_model_work(actors->model, actors->profile->is_on ? work : &none, outside_done, w, 0);
}

bool wpi_actors_describe_wait(const wpi_actors *actors, char *out, size_t out_bytes) {
    for (const wpi_sim_actor *a = actors->first; a != NULL; a = a->next) {
        if (!a->is_watching) continue;
        const wpi_watched_word *w = &a->words.list[0];
        (void)snprintf(out, out_bytes, "host actor '%s' waits for the word at %p to change from %u",
                       a->base.name, (const void *)(uintptr_t)w->word, w->value);
        return true;
    }
    return false;
}

/* ---- life ------------------------------------------------------------------------------------ */

wp_status wpi_actors_attach(wpi_actors *actors, wpi_engine *engine, const wpi_host_profile *profile,
                            wp_error *err) {
    actors->profile = profile;
    WP_TRY(wpi_host_model_create(engine, profile, &actors->model, err));
    actors->engine = engine;
    return WP_STATUS_OK;
}

void wpi_actors_detach(wpi_actors *actors) {
    actors->engine = NULL;
    for (wpi_sim_actor *a = actors->first, *next; a != NULL; a = next) {
        next = a->next;
        a->is_under_way = false;
        end(a);
        if (a->is_freed && !a->is_stepping) unlink_actor(a);
    }
    actors->under_way = 0;
    wpi_host_model_destroy(actors->model);
    actors->model = NULL;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Files of threads stay open: observing is a read of each. All threads are asleep only if none has
 * run between two observations: the first alone could miss that one thread wakes another. */
#define _GNU_SOURCE /* syscall */
#include "device/sim/host/tasks.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"

#define FOLDER "/proc/self/task"
#define GIVEN_UP_NS UINT64_C(1000000000)
#define GIVEN_UP_AGAIN_NS (GIVEN_UP_NS / 50) /* for a thread that was given up before */
#define OWN_MAX 64u
#define PID_MAX_DEFAULT (UINT64_C(1) << 22)

typedef struct task {
    pid_t id;
    int stat, schedule; /* files; -1: not there */
    uint64_t runs;      /* number of its time slices at the first observation */
    bool was_asleep;    /* once */
    bool is_given_up, was_given_up, is_timed;
    uint64_t from_ns;     /* its processor time when it was first seen running */
    uint64_t judged_runs; /* `runs` when the reason of its wait was last determined */
    bool is_judged;
    bool waits_aside; /* waits for something other than a thread */
    bool is_listed;
} task;

struct wpi_tasks {
    task *all;
    size_t count, capacity;
    int folder;
    uint64_t links;   /* link count of the folder */
    size_t own_known; /* number of the library's threads */
    bool is_stale;
};

static pthread_mutex_t own_lock = PTHREAD_MUTEX_INITIALIZER;
static pid_t own[OWN_MAX];
static size_t own_count;

pid_t wpi_tasks_own(void) {
    static _Thread_local pid_t id;
    if (id == 0) id = (pid_t)syscall(SYS_gettid);
    return id;
}

void wpi_tasks_enlist(void) {
    pthread_mutex_lock(&own_lock);
    own[own_count++ % OWN_MAX] = wpi_tasks_own();
    pthread_mutex_unlock(&own_lock);
}

static size_t count_own(void) {
    pthread_mutex_lock(&own_lock);
    const size_t count = own_count;
    pthread_mutex_unlock(&own_lock);
    return count;
}

static bool is_own(pid_t id) {
    bool is_in = false;
    pthread_mutex_lock(&own_lock);
    for (size_t i = 0; i < own_count && i < OWN_MAX; i++)
        is_in = is_in || own[i] == id;
    pthread_mutex_unlock(&own_lock);
    return is_in;
}

static uint64_t read_pid_max(void) {
    unsigned long long max = 0;
    FILE *file = fopen("/proc/sys/kernel/pid_max", "re");
    if (file == NULL) return PID_MAX_DEFAULT;
    if (fscanf(file, "%llu", &max) != 1) max = 0;
    (void)fclose(file);
    return max != 0 ? max : PID_MAX_DEFAULT;
}

/* Thread ids grow from the first thread's, and wrap at the system's largest. */
uint64_t wpi_tasks_order(pid_t id) {
    static uint64_t pid_max;
    if (pid_max == 0) pid_max = read_pid_max();
    return ((uint64_t)id + pid_max - (uint64_t)getpid()) % pid_max;
}

/* ---- the list -------------------------------------------------------------------------------- */

static uint64_t count_links(const wpi_tasks *tasks) {
    struct stat folder;
    return fstat(tasks->folder, &folder) == 0 ? (uint64_t)folder.st_nlink : 0;
}

static int open_file(pid_t id, const char *name) {
    char path[64];
    (void)snprintf(path, sizeof path, FOLDER "/%d/%s", (int)id, name);
    return open(path, O_RDONLY | O_CLOEXEC);
}

static void close_task(const task *t) {
    if (t->stat >= 0) (void)close(t->stat);
    if (t->schedule >= 0) (void)close(t->schedule);
}

static task *find(wpi_tasks *tasks, pid_t id) {
    for (size_t i = 0; i < tasks->count; i++)
        if (tasks->all[i].id == id) return &tasks->all[i];
    return NULL;
}

static void add(wpi_tasks *tasks, pid_t id) {
    if (tasks->count == tasks->capacity) {
        const size_t capacity = tasks->capacity == 0 ? 16 : 2 * tasks->capacity;
        task *more = wpi_realloc(tasks->all, capacity * sizeof *more);
        if (more == NULL) return;
        tasks->all = more;
        tasks->capacity = capacity;
    }
    tasks->all[tasks->count++] = (task){.id = id,
                                        .stat = open_file(id, "stat"),
                                        .schedule = open_file(id, "schedstat"),
                                        .is_listed = true};
}

static void list(wpi_tasks *tasks) {
    DIR *folder = opendir(FOLDER);
    const struct dirent *entry;
    if (folder == NULL) return;
    tasks->links = count_links(tasks);
    tasks->own_known = count_own();
    tasks->is_stale = false;
    for (size_t i = 0; i < tasks->count; i++)
        tasks->all[i].is_listed = false;
    while ((entry = readdir(folder)) != NULL) {
        const pid_t id = (pid_t)strtol(entry->d_name, NULL, 10);
        if (id <= 0 || is_own(id)) continue;
        task *known = find(tasks, id);
        if (known != NULL)
            known->is_listed = true;
        else
            add(tasks, id);
    }
    (void)closedir(folder);
    size_t kept = 0;
    for (size_t i = 0; i < tasks->count; i++) {
        if (tasks->all[i].is_listed)
            tasks->all[kept++] = tasks->all[i];
        else
            close_task(&tasks->all[i]);
    }
    tasks->count = kept;
}

wpi_tasks *wpi_tasks_create(void) {
    const int folder = open(FOLDER, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    wpi_tasks *tasks = folder >= 0 ? wpi_calloc(1, sizeof *tasks) : NULL;
    if (tasks != NULL) tasks->folder = folder;
    if (tasks == NULL && folder >= 0) (void)close(folder);
    return tasks;
}

void wpi_tasks_destroy(wpi_tasks *tasks) {
    if (tasks == NULL) return;
    for (size_t i = 0; i < tasks->count; i++)
        close_task(&tasks->all[i]);
    (void)close(tasks->folder);
    wpi_free(tasks->all);
    wpi_free(tasks);
}

bool wpi_tasks_have_changed(wpi_tasks *tasks) {
    return tasks->is_stale || tasks->own_known != count_own() || count_links(tasks) != tasks->links;
}

/* ---- looks ----------------------------------------------------------------------------------- */

/* 'R', 'S', …; 0: the thread has ended. "12 (name) S …", where the name may have any character. */
static char read_state(int file) {
    char text[256];
    const ssize_t length = pread(file, text, sizeof text - 1, 0);
    if (length <= 0) return 0;
    text[length] = '\0';
    const char *name_end = strrchr(text, ')');
    return name_end != NULL && name_end[1] == ' ' ? name_end[2] : 0;
}

static bool is_blocked(char state) {
    return state == 'S' || state == 'T' || state == 't' || state == 'Z' || state == 'X';
}

/* Processor time and number of time slices; real time if the system does not report them. */
static void read_schedule(const task *t, uint64_t *ran_ns, uint64_t *runs) {
    char text[96];
    unsigned long long ran = 0, delayed = 0, count = 0;
    const ssize_t length = t->schedule >= 0 ? pread(t->schedule, text, sizeof text - 1, 0) : 0;
    text[length > 0 ? length : 0] = '\0';
    const bool is_read = sscanf(text, "%llu %llu %llu", &ran, &delayed, &count) == 3;
    *ran_ns = is_read ? ran : wpi_clock_ns();
    *runs = is_read ? count : 0;
}

/* Whether the thread waits for something other than a thread. Waiting for others is a futex call
 * without a time limit; assumed if the system does not show the call. */
static bool waits_aside(pid_t id) {
    char text[256];
    long number;
    unsigned long long address, operation, value, timeout;
    const int file = open_file(id, "syscall");
    if (file < 0) return false;
    const ssize_t length = pread(file, text, sizeof text - 1, 0);
    (void)close(file);
    text[length > 0 ? length : 0] = '\0';
    const int read =
        sscanf(text, "%ld %llx %llx %llx %llx", &number, &address, &operation, &value, &timeout);
    return read == 5 && (number != SYS_futex || timeout != 0);
}

static void judge(task *t) {
    if (t->is_judged && t->judged_runs == t->runs) return;
    t->is_judged = true;
    t->judged_runs = t->runs;
    t->waits_aside = waits_aside(t->id);
}

static void note_work(task *t, uint64_t ran_ns, wpi_tasks_found *found) {
    if (!t->is_timed) t->from_ns = ran_ns;
    t->is_timed = true;
    if (ran_ns - t->from_ns < (t->was_given_up ? GIVEN_UP_AGAIN_NS : GIVEN_UP_NS)) return;
    t->was_given_up = true;
    t->is_given_up = true;
    found->gives_up = true;
}

static bool is_among(pid_t id, const pid_t *ids, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (ids[i] == id) return true;
    return false;
}

static bool is_asleep(wpi_tasks *tasks, task *t, bool is_second, wpi_tasks_found *found) {
    uint64_t ran_ns, runs;
    const char state = read_state(t->stat);
    if (state == 0) {
        tasks->is_stale = true;
        return false;
    }
    read_schedule(t, &ran_ns, &runs);
    if (!is_blocked(state)) {
        note_work(t, ran_ns, found);
        return false;
    }
    t->is_timed = false;
    const bool has_run = is_second && runs != t->runs;
    t->runs = runs;
    return !has_run;
}

bool wpi_tasks_are_asleep(wpi_tasks *tasks, const pid_t *awaiting, size_t count, bool only_new,
                          wpi_tasks_found *found) {
    if (wpi_tasks_have_changed(tasks)) list(tasks);
    for (int look = 0; look < 2; look++) {
        for (size_t i = 0; i < tasks->count; i++) {
            task *t = &tasks->all[i];
            if (is_among(t->id, awaiting, count)) {
                found->was_woken_aside = found->was_woken_aside || t->waits_aside;
                t->waits_aside = false;
                t->is_given_up = false;
                t->is_timed = false;
            } else if (!t->is_given_up && !(only_new && t->was_asleep) &&
                       !is_asleep(tasks, t, look == 1, found)) {
                return false;
            }
        }
    }
    for (size_t i = 0; i < tasks->count; i++) {
        task *t = &tasks->all[i];
        if (!is_among(t->id, awaiting, count) && !t->is_given_up) t->was_asleep = true;
    }
    return !wpi_tasks_have_changed(tasks);
}

void wpi_tasks_judge(wpi_tasks *tasks, const pid_t *awaiting, size_t count) {
    for (size_t i = 0; i < tasks->count; i++) {
        task *t = &tasks->all[i];
        if (!is_among(t->id, awaiting, count) && !t->is_given_up) judge(t);
    }
}

bool wpi_task_is_blocked(pid_t id) {
    const int file = open_file(id, "stat");
    if (file < 0) return false;
    const char state = read_state(file);
    (void)close(file);
    return is_blocked(state);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Everything here must be safe in a signal handler, hence getdents64 in place of readdir, which
 * allocates, and slots of fixed size. */
#define _GNU_SOURCE /* syscall */
#include "base/leftovers.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { SLOTS = 32, PATH_BYTES = 4096, DEPTH_MAX = 16, WAIT_NS = 1000000, WAITS_MAX = 1000 };

/* FREE -> BUSY -> USED -> FREE. BUSY: a thread that blocks all signals is creating the file; the
 * handler waits for it. A later thread sees `is_ending` and creates nothing. */
enum { FREE, BUSY, USED };
static struct slot {
    atomic_int state;
    char path[PATH_BYTES];
} slots[SLOTS];
static atomic_bool is_ending;
static pthread_mutex_t lock =
    PTHREAD_MUTEX_INITIALIZER; /* of threads that write slots, not of the handler */

/* Also blocks the thread's signals: a handler on this thread would wait for the slot that the
 * thread holds. */
static void begin(sigset_t *before) {
    sigset_t all;
    sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, before);
    (void)pthread_mutex_lock(&lock);
}

static void end(const sigset_t *before) {
    (void)pthread_mutex_unlock(&lock);
    (void)pthread_sigmask(SIG_SETMASK, before, NULL);
}

static struct slot *take_slot(void) {
    for (int i = 0; i < SLOTS; i++) {
        if (atomic_load(&slots[i].state) != FREE) continue;
        atomic_store(&slots[i].state, BUSY);
        return &slots[i];
    }
    return NULL;
}

static int create(char *path, bool is_folder) {
    sigset_t before;
    begin(&before);
    struct slot *slot = strlen(path) < PATH_BYTES ? take_slot() : NULL;
    if (atomic_load(&is_ending)) {
        if (slot != NULL) atomic_store(&slot->state, FREE);
        for (;;)
            (void)pause();
    }
    int fd;
    if (is_folder)
        fd = mkdtemp(path) != NULL ? 0 : -1;
    else
        fd = mkstemp(path);
    const int code = errno;
    if (slot != NULL) {
        if (fd >= 0) strcpy(slot->path, path);
        atomic_store(&slot->state, fd >= 0 ? USED : FREE);
    }
    end(&before);
    errno = code;
    return fd;
}

int wpi_leftover_file(char *path) {
    return create(path, false);
}

bool wpi_leftover_folder(char *path) {
    return create(path, true) >= 0;
}

void wpi_leftover_note(const char *path) {
    sigset_t before;
    begin(&before);
    struct slot *slot = strlen(path) < PATH_BYTES ? take_slot() : NULL;
    if (slot != NULL) {
        strcpy(slot->path, path);
        atomic_store(&slot->state, USED);
    }
    end(&before);
}

void wpi_leftover_drop(const char *path) {
    sigset_t before;
    begin(&before);
    bool is_dropped = false;
    for (int i = 0; i < SLOTS && !is_dropped; i++) {
        is_dropped = atomic_load(&slots[i].state) == USED && strcmp(slots[i].path, path) == 0;
        if (is_dropped) atomic_store(&slots[i].state, FREE);
    }
    end(&before);
}

/* As the kernel writes it. */
typedef struct entry {
    uint64_t inode;
    int64_t offset;
    uint16_t record_bytes;
    uint8_t type;
    char name[];
} entry;

static void empty_folder(int fd, int depth) {
    _Alignas(entry) char buffer[4096];
    bool is_changed = true;
    while (fd >= 0 && is_changed && depth < DEPTH_MAX) { /* again: entries move as others go */
        is_changed = false;
        (void)lseek(fd, 0, SEEK_SET);
        for (long count; (count = syscall(SYS_getdents64, fd, buffer, sizeof buffer)) > 0;) {
            for (long at = 0; at < count;) {
                const entry *e = (const entry *)(const void *)(buffer + at);
                at += e->record_bytes;
                if (strcmp(e->name, ".") == 0 || strcmp(e->name, "..") == 0) continue;
                bool is_gone = unlinkat(fd, e->name, 0) == 0;
                if (!is_gone) {
                    const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
                    empty_folder(openat(fd, e->name, flags), depth + 1);
                    is_gone = unlinkat(fd, e->name, AT_REMOVEDIR) == 0;
                }
                is_changed = is_changed || is_gone;
            }
        }
    }
    if (fd >= 0) (void)close(fd);
}

void wpi_leftover_remove(const char *path) {
    if (unlink(path) == 0 || errno == ENOENT) return;
    empty_folder(open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), 0);
    (void)rmdir(path);
}

void wpi_leftovers_remove(void) {
    atomic_store(&is_ending, true);
    for (int i = 0; i < SLOTS; i++) {
        for (int n = 0; n < WAITS_MAX && atomic_load(&slots[i].state) == BUSY; n++)
            (void)nanosleep(&(struct timespec){.tv_nsec = WAIT_NS}, NULL);
        if (atomic_load(&slots[i].state) == USED) wpi_leftover_remove(slots[i].path);
    }
}

static pid_t owner; /* a child between fork and exec has the handler, but not the files */
static void (*remove_others)(void);

void wpi_leftovers_also(void (*remove)(void)) {
    remove_others = remove;
}

static void on_signal(int number) {
    if (owner == getpid()) {
        wpi_leftovers_remove();
        if (remove_others != NULL) remove_others();
    }
    (void)signal(number, SIG_DFL);
    (void)raise(number);
    /* Now, not on return: a sanitizer may call this late, in a thread that blocks signals by then.
     */
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, number);
    (void)pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE};
enum { NUMBERS = sizeof numbers / sizeof *numbers };

void wpi_leftovers_remove_on_signals(void) {
    struct sigaction action = {.sa_handler = on_signal}, before;
    owner = getpid();
    sigemptyset(&action.sa_mask);
    for (int i = 0; i < NUMBERS; i++)
        sigaddset(&action.sa_mask, numbers[i]);
    for (int i = 0; i < NUMBERS; i++) {
        (void)sigaction(numbers[i], NULL, &before);
        if (before.sa_handler == SIG_DFL) (void)sigaction(numbers[i], &action, NULL);
    }
}

void wpi_leftovers_ignore_signals(void) {
    struct sigaction now;
    for (int i = 0; i < NUMBERS; i++) {
        (void)sigaction(numbers[i], NULL, &now);
        if (now.sa_handler == on_signal) (void)signal(numbers[i], SIG_DFL);
    }
}

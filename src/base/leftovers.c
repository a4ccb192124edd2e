/* SPDX-License-Identifier: Apache-2.0 */
/* Everything here must be safe in a signal handler, hence getdents64 in place of readdir, which
 * allocates, and slots of fixed size. */
#define _GNU_SOURCE /* syscall */
#include "base/leftovers.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { SLOTS = 32, PATH_BYTES = 512, DEPTH_MAX = 16 };

/* FREE -> BUSY -> USED -> BUSY -> FREE; only USED ones are read by the handler. */
enum { FREE, BUSY, USED };
static struct slot {
    atomic_int state;
    char path[PATH_BYTES];
} slots[SLOTS];

void wp_leftover_add(const char *path) {
    if (strlen(path) >= PATH_BYTES) return;
    for (int i = 0; i < SLOTS; i++) {
        int expected = FREE;
        if (!atomic_compare_exchange_strong(&slots[i].state, &expected, BUSY)) continue;
        strcpy(slots[i].path, path);
        atomic_store(&slots[i].state, USED);
        return;
    }
}

void wp_leftover_drop(const char *path) {
    for (int i = 0; i < SLOTS; i++) {
        if (atomic_load(&slots[i].state) == USED && strcmp(slots[i].path, path) == 0) {
            atomic_store(&slots[i].state, FREE);
            return;
        }
    }
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

void wp_leftover_remove(const char *path) {
    if (unlink(path) == 0 || errno == ENOENT) return;
    empty_folder(open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), 0);
    (void)rmdir(path);
}

static pid_t owner; /* a child between fork and exec has the handler, but not the files */

static void on_signal(int number) {
    for (int i = 0; owner == getpid() && i < SLOTS; i++)
        if (atomic_load(&slots[i].state) == USED) wp_leftover_remove(slots[i].path);
    (void)signal(number, SIG_DFL);
    (void)raise(number);
}

static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE};
enum { NUMBERS = sizeof numbers / sizeof *numbers };

void wp_leftovers_remove_on_signals(void) {
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

void wp_leftovers_ignore_signals(void) {
    struct sigaction now;
    for (int i = 0; i < NUMBERS; i++) {
        (void)sigaction(numbers[i], NULL, &now);
        if (now.sa_handler == on_signal) (void)signal(numbers[i], SIG_DFL);
    }
}

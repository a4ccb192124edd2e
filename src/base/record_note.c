/* SPDX-License-Identifier: Apache-2.0 */
#include "base/record_note.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"

typedef struct note {
    char magic[15];
    char state; /* '0', '1', 'x' */
    char reason[WP_RECORD_REASON_BYTES];
} note;

static const char magic[15] = "warpage-pending";

wp_status wpi_record_note_create(const char *path, wp_error *err) {
    note n = {.state = '0'};
    memcpy(n.magic, magic, sizeof magic);
    memset(n.reason, ' ', sizeof n.reason); /* no hole: allocates its block */
    return wpi_file_write(path, &n, sizeof n, err);
}

static bool read_note(int fd, note *n) {
    return pread(fd, n, sizeof *n, 0) == (ssize_t)sizeof *n &&
           memcmp(n->magic, magic, sizeof magic) == 0;
}

static void change(const char *path, char state, const char *reason) {
    note n;
    const int fd = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) return;
    if (read_note(fd, &n)) {
        n.state = state;
        (void)snprintf(n.reason, sizeof n.reason, "%s", reason);
        if (pwrite(fd, &n, sizeof n, 0) < 0) n.state = state; /* the command says less then */
    }
    (void)close(fd);
}

void wpi_record_note_started(const char *path) {
    change(path, '1', "");
}

void wpi_record_note_failed(const char *path, const char *reason) {
    change(path, 'x', reason);
}

wpi_record_state wpi_record_note_state(const char *path, char reason[WP_RECORD_REASON_BYTES]) {
    note n;
    reason[0] = '\0';
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) return WP_RECORD_MISSING;
    const bool is_note = read_note(fd, &n);
    (void)close(fd);
    if (!is_note) return WP_RECORD_WRITTEN;
    if (n.state == '0') return WP_RECORD_NOT_STARTED;
    if (n.state == '1') return WP_RECORD_STARTED;
    n.reason[sizeof n.reason - 1] = '\0';
    memcpy(reason, n.reason, sizeof n.reason);
    return WP_RECORD_FAILED;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The part of a table that goes to a file, because host memory for it is limited: from the first
 * pass on whose pages exceed wp_table_spec.host_bytes. The file has no name, so nothing of it is
 * left when the process ends, however it does. It is mapped: the operating system writes its pages
 * to the disk and reads them again as searches need them, and links of entries work as in memory.
 */
#define _DEFAULT_SOURCE /* madvise */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/leftovers.h"
#include "base/text.h"
#include "table/table_state.h"

static const char *folder_of(const wp_table *table) {
    if (table->spill_folder != NULL) return table->spill_folder;
    const char *folder = getenv("TMPDIR");
    return folder != NULL && folder[0] != '\0' ? folder : "/tmp";
}

static wp_status make_file(wp_table *table, wp_error *err) {
    char *path = wpi_format("%s/warpage-table.XXXXXX", folder_of(table));
    if (path == NULL) return WP_FAIL(err, NOMEM, "table: no host memory");
    const int descriptor = wpi_leftover_file(path);
    const int reason = errno;
    if (descriptor >= 0) {
        (void)unlink(path);
        wpi_leftover_drop(path);
        table->spill_file = descriptor + 1;
    }
    wpi_free(path);
    return descriptor >= 0 ? WP_STATUS_OK
                           : WP_FAIL(err, IO,
                                     "table: cannot create a file in %s for what exceeds "
                                     "host_bytes: %s; name another folder by spill_folder",
                                     folder_of(table), strerror(reason));
}

wp_status wpi_table_spill_add(wp_table *table, uint64_t bytes, char **memory, wp_error *err) {
    const uint64_t page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);
    const uint64_t all_bytes = (bytes + page_bytes - 1) / page_bytes * page_bytes;
    if (table->spill_file == 0) WP_TRY(make_file(table, err));
    const int descriptor = table->spill_file - 1;
    /* A mapped page for which the disk has no room would be a signal; so the room is taken here. */
    const int reason =
        posix_fallocate(descriptor, (off_t)table->report.file_bytes, (off_t)all_bytes);
    if (reason != 0)
        return WP_FAIL(err, IO,
                       "table: cannot write %" PRIu64 " bytes that exceed host_bytes to a file in "
                       "%s: %s",
                       bytes, folder_of(table), strerror(reason));
    void *mapped = mmap(NULL, all_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor,
                        (off_t)table->report.file_bytes);
    if (mapped == MAP_FAILED)
        return WP_FAIL(err, NOMEM, "table: cannot map %" PRIu64 " bytes of a file in %s: %s",
                       all_bytes, folder_of(table), strerror(errno));
    table->report.file_bytes += all_bytes;
    *memory = mapped;
    return WP_STATUS_OK;
}

void wpi_table_spill_give(char *memory, uint64_t bytes) {
    const uint64_t page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);
    (void)munmap(memory, (bytes + page_bytes - 1) / page_bytes * page_bytes);
}

/* Hands the pages of a block back to the operating system, which has them in its cache, or writes
 * them out. */
void wpi_table_spill_release(char *memory, uint64_t bytes) {
    const uint64_t page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);
    (void)madvise(memory, (bytes + page_bytes - 1) / page_bytes * page_bytes, MADV_DONTNEED);
}

void wpi_table_spill_close(wp_table *table) {
    if (table->spill_file != 0) (void)close(table->spill_file - 1);
    table->spill_file = 0;
    wpi_free(table->spill_folder);
    table->spill_folder = NULL;
}

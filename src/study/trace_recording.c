/* SPDX-License-Identifier: Apache-2.0 */
/* libwarpage, in the program, writes the trace under another name; it gets its own when the program
 * has ended and its exit status is in it. */
#include "study/trace_recording.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/leftovers.h"
#include "base/subprocess.h"
#include "warpage/trace.h"

static wp_status keep_trace(const char *made, const char *path, int exit_code, wp_error *err) {
    if (!wpi_file_exists(made))
        return WP_FAIL(err, INVALID,
                       "the program left no trace: it was not built by wpcc, used no GPU, failed "
                       "there, closed the trace's file, or did not exit normally (it called _exit "
                       "or exec)");
    WP_TRY(wp_trace_set_exit_status(made, exit_code, err));
    if (rename(made, path) == 0) return WP_STATUS_OK;
    return WP_FAIL(err, IO, "%s: cannot be written", path);
}

/* Removes the parts that an interrupted program wrote: "<made>.<process id>.part". */
static void remove_parts(const char *made) {
    char *folder = wpi_path_dir(made), *base = wpi_path_base(made);
    DIR *dir = opendir(folder);
    const size_t length = strlen(base);
    for (const struct dirent *e = dir != NULL ? readdir(dir) : NULL; e != NULL; e = readdir(dir))
        if (strncmp(e->d_name, base, length) == 0 && e->d_name[length] == '.')
            (void)unlinkat(dirfd(dir), e->d_name, 0);
    if (dir != NULL) (void)closedir(dir);
    wpi_free(base);
    wpi_free(folder);
}

wp_status wpi_trace_record(const char *const *program, const char *path, const char *device,
                           bool is_functional, const char *stdout_path, wpi_text *stderr_text,
                           wpi_strings *environment, int *exit_code, wp_error *err) {
    char *made = wpi_format("%s.%ld.recording", path, (long)getpid());
    char *absolute = NULL;
    wpi_strings_addf(environment, "WARPAGE_DEVICE=%s", device != NULL ? device : WPI_TRACE_DEVICE);
    wpi_strings_addf(environment, "WARPAGE_TRACE_FUNCTIONAL=%d", is_functional);
    /* The program may change its folder. */
    char here[4096];
    if (made[0] != '/' && getcwd(here, sizeof here) != NULL) absolute = wpi_path_join(here, made);
    wpi_strings_addf(environment, "WARPAGE_TRACE=%s", absolute != NULL ? absolute : made);
    const wpi_subprocess_options how = {.environment = wpi_strings_argv(environment),
                                        .stdout_path = stdout_path,
                                        .stderr_text = stderr_text,
                                        .leaves_signals = true};
    wpi_leftover_note(made);
    wp_status status = wpi_subprocess_run(program, &how, exit_code, err);
    if (status != WP_STATUS_OK) *exit_code = 1; /* the program did not start */
    if (status == WP_STATUS_OK) status = keep_trace(made, path, *exit_code, err);
    (void)unlink(made);
    wpi_leftover_drop(made);
    remove_parts(made);
    wpi_free(absolute);
    wpi_free(made);
    return status;
}

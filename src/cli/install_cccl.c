/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/install_cccl.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cccl_dir.h"
#include "base/file.h"
#include "base/subprocess.h"
#include "base/text.h"

/* The libraries of NVIDIA's last toolkit 12: that of CUDART_VERSION is 12.4, and later ones of the
 * same number are compatible. */
#define PACKAGE "nvidia-cuda-cccl-cu12"
#define VERSION "12.9.27"

#define BY_HAND "or unpack the wheel of " PACKAGE " from pypi.org into"

/* The last line of pip's messages that says something. */
static char *last_line(const wpi_text *talk) {
    const char *text = wpi_text_string(talk), *end = text + talk->length;
    while (end > text && (end[-1] == '\n' || end[-1] == ' '))
        end--;
    const char *begin = end;
    while (begin > text && begin[-1] != '\n')
        begin--;
    return wpi_format("%.*s", (int)(end - begin), begin);
}

static wp_status download(const char *python, const char *folder, const char *shown,
                          wp_error *err) {
    const char *const argv[] = {python,      "-m",           "pip",
                                "install",   "--quiet",      "--disable-pip-version-check",
                                "--no-deps", "--no-compile", "--only-binary=:all:",
                                "--target",  folder,         PACKAGE "==" VERSION,
                                NULL};
    wpi_text talk = {0};
    int exit_code = 0;
    const wpi_subprocess_options options = {
        .stdin_path = "/dev/null", .stdout_text = &talk, .stderr_text = &talk};
    wp_status status = wpi_subprocess_run(argv, &options, &exit_code, err);
    if (status == WP_STATUS_OK && exit_code != 0) {
        char *line = last_line(&talk);
        const bool has_pip = strstr(wpi_text_string(&talk), "No module named pip") == NULL;
        status =
            has_pip ? WP_FAIL(err, TOOLCHAIN,
                              "pip could not download " PACKAGE " (%s); try again with a "
                              "network, " BY_HAND " %s",
                              line, shown)
                    : WP_FAIL(err, TOOLCHAIN,
                              "python3 has no pip; install the package python3-pip, " BY_HAND " %s",
                              shown);
        wpi_free(line);
    }
    wpi_text_deinit(&talk);
    return status;
}

static wp_status install(const char *folder, wp_error *err) {
    char *python = wpi_program_find("python3");
    if (python == NULL)
        return WP_FAIL(err, NOT_FOUND,
                       "python3 was not found; install the packages python3 and "
                       "python3-pip, " BY_HAND " %s",
                       folder);
    char *above = wpi_path_dir(folder), *fresh = wpi_format("%s.new", folder);
    wp_status status = wpi_dir_create(above, err);
    if (status == WP_STATUS_OK) {
        wpi_temp_dir_remove(fresh); /* of an installation that was interrupted */
        status = download(python, fresh, folder, err);
    }
    char *include = status == WP_STATUS_OK ? wpi_cccl_include(fresh) : NULL;
    if (status == WP_STATUS_OK && include == NULL)
        status = WP_FAIL(err, TOOLCHAIN, "the package " PACKAGE " has no Thrust, CUB and libcu++");
    if (status == WP_STATUS_OK && rename(fresh, folder) != 0)
        status = WP_FAIL(err, IO, "%s: cannot be written: %s", folder, strerror(errno));
    if (status != WP_STATUS_OK) wpi_temp_dir_remove(fresh);
    wpi_free(include);
    wpi_free(fresh);
    wpi_free(above);
    wpi_free(python);
    return status;
}

wp_status wpi_install_cccl(wp_error *err) {
    char *folder = wpi_cccl_path();
    if (folder == NULL)
        return WP_FAIL(err, NOT_FOUND,
                       "there is no home folder to install into; set XDG_DATA_HOME");
    char *include = wpi_cccl_include(folder);
    const bool is_there = include != NULL;
    wp_status status = WP_STATUS_OK;
    if (!is_there) {
        (void)printf("downloading Thrust, CUB and libcu++ (NVIDIA's CCCL, under the licence that "
                     "comes with it; headers, 3 MB):\n"
                     "package " PACKAGE " " VERSION " of PyPI, by pip, into %s\n",
                     folder);
        (void)fflush(stdout);
        status = install(folder, err);
        if (status == WP_STATUS_OK) include = wpi_cccl_include(folder);
    }
    if (include != NULL) {
        char *version = wpi_cccl_version(include);
        (void)printf("%s: CCCL %s; wpcc finds it. To remove it, delete %s\n",
                     is_there ? "already installed" : "installed",
                     version != NULL ? version : "of unknown version", folder);
        wpi_free(version);
    }
    wpi_free(include);
    wpi_free(folder);
    return status;
}

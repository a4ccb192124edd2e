/* SPDX-License-Identifier: Apache-2.0 */
#include "study/compare_pages.h"

#include <string.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/page.h"
#include "warpage/report.h"

#define NAME_MAX_BYTES 200u /* of a folder */

/* "prefetch=tree,evict=lru-2m"; where that is too long, its beginning and the number. */
static char *folder_name(const wpi_variation *v, size_t number) {
    wpi_text label = {0};
    wpi_variation_label(v, number, &label);
    char *name = label.length <= NAME_MAX_BYTES
                     ? wpi_format("%s", wpi_text_string(&label))
                     : wpi_format("%.*s-%zu", (int)NAME_MAX_BYTES, wpi_text_string(&label), number);
    wpi_text_deinit(&label);
    for (char *c = name; *c != '\0'; c++) {
        if (*c == ' ') *c = ',';
        if (*c == '/') *c = '_';
    }
    return name;
}

wp_status wpi_compare_check_pages(const wpi_variation *variation, const char *dir, wp_error *err) {
    wp_status status = WP_STATUS_OK;
    for (size_t i = 0; i < variation->combination_count && status == WP_STATUS_OK; i++) {
        char *name = folder_name(variation, i), *path = wpi_path_join(dir, name);
        status = wp_run_record_check_pages(path, err);
        wpi_free(path);
        wpi_free(name);
    }
    return status;
}

static wp_status write_one(const wpi_trial *trial, const char *path, wp_error *err) {
    wp_run_record record = {0};
    WP_TRY(wp_run_record_read(trial->result_path, &record, err));
    const wp_status status = wp_run_record_write_pages(&record, path, err);
    wp_run_record_deinit(&record);
    return status;
}

/* Characters with a meaning in URLs, or outside of ASCII, become %XX. */
static void append_address(const char *name, const char *file, wpi_text *out) {
    wpi_text_append(out, "./");
    for (const char *c = name; *c != '\0'; c++) {
        const char one[2] = {*c, '\0'};
        if (strchr("%?#", *c) != NULL || (unsigned char)*c >= 0x80)
            wpi_text_appendf(out, "%%%02X", (unsigned)(unsigned char)*c);
        else
            wpi_text_append_html(out, one);
    }
    wpi_text_appendf(out, "/%s", file);
}

/* A combination's picture, with its title. */
static void append_picture(const char *dir, const char *name, const char *plot, wpi_text *out) {
    char *folder = wpi_path_join(dir, name), *file = wpi_format("%s.svg", plot);
    char *path = wpi_path_join(folder, file);
    wpi_text_append(out, "<h3>");
    wpi_text_append_html(out, name);
    wpi_text_append(out, "</h3>\n");
    if (wpi_file_exists(path)) {
        wpi_text_append(out, "<div class=plot><a href=\"");
        append_address(name, "index.html", out);
        wpi_text_append(out, "\"><img src=\"");
        append_address(name, file, out);
        wpi_text_append(out, "\" alt=\"\"></a></div>\n");
    } else {
        wpi_text_append(out, "<p>Nothing to draw.</p>\n");
    }
    wpi_free(path);
    wpi_free(file);
    wpi_free(folder);
}

static wp_status write_index(const wpi_variation *v, const wpi_trials *t, const char *dir,
                             wp_error *err) {
    static const char *const plots[][2] = {{"movement", "Which pages move when"},
                                           {"accesses", "Which pages are accessed when"},
                                           {"frequency", "How often each page is accessed"},
                                           {"link", "The link over time"}};
    wpi_text out = {0};
    wpi_page_begin(&out, "pages");
    wpi_page_command(&out, t->program, (size_t)t->program_count);
    for (size_t p = 0; p < sizeof plots / sizeof plots[0]; p++) {
        wpi_text_appendf(&out, "<h2>%s</h2>\n", plots[p][1]);
        for (size_t i = 0; i < v->combination_count; i++) {
            char *name = folder_name(v, i);
            append_picture(dir, name, plots[p][0], &out);
            wpi_free(name);
        }
    }
    wpi_page_end(&out);
    char *path = wpi_path_join(dir, "index.html");
    const wp_status status = wpi_file_write(path, wpi_text_string(&out), out.length, err);
    wpi_free(path);
    wpi_text_deinit(&out);
    return status;
}

wp_status wpi_compare_write_pages(const wpi_variation *variation, const wpi_trials *trials,
                                  const char *dir, wp_error *err) {
    wp_status status = WP_STATUS_OK;
    for (size_t i = 0; i < variation->combination_count && status == WP_STATUS_OK; i++) {
        char *name = folder_name(variation, i), *path = wpi_path_join(dir, name);
        status = write_one(&trials->items[i], path, err);
        wpi_free(path);
        wpi_free(name);
    }
    return status == WP_STATUS_OK ? write_index(variation, trials, dir, err) : status;
}

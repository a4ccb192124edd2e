/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/print/probe_page.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/page.h"
#include "base/units.h"

#define LEVELS_MAX 4u

static void append_plot(const char *dir, const char *form, unsigned level, const char *title,
                        wpi_text *out) {
    char *name = wpi_format(form, level), *path = wpi_path_join(dir, name), *svg = NULL;
    char *heading = wpi_format(title, level);
    size_t bytes = 0;
    if (wpi_file_read(path, &svg, &bytes, NULL) == WP_STATUS_OK) wpi_page_plot(out, heading, svg);
    wpi_free(svg);
    wpi_free(heading);
    wpi_free(path);
    wpi_free(name);
}

wp_status wpi_probe_page_write(const wpi_probe_result *result, const char *dir, wp_error *err) {
    wpi_text out = {0}, table = {0};
    char text[32];
    wpi_page_begin(&out, "warpage probe");
    wpi_page_element(&out, "h1", "warpage probe");
    wpi_page_begin_facts(&out);
    wpi_page_fact(&out, result->spec, result->name);
    (void)snprintf(text, sizeof text, "%" PRIu32, result->sm_count);
    if (result->sm_count != 0) wpi_page_fact(&out, "SMs", text);
    if (result->memory_bytes != 0)
        wpi_page_fact(&out, "memory of the probe", wpi_format_bytes(result->memory_bytes, text));
    wpi_page_end_facts(&out);
    wpi_probe_result_text(result, &table);
    wpi_text_append(&out, "<h2>TLBs</h2>\n");
    wpi_page_begin_wide(&out, "TLBs");
    wpi_page_element(&out, "pre", wpi_text_string(&table));
    wpi_text_append(&out, "</div>\n");
    for (unsigned level = 1; level <= LEVELS_MAX; level++) {
        append_plot(dir, "l%u.svg", level, "L%u TLB: cycles of a load, by memory touched", &out);
        append_plot(dir, "sharing_l%u.svg", level, "L%u TLB: which SM evicts whose entries", &out);
    }
    wpi_page_end(&out);
    char *path = wpi_path_join(dir, "index.html");
    const wp_status status = wpi_file_write(path, wpi_text_string(&out), out.length, err);
    wpi_free(path);
    wpi_text_deinit(&table);
    wpi_text_deinit(&out);
    return status;
}

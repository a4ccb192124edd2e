/* SPDX-License-Identifier: Apache-2.0 */
/**
 * HTML files, cut into pieces between tags, and their links.
 *
 * A record is a piece of a file behind the file's path and a line end. It begins where the file is
 * neither in a tag, nor in a comment, nor in a script or style sheet, so that a kernel can read it
 * without what stands before.
 */
#ifndef INVERTED_INDEX_HTML_H
#define INVERTED_INDEX_HTML_H

#include <stdbool.h>
#include <stdint.h>

typedef struct html {
    char *records;
    uint64_t *starts; /* [count + 1] */
    uint64_t count, files, bytes; /* bytes: of the files */
    uint32_t links;               /* of a record, at most */
    char title[160];
} html;

/** Reads an HTML file, or those of a tar archive, plain or `.zst`; makes `bytes` of it (0: as it
 *  is), of files with other paths. In these as many links get another name as the number of links
 *  grows in the input. */
void app_html_read(html *pages, const char *path, uint64_t bytes, uint64_t seed);
/** About as many bytes of pages that link to each other. */
void app_html_generate(html *pages, uint64_t bytes, uint64_t seed);
void app_html_free(html *pages);

/** The next link of the text from *p on, up to `end`: the href of an <a>. False: there is none. */
bool app_html_link(const char **p, const char *end, const char **link, uint32_t *link_bytes);

#endif

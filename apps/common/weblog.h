/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Web server logs as one text with the start of every line.
 *
 * Two forms are known, distinguished by the first line:
 *     combined  host - - [time] "METHOD URL PROTOCOL" status bytes ...    (Apache)
 *     table     host<TAB>logname<TAB>time<TAB>method<TAB>url<TAB>...      (NASA; after a header)
 */
#ifndef APP_WEBLOG_H
#define APP_WEBLOG_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum app_weblog_form { APP_WEBLOG_COMBINED = 0, APP_WEBLOG_TABLE } app_weblog_form;

typedef struct app_weblog {
    char *text;      /* a room (room.h); every line ends with a newline */
    uint64_t *start; /* malloc'ed, [line_count + 1]; line i is text[start[i] .. start[i + 1]) */
    uint64_t text_bytes;
    uint64_t line_count;
    app_weblog_form form;
    char title[160];
} app_weblog;

void app_weblog_read(app_weblog *log, const char *path);
/** About `line_count` requests in combined form; few pages are popular, most are rare (Zipf). */
void app_weblog_generate(app_weblog *log, uint64_t line_count, uint64_t seed);
/** Makes the log about `text_bytes` long: its first lines, or more. Each further line repeats an
 * earlier one, drawn at random, so that popular URLs stay popular; as many of them get a URL of
 * their own as the log's growth asks for: URLs grow as a power of the lines, whose exponent is that
 * between the log's first half and the whole. */
void app_weblog_resize(app_weblog *log, uint64_t text_bytes, uint64_t seed);
void app_weblog_free(app_weblog *log);

/** Bytes of a generated line on average, to turn --size bytes into lines. */
#define APP_WEBLOG_LINE_BYTES 122.0

#ifdef __cplusplus
}
#endif
#endif

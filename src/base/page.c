/* SPDX-License-Identifier: Apache-2.0 */
#include "base/page.h"

#include <string.h>

static const char style[] =
    ":root{color-scheme:light dark;--ink:#1c2228;--soft:#5a6672;--line:#dde2e7;--band:#f2f5f7;"
    "--paper:#fff;--good:#157a2b;--bad:#b3261e;--link:#0a5fb4}\n"
    "@media (prefers-color-scheme:dark){:root{--ink:#e2e7ec;--soft:#9aa6b2;--line:#343c44;"
    "--band:#20272e;--paper:#15191d;--good:#63c97c;--bad:#ff8f85;--link:#7fbcf5}"
    ".plot svg,.plot img{filter:invert(.91) hue-rotate(180deg)}}\n"
    "body{font:15px/1.5 system-ui,sans-serif;max-width:1040px;margin:2em auto;padding:0 16px;"
    "color:var(--ink);background:var(--paper)}\n"
    "h1{font:600 1.3em/1.35 ui-monospace,monospace;margin:0 0 .8em;overflow-wrap:anywhere}\n"
    "h2{font-size:1.12em;margin:2em 0 .5em}h3{font-size:1em;font-weight:600;margin:1.4em 0 .3em;"
    "overflow-wrap:anywhere}p{overflow-wrap:anywhere}a{color:var(--link)}\n"
    ".facts{display:flex;flex-wrap:wrap;gap:8px;margin:0}.facts div{background:var(--band);"
    "border-radius:6px;padding:6px 12px;min-width:0}.facts dt{font-size:.82em;color:var(--soft)}"
    ".facts dd{margin:0;font-weight:600;overflow-wrap:anywhere}\n"
    ".wide,.plot{overflow-x:auto}table{border-collapse:collapse;font-variant-numeric:tabular-nums}"
    "td,th{padding:.2em .8em;text-align:right;vertical-align:top;border-bottom:1px solid "
    "var(--line);"
    "white-space:nowrap}th{background:var(--band);font-weight:600;vertical-align:bottom}"
    "td:first-child,th:first-child{text-align:left;padding-left:.5em}"
    "th.group{text-align:left;background:none;padding-top:1.1em;color:var(--soft)}"
    ".name,code{font-family:ui-monospace,monospace;font-size:.93em}td.text,th.text{text-align:left}"
    "td.long{text-align:left;white-space:normal;min-width:14em}"
    ".reproduced,.same{color:var(--good)}.differs{color:var(--bad)}"
    ".calibrated,.no,.not{color:var(--soft)}tr.best td{color:var(--good);font-weight:600}tr.worst "
    "td{color:var(--bad)}\n"
    ".plot svg,.plot img{display:block;width:100%;min-width:680px;height:auto}"
    "image{image-rendering:pixelated}.note{color:var(--soft);overflow-wrap:anywhere}"
    "summary{cursor:pointer;margin:2em 0 .5em;font-weight:600}"
    "pre{overflow-x:auto;background:var(--band);border-radius:6px;padding:10px 12px;"
    "font-size:.9em}\n"
    "@media (max-width:600px){body{margin-top:1em}td,th{padding:.2em .5em}"
    "td:first-child,th:first-child{white-space:normal;min-width:9.5em}td:first-child.name{white-"
    "space:nowrap}}";

void wpi_page_begin(wpi_text *out, const char *title) {
    wpi_text_append(out, "<!DOCTYPE html>\n<html lang=en><head><meta charset=utf-8>"
                         "<meta name=viewport content=\"width=device-width,initial-scale=1\">");
    wpi_page_element(out, "title", title);
    wpi_text_appendf(out, "<style>%s</style></head><body>\n", style);
}

void wpi_page_end(wpi_text *out) {
    wpi_text_append(out, "</body></html>\n");
}

void wpi_page_element(wpi_text *out, const char *tag, const char *text) {
    wpi_text_appendf(out, "<%s>", tag);
    wpi_text_append_html(out, text);
    wpi_text_appendf(out, "</%.*s>", (int)strcspn(tag, " "), tag);
}

void wpi_page_command(wpi_text *out, char *const *words, size_t count) {
    wpi_text_append(out, "<h1>");
    for (size_t i = 0; i < count; i++) {
        wpi_text_append(out, i != 0 ? " " : "");
        wpi_text_append_html(out, words[i]);
    }
    wpi_text_append(out, "</h1>\n");
}

void wpi_page_begin_facts(wpi_text *out) {
    wpi_text_append(out, "<dl class=facts>");
}

void wpi_page_fact(wpi_text *out, const char *name, const char *value) {
    wpi_text_append(out, "<div>");
    wpi_page_element(out, "dt", name);
    wpi_page_element(out, "dd", value);
    wpi_text_append(out, "</div>");
}

void wpi_page_end_facts(wpi_text *out) {
    wpi_text_append(out, "</dl>\n");
}

void wpi_page_begin_table(wpi_text *out, const char *title) {
    if (title != NULL) {
        wpi_page_element(out, "h2", title);
        wpi_text_append(out, "\n");
    }
    wpi_text_append(out, "<div class=wide><table>");
}

void wpi_page_end_table(wpi_text *out) {
    wpi_text_append(out, "</table></div>\n");
}

void wpi_page_plot(wpi_text *out, const char *title, const char *svg) {
    const char *drawing = strstr(svg, "<svg");
    if (drawing == NULL) return;
    wpi_page_element(out, "h2", title);
    wpi_text_appendf(out, "\n<div class=plot>%s</div>\n", drawing);
}

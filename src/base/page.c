/* SPDX-License-Identifier: Apache-2.0 */
#include "base/page.h"

#include <string.h>

#include "base/alloc.h"

static const char style[] =
    ":root{color-scheme:light dark;--ink:#1c2228;--soft:#56616c;--line:#dde2e7;--band:#f2f5f7;"
    "--paper:#fff;--good:#157a2b;--bad:#b3261e;--link:#0a5fb4;--bar:#2f7fc1;--track:#e4e9ee;--hot:#"
    "dd5433;"
    "--c0:#8a949e;--c1:#2f7fc1;--c2:#d9822b;--c3:#b3261e;--c4:#3f9c7a;--c5:#7e57a8;--c6:#c2a21b;"
    "--c7:#5b6b7a;--c8:#c0568f;--c9:#3aa3b8;--c10:#6a8f1f;--c11:#e3b5b1}\n"
    "@media (prefers-color-scheme:dark){:root{--ink:#e2e7ec;--soft:#a3afbb;--line:#343c44;"
    "--band:#20272e;--paper:#15191d;--good:#63c97c;--bad:#ff8f85;--link:#7fbcf5;--bar:#5aa6e6;--"
    "hot:#e8714f;"
    "--track:#2b333b;--c0:#7d8893;--c1:#5aa6e6;--c2:#f0a050;--c3:#ff8f85;--c4:#5fc49b;--c5:#b491de;"
    "--c6:#dcc255;--c7:#93a3b3;--c8:#e58bbb;--c9:#62c8dc;--c10:#a3c95a;--c11:#7a4a47}"
    ".plot svg,.plot img{filter:invert(.91) hue-rotate(180deg)}}\n"
    "body{font:15px/1.5 system-ui,sans-serif;max-width:1160px;margin:2em auto;padding:0 16px;"
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
    "thead th{white-space:normal}tbody th{background:none;font-weight:400;vertical-align:top}"
    "th.group{text-align:left;background:none;padding-top:1.1em;color:var(--soft);font-weight:600}"
    ".name,code{font-family:ui-monospace,monospace;font-size:.93em}td.text,th.text{text-align:left}"
    "th.t,td.t{text-align:left}td.long{text-align:left;white-space:normal;min-width:14em}td.site{"
    "text-align:left;"
    "white-space:normal;overflow-wrap:anywhere;min-width:9em}"
    ".reproduced,.same{color:var(--good)}.differs{color:var(--bad)}"
    ".calibrated,.no,.not{color:var(--soft)}tr.best td{color:var(--good);font-weight:600}tr.worst "
    "td{color:var(--bad)}\n"
    ".plot svg,.plot img{display:block;width:100%;min-width:680px;height:auto}"
    "image{image-rendering:pixelated}.note{color:var(--soft);overflow-wrap:anywhere}"
    ".many{font-size:.93em}.many td,.many th{padding:.2em .45em}"
    "pre{overflow-x:auto;background:var(--band);border-radius:6px;padding:10px 12px;"
    "font-size:.9em}\n";

/* Sections that fold, tables that sort, bars; narrow windows and paper. */
static const char style_of_reports[] =
    "details{border-top:1px solid var(--line);margin:0}details:last-of-type{border-bottom:1px "
    "solid "
    "var(--line)}summary{cursor:pointer;padding:.55em .2em}summary h2{display:inline;font-size:1em;"
    "margin:0}summary span{color:var(--soft);margin-left:.7em}details[open]{padding-bottom:1.2em}"
    "summary:focus-visible,button:focus-visible,.wide:focus-visible{outline:2px solid "
    "var(--link);outline-offset:1px}"
    "button{font:inherit;color:inherit;background:none;border:0;padding:0;cursor:pointer}"
    "th button{font-weight:600}th button::after{content:\"\\2195\";color:var(--soft);"
    "margin-left:.3em}th[aria-sort=descending] button::after{content:\"\\2193\";"
    "color:var(--ink)}th[aria-sort=ascending] button::after{content:\"\\2191\";"
    "color:var(--ink)}button.all{color:var(--link);text-decoration:underline;margin:1.6em 0 "
    ".7em}\n"
    "svg.bar{display:inline-block;vertical-align:middle;width:100%;height:.75em;"
    "background:var(--track);border-radius:2px}svg.bar rect{fill:var(--bar)}"
    ".fit{width:100%;max-width:100%}.fit td,.fit th{white-space:normal}"
    ".fit tbody th{overflow-wrap:anywhere;min-width:7em}.fit td.bar,.fit td.n{white-space:nowrap}"
    "svg.stack,svg.strip{display:block;width:100%;height:1.3em}svg.strip{height:2.2em;"
    "background:var(--band)}svg.strip "
    "path{fill:var(--bar)}td.strip{width:55%}td.stack{width:75%;text-align:left}"
    "th.strip span+span{float:right}th.stack{text-align:left}"
    "th.strip{text-align:left}.legend{font-size:.9em;color:var(--soft);margin:.3em 0 .6em}"
    ".legend span{white-space:nowrap;margin-right:1em}.legend svg{width:.8em;height:.8em;"
    "vertical-align:baseline}.c0{fill:var(--c0)}.c1{fill:var(--c1)}.c2{fill:var(--c2)}"
    ".c3{fill:var(--c3)}.c4{fill:var(--c4)}.c5{fill:var(--c5)}.c6{fill:var(--c6)}"
    ".c7{fill:var(--c7)}.c8{fill:var(--c8)}.c9{fill:var(--c9)}.c10{fill:var(--c10)}"
    ".c11{fill:var(--c11)}"
    ".source td,.source th{padding:0 .5em;border:0}.source tbody th{background:none;"
    "font-weight:400}.source th:first-child{min-width:0}td.source{text-align:left;white-space:pre;"
    "font:.87em/1.7 "
    "ui-monospace,monospace;max-width:min(46em,45vw);overflow:hidden;text-overflow:ellipsis}"
    ".source td:nth-child(3){text-align:left}.source td{font-size:.93em}"
    ".fit td.bar svg{width:5em}@media (min-width:1150px){.fit:not(.one) tbody th{min-width:15em}"
    ".fit td.bar svg{width:9em}}.fit.one td.bar{width:70%}.fit.one td.bar svg{width:calc(100% - "
    "5.5em)}.fit td.bar span{display:inline-block;min-width:4.6em}\n"
    ".verdict{padding-left:1.4em;margin:.4em 0}.verdict li{margin:.5em 0;max-width:52em;"
    "overflow-wrap:anywhere}.verdict em{font-style:normal;color:var(--soft)}"
    ".verdict li>*{display:block}.place{background:var(--band);border-left:4px solid var(--hot);"
    "border-radius:0 4px 4px 0;padding:.25em .7em;margin:.3em 0;color:var(--ink);"
    "text-decoration:none;overflow-wrap:anywhere}.place span{color:var(--link);font-weight:600;"
    "margin-right:.6em}.place:hover span{text-decoration:underline}"
    "tr:target th{background:var(--hot)}"
    "@media (max-width:600px){body{margin-top:1em}td,th{padding:.2em .5em}"
    "td:first-child,th:first-child{white-space:normal;min-width:9.5em}td:first-child.name{white-"
    "space:nowrap}.fit td:first-child,.fit th:first-child{min-width:6em}.more,[data-more],"
    ".fit:not(.one) td.bar svg{display:none}th:not([aria-sort]) button::after{content:none}"
    "td.strip{width:45%}}\n"
    "@media print{body{max-width:none;margin:0;font-size:11px}.wide,.plot{overflow:visible}"
    ".plot svg{min-width:0}td,th{white-space:normal;padding:.15em .4em}button.all{display:none}"
    "tr,svg,figure{break-inside:avoid}h2,h3{break-after:avoid}*{print-color-adjust:exact}}";

/* Drawings with text, and several runs side by side. */
static const char style_of_charts[] =
    ".multiples{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,21em),1fr));"
    "gap:1.2em 2em}figure{margin:0}figcaption{font-weight:600;margin:.3em 0}.multiples table{"
    "width:100%}.multiples td,.multiples th{border:0;padding:.05em .4em;white-space:nowrap}"
    ".multiples figure{overflow-x:auto}.multiples th{white-space:normal;overflow-wrap:break-word}"
    ".multiples td.bar{width:45%;min-width:5em}"
    "svg.bar rect.least{fill:var(--good)}td.least{color:var(--good);font-weight:600}td.most{"
    "color:var(--bad)}.cells thead th{overflow-wrap:break-word}.cells small{"
    "color:var(--soft);font-weight:400}"
    "svg.chart{display:block;width:100%;max-width:760px;min-width:440px;height:auto}"
    ".chart text{font:11px ui-monospace,monospace;fill:var(--ink)}.chart .tick,.chart "
    ".rooftext{fill:var(--soft)}.chart .grid{stroke:var(--line)}.chart .roof{stroke:var(--soft);"
    "stroke-width:2}.chart .dot{fill:var(--bar)}.chart .ring{fill:var(--paper);"
    "stroke:var(--bar);stroke-width:2}";

/* Makes heads of sortable tables into buttons, adds a button that opens all sections, and opens
 * them for printing. Without scripts, tables are in the order of the file and sections fold. */
static const char script[] =
    "(()=>{const all=(s,r)=>[...(r||document).querySelectorAll(s)];"
    "for(const table of all('table.sortable')){const heads=all('thead th',table);"
    "heads.forEach((th,at)=>{const b=document.createElement('button');b.type='button';"
    "b.append(...th.childNodes);th.append(b);b.addEventListener('click',()=>{"
    "const now=th.getAttribute('aria-sort'),up=now?now==='descending':at===0;"
    "heads.forEach(h=>h.removeAttribute('aria-sort'));"
    "th.setAttribute('aria-sort',up?'ascending':'descending');"
    "const body=table.tBodies[0],key=r=>{const v=r.cells[at].dataset.v;"
    "return v===undefined?r.cells[at].textContent:+v};"
    "const rows=[...body.rows].map((row,i)=>({row,key:key(row),i}));"
    "rows.sort((a,b)=>((a.key<b.key?-1:a.key>b.key?1:0)*(up?1:-1))||a.i-b.i);"
    "body.append(...rows.map(r=>r.row))})})}"
    "const folds=all('details');if(folds.length>1){const b=document.createElement('button');"
    "b.type='button';b.className='all';const say=()=>{b.textContent=folds.every(d=>d.open)?"
    "'Close all sections':'Open all sections'};say();b.addEventListener('click',()=>{"
    "const open=!folds.every(d=>d.open);folds.forEach(d=>d.open=open);say()});"
    "folds.forEach(d=>d.addEventListener('toggle',say));folds[0].before(b)}"
    "let closed=[];addEventListener('beforeprint',()=>{closed=folds.filter(d=>!d.open);"
    "closed.forEach(d=>d.open=true)});"
    "addEventListener('afterprint',()=>closed.forEach(d=>d.open=false))})()";

void wpi_page_begin(wpi_text *out, const char *title) {
    wpi_text_append(out, "<!DOCTYPE html>\n<html lang=en><head><meta charset=utf-8>"
                         "<meta name=viewport content=\"width=device-width,initial-scale=1\">");
    wpi_page_element(out, "title", title);
    wpi_text_appendf(out, "<style>%s%s%s</style></head><body><main>\n", style, style_of_reports,
                     style_of_charts);
}

void wpi_page_end(wpi_text *out) {
    wpi_text_appendf(out, "</main><script>%s</script>\n</body></html>\n", script);
}

void wpi_page_element(wpi_text *out, const char *tag, const char *text) {
    wpi_text_appendf(out, "<%s>", tag);
    wpi_text_append_html(out, text);
    wpi_text_appendf(out, "</%.*s>", (int)strcspn(tag, " "), tag);
}

void wpi_page_words(wpi_text *out, const char *text) {
    for (bool is_code = false; *text != '\0'; is_code = !is_code) {
        const size_t length = strcspn(text, "`");
        char *part = wpi_format("%.*s", (int)length, text);
        if (is_code) wpi_text_append(out, "<code>");
        wpi_text_append_html(out, part);
        if (is_code) wpi_text_append(out, "</code>");
        wpi_free(part);
        text += length + (text[length] == '`');
    }
}

void wpi_page_command(wpi_text *out, char *const *words, size_t count) {
    wpi_text_append(out, "<h1>");
    for (size_t i = 0; i < count; i++) {
        wpi_text_append(out, i != 0 ? " " : "");
        wpi_text_append_html(out, words[i]);
    }
    wpi_text_append(out, "</h1>\n");
}

void wpi_page_bar(wpi_text *out, double share) {
    const double width = share < 0 ? 0 : share > 1 ? 100 : 100 * share;
    wpi_text_appendf(out,
                     "<svg class=bar viewBox=\"0 0 100 1\" preserveAspectRatio=none "
                     "aria-hidden=true><rect width=\"%.4g\" height=1 /></svg>",
                     width);
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

void wpi_page_begin_wide(wpi_text *out, const char *label) {
    wpi_text_append(out, "<div class=wide tabindex=0 role=group aria-label=\"");
    wpi_text_append_html(out, label);
    wpi_text_append(out, "\">");
}

void wpi_page_begin_table(wpi_text *out, const char *title) {
    if (title != NULL) {
        wpi_page_element(out, "h2", title);
        wpi_text_append(out, "\n");
    }
    wpi_page_begin_wide(out, title != NULL ? title : "table");
    wpi_text_append(out, "<table>");
}

void wpi_page_end_table(wpi_text *out) {
    wpi_text_append(out, "</table></div>\n");
}

void wpi_page_begin_fold(wpi_text *out, const char *title, const char *what, bool is_open) {
    wpi_text_appendf(out, "<details%s><summary>", is_open ? " open" : "");
    wpi_page_element(out, "h2", title);
    if (what != NULL) wpi_page_element(out, "span", what);
    wpi_text_append(out, "</summary>\n");
}

void wpi_page_end_fold(wpi_text *out) {
    wpi_text_append(out, "</details>\n");
}

void wpi_page_plot(wpi_text *out, const char *title, const char *svg) {
    const char *drawing = strstr(svg, "<svg");
    if (drawing == NULL) return;
    wpi_page_element(out, "h2", title);
    wpi_page_drawing(out, title, svg);
}

void wpi_page_drawing(wpi_text *out, const char *label, const char *svg) {
    const char *drawing = strstr(svg, "<svg");
    if (drawing == NULL) return;
    wpi_text_append(out, "\n<div class=plot tabindex=0 role=img aria-label=\"");
    wpi_text_append_html(out, label);
    wpi_text_appendf(out, "\">%s</div>\n", drawing);
}

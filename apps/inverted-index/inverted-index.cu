/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inverted index: which pages link to each URL. A thread reads a piece of an HTML file, character by
 * character through a state machine, and inserts the pair (URL, path of the file) for each link into
 * a multi-valued table that may be larger than device memory (warpage/table.h). Characters of
 * different pieces take different cases of the machine's switch, so that threads of a warp diverge.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/report.h"
#include "inverted-index/html.h"
#include "sepo/sepo.h"

/* ---- the kernel ----------------------------------------------------------------------------- */

enum state {
    IN_TEXT,
    TAG_OPEN,      /* behind '<' */
    TAG_BANG,      /* behind "<!" */
    TAG_BANG_DASH, /* behind "<!-" */
    TAG_NAME,
    IN_TAG, /* between attributes */
    ATTRIBUTE,
    BEHIND_ATTRIBUTE, /* blanks, then perhaps '=' */
    BEFORE_VALUE,
    IN_DOUBLE_QUOTES,
    IN_SINGLE_QUOTES,
    IN_VALUE,
    IN_COMMENT,
    IN_SCRIPT, /* or style sheet */
};

typedef struct machine {
    enum state state;
    uint32_t name_bytes;  /* of the tag, or of the attribute */
    uint64_t name;        /* its first 8 letters, small ones */
    uint32_t value;       /* where the value begins */
    uint32_t link, outer; /* the tag's href: [link, outer); outer is 0: none yet */
    uint32_t dashes;      /* of a comment, in a row */
    uint64_t tag;
    uint32_t tag_bytes;
    uint64_t recent; /* IN_SCRIPT: the last 8 characters, small ones */
} machine;

static __host__ __device__ __forceinline__ bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f';
}
static __host__ __device__ __forceinline__ bool is_letter(char c) {
    return (unsigned char)((c | 0x20) - 'a') < 26;
}

/* Letters as a number, the last in the lowest byte. */
static __host__ __device__ constexpr uint64_t spelled(const char *word) {
    uint64_t letters = 0;
    for (int i = 0; word[i] != '\0'; i++) {
        letters = letters << 8 | (unsigned char)word[i];
    }
    return letters;
}

static __host__ __device__ __forceinline__ void add_letter(machine *m, char c) {
    m->name = m->name << 8 | (unsigned char)(is_letter(c) ? c | 0x20 : c);
    m->name_bytes++;
}

static __host__ __device__ __forceinline__ void begin_name(machine *m, enum state state, char c) {
    m->state = state;
    m->name = 0;
    m->name_bytes = 0;
    add_letter(m, c);
}

static __host__ __device__ __forceinline__ bool is_named(uint64_t name, uint32_t bytes, uint64_t word,
                                                uint32_t word_bytes) {
    return bytes == word_bytes && name == word;
}

/* Behind a tag's '>'. True: it was a link. */
static __host__ __device__ __forceinline__ bool end_tag(machine *m) {
    const bool is_raw = is_named(m->tag, m->tag_bytes, spelled("script"), 6) ||
                        is_named(m->tag, m->tag_bytes, spelled("style"), 5);
    m->state = is_raw ? IN_SCRIPT : IN_TEXT;
    m->recent = 0;
    return is_named(m->tag, m->tag_bytes, spelled("a"), 1) && m->outer != 0;
}

static __host__ __device__ __forceinline__ void end_value(machine *m, uint32_t at) {
    if (m->outer == 0 && at != m->value && is_named(m->name, m->name_bytes, spelled("href"), 4)) {
        m->link = m->value;
        m->outer = at;
    }
}

/* The next character, which is at `at`. True: a tag with a link has ended. */
static __host__ __device__ __forceinline__ bool step(machine *m, char c, uint32_t at) {
    switch (m->state) {
    case IN_TEXT:
        if (c == '<') {
            m->state = TAG_OPEN;
        }
        break;
    case TAG_OPEN:
        m->outer = 0;
        if (c == '!') {
            m->state = TAG_BANG;
            m->tag_bytes = 0;
        } else if (is_letter(c) || c == '/' || c == '?') {
            begin_name(m, TAG_NAME, c);
        } else if (c != '<') {
            m->state = IN_TEXT;
        }
        break;
    case TAG_BANG:
    case TAG_BANG_DASH:
        if (c == '-') {
            m->state = m->state == TAG_BANG ? TAG_BANG_DASH : IN_COMMENT;
            m->dashes = 0;
            break;
        }
        begin_name(m, TAG_NAME, '!');
        /* fall through */
    case TAG_NAME:
        if (c == '>' || is_blank(c) || c == '/') {
            m->tag = m->name;
            m->tag_bytes = m->name_bytes;
            m->state = IN_TAG;
            if (c == '>') {
                return end_tag(m);
            }
        } else {
            add_letter(m, c);
        }
        break;
    case IN_TAG:
        if (c == '>') {
            return end_tag(m);
        }
        if (c == '=' || is_blank(c) || c == '/') {
            break;
        }
        begin_name(m, ATTRIBUTE, c);
        break;
    case ATTRIBUTE:
        if (c != '=' && c != '>' && c != '/' && !is_blank(c)) {
            add_letter(m, c);
            break;
        }
        m->state = BEHIND_ATTRIBUTE;
        /* fall through */
    case BEHIND_ATTRIBUTE:
        if (c == '=') {
            m->state = BEFORE_VALUE;
        } else if (c == '>') {
            return end_tag(m);
        } else if (c == '/') {
            m->state = IN_TAG;
        } else if (!is_blank(c)) {
            begin_name(m, ATTRIBUTE, c);
        }
        break;
    case BEFORE_VALUE:
        if (is_blank(c)) {
            break;
        }
        m->value = c == '"' || c == '\'' ? at + 1 : at;
        m->state = c == '"' ? IN_DOUBLE_QUOTES : c == '\'' ? IN_SINGLE_QUOTES : IN_VALUE;
        if (c != '>') {
            break;
        }
        /* fall through */
    case IN_VALUE:
        if (c == '>' || is_blank(c)) {
            end_value(m, at);
            m->state = IN_TAG;
            if (c == '>') {
                return end_tag(m);
            }
        }
        break;
    case IN_DOUBLE_QUOTES:
    case IN_SINGLE_QUOTES:
        if (c == (m->state == IN_DOUBLE_QUOTES ? '"' : '\'')) {
            end_value(m, at);
            m->state = IN_TAG;
        }
        break;
    case IN_COMMENT:
        if (c == '>' && m->dashes >= 2) {
            m->state = IN_TEXT;
        }
        m->dashes = c == '-' ? m->dashes + 1 : 0;
        break;
    case IN_SCRIPT:
        m->recent = m->recent << 8 | (unsigned char)(is_letter(c) ? c | 0x20 : c);
        if (m->recent == spelled("</script") ? m->tag_bytes == 6
                                             : (m->recent & 0xffffffffffffff) ==
                                                       spelled("</style") &&
                                                   m->tag_bytes == 5) {
            m->name = 0; /* no name that counts */
            m->name_bytes = m->tag_bytes + 1;
            m->state = TAG_NAME; /* the closing tag */
            m->outer = 0;
        }
        break;
    }
    return false;
}

static __host__ __device__ __forceinline__ void index_piece(const app_sepo_chunk *chunk,
                                                            const app_sepo_none *none,
                                                            const char *text, uint64_t bytes,
                                                            wp_attempt *attempt) {
    uint32_t path_bytes = 0;
    (void)none;
    while (text[path_bytes] != '\n') {
        path_bytes++;
    }
    machine m = {};
    for (uint32_t at = path_bytes + 1; at < bytes; at++) {
        if (step(&m, text[at], at)) {
            wp_table_emit(&chunk->table, attempt, text + m.link, m.outer - m.link, text,
                          path_bytes);
        }
    }
}

APP_SEPO_KERNEL(index_links, index_piece, app_sepo_none)

/* ---- result --------------------------------------------------------------------------------- */

static bool check(const html *pages, app_pairs *got) {
    app_pairs wanted = {};
    for (uint64_t i = 0; i < pages->count; i++) {
        const char *path = pages->records + pages->starts[i],
                   *end = pages->records + pages->starts[i + 1],
                   *line_end = (const char *)memchr(path, '\n', (size_t)(end - path)),
                   *p = line_end, *link;
        uint32_t link_bytes;
        while (app_html_link(&p, end, &link, &link_bytes)) {
            app_pairs_add(&wanted, link, link_bytes, path, (uint64_t)(line_end - path));
        }
    }
    const bool is_right = app_pairs_check(got, &wanted, "links");
    app_pairs_free(&wanted);
    return is_right;
}

int main(int argc, char **argv) {
    const app_program program = {"inverted-index", "which HTML pages link to each URL",
                                 "bytes of HTML", "an HTML file, or a tar archive of them (also .zst)",
                                 "inverted-index --size 4MiB --heap 256KiB --check"};
    app_common common = {NULL, {0, false}, 1, APP_MEMORY_COPY, false};
    app_sepo_options how = APP_SEPO_DEFAULTS;
    uint64_t top = 10;
    const app_option options[] = {
        {"--table", APP_OPTION_CHOICE, &how.table, APP_SEPO_TABLES_AND_THREADS, 0, 0,
         "where keys and values are; " APP_SEPO_TABLES_HELP APP_SEPO_THREADS_HELP},
        APP_SEPO_SIZE_ROWS(how),
        APP_SEPO_WORKERS_ROW(how),
        {"--top", APP_OPTION_COUNT, &top, "N", 1, 1e6, "URLs to print"},
        {NULL, APP_OPTION_FLAG, NULL, NULL, 0, 0, NULL}};
    app_options_parse(argc, argv, &program, &common, options);
    app_sepo_check_options(&common, &how);
    html pages = {};
    const uint64_t bytes = app_size_items(common.size, 1.0, 1 << 20, 1, UINT64_C(1) << 42);
    if (common.input != NULL) {
        app_html_read(&pages, common.input, common.size.value != 0 ? bytes : 0, common.seed);
    } else {
        app_html_generate(&pages, bytes, common.seed);
    }
    app_device device;
    app_device_open(&device, common.memory);
    const app_sepo_none none = {};
    app_sepo_records input = {};
    input.records = pages.records;
    input.count = pages.count;
    input.starts = pages.starts;
    input.pairs = pages.links != 0 ? pages.links : 1;
    input.table.organisation = WP_TABLE_MULTIVALUED;
    input.kernel = index_links;
    input.argument = &none;
    wp_table *table = app_sepo_insert(&device, &how, &input);
    app_pairs pairs = {}, counts = {};
    app_pairs_read(&pairs, table);
    app_pairs_count(&pairs, &counts);
    printf("pages      %s: %s files, %s bytes\n", pages.title, app_count(pages.files),
           app_count(pages.bytes));
    printf("links      %s to %s URLs\n", app_count(pairs.count), app_count(counts.count));
    app_pairs_print(&counts, top, "links", "URL");
    app_sepo_report(&device, &how, (double)pages.bytes);
    const bool is_right = !common.check || check(&pages, &pairs);
    app_pairs_free(&pairs);
    app_pairs_free(&counts);
    app_sepo_close(table);
    app_device_close(&device);
    app_html_free(&pages);
    return is_right ? 0 : 1;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Ready-made partitioners. Each looks at the text from its first byte on: a record is within the
 * rest of a file, so none is ever cut. */
#include <string.h>

#include "warpage/mapreduce.h"

static wp_cut_answer bad(wp_cut *out, const char *problem) {
    out->problem = problem;
    return WP_CUT_BAD;
}

/* The line at text[at]: its length without line end; *next is where the following line starts. */
static uint64_t line_at(const char *text, uint64_t bytes, uint64_t at, uint64_t *next) {
    const char *end = memchr(text + at, '\n', bytes - at);
    uint64_t outer = end == NULL ? bytes : (uint64_t)(end - text);
    *next = end == NULL ? bytes : outer + 1;
    if (outer > at && text[outer - 1] == '\r') outer--;
    return outer - at;
}

static wp_cut_answer cut_line(const wp_partitioner *p, const char *text, uint64_t bytes,
                              wp_cut *out) {
    (void)p;
    out->first = 0;
    out->bytes = line_at(text, bytes, 0, &out->used);
    return WP_CUT_RECORD;
}

wp_partitioner wp_partition_lines(void) {
    return (wp_partitioner){.cut = cut_line};
}

static wp_cut_answer cut_fixed(const wp_partitioner *p, const char *text, uint64_t bytes,
                               wp_cut *out) {
    (void)text;
    if (p->number == 0) return bad(out, "records of fixed length need at least one byte each");
    if (bytes < p->number) return bad(out, "the file ends within a record of fixed length");
    out->first = 0;
    out->bytes = out->used = p->number;
    return WP_CUT_RECORD;
}

wp_partitioner wp_partition_fixed(uint64_t record_bytes) {
    return (wp_partitioner){.cut = cut_fixed, .number = record_bytes};
}

static wp_cut_answer cut_sized(const wp_partitioner *p, const char *text, uint64_t bytes,
                               wp_cut *out) {
    uint32_t size = 0;
    (void)p;
    if (bytes < sizeof size) return bad(out, "the input ends within the size of a record");
    memcpy(&size, text, sizeof size);
    if (size < sizeof size) return bad(out, "the size of a record is less than its own 4 bytes");
    if (size > bytes) return bad(out, "the input ends within a record, by its size");
    out->first = 0;
    out->bytes = out->used = size;
    return WP_CUT_RECORD;
}

wp_partitioner wp_partition_sized(void) {
    return (wp_partitioner){.cut = cut_sized};
}

static wp_cut_answer cut_file(const wp_partitioner *p, const char *text, uint64_t bytes,
                              wp_cut *out) {
    (void)p;
    (void)text;
    out->first = 0;
    out->bytes = out->used = bytes;
    return WP_CUT_RECORD;
}

wp_partitioner wp_partition_files(void) {
    return (wp_partitioner){.cut = cut_file};
}

/* The first byte that is no line end. */
static uint64_t skip_empty(const char *text, uint64_t bytes) {
    uint64_t at = 0;
    while (at < bytes && (text[at] == '\n' || text[at] == '\r'))
        at++;
    return at;
}

static wp_cut_answer cut_fasta(const wp_partitioner *p, const char *text, uint64_t bytes,
                               wp_cut *out) {
    (void)p;
    const uint64_t first = skip_empty(text, bytes);
    uint64_t at = first, end = first;
    if (first == bytes) return WP_CUT_END;
    if (text[first] != '>') return bad(out, "a FASTA file begins with '>'");
    do {
        uint64_t next;
        const uint64_t line = line_at(text, bytes, at, &next);
        if (line != 0) end = at + line;
        at = next;
    } while (at < bytes && text[at] != '>');
    out->first = first;
    out->bytes = end - first;
    out->used = at;
    return WP_CUT_RECORD;
}

wp_partitioner wp_partition_fasta(void) {
    return (wp_partitioner){.cut = cut_fasta};
}

static wp_cut_answer cut_fastq(const wp_partitioner *p, const char *text, uint64_t bytes,
                               wp_cut *out) {
    (void)p;
    const uint64_t first = skip_empty(text, bytes);
    uint64_t at = first, next = first, lengths[4];
    if (first == bytes) return WP_CUT_END;
    for (int line = 0; line < 4; line++) {
        if (next == bytes) return bad(out, "the file ends within a read: a read has four lines");
        at = next;
        lengths[line] = line_at(text, bytes, at, &next);
        if (line == 0 && text[at] != '@') return bad(out, "a read of a FASTQ file begins with '@'");
        if (line == 2 && text[at] != '+')
            return bad(out, "the third line of a read begins with '+'");
    }
    if (lengths[1] != lengths[3])
        return bad(out, "a read has a different number of bases and qualities");
    out->first = first;
    out->bytes = at + lengths[3] - first;
    out->used = next;
    return WP_CUT_RECORD;
}

wp_partitioner wp_partition_fastq(void) {
    return (wp_partitioner){.cut = cut_fastq};
}

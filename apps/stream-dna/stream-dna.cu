/* SPDX-License-Identifier: Apache-2.0 */
/*
 * DNA assembly, its first stage: the k bases in the middle of each fragment are counted in a hash
 * table, with the bases that were seen before and behind them. A k-mer and its reverse complement
 * are one, as a fragment may come from either strand. Of a record of 100 bytes the kernel reads the
 * 36 of the fragment.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/names.h"
#include "common/random.h"
#include "common/report.h"
#include "common/room.h"
#include "common/text.h"
#include "stream-dna/dna.h"
#include "streaming/growth.h"
#include "streaming/streaming.h"
#include "streaming/table.h"

typedef struct dna {
    app_table kmers; /* note: bit b: base b was before the k-mer; bit 4 + b: behind it */
    unsigned long long *unclear; /* fragments with other letters than A, C, G, T */
    uint32_t k;                  /* odd, so that no k-mer is its own reverse complement */
    unsigned blocks, threads;
} dna;

static __host__ __device__ __forceinline__ void
take_fragment(const record *r, uint32_t k, const app_table kmers, uint32_t *unclear) {
    const uint32_t start = (BASES - k) / 2;
    unsigned long long forward = 0, backward = 0;
    uint32_t before = 0, behind = 0, is_unclear = 0;
    for (uint32_t i = 0; i < BASES; i++) {
        const uint32_t letter = (unsigned char)r->bases[i] | 0x20u;
        const uint32_t base = letter >> 1 & 3u;
        is_unclear |= letter != 'a' && letter != 'c' && letter != 'g' && letter != 't';
        if (i + 1 == start) {
            before = base;
        } else if (i == start + k) {
            behind = base;
        } else if (i >= start && i < start + k) {
            forward = forward << 2 | base;
            backward |= (unsigned long long)(base ^ COMPLEMENT) << 2 * (i - start);
        }
    }
    if (is_unclear) {
        *unclear += 1;
        return;
    }
    const bool is_backward = backward < forward;
    const uint32_t edges = is_backward ? 1u << (behind ^ COMPLEMENT) | 16u << (before ^ COMPLEMENT)
                                       : 1u << before | 16u << behind;
    app_table_entry *entry = app_table_put(kmers, (is_backward ? backward : forward) + 1);
    app_add(&entry->count, 1);
    app_or(&entry->note, edges);
}

static __global__ void count_kmers(const record *records, uint64_t count, uint32_t k,
                                   app_table_entry *entries, uint64_t mask,
                                   unsigned long long *unclear) {
    const app_table kmers = {entries, mask};
    const uint64_t threads = (uint64_t)gridDim.x * blockDim.x;
    const uint64_t thread = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
    const uint64_t each = (count + threads - 1) / threads;
    const uint64_t start = thread * each;
    const uint64_t end = start + each < count ? start + each : count;
    uint32_t unclear_here = 0;
    for (uint64_t i = start; i < end; i++) {
        take_fragment(&records[i], k, kmers, &unclear_here);
    }
    app_add(unclear, unclear_here);
}

static void launch(void *object, void *records, uint64_t first, uint64_t count,
                   cudaStream_t stream) {
    (void)first;
    const dna *d = (const dna *)object;
    count_kmers<<<d->blocks, d->threads, 0, stream>>>((const record *)records, count, d->k,
                                                      d->kmers.entry, d->kmers.mask, d->unclear);
}

static void on_host(void *object, void *records, uint64_t first, uint64_t outer) {
    const dna *d = (const dna *)object;
    uint32_t unclear = 0;
    for (uint64_t i = first; i < outer; i++) {
        take_fragment((const record *)records + i, d->k, d->kmers, &unclear);
    }
    app_add(d->unclear, unclear);
}

/* ---- input ---- */

/* Either fragments, as a sequencer gave them, or a genome, to cut fragments from. */
typedef struct sample {
    char *fragment, *quality; /* [count * BASES]; NULL: a genome */
    uint64_t count;
    char *genome;
    uint64_t genome_bases;
    char title[160];
} sample;

static void add_read(sample *s, uint64_t *capacity, const char *bases, const char *quality,
                     size_t length, const char *path) {
    for (; length >= BASES; length -= BASES, bases += BASES, quality += BASES) {
        if (s->count == *capacity) {
            *capacity = *capacity != 0 ? 2 * *capacity : 4096;
            s->fragment = (char *)app_room_resize(s->fragment, *capacity, BASES, path);
            s->quality = (char *)app_room_resize(s->quality, *capacity, BASES, path);
        }
        memcpy(s->fragment + s->count * BASES, bases, BASES);
        memcpy(s->quality + s->count++ * BASES, quality, BASES);
    }
}

/* FASTQ, four lines a read: "@name", bases, "+", quality. The first line has been read. */
static void read_fastq(sample *s, app_text *text) {
    uint64_t capacity = 0;
    char *line, *bases = NULL;
    size_t length, bases_length;
    do {
        if (!app_text_line(text, &line, &length)) {
            app_text_fail(text, "a read has no bases");
        }
        bases = (char *)app_reallocate(bases, length + 1, 1, app_text_path(text));
        memcpy(bases, line, length + 1);
        bases_length = length;
        if (!app_text_line(text, &line, &length) || *line != '+' ||
            !app_text_line(text, &line, &length) || length != bases_length) {
            app_text_fail(text, "expected a line with + and one with as many letters as bases");
        }
        add_read(s, &capacity, bases, line, bases_length, app_text_path(text));
    } while (app_text_line(text, &line, &length) && *line == '@');
    free(bases);
    if (s->count == 0) {
        app_fail("%s has no read of %d bases or more", app_text_path(text), BASES);
    }
}

/* FASTA: lines of bases; others begin with > and are passed over. The first line has been read. */
static void read_fasta(sample *s, app_text *text) {
    uint64_t capacity = 0;
    char *line;
    size_t length;
    while (app_text_line(text, &line, &length)) {
        if (*line == '>' || *line == ';') {
            continue;
        }
        if (capacity - s->genome_bases < length) {
            capacity = 2 * capacity + length + 65536;
            s->genome = (char *)app_room_resize(s->genome, capacity, 1, app_text_path(text));
        }
        memcpy(s->genome + s->genome_bases, line, length);
        s->genome_bases += length;
    }
    if (s->genome_bases < BASES) {
        app_fail("%s has fewer than %d bases", app_text_path(text), BASES);
    }
}

static void read_sample(sample *s, const char *path) {
    app_text *text = app_text_open(path);
    char *line;
    size_t length;
    const bool has_line = app_text_line(text, &line, &length);
    if (has_line && *line == '@') {
        read_fastq(s, text);
    } else if (has_line && *line == '>') {
        read_fasta(s, text);
    } else {
        app_fail("%s is neither FASTQ (its first line begins with @) nor FASTA (with >)", path);
    }
    app_text_close(text);
    const char *slash = strrchr(path, '/');
    snprintf(s->title, sizeof s->title, "%.150s", slash != NULL ? slash + 1 : path);
}

/* So many bases that five fragments begin at each. */
static void generate_genome(sample *s, uint64_t count, uint64_t seed) {
    s->genome_bases = count / 5 + 10 * BASES;
    s->genome = (char *)app_room_create(s->genome_bases, 1, "the genome");
    for (uint64_t i = 0; i < s->genome_bases; i++) {
        s->genome[i] = "ACTG"[app_random_at(seed, i) & 3u];
    }
    snprintf(s->title, sizeof s->title, "generated, seed %llu", (unsigned long long)seed);
}

static char complement(char base) {
    static const char from[] = "ACGTacgt", to[] = "TGCAtgca";
    const char *at = base != '\0' ? strchr(from, base) : NULL;
    return at != NULL ? to[at - from] : base;
}

/* A fragment from anywhere in the genome and from either strand; of 500 bases one is read wrong,
 * and of 50,000 one is unclear. */
static void cut_fragment(const sample *s, uint64_t number, uint64_t seed, record *r) {
    app_random random = {app_random_at(seed + 1, number), 0};
    const uint64_t starts = s->genome_bases - BASES + 1;
    const char *from = s->genome + app_random_next(&random) % starts;
    const bool is_backward = app_random_below(&random, 2) != 0;
    for (int i = 0; i < BASES; i++) {
        const uint32_t luck = app_random_below(&random, 50000);
        char base = is_backward ? complement(from[BASES - 1 - i]) : from[i];
        base = luck == 0 ? 'N' : luck < 100 ? "ACTG"[luck & 3u] : base;
        r->bases[i] = base;
        r->quality[i] = luck < 100 ? '#' : 'F';
    }
}

/* The k-mer of copy `copy`, if it has a name of its own: three bases change. */
static void rename_kmer(char *kmer, uint32_t k, uint32_t number, uint64_t copy, uint64_t seed) {
    app_random random = {app_random_at(seed + copy, number), 0};
    for (int change = 0; change < 3; change++) {
        char *base = &kmer[app_random_below(&random, k)];
        *base = "ACTG"[(((uint32_t)*base >> 1 & 3u) + 1 + app_random_below(&random, 3)) & 3u];
    }
}

static record *make_records(const sample *s, uint64_t count, uint32_t k, uint64_t seed) {
    record *records = (record *)app_room_create(count, sizeof *records, "the records");
    const uint32_t start = (BASES - k) / 2;
    uint32_t *number = NULL; /* of each fragment's k-mer */
    app_growth growth = {};
    if (s->genome == NULL && count > s->count) {
        app_names names = {};
        number = (uint32_t *)app_allocate(s->count, sizeof *number, "the fragments");
        for (uint64_t i = 0; i < s->count; i++) {
            number[i] = app_names_number(&names, s->fragment + i * BASES + start, k);
        }
        growth = app_growth_measure(number, s->count, names.count, seed);
        app_names_free(&names);
    }
    for (uint64_t i = 0; i < count; i++) {
        record *r = &records[i];
        char name[sizeof r->name + 1];
        if (s->genome != NULL) {
            cut_fragment(s, i, seed, r);
        } else {
            const uint64_t row = i % s->count, copy = i / s->count;
            memcpy(r->bases, s->fragment + row * BASES, BASES);
            memcpy(r->quality, s->quality + row * BASES, BASES);
            if (copy != 0 && app_growth_renames(&growth, number[row], copy)) {
                rename_kmer(r->bases + start, k, number[row], copy, seed);
            }
        }
        snprintf(name, sizeof name, "fragment %-19llu", (unsigned long long)i);
        memcpy(r->name, name, sizeof r->name);
    }
    free(number);
    app_growth_free(&growth);
    return records;
}

/* ---- results ---- */

static bool is_one_bit(uint32_t bits) {
    return bits != 0 && (bits & (bits - 1)) == 0;
}

static void print_kmers(const app_table_entry *kmers, uint64_t count, uint64_t unclear,
                        uint32_t k) {
    uint64_t classes[33] = {0}, most = 1, single = 0, unique = 0, fragments = 0;
    int last = 0;
    for (uint64_t i = 0; i < count; i++) {
        int class_number = 0; /* counts from 2^(c - 1) + 1 to 2^c */
        while ((UINT64_C(1) << class_number) < kmers[i].count) {
            class_number++;
        }
        classes[class_number]++;
        most = classes[class_number] > most ? classes[class_number] : most;
        last = class_number > last ? class_number : last;
        single += kmers[i].count == 1;
        unique +=
            kmers[i].count > 1 && is_one_bit(kmers[i].note & 15u) && is_one_bit(kmers[i].note >> 4);
        fragments += kmers[i].count;
    }
    char title[16];
    snprintf(title, sizeof title, "%u-mers", k);
    printf("%-10s %s different in %s fragments; %s fragments are unclear\n", title,
           app_count(count), app_count(fragments), app_count(unclear));
    printf("noise      %s were seen once\n", app_count(single));
    printf("edges      %s others have one base before and one behind\n\n", app_count(unique));
    printf("     times seen       %2u-mers\n", k);
    for (int c = 0; c <= last && count != 0; c++) {
        char range[40];
        const uint64_t low = c == 0 ? 1 : (UINT64_C(1) << (c - 1)) + 1, high = UINT64_C(1) << c;
        if (low == high) {
            snprintf(range, sizeof range, "%s", app_count(low));
        } else {
            snprintf(range, sizeof range, "%s-%s", app_count(low), app_count(high));
        }
        printf("%15s %13s  ", range, app_count(classes[c]));
        app_bar(stdout, (double)classes[c] / (double)most, 24);
        putchar('\n');
    }
    putchar('\n');
}

/* Counts in a table of one piece, by a variant of streaming. */
static app_table_entry *count_whole(const app_streaming *job, dna *task, int variant, uint64_t keys,
                                    uint64_t *found, unsigned long long *unclear,
                                    app_streaming_times *times) {
    app_state table, counter;
    task->kmers = app_table_create(&table, variant, keys, "k-mers");
    app_state_create(&counter, variant, NULL, sizeof *unclear, "a counter");
    task->unclear = (unsigned long long *)counter.data;
    app_streaming_run(job, variant, times);
    app_table_entry *kmers = app_table_take(&table, found, "--keys");
    unsigned long long *copy = (unsigned long long *)app_state_copy(&counter);
    *unclear = *copy;
    free(copy);
    app_state_free(&table);
    app_state_free(&counter);
    return kmers;
}

int main(int argc, char **argv) {
    const app_program program = {
        "stream-dna", "k-mers of DNA fragments, over records that need not fit the GPU",
        "records: fragments of 36 bases, or bytes such as 1GiB",
        "FASTQ, whose reads are cut into fragments, or FASTA, a genome (also .zst)",
        "stream-dna --size 500K --variant full --check"};
    app_common common = {NULL, {0, false}, 1, APP_MEMORY_COPY, false};
    app_streaming_options how = APP_STREAMING_DEFAULTS;
    app_sepo_options sepo = APP_SEPO_DEFAULTS;
    uint64_t k = 31, keys = 0;
    int table_kind = 0;
    const app_option options[] = {
        APP_STREAMING_ROWS(how),
        {"--table", APP_OPTION_CHOICE, &table_kind, "whole|" APP_SEPO_TABLES_AND_THREADS, 0, 0,
         "whole: a hash table in device memory, filled by --variant. Else the records in chunks, and "
         "a table that is, " APP_SEPO_TABLES_HELP APP_SEPO_THREADS_HELP},
        APP_SEPO_SIZE_ROWS(sepo),
        APP_SEPO_WORKERS_ROW(sepo),
        {"--k", APP_OPTION_COUNT, &k, "K", 3, 31, "bases that are counted together, odd"},
        {"--keys", APP_OPTION_COUNT, &keys, "N", 0, 1e10,
         "k-mers that the table is made for; 0: one for four fragments"},
        {NULL, APP_OPTION_FLAG, NULL, NULL, 0, 0, NULL}};
    app_options_parse(argc, argv, &program, &common, options);
    sepo.table = table_kind - 1;
    if (table_kind != 0) {
        app_sepo_check_options(&common, &sepo);
    } else {
        app_sepo_check_unused(&sepo, false);
    }
    app_streaming job = {};
    app_streaming_set(&job, &how);
    if (k % 2 == 0) {
        app_fail_usage("--k must be odd, so that no k-mer is its own reverse complement, not %llu",
                       (unsigned long long)k);
    }

    sample input = {};
    uint64_t count = app_size_items(common.size, sizeof(record), 100000, 1, UINT64_C(1) << 40);
    if (common.input != NULL) {
        read_sample(&input, common.input);
        count = common.size.value == 0 && input.genome == NULL ? input.count : count;
    } else {
        generate_genome(&input, count, common.seed);
    }
    record *records = make_records(&input, count, (uint32_t)k, common.seed);
    keys = keys != 0 ? keys : count / 4 + 1024;

    dna task = {};
    task.k = (uint32_t)k;
    task.blocks = (unsigned)how.blocks;
    task.threads = (unsigned)how.threads;
    job.records = records;
    job.count = count;
    job.record_bytes = sizeof *records;
    job.launch = launch;
    job.on_host = on_host;
    job.object = &task;
    app_streaming_times times = {};
    uint64_t found;
    unsigned long long unclear_count = 0;
    app_table_entry *kmers =
        table_kind != 0
            ? app_dna_insert(records, count, task.k, &sepo, &found, &unclear_count)
            : count_whole(&job, &task, how.variant, keys, &found, &unclear_count, &times);
    printf("sample     %s: ", input.title);
    if (input.genome != NULL) {
        printf("genome of %s bases\n", app_count(input.genome_bases));
    } else {
        printf("%s fragments\n", app_count(input.count));
    }
    printf("records    %s of %zu bytes\n", app_count(count), sizeof *records);
    print_kmers(kmers, found, unclear_count, (uint32_t)k);
    if (table_kind == 0) {
        app_streaming_report(&job, how.variant, &times);
    }
    uint64_t different = 0;
    if (common.check) {
        app_state serial;
        app_streaming_times ignored = {};
        unsigned long long serial_unclear = 0;
        uint64_t serial_found;
        task.kmers = app_table_create(&serial, APP_STREAMING_SERIAL,
                                      table_kind != 0 ? count + 1 : keys, "k-mers");
        task.unclear = &serial_unclear;
        app_streaming_run(&job, APP_STREAMING_SERIAL, &ignored);
        app_table_entry *serial_kmers = app_table_take(&serial, &serial_found, "--keys");
        different = app_table_compare(kmers, found, serial_kmers, serial_found) +
                    (serial_unclear != unclear_count);
        printf("check      counts and edges of %s k-mers against a serial computation: %s, %s "
               "differ\n",
               app_count(serial_found), different == 0 ? "equal" : "DIFFERENT",
               app_count(different));
        free(serial_kmers);
        app_state_free(&serial);
    }
    free(kmers);
    app_room_free(records);
    app_room_free(input.fragment);
    app_room_free(input.quality);
    app_room_free(input.genome);
    return different == 0 ? 0 : 1;
}

/* SPDX-License-Identifier: Apache-2.0 */
/**
 * MapReduce over inputs and results that may be larger than device memory (Mokhtari, thesis,
 * section 6.5).
 *
 *     files ─partitioner─► records ─chunks─► kernel: map ─wp_emit─► table ─► result, in host memory
 *
 * The partitioner cuts the input into records on the host. Chunks of records are copied to the
 * device; two chunks take turns, so that one is copied while the other is mapped. A kernel calls
 * `map` once for each record, in a thread of its own, and `map` emits any number of pairs of a key
 * and a value. Pairs go into the table of warpage/table.h:
 *
 *     WP_MAP_REDUCE   values of a key are combined as they are emitted (a combining table)
 *     WP_MAP_GROUP    a key has the list of its values (a multi-valued table); finished lists can
 * be reduced to one value of any size, by a host function or by a kernel
 *
 * A program is a `.cu` file with the callbacks, and a `main`:
 *
 *     static __device__ void map_line(const wp_map_record *line, wp_emitter *to) {
 *         …
 *         wp_emit(to, word, word_bytes, &one, sizeof one);
 *     }
 *     WP_MAPREDUCE(count_words, map_line)
 *
 *     wp_mapreduce_spec spec = WP_MAPREDUCE_SPEC_INIT;
 *     spec.program = &count_words;
 *     spec.partitioner = wp_partition_lines();
 *     spec.paths = paths;              spec.path_count = count;
 *     wp_mapreduce_run(wp_cudart_device(), &spec, &job, &err);
 *     wp_mapreduce_write(job, "counts.txt", WP_OUTPUT_NUMBERS, &err);
 *
 * `map` may run several times for a record: a record some of whose pairs were postponed runs again
 * in the next pass, and one that emits more than a pair for each two bytes runs twice in the first.
 * So it must emit the same pairs in the same order each time, and do nothing else. Pairs are
 * numbered in order of emission; those that are in the table are known by number. A record that
 * emits differently when it runs again ends the job with its name.
 *
 * Thread rule: one thread of the host on one job. Ownership: `_run` gives a job that `_close`
 * releases (NULL allowed). Input files must not change during the run.
 *
 * How it works: docs/rooms/mapreduce.md.
 */
#ifndef WARPAGE_MAPREDUCE_H
#define WARPAGE_MAPREDUCE_H

#include "warpage/table.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- partitioners --------------------------------------------------------------------------- */

typedef enum wp_cut_answer {
    WP_CUT_RECORD = 0, /* there is a record */
    WP_CUT_END,        /* there is no further one: what is left is padding */
    WP_CUT_BAD         /* the text is malformed: wp_cut.problem */
} wp_cut_answer;

/** A record within a text. */
typedef struct wp_cut {
    uint64_t first, bytes; /* the record is text[first, first + bytes) */
    uint64_t used;         /* the next one is looked for from text[used] on; at least 1 */
    const char *problem;   /* BAD: what is wrong, static storage */
} wp_cut;

/** Cuts input into records. A record lies within one file. Write your own by naming a function. */
typedef struct wp_partitioner wp_partitioner;
struct wp_partitioner {
    /** Finds the first record of `text`, which goes on to the end of the file and is not empty. */
    wp_cut_answer (*cut)(const wp_partitioner *partitioner, const char *text, uint64_t bytes,
                         wp_cut *out);
    uint64_t number;    /* for `cut` */
    const void *object; /* for `cut` */
};

/** Lines, without LF or CR LF. An empty line is an empty record, so numbers are those of lines. */
WP_API wp_partitioner wp_partition_lines(void);
/** Records of `record_bytes` each. BAD: the last one is shorter. */
WP_API wp_partitioner wp_partition_fixed(uint64_t record_bytes);
/** Records of different lengths that begin with their size, as structures of C do: 4 bytes in the
 * host's order, these included. BAD: a size below 4, or beyond the end. */
WP_API wp_partitioner wp_partition_sized(void);
/** Each file is a record. */
WP_API wp_partitioner wp_partition_files(void);
/** Sequences of a FASTA file: from a '>' at the start of a line to the next one. BAD: the file
 * begins with something else. */
WP_API wp_partitioner wp_partition_fasta(void);
/** Reads of a FASTQ file: four lines each. BAD: a read that is cut off, does not begin with '@',
 * has no '+' line, or has more or fewer qualities than bases. */
WP_API wp_partitioner wp_partition_fastq(void);

/* ---- jobs ----------------------------------------------------------------------------------- */

typedef struct wp_map_batch wp_map_batch;
typedef struct wp_reduce_batch wp_reduce_batch;

/** What WP_MAPREDUCE makes of the callbacks. */
typedef struct wp_mapreduce_program {
    const char *name;
    /** Launches the kernel on the default stream. */
    wp_status (*launch)(const wp_map_batch *batch, wp_error *err);
    bool has_combine;
    /** Launches the kernel that reduces groups, on the default stream; NULL: there is none. */
    wp_status (*reduce)(const wp_reduce_batch *batch, wp_error *err);
} wp_mapreduce_program;

typedef enum wp_mapreduce_mode {
    WP_MAP_REDUCE = 0,
    WP_MAP_GROUP,
    WP_MAPREDUCE_MODE_COUNT
} wp_mapreduce_mode;

/** Some bytes. */
typedef struct wp_span {
    const void *data;
    uint64_t bytes;
} wp_span;

/** A key with all of its values. */
typedef struct wp_group {
    wp_span key;
    const wp_span *values; /* [count] */
    uint64_t count;
} wp_group;

typedef struct wp_mapreduce wp_mapreduce;

/** Reduces a finished group: gives the group its value by wp_reduce_set, or none, and the group is
 * left out. A status other than OK ends the job. */
typedef wp_status (*wp_reduce)(void *object, const wp_group *group, wp_mapreduce *job,
                               wp_error *err);
/** In a wp_reduce, once: the value of the group, which is copied. NOMEM. */
WP_NODISCARD WP_API wp_status wp_reduce_set(wp_mapreduce *job, const void *value, uint64_t bytes,
                                            wp_error *err);

/** How far a job is. */
typedef struct wp_mapreduce_progress {
    uint64_t pass; /* 1 is the first */
    uint64_t records, records_done;
    uint64_t pairs_postponed; /* in this pass, so far */
} wp_mapreduce_progress;

/** Zeros choose the default. */
typedef struct wp_mapreduce_spec {
    const wp_mapreduce_program *program; /* needed */
    wp_mapreduce_mode mode;
    wp_partitioner partitioner; /* needed */
    /* The input: files, plain or packed by gzip or zstd (which are unpacked in host memory); or
     * memory, where path_count is 0. */
    const char *const *paths;
    uint64_t path_count;
    const void *memory;
    uint64_t memory_bytes;
    /* Sizes of the table, and how MAP_REDUCE combines. Its organisation follows from the mode; a
     * program with a callback sets the combiner. If heap and page are 0, the page is 1/2^20 of free
     * device memory, from 16 to 256 KiB. */
    wp_table_spec table;
    const void *argument; /* passed to `map`: an address that is valid in kernels */
    uint32_t pairs_max; /* pairs of a record, at most; 0: any number. A record that emits more than
                         * WP_MAP_PAIRS_EXPECTED of its bytes then runs twice in the first pass */
    uint32_t threads;   /* of a block; 0: 256 */
    uint64_t chunk_bytes; /* of records that are on the device together; 0: 1/32 of free device
                           * memory, from 64 KiB to 8 MiB, or the longest record if that is more */
    wp_memory_kind chunk_memory; /* DEVICE: chunks are copied there; PINNED: kernels read and write
                                  * them in host memory; MANAGED: their pages migrate */
    wp_reduce reduce;            /* MAP_GROUP: NULL: groups stay as they are, unless the program has
                                  * a kernel that reduces them */
    void *reduce_object;
    bool is_ordered; /* the result is ordered by key, then by value, bytewise; else its order is not
                      * defined */
    /** Called after each chunk. */
    void (*progress)(void *object, const wp_mapreduce_progress *progress);
    void *progress_object;
} wp_mapreduce_spec;
#ifdef __cplusplus
#define WP_MAPREDUCE_SPEC_INIT                                                                     \
    {                                                                                              \
    }
#else
#define WP_MAPREDUCE_SPEC_INIT {0}
#endif

/** Runs a job to its end. INVALID: no program, no partitioner, no input, an empty file, a record
 * longer than the chunk or with more pairs than a chunk allows, a pair larger than the heap, values
 * of different sizes combined, a record that emits differently when it runs again, another kind of
 * chunk_memory; NOT_FOUND, IO; PARSE: damaged gzip or zstd, or a partitioner's problem; NOMEM,
 * DEVICE_NOMEM, and what the device reports. */
WP_NODISCARD WP_API wp_status wp_mapreduce_run(wp_device *device, const wp_mapreduce_spec *spec,
                                               wp_mapreduce **out, wp_error *err);
WP_API void wp_mapreduce_close(wp_mapreduce *job);

/** Prints progress on a line of stderr, if that is a terminal: for wp_mapreduce_spec.progress. */
WP_API void wp_mapreduce_show_progress(void *unused, const wp_mapreduce_progress *progress);

/* ---- results -------------------------------------------------------------------------------- */

/** Where an iteration is. All zeros: before the first pair. */
typedef struct wp_mapreduce_cursor {
    uint64_t index;
    wp_table_cursor table;
} wp_mapreduce_cursor;

/** The next pair; false: there is none. Pairs of a key follow one another. */
WP_API bool wp_mapreduce_next(const wp_mapreduce *job, wp_mapreduce_cursor *cursor,
                              wp_table_pair *out);
WP_API uint64_t wp_mapreduce_pair_count(const wp_mapreduce *job);
/** The table with the pairs as they were emitted, to search; the job's. */
WP_API wp_table *wp_mapreduce_table(const wp_mapreduce *job);

typedef enum wp_output {
    WP_OUTPUT_TEXT = 0, /* a line for each pair: key, tab, value, as they are */
    WP_OUTPUT_NUMBERS,  /* …: the value as an unsigned decimal number of 4 or 8 bytes */
    WP_OUTPUT_TABLE,    /* the file of wp_table_save: emitted pairs, not reduced, not ordered */
    WP_OUTPUT_COUNT
} wp_output;
/** Writes the result to a file, which appears complete or not at all. IO; INVALID: NUMBERS with a
 * value of another size, TABLE of a job with a reduce function. */
WP_NODISCARD WP_API wp_status wp_mapreduce_write(const wp_mapreduce *job, const char *path,
                                                 wp_output output, wp_error *err);

/* ---- reports -------------------------------------------------------------------------------- */

/** What a pass did. */
typedef struct wp_mapreduce_pass {
    uint64_t records_done, records_postponed;
    uint64_t pairs_done, pairs_postponed;
    uint64_t chunks;
    uint64_t sent_bytes;   /* to the device: records with where they are, and their state */
    uint64_t heap_bytes;   /* of the table, copied to host memory when the pass ended */
    uint64_t unused_bytes; /* ends of the heap's pages: waste */
    uint64_t map_ns, copy_ns, host_ns; /* kernels; copies of chunks; the host gathering records */
    uint64_t pass_ns;                  /* from its start to the end of its last kernel */
    uint64_t heap_ns;                  /* from there until the heap is in host memory, and empty */
} wp_mapreduce_pass;

typedef struct wp_mapreduce_report {
    uint64_t passes;
    uint64_t records, input_bytes;
    uint64_t pairs;                     /* emitted */
    uint64_t sent_bytes;                /* sum over passes */
    uint64_t sent_again_bytes;          /* …, of passes after the first */
    uint64_t chunk_bytes, device_bytes; /* device_bytes: of chunks, without the table */
    uint64_t host_bytes;                /* of the index of records, and their state */
    uint64_t map_ns, copy_ns, host_ns, passes_ns, heap_ns; /* sums over passes */
    uint64_t reduce_ns;                                    /* of the kernel that reduces groups */
    wp_table_report table;
} wp_mapreduce_report;

WP_API void wp_mapreduce_get_report(const wp_mapreduce *job, wp_mapreduce_report *out);
/** Pass `number` (from 1); false: there was none. */
WP_API bool wp_mapreduce_get_pass(const wp_mapreduce *job, uint64_t number, wp_mapreduce_pass *out);
/** The report as lines of text. Returns the length, as snprintf does. */
WP_API size_t wp_mapreduce_explain(const wp_mapreduce *job, char *text, size_t text_bytes);

/** For WP_MAPREDUCE: LAUNCH. */
WP_API wp_status wp_map_launch_failed(const char *program, const char *reason, wp_error *err);

#ifdef __cplusplus
}
#endif

/* ---- in kernels, and data that host and kernels share ---------------------------------------- */

/** A record, as `map` gets it. Its data begin at a multiple of 8 bytes. */
typedef struct wp_map_record {
    const char *data;
    uint64_t number; /* from 0, over all files */
    const void *argument;
    uint32_t bytes;
} wp_map_record;

/** Where `map` emits pairs. Programs need not look inside. */
typedef struct wp_emitter {
    const wp_table_view *table;
    wp_table_combine combine;
    uint32_t *bits;  /* of the record's pairs, those that are in the table */
    uint32_t word;   /* of bits: that of the 32 pairs which are being emitted */
    uint32_t pair;   /* number of the next */
    uint32_t pairs;  /* that there are bits for; those beyond are only counted */
    uint32_t digest; /* of all pairs so far */
    uint32_t served;
    bool is_first; /* the record runs for the first time */
    bool is_postponed, is_refused;
} wp_emitter;

/** Pairs of a record that has so many bytes for which there are bits at once. */
#define WP_MAP_PAIRS_EXPECTED(bytes) ((uint32_t)(bytes) / 2u + 1u)
#define WP_MAP_NO_BITS UINT32_MAX
/* Of wp_map_state.bits: those of WP_MAP_PAIRS_EXPECTED pairs; the others were not tried. */
#define WP_MAP_BITS_PART 0x80000000u

/** Where a record is in the text of its chunk. */
typedef struct wp_map_piece {
    uint32_t first, bytes;
} wp_map_piece;

/** A record that was tried before; or that was postponed. */
typedef struct wp_map_state {
    uint32_t
        record; /* of the batch's first one, so many behind; postponed: its place in the batch */
    uint32_t pairs, digest;
    uint32_t bits; /* its first word; NO_BITS: it was not tried, as there was no room for its bits;
                    * or a first word with BITS_PART */
} wp_map_state;

typedef enum wp_map_fault {
    WP_MAP_FAULT_NONE = 0,
    WP_MAP_FAULT_DIFFERENT, /* a record emitted `was` pairs, then `is`, or others */
    WP_MAP_FAULT_TOO_MANY,  /* a record emitted `is` pairs, more than pairs_max */
    WP_MAP_FAULT_REFUSED    /* by the table, which has the reason */
} wp_map_fault;

#define WP_MAP_COUNTERS 32u

/** What a batch reports to the host. */
typedef struct wp_map_control {
    uint64_t bits_used; /* words */
    uint64_t left;      /* records in `wp_map_batch.left` */
    uint64_t served[WP_MAP_COUNTERS];
    uint32_t fault, fault_record, fault_was, fault_is;
} wp_map_control;

/** Records of a chunk, for kernels. */
struct wp_map_batch {
    wp_table_view table;
    wp_map_control *control;
    const char *text;
    const wp_map_piece *pieces; /* [count] */
    const wp_map_state *states; /* [count]; NULL: none of them was tried before */
    uint32_t *bits;             /* [bits_words] */
    wp_map_state *left;         /* [count] */
    uint32_t *done;             /* a bit for each record of the job */
    const void *argument;
    uint64_t first; /* number of the first record */
    uint64_t bits_words;
    uint32_t count, threads, pairs_max;
};

/* The word of bits of pairs 32 `index` and on becomes `to->word`. */
WP_WORD_CALL void wp_emit_turn(wp_emitter *to, uint32_t index) {
    if (index != 0) to->bits[index - 1u] = to->word;
    to->word = to->bits[index];
}

/** Emits a pair. */
WP_WORD_CALL void wp_emit(wp_emitter *to, const void *key, uint32_t key_bytes, const void *value,
                          uint32_t value_bytes) {
    const uint32_t number = to->pair++;
    const uint64_t hash = wp_table_hash(key, key_bytes);
    const uint64_t both = hash + 3u * wp_table_hash(value, value_bytes);
    to->digest = (to->digest ^ (uint32_t)(both >> 32) ^ (uint32_t)both) * 0x9e3779b1u + 1u;
    if (number >= to->pairs) return;
    if (number % 32u == 0) wp_emit_turn(to, number / 32u);
    const uint32_t bit = 1u << number % 32u;
    if ((to->word & bit) != 0) return; /* it is in the table */
    const wp_answer answer =
        wp_table_insert_hashed(to->table, hash, key, key_bytes, value, value_bytes, to->combine);
    if (answer == WP_DONE) {
        to->word |= bit;
        to->served++;
    } else {
        to->is_postponed = true;
        if (answer == WP_REFUSED) to->is_refused = true;
    }
}

WP_WORD_CALL void wp_map_say_fault(const wp_map_batch *batch, uint32_t record, uint32_t fault,
                                   uint32_t was, uint32_t is) {
    wp_map_control *control = batch->control;
    if (wp_word_swap_if32(&control->fault, WP_MAP_FAULT_NONE, fault) != WP_MAP_FAULT_NONE) return;
    control->fault_record = record;
    control->fault_was = was;
    control->fault_is = is;
}

WP_WORD_CALL uint64_t wp_map_number(const wp_map_batch *batch, uint32_t record) {
    return batch->first + (batch->states == NULL ? record : batch->states[record].record);
}

WP_WORD_CALL void wp_map_put_left(const wp_map_batch *batch, uint32_t record, uint32_t pairs,
                                  uint32_t digest, uint32_t bits) {
    wp_map_state *left = &batch->left[wp_word_add64(&batch->control->left, 1u)];
    left->record = record;
    left->pairs = pairs;
    left->digest = digest;
    left->bits = bits;
}

/* Words for the bits of a record's pairs, all 0; false: there is no room. */
WP_WORD_CALL bool wp_map_take_bits(const wp_map_batch *batch, uint32_t pairs, wp_emitter *to) {
    const uint64_t words = ((uint64_t)pairs + 31u) / 32u;
    const uint64_t at = wp_word_add64(&batch->control->bits_used, words);
    if (at + words > batch->bits_words) return false;
    to->bits = batch->bits + at;
    to->pairs = pairs;
    for (uint64_t i = 0; i < words; i++)
        to->bits[i] = 0;
    return true;
}

WP_WORD_CALL void wp_map_restart(wp_emitter *to) {
    to->pair = 0;
    to->digest = 0;
    to->is_postponed = false;
}

/* Prepares the run of `map` for record `record` of the batch. False: there is nothing to do. */
WP_WORD_CALL bool wp_map_begin(const wp_map_batch *batch, uint64_t thread, wp_table_combine combine,
                               wp_map_record *in, wp_emitter *to, uint32_t *digest) {
    if (thread >= batch->count) return false;
    const uint32_t record = (uint32_t)thread;
    in->data = batch->text + batch->pieces[record].first;
    in->bytes = batch->pieces[record].bytes;
    in->number = wp_map_number(batch, record);
    in->argument = batch->argument;
    to->table = &batch->table;
    to->combine = combine;
    to->served = 0;
    to->is_first = batch->states == NULL;
    to->is_refused = false;
    wp_map_restart(to);
    if (!to->is_first) {
        to->bits = batch->bits + batch->states[record].bits;
        to->pairs = batch->states[record].pairs;
        *digest = batch->states[record].digest;
    } else if (!wp_map_take_bits(batch,
                                 batch->pairs_max != 0 ? batch->pairs_max
                                                       : WP_MAP_PAIRS_EXPECTED(in->bytes),
                                 to)) {
        wp_map_put_left(batch, record, 0, 0, WP_MAP_NO_BITS);
        return false;
    }
    return true;
}

/* After the first run of a record that emitted more pairs than it has bits: bits for all of them.
 * False: there is no room. */
WP_WORD_CALL bool wp_map_take_more(const wp_map_batch *batch, uint32_t record, wp_emitter *to) {
    const uint32_t *before = to->bits;
    const uint32_t words = (to->pairs + 31u) / 32u;
    if (!wp_map_take_bits(batch, to->pair, to)) {
        wp_map_put_left(batch, record, to->pair, to->digest,
                        (uint32_t)(before - batch->bits) | WP_MAP_BITS_PART);
        return false;
    }
    for (uint32_t i = 0; i < words; i++)
        to->bits[i] = before[i];
    return true;
}

/* After a run of `map`: whether it is to run again. `digest` is that of the record's first run. */
WP_WORD_CALL bool wp_map_again(const wp_map_batch *batch, uint64_t thread, wp_emitter *to,
                               uint32_t *digest) {
    const uint32_t record = (uint32_t)thread;
    const uint32_t known = to->pair < to->pairs ? to->pair : to->pairs;
    bool is_left = to->is_postponed;
    if (known != 0) to->bits[(known - 1u) / 32u] = to->word;
    if (to->is_first && to->pair > to->pairs && batch->pairs_max == 0) {
        if (wp_map_take_more(batch, record, to)) {
            *digest = to->digest;
            to->is_first = false;
            wp_map_restart(to);
            return true;
        }
        is_left = true;
    } else {
        if (to->is_first && to->pair > to->pairs)
            wp_map_say_fault(batch, record, WP_MAP_FAULT_TOO_MANY, 0, to->pair);
        else if (!to->is_first && (to->pair != to->pairs || to->digest != *digest))
            wp_map_say_fault(batch, record, WP_MAP_FAULT_DIFFERENT, to->pairs, to->pair);
        if (is_left)
            wp_map_put_left(batch, record, to->pair, to->digest,
                            (uint32_t)(to->bits - batch->bits));
    }
    if (to->is_refused) wp_map_say_fault(batch, record, WP_MAP_FAULT_REFUSED, 0, 0);
    if (to->served != 0)
        wp_word_sum64(&batch->control->served[thread / 32u % WP_MAP_COUNTERS], to->served);
    if (!is_left) wp_bits_set(batch->done, wp_map_number(batch, record));
    return false;
}

/* ---- groups, for the kernel that reduces them -------------------------------------------------
 */

typedef enum wp_reduce_state {
    WP_REDUCE_NONE = 0, /* the group has no value: it is left out */
    WP_REDUCE_DONE,
    WP_REDUCE_FULL, /* its value found no room: it is reduced again */
    WP_REDUCE_TWICE /* a fault: a second value */
} wp_reduce_state;

/** A group in a batch: where it is, and what became of it. */
typedef struct wp_reduce_piece {
    uint64_t first; /* in the text: its key, then for each value 8 bytes with its length, and it */
    uint64_t count;
    uint64_t at, bytes; /* of its value in the room */
    uint32_t key_bytes, state;
} wp_reduce_piece;

struct wp_reduce_batch {
    uint64_t *used; /* bytes of the room that were asked for */
    wp_reduce_piece *pieces;
    const char *text;
    char *room;
    uint64_t room_bytes;
    const void *argument;
    uint32_t count, threads;
};

/** A finished group, as `reduce` gets it: all values of a key, each at a multiple of 8 bytes. */
typedef struct wp_reduce_group {
    const char *key;
    uint64_t count;    /* values */
    const char *next;  /* for wp_reduce_next */
    uint64_t returned; /* … */
    const void *argument;
    uint32_t key_bytes;
} wp_reduce_group;

/** Where `reduce` leaves the group's value. */
typedef struct wp_reducer {
    const wp_reduce_batch *batch;
    wp_reduce_piece *piece;
} wp_reducer;

/** The group's next value, in the order of the result if that is ordered; NULL: there is none. */
WP_WORD_CALL const char *wp_reduce_next(wp_reduce_group *group, uint64_t *value_bytes) {
    if (group->returned == group->count) return NULL;
    const char *value = group->next + 8;
    memcpy(value_bytes, group->next, 8);
    group->next = value + wp_table_align(*value_bytes);
    group->returned++;
    return value;
}

/** Memory for the group's value, which `reduce` fills; at most once a group. NULL: there is none
 * left on the device now; return, and the group is reduced again. */
WP_WORD_CALL char *wp_reduce_take(wp_reducer *to, uint64_t bytes) {
    wp_reduce_piece *piece = to->piece;
    const uint64_t whole = wp_table_align(bytes);
    if (piece->state != WP_REDUCE_NONE) {
        piece->state = WP_REDUCE_TWICE;
        return NULL;
    }
    const uint64_t at = wp_word_add64(to->batch->used, whole);
    piece->at = at;
    piece->bytes = bytes;
    piece->state = at + whole <= to->batch->room_bytes ? WP_REDUCE_DONE : WP_REDUCE_FULL;
    return piece->state == WP_REDUCE_DONE ? to->batch->room + at : NULL;
}

/* Group `thread` of the batch. False: there is none. */
WP_WORD_CALL bool wp_reduce_begin(const wp_reduce_batch *batch, uint64_t thread,
                                  wp_reduce_group *group, wp_reducer *to) {
    if (thread >= batch->count) return false;
    wp_reduce_piece *piece = &batch->pieces[thread];
    group->key = batch->text + piece->first;
    group->key_bytes = piece->key_bytes;
    group->count = piece->count;
    group->next = group->key + wp_table_align(piece->key_bytes);
    group->returned = 0;
    group->argument = batch->argument;
    to->batch = batch;
    to->piece = piece;
    return true;
}

#ifdef __CUDACC__
/** Makes a wp_mapreduce_program `program` of `map(const wp_map_record *, wp_emitter *)`, whose
 * values are combined by `combine(const void *value, void *existing)`, a wp_table_combine. */
#define WP_MAPREDUCE_WITH(program, map, combine) WP_MAPREDUCE_MAKE(program, map, combine, true)
/** The same with a built-in combiner (wp_table_spec.combiner), or in WP_MAP_GROUP. */
#define WP_MAPREDUCE(program, map) WP_MAPREDUCE_MAKE(program, map, WP_TABLE_NO_CALLBACK, false)

#define WP_MAPREDUCE_MAKE(program, map, combine, has_combine)                                      \
    WP_MAPREDUCE_MAP(program, map, combine)                                                        \
    static const wp_mapreduce_program program = {#program, program##_launch, has_combine, NULL};

/** …, in WP_MAP_GROUP, whose finished groups `reduce(wp_reduce_group *, wp_reducer *)` reduces, a
 * thread for each. */
#define WP_MAPREDUCE_GROUPS(program, map, reduce)                                                  \
    WP_MAPREDUCE_MAP(program, map, WP_TABLE_NO_CALLBACK)                                           \
    static __global__ void program##_reduce_kernel(const wp_reduce_batch batch) {                  \
        wp_reduce_group group;                                                                     \
        wp_reducer to;                                                                             \
        if (wp_reduce_begin(&batch, (uint64_t)blockIdx.x * blockDim.x + threadIdx.x, &group, &to)) \
            reduce(&group, &to);                                                                   \
    }                                                                                              \
    static wp_status program##_reduce(const wp_reduce_batch *batch, wp_error *err) {               \
        const unsigned blocks = (batch->count + batch->threads - 1u) / batch->threads;             \
        program##_reduce_kernel<<<blocks, batch->threads, 0, cudaStreamLegacy>>>(*batch);          \
        const cudaError_t error = cudaGetLastError();                                              \
        if (error == cudaSuccess) return WP_STATUS_OK;                                             \
        return wp_map_launch_failed(#program, cudaGetErrorString(error), err);                     \
    }                                                                                              \
    static const wp_mapreduce_program program = {#program, program##_launch, false,                \
                                                 program##_reduce};

#define WP_MAPREDUCE_MAP(program, map, combine)                                                    \
    static __global__ void program##_kernel(const wp_map_batch batch) {                            \
        const uint64_t thread = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;                   \
        uint32_t digest = 0; /* of the record's first run */                                       \
        wp_map_record record;                                                                      \
        wp_emitter to;                                                                             \
        if (!wp_map_begin(&batch, thread, combine, &record, &to, &digest)) return;                 \
        do                                                                                         \
            map(&record, &to);                                                                     \
        while (wp_map_again(&batch, thread, &to, &digest));                                        \
    }                                                                                              \
    static wp_status program##_launch(const wp_map_batch *batch, wp_error *err) {                  \
        const unsigned blocks = (batch->count + batch->threads - 1u) / batch->threads;             \
        program##_kernel<<<blocks, batch->threads, 0, cudaStreamLegacy>>>(*batch);                 \
        const cudaError_t error = cudaGetLastError();                                              \
        if (error == cudaSuccess) return WP_STATUS_OK;                                             \
        return wp_map_launch_failed(#program, cudaGetErrorString(error), err);                     \
    }
#endif

#endif

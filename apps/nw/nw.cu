/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Needleman-Wunsch: how two sequences are best laid side by side, from end to end.
 *
 * Cell (y,x) of a matrix is the best score of the first y letters of one sequence with the first x
 * of the other: it follows from the cells above, to the left, and above to the left. Tiles of
 * 16 x 16 cells on a diagonal do not need one another, so a diagonal is a launch with a block a
 * tile, as in Rodinia's nw:
 *
 *     0 1 2 3     In a tile, in shared memory, a thread has a column and the threads move down
 *     1 2 3 4     their columns one behind the other: at step s, thread t is at row s - t.
 *     2 3 4 5
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/memory.h"
#include "common/report.h"
#include "common/sequence.h"

#define TILE 16
#define MAX_LETTERS (1u << 24) /* scores fit an int, numbers of rows and columns 32 bits */

enum { SCORES_PROTEIN, SCORES_DNA };

/* The matrices: a row more than the first sequence has letters, a column more than the second. */
typedef struct shape {
    uint32_t rows;
    uint32_t columns;
    int penalty; /* what a letter without partner costs */
} shape;

static __host__ __device__ __forceinline__ int best_of(int a, int b, int c) {
    int larger = a > b ? a : b;
    return larger > c ? larger : c;
}

/* The tiles of one diagonal, from the column of tiles first_tile_x on, up and to the right. The
 * first row and column of `score` are known, and the tiles of the diagonals before. */
__global__ void score_diagonal(int *score, const int *similarity, shape s, uint32_t diagonal,
                               uint32_t first_tile_x) {
    __shared__ int tile[TILE + 1][TILE + 1]; /* with the row above and the column to the left */
    __shared__ int similar[TILE][TILE];
    uint32_t tx = threadIdx.x;
    uint32_t tile_x = first_tile_x + blockIdx.x;
    size_t above = (size_t)(diagonal - tile_x) * TILE; /* the row above the tile */
    size_t left = (size_t)tile_x * TILE;               /* the column to its left */
    size_t column = left + 1 + tx;
    bool is_column = column < s.columns;
    uint32_t rows_here = s.rows - 1 - above < TILE ? (uint32_t)(s.rows - 1 - above) : TILE;

    if (tx == 0) {
        tile[0][0] = score[above * s.columns + left];
    }
    if (tx < rows_here) {
        tile[tx + 1][0] = score[(above + 1 + tx) * s.columns + left];
    }
    if (is_column) {
        tile[0][tx + 1] = score[above * s.columns + column];
        for (uint32_t y = 0; y < rows_here; y++) {
            similar[y][tx] = similarity[(above + 1 + y) * s.columns + column];
        }
    }
    __syncthreads();
    for (uint32_t step = 0; step < 2 * TILE - 1; step++) {
        uint32_t y = step - tx; /* huge before this thread's first step */
        if (y < rows_here && is_column) {
            tile[y + 1][tx + 1] = best_of(tile[y][tx] + similar[y][tx], tile[y + 1][tx] - s.penalty,
                                          tile[y][tx + 1] - s.penalty);
        }
        __syncthreads();
    }
    for (uint32_t y = 0; y < rows_here && is_column; y++) {
        score[(above + 1 + y) * s.columns + column] = tile[y + 1][tx + 1];
    }
}

static void score_all(app_device *device, const app_array *score, const app_array *similarity,
                      shape s) {
    uint32_t tile_rows = (s.rows - 1 + TILE - 1) / TILE;
    uint32_t tile_columns = (s.columns - 1 + TILE - 1) / TILE;
    uint32_t diagonals = tile_rows + tile_columns - 1;
    app_kernels_begin(device);
    for (uint32_t diagonal = 0; diagonal < diagonals; diagonal++) {
        uint32_t first = diagonal < tile_rows ? 0 : diagonal - tile_rows + 1;
        uint32_t last = diagonal < tile_columns ? diagonal : tile_columns - 1;
        score_diagonal<<<last - first + 1, TILE>>>(
            (int *)score->device, (const int *)similarity->device, s, diagonal, first);
    }
    app_kernels_end(device, "score_diagonal", diagonals);
}

/* ---- input, check, output ---- */

static void fill_similarity(int *similarity, const app_sequence *first, const app_sequence *second,
                            shape s, int (*letters_similarity)(char, char)) {
    memset(similarity, 0, s.columns * sizeof *similarity);
    for (size_t y = 1; y < s.rows; y++) {
        int *row = similarity + y * s.columns;
        row[0] = 0;
        for (size_t x = 1; x < s.columns; x++) {
            row[x] = letters_similarity(first->letter[y - 1], second->letter[x - 1]);
        }
    }
}

/* Letters before the first partner: all that is known of the scores. */
static void fill_border(int *score, shape s) {
    memset(score, 0, (size_t)s.rows * s.columns * sizeof *score);
    for (size_t y = 1; y < s.rows; y++) {
        score[y * s.columns] = -(int)y * s.penalty;
    }
    for (size_t x = 1; x < s.columns; x++) {
        score[x] = -(int)x * s.penalty;
    }
}

static bool check(const int *score, const int *similarity, shape s) {
    int *row = (int *)app_allocate(s.columns, sizeof *row, "the check");
    uint64_t largest = 0;
    for (size_t x = 0; x < s.columns; x++) {
        row[x] = -(int)x * s.penalty;
    }
    for (size_t y = 0; y < s.rows; y++) {
        int diagonal = row[0]; /* the cell above to the left */
        row[0] = -(int)y * s.penalty;
        for (size_t x = 1; x < s.columns && y > 0; x++) {
            int next = best_of(diagonal + similarity[y * s.columns + x], row[x - 1] - s.penalty,
                               row[x] - s.penalty);
            diagonal = row[x];
            row[x] = next;
        }
        for (size_t x = 0; x < s.columns; x++) {
            int64_t difference = (int64_t)score[y * s.columns + x] - row[x];
            uint64_t size = (uint64_t)(difference < 0 ? -difference : difference);
            largest = size > largest ? size : largest;
        }
    }
    printf("check      %s scores against a serial matrix: %s, largest difference %s\n",
           app_count((uint64_t)s.rows * s.columns), largest == 0 ? "equal" : "DIFFERENT",
           app_count(largest));
    free(row);
    return largest == 0;
}

/* Two sequences side by side; '-' where a letter has no partner. */
typedef struct alignment {
    char *first;
    char *second;
    size_t length;
} alignment;

/* Follows the scores back from the last cell: of equally good ways the one with most partners. */
static alignment trace_back(const int *score, const int *similarity, shape s,
                            const app_sequence *first, const app_sequence *second) {
    size_t longest = (size_t)s.rows + s.columns - 2;
    alignment way = {(char *)app_allocate(longest, 1, "the alignment"),
                     (char *)app_allocate(longest, 1, "the alignment"), 0};
    size_t at = longest; /* filled from the end */
    size_t y = s.rows - 1;
    size_t x = s.columns - 1;
    while (y > 0 || x > 0) {
        const int *cell = &score[y * s.columns + x];
        bool is_pair = y > 0 && x > 0 &&
                       *cell == cell[-(ptrdiff_t)s.columns - 1] + similarity[y * s.columns + x];
        bool is_down =
            !is_pair && y > 0 && (x == 0 || *cell == cell[-(ptrdiff_t)s.columns] - s.penalty);
        at--;
        way.first[at] = is_pair || is_down ? first->letter[--y] : '-';
        way.second[at] = is_down ? '-' : second->letter[--x];
    }
    way.length = longest - at;
    memmove(way.first, way.first + at, way.length);
    memmove(way.second, way.second + at, way.length);
    return way;
}

static void print_alignment(const alignment *way) {
    enum { WIDTH = 72, LINES = 3 };
    for (size_t start = 0; start < way->length && start < (size_t)WIDTH * LINES; start += WIDTH) {
        size_t outer = start + WIDTH < way->length ? start + WIDTH : way->length;
        printf("  %.*s\n  ", (int)(outer - start), way->first + start);
        for (size_t i = start; i < outer; i++) {
            putchar(way->first[i] == way->second[i] ? '|' : ' ');
        }
        printf("\n  %.*s\n\n", (int)(outer - start), way->second + start);
    }
    if (way->length > (size_t)WIDTH * LINES) {
        printf("  and %s more\n\n", app_count(way->length - (size_t)WIDTH * LINES));
    }
}

static void print_result(const int *score, const int *similarity, shape s,
                         const app_sequence *first, const app_sequence *second) {
    alignment way = trace_back(score, similarity, s, first, second);
    size_t equal = 0;
    size_t alone = 0;
    for (size_t i = 0; i < way.length; i++) {
        equal += way.first[i] == way.second[i];
        alone += way.first[i] == '-' || way.second[i] == '-';
    }
    int total = score[(size_t)s.rows * s.columns - 1];
    printf("sequences  %s: %s letters; %s: %s letters\n", first->title, app_count(first->count),
           second->title, app_count(second->count));
    printf("score      %s%s: of %s columns %s are equal (%.1f%%), %s have a gap\n\n",
           total < 0 ? "-" : "", app_count((uint64_t)llabs((long long)total)),
           app_count(way.length), app_count(equal), 100.0 * (double)equal / (double)way.length,
           app_count(alone));
    print_alignment(&way);
    free(way.first);
    free(way.second);
}

static size_t letters_to_generate(app_size size) {
    if (!size.is_bytes) {
        return app_size_items(size, 1.0, 1000, 1, MAX_LETTERS);
    }
    uint64_t cells = app_size_items(size, 8.0, 0, 4, (uint64_t)MAX_LETTERS * MAX_LETTERS);
    return (size_t)sqrt((double)cells) - 1;
}

static void require_length(const app_sequence *sequence) {
    if (sequence->count > MAX_LETTERS) {
        app_fail("%s has %s letters, more than the %s that this program handles", sequence->title,
                 app_count(sequence->count), app_count(MAX_LETTERS));
    }
}

int main(int argc, char **argv) {
    const app_program program = {"nw", "Needleman-Wunsch alignment of two sequences",
                                 "letters of each generated sequence, or bytes such as 1GiB",
                                 "a sequence, FASTA (also .zst), with --second",
                                 "nw --size 4K --check"};
    app_common common = {NULL, {0, false}, 1, APP_MEMORY_COPY, false};
    const char *second_path = NULL;
    int scores = SCORES_PROTEIN;
    uint64_t penalty = 10;
    const app_option options[] = {
        {"--second", APP_OPTION_TEXT, &second_path, "FILE", 0, 0, "the other sequence"},
        {"--scores", APP_OPTION_CHOICE, &scores, "protein|dna", 0, 0,
         "similarity of letters: BLOSUM62, or 5 for equal letters and -4 for others"},
        {"--penalty", APP_OPTION_COUNT, &penalty, "N", 0, 100,
         "cost of a letter aligned with a gap"},
        {NULL, APP_OPTION_FLAG, NULL, NULL, 0, 0, NULL}};
    app_options_parse(argc, argv, &program, &common, options);

    app_sequence first;
    app_sequence second;
    if ((common.input != NULL) != (second_path != NULL)) {
        app_fail_usage("--input and --second go together: the two sequences");
    }
    if (common.input != NULL) {
        app_sequence_read(&first, common.input);
        app_sequence_read(&second, second_path);
        require_length(&first);
        require_length(&second);
    } else {
        app_sequence_generate(&first, letters_to_generate(common.size), common.seed);
        app_sequence_mutate(&second, &first, first.count, common.seed);
    }
    shape s = {(uint32_t)first.count + 1, (uint32_t)second.count + 1, (int)penalty};
    size_t cells = (size_t)s.rows * s.columns;

    app_device device;
    app_array similarity;
    app_array score;
    app_device_open(&device, common.memory);
    app_array_create(&device, &similarity, cells, sizeof(int), "similarities", APP_ROLE_INPUT);
    app_array_create(&device, &score, cells, sizeof(int), "scores", APP_ROLE_UPDATED);
    fill_similarity((int *)similarity.host, &first, &second, s,
                    scores == SCORES_DNA ? app_dna_similarity : app_protein_similarity);
    fill_border((int *)score.host, s);
    app_array_to_device(&device, &similarity);
    app_array_to_device(&device, &score);
    score_all(&device, &score, &similarity, s);
    app_array_to_host(&device, &score);

    print_result((const int *)score.host, (const int *)similarity.host, s, &first, &second);
    app_device_report(&device, (double)first.count * (double)second.count, "cells");
    bool is_right =
        !common.check || check((const int *)score.host, (const int *)similarity.host, s);
    app_array_free(&device, &similarity);
    app_array_free(&device, &score);
    app_device_close(&device);
    app_sequence_free(&first);
    app_sequence_free(&second);
    return is_right ? 0 : 1;
}

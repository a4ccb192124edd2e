/* SPDX-License-Identifier: Apache-2.0 */
/* Sequences, and how alike their letters are. */
#include "common/sequence.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/random.h"
#include "common/report.h"
#include "common/text.h"

/* The twenty amino acids, two that stand for a pair of them, and any. */
static const char acids[] = "ARNDCQEGHILKMFPSTWYVBZX";
enum { KINDS = sizeof acids - 1, PLAIN_KINDS = 20 };

/* BLOSUM62 (Henikoff and Henikoff, 1992), the lower triangle. */
static const signed char blosum62[KINDS][KINDS] = {
    {4},
    {-1, 5},
    {-2, 0, 6},
    {-2, -2, 1, 6},
    {0, -3, -3, -3, 9},
    {-1, 1, 0, 0, -3, 5},
    {-1, 0, 0, 2, -4, 2, 5},
    {0, -2, 0, -1, -3, -2, -2, 6},
    {-2, 0, 1, -1, -3, 0, 0, -2, 8},
    {-1, -3, -3, -3, -1, -3, -3, -4, -3, 4},
    {-1, -2, -3, -4, -1, -2, -3, -4, -3, 2, 4},
    {-1, 2, 0, -1, -3, 1, 1, -2, -1, -3, -2, 5},
    {-1, -1, -2, -3, -1, 0, -2, -3, -2, 1, 2, -1, 5},
    {-2, -3, -3, -3, -2, -3, -3, -3, -1, 0, 0, -3, 0, 6},
    {-1, -2, -2, -1, -3, -1, -1, -2, -2, -3, -3, -1, -2, -4, 7},
    {1, -1, 1, 0, -1, 0, 0, 0, -1, -2, -2, 0, -1, -2, -1, 4},
    {0, -1, 0, -1, -1, -1, -1, -2, -2, -1, -1, -1, -1, -2, -1, 1, 5},
    {-3, -3, -4, -4, -2, -2, -3, -2, -2, -3, -2, -3, -1, 1, -4, -3, -2, 11},
    {-2, -2, -2, -3, -2, -1, -2, -3, 2, -1, -1, -2, -1, 3, -3, -2, -2, 2, 7},
    {0, -3, -3, -3, -1, -2, -2, -3, -3, 3, 1, -2, 1, -1, -2, -2, 0, -3, -1, 4},
    {-2, -1, 3, 4, -3, 0, 1, -1, 0, -3, -4, 0, -3, -3, -2, 0, -1, -4, -3, -3, 4},
    {-1, 0, 0, 1, -3, 3, 4, -2, 0, -3, -3, 1, -1, -3, -1, 0, -1, -3, -2, -2, 1, 4},
    {0, -1, -1, -1, -2, -1, -1, -1, -1, -1, -1, -1, -1, -1, -2, 0, 0, -2, -1, -1, -1, -1, -1},
};

static size_t acid_number(char letter) {
    const char *found = strchr(acids, letter);
    return found != NULL && letter != '\0' ? (size_t)(found - acids) : KINDS - 1;
}

int app_protein_similarity(char a, char b) {
    size_t x = acid_number(a);
    size_t y = acid_number(b);
    return x > y ? blosum62[x][y] : blosum62[y][x];
}

int app_dna_similarity(char a, char b) {
    return a == b ? 5 : -4;
}

static void append(app_sequence *sequence, size_t *capacity, char letter) {
    if (sequence->count + 1 >= *capacity) {
        *capacity = *capacity != 0 ? 2 * *capacity : 4096;
        sequence->letter = app_reallocate(sequence->letter, *capacity, 1, "a sequence");
    }
    sequence->letter[sequence->count++] = letter;
    sequence->letter[sequence->count] = '\0';
}

static void append_line(app_sequence *sequence, size_t *capacity, const app_text *text,
                        const char *line, size_t length) {
    for (size_t i = 0; i < length; i++) {
        char letter = line[i];
        if (letter >= 'a' && letter <= 'z') {
            letter = (char)(letter - 'a' + 'A');
        }
        if (letter == ' ' || letter == '\t' || letter == '\r') {
            continue;
        }
        if (letter != '*' && (letter < 'A' || letter > 'Z')) {
            app_text_fail(text, "column %zu holds no letter of a sequence", i + 1);
        }
        append(sequence, capacity, letter);
    }
}

void app_sequence_read(app_sequence *sequence, const char *path) {
    app_text *text = app_text_open(path);
    char *line;
    size_t length;
    size_t capacity = 0;
    *sequence = (app_sequence){.letter = NULL};
    const char *slash = strrchr(path, '/');
    snprintf(sequence->title, sizeof sequence->title, "%.90s", slash != NULL ? slash + 1 : path);
    while (app_text_line(text, &line, &length)) {
        if (line[0] == '>') {
            if (sequence->count != 0) {
                break; /* the next sequence */
            }
            int name_length = (int)strcspn(line + 1, " \t\r");
            snprintf(sequence->title, sizeof sequence->title, "%.*s",
                     name_length < 90 ? name_length : 90, line + 1);
        } else if (line[0] != ';') {
            append_line(sequence, &capacity, text, line, length);
        }
    }
    app_text_close(text);
    if (sequence->count == 0) {
        app_fail("%s holds no sequence of letters", path);
    }
}

void app_sequence_generate(app_sequence *sequence, size_t count, uint64_t seed) {
    app_random random = {seed, 0};
    size_t capacity = 0;
    *sequence = (app_sequence){.letter = NULL};
    while (sequence->count < count) {
        append(sequence, &capacity, acids[app_random_below(&random, PLAIN_KINDS)]);
    }
    snprintf(sequence->title, sizeof sequence->title, "generated, seed %llu",
             (unsigned long long)seed);
}

void app_sequence_mutate(app_sequence *sequence, const app_sequence *from, size_t count,
                         uint64_t seed) {
    app_random random = {app_random_at(seed, from->count), 0};
    size_t capacity = 0;
    size_t next = 0;
    *sequence = (app_sequence){.letter = NULL};
    while (sequence->count < count) {
        uint32_t event = app_random_below(&random, 20);
        bool is_copied = event > 2 && next < from->count;
        if (event != 0) { /* 0: the letter is lost; 1: replaced; 2: another is put in before it */
            append(sequence, &capacity,
                   is_copied ? from->letter[next] : acids[app_random_below(&random, PLAIN_KINDS)]);
        }
        next += event != 2 && next < from->count;
    }
    snprintf(sequence->title, sizeof sequence->title, "its mutation");
}

void app_sequence_free(app_sequence *sequence) {
    free(sequence->letter);
    *sequence = (app_sequence){.letter = NULL};
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Groups of SMs from a matrix of all pairs, which someone measured once and with noise. Both
 * directions of a pair must agree, else it has no say; an SM belongs to the group that most pairs
 * speak for. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "probe/infer/hierarchy_number.h"
#include "probe/infer/sharing.h"

#define ROUNDS 4u
#define WRONG_SHARE 0.02     /* of pairs that may contradict the others */
#define UNDECIDED_SHARE 0.25 /* of pairs that may say nothing */

typedef struct matrix {
    const double *cycles;
    uint32_t sms;
    double *alone;      /* what an SM's own pages cost that it has evicted itself */
    signed char *votes; /* of a pair: 1 they share, -1 they do not, 0 undecided */
} matrix;

static int by_value(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, uint32_t count) {
    qsort(values, count, sizeof *values, by_value);
    return values[count / 2];
}

/* A pair of an SM with itself is one measurement, which decides about all pairs of the SM: if it is
 * off, the others' distance from their rows' medians takes its place. */
static void set_alone(matrix *m, double *row, double *above, double border) {
    for (uint32_t sm = 0; sm < m->sms; sm++) {
        memcpy(row, &m->cycles[(size_t)sm * m->sms], m->sms * sizeof *row);
        const double self = row[sm];
        m->alone[sm] = median(row, m->sms);
        above[sm] = self - m->alone[sm];
    }
    const double usual = median(above, m->sms);
    for (uint32_t sm = 0; sm < m->sms; sm++) {
        const double self = m->cycles[(size_t)sm * m->sms + sm];
        const double expected = m->alone[sm] + usual;
        m->alone[sm] = fabs(self - expected) < border ? self : expected;
    }
}

/* What the timed SM says of the pair, as in votes. Not sharing saves a miss; what is a miss above
 * or below both outcomes is an outlier, and says nothing. */
static int says(const matrix *m, uint32_t timed, uint32_t other, double miss_cycles) {
    const double saved = m->alone[timed] - m->cycles[(size_t)timed * m->sms + other];
    if (saved < -miss_cycles || saved > 2 * miss_cycles) return 0;
    return saved < miss_cycles / 2 ? 1 : -1;
}

static void set_votes(matrix *m, double miss_cycles) {
    for (uint32_t a = 0; a < m->sms; a++)
        for (uint32_t b = 0; b < m->sms; b++) {
            const int one = says(m, a, b, miss_cycles), back = says(m, b, a, miss_cycles);
            const int sum = one + back;
            m->votes[(size_t)a * m->sms + b] = (signed char)((sum > 0) - (sum < 0));
        }
}

/* Votes for `sm` in the group, less those against. */
static int score(const matrix *m, const uint32_t *group_of, uint32_t known, uint32_t sm,
                 uint32_t group) {
    int sum = 0;
    for (uint32_t other = 0; other < known; other++)
        if (other != sm && group_of[other] == group) sum += m->votes[(size_t)sm * m->sms + other];
    return sum;
}

static uint32_t best_group(const matrix *m, const uint32_t *group_of, uint32_t known, uint32_t sm,
                           uint32_t groups) {
    uint32_t best = groups; /* a new one */
    int most = 0;
    for (uint32_t group = 0; group < groups; group++) {
        const int here = score(m, group_of, known, sm, group);
        if (here > most) best = group;
        if (here > most) most = here;
    }
    return best;
}

/* Numbers the groups by their first SMs. */
static uint32_t renumber(uint32_t *group_of, uint32_t sms) {
    uint32_t number_of[2 * WPI_PROBE_SMS_MAX], groups = 0;
    memset(number_of, 0xff, sizeof number_of);
    for (uint32_t sm = 0; sm < sms; sm++) {
        uint32_t *number = &number_of[group_of[sm]];
        if (*number == UINT32_MAX) *number = groups++;
        group_of[sm] = *number;
    }
    return groups;
}

static uint32_t form_groups(const matrix *m, uint32_t *group_of) {
    uint32_t groups = 0;
    for (uint32_t sm = 0; sm < m->sms; sm++) {
        group_of[sm] = best_group(m, group_of, sm, sm, groups);
        groups += group_of[sm] == groups;
    }
    for (uint32_t round = 0; round < ROUNDS; round++) {
        for (uint32_t sm = 0; sm < m->sms; sm++) {
            group_of[sm] = best_group(m, group_of, m->sms, sm, groups);
            groups += group_of[sm] == groups;
        }
        groups = renumber(group_of, m->sms);
    }
    return groups;
}

static void judge(const matrix *m, uint32_t groups, wpi_sharing_groups *out) {
    uint32_t wrong = 0, undecided = 0;
    const uint32_t pairs = m->sms * (m->sms - 1);
    for (uint32_t a = 0; a < m->sms; a++)
        for (uint32_t b = 0; b < m->sms; b++) {
            const int vote = m->votes[(size_t)a * m->sms + b];
            if (a == b) continue;
            undecided += vote == 0;
            wrong += vote != 0 && (vote > 0) != (out->group_of[a] == out->group_of[b]);
        }
    if (wrong > WRONG_SHARE * pairs || undecided > UNDECIDED_SHARE * pairs) {
        wpi_number_unknown(&out->count, "%u of %u pairs contradict the others, and %u say nothing",
                           wrong, pairs, undecided);
        return;
    }
    const double doubt = pairs == 0 ? 0 : (wrong + undecided / 2.0) / pairs;
    wpi_number_set(&out->count, groups, wrong + undecided == 0 ? 1 : fmax(0.5, 0.9 - 4 * doubt));
    if (wrong + undecided != 0)
        wpi_number_explain(&out->count,
                           "by majority: %u of %u pairs contradict it, and %u say nothing", wrong,
                           pairs, undecided);
}

void wpi_sharing_from_matrix(const double *cycles, uint32_t sms, double miss_cycles,
                             wpi_sharing_groups *out) {
    *out = (wpi_sharing_groups){.sm_count = sms};
    double *rows = wpi_malloc(3 * (size_t)sms * sizeof *rows);
    matrix m = {cycles, sms, rows, wpi_malloc((size_t)sms * sms)};
    if (rows == NULL || m.votes == NULL) {
        wpi_number_unknown(&out->count, "out of memory");
    } else {
        set_alone(&m, rows + sms, rows + 2 * (size_t)sms, miss_cycles / 2);
        set_votes(&m, miss_cycles);
        judge(&m, form_groups(&m, out->group_of), out);
    }
    wpi_free(rows);
    wpi_free(m.votes);
}

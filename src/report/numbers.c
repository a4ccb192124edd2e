/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdio.h>

#include "report/metrics.h"

typedef struct visitor {
    wp_run_number_visit visit;
    void *object;
} visitor;

static void visit_metric(void *object, const wpi_metric *metric) {
    const visitor *v = object;
    char text[32];
    (void)snprintf(text, sizeof text, "%.6g", metric->value);
    v->visit(v->object, metric->name, text);
}

void wp_run_visit_numbers(const wp_run_record *record, wp_run_number_visit visit, void *object) {
    const wp_run_simulation *s = record->simulation;
    visitor v = {visit, object};
    if (s == NULL) return;
    wpi_metrics_visit(s, s->values, s->counted_ps, visit_metric, &v);
    for (size_t i = 0; i < s->column_count; i++) {
        char text[24];
        (void)snprintf(text, sizeof text, "%" PRIu64, s->values[s->columns[i].first]);
        visit(object, s->columns[i].name, text);
    }
}

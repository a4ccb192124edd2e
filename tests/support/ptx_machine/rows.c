/* SPDX-License-Identifier: Apache-2.0 */
/* Registers and constants as rows, places in the local frame, room for instructions. */
#include "parser.h"

int32_t pm_new_row(pm_parser *p) {
    return (int32_t)p->function->row_count++;
}

void *pm_grow(void *array, uint32_t count, uint32_t *capacity, size_t item_bytes) {
    if (count < *capacity) return array;
    *capacity = *capacity != 0 ? 2 * *capacity : 64;
    void *grown = realloc(array, *capacity * item_bytes);
    if (grown == NULL) abort();
    return grown;
}

int32_t pm_constant_row(pm_parser *p, uint64_t value) {
    pm_module *m = p->module;
    const uint64_t mixed = value * 0x9e3779b97f4a7c15u;
    uint32_t *head = &p->constant_heads[(mixed >> 40) % PM_CONSTANT_BUCKETS];
    for (uint32_t i = *head; i != 0; i = p->constant_links[i - 1])
        if (m->constants[(size_t)(i - 1) * PM_LANES] == value) return ~(int32_t)(i - 1);
    const uint32_t capacity = m->constant_capacity;
    m->constants = pm_grow(m->constants, m->constant_count, &m->constant_capacity,
                           PM_LANES * sizeof *m->constants);
    if (capacity != m->constant_capacity) {
        p->constant_links =
            realloc(p->constant_links, m->constant_capacity * sizeof *p->constant_links);
        if (p->constant_links == NULL) abort();
    }
    for (unsigned l = 0; l < PM_LANES; l++)
        m->constants[(size_t)m->constant_count * PM_LANES + l] = value;
    p->constant_links[m->constant_count] = *head;
    *head = ++m->constant_count;
    return ~(int32_t)(m->constant_count - 1);
}

uint64_t pm_round_up(uint64_t value, uint64_t to) {
    return (value + to - 1) / to * to;
}

uint32_t pm_local_place(pm_parser *p, uint64_t bytes, uint64_t align) {
    const uint64_t at = pm_round_up(p->local_top, align > 8 ? align : 8);
    if (at + bytes > (1u << 30))
        pm_parse_fail(p, p->lexer.token.line, "the local frame is too large");
    p->local_top = (uint32_t)(at + bytes);
    if (p->local_top > p->function->local_bytes) p->function->local_bytes = p->local_top;
    return (uint32_t)at;
}

pm_insn *pm_emit(pm_parser *p, const pm_statement *s, pm_handler run) {
    pm_module *m = p->module;
    m->code = pm_grow(m->code, m->code_count, &m->code_capacity, sizeof *m->code);
    pm_insn *in = &m->code[m->code_count++];
    *in = (pm_insn){.run = run, .guard = -1};
    if (s != NULL) {
        in->text = s->text;
        in->line = s->line;
    }
    return in;
}

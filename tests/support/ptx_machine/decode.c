/* SPDX-License-Identifier: Apache-2.0 */
/* From a statement to an instruction: its row of the tables, its operands as rows of registers. */
#include "ops.h"

/* ---- the name ---- */

enum { PARTS_MAX = 12 };
typedef struct parts {
    char text[96];
    const char *items[PARTS_MAX];
    unsigned count;
} parts;

static bool split(const char *name, parts *out) {
    out->count = 0;
    (void)snprintf(out->text, sizeof out->text, "%s", name);
    for (char *at = out->text; at != NULL;) {
        if (out->count == PARTS_MAX) return false;
        out->items[out->count++] = at;
        at = strchr(at, '.');
        if (at != NULL) *at++ = '\0';
    }
    return true;
}

static int find_word(const char *word, const char *const *words) {
    for (int i = 0; words[i] != NULL; i++)
        if (strcmp(words[i], word) == 0) return i;
    return -1;
}

static bool take_space(const char *part, pm_insn *in) {
    static const char *const names[] = {"global", "const",       "shared", "local",
                                        "param",  "shared::cta", NULL};
    static const pm_space spaces[] = {PM_GLOBAL, PM_CONST, PM_SHARED,
                                      PM_LOCAL,  PM_PARAM, PM_SHARED};
    const int found = find_word(part, names);
    if (found < 0 || in->space != PM_GENERIC) return false;
    in->space = (uint8_t)spaces[found];
    return true;
}

/* What does not change the meaning where memory has one order. */
static bool take_access_word(const char *part, pm_insn *in) {
    enum { ACQUIRE = 2 };
    static const char *const words[] = {"volatile", "relaxed", "acquire", "release", "acq_rel",
                                        "weak",     "cta",     "gpu",     "sys",     "cluster",
                                        "ca",       "cg",      "cs",      "lu",      "cv",
                                        "wb",       "wt",      "nc",      NULL};
    const int found = find_word(part, words);
    if (found >= 0 && found <= ACQUIRE) in->is_volatile = true;
    return found >= 0 || strncmp(part, "L1::", 4) == 0 || strncmp(part, "L2::", 4) == 0;
}

static bool take_modifier(const char *part, unsigned allowed, pm_insn *in) {
    static const char *const roundings[] = {"rn",  "rz",  "rm",  "rp", "rni",
                                            "rzi", "rmi", "rpi", NULL};
    static const char *const combinations[] = {"and", "or", "xor", NULL};
    int found;
    if ((allowed & PM_MAY_ROUND) != 0 && (found = find_word(part, roundings)) >= 0) {
        if (in->rounding != PM_ROUND_NONE) return false;
        in->rounding = (uint8_t)(found + 1);
        return true;
    }
    if ((allowed & PM_MAY_COMBINE) != 0 && (found = find_word(part, combinations)) >= 0) {
        in->aux = found + 1;
        return true;
    }
    if ((allowed & PM_MAY_FTZ) != 0 && strcmp(part, "ftz") == 0) return in->is_ftz = true;
    if ((allowed & PM_MAY_SAT) != 0 && strcmp(part, "sat") == 0) return in->is_sat = true;
    if ((allowed & PM_MAY_NAN) != 0 && strcmp(part, "NaN") == 0) return in->is_nan = true;
    if ((allowed & PM_MAY_VECTOR) != 0 && part[0] == 'v' && strchr("248", part[1]) != NULL &&
        part[1] != '\0' && part[2] == '\0') {
        in->count = (uint8_t)(part[1] - '0');
        return true;
    }
    if ((allowed & PM_MAY_UNI) != 0 &&
        (strcmp(part, "uni") == 0 || strcmp(part, "aligned") == 0 || strcmp(part, "cta") == 0))
        return true;
    return (allowed & PM_MAY_ACCESS) != 0 && (take_space(part, in) || take_access_word(part, in));
}

static bool has_type(const char *types, const char *type) {
    const size_t length = strlen(type);
    for (const char *p = types; (p = strstr(p, type)) != NULL; p += length)
        if ((p == types || p[-1] == ' ') && (p[length] == ' ' || p[length] == '\0')) return true;
    return false;
}

static bool matches(const pm_op *op, const parts *name, pm_insn *in) {
    parts row;
    unsigned next = 1;
    if (!split(op->name, &row)) return false;
    *in = (pm_insn){.run = op->run, .aux = op->aux, .guard = -1, .count = 1};
    for (unsigned i = 1; i < name->count; i++) {
        const char *part = name->items[i];
        const pm_type type = pm_type_of(part, strlen(part));
        const bool is_free = next < row.count && strcmp(row.items[next], "*") == 0;
        if (is_free ? type.bytes != 0 && has_type(op->types, part)
                    : next < row.count && strcmp(row.items[next], part) == 0) {
            next++;
            if (type.bytes != 0) {
                if (in->type.bytes == 0)
                    in->type = type;
                else
                    in->from = type;
            }
        } else if (!take_modifier(part, op->allowed, in)) {
            return false;
        }
    }
    return next == row.count;
}

static const pm_op *find_op(const char *name, pm_insn *in) {
    static const pm_op *const tables[] = {
        pm_integer_ops, pm_logic_ops,  pm_float_ops,   pm_half_ops, pm_convert_ops,
        pm_memory_ops,  pm_atomic_ops, pm_control_ops, pm_warp_ops, pm_texture_ops};
    parts words;
    if (!split(name, &words)) return NULL;
    const size_t length = strlen(words.items[0]);
    for (size_t t = 0; t < sizeof tables / sizeof tables[0]; t++)
        for (const pm_op *op = tables[t]; op->name != NULL; op++)
            if (strncmp(op->name, words.items[0], length) == 0 &&
                (op->name[length] == '.' || op->name[length] == '\0') && matches(op, &words, in))
                return op;
    return NULL;
}

/* ---- operands ---- */

void pm_bad_operand(pm_parser *p, const pm_statement *s) {
    pm_parse_fail(p, s->line, "operands of another kind are expected: %.200s", s->text);
}

static uint64_t number_of(const pm_operand *o, pm_type type) {
    uint64_t bits = o->value;
    float narrow;
    double wide;
    if (o->kind == PM_OPERAND_FLOAT && type.kind == PM_FLOAT && type.bytes == 8) {
        memcpy(&narrow, &bits, sizeof narrow);
        wide = (double)narrow;
        memcpy(&bits, &wide, sizeof wide);
    } else if (o->kind == PM_OPERAND_DOUBLE && type.kind == PM_FLOAT && type.bytes == 4) {
        memcpy(&wide, &bits, sizeof wide);
        narrow = (float)wide;
        bits = 0;
        memcpy(&bits, &narrow, sizeof narrow);
    } else if (o->kind == PM_OPERAND_INTEGER && type.kind == PM_PRED) {
        bits = o->value != 0 ? PM_FULL : 0;
    }
    return bits;
}

static void run_local_address(pm_warp *w, const pm_insn *in) {
    uint64_t *d = pm_row(w, in->d);
    PM_FOR_LANES(w, { d[l] = (uint64_t)((int64_t)w->local_frames[l] + in->offset); });
}

static void run_dynamic_shared(pm_warp *w, const pm_insn *in) {
    uint64_t *d = pm_row(w, in->d);
    const uint64_t base = w->grid->shared_static_bytes + (uint64_t)in->offset;
    PM_FOR_LANES(w, { d[l] = base; });
}

/* A value that an instruction of its own must find first. */
static int32_t computed(pm_parser *p, const pm_statement *s, pm_handler run, uint64_t number) {
    const int32_t row = pm_new_row(p);
    pm_insn *in = pm_emit(p, s, run);
    in->d = row;
    in->offset = (int64_t)number;
    in->aux = (int32_t)number;
    return row;
}

static int32_t address_of(pm_parser *p, const pm_statement *s, const pm_operand *o) {
    const pm_symbol *symbol = o->symbol;
    if (symbol->kind == PM_SYMBOL_FUNCTION)
        return pm_constant_row(p, PM_CODE_WINDOW + symbol->function->number + o->value);
    if (symbol->kind != PM_SYMBOL_VARIABLE) pm_bad_operand(p, s);
    if (symbol->space == PM_LOCAL)
        return computed(p, s, run_local_address, symbol->address + o->value);
    if (symbol->is_dynamic) return computed(p, s, run_dynamic_shared, o->value);
    return pm_constant_row(p, symbol->address + o->value);
}

int32_t pm_source(pm_parser *p, const pm_statement *s, const pm_operand *o, pm_type type) {
    switch (o->kind) {
    case PM_OPERAND_REGISTER:
        if (o->is_negated || (o->symbol->type.kind == PM_PRED) != (type.kind == PM_PRED))
            pm_bad_operand(p, s);
        return o->symbol->row;
    case PM_OPERAND_INTEGER:
    case PM_OPERAND_FLOAT:
    case PM_OPERAND_DOUBLE: return pm_constant_row(p, number_of(o, type));
    case PM_OPERAND_SYMBOL: return address_of(p, s, o);
    case PM_OPERAND_SPECIAL: return computed(p, s, pm_special_run, o->value);
    default: pm_bad_operand(p, s);
    }
}

int32_t pm_destination(pm_parser *p, const pm_statement *s, const pm_operand *o) {
    if (o->kind == PM_OPERAND_SINK) {
        if (p->sink_row < 0) p->sink_row = pm_new_row(p);
        return p->sink_row;
    }
    if (o->kind != PM_OPERAND_REGISTER || o->is_negated) pm_bad_operand(p, s);
    return o->symbol->row;
}

void pm_take_vector(pm_parser *p, const pm_statement *s, const pm_operand *o, pm_insn *in,
                    bool is_source) {
    const bool is_list = o->kind == PM_OPERAND_VECTOR;
    const unsigned count = is_list ? o->item_count : 1;
    if (count == 0 || count > PM_VECTOR_MAX) pm_bad_operand(p, s);
    in->count = (uint8_t)count;
    for (unsigned i = 0; i < count; i++) {
        const pm_operand *item = is_list ? &o->items[i] : o;
        in->vector[i] = is_source ? pm_source(p, s, item, in->type) : pm_destination(p, s, item);
    }
}

/* A variable must lie in the space that the instruction names; parameters of functions are local.
 */
static void take_variable(pm_parser *p, const pm_statement *s, const pm_operand *base,
                          pm_insn *in) {
    const pm_symbol *v = base->symbol;
    const bool is_param = in->space == PM_PARAM && v->space == PM_LOCAL;
    if (v->kind != PM_SYMBOL_VARIABLE || (!is_param && in->space != (uint8_t)v->space &&
                                          !(in->space == PM_GENERIC && v->space == PM_GLOBAL)))
        pm_bad_operand(p, s);
    if (v->space == PM_LOCAL) {
        in->space = PM_LOCAL;
        in->is_frame = true;
        in->a = pm_constant_row(p, v->address);
    } else {
        in->a = address_of(p, s, base);
    }
}

void pm_take_address(pm_parser *p, const pm_statement *s, const pm_operand *o, pm_insn *in) {
    if (o->kind != PM_OPERAND_ADDRESS || o->item_count != 1) pm_bad_operand(p, s);
    in->offset = (int64_t)o->value;
    if (o->items[0].kind == PM_OPERAND_SYMBOL) {
        in->offset += (int64_t)o->items[0].value;
        pm_operand base = o->items[0];
        base.value = 0;
        take_variable(p, s, &base, in);
    } else {
        in->a = pm_source(p, s, &o->items[0], (pm_type){PM_UNSIGNED, 8});
    }
}

/* ---- shapes ---- */

typedef struct source_slots {
    int32_t *sources[4];
    unsigned used;
} source_slots;

static int32_t *next_slot(pm_parser *p, const pm_statement *s, source_slots *slots) {
    if (slots->used == 4) pm_bad_operand(p, s);
    return slots->sources[slots->used++];
}

static void take_pair(pm_parser *p, const pm_statement *s, const pm_operand *o, pm_insn *in) {
    const bool is_pair = o->kind == PM_OPERAND_PAIR;
    in->d = pm_destination(p, s, is_pair ? &o->items[0] : o);
    in->d2 = PM_NONE;
    if (is_pair) in->d2 = pm_destination(p, s, &o->items[1]);
}

static void take_operand(pm_parser *p, const pm_statement *s, char letter, const pm_operand *o,
                         pm_insn *in, source_slots *slots) {
    switch (letter) {
    case 'd': in->d = pm_destination(p, s, o); break;
    case 'p':
    case 'P': take_pair(p, s, o, in); break;
    case 's': *next_slot(p, s, slots) = pm_source(p, s, o, in->type); break;
    case 'q': {
        pm_operand plain = *o;
        plain.is_negated = false;
        in->is_negated = o->is_negated;
        *next_slot(p, s, slots) = pm_source(p, s, &plain, (pm_type){PM_PRED, 1});
        break;
    }
    case 'V': pm_take_vector(p, s, o, in, false); break;
    case 'v': pm_take_vector(p, s, o, in, true); break;
    case 'm':
        pm_take_address(p, s, o, in);
        slots->used = 1;
        break;
    case 'l':
        if (o->kind != PM_OPERAND_NAME) pm_bad_operand(p, s);
        break;
    default: abort();
    }
}

static void take_operands(pm_parser *p, const pm_statement *s, const char *shape, pm_insn *in) {
    source_slots slots = {.sources = {&in->a, &in->b, &in->c, &in->e}};
    const uint8_t count = in->count;
    unsigned i = 0;
    bool is_optional = false;
    for (; *shape != '\0'; shape++) {
        if (*shape == '?') {
            is_optional = true;
            continue;
        }
        if (i == s->operand_count) {
            if (!is_optional) pm_bad_operand(p, s);
            break;
        }
        take_operand(p, s, *shape, &s->operands[i++], in, &slots);
    }
    if (i != s->operand_count || in->count != count) pm_bad_operand(p, s);
}

void pm_decode(pm_parser *p, const pm_statement *s) {
    pm_insn in;
    const bool is_matrix = pm_decode_matrix(p, s, &in);
    const pm_op *op = is_matrix ? NULL : find_op(s->name, &in);
    if (op == NULL && !is_matrix)
        pm_parse_fail(p, s->line, "the machine does not know '%s': %.200s", s->name, s->text);
    if (op != NULL) {
        in.a = in.b = in.c = in.e = in.d2 = PM_NONE;
        if (op->decode != NULL)
            op->decode(p, s, &in);
        else
            take_operands(p, s, op->shape, &in);
    }
    in.text = s->text;
    in.line = s->line;
    if (s->guard != NULL) {
        in.guard = s->guard->row;
        in.is_guard_negated = s->is_guard_negated;
    }
    *pm_emit(p, NULL, in.run) = in;
    const bool has_label = op != NULL && op->shape != NULL && strchr(op->shape, 'l') != NULL;
    if (has_label) pm_add_fixup(p, &s->operands[0], NULL, s->line);
}

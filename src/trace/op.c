/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/op.h"

#include <string.h>

static const struct {
    const char *word;
    uint32_t fields;
    bool has_text;
} kinds[] = {
#define ROW(name, word, fields, has_text) {word, fields, has_text},
    WPI_OP_MAP(ROW)
#undef ROW
};

const char *wpi_op_word(wpi_op_kind kind) {
    return kinds[kind].word;
}

void wpi_op_append(wpi_text *out, wpi_op_kind kind, const uint64_t *fields, const char *text) {
    wpi_varint_append(out, kind);
    for (uint32_t i = 0; i < kinds[kind].fields; i++)
        wpi_varint_append(out, fields[i]);
    if (!kinds[kind].has_text) return;
    size_t length = text != NULL ? strlen(text) : 0;
    if (length > WPI_OP_TEXT_MAX) length = WPI_OP_TEXT_MAX;
    wpi_varint_append(out, length);
    wpi_text_append_n(out, text, length);
}

bool wpi_op_read(wpi_cursor *from, wpi_op *op) {
    const uint64_t kind = wpi_cursor_varint(from);
    *op = (wpi_op){.kind = (wpi_op_kind)kind};
    if (kind >= WPI_OP_COUNT) return false;
    for (uint32_t i = 0; i < kinds[kind].fields; i++)
        op->fields[i] = wpi_cursor_varint(from);
    if (!kinds[kind].has_text) return !from->is_bad;
    const uint64_t length = wpi_cursor_varint(from);
    const uint8_t *text = length <= WPI_OP_TEXT_MAX ? wpi_cursor_bytes(from, length) : NULL;
    if (text == NULL) return false;
    memcpy(op->text, text, (size_t)length);
    return !from->is_bad;
}

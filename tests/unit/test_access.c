/* SPDX-License-Identifier: Apache-2.0 */
/* What instructions access, and what addresses start from (compiler/ir). */
#include "compiler/ir/access.h"

#include <llvm-c/IRReader.h>

#include "compiler/ir/pointer.h"
#include "wp_test.h"

static const char code[] =
    "target datalayout = \"e-i64:64-i128:128-v16:16-v32:32-n16:32:64\"\n"
    "%pair = type { i32, [4 x i64] }\n"
    "@shared = addrspace(3) global [64 x i32] undef\n"
    "define void @kinds(ptr %p, ptr addrspace(1) %g, i64 %n) {\n"
    "  %plain = load i32, ptr %p\n"
    "  %fixed = load volatile i64, ptr %p\n"
    "  store i16 7, ptr addrspace(3) @shared\n"
    "  store atomic i32 1, ptr %p release, align 4\n"
    "  %old = atomicrmw add ptr addrspace(1) %g, i64 1 monotonic\n"
    "  %both = cmpxchg ptr %p, i32 0, i32 1 monotonic monotonic\n"
    "  call void @llvm.memcpy.p0.p1.i64(ptr %p, ptr addrspace(1) %g, i64 40, i1 false)\n"
    "  call void @llvm.memset.p0.i64(ptr %p, i8 3, i64 %n, i1 true)\n"
    "  fence seq_cst\n"
    "  call void @other(ptr %p)\n"
    "  %sum = add i64 %n, 1\n"
    "  ret void\n"
    "}\n"
    "define void @addresses(ptr %a, ptr %b, i64 %i, i1 %c) {\n"
    "entry:\n"
    "  %own = alloca [8 x i32]\n"
    "  %field = getelementptr %pair, ptr %a, i64 %i, i32 1, i64 2\n"
    "  %near = getelementptr i8, ptr %field, i64 4\n"
    "  %either = select i1 %c, ptr %near, ptr %b\n"
    "  br label %loop\n"
    "loop:\n"
    "  %at = phi ptr [ %either, %entry ], [ %next, %loop ]\n"
    "  %next = getelementptr i8, ptr %at, i64 8\n"
    "  br i1 %c, label %loop, label %end\n"
    "end:\n"
    "  %private = getelementptr i32, ptr %own, i64 %i\n"
    "  %variable = load i32, ptr addrspacecast (ptr addrspace(3) getelementptr (i8, ptr "
    "addrspace(3) @shared, i64 4) to ptr)\n"
    "  ret void\n"
    "}\n"
    "declare void @other(ptr)\n"
    "declare void @llvm.memcpy.p0.p1.i64(ptr, ptr addrspace(1), i64, i1)\n"
    "declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)\n";

static LLVMContextRef context;
static LLVMModuleRef module;
static LLVMTargetDataRef layout;

static int parse(void **state) {
    (void)state;
    char *message = NULL;
    context = LLVMContextCreate();
    LLVMMemoryBufferRef buffer =
        LLVMCreateMemoryBufferWithMemoryRangeCopy(code, sizeof code - 1, "code");
    if (LLVMParseIRInContext(context, buffer, &module, &message)) fail_msg("%s", message);
    layout = LLVMGetModuleDataLayout(module);
    return 0;
}

static int dispose(void **state) {
    (void)state;
    LLVMDisposeModule(module);
    LLVMContextDispose(context);
    return 0;
}

/* The parameter or instruction of that name in a function. */
static LLVMValueRef named(const char *function, const char *name) {
    LLVMValueRef f = LLVMGetNamedFunction(module, function);
    for (unsigned p = 0; p < LLVMCountParams(f); p++) {
        size_t length;
        if (strcmp(LLVMGetValueName2(LLVMGetParam(f, p), &length), name) == 0)
            return LLVMGetParam(f, p);
    }
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
            size_t length;
            if (strcmp(LLVMGetValueName2(i, &length), name) == 0) return i;
        }
    fail_msg("%s has no %s", function, name);
    return NULL;
}

static void each_kind_of_access_is_told_apart(void **state) {
    (void)state;
    static const struct {
        wpi_ir_access_kind kind;
        uint64_t size_bytes;
        uint32_t space;
        bool is_ordered, reads, writes;
    } expected[] = {
        {WP_ACCESS_READ, 4, 0, false, true, false},  {WP_ACCESS_READ, 8, 0, true, true, false},
        {WP_ACCESS_WRITE, 2, 3, false, false, true}, {WP_ACCESS_WRITE, 4, 0, true, false, true},
        {WP_ACCESS_ATOMIC, 8, 1, true, true, true},  {WP_ACCESS_ATOMIC, 4, 0, true, true, true},
        {WP_ACCESS_COPY, 40, 0, false, true, true},  {WP_ACCESS_SET, 0, 0, true, false, true},
        {WP_ACCESS_FENCE, 0, 0, true, false, false}, {WP_ACCESS_NONE, 0, 0, false, false, false},
        {WP_ACCESS_NONE, 0, 0, false, false, false}};
    LLVMValueRef kinds = LLVMGetNamedFunction(module, "kinds");
    LLVMValueRef i = LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(kinds));
    for (size_t n = 0; n < sizeof expected / sizeof *expected; n++) {
        const wpi_ir_access a = wpi_access_of(i);
        assert_ptr_equal(a.instruction, i);
        assert_int_equal(a.kind, expected[n].kind);
        assert_u64(wpi_access_bytes(layout, &a), expected[n].size_bytes);
        assert_int_equal(a.is_ordered, expected[n].is_ordered);
        assert_int_equal(wpi_access_reads(&a), expected[n].reads);
        assert_int_equal(wpi_access_writes(&a), expected[n].writes);
        assert_int_equal(wpi_access_is_atomic(i), a.kind == WP_ACCESS_ATOMIC);
        assert_int_equal(wpi_access_is_plain_read(i), a.kind == WP_ACCESS_READ && !a.is_ordered);
        if (a.pointer != NULL) {
            assert_int_equal(wpi_access_space(&a), expected[n].space);
            assert_ptr_equal(a.pointer, LLVMGetOperand(i, a.operand));
        }
        i = LLVMGetNextInstruction(i);
    }
}

static void a_copy_has_a_source_and_a_fill_has_a_value(void **state) {
    (void)state;
    LLVMValueRef i = named("kinds", "both");
    const wpi_ir_access copy = wpi_access_of(LLVMGetNextInstruction(i));
    const wpi_ir_access set = wpi_access_of(LLVMGetNextInstruction(copy.instruction));
    assert_ptr_equal(copy.source, named("kinds", "g"));
    assert_null(copy.value);
    assert_null(set.source);
    assert_u64(LLVMConstIntGetZExtValue(set.value), 3);
}

static void an_address_starts_from_all_values_that_lead_to_it(void **state) {
    (void)state;
    const wpi_pointer_roots_of roots = wpi_pointer_roots_of(named("addresses", "next"));
    assert_int_equal(roots.count, 2);
    assert_false(roots.is_incomplete);
    assert_true(roots.items[0] == named("addresses", "a") ||
                roots.items[1] == named("addresses", "a"));
    assert_true(roots.items[0] == named("addresses", "b") ||
                roots.items[1] == named("addresses", "b"));
}

static void the_base_is_found_through_indices_and_casts_only(void **state) {
    (void)state;
    assert_ptr_equal(wpi_pointer_base(named("addresses", "near")), named("addresses", "a"));
    assert_ptr_equal(wpi_pointer_base(named("addresses", "private")), named("addresses", "own"));
    assert_ptr_equal(wpi_pointer_base(named("addresses", "next")), named("addresses", "at"));
    const wpi_ir_access a = wpi_access_of(named("addresses", "variable"));
    assert_ptr_equal(wpi_pointer_base(a.pointer), LLVMGetNamedGlobal(module, "shared"));
}

static void the_parts_of_an_offset_come_in_order(void **state) {
    (void)state;
    LLVMValueRef index;
    uint64_t bytes;
    wpi_gep_walk_begin walk = wpi_gep_walk_begin(layout, named("addresses", "field"));
    assert_true(wpi_gep_next(&walk, &index, &bytes));
    assert_ptr_equal(index, named("addresses", "i"));
    assert_u64(bytes, 40); /* i32, 4 bytes of padding, 4 of i64 */
    assert_true(wpi_gep_next(&walk, &index, &bytes));
    assert_null(index);
    assert_u64(bytes, 8);
    assert_true(wpi_gep_next(&walk, &index, &bytes));
    assert_u64(LLVMConstIntGetZExtValue(index), 2);
    assert_u64(bytes, 8);
    assert_false(wpi_gep_next(&walk, &index, &bytes));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_kind_of_access_is_told_apart),
        cmocka_unit_test(a_copy_has_a_source_and_a_fill_has_a_value),
        cmocka_unit_test(an_address_starts_from_all_values_that_lead_to_it),
        cmocka_unit_test(the_base_is_found_through_indices_and_casts_only),
        cmocka_unit_test(the_parts_of_an_offset_come_in_order),
    };
    return cmocka_run_group_tests(tests, parse, dispose);
}

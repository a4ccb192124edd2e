// SPDX-License-Identifier: Apache-2.0
// FLAGS: -lcufilt
/* NVIDIA's demangler of names, nv_decode.h. */
#include <nv_decode.h>

#include "check.h"

int main() {
    static const char name[] = "_ZN5outer4workIfLi3EEEvPT_", plain[] = "void outer::work<float, 3>(float*)";
    int status = 9;
    size_t length = 4;
    char *made = __cu_demangle(name, NULL, NULL, &status);
    CHECK_EQ(status, 0);
    CHECK(made != NULL && strcmp(made, plain) == 0);
    free(made);
    char *buffer = (char *)malloc(length);
    buffer = __cu_demangle(name, buffer, &length, NULL);
    CHECK(buffer != NULL && strcmp(buffer, plain) == 0);
    CHECK_EQ(length, sizeof plain);
    char *same = __cu_demangle("_Z1fi", buffer, &length, &status);
    CHECK(same == buffer && strcmp(same, "f(int)") == 0);
    CHECK(__cu_demangle("work", NULL, NULL, &status) == NULL);
    CHECK_EQ(status, -2);
    CHECK(__cu_demangle(NULL, NULL, NULL, &status) == NULL);
    CHECK_EQ(status, -3);
    free(buffer);
    return check_done();
}

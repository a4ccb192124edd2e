// STAGE: compile
// EXIT: 1
// STDERR: missing_header\.cu:6:10: fatal error: 'no_such_header\.h' file not found
/* SPDX-License-Identifier: Apache-2.0 */
/* A header that is not there. */
#include "no_such_header.h"
int main(void) { return 0; }

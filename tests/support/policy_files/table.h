/* SPDX-License-Identifier: Apache-2.0 */
/* A policy file's table, as `wpcc --policy` makes it, with what a test wants to be wrong. */
#ifndef WP_TEST_POLICY_FILE_TABLE_H
#define WP_TEST_POLICY_FILE_TABLE_H

#include "policy/policy_file.h"

#define POLICY(kind_, name_, ops_)                                                                 \
    {.kind = kind_, .name = name_, .keys = "", .doc = "", .source = "", .ops = ops_}

#define TABLE(abi_, sizes_, policies_)                                                             \
    __attribute__((visibility("default"))) extern const wpi_policy_file wpi_policy_file_table;     \
    const wpi_policy_file wpi_policy_file_table = {abi_, sizeof sizes_ / sizeof sizes_[0],         \
                                                   "0.0.0", sizes_, policies_}

#endif

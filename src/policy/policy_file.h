/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Policy files: shared objects with policies in them, loaded at run time. `wpcc --policy mine.c -o
 * mine.so` makes one; it adds a wpi_policy_file, which lists the policies and says for which
 * interface they were compiled. Warpage refuses a file whose interface is not its own.
 */
#ifndef WP_POLICY_POLICY_FILE_H
#define WP_POLICY_POLICY_FILE_H

#include <stdint.h>

#include "policy/evict.h"
#include "policy/migrate.h"
#include "policy/prefetch.h"
#include "policy/replacement.h"
#include "policy/scheduler.h"
#include "policy/thrash.h"
#include "policy/tlb_prefetch.h"
#include "policy/tlb_sharing.h"

/** Version of the interface between policies and Warpage. Increment it with every change to a
 * header of this folder that WPI_POLICY_SIZES does not detect: a changed order or meaning of
 * members. */
#define WPI_POLICY_ABI 1u

/** Sizes of what policies and Warpage share; a file with other sizes is refused. */
#define WPI_POLICY_SIZES                                                                           \
    {sizeof(wpi_policy),                                                                           \
     sizeof(wpi_scheduler_ops),                                                                    \
     sizeof(wpi_ready),                                                                            \
     sizeof(wpi_replacement_ops),                                                                  \
     sizeof(wpi_tlb_sharing_ops),                                                                  \
     sizeof(wpi_tlb_sharing_question),                                                             \
     sizeof(wpi_tlb_sharing_answer),                                                               \
     sizeof(wpi_tlb_prefetch_ops),                                                                 \
     sizeof(wpi_tlb_prefetch_question),                                                            \
     sizeof(wpi_prefetch_ops),                                                                     \
     sizeof(wpi_prefetch_question),                                                                \
     sizeof(wpi_prefetch_idle),                                                                    \
     sizeof(wpi_evict_ops),                                                                        \
     sizeof(wpi_evict_question),                                                                   \
     sizeof(wpi_migrate_ops),                                                                      \
     sizeof(wpi_migrate_question),                                                                 \
     sizeof(wpi_thrash_ops),                                                                       \
     sizeof(wpi_thrash_question),                                                                  \
     sizeof(wpi_thrash_hint),                                                                      \
     sizeof(wpi_thrash),                                                                           \
     sizeof(wpi_thrash_chunk),                                                                     \
     sizeof(wpi_thrash_page),                                                                      \
     sizeof(wpi_pages),                                                                            \
     sizeof(wpi_chunk),                                                                            \
     sizeof(wpi_residency),                                                                        \
     sizeof(wpi_future)}

/** What a policy file exports, as the variable `wpi_policy_file_table`. `abi` and `version` keep
 * their places in every version of the interface, so that each can name the other. */
typedef struct wpi_policy_file {
    uint32_t abi;        /* WPI_POLICY_ABI */
    uint32_t size_count; /* of WPI_POLICY_SIZES */
    const char *version; /* WP_VERSION_STRING */
    const uint32_t *sizes;
    const wpi_policy *const *policies; /* the last is NULL */
} wpi_policy_file;

#define WPI_POLICY_FILE_SYMBOL "wpi_policy_file_table"

#endif

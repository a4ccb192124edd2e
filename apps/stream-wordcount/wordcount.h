/* SPDX-License-Identifier: Apache-2.0 */
/** Word count by MapReduce, for --table. */
#ifndef WORDCOUNT_H
#define WORDCOUNT_H

#include "sepo/sepo.h"
#include "streaming/corpus.h"

/** Counts the words of a text and prints them; `is_locked`: counts are added under the lock of the
 * word's entry, and not by atomics. False: the check found a difference. */
bool app_wordcount_map(const app_corpus *text, const app_sepo_options *options, bool is_locked,
                       uint64_t top, bool is_checked);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/** Word count by MapReduce, for --table. */
#ifndef WORDCOUNT_H
#define WORDCOUNT_H

#include "sepo/sepo.h"
#include "streaming/corpus.h"

/** Counts the words of a text and prints them. False: the check found a difference. */
bool app_wordcount_map(const app_corpus *text, const app_sepo_options *options, uint64_t top,
                       bool is_checked);

#endif

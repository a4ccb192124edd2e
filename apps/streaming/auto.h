/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The fastest way to feed a kernel, chosen by measuring where there are enough data:
 *
 *     all records fit the buffers               staged: there is nothing to stream
 *     fewer data than MEASURED_FROM times       the rule: staged with windows, or where the kernel
 *     the buffers                               reads most of the data; else full
 *     else                                      the rule's way, unless another one takes 5 % less
 *                                               time for 1/32 of the records
 *
 * A way is measured only where that costs little: double, direct and zerocopy get 1/512 of the
 * records first, and no more if they take more than three times as long as the best so far; full and
 * volume nothing where a launch takes more than 1 % of the expected time.
 *
 * Staged: double, by four threads of the host (--stagers: another number), which are faster than
 * the link; or direct, if the records may be page-locked as a whole and pieces are too small to be
 * shared by so many. Whether the kernel has windows is known without a launch. A streamed launch of
 * 1/512 of the records shows how much it reads, and what a launch costs that does almost nothing.
 * Thread rule: one thread.
 */
#ifndef APP_STREAMING_AUTO_H
#define APP_STREAMING_AUTO_H

#include "streaming/streaming.h"

/** Once over all records, as app_streaming_run. */
void app_streaming_auto(const app_streaming *job, app_streaming_times *times);

#endif

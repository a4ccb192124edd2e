/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The fastest way to feed a kernel, chosen by measuring where there are enough data:
 *
 *     all records fit the buffers                double: there is nothing to stream
 *     no address threads (windows), or fewer     the rule: double with windows, else full
 *     data than MEASURED_FROM times the buffers
 *     else                                       the way that took least time for 1/32 of the
 * records
 *
 * A streamed launch of 1/512 of the records shows whether the kernel has windows, and what a launch
 * costs that does almost nothing. Thread rule: one thread.
 */
#ifndef APP_STREAMING_AUTO_H
#define APP_STREAMING_AUTO_H

#include "streaming/streaming.h"

/** Once over all records, as app_streaming_run. */
void app_streaming_auto(const app_streaming *job, app_streaming_times *times);

#endif

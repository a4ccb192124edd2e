/* SPDX-License-Identifier: Apache-2.0 */
/** --table threads: the same table in host memory, filled by threads of the host. */
#ifndef APP_SEPO_THREADS_H
#define APP_SEPO_THREADS_H

#include "sepo/sepo.h"

/** Inserts all records in one pass, and prints how long that took. */
wp_table *app_sepo_insert_on_host(const wp_table_spec *spec, const app_sepo_options *options,
                                  app_sepo_records *input);

#endif

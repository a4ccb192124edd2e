/* SPDX-License-Identifier: Apache-2.0 */
/** The simulated host, in all forms of a record. */
#ifndef WP_REPORT_HOST_FACTS_H
#define WP_REPORT_HOST_FACTS_H

#include "report/json/json_parts.h"
#include "report/run_record.h"

/** Adds the members "host" and "host_threads", if they have contents. */
void wpi_host_facts_to_json(const wp_run_record *record, json_t *root);
void wpi_host_facts_from_json(wpi_json_reader *reader, const json_t *root, wp_run_record *out);
void wpi_host_facts_text(const wp_run_record *record, wpi_text *out);
void wpi_host_facts_html(const wp_run_record *record, wpi_text *out);

#endif

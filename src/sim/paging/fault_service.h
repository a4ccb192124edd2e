/* SPDX-License-Identifier: Apache-2.0 */
/** The interface of fault services, and the one with a fixed time for each fault, as in papers
 * (fault_batch.h has the driver's). */
#ifndef WP_SIM_FAULT_SERVICE_H
#define WP_SIM_FAULT_SERVICE_H

#include "sim/engine/fifo.h"
#include "sim/engine/slab.h"
#include "sim/paging/paging.h"

/** A far fault, as its service sees it. */
typedef struct wpi_page_fault {
    wpi_page_number page;
    uint32_t sm;
    bool is_write;
    wpi_line_count *counts; /* of the access; NULL: not counted, or a policy wants the page */
} wpi_page_fault;

/** Counts a far fault at the line of its access. */
void wpi_paging_count_fault(const wpi_paging *paging, const wpi_page_fault *fault);

/** A way to service far faults. */
typedef struct wpi_fault_service_ops {
    /* `destroy` is called after a `create` that failed, too. NOMEM. */
    wp_status (*create)(wpi_paging *paging, wp_error *err);
    void (*destroy)(wpi_paging *paging);
    /* A request waits for the page. It walks again when the page arrives or, if `is_replaying`, at
     * the service's next replay (wpi_gmmu_replay); such a service is called for each SM that waits.
     */
    void (*add)(wpi_paging *paging, const wpi_page_fault *fault, wpi_time_ps now);
    /* A policy wants a page for which nothing waits. */
    void (*order)(wpi_paging *paging, wpi_page_number page, wpi_time_ps now);
    bool is_replaying;
    void (*arrived)(wpi_paging *paging, wpi_time_ps now); /* a transfer has arrived; optional */
    void (*statistics)(const wpi_paging *paging, wpi_visit visit, void *object); /* optional */
} wpi_fault_service_ops;

extern const wpi_fault_service_ops wpi_fault_rounds;

/** An entry of the fault buffer. The page may have arrived when the entry is serviced. */
typedef struct wpi_fault_entry {
    wpi_page_number page;
    wpi_time_ps raised;
    uint32_t next;
} wpi_fault_entry;

typedef struct wpi_fault_queue {
    wpi_pool entries;
    wpi_fifo buffer; /* not in service yet */
    wpi_fifo served; /* in service */
    bool is_serving;
} wpi_fault_queue;

#endif

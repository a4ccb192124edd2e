/* SPDX-License-Identifier: Apache-2.0 */
/* How many events a second the engine runs. Each event schedules its successor, with delays as in a
 * memory system: cycles, hundreds of nanoseconds, and one in 64 beyond the wheel's horizon. */
#include <stdio.h>
#include <time.h>

#include "sim/engine/engine.h"

#define EVENT_COUNT ((uint64_t)40000000)

static wpi_engine *engine;
static uint64_t random_state = 88172645463325252u;

static uint64_t random_next(void) {
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

static void happen(void *object, uint64_t token, wpi_time_ps now) {
    if (wpi_engine_events_run(engine) >= EVENT_COUNT) {
        wpi_engine_stop(engine);
        return;
    }
    const uint64_t r = random_next();
    const wpi_time_ps delay =
        r % 64 == 0 ? 20 * WP_PS_PER_US + (r >> 32) % WP_PS_PER_US : 675 * (1 + (r >> 32) % 1024);
    wpi_engine_at(engine, now + delay, happen, object, token);
}

static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int main(void) {
    const uint64_t pending[] = {100, 1000, 10000, 100000, 1000000};
    for (size_t i = 0; i < sizeof pending / sizeof pending[0]; i++) {
        wp_error err;
        if (wpi_engine_create(&engine, &err) != WP_STATUS_OK) {
            (void)fprintf(stderr, "%s\n", err.message);
            return 1;
        }
        for (uint64_t k = 0; k < pending[i]; k++)
            wpi_engine_at(engine, random_next() % WP_PS_PER_US, happen, NULL, k);
        const double start = seconds();
        wpi_engine_run(engine);
        const double spent = seconds() - start;
        printf("%8llu pending: %6.1f M events/s\n", (unsigned long long)pending[i],
               1e-6 * (double)EVENT_COUNT / spent);
        wpi_engine_destroy(engine);
    }
    return 0;
}

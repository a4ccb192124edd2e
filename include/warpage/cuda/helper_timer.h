/* SPDX-License-Identifier: Apache-2.0 */
/** Stop watches, in milliseconds. */
#ifndef WARPAGE_CUDA_HELPER_TIMER_H
#define WARPAGE_CUDA_HELPER_TIMER_H

#ifndef COMMON_HELPER_TIMER_H_
#define COMMON_HELPER_TIMER_H_
#endif

#include <stddef.h>
#include <sys/time.h>
#include <time.h>

class StopWatchInterface {
  public:
    StopWatchInterface() {
    }
    virtual ~StopWatchInterface() {
    }
    virtual void start() = 0;
    virtual void stop() = 0;
    virtual void reset() = 0;
    virtual float getTime() = 0;
    virtual float getAverageTime() = 0;
};

class StopWatchLinux : public StopWatchInterface {
  public:
    StopWatchLinux() : started_(), total_ms_(0), sessions_(0), is_running_(false) {
    }
    virtual ~StopWatchLinux() {
    }

    virtual void start() {
        clock_gettime(CLOCK_MONOTONIC, &started_);
        is_running_ = true;
    }
    virtual void stop() {
        total_ms_ += since_start();
        sessions_++;
        is_running_ = false;
    }
    virtual void reset() {
        total_ms_ = 0;
        sessions_ = 0;
        clock_gettime(CLOCK_MONOTONIC, &started_);
    }
    /** The sum of all finished intervals and the current one. */
    virtual float getTime() {
        return (float)(total_ms_ + (is_running_ ? since_start() : 0));
    }
    virtual float getAverageTime() {
        return sessions_ > 0 ? (float)(total_ms_ / sessions_) : 0.0f;
    }

  private:
    double since_start() const {
        struct timespec now;
        clock_gettime(CLOCK_MONOTONIC, &now);
        return 1e3 * (double)(now.tv_sec - started_.tv_sec) +
               1e-6 * (double)(now.tv_nsec - started_.tv_nsec);
    }
    struct timespec started_;
    double total_ms_;
    int sessions_;
    bool is_running_;
};

inline bool sdkCreateTimer(StopWatchInterface **timer) {
    *timer = new StopWatchLinux;
    return true;
}
inline bool sdkDeleteTimer(StopWatchInterface **timer) {
    delete *timer;
    *timer = NULL;
    return true;
}
inline bool sdkStartTimer(StopWatchInterface **timer) {
    if (*timer != NULL) {
        (*timer)->start();
    }
    return true;
}
inline bool sdkStopTimer(StopWatchInterface **timer) {
    if (*timer != NULL) {
        (*timer)->stop();
    }
    return true;
}
inline bool sdkResetTimer(StopWatchInterface **timer) {
    if (*timer != NULL) {
        (*timer)->reset();
    }
    return true;
}
inline float sdkGetTimerValue(StopWatchInterface **timer) {
    return *timer != NULL ? (*timer)->getTime() : -1.0f;
}
inline float sdkGetAverageTimerValue(StopWatchInterface **timer) {
    return *timer != NULL ? (*timer)->getAverageTime() : 0.0f;
}

#endif

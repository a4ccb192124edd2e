/* SPDX-License-Identifier: Apache-2.0 */
/* Patent Citation, and Geo Location with MAPCG_PLACES, for MapCG, which includes this as "mapreduce.h" twice: for the
 * device and for the host. The same pairs as those of apps/patent-citation and apps/geo-location; Reduce counts a key's
 * values. (Word Count is MapCG's own.) */
#include <stdio.h>

#if defined(HMMHASHTABLECPU_H) /* is not called */
#define HMM_FUNC HMMSchedulerCPU::
namespace HMM_CPU {
#else
#include "geo-location/places.h"
#define HMM_FUNC __device__
namespace HMM_GPU {
#endif

void HMM_FUNC slice(const void *input, const unsigned int bytes, const unsigned int unit_bytes,
                    const unsigned int index, const void *&out, unsigned int &out_bytes) {
    default_slice(input, bytes, unit_bytes, index, out, out_bytes);
}

#if defined(HMMHASHTABLECPU_H)
void HMM_FUNC map(const void *, const unsigned int, const global_data_t &) {}
#elif defined(MAPCG_PLACES)
/* Reads [-]digits[.digits] up to a tab or the end as 1/100000 degree. */
static __device__ bool read_degrees(const char *&p, int most, int32_t *out) {
    const bool is_negative = *p == '-';
    long number = 0;
    int digits = 0, decimals = 0;
    bool is_behind_point = false;
    for (p += is_negative; *p != '\t' && *p != '\0'; p++) {
        if (*p == '.' && !is_behind_point) {
            is_behind_point = true;
        } else if (*p >= '0' && *p <= '9' && digits++ < 18) {
            if (is_behind_point && decimals == 5) continue;
            number = number * 10 + (*p - '0');
            decimals += is_behind_point;
        } else {
            return false;
        }
    }
    for (; decimals < 5; decimals++) number *= 10;
    *out = (int32_t)(is_negative ? -number : number);
    return digits != 0 && number <= (long)most * DEGREE;
}

static __device__ unsigned put_number(char *out, int number) {
    unsigned length = 0;
    if (number < 0) out[length++] = '-', number = -number;
    if (number >= 100) out[length++] = (char)('0' + number / 100);
    if (number >= 10) out[length++] = (char)('0' + number / 10 % 10);
    out[length++] = (char)('0' + number % 10);
    return length;
}

void HMM_FUNC map(const void *record, const unsigned int, const global_data_t &data) {
    const int line = *(const int *)record;
    const char *p = data.content + line;
    const unsigned long article = line;
    int32_t latitude, longitude;
    for (int column = 0; column < 2; column++) {
        while (*p != '\t' && *p != '\0') p++;
        if (*p++ == '\0') return;
    }
    if (!read_degrees(p, 90, &latitude) || *p++ == '\0' || !read_degrees(p, 180, &longitude)) return;
    const uint32_t nearest = app_places_nearest(data.all, latitude, longitude);
    if (nearest != PLACE_NONE) {
        const place *at = &data.all->place[nearest];
        emit_intermediate(data.all->names + at->name, at->name_bytes, &article, sizeof article);
        return;
    }
    char key[16];
    unsigned length = put_number(key, (latitude + 180 * DEGREE) / DEGREE - 180);
    key[length++] = ',';
    key[length++] = ' ';
    length += put_number(key + length, (longitude + 180 * DEGREE) / DEGREE - 180);
    emit_intermediate(key, length, &article, sizeof article);
}
#else
void HMM_FUNC map(const void *record, const unsigned int, const global_data_t &data) {
    const char *p = data.content + *(const int *)record, *line = p;
    unsigned long citing = 0;
    for (; *p >= '0' && *p <= '9'; p++) citing = citing * 10 + (unsigned long)(*p - '0');
    if (p == line) return;
    while (*p == '\t' || *p == ' ') p++;
    const char *cited = p;
    while ((unsigned char)*p > ' ') p++;
    if (p != cited) emit_intermediate(cited, (unsigned)(p - cited), &citing, sizeof citing);
}
#endif

void HMM_FUNC reduce(HMMKVs_t &values, const global_data_t &) {
    int count = 0;
    for (; !values.end(); values.next_val()) count++;
    emit(values, &count, sizeof count);
}

void HMM_FUNC combine(void *, const void *) {}
}

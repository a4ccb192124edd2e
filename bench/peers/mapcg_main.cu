/* SPDX-License-Identifier: Apache-2.0 */
/* Word Count, Patent Citation and Geo Location for MapCG, a MapReduce library for GPUs, on the input of
 * apps/stream-wordcount, apps/patent-citation and apps/geo-location. Built by mapcg.sh, once for each.
 *     PROGRAM -f FILE [MapCG's own options, such as -num_hash_buckets N]
 * A line is a record. Prints the numbers of keys and of values. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string>
#include <vector>

#include "HMM/HMMMain.h"
#include "HMM/UtilLib/HMMCommUtil.h"
#include "HMM/UtilLib/HMMCommUtilTemplate.h"
#include "DS.h"
#include "common/text.h"
#include "geo-location/places.h"

int main(int argc, char **argv) {
    std::string path;
    if (!get_opt(argc, argv, "f", path)) {
        fprintf(stderr, "usage: %s -f FILE [-num_hash_buckets N]\n", argv[0]);
        return 2;
    }
    size_t bytes;
    char *text = app_text_read_all(path.c_str(), &bytes);
    std::vector<int> lines;
    bool is_start = true;
    for (size_t i = 0; i < bytes; i++) {
        if (is_start) lines.push_back((int)i);
        is_start = text[i] == '\n';
        if (is_start) text[i] = '\0';
#ifdef MAPCG_WORDS /* apps/stream-wordcount takes a capital for its small letter */
        text[i] = (char)tolower((unsigned char)text[i]);
#endif
    }
    HMMSchedulerSpec job(argc, argv);
    global_data_t data = {};
    data.content = text;
#ifdef MAPCG_PLACES
    places all = {};
    app_places_generate(&all, 20000, 1);
    data.all = app_places_copy(&all);
#endif
    job.input = &lines[0];
    job.input_size = lines.size() * sizeof(int);
    job.unit_size = sizeof(int);
    job.global_data = &data;
    DECLARE_GLOBAL_ARRAY(content, bytes + 1); /* with the NUL behind the text */
    HMMMainScheduler scheduler(job);
    scheduler.do_map_reduce();
    const OutputChunk out = scheduler.get_output();
    unsigned long values = 0;
    for (unsigned i = 0; i < out.count; i++) values += *(int *)((char *)out.vals + out.index[i].z);
    printf("%u keys, %lu values\n", (unsigned)out.count, values);
    return 0;
}

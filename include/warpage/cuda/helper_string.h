/* SPDX-License-Identifier: Apache-2.0 */
/** Command line options of the form -name, --name or -name=value, and finding data files. */
#ifndef WARPAGE_CUDA_HELPER_STRING_H
#define WARPAGE_CUDA_HELPER_STRING_H

#ifndef COMMON_HELPER_STRING_H_
#define COMMON_HELPER_STRING_H_
#endif

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <fstream>
#include <string>

#ifndef STRCASECMP
#define STRCASECMP strcasecmp
#endif
#ifndef STRNCASECMP
#define STRNCASECMP strncasecmp
#endif
#ifndef STRCPY
#define STRCPY(to, bytes, from) strcpy(to, from)
#endif
#ifndef FOPEN
#define FOPEN(handle, name, mode) ((handle) = fopen(name, mode))
#endif
#ifndef FOPEN_FAIL
#define FOPEN_FAIL(result) ((result) == NULL)
#endif
#ifndef SSCANF
#define SSCANF sscanf
#endif
#ifndef SPRINTF
#define SPRINTF sprintf
#endif
#ifndef EXIT_WAIVED
#define EXIT_WAIVED 2
#endif

/** The index of the first character that is not `delimiter`. */
inline int stringRemoveDelimiter(char delimiter, const char *string) {
    int start = 0;
    while (string[start] == delimiter && string[start] != '\0') {
        start++;
    }
    return start;
}

inline int getFileExtension(char *filename, char **extension) {
    char *dot = strrchr(filename, '.');
    *extension = dot != NULL ? dot + 1 : NULL;
    return dot != NULL ? (int)(dot - filename) : 0;
}

/* The value of the last option `name`: "" if it has no '=', NULL if the option is absent. */
inline const char *wp_option(int argc, const char **argv, const char *name) {
    const char *found = NULL;
    const size_t length = strlen(name);
    for (int i = 1; i < argc; i++) {
        if (argv[i][0] != '-') {
            continue;
        }
        const char *text = argv[i] + stringRemoveDelimiter('-', argv[i]);
        if (strncasecmp(text, name, length) != 0) {
            continue;
        }
        if (text[length] == '\0') {
            found = text + length;
        } else if (text[length] == '=') {
            found = text + length + 1;
        }
    }
    return found;
}

inline bool checkCmdLineFlag(const int argc, const char **argv, const char *name) {
    return wp_option(argc, argv, name) != NULL;
}

inline int getCmdLineArgumentInt(const int argc, const char **argv, const char *name) {
    const char *value = wp_option(argc, argv, name);
    return value != NULL ? atoi(value) : 0;
}

inline float getCmdLineArgumentFloat(const int argc, const char **argv, const char *name) {
    const char *value = wp_option(argc, argv, name);
    return value != NULL ? (float)atof(value) : 0.0f;
}

template <class T>
inline bool getCmdLineArgumentValue(const int argc, const char **argv, const char *name, T *value) {
    const char *text = wp_option(argc, argv, name);
    if (text != NULL) {
        *value = (T)atoi(text);
    }
    return text != NULL;
}

/** *value points into argv. */
inline bool getCmdLineArgumentString(const int argc, const char **argv, const char *name,
                                     char **value) {
    const char *text = wp_option(argc, argv, name);
    *value = const_cast<char *>(text);
    return text != NULL;
}

/** The path of a data file: as given, or in the usual folders of the samples, relative to the
 *  current folder and to the program's. NULL if it is not found; the caller frees it. */
inline char *sdkFindFilePath(const char *filename, const char *executable_path) {
    static const char *const places[] = {"",
                                         "data/",
                                         "../data/",
                                         "../../data/",
                                         "../../../data/",
                                         "../",
                                         "../../",
                                         "../common/data/",
                                         "../../common/data/",
                                         "../../Common/data/",
                                         "../../../common/data/",
                                         "../../../../Common/data/"};
    std::string folder;
    if (executable_path != NULL) {
        folder = executable_path;
        const size_t slash = folder.rfind('/');
        folder = slash == std::string::npos ? std::string() : folder.substr(0, slash + 1);
    }
    for (int from_program = 0; from_program < (folder.empty() ? 1 : 2); from_program++) {
        for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
            const std::string path =
                (from_program != 0 ? folder : std::string()) + places[i] + filename;
            std::ifstream file(path.c_str());
            if (file.good()) {
                return strdup(path.c_str());
            }
        }
    }
    return NULL;
}

#endif

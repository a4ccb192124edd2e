/* SPDX-License-Identifier: Apache-2.0 */
/** Exceptions that record where they were thrown, as used by the sample suites. */
#ifndef WARPAGE_CUDA_EXCEPTION_H
#define WARPAGE_CUDA_EXCEPTION_H

#include <stdlib.h>

#include <exception>
#include <iostream>
#include <sstream>
#include <stdexcept>
#include <string>

template <class Base> class Exception : public Base {
  public:
    static void throw_it(const char *file, const int line, const char *detailed = "-") {
        std::ostringstream text;
        text << file << ':' << line << ": " << detailed;
        throw Exception<Base>(text.str());
    }
    static void throw_it(const char *file, const int line, const std::string &detailed) {
        throw_it(file, line, detailed.c_str());
    }
    virtual ~Exception() throw() {
    }

  private:
    explicit Exception(const std::string &text) : Base(text) {
    }
};

/** Prints the error and exits. */
template <class Thrown> inline void handleException(const Thrown &error) {
    std::cerr << error.what() << std::endl;
    exit(EXIT_FAILURE);
}

#define RUNTIME_EXCEPTION(msg) Exception<std::runtime_error>::throw_it(__FILE__, __LINE__, msg)
#define LOGIC_EXCEPTION(msg) Exception<std::logic_error>::throw_it(__FILE__, __LINE__, msg)
#define RANGE_EXCEPTION(msg) Exception<std::range_error>::throw_it(__FILE__, __LINE__, msg)

#endif

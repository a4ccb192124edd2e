/* SPDX-License-Identifier: Apache-2.0 */
/** Elements of libraries' matrices as complex numbers of double, and back, for programs that check all
 * four types by one text. */
#ifndef NUMBERS_H
#define NUMBERS_H

#include <complex>
#include <cuComplex.h>

typedef std::complex<double> number;

static inline number wide(float a) { return a; }
static inline number wide(double a) { return a; }
static inline number wide(cuComplex a) { return {a.x, a.y}; }
static inline number wide(cuDoubleComplex a) { return {a.x, a.y}; }
static inline void put(float *to, number a) { *to = (float)a.real(); }
static inline void put(double *to, number a) { *to = a.real(); }
static inline void put(cuComplex *to, number a) { *to = make_cuComplex((float)a.real(), (float)a.imag()); }
static inline void put(cuDoubleComplex *to, number a) { *to = make_cuDoubleComplex(a.real(), a.imag()); }

#endif

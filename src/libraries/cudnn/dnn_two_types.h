/* SPDX-License-Identifier: Apache-2.0 */
/* The kernels of one text, DNN_TEXT, twice: sums in float, of elements of any type, and in double. */
#define REAL float
#define NAME(name) name##_any
#define LOAD(t, at) load_float(t, at)
#define STORE(t, at, value) store_float(t, at, value)
#include DNN_TEXT
#undef NAME
#undef LOAD
#undef STORE
#undef REAL

#define REAL double
#define NAME(name) name##_double
#define LOAD(t, at) load_double(t, at)
#define STORE(t, at, value) store_double(t, at, value)
#include DNN_TEXT
#undef NAME
#undef LOAD
#undef STORE
#undef REAL
#undef DNN_TEXT

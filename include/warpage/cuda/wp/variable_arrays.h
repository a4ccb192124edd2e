/* SPDX-License-Identifier: Apache-2.0 */
/** What wpcc calls for the initial values of an array whose bound is a variable: those of the list,
 * then zeros. */
#ifndef WP_CUDA_VARIABLE_ARRAYS_H
#define WP_CUDA_VARIABLE_ARRAYS_H

#include <initializer_list>

template <typename T> struct __wp_same {
    typedef T type;
};
template <typename T> using __wp_list = std::initializer_list<typename __wp_same<T>::type>;
struct __wp_second_choice {};
struct __wp_first_choice : __wp_second_choice {};

template <typename T>
static inline void __wp_fill_row(T *to, __SIZE_TYPE__ count, __wp_list<T> values) {
    __SIZE_TYPE__ i = 0;
    for (auto &value : values)
        if (i < count) to[i++] = value;
    for (; i < count; i++)
        to[i] = T();
}

/* A list of rows, or of elements, whose rows follow each other. */
template <typename T>
static inline void __wp_fill_rows(__wp_first_choice, T *to, __SIZE_TYPE__ rows,
                                  __SIZE_TYPE__ columns,
                                  std::initializer_list<__wp_list<T>> values) {
    __SIZE_TYPE__ i = 0;
    for (auto &row : values)
        if (i < rows) __wp_fill_row(to + i++ * columns, columns, row);
    for (; i < rows; i++)
        __wp_fill_row(to + i * columns, columns, {});
}
template <typename T>
static inline void __wp_fill_rows(__wp_second_choice, T *to, __SIZE_TYPE__ rows,
                                  __SIZE_TYPE__ columns, __wp_list<T> values) {
    __wp_fill_row(to, rows * columns, values);
}

template <typename T>
static inline void
__wp_fill_blocks(T *to, __SIZE_TYPE__ blocks, __SIZE_TYPE__ rows, __SIZE_TYPE__ columns,
                 std::initializer_list<std::initializer_list<__wp_list<T>>> values) {
    __SIZE_TYPE__ i = 0;
    for (auto &block : values)
        if (i < blocks)
            __wp_fill_rows(__wp_first_choice(), to + i++ * rows * columns, rows, columns, block);
    if (i < blocks) __wp_fill_row(to + i * rows * columns, (blocks - i) * rows * columns, {});
}

#endif

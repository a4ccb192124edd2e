/* SPDX-License-Identifier: Apache-2.0 */
/**
 * nvcc's questions about types of lambdas, for -extended-lambda and C++11 or later. A lambda
 * without __device__ counts as a __host__ __device__ one, because clang lets kernels call it.
 */
#ifndef WARPAGE_CUDA_WP_LAMBDA_H
#define WARPAGE_CUDA_WP_LAMBDA_H

namespace wp_lambda {

/* clang names the type of a lambda "(lambda at file:line:column)". */
constexpr bool begins(const char *text, const char *word) {
    return *word == '\0' || (*text == *word && begins(text + 1, word + 1));
}
/* By halves: names of types are long, and C++11 has no loops here. */
constexpr bool has_lambda(const char *text, unsigned length) {
    return length <= 1
               ? begins(text, "(lambda at ")
               : has_lambda(text, length / 2) || has_lambda(text + length / 2, length - length / 2);
}
template <class T> constexpr bool is_closure() {
    return has_lambda(__PRETTY_FUNCTION__, sizeof __PRETTY_FUNCTION__ - 1);
}

template <class T> T &&value();

/* Of two functions of the same arguments, clang prefers a __device__ one to a __host__ __device__
 * one on the device side, and the latter on the host side; two of the latter are ambiguous. */
struct none {};
template <class... Rest> struct rival {
    __host__ __device__ none operator()(Rest..., none = none()) const;
    __host__ __device__ none operator()(Rest..., none = none());
};
template <class T, class... Rest> struct beside : T, rival<Rest...> {
    using T::operator();
    using rival<Rest...>::operator();
};

/* Whether host code can call it: beside a __host__ __device__ rival it is ambiguous then.
 * Generic lambdas, which have no single call operator, count as callable. */
template <class T, class Call> struct host_calls {
    static constexpr bool answer = true;
};
template <class T, class Self, class... Rest> struct host_call {
    template <class Other> static char ask(decltype(value<Other>().operator()(value<Rest>()...)) *);
    template <class Other> static long ask(...);
    template <class Other, class Last> struct same {
        static constexpr bool answer = sizeof(ask<Other>(nullptr)) == sizeof(Last);
    };
    static constexpr bool answer = same<Self, long>::answer;
};
template <class T, class Class, class Result, class... Rest>
struct host_calls<T, Result (Class::*)(Rest...) const>
    : host_call<T, const beside<T, Rest...> &, Rest...> {};
template <class T, class Class, class Result, class... Rest>
struct host_calls<T, Result (Class::*)(Rest...)> : host_call<T, beside<T, Rest...> &, Rest...> {};

template <class T, class = void> struct device_only {
    static constexpr bool answer = false;
};
template <class T> struct device_only<T, decltype((void)&T::operator())> {
    static constexpr bool answer = !host_calls<T, decltype(&T::operator())>::answer;
};

template <class T> struct traits {
    static constexpr bool is_lambda = is_closure<T>();
    static constexpr bool is_device = is_lambda && device_only<T>::answer;
};

} // namespace wp_lambda

#define __nv_is_extended_device_lambda_closure_type(T) (::wp_lambda::traits<T>::is_device)
#define __nv_is_extended_host_device_lambda_closure_type(T)                                        \
    (::wp_lambda::traits<T>::is_lambda && !::wp_lambda::traits<T>::is_device)
/* clang keeps the return type of every lambda. */
#define __nv_is_extended_device_lambda_with_preserved_return_type(T)                               \
    (::wp_lambda::traits<T>::is_device)

#endif

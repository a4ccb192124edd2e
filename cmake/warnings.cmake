# SPDX-License-Identifier: Apache-2.0
# One interface target, wp_flags: dialect, warnings, visibility, include paths, sanitizers.
option(WARPAGE_ASSERTS "check WP_ASSERT" OFF)
option(WARPAGE_WERROR "warnings are errors" ON)
set(WARPAGE_SANITIZE "" CACHE STRING "sanitizers: address,undefined or thread")

set(CMAKE_C_STANDARD 17)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

add_library(wp_flags INTERFACE)
target_include_directories(wp_flags INTERFACE ${CMAKE_CURRENT_SOURCE_DIR}/include
                           ${CMAKE_CURRENT_SOURCE_DIR}/src)
target_compile_definitions(wp_flags INTERFACE _POSIX_C_SOURCE=200809L
                           $<$<BOOL:${WARPAGE_ASSERTS}>:WARPAGE_ASSERTS=1>)
target_compile_options(wp_flags INTERFACE
    "$<$<COMPILE_LANGUAGE:C>:-Wall;-Wextra;-Wpedantic;-Wshadow;-Wconversion;-Wstrict-prototypes;-Wmissing-prototypes;-Wvla>"
    $<$<BOOL:${WARPAGE_WERROR}>:-Werror>)

set(wp_shared_link_options -Wl,-z,defs)
if(WARPAGE_SANITIZE)
    target_compile_options(wp_flags INTERFACE -fsanitize=${WARPAGE_SANITIZE}
                           -fno-sanitize-recover=all -fno-omit-frame-pointer)
    target_link_options(wp_flags INTERFACE -fsanitize=${WARPAGE_SANITIZE})
    # The sanitizer's own functions come with the program, or by preloading.
    set(wp_shared_link_options -fsanitize=${WARPAGE_SANITIZE})
endif()

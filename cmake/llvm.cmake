# SPDX-License-Identifier: Apache-2.0
# Finds LLVM 19 and the clang that belongs to it.
find_package(LLVM 19.1 REQUIRED CONFIG HINTS /usr/lib/llvm-19/lib/cmake/llvm)
find_program(WARPAGE_CLANG NAMES clang-19 clang PATHS ${LLVM_TOOLS_BINARY_DIR} NO_DEFAULT_PATH REQUIRED)
find_program(WARPAGE_LLVM_LINK NAMES llvm-link PATHS ${LLVM_TOOLS_BINARY_DIR} NO_DEFAULT_PATH REQUIRED)
find_program(WARPAGE_FILECHECK NAMES FileCheck PATHS ${LLVM_TOOLS_BINARY_DIR} NO_DEFAULT_PATH)

# The clang that wpcc runs: WARPAGE_CLANG_PATH as a string.
add_library(wp_clang_path INTERFACE)
target_compile_definitions(wp_clang_path INTERFACE WARPAGE_CLANG_PATH="${WARPAGE_CLANG}")

add_library(wp_llvm INTERFACE)
target_include_directories(wp_llvm SYSTEM INTERFACE ${LLVM_INCLUDE_DIRS})
# stdc++: its demangler; LLVM needs the library anyway.
target_link_libraries(wp_llvm INTERFACE LLVM stdc++ wp_clang_path)

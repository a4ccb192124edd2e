# SPDX-License-Identifier: Apache-2.0
# Operators: a library of its own beside libwarpage.
file(GLOB ops_sources CONFIGURE_DEPENDS src/ops/*.c)
add_library(wpops STATIC ${ops_sources}) # for tests of its insides
set_target_properties(wpops PROPERTIES POSITION_INDEPENDENT_CODE ON)
target_link_libraries(wpops PUBLIC wpbase libwarpage Threads::Threads m)
add_library(libwarpage_ops SHARED)
target_link_libraries(libwarpage_ops PUBLIC libwarpage PRIVATE -Wl,--whole-archive wpops -Wl,--no-whole-archive)
set_target_properties(libwarpage_ops PROPERTIES OUTPUT_NAME warpage_ops VERSION ${PROJECT_VERSION} SOVERSION 0
    LINKER_LANGUAGE C LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)

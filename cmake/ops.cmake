# SPDX-License-Identifier: Apache-2.0
# Operators: a library of its own beside libwarpage.
file(GLOB_RECURSE ops_sources CONFIGURE_DEPENDS src/ops/*.c src/gpu/*.c)
wp_kernels(ops_kernels ops)
add_library(wpops STATIC ${ops_sources} ${ops_kernels}) # for tests of its insides
target_link_libraries(wpops PUBLIC wpbase libwarpage Threads::Threads m)

add_library(libwarpage_ops SHARED $<TARGET_OBJECTS:wpops> $<TARGET_OBJECTS:wpbase>
            ${ops_kernels})
set_target_properties(libwarpage_ops PROPERTIES OUTPUT_NAME warpage_ops VERSION ${PROJECT_VERSION}
                      SOVERSION 0 LINKER_LANGUAGE C INSTALL_RPATH "$ORIGIN")
target_link_libraries(libwarpage_ops PUBLIC libwarpage PRIVATE wp_flags Threads::Threads m)
target_link_options(libwarpage_ops PRIVATE ${wp_shared_link_options})

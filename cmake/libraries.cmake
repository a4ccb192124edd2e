# SPDX-License-Identifier: Apache-2.0
# wp_library(NAME SOVERSION): src/libraries/NAME as lib/warpage/cuda/lib64/libNAME.so, under the name of
# NVIDIA's library; with its kernels, compiled by the wpcc just built. NAME_inside is the same as a static library, for
# tests. More arguments: other libraries of ours that it uses.
function(wp_library name soversion)
    file(GLOB sources CONFIGURE_DEPENDS src/libraries/${name}/*.c src/libraries/*.c)
    wp_kernels(kernels libraries/${name})
    set(objects "")
    if(kernels)
        set(objects ${kernels})
    endif()
    add_library(${name}_inside STATIC ${sources} ${objects})
    target_link_libraries(${name}_inside PUBLIC wpbase libwarpage Threads::Threads ${CMAKE_DL_LIBS} m)
    add_library(lib_${name} SHARED $<TARGET_OBJECTS:${name}_inside> $<TARGET_OBJECTS:wpbase> ${objects})
    string(REPLACE _ - output ${name})
    if(name STREQUAL cublas_lt)
        set(output cublasLt)
    endif()
    set_target_properties(lib_${name} PROPERTIES OUTPUT_NAME ${output} SOVERSION ${soversion} LINKER_LANGUAGE C
                          LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib/warpage/cuda/lib64
                          BUILD_RPATH "$ORIGIN/../../.." INSTALL_RPATH "$ORIGIN/../../..")
    target_link_libraries(lib_${name} PRIVATE wp_flags libwarpage Threads::Threads ${CMAKE_DL_LIBS} m)
    foreach(other ${ARGN})
        target_link_libraries(${name}_inside PUBLIC ${other}_inside)
        target_link_libraries(lib_${name} PRIVATE lib_${other})
        set_target_properties(lib_${name} PROPERTIES BUILD_RPATH "$ORIGIN/../../..;$ORIGIN"
                              INSTALL_RPATH "$ORIGIN/../../..:$ORIGIN")
    endforeach()
    target_link_options(lib_${name} PRIVATE ${wp_shared_link_options})
endfunction()

# SPDX-License-Identifier: Apache-2.0
# wp_library(NAME): src/libraries/NAME as lib/warpage/cuda/lib64/libNAME.so, under the name of
# NVIDIA's library; with its kernels, compiled by the wpcc just built. NAME_inside is the same as a static library, for
# tests. More arguments: other libraries of ours that it uses.
# The versions of each library by which programs of CUDA 11, 12 and 13 name it.
set(wp_versions_cublas 11 12 13)
set(wp_versions_cublas_lt 11 12 13)
set(wp_versions_cudnn 9)
set(wp_versions_cufft 10 11 12)
set(wp_versions_curand 10)
set(wp_versions_cusolver 11 12)
set(wp_versions_cusparse 11 12)
set(wp_versions_nccl 2)
set(wp_versions_nvidia_ml 1)

# What wpcc links.
set(wp_soversion_cublas 12)
set(wp_soversion_cublas_lt 12)
set(wp_soversion_cufft 11)
set(wp_soversion_curand 10)
set(wp_soversion_cusolver 11)
set(wp_soversion_cusparse 12)
set(wp_soversion_nccl 2)
set(wp_soversion_nvidia_ml 1)
set(wp_soversion_cudnn 9)
set(wp_soversion_cupti 12)

# The library's name in its file's.
function(wp_library_output name result)
    string(REPLACE _ - output ${name})
    if(name STREQUAL cublas_lt)
        set(output cublasLt)
    endif()
    set(${result} ${output} PARENT_SCOPE)
endfunction()

# wp_device_library(NAME): src/libraries/NAME_device, code that is linked with that of programs whose kernels call functions
# across files, as an archive beside libNAME.so.
function(wp_device_library name)
    file(GLOB sources CONFIGURE_DEPENDS src/libraries/${name}_device/*.cu)
    foreach(source ${sources})
        get_filename_component(part ${source} NAME_WE)
        set(wp_kernel_flags_${part} -rdc=true)
    endforeach()
    wp_kernels(objects libraries/${name}_device)
    set(archive ${CMAKE_CURRENT_BINARY_DIR}/lib/warpage/cuda/lib64/lib${name}_device.a)
    add_custom_command(OUTPUT ${archive} COMMAND ${CMAKE_COMMAND} -E rm -f ${archive}
                       COMMAND ${CMAKE_AR} rcs ${archive} ${objects} DEPENDS ${objects} VERBATIM)
    add_custom_target(lib_${name}_device ALL DEPENDS ${archive})
endfunction()

function(wp_library name)
    file(GLOB_RECURSE sources CONFIGURE_DEPENDS src/libraries/${name}/*.c)
    file(GLOB shared_sources CONFIGURE_DEPENDS src/libraries/*.c)
    list(APPEND sources ${shared_sources})
    wp_kernels(kernels libraries/${name})
    set(objects "")
    if(kernels)
        set(objects ${kernels})
    endif()
    add_library(${name}_inside STATIC ${sources} ${objects})
    target_link_libraries(${name}_inside PUBLIC wpbase libwarpage Threads::Threads ${CMAKE_DL_LIBS} m)
    add_library(lib_${name} SHARED $<TARGET_OBJECTS:${name}_inside> $<TARGET_OBJECTS:wpbase> ${objects})
    wp_library_output(${name} output)
    set_target_properties(lib_${name} PROPERTIES OUTPUT_NAME ${output} SOVERSION ${wp_soversion_${name}} LINKER_LANGUAGE C
                          LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib/warpage/cuda/lib64
                          BUILD_RPATH "$ORIGIN/../../..;$ORIGIN" INSTALL_RPATH "$ORIGIN/../../..:$ORIGIN")
    target_link_libraries(lib_${name} PRIVATE wp_flags libwarpage Threads::Threads ${CMAKE_DL_LIBS} m)
    foreach(other ${ARGN})
        target_link_libraries(${name}_inside PUBLIC ${other}_inside)
        target_link_libraries(lib_${name} PRIVATE lib_${other})
    endforeach()
    target_link_options(lib_${name} PRIVATE ${wp_shared_link_options})
    # Programs that were linked with NVIDIA's library ask for a version of its symbols, which is the
    # library's name. Empty nodes say that the versions are there; the symbols have none and serve all.
    if(NOT name STREQUAL nvidia_ml) # programs open it themselves, and '-' is not for the linker's names
        set(versions "")
        foreach(version ${wp_versions_${name}})
            string(APPEND versions "lib${output}.so.${version} {};\n")
        endforeach()
        file(CONFIGURE OUTPUT ${name}.map CONTENT "${versions}")
        target_link_options(lib_${name} PRIVATE -Wl,--version-script=${CMAKE_CURRENT_BINARY_DIR}/${name}.map)
    endif()
endfunction()

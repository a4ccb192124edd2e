# SPDX-License-Identifier: Apache-2.0
# Kernels of our own rooms, compiled by the wpcc just built; or taken from another build (wp_take).
set(WARPAGE_CPU_ISA all CACHE STRING "processors that our own kernels are compiled for (wpcc --cpu-isa)")

# Kernels of the CPU device that multiply matrices fuse multiplication and addition, as GPUs do.
set(wp_kernel_flags_dnn_products_wide -fmad=true)

function(wp_kernels out folder) # OUT becomes the objects of src/FOLDER/*.cu
    file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/src/${folder}/*.cu)
    set(objects "")
    foreach(source ${sources})
        get_filename_component(name ${source} NAME_WE)
        set(object ${CMAKE_CURRENT_BINARY_DIR}/objects/${folder}/${name}.o)
        if(WARPAGE_KERNELS_FROM)
            wp_take(${object})
        else()
            add_custom_command(
                OUTPUT ${object}
                COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_CURRENT_BINARY_DIR}/objects/${folder}
                COMMAND wpcc -O2 -Wall -fPIC --cpu-isa=${WARPAGE_CPU_ISA} ${wp_kernel_flags_${name}}
                        -I ${CMAKE_CURRENT_SOURCE_DIR}/src -I ${CMAKE_CURRENT_SOURCE_DIR}/include
                        -MD -MF ${object}.d -c ${source} -o ${object}
                DEPENDS wpcc devicelib nvptxlib ${source} DEPFILE ${object}.d
                COMMENT "wpcc ${folder}/${name}.cu" VERBATIM)
        endif()
        set_source_files_properties(${object} PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)
        list(APPEND objects ${object})
    endforeach()
    set(${out} ${objects} PARENT_SCOPE)
endfunction()

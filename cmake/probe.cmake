# SPDX-License-Identifier: Apache-2.0
# The probe: what it infers, how it measures, and its kernels, compiled by the wpcc just built. A static
# library for the command.
function(wp_kernels out folder) # OUT becomes the objects of src/FOLDER/*.cu
    file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/src/${folder}/*.cu)
    set(objects "")
    foreach(source ${sources})
        get_filename_component(name ${source} NAME_WE)
        set(object ${CMAKE_CURRENT_BINARY_DIR}/objects/${folder}/${name}.o)
        add_custom_command(
            OUTPUT ${object}
            COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_CURRENT_BINARY_DIR}/objects/${folder}
            COMMAND wpcc -O2 -Wall -I ${CMAKE_CURRENT_SOURCE_DIR}/src -MD -MF ${object}.d -c ${source} -o ${object}
            DEPENDS wpcc devicelib nvptxlib ${source} DEPFILE ${object}.d
            COMMENT "wpcc ${folder}/${name}.cu" VERBATIM)
        set_source_files_properties(${object} PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)
        list(APPEND objects ${object})
    endforeach()
    set(${out} ${objects} PARENT_SCOPE)
endfunction()

file(GLOB probe_sources CONFIGURE_DEPENDS src/probe/*.c)
wp_kernels(probe_kernels probe)
add_library(wpprobe STATIC ${probe_sources} ${probe_kernels})
# Who measures links libwarpage, too; inference alone needs none.
target_link_libraries(wpprobe PUBLIC wpbase PkgConfig::JANSSON Threads::Threads ${CMAKE_DL_LIBS} m)

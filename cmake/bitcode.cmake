# SPDX-License-Identifier: Apache-2.0
set(WARPAGE_KERNELS_FROM "" CACHE PATH "a build folder whose device libraries and compiled kernels are used in place of compiling them")

# wp_take(FILE): a file of this build folder, copied from WARPAGE_KERNELS_FROM, a build of the same sources whose wpcc has
# no sanitizer and is faster (tools/ci.sh).
function(wp_take file)
    file(RELATIVE_PATH name ${CMAKE_CURRENT_BINARY_DIR} ${file})
    set(made ${WARPAGE_KERNELS_FROM}/${name})
    add_custom_command(OUTPUT ${file} COMMAND ${CMAKE_COMMAND} -E copy ${made} ${file} DEPENDS ${made}
                       COMMENT "Taking ${name}" VERBATIM)
endfunction()

# wp_bitcode(PARTS "SOURCES" FOLDER TARGET [FLAGS...]): C files as bitcode for a target of clang's, one file
# each in a folder; PARTS becomes their paths. Without vectors, which come where the code is inlined: loops over threads do
# not become vectors around vectors.
function(wp_bitcode parts sources folder target)
    set(made "")
    foreach(source ${sources})
        get_filename_component(name ${source} NAME_WE)
        set(part ${folder}/${name}.bc)
        list(APPEND made ${part})
        if(WARPAGE_KERNELS_FROM)
            wp_take(${part})
            continue()
        endif()
        add_custom_command(
            OUTPUT ${part}
            COMMAND ${CMAKE_COMMAND} -E make_directory ${folder}
            COMMAND ${WARPAGE_CLANG} --target=${target} ${ARGN} -std=c17 -O2 -fno-slp-vectorize
                    -fno-vectorize -Wall -Wextra
                    -I ${CMAKE_CURRENT_SOURCE_DIR}/include -I ${CMAKE_CURRENT_SOURCE_DIR}/src
                    -MD -MF ${part}.d -emit-llvm -c ${source} -o ${part}
            DEPENDS ${source} DEPFILE ${part}.d
            COMMENT "Compiling ${name}.c to bitcode for ${target}" VERBATIM)
    endforeach()
    set(${parts} ${made} PARENT_SCOPE)
endfunction()

# SPDX-License-Identifier: Apache-2.0
# wp_bitcode(PARTS "SOURCES" FOLDER TARGET [FLAGS...]): C files as bitcode for a target of clang's, one file
# each in a folder; PARTS becomes their paths.
function(wp_bitcode parts sources folder target)
    set(made "")
    foreach(source ${sources})
        get_filename_component(name ${source} NAME_WE)
        set(part ${folder}/${name}.bc)
        add_custom_command(
            OUTPUT ${part}
            COMMAND ${CMAKE_COMMAND} -E make_directory ${folder}
            COMMAND ${WARPAGE_CLANG} --target=${target} ${ARGN} -std=c17 -O2 -Wall -Wextra
                    -I ${CMAKE_CURRENT_SOURCE_DIR}/include -I ${CMAKE_CURRENT_SOURCE_DIR}/src
                    -MD -MF ${part}.d -emit-llvm -c ${source} -o ${part}
            DEPENDS ${source} DEPFILE ${part}.d
            COMMENT "Compiling ${name}.c to bitcode for ${target}" VERBATIM)
        list(APPEND made ${part})
    endforeach()
    set(${parts} ${made} PARENT_SCOPE)
endfunction()

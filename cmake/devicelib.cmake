# SPDX-License-Identifier: Apache-2.0
# wp_devicelib(TARGET): the device library for the CPU as one bitcode file for baseline x86-64, which wpcc
# links into kernels: src/device/devicelib_*.c, which serve every device, and src/device/cpu/devicelib_*.c.
function(wp_devicelib target)
    file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/src/device/devicelib_*.c
         ${CMAKE_CURRENT_SOURCE_DIR}/src/device/cpu/devicelib_*.c)
    set(parts "")
    foreach(source ${sources})
        get_filename_component(name ${source} NAME_WE)
        set(part ${CMAKE_CURRENT_BINARY_DIR}/objects/${name}.bc)
        add_custom_command(
            OUTPUT ${part}
            COMMAND ${WARPAGE_CLANG} --target=x86_64-pc-linux-gnu -std=c17 -O2 -Wall -Wextra
                    -I ${CMAKE_CURRENT_SOURCE_DIR}/include -I ${CMAKE_CURRENT_SOURCE_DIR}/src
                    -MD -MF ${part}.d -emit-llvm -c ${source} -o ${part}
            DEPENDS ${source} DEPFILE ${part}.d
            COMMENT "Compiling ${name}.c to bitcode" VERBATIM)
        list(APPEND parts ${part})
    endforeach()
    set(library ${CMAKE_CURRENT_BINARY_DIR}/lib/warpage/devicelib.bc)
    add_custom_command(
        OUTPUT ${library}
        COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_CURRENT_BINARY_DIR}/lib/warpage
        COMMAND ${WARPAGE_LLVM_LINK} -o ${library} ${parts}
        DEPENDS ${parts} COMMENT "Linking devicelib.bc" VERBATIM)
    add_custom_target(${target} ALL DEPENDS ${library})
    install(FILES ${library} DESTINATION lib/warpage)
endfunction()

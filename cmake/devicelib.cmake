# SPDX-License-Identifier: Apache-2.0
# wp_devicelib(TARGET): the device library for the CPU as one bitcode file for baseline x86-64, which wpcc
# links into kernels: src/device/devicelib/devicelib_*.c, which serve every device, and src/device/cpu/devicelib/devicelib_*.c.
function(wp_devicelib target)
    file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/src/device/devicelib/devicelib_*.c
         ${CMAKE_CURRENT_SOURCE_DIR}/src/device/cpu/devicelib/devicelib_*.c)
    wp_bitcode(parts "${sources}" ${CMAKE_CURRENT_BINARY_DIR}/objects x86_64-pc-linux-gnu)
    set(library ${CMAKE_CURRENT_BINARY_DIR}/lib/warpage/devicelib.bc)
    add_custom_command(
        OUTPUT ${library}
        COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_CURRENT_BINARY_DIR}/lib/warpage
        COMMAND ${WARPAGE_LLVM_LINK} -o ${library} ${parts}
        DEPENDS ${parts} COMMENT "Linking devicelib.bc" VERBATIM)
    add_custom_target(${target} ALL DEPENDS ${library})
    install(FILES ${library} DESTINATION lib/warpage)
endfunction()

# SPDX-License-Identifier: Apache-2.0
# wp_tensorlib(TARGET): device functions for copies of tensors as one nvptx64 bitcode file, which wpcc
# links into kernels that have such copies.
function(wp_tensorlib target)
    wp_bitcode(part ${CMAKE_CURRENT_SOURCE_DIR}/src/compiler/tensorlib/tensorlib.c
               ${CMAKE_CURRENT_BINARY_DIR}/objects/tensorlib nvptx64-nvidia-cuda -march=sm_60 -Xclang
               -target-feature -Xclang +ptx63 -ffreestanding)
    set(library ${CMAKE_CURRENT_BINARY_DIR}/lib/warpage/tensorlib.bc)
    add_custom_command(
        OUTPUT ${library}
        COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_CURRENT_BINARY_DIR}/lib/warpage
        COMMAND ${CMAKE_COMMAND} -E copy ${part} ${library}
        DEPENDS ${part} VERBATIM)
    add_custom_target(${target} ALL DEPENDS ${library})
    install(FILES ${library} DESTINATION lib/warpage)
endfunction()

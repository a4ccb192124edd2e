# SPDX-License-Identifier: Apache-2.0
# wp_streamlib(TARGET): the device side of streaming as one nvptx64 bitcode file, which wpcc links into streamed
# kernels.
function(wp_streamlib target)
    set(source ${CMAKE_CURRENT_SOURCE_DIR}/src/stream/streamlib/streamlib.c)
    set(folder ${CMAKE_CURRENT_BINARY_DIR}/objects/streamlib)
    set(library ${CMAKE_CURRENT_BINARY_DIR}/lib/warpage/streamlib.bc)
    wp_bitcode(part ${source} ${folder} nvptx64-nvidia-cuda -march=sm_60 -Xclang -target-feature -Xclang +ptx63
               -ffreestanding)
    add_custom_command(
        OUTPUT ${library}
        COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_CURRENT_BINARY_DIR}/lib/warpage
        COMMAND ${CMAKE_COMMAND} -E copy ${part} ${library}
        DEPENDS ${part} VERBATIM)
    add_custom_target(${target} ALL DEPENDS ${library})
    install(FILES ${library} DESTINATION lib/warpage)
endfunction()

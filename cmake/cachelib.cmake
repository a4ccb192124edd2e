# SPDX-License-Identifier: Apache-2.0
# wp_cachelib(TARGET): the device side of the software cache as one nvptx64 bitcode file, which wpcc links into cached
# kernels. A line is read as bytes and as words, so the rule that types do not alias is off.
function(wp_cachelib target)
    set(source ${CMAKE_CURRENT_SOURCE_DIR}/src/cache/cachelib/cachelib.c)
    set(folder ${CMAKE_CURRENT_BINARY_DIR}/objects/cachelib)
    set(library ${CMAKE_CURRENT_BINARY_DIR}/lib/warpage/cachelib.bc)
    wp_bitcode(part ${source} ${folder} nvptx64-nvidia-cuda -march=sm_60 -Xclang -target-feature -Xclang +ptx63
               -ffreestanding -fno-strict-aliasing -fno-vectorize -fno-slp-vectorize)
    add_custom_command(
        OUTPUT ${library}
        COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_CURRENT_BINARY_DIR}/lib/warpage
        COMMAND ${CMAKE_COMMAND} -E copy ${part} ${library}
        DEPENDS ${part} VERBATIM)
    add_custom_target(${target} ALL DEPENDS ${library})
    install(FILES ${library} DESTINATION lib/warpage)
endfunction()

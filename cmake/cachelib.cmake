# SPDX-License-Identifier: Apache-2.0
# wp_cachelib(TARGET): the device side of the software cache as nvptx64 bitcode files, one for each length of lines,
# which wpcc links into cached kernels. A line is read as bytes and as words, so the rule that types do not alias is off.
function(wp_cachelib target)
    set(source ${CMAKE_CURRENT_SOURCE_DIR}/src/cache/cachelib/cachelib.c)
    set(folder ${CMAKE_CURRENT_BINARY_DIR}/objects/cachelib)
    set(libraries "")
    foreach(bytes 8 16 24 32)
        set(library ${CMAKE_CURRENT_BINARY_DIR}/lib/warpage/cachelib-${bytes}.bc)
        wp_bitcode(part ${source} ${folder}/${bytes} nvptx64-nvidia-cuda -march=sm_60 -Xclang -target-feature
                   -Xclang +ptx63 -ffreestanding -fno-strict-aliasing -fno-vectorize -fno-slp-vectorize
                   -DLINE_BYTES=${bytes})
        add_custom_command(
            OUTPUT ${library}
            COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_CURRENT_BINARY_DIR}/lib/warpage
            COMMAND ${CMAKE_COMMAND} -E copy ${part} ${library}
            DEPENDS ${part} VERBATIM)
        list(APPEND libraries ${library})
    endforeach()
    add_custom_target(${target} ALL DEPENDS ${libraries})
    install(FILES ${libraries} DESTINATION lib/warpage)
endfunction()

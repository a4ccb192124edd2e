# SPDX-License-Identifier: Apache-2.0
# wp_streamlib(TARGET): the device sides of streaming as nvptx64 bitcode files, of which wpcc links one into each
# streamed kernel.
function(wp_streamlib target)
    set(folder ${CMAKE_CURRENT_SOURCE_DIR}/src/stream/streamlib)
    wp_bitcode(parts "${folder}/streamlib.c;${folder}/windowlib.c" ${CMAKE_CURRENT_BINARY_DIR}/objects/streamlib
               nvptx64-nvidia-cuda -march=sm_60 -Xclang -target-feature -Xclang +ptx63 -ffreestanding)
    set(libraries "")
    foreach(part ${parts})
        get_filename_component(name ${part} NAME)
        set(library ${CMAKE_CURRENT_BINARY_DIR}/lib/warpage/${name})
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

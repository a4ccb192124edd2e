# SPDX-License-Identifier: Apache-2.0
# wp_nvptxlib(TARGET): the device library of NVIDIA's GPUs as one bitcode file, which wpcc links into PTX:
# src/device/devicelib/devicelib_*.c, which serve every device, src/device/cuda/nvptxlib/nvptxlib_*.c, and what these use of
# libclc (package libclc-19). libclc keeps its tables in constant memory, of which a program has 64 KiB:
# they move to global memory.
find_file(WARPAGE_LIBCLC nvptx64--nvidiacl.bc PATHS /usr/lib/clc /usr/share/clc
          ${LLVM_INSTALL_PREFIX}/share/clc NO_DEFAULT_PATH)
foreach(tool llvm-dis opt)
    string(TOUPPER WARPAGE_${tool} variable)
    string(REPLACE - _ variable ${variable})
    find_program(${variable} NAMES ${tool} PATHS ${LLVM_TOOLS_BINARY_DIR} NO_DEFAULT_PATH REQUIRED)
endforeach()

function(wp_nvptxlib target)
    if(NOT WARPAGE_LIBCLC)
        message(FATAL_ERROR "nvptx64--nvidiacl.bc was not found; install the package libclc-19")
    endif()
    file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/src/device/devicelib/devicelib_*.c
         ${CMAKE_CURRENT_SOURCE_DIR}/src/device/cuda/nvptxlib/nvptxlib_*.c)
    set(folder ${CMAKE_CURRENT_BINARY_DIR}/objects/nvptx)
    wp_bitcode(parts "${sources}" ${folder} nvptx64-nvidia-cuda -march=sm_70 -Xclang -target-feature
               -Xclang +ptx63 -ffreestanding)
    set(library ${CMAKE_CURRENT_BINARY_DIR}/lib/warpage/nvptxlib.bc)
    add_custom_target(${target} ALL DEPENDS ${library})
    install(FILES ${library} DESTINATION lib/warpage)
    if(WARPAGE_KERNELS_FROM)
        wp_take(${library})
        return()
    endif()
    add_custom_command(
        OUTPUT ${folder}/libclc.ll
        COMMAND ${WARPAGE_LLVM_DIS} ${WARPAGE_LIBCLC} -o ${folder}/libclc.raw.ll
        COMMAND sed -e "s/addrspace(4)/addrspace(1)/g" -e "s/ alwaysinline / /" -e w${folder}/libclc.ll
                -n ${folder}/libclc.raw.ll
        COMMAND ${CMAKE_COMMAND} -E rm ${folder}/libclc.raw.ll
        DEPENDS ${parts} COMMENT "Reading libclc" VERBATIM)
    add_custom_command(
        OUTPUT ${library}
        COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_CURRENT_BINARY_DIR}/lib/warpage
        COMMAND ${WARPAGE_LLVM_LINK} -o ${folder}/parts.bc ${parts}
        COMMAND ${WARPAGE_LLVM_LINK} --only-needed --suppress-warnings -o ${folder}/whole.bc
                ${folder}/parts.bc ${folder}/libclc.ll
        COMMAND ${WARPAGE_OPT} "-passes=internalize,globaldce,default<O2>"
                "-internalize-public-api-list=__nv_*,__wp_*,__cxa_pure_virtual" ${folder}/whole.bc
                -o ${library}
        DEPENDS ${parts} ${folder}/libclc.ll COMMENT "Linking nvptxlib.bc" VERBATIM)
endfunction()

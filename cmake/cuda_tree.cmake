# SPDX-License-Identifier: Apache-2.0
# wp_cuda_tree(): <prefix>/lib/warpage/cuda, a folder that other people's makefiles take for a CUDA
# toolkit (CUDA_PATH): bin/nvcc, bin/ptxas, include/, lib64/, nvvm/libdevice/.
function(wp_cuda_tree)
    set(tree ${CMAKE_CURRENT_BINARY_DIR}/lib/warpage/cuda)
    file(CREATE_LINK ${CMAKE_CURRENT_SOURCE_DIR}/include ${CMAKE_CURRENT_BINARY_DIR}/include SYMBOLIC)
    file(MAKE_DIRECTORY ${tree}/bin ${tree}/lib64/stubs)
    file(CREATE_LINK ../../../../bin/wpcc ${tree}/bin/nvcc SYMBOLIC)
    file(CREATE_LINK ../../../../bin/wpcc ${tree}/bin/ptxas SYMBOLIC)
    # Mathematics in LLVM's code, for compilers that make PTX themselves.
    file(MAKE_DIRECTORY ${tree}/nvvm/libdevice)
    file(CREATE_LINK ../../../nvptxlib.bc ${tree}/nvvm/libdevice/libdevice.10.bc SYMBOLIC)
    file(CREATE_LINK ${CMAKE_CURRENT_SOURCE_DIR}/include/warpage/cuda ${tree}/include SYMBOLIC)
    file(CREATE_LINK lib64 ${tree}/lib SYMBOLIC)
    # The folders' names since CUDA 5, which scripts look for.
    file(MAKE_DIRECTORY ${tree}/targets/x86_64-linux)
    file(CREATE_LINK ../../include ${tree}/targets/x86_64-linux/include SYMBOLIC)
    file(CREATE_LINK ../../lib64 ${tree}/targets/x86_64-linux/lib SYMBOLIC)
    file(CREATE_LINK ../../../libwarpage.so.0 ${tree}/lib64/libwarpage.so.0 SYMBOLIC)
    file(CREATE_LINK libwarpage.so.0 ${tree}/lib64/libwarpage.so SYMBOLIC)
    foreach(name libcudart libcuda libnvrtc libnvJitLink) # programs also open the last three themselves (dlopen)
        file(CREATE_LINK libwarpage.so.0 ${tree}/lib64/${name}.so SYMBOLIC)
    endforeach()
    file(CREATE_LINK ../libwarpage.so.0 ${tree}/lib64/stubs/libcuda.so SYMBOLIC)
    # Names that makefiles link besides: the linker reads such a text in place of a library. A file
    # is looked for beside the text, so that a build without -L, as CMake's, needs no more.
    foreach(name libcudart_static.a libcudadevrt.a libculibos.a libnvrtc_static.a
            libnvrtc-builtins_static.a libnvJitLink_static.a libnvToolsExt.so libcufilt.a)
        file(CONFIGURE OUTPUT ${tree}/lib64/${name} CONTENT "INPUT(libcudart.so)\n")
    endforeach()

    foreach(library cublas cublasLt cudnn curand cusparse cusolver nccl)
        file(CONFIGURE OUTPUT ${tree}/lib64/lib${library}_static.a CONTENT "INPUT(lib${library}.so)\n")
    endforeach()
    file(CONFIGURE OUTPUT ${tree}/lib64/libcufft_static.a CONTENT "INPUT(libcufft_device.a libcufft.so)\n")

    # The names by which programs built by nvcc find NVIDIA's libraries at run time; `warpage` puts the folder into their
    # search path. The runtime's symbols have a version, which is the library's name.
    set(names ${CMAKE_CURRENT_BINARY_DIR}/lib/warpage/nvidia)
    file(MAKE_DIRECTORY ${names})
    file(CREATE_LINK ../../libwarpage.so.0 ${names}/libwarpage.so.0 SYMBOLIC)
    file(CREATE_LINK libwarpage.so.0 ${names}/libcuda.so.1 SYMBOLIC)
    file(CREATE_LINK libwarpage.so.0 ${names}/libcuda.so SYMBOLIC)
    set(links ${names}/libwarpage.so.0 ${names}/libcuda.so.1 ${names}/libcuda.so)
    foreach(version 11.2 12 13)
        file(CREATE_LINK libwarpage.so.0 ${names}/libnvrtc.so.${version} SYMBOLIC)
        list(APPEND links ${names}/libnvrtc.so.${version})
    endforeach()
    foreach(version 12 13)
        file(CREATE_LINK libwarpage.so.0 ${names}/libnvJitLink.so.${version} SYMBOLIC)
        list(APPEND links ${names}/libnvJitLink.so.${version})
    endforeach()
    foreach(library cublas cublas_lt cudnn cufft curand cusolver cusparse nccl nvidia_ml)
        wp_library_output(${library} output)
        foreach(version ${wp_versions_${library}})
            file(CREATE_LINK ../cuda/lib64/lib${output}.so.${wp_soversion_${library}} ${names}/lib${output}.so.${version}
                 SYMBOLIC)
            list(APPEND links ${names}/lib${output}.so.${version})
        endforeach()
    endforeach()
    foreach(version 11.0 12 13)
        file(CONFIGURE OUTPUT cudart_${version}.map CONTENT "libcudart.so.${version} { global: *; };\n")
        add_library(cudart_name_${version} SHARED src/libraries/cudart/cudart_${version}.c)
        set_target_properties(cudart_name_${version} PROPERTIES OUTPUT_NAME cudart SUFFIX .so.${version} NO_SONAME ON
                              LINKER_LANGUAGE C LIBRARY_OUTPUT_DIRECTORY ${names} INTERPROCEDURAL_OPTIMIZATION OFF
                              BUILD_RPATH "$ORIGIN/../.." INSTALL_RPATH "$ORIGIN/../..")
        target_link_libraries(cudart_name_${version} PRIVATE wp_flags libwarpage)
        target_link_options(cudart_name_${version} PRIVATE ${wp_shared_link_options} -Wl,--no-as-needed
                            -Wl,-soname,libcudart.so.${version}
                            -Wl,--version-script=${CMAKE_CURRENT_BINARY_DIR}/cudart_${version}.map)
        install(TARGETS cudart_name_${version} LIBRARY DESTINATION lib/warpage/nvidia)
    endforeach()
    # What programs open at start, whatever they compute.
    file(GLOB sources CONFIGURE_DEPENDS src/libraries/cupti/*.c)
    add_library(cupti_name SHARED ${sources} src/libraries/cuda_library.c src/libraries/library_params.c)
    set_target_properties(cupti_name PROPERTIES OUTPUT_NAME cupti SUFFIX .so.${wp_soversion_cupti} NO_SONAME ON
                          LINKER_LANGUAGE C LIBRARY_OUTPUT_DIRECTORY ${names}
                          BUILD_RPATH "$ORIGIN/../.." INSTALL_RPATH "$ORIGIN/../..")
    target_link_libraries(cupti_name PRIVATE wp_flags libwarpage wpbase ${CMAKE_DL_LIBS})
    target_link_options(cupti_name PRIVATE ${wp_shared_link_options} -Wl,-soname,libcupti.so.${wp_soversion_cupti})
    install(TARGETS cupti_name LIBRARY DESTINATION lib/warpage/nvidia)
    file(CREATE_LINK libcupti.so.12 ${names}/libcupti.so.13 SYMBOLIC)
    list(APPEND links ${names}/libcupti.so.13)
    # What `warpage` preloads, into any program: it takes the place of a runtime inside. No sanitizer could be preloaded so.
    if(NOT WARPAGE_SANITIZE)
        add_library(cudart_static SHARED src/libraries/cudart/cudart_static.c
                    src/libraries/cudart/device_files.c src/libraries/cudart/library_names.c)
        set_target_properties(cudart_static PROPERTIES OUTPUT_NAME cudart_static LIBRARY_OUTPUT_DIRECTORY ${names}
                              LINKER_LANGUAGE C INTERPROCEDURAL_OPTIMIZATION OFF)
        target_link_libraries(cudart_static PRIVATE wp_flags ${CMAKE_DL_LIBS})
        target_link_options(cudart_static PRIVATE ${wp_shared_link_options} -Wl,-z,initfirst) # before other libraries
        install(TARGETS cudart_static LIBRARY DESTINATION lib/warpage/nvidia)
        add_library(program_clock SHARED src/libraries/program_clock/program_clock.c)
        set_target_properties(program_clock PROPERTIES PREFIX "" LINKER_LANGUAGE C INTERPROCEDURAL_OPTIMIZATION OFF
                              LIBRARY_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/lib/warpage)
        target_link_libraries(program_clock PRIVATE wp_flags ${CMAKE_DL_LIBS})
        target_link_options(program_clock PRIVATE ${wp_shared_link_options})
        install(TARGETS program_clock LIBRARY DESTINATION lib/warpage)
    endif()
    install(FILES ${links} DESTINATION lib/warpage/nvidia)

    install(DIRECTORY ${tree}/bin ${tree}/lib64 ${tree}/lib ${tree}/nvvm ${tree}/targets
            DESTINATION lib/warpage/cuda
            USE_SOURCE_PERMISSIONS)
    install(DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}/include/warpage/cuda/
            DESTINATION lib/warpage/cuda/include)
endfunction()

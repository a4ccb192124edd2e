# SPDX-License-Identifier: Apache-2.0
# The Python package, beside the library that it loads: lib/warpage/python, in the build tree and installed.
file(GLOB python_files CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/python/warpage/*.py
     ${CMAKE_CURRENT_SOURCE_DIR}/python/warpage/py.typed)
set(python_folder lib/warpage/python/warpage)
set(python_copies "")
foreach(file ${python_files})
    get_filename_component(name ${file} NAME)
    set(copy ${CMAKE_BINARY_DIR}/${python_folder}/${name})
    add_custom_command(OUTPUT ${copy} COMMAND ${CMAKE_COMMAND} -E copy ${file} ${copy} DEPENDS ${file} VERBATIM)
    list(APPEND python_copies ${copy})
endforeach()
add_custom_target(python_package ALL DEPENDS ${python_copies})
install(FILES ${python_files} DESTINATION ${python_folder})

# The package with its libraries, for pip: <build>/wheel.
add_custom_target(wheel COMMAND ${CMAKE_SOURCE_DIR}/python/build_wheel.py --build ${CMAKE_BINARY_DIR}
                  DEPENDS libwarpage libwarpage_ops VERBATIM)

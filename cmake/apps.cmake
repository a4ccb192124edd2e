# SPDX-License-Identifier: Apache-2.0
# apps/<name>/*.cu with apps/common, compiled by the wpcc just built, to <build>/apps/<name>.
file(GLOB app_folders RELATIVE ${CMAKE_CURRENT_SOURCE_DIR}/apps CONFIGURE_DEPENDS
     ${CMAKE_CURRENT_SOURCE_DIR}/apps/*/*.cu)
list(TRANSFORM app_folders REPLACE "/.*" "")
list(REMOVE_DUPLICATES app_folders)
list(REMOVE_ITEM app_folders common)
if(TARGET wpcc AND app_folders)
    set(programs "")
    file(GLOB common CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/apps/common/*.c
         ${CMAKE_CURRENT_SOURCE_DIR}/apps/common/*.cu)
    file(GLOB common_headers CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/apps/common/*.h)
    foreach(name ${app_folders})
        file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/apps/${name}/*.cu
             ${CMAKE_CURRENT_SOURCE_DIR}/apps/${name}/*.c)
        file(GLOB headers CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/apps/${name}/*.h)
        set(program ${CMAKE_CURRENT_BINARY_DIR}/apps/${name})
        add_custom_command(
            OUTPUT ${program}
            COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_CURRENT_BINARY_DIR}/apps
            COMMAND wpcc -O2 -I ${CMAKE_CURRENT_SOURCE_DIR}/apps ${sources} ${common} -o ${program}
            DEPENDS wpcc libwarpage devicelib ${sources} ${headers} ${common} ${common_headers}
            COMMENT "wpcc apps/${name}" VERBATIM)
        list(APPEND programs ${program})
    endforeach()
    add_custom_target(apps ALL DEPENDS ${programs})
endif()

# SPDX-License-Identifier: Apache-2.0
# apps/<name>/*.cu and the objects of apps/common, compiled by the wpcc just built, to <build>/apps/<name>; installed to
# <prefix>/lib/warpage/apps, which the build tree has as a link. Programs whose records are streamed, or whose result is
# a table, also get apps/streaming and apps/sepo, which use Warpage's headers.
# Those called cache-* are compiled with wpcc --cache; of some others there is a second program, cached-<name>, whose
# own sources are.
set(WARPAGE_APPS_CPU_ISA all CACHE STRING "processors that the programs of apps/ are compiled for (wpcc --cpu-isa)")
set(apps ${CMAKE_CURRENT_SOURCE_DIR}/apps)
file(GLOB app_names RELATIVE ${apps} CONFIGURE_DEPENDS ${apps}/*/*.cu)
list(TRANSFORM app_names REPLACE "/.*" "")
list(REMOVE_DUPLICATES app_names)
list(REMOVE_ITEM app_names common sepo streaming)

set(cached_names inverted-index kmeans pvc sgemm stream-affinity stream-dna stream-opinion stream-wc)

# wp_app_object(SOURCE OUT [PREFIX]): compiles one file, tracking its headers; OUT receives the object, whose name begins
# with PREFIX.
function(wp_app_object source out)
    file(RELATIVE_PATH name ${apps} ${source})
    string(REPLACE "/" "_" name ${name})
    set(name ${ARGV2}${name})
    set(object ${CMAKE_CURRENT_BINARY_DIR}/objects/apps/${name}.o)
    set(flags "")
    if(name MATCHES "^cached?-")
        set(flags --cache)
    endif()
    add_custom_command(
        OUTPUT ${object}
        COMMAND wpcc -O2 -Wall --cpu-isa=${WARPAGE_APPS_CPU_ISA} ${flags} -I ${apps} -MD -MF ${object}.d -c ${source} -o ${object}
        DEPENDS wpcc libwarpage devicelib cachelib ${source}
                ${CMAKE_CURRENT_BINARY_DIR}/lib/warpage/cachelib-16.bc DEPFILE ${object}.d
        COMMENT "wpcc ${name}" VERBATIM)
    set(${out} ${object} PARENT_SCOPE)
endfunction()

# Not under sanitizers: programs would need the sanitizer's library preloaded.
if(TARGET wpcc AND app_names AND NOT WARPAGE_SANITIZE)
    file(MAKE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/apps ${CMAKE_CURRENT_BINARY_DIR}/objects/apps)
    set(common_objects "")
    file(GLOB sources CONFIGURE_DEPENDS ${apps}/common/*.c ${apps}/common/*.cu)
    foreach(source ${sources})
        wp_app_object(${source} object)
        list(APPEND common_objects ${object})
    endforeach()
    set(streaming_objects "")
    file(GLOB sources CONFIGURE_DEPENDS ${apps}/streaming/*.cu ${apps}/sepo/*.cu)
    foreach(source ${sources})
        wp_app_object(${source} object)
        list(APPEND streaming_objects ${object})
    endforeach()
    set(programs "")
    list(TRANSFORM cached_names PREPEND cached-)
    foreach(name ${app_names} ${cached_names})
        set(prefix "")
        if(name MATCHES "^cached-")
            set(prefix cached-)
        endif()
        string(REGEX REPLACE "^cached-" "" plain_name ${name})
        file(GLOB sources CONFIGURE_DEPENDS ${apps}/${plain_name}/*.cu ${apps}/${plain_name}/*.c)
        set(objects ${common_objects})
        if(plain_name MATCHES "^(stream-.*|geo-location|inverted-index|patent-citation|pvc)$")
            list(APPEND objects ${streaming_objects})
        endif()
        foreach(source ${sources})
            wp_app_object(${source} object ${prefix})
            list(APPEND objects ${object})
        endforeach()
        set(program ${CMAKE_CURRENT_BINARY_DIR}/apps/${name})
        # An installed program finds its library two folders up. wpcc adds the folder of its own, which the
        # installed program must not search.
        set(origin "$ORIGIN/../..")
        add_custom_command(OUTPUT ${program}
                           COMMAND wpcc ${objects} -lm -Wl,-rpath,${origin} -o ${program}
                           DEPENDS wpcc libwarpage ${objects} COMMENT "wpcc -o apps/${name}" VERBATIM)
        list(APPEND programs ${program})
        install(PROGRAMS ${program} DESTINATION lib/warpage/apps)
        install(CODE "file(RPATH_CHANGE
            FILE \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/lib/warpage/apps/${name}\"
            OLD_RPATH \"\$ORIGIN/../..:${CMAKE_LIBRARY_OUTPUT_DIRECTORY}\" NEW_RPATH \"\$ORIGIN/../..\")")
    endforeach()
    add_custom_target(apps ALL DEPENDS ${programs})
    file(CREATE_LINK ../../apps ${CMAKE_CURRENT_BINARY_DIR}/lib/warpage/apps SYMBOLIC)
endif()

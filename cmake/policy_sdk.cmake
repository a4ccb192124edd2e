# SPDX-License-Identifier: Apache-2.0
# wp_policy_sdk(): what `wpcc --policy` compiles policies with, <prefix>/lib/warpage/policy, in the
# build tree and installed: include/ has the headers of src/policy and what they include of src/base,
# examples/ policies to begin from, libwarpage_policy.a the helpers that the headers declare. A policy
# file links its own copy of a helper, so libwarpage exports none.
function(wp_policy_sdk)
    set(tree ${CMAKE_CURRENT_BINARY_DIR}/lib/warpage/policy)
    file(GLOB headers RELATIVE ${CMAKE_CURRENT_SOURCE_DIR}/src CONFIGURE_DEPENDS src/policy/*.h)
    list(REMOVE_ITEM headers policy/load.h)
    list(APPEND headers base/alloc.h base/time.h)
    foreach(header ${headers})
        get_filename_component(folder ${header} DIRECTORY)
        file(MAKE_DIRECTORY ${tree}/include/${folder})
        file(CREATE_LINK ${CMAKE_CURRENT_SOURCE_DIR}/src/${header} ${tree}/include/${header} SYMBOLIC)
        install(FILES src/${header} DESTINATION lib/warpage/policy/include/${folder})
    endforeach()

    # Where to begin from.
    file(CREATE_LINK ${CMAKE_CURRENT_SOURCE_DIR}/examples/policies ${tree}/examples SYMBOLIC)
    install(DIRECTORY examples/policies/ DESTINATION lib/warpage/policy/examples)

    # Without the flags of wp_flags: sanitizers and link-time optimisation do not belong into it.
    file(GLOB sources CONFIGURE_DEPENDS src/policy/*.c src/policy/*/*.c)
    list(FILTER sources EXCLUDE REGEX "/src/policy/(policy|load)\\.c$")
    add_library(warpage_policy STATIC ${sources} src/base/alloc.c)
    target_include_directories(warpage_policy PRIVATE include src)
    target_compile_definitions(warpage_policy PRIVATE _POSIX_C_SOURCE=200809L)
    set_target_properties(warpage_policy PROPERTIES ARCHIVE_OUTPUT_DIRECTORY ${tree})
    install(TARGETS warpage_policy ARCHIVE DESTINATION lib/warpage/policy)
endfunction()

# SPDX-License-Identifier: Apache-2.0
# wp_configs(): the profiles of simulated GPUs, <prefix>/lib/warpage/configs, the papers' claims,
# <prefix>/lib/warpage/repro, and studies, in the build tree and installed.
function(wp_configs)
    file(MAKE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/lib/warpage)
    file(CREATE_LINK ${CMAKE_CURRENT_SOURCE_DIR}/configs ${CMAKE_CURRENT_BINARY_DIR}/lib/warpage/configs
         SYMBOLIC)
    file(CREATE_LINK ${CMAKE_CURRENT_SOURCE_DIR}/repro ${CMAKE_CURRENT_BINARY_DIR}/lib/warpage/repro SYMBOLIC)
    file(CREATE_LINK ${CMAKE_CURRENT_SOURCE_DIR}/studies ${CMAKE_CURRENT_BINARY_DIR}/lib/warpage/studies SYMBOLIC)
    install(DIRECTORY repro studies DESTINATION lib/warpage)
    install(DIRECTORY configs DESTINATION lib/warpage FILES_MATCHING PATTERN "*.ini")
endfunction()

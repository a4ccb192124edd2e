# SPDX-License-Identifier: Apache-2.0
# wp_configs(): the profiles of simulated GPUs, <prefix>/lib/warpage/configs, and the papers' claims,
# <prefix>/lib/warpage/repro, in the build tree and installed.
function(wp_configs)
    file(MAKE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/lib/warpage)
    file(CREATE_LINK ${CMAKE_CURRENT_SOURCE_DIR}/configs ${CMAKE_CURRENT_BINARY_DIR}/lib/warpage/configs
         SYMBOLIC)
    file(CREATE_LINK ${CMAKE_CURRENT_SOURCE_DIR}/repro ${CMAKE_CURRENT_BINARY_DIR}/lib/warpage/repro SYMBOLIC)
    install(DIRECTORY repro DESTINATION lib/warpage)
    install(DIRECTORY configs DESTINATION lib/warpage FILES_MATCHING PATTERN "*.ini")
endfunction()

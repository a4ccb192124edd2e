# SPDX-License-Identifier: Apache-2.0
# Micro-benchmarks of rooms, bench/<room>/*.c, to <build>/bench/<room>_<name>. Built on demand: target `benches`.
file(GLOB sources CONFIGURE_DEPENDS bench/sim/*.c)
set(benches "")
foreach(source ${sources})
    get_filename_component(name ${source} NAME_WE)
    add_executable(sim_${name} EXCLUDE_FROM_ALL ${source})
    set_target_properties(sim_${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bench)
    target_link_libraries(sim_${name} PRIVATE wpruntime)
    list(APPEND benches sim_${name})
endforeach()
add_custom_target(benches DEPENDS ${benches})

# SPDX-License-Identifier: Apache-2.0
# Tests are found by their place: adding a file is enough.
#   tests/unit/test_*.c        cmocka, one file per source file            label unit
#   tests/contract/test_*.c    cmocka, what every device or pass promises  label contract
#   tests/model/test_*.c       cmocka, models against formulas             label model
#   tests/fuzz/*.c             bad input: here a driver on known files     label unit
#   tests/ir/*.cu, *.ll        RUN lines and FileCheck                     label ir
#   tests/trace/*.cu           RUN lines and FileCheck, of tables          label trace
#   tests/cli/*.sh             commands with their expected output         label cli
#   tests/ops/*.py             operators against other programs            label unit
#   tests/e2e/*.cu, *.sh       programs that check themselves              label e2e
#   tests/e2e/sim/*.cu, *.sh   what only simulated GPUs do; the apps there label sim
#   examples/*.cu              run as their first lines say                label e2e
#   tests/install/installed.sh what is installed, by itself               label e2e
#   tools/every-profile.sh     a few programs on every simulated GPU       label profiles
#   tools/gpu-check.sh         all programs on a real GPU, and measured    label gpu
#   README.md, docs/guide/*.md     every command of them, as installed     label guide
#   tests/ptx/*.cu, programs of e2e, examples, apps, kernels of ops        label ptx
# Exit code 77 is "skipped" everywhere (no GPU, say).
pkg_check_modules(CMOCKA REQUIRED IMPORTED_TARGET cmocka)
set(wp_tests ${CMAKE_CURRENT_SOURCE_DIR}/tests)
set(wp_bin ${CMAKE_BINARY_DIR}/bin)

# A limit ends what hangs; it says nothing about speed. It is at least ten times what a test takes alone on an idle
# core: enough for every test below a minute here, and raised for slower ones at the end of this file. Sanitizers make
# tests up to eight times as slow as the release build.
set(wp_slower 1)
set(wp_limit_s 600)
if(WARPAGE_SANITIZE)
    set(wp_slower 8)
    set(wp_limit_s 1200)
endif()

# wp_set_environment(TEST NAME=VALUE...): more of its environment.
function(wp_set_environment test)
    set_property(TEST ${test} APPEND PROPERTY ENVIRONMENT ${ARGN})
endfunction()

# wp_add_test(NAME LABEL COMMAND...): the test LABEL.NAME.
function(wp_add_test name label)
    if(ARGV2 MATCHES "^[0-9]+$")
        message(FATAL_ERROR "wp_add_test(${name} ${label} ${ARGV2} ...): leave out ${ARGV2}; all tests have the same "
                "time limit, and slow ones are in the list of costs at the end of cmake/tests.cmake")
    endif()
    add_test(NAME ${label}.${name} COMMAND ${ARGN})
    set_tests_properties(${label}.${name} PROPERTIES LABELS ${label} TIMEOUT ${wp_limit_s}
                         SKIP_RETURN_CODE 77)
    # Code for other processors than this one takes a tenth to two fifths of a compilation: tests of it ask for it. The
    # page foreign-programs calls NVIDIA's nvcc, which reads the same variable.
    if(label MATCHES "^(cli|e2e|guide|profiles|sim|trace)$" AND NOT name STREQUAL foreign-programs)
        wp_set_environment(${label}.${name} NVCC_PREPEND_FLAGS=--cpu-isa=native)
    endif()
endfunction()

# wp_unit_test(SOURCE LABEL): one cmocka program, linked with the insides of the rooms it includes.
function(wp_unit_test source label)
    get_filename_component(name ${source} NAME_WE)
    string(REGEX REPLACE "^test_" "" short ${name})
    set(target ${label}_${name})
    add_executable(${target} ${source})
    set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
    target_include_directories(${target} PRIVATE ${wp_tests}/support)
    target_compile_definitions(${target} PRIVATE
        WP_TEST_SOURCE_DIR="${CMAKE_SOURCE_DIR}" WP_TEST_BUILD_DIR="${CMAKE_BINARY_DIR}")
    file(STRINGS ${source} includes REGEX "^#include \"")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${source})
    if(includes MATCHES "\"compiler/")
        target_link_libraries(${target} PRIVATE wpcompiler)
    endif()
    if(includes MATCHES "\"(cli|study)/")
        target_link_libraries(${target} PRIVATE wpcli)
    endif()
    if(includes MATCHES "\"table_io/")
        target_link_libraries(${target} PRIVATE wptable_io)
    endif()
    if(includes MATCHES "\"(ops|gpu)/|\"warpage/(ops|partials|texts|distributions)\\.h")
        target_link_libraries(${target} PRIVATE wpops)
    endif()
    if(includes MATCHES "\"warpage/cuda/(cublas_v2|cufft|curand|nvml)\\.h") # programs like any other
        target_link_libraries(${target} PRIVATE cublas_inside curand_inside cufft_inside nvidia_ml_inside m)
        list(FILTER includes EXCLUDE REGEX "\"warpage/")
    endif()
    if(includes MATCHES "\"probe/")
        target_link_libraries(${target} PRIVATE wpprobe)
        if(includes MATCHES "probe/measure/probe_gpu\.h") # the kernels' users: programs like any other
            target_link_libraries(${target} PRIVATE libwarpage)
            list(FILTER includes EXCLUDE REGEX "\"warpage/")
        endif()
    endif()
    list(FILTER includes EXCLUDE REGEX "\"(base|compiler|cli|study|ops|gpu|probe|table_io)/|\"warpage/(error|ops|partials|texts|distributions)\\.h|\"(wp_(test|random)|trace_program|tlb_[a-z]+)\\.h|\"ptx_machine/")
    if(includes)
        target_link_libraries(${target} PRIVATE wpruntime)
    endif()
    target_link_libraries(${target} PRIVATE wpbase PkgConfig::CMOCKA)
    if(short MATCHES "^cuda_" OR label STREQUAL contract)
        add_dependencies(${target} fake_cuda fake_cuda_old)
        target_link_libraries(${target} PRIVATE ${CMAKE_DL_LIBS})
    endif()
    if(short STREQUAL ptx_machine)
        target_link_libraries(${target} PRIVATE ptx_machine)
    endif()
    if(short STREQUAL nvptxlib)
        wp_link_host_nvptxlib(${target})
    endif()
    set(arguments "")
    if(WARPAGE_SANITIZE AND short MATCHES "^probe_(any|visible)$")
        set(arguments 60) # hierarchies: a sanitizer looks at code, not at numbers
    endif()
    if(NOT WARPAGE_SANITIZE AND short STREQUAL probe_visible)
        set(arguments 150) # of 500
    endif()
    if(short STREQUAL sim_every_policy) # every seventh set of policies, or thirteenth
        set(arguments 7)
        if(WARPAGE_SANITIZE)
            set(arguments 13)
        endif()
    endif()
    wp_add_test(${short} ${label} ${target} ${arguments})
endfunction()

# The machine that executes PTX. Rounding modes change while it runs: nothing may be moved over that.
file(GLOB wp_machine_sources CONFIGURE_DEPENDS ${wp_tests}/support/ptx_machine/*.c)
add_library(ptx_machine STATIC ${wp_machine_sources})
set_target_properties(ptx_machine PROPERTIES POSITION_INDEPENDENT_CODE ON)
target_compile_options(ptx_machine PRIVATE -frounding-math -ffp-contract=off)
target_link_libraries(ptx_machine PRIVATE wp_flags m)

# The stand-in for NVIDIA's driver, which executes kernels on that machine; and one that is too old, which differs in
# stream.c.
file(GLOB wp_fake_sources CONFIGURE_DEPENDS ${wp_tests}/support/fake_cuda/*.c)
list(REMOVE_ITEM wp_fake_sources ${wp_tests}/support/fake_cuda/stream.c)
add_library(fake_cuda_common OBJECT ${wp_fake_sources})
target_include_directories(fake_cuda_common PRIVATE ${wp_tests}/support)
target_link_libraries(fake_cuda_common PRIVATE wp_flags)
foreach(variant fake_cuda fake_cuda_old)
    add_library(${variant} MODULE $<TARGET_OBJECTS:fake_cuda_common> ${wp_tests}/support/fake_cuda/stream.c)
    set_target_properties(${variant} PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
    target_include_directories(${variant} PRIVATE ${wp_tests}/support)
    target_link_libraries(${variant} PRIVATE ptx_machine wp_flags Threads::Threads m)
endforeach()
target_compile_definitions(fake_cuda_old PRIVATE FAKE_CUDA_OLD)

# wp_link_host_nvptxlib(TARGET): the GPU's device library, for this machine. Only what the test calls is
# linked: the rest refers to GPU instructions.
function(wp_link_host_nvptxlib target)
    set(library ${CMAKE_BINARY_DIR}/lib/warpage/nvptxlib.bc)
    set(object ${CMAKE_BINARY_DIR}/tests/host_nvptxlib.o)
    add_custom_command(
        OUTPUT ${object}
        COMMAND ${wp_tests}/support/host_nvptxlib.sh ${LLVM_TOOLS_BINARY_DIR} ${library} ${object}
        DEPENDS ${library} ${wp_tests}/support/host_nvptxlib.sh
        COMMENT "Compiling nvptxlib.bc for this machine" VERBATIM)
    target_sources(${target} PRIVATE ${object})
    set_source_files_properties(${object} PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)
    target_link_libraries(${target} PRIVATE m)
    target_link_options(${target} PRIVATE -Wl,--gc-sections)
endfunction()

# wp_ir_test(SOURCE LABEL): its RUN lines.
function(wp_ir_test source label)
    get_filename_component(name ${source} NAME)
    wp_add_test(${name} ${label} ${wp_tests}/support/run_ir.sh ${wp_bin}/wpcc ${WARPAGE_FILECHECK}
                ${source})
endfunction()

# wp_cli_test(SCRIPT): its output and exit status against the files beside it.
function(wp_cli_test script)
    get_filename_component(name ${script} NAME_WE)
    wp_add_test(${name} cli ${wp_tests}/support/run_cli.sh ${wp_bin} ${script})
endfunction()

# wp_use_programs(TEST NAME...): runs these programs of tests/e2e, compiled by then.
function(wp_use_programs test)
    wp_set_environment(${test} COMPILED=${wp_programs})
    list(TRANSFORM ARGN PREPEND e2e.)
    set_property(TEST ${test} APPEND PROPERTY FIXTURES_REQUIRED ${ARGN})
endfunction()

# wp_program_test(NAME): one program of tests/e2e by name, run with 1 and 2 workers; and once more on the CUDA device,
# on the machine behind the stand-in for the driver, and programs on a simulated GPU. A program is compiled by wpcc
# once, by a test of its own, which CTest runs before any of these.
function(wp_program_test name)
    string(REGEX REPLACE "\\.(cu|sh)$" "" short ${name})
    set(run ${wp_tests}/e2e/run.sh ${wp_bin}/wpcc ${name})
    wp_add_test(${short} e2e ${run})
    file(STRINGS ${wp_tests}/e2e/${name} devices REGEX "^// DEVICES:")
    if(name MATCHES "^[^/]*\\.cu$|^(apps|apps_files|apps_stream|apps_table|apps_heaps|gpu_bench|pagerank_mapreduce)\\.sh$" AND (NOT devices OR devices MATCHES "^[^(]* cuda"))
        wp_add_test(cuda.${short} e2e ${run})
        wp_on_machine(e2e.cuda.${short})
    endif()
    if(name MATCHES "^[^/]*\\.cu$")
        wp_add_test(sim.${short} e2e ${run})
        # A simulated GPU that the program names, for what the usual one lacks.
        string(REGEX MATCH "sim:[a-z0-9@+-]+" simulated "${devices}")
        if(NOT simulated)
            set(simulated sim:gtx1080ti)
        endif()
        wp_set_environment(e2e.sim.${short} DEVICES=${simulated})
        wp_add_test(compile.${short} e2e ${run})
        wp_set_environment(e2e.compile.${short} COMPILE_TO=${wp_programs})
        set_tests_properties(e2e.compile.${short} PROPERTIES FIXTURES_SETUP e2e.${short})
        foreach(test e2e.${short} e2e.cuda.${short} e2e.sim.${short})
            if(TEST ${test})
                wp_use_programs(${test} ${short})
            endif()
        endforeach()
    endif()
endfunction()

# wp_on_machine(TEST): its programs run on the CUDA device, on the stand-in for the driver.
function(wp_on_machine test)
    wp_set_environment(${test} DEVICES=cuda:0 WARPAGE_LIBCUDA=${CMAKE_BINARY_DIR}/tests/libfake_cuda.so)
endfunction()

# Of the rooms that start threads, tests that start none (no clone with CLONE_THREAD in strace).
set(wp_without_threads devicelib|lower_asm|mangled_input|memory_map|metrics|nvptxlib|race_table|run_record|sim_addresses|sim_allocations|sim_merge|sim_rounds|sim_variables|table_number|trace_code|trace_file|trace_import)

foreach(label unit contract model)
    file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${wp_tests}/${label}/test_*.c)
    foreach(source ${sources})
        # The thread sanitizer has nothing to find where no threads are started: in the simulator, the policies, the
        # compiler, the command line and most of base.
        file(STRINGS ${source} has_threads REGEX "^#include \"(cpu_program|cuda_program|fake_driver|probe/measure/probe_gpu|(cudart|device|ops|report|stream|table_io|trace|warpage)/)")
        if(source MATCHES "/test_(${wp_without_threads})\\.c$")
            set(has_threads "")
        endif()
        if(has_threads OR NOT WARPAGE_SANITIZE STREQUAL thread)
            wp_unit_test(${source} ${label})
        endif()
    endforeach()
endforeach()

file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/examples/policies/*/*.c)
if(TARGET unit_test_example_policies)
    target_sources(unit_test_example_policies PRIVATE ${sources})
endif()

# Policy files, right and wrong, for unit.policy_load.
file(GLOB sources CONFIGURE_DEPENDS ${wp_tests}/support/policy_files/*.c)
foreach(source ${sources})
    get_filename_component(name ${source} NAME_WE)
    add_library(policy_${name} MODULE ${source})
    set_target_properties(policy_${name} PROPERTIES PREFIX "" LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
    target_link_libraries(policy_${name} PRIVATE wp_flags)
    if(TARGET unit_test_policy_load)
        add_dependencies(unit_test_policy_load policy_${name})
    endif()
endforeach()

# Thousands of probed hierarchies: half a minute, more under sanitizers.
foreach(test model.probe_visible model.probe_any)
    if(TEST ${test})
        set_tests_properties(${test} PROPERTIES TIMEOUT 600)
    endif()
endforeach()

# What a libFuzzer target would be given, from known files: all of it under the address sanitizer, which sees most, and
# a fifth elsewhere.
set(every --every 5)
if(WARPAGE_SANITIZE MATCHES address)
    set(every "")
endif()
file(GLOB configs CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/configs/p100.ini ${CMAKE_SOURCE_DIR}/configs/gtx480-paged.ini)
if(NOT WARPAGE_SANITIZE STREQUAL thread) # one thread
    add_executable(fuzz_profile ${wp_tests}/fuzz/profile.c)
    set_target_properties(fuzz_profile PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
    target_link_libraries(fuzz_profile PRIVATE wpruntime)
    wp_add_test(fuzz_profile unit fuzz_profile ${every} ${configs})
endif()
add_executable(fuzz_trace ${wp_tests}/fuzz/trace.c)
set_target_properties(fuzz_trace PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
target_include_directories(fuzz_trace PRIVATE ${wp_tests}/support)
target_link_libraries(fuzz_trace PRIVATE wpruntime)
wp_add_test(fuzz_trace unit fuzz_trace ${wp_tests}/traces/accelsim/kernelslist.g)

file(GLOB inputs CONFIGURE_DEPENDS ${wp_tests}/table_io/inputs/*)
add_executable(fuzz_table ${wp_tests}/fuzz/table.c)
set_target_properties(fuzz_table PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
target_include_directories(fuzz_table PRIVATE ${wp_tests}/support)
target_link_libraries(fuzz_table PRIVATE wptable_io)
wp_add_test(fuzz_table unit fuzz_table ${every} ${inputs})

# Group-by beside SQLite, which comes with Python.
wp_add_test(groupby_sqlite cli ${wp_tests}/table_io/sqlite.py ${wp_bin}/warpage)

# The Python package: on Python's own arrays, and with other packages where they are (WARPAGE_PYTHON).
if(NOT WARPAGE_SANITIZE)
    foreach(name arrays commands distributions hash_tables interchange parquet partials reports spill texts arrow_types wheel)
        wp_add_test(python_${name} cli ${wp_tests}/python/run.sh ${CMAKE_BINARY_DIR} ${wp_tests}/python/${name}.py)
    endforeach()
endif()

# The package on Apache Spark, where pyspark and Java are (WARPAGE_PYTHON).
if(NOT WARPAGE_SANITIZE)
    wp_add_test(spark_groupby cli ${wp_tests}/python/run.sh ${CMAKE_BINARY_DIR} ${wp_tests}/spark/groupby.py)
    wp_add_test(spark_connect cli ${wp_tests}/python/run.sh ${CMAKE_BINARY_DIR} ${wp_tests}/spark/connect.py)
    wp_add_test(spark_faults cli ${wp_tests}/python/run.sh ${CMAKE_BINARY_DIR} ${wp_tests}/spark/faults.py)
    wp_add_test(spark_cluster cli ${wp_tests}/spark/run.sh ${CMAKE_BINARY_DIR} --workers 3 ${wp_tests}/spark/cluster.py)
    wp_add_test(spark_gpus cli ${wp_tests}/spark/run.sh ${CMAKE_BINARY_DIR} --gpus ${wp_tests}/spark/gpus.py)
    wp_set_environment(cli.spark_gpus WARPAGE_LIBCUDA=${CMAKE_BINARY_DIR}/tests/libfake_cuda.so)
    wp_add_test(spark_speculation cli ${wp_tests}/spark/run.sh ${CMAKE_BINARY_DIR} --apart ${wp_tests}/spark/speculation.py)
endif()

# The thread sanitizer: simulated GPUs start no threads. Others: the same code runs on each simulated GPU.
if(WARPAGE_SANITIZE STREQUAL thread)
    wp_set_environment(contract.ops_devices WARPAGE_TEST_DEVICES=1)
elseif(WARPAGE_SANITIZE)
    wp_set_environment(contract.ops_devices WARPAGE_TEST_DEVICES=2)
endif()

# The contract once more, with a CUDA device on the stand-in for the driver.
wp_add_test(device_fake_cuda contract contract_test_device)
set_tests_properties(contract.device_fake_cuda PROPERTIES ENVIRONMENT
                     WARPAGE_LIBCUDA=${CMAKE_BINARY_DIR}/tests/libfake_cuda.so)

set(operators ops_devices ops_sample)
if(WARPAGE_SANITIZE STREQUAL thread) # the stand-in runs PTX in one thread, for a minute
    list(REMOVE_ITEM operators ops_devices)
endif()
foreach(operator ${operators})
    wp_add_test(${operator}_fake_cuda contract contract_test_${operator})
    set_tests_properties(contract.${operator}_fake_cuda PROPERTIES ENVIRONMENT
                         WARPAGE_LIBCUDA=${CMAKE_BINARY_DIR}/tests/libfake_cuda.so)
endforeach()

file(GLOB scripts CONFIGURE_DEPENDS ${wp_tests}/cli/*.sh)
if(WARPAGE_SANITIZE) # plain programs cannot load instrumented libraries
    list(FILTER scripts EXCLUDE REGEX "/(link_by_path|wpcc_cpu_isa|wpcc_variable_arrays).sh$")
endif()
foreach(script ${scripts})
    wp_cli_test(${script})
endforeach()

if(TARGET wpcc)
    file(GLOB sources CONFIGURE_DEPENDS ${wp_tests}/ir/*.cu ${wp_tests}/ir/*.ll)
    foreach(source ${sources})
        wp_ir_test(${source} ir)
    endforeach()
    add_executable(trace_show ${wp_tests}/trace/show.c)
    add_library(trace_witness MODULE ${wp_tests}/trace/witness.c)
    foreach(target trace_show trace_witness)
        set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests
                              LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
        target_link_libraries(${target} PRIVATE wp_flags libwarpage Threads::Threads ${CMAKE_DL_LIBS})
    endforeach()
    file(GLOB sources CONFIGURE_DEPENDS ${wp_tests}/trace/*.cu)
    foreach(source ${sources})
        wp_ir_test(${source} trace)
    endforeach()
    # Programs built by wpcc are not instrumented: under sanitizers the layers above cover our code.
    if(NOT WARPAGE_SANITIZE)
        # Libraries of streamed kernels register with libwarpage: a program of it, with the files that it hides.
        set(device ${CMAKE_SOURCE_DIR}/src/device)
        add_executable(stream_library ${wp_tests}/support/stream_library.c ${device}/stream_library.c
                       ${device}/made_library.c ${device}/image.c)
        set_target_properties(stream_library PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
        target_link_libraries(stream_library PRIVATE libwarpage wpbase Threads::Threads ${CMAKE_DL_LIBS})
        file(GLOB programs RELATIVE ${wp_tests}/e2e CONFIGURE_DEPENDS ${wp_tests}/e2e/*.cu
             ${wp_tests}/e2e/*.sh ${wp_tests}/e2e/bad/*.cu ${wp_tests}/e2e/bad/*.sh)
        list(REMOVE_ITEM programs run.sh)
        set(wp_programs ${CMAKE_BINARY_DIR}/tests/e2e)
        file(MAKE_DIRECTORY ${wp_programs})
        foreach(program ${programs})
            wp_program_test(${program})
        endforeach()
        # What only simulated GPUs do. A script's own program is not a test by itself.
        file(GLOB programs CONFIGURE_DEPENDS ${wp_tests}/e2e/sim/*.cu ${wp_tests}/e2e/sim/*.sh)
        foreach(program ${programs})
            get_filename_component(short ${program} NAME_WE)
            get_filename_component(name ${program} NAME)
            if(name MATCHES "\\.cu$" AND EXISTS ${wp_tests}/e2e/sim/${short}.sh)
                continue()
            endif()
            wp_add_test(${short} sim ${wp_tests}/e2e/run.sh ${wp_bin}/wpcc sim/${name})
            file(STRINGS ${program} devices REGEX "^// DEVICES: sim:")
            string(REGEX MATCH "sim:[a-z0-9@+-]+" device "${devices}")
            wp_set_environment(sim.${short} DEVICES=${device})
        endforeach()
        # A line each: a name, an app, its arguments.
        file(STRINGS ${wp_tests}/support/sim_apps.txt runs)
        set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${wp_tests}/support/sim_apps.txt)
        foreach(run ${runs})
            separate_arguments(words UNIX_COMMAND "${run}")
            list(POP_FRONT words name app)
            wp_add_test(app.${name} sim ${wp_tests}/support/sim_app.sh ${CMAKE_BINARY_DIR} ${app} ${words})
        endforeach()
        set(programs shuffle atomics_32 barrier_loops blocks_wait divergence streams_order)
        wp_add_test(some profiles ${CMAKE_SOURCE_DIR}/tools/every-profile.sh ${CMAKE_BINARY_DIR} ${programs} app.pvc)
        wp_use_programs(profiles.some ${programs})
        wp_use_programs(sim.determinism async_overlap atomics_float blocks_wait clocks constant_symbols device_malloc
                        host_memory managed_variables streams_order)
        # With one thread at a time, ahead and in step are the same.
        wp_add_test(in_step_cause sim ${CMAKE_SOURCE_DIR}/bench/sim/in_step_cause.sh ${CMAKE_BINARY_DIR})
        wp_set_environment(sim.in_step_cause SIZE=400 THREADS=1 BLOCKS=one)
        # Traced threads, their tables, and their PTX.
        foreach(program barrier_loops calls_that_wait cg_reduce clocks function_pointers grid_stride
                locks math_more named_barriers ptx_memory recursion shared_static virtual_functions
                warp_divergent warp_synchronous)
            wp_add_test(${program} trace ${wp_tests}/trace/witness.sh ${wp_bin}/wpcc
                        ${wp_tests}/e2e/${program}.cu)
        endforeach()
        foreach(program atomics_64 barrier_loops classes divergence grid_2d_3d lambdas locks
                shared_extern shared_static shuffle structs_by_value templates texture_3d
                warp_reduce_sync)
            list(APPEND counted ${wp_tests}/e2e/${program}.cu)
        endforeach()
        wp_add_test(machine_code trace ${wp_tests}/trace/machine_code.sh ${wp_bin}/wpcc)
        wp_add_test(counts trace ${wp_tests}/trace/counts.sh ${wp_bin}/wpcc ${counted})
        # Everything on a real GPU, compared with the CPU device; skipped without one.
        wp_add_test(check gpu ${wp_tests}/support/gpu_check.sh ${CMAKE_BINARY_DIR})
        set_tests_properties(gpu.check PROPERTIES TIMEOUT 3600)
        file(GLOB examples CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/examples/*.cu)
        foreach(example ${examples})
            get_filename_component(name ${example} NAME_WE)
            wp_add_test(example.${name} e2e ${wp_tests}/support/run_example.sh ${wp_bin} ${example})
            wp_add_test(cuda.example.${name} e2e ${wp_tests}/support/run_example.sh ${wp_bin} ${example})
            wp_on_machine(e2e.cuda.example.${name})
        endforeach()
    endif()
endif()

# Group-by against SQLite, which Python brings. The library of a sanitizer's build does not load there.
find_package(Python3 COMPONENTS Interpreter)
if(Python3_FOUND AND NOT WARPAGE_SANITIZE)
    wp_add_test(groupby_sqlite unit ${Python3_EXECUTABLE} ${wp_tests}/ops/groupby_sqlite.py
                $<TARGET_FILE:libwarpage_ops>)
endif()

# Every program's PTX. Under sanitizers e2e is not there either.
if(TARGET wpcc AND NOT WARPAGE_SANITIZE)
    find_program(WARPAGE_LLC NAMES llc PATHS ${LLVM_TOOLS_BINARY_DIR} NO_DEFAULT_PATH REQUIRED)
    file(GLOB sources CONFIGURE_DEPENDS ${wp_tests}/e2e/*.cu ${wp_tests}/ptx/*.cu
         ${CMAKE_SOURCE_DIR}/examples/*.cu ${CMAKE_SOURCE_DIR}/apps/*/*.cu ${CMAKE_SOURCE_DIR}/src/ops/*/*.cu)
    foreach(source ${sources} ${CMAKE_BINARY_DIR}/lib/warpage/nvptxlib.bc)
        get_filename_component(name ${source} NAME_WE)
        if(name MATCHES "^nested_") # launches by kernels have no PTX
            continue()
        endif()
        wp_add_test(${name} ptx ${wp_tests}/ptx/assemble.sh ${wp_bin}/wpcc ${WARPAGE_LLC} ${source})
        if(source MATCHES "/e2e/") # compiled with the program
            wp_use_programs(ptx.${name} ${name})
        endif()
    endforeach()
endif()

# What reads sources, or runs only programs of others, is the same under sanitizers.
if(NOT WARPAGE_SANITIZE)
    wp_add_test(dependency_law unit ${CMAKE_SOURCE_DIR}/tools/check-includes.sh)
    wp_add_test(compiler_allocations unit ${CMAKE_SOURCE_DIR}/tools/check-allocations.sh)
    if(Python3_FOUND)
        wp_add_test(suites_run cli ${Python3_EXECUTABLE} ${wp_tests}/cli/suites_run.py)
        # docs/guide/cuda-support.md is what headers and sources say, and what the libraries export.
        if(TARGET libwarpage)
            wp_add_test(cuda_support cli ${Python3_EXECUTABLE} ${CMAKE_SOURCE_DIR}/tools/cuda-support.py
                        --check ${CMAKE_BINARY_DIR}/lib/warpage/cuda/lib64)
        endif()
    endif()
endif()
# What `make install` installs, used without the build tree.
if(TARGET apps)
    wp_add_test(installed e2e ${wp_tests}/install/installed.sh ${CMAKE_BINARY_DIR})
endif()

# Every command of README and guide, typed in order where Warpage is installed (tests/guide/typed.py).
if(TARGET wpcc AND Python3_FOUND AND CMAKE_BUILD_TYPE STREQUAL Release AND NOT WARPAGE_SANITIZE)
    set(prefix ${CMAKE_BINARY_DIR}/tests/prefix)
    wp_add_test(typed guide ${Python3_EXECUTABLE} ${wp_tests}/guide/test_typed.py)
    wp_add_test(install guide sh -c "rm -rf \"$2\" && exec cmake --install \"$1\" --prefix \"$2\""
                install ${CMAKE_BINARY_DIR} ${prefix})
    set_tests_properties(guide.install PROPERTIES FIXTURES_SETUP guide)
    file(GLOB pages CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/docs/guide/*.md)
    list(FILTER pages EXCLUDE REGEX "/README.md$")
    foreach(page ${CMAKE_SOURCE_DIR}/README.md ${pages})
        get_filename_component(name ${page} NAME_WE)
        wp_add_test(${name} guide ${Python3_EXECUTABLE} ${wp_tests}/guide/typed.py --prefix ${prefix}
                    --apps ${CMAKE_BINARY_DIR}/apps --home ${CMAKE_BINARY_DIR}/tests/home ${page})
        set_tests_properties(guide.${name} PROPERTIES FIXTURES_REQUIRED guide COST 10)
    endforeach()
endif()


# Random kernels, streamed and on plain device memory. Most of the time compiles them: made at the launch for the first
# seed, in the program for the second.
if(NOT WARPAGE_SANITIZE)
    wp_add_test(stream_property e2e ${Python3_EXECUTABLE} ${wp_tests}/e2e/stream_property.py ${CMAKE_BINARY_DIR}
                --devices cpu,sim:gtx680@xeon-e5-quad/sim:gtx1080ti,cuda:0 --seeds 1-2 --kernels 4)
    wp_add_test(stream_property_cached e2e ${Python3_EXECUTABLE} ${wp_tests}/e2e/stream_property.py ${CMAKE_BINARY_DIR}
                --devices sim:gtx680@xeon-e5-quad/cpu,cuda:0 --seeds 3-4 --kernels 4 --cache)
    # Random kernels, in their cached and in their plain form.
    wp_add_test(cache_property e2e ${Python3_EXECUTABLE} ${wp_tests}/e2e/cache_property.py ${CMAKE_BINARY_DIR}
                --devices cpu,sim:titan-black,cuda:0 --seeds 6-7)
    # The ten programs, in every variant of the cache.
    wp_add_test(cache_variants e2e ${Python3_EXECUTABLE} ${CMAKE_SOURCE_DIR}/bench/cache/variants.py ${CMAKE_BINARY_DIR})
endif()

# Devices share the streamed kernels in the user's cache: the second one finds them if it does not start beside the first.
foreach(name apps_stream apps_files stream_barriers stream_files stream_indices stream_launches stream_own stream_variants)
    foreach(device cuda sim)
        if(TEST e2e.${name} AND TEST e2e.${device}.${name})
            set_tests_properties(e2e.${device}.${name} PROPERTIES DEPENDS e2e.${name})
        endif()
    endforeach()
endforeach()

# CTest begins with the tests that cost most, so that none of these is left to run alone at the end. Seconds, of those
# that take more than five alone (tools/slowest-tests.sh). Their time limits follow from it.
foreach(cost e2e.compile.cache_runs:8 e2e.compile.wgmma:10 e2e.cluster_ways:45 cli.groupby_sqlite:8 cli.spark_cluster:100 cli.spark_connect:40 cli.spark_faults:25 cli.spark_groupby:90 cli.spark_speculation:60 cli.wpcc_header_cache:13 contract.ops_devices:8 contract.ops_devices_fake_cuda:7
        e2e.apps:10 e2e.apps_heaps:15 e2e.cuda.apps_heaps:20 e2e.pagerank_mapreduce:15 e2e.cuda.pagerank_mapreduce:8 e2e.apps_table:20 e2e.bad/mapreduce:20 e2e.cuda.apps_table:40 e2e.cmake_project:9 e2e.compile.cg_reduce:6 e2e.compile.cg_wide_tiles:14 e2e.compile.table_random:11 e2e.cuda.apps:13
        e2e.installed:25 e2e.nvcc_options:17 e2e.optimisation_levels:23 e2e.report_page:12 e2e.verdict:7 e2e.table_callback:15 e2e.table_random:7 e2e.sim.table_beyond_memory:6 e2e.sim.grid_million_blocks:6 e2e.sim.locks:6 e2e.stream_indices:20 e2e.stream_property:20 e2e.stream_property_cached:25 e2e.stream_cached:25 e2e.cuda.stream_cached:25 e2e.sim.stream_cached:25 e2e.compile.stream_cached:25 model.probe_any:10 model.probe_visible:8 model.sim_every_policy:8
        profiles.some:9 sim.deadlock:7 sim.determinism:20 sim.every_policy:9 sim.policies_end:12 sim.in_step_cause:6 sim.page_history:6 sim.policy_files:15 sim.paging:17 sim.probe:20 sim.scale:8
        unit.fuzz_profile:6 guide.add-a-tlb-sharing-policy:14 guide.unified-memory:30)
    string(REPLACE ":" ";" cost ${cost})
    list(GET cost 0 test)
    list(GET cost 1 seconds)
    if(TEST ${test})
        set_tests_properties(${test} PROPERTIES COST ${seconds})
        math(EXPR limit_s "10 * ${seconds} * ${wp_slower}")
        if(limit_s GREATER wp_limit_s)
            set_tests_properties(${test} PROPERTIES TIMEOUT ${limit_s})
        endif()
    endif()
endforeach()

# What users do to programs at work: signals, a thousand at once, odd names.
if(NOT WARPAGE_SANITIZE)
    foreach(part signals crowd names bytes children)
        wp_add_test(robust_${part} e2e ${wp_tests}/e2e/robust.py ${part} ${CMAKE_BINARY_DIR})
    endforeach()
endif()

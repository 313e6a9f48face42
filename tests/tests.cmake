# The tests that CTest runs.
#
#   tests/**/test_*.c       one cmocka program and one test each; other .c files
#                           of the same folder are linked into its programs
#   tests/support/*.c       what all of them may use
#   tools/check-house       the rules of the house, one test a rule; tools/api-reference: docs/c-api.md fits the headers
#
# and the programs that tests/net needs, whose pytest starts servers for them:
#   tests/net/*.c           one program each, build/tests/net-<name>, run by nobody else
#
# The tests that drive the program from outside are pytest's: tests/e2e.

pkg_check_modules(CMOCKA REQUIRED IMPORTED_TARGET cmocka)
find_package(Python3 REQUIRED COMPONENTS Interpreter)

# What a test may need to know, in its environment.
set(test_environment
    FDL_BUILD=${CMAKE_BINARY_DIR}
    FDL_SOURCE=${CMAKE_SOURCE_DIR}
    FDL_LIBDUCKDB=${FDL_DEPS}/libduckdb.so
    # Most allocations are DuckDB's, and writing down the stack of each takes a third of the time: a failure is run again with a larger one.
    ASAN_OPTIONS=detect_leaks=1:strict_string_checks=1:malloc_context_size=1
    UBSAN_OPTIONS=print_stacktrace=1)

# ---- unit tests ---------------------------------------------------------------

add_library(fdl_test_flags INTERFACE)
target_include_directories(fdl_test_flags INTERFACE tests)
target_link_libraries(fdl_test_flags INTERFACE fdl_static PkgConfig::CMOCKA)

file(GLOB support_sources CONFIGURE_DEPENDS tests/support/*.c)
if(support_sources)
    add_library(fdl_test_support STATIC EXCLUDE_FROM_ALL ${support_sources})
    target_link_libraries(fdl_test_support PUBLIC fdl_test_flags)
    set(test_libraries fdl_test_support)
else()
    set(test_libraries fdl_test_flags)
endif()

file(GLOB_RECURSE test_sources CONFIGURE_DEPENDS RELATIVE ${CMAKE_SOURCE_DIR}/tests tests/*.c)
list(FILTER test_sources EXCLUDE REGEX "^support/")
set(main_sources ${test_sources})
list(FILTER main_sources INCLUDE REGEX "(^|/)test_[^/]*$")

# Programs that start threads, or whose flows do: what the thread sanitizer looks at (make check-threads).
set(threaded store/test_folder_race store/test_memory unit/catalog/test_duck unit/flow/test_clone unit/store/test_promises unit/util/test_file
    unit/util/test_ident unit/util/test_parallel)
add_custom_target(threaded)

foreach(main IN LISTS main_sources)
    get_filename_component(folder ${main} DIRECTORY)
    get_filename_component(name ${main} NAME_WE)
    string(REPLACE "/" "-" target "${folder}-${name}")

    set(beside ${test_sources})
    list(FILTER beside INCLUDE REGEX "^${folder}/[^/]*$")
    list(FILTER beside EXCLUDE REGEX "(^|/)test_[^/]*$")
    list(TRANSFORM beside PREPEND tests/)

    add_executable(${target} tests/${main} ${beside})
    target_link_libraries(${target} PRIVATE ${test_libraries})
    set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
    add_test(NAME ${folder}/${name} COMMAND ${target})
    set_tests_properties(${folder}/${name} PROPERTIES ENVIRONMENT "${test_environment}" TIMEOUT 900)
    if(name STREQUAL "test_allocation") # makes our allocations fail, and no others: those of shared libraries are not led there
        target_link_options(${target} PRIVATE -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=strdup,--wrap=vasprintf)
        set_tests_properties(${folder}/${name} PROPERTIES TIMEOUT 7200) # make soak takes its time
    endif()
    if("${folder}/${name}" IN_LIST threaded)
        add_dependencies(threaded ${target})
        set_tests_properties(${folder}/${name} PROPERTIES LABELS threads)
    endif()
    if(folder MATCHES "^unit/(catalog|flow)$") # DuckDB under a sanitizer is slow: begun first, they end with the others
        set_tests_properties(${folder}/${name} PROPERTIES COST 100)
    endif()
endforeach()

# ---- programs for tests that need servers: pytest runs them (tests/net) -----------

file(GLOB net_sources CONFIGURE_DEPENDS tests/net/*.c)
file(GLOB contract_sources CONFIGURE_DEPENDS tests/store/contract*.c)
foreach(source IN LISTS net_sources)
    get_filename_component(name ${source} NAME_WE)
    add_executable(net-${name} ${source} ${contract_sources})
    target_link_libraries(net-${name} PRIVATE ${test_libraries})
    set_target_properties(net-${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
endforeach()
add_dependencies(threaded net-race fdl_program)

# ---- the rules of the house ------------------------------------------------------

set(check ${Python3_EXECUTABLE} ${CMAKE_SOURCE_DIR}/tools/check-house)
foreach(rule includes functions calls text)
    add_test(NAME house/${rule} COMMAND ${check} ${rule} ${CMAKE_SOURCE_DIR})
endforeach()
find_program(FDL_CXX NAMES clang++ c++ g++ REQUIRED)
add_test(NAME house/headers COMMAND ${check} headers ${CMAKE_SOURCE_DIR} ${CMAKE_C_COMPILER} ${FDL_CXX})
add_test(NAME house/api-reference COMMAND ${Python3_EXECUTABLE} ${CMAKE_SOURCE_DIR}/tools/api-reference --check)

# rota_library(name SOURCES ... LINKS ...): the static library of one folder, with the warnings for
# all our own code. It links only what its folder may include.
function(rota_warnings target)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror)
endfunction()

function(rota_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINKS;PRIVATE_LINKS" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  target_include_directories(${name} PUBLIC ${PROJECT_SOURCE_DIR})
  target_link_libraries(${name} PUBLIC ${ARG_LINKS} PRIVATE ${ARG_PRIVATE_LINKS})
  rota_warnings(${name})
endfunction()

# rota_program(name SOURCES ... LINKS ...): an executable in bin/.
function(rota_program name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINKS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE ${ARG_LINKS})
  rota_warnings(${name})
endfunction()

# rota_test(name LABEL layer SOURCES ... LINKS ...): a doctest program, one ctest entry. Its main is
# test/support/main.cpp. The tested code is optimised as in a release; the test's own code is not: that
# halves its compile time.
function(rota_test name)
  cmake_parse_arguments(ARG "" "LABEL;TIMEOUT" "SOURCES;LINKS;ARGS" ${ARGN})
  if(NOT TARGET rota_test_main)
    add_library(rota_test_main OBJECT ${PROJECT_SOURCE_DIR}/test/support/main.cpp
      ${PROJECT_SOURCE_DIR}/test/support/leaks.cpp)
  endif()
  add_executable(${name} ${ARG_SOURCES})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE ${ARG_LINKS} rota_test_main)
  target_compile_options(${name} PRIVATE -O0)
  target_compile_definitions(${name} PRIVATE DOCTEST_CONFIG_SUPER_FAST_ASSERTS)
  rota_warnings(${name})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/test-bin)
  add_test(NAME ${name} COMMAND ${name} ${ARG_ARGS})
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 900)  # only a test that hangs reaches it
  endif()
  set_tests_properties(${name} PROPERTIES LABELS ${ARG_LABEL} TIMEOUT ${ARG_TIMEOUT})
endfunction()

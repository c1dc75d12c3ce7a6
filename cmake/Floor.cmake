# What most files of sim/ include. Every file still names what it uses: the builds without precompiled headers see to that.
set(TIDEMARK_COMMON_HEADERS
    <algorithm> <array> <charconv> <cstddef> <cstdint> <functional> <limits> <map> <memory> <optional> <set> <span>
    <string> <string_view> <tuple> <unordered_map> <utility> <variant> <vector> <fmt/format.h>)

# tidemark_floor(NAME SOURCES a.cc b.cc [DEPENDS floors...] [LIBRARIES private third-party targets...])
# One static library a floor of sim/, alias tidemark::NAME. It links only the floors it names, so that an
# include of a higher floor fails to link as well as in tools/check_floors.py.
function(tidemark_floor name)
  cmake_parse_arguments(FLOOR "" "" "SOURCES;DEPENDS;LIBRARIES" ${ARGN})
  set(target tidemark_${name})
  add_library(${target} STATIC ${FLOOR_SOURCES})
  add_library(tidemark::${name} ALIAS ${target})
  target_include_directories(${target} PUBLIC ${PROJECT_SOURCE_DIR})
  foreach(floor IN LISTS FLOOR_DEPENDS)
    target_link_libraries(${target} PUBLIC tidemark::${floor})
  endforeach()
  target_link_libraries(${target} PRIVATE tidemark_warnings ${FLOOR_LIBRARIES} PUBLIC tidemark_sanitizers tidemark_fmt)
  if(NOT TIDEMARK_PRECOMPILED_HEADERS)
    return()
  endif()
  if(name STREQUAL "base")  # the lowest floor: every other is configured after it
    target_precompile_headers(${target} PRIVATE ${TIDEMARK_COMMON_HEADERS})
  else()
    target_precompile_headers(${target} REUSE_FROM tidemark_base)
  endif()
endfunction()

# tidemark_test(NAME LABEL unit SOURCES a_test.cc [FLOORS alloc ...] [LIBRARIES ...]): a Catch2 program, one CTest entry.
function(tidemark_test name)
  cmake_parse_arguments(TEST "" "LABEL" "SOURCES;FLOORS;LIBRARIES" ${ARGN})
  add_executable(${name} ${TEST_SOURCES})
  foreach(floor IN LISTS TEST_FLOORS)
    target_link_libraries(${name} PRIVATE tidemark::${floor})
  endforeach()
  target_link_libraries(${name} PRIVATE tidemark_warnings tidemark_catch_main ${TEST_LIBRARIES})
  target_compile_definitions(${name} PRIVATE TIDEMARK_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  target_precompile_headers(${name} REUSE_FROM tidemark_catch_main)
  add_test(NAME ${name} COMMAND ${name} --use-colour no)
  set_tests_properties(${name} PROPERTIES LABELS "${TEST_LABEL}" WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  # What runs under the sanitizers: all but the goldens, which are long there and find nothing that these do not.
  if(NOT TARGET tests_without_goldens)
    add_custom_target(tests_without_goldens)
  endif()
  if(NOT TEST_LABEL STREQUAL "golden")
    add_dependencies(tests_without_goldens ${name})
  endif()
endfunction()

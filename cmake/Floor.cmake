# What most files of sim/ include. Every file still names what it uses: the builds without precompiled headers see to that.
set(TIDEMARK_COMMON_HEADERS
    <algorithm> <array> <charconv> <cstddef> <cstdint> <functional> <limits> <map> <memory> <optional> <set> <span>
    <string> <string_view> <tuple> <unordered_map> <utility> <variant> <vector> <fmt/format.h>)

# What the floors from `run` on include besides: half of what parsing costs them.
set(TIDEMARK_RUN_HEADERS
    <filesystem> ${PROJECT_SOURCE_DIR}/sim/lang/runtime/unknown.h ${PROJECT_SOURCE_DIR}/sim/run/record.h
    ${PROJECT_SOURCE_DIR}/sim/run/run.h)

# tidemark_floor(NAME SOURCES a.cc b.cc [COLD c.cc ...] [DEPENDS floors...] [LIBRARIES private third-party targets...])
# One static library a floor of sim/, alias tidemark::NAME. It links only the floors it names, so that an
# include of a higher floor fails to link as well as in tools/check_floors.py. COLD are files in which no run spends a two
# thousandth of its time (docs/performance.md, "The build"): see tidemark_cold().
function(tidemark_floor name)
  cmake_parse_arguments(FLOOR "" "" "SOURCES;COLD;DEPENDS;LIBRARIES" ${ARGN})
  set(target tidemark_${name})
  add_library(${target} STATIC ${FLOOR_SOURCES})
  add_library(tidemark::${name} ALIAS ${target})
  set_property(GLOBAL APPEND PROPERTY TIDEMARK_FLOORS ${target})
  tidemark_floor_part(${name} ${target} "${FLOOR_DEPENDS}" "${FLOOR_LIBRARIES}")
  if(FLOOR_COLD)
    add_library(${target}_cold OBJECT ${FLOOR_COLD})
    tidemark_floor_part(${name} ${target}_cold "${FLOOR_DEPENDS}" "${FLOOR_LIBRARIES}")
    tidemark_cold(${target}_cold)
    target_sources(${target} PRIVATE $<TARGET_OBJECTS:${target}_cold>)
  endif()
endfunction()

# What a floor's files are compiled with, of either part.
function(tidemark_floor_part name target depends libraries)
  target_include_directories(${target} PUBLIC ${PROJECT_SOURCE_DIR})
  foreach(floor IN LISTS depends)
    target_link_libraries(${target} PUBLIC tidemark::${floor})
  endforeach()
  target_link_libraries(${target} PRIVATE tidemark_warnings ${libraries} PUBLIC tidemark_sanitizers tidemark_fmt)
  if(NOT TIDEMARK_PRECOMPILED_HEADERS)
    return()
  endif()
  # The lowest floors that need them: every other is configured after these.
  if(target STREQUAL "tidemark_base")
    target_precompile_headers(${target} PRIVATE ${TIDEMARK_COMMON_HEADERS})
  elseif(target STREQUAL "tidemark_run")
    target_precompile_headers(${target} PRIVATE ${TIDEMARK_COMMON_HEADERS} ${TIDEMARK_RUN_HEADERS})
  elseif("run" IN_LIST depends)
    target_precompile_headers(${target} REUSE_FROM tidemark_run)
  else()
    target_precompile_headers(${target} REUSE_FROM tidemark_base)
  endif()
endfunction()

# tidemark_alone(a.cc ...): files that are compiled each by itself, where the others of their floor are compiled several at a
# time (CMAKE_UNITY_BUILD): their names would meet those of others.
function(tidemark_alone)
  set_source_files_properties(${ARGN} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()

# tidemark_any_place(a.cc ...): files that a shared object could not take as they are compiled for a program: those with variables
# of threads, and those that name variables of the C library. The linker makes both alike in a program.
function(tidemark_any_place)
  set_source_files_properties(${ARGN} PROPERTIES COMPILE_OPTIONS -fPIC SKIP_PRECOMPILE_HEADERS ON)
endfunction()

# tidemark_cold(TARGET...): what runs once for a result or never in a run: reading files, asking, printing. Compiled with -O1, which
# takes the compiler two thirds of the time that -O3 does (docs/performance.md, "The build").
function(tidemark_cold)
  foreach(target IN LISTS ARGN)
    target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>)
  endforeach()
endfunction()

# tidemark_cold_files(a.cc ...): the same for files of a floor that is not cold. Each is compiled by itself.
function(tidemark_cold_files)
  set_source_files_properties(${ARGN} PROPERTIES COMPILE_OPTIONS $<$<CONFIG:Release>:-O1>)
endfunction()

# tidemark_test(NAME LABEL unit SOURCES a_test.cc [FLOORS alloc ...] [LIBRARIES ...]): a Catch2 program, one CTest entry.
function(tidemark_test name)
  cmake_parse_arguments(TEST "" "LABEL" "SOURCES;FLOORS;LIBRARIES" ${ARGN})
  add_executable(${name} ${TEST_SOURCES})
  set_target_properties(${name} PROPERTIES UNITY_BUILD OFF)  # they have helpers of the same names
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

# tidemark_embed_python(OUTPUT made.cc FOLDER DIR HEADER sim/run/zoo.h TYPE ZooFile FUNCTION zoo_files): the Python files below a
# folder as part of the program.
function(tidemark_embed_python)
  cmake_parse_arguments(EMBED "" "OUTPUT;FOLDER;HEADER;TYPE;FUNCTION" "" ${ARGN})
  file(GLOB_RECURSE files CONFIGURE_DEPENDS ${EMBED_FOLDER}/*.py)
  string(REPLACE ";" "|" joined "${files}")
  set(script ${PROJECT_SOURCE_DIR}/cmake/embed_python.cmake)
  add_custom_command(
    OUTPUT ${EMBED_OUTPUT}
    COMMAND ${CMAKE_COMMAND} "-DINPUTS=${joined}" -DROOT=${EMBED_FOLDER} -DHEADER=${EMBED_HEADER} -DTYPE=${EMBED_TYPE}
            -DFUNCTION=${EMBED_FUNCTION} -DOUTPUT=${EMBED_OUTPUT} -P ${script}
    DEPENDS ${files} ${script}
    COMMENT "Embedding ${EMBED_FOLDER}"
    VERBATIM)
endfunction()

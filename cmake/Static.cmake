# A program linked statically starts in half the time (no dynamic loading); worth having for a run of milliseconds.
# Debian has every library of ours as an archive but fmt, which cmake/fmt/fmt.cc compiles from its headers.
include(CheckCXXSourceCompiles)
set(CMAKE_REQUIRED_LINK_OPTIONS -static)
check_cxx_source_compiles("#include <string>\nint main(int c, char** v) { return std::string(v[c - 1]).empty(); }"
                          TIDEMARK_CAN_LINK_STATICALLY)
unset(CMAKE_REQUIRED_LINK_OPTIONS)
set(static_default ${TIDEMARK_CAN_LINK_STATICALLY})
if(TIDEMARK_SANITIZE OR TIDEMARK_FUZZ)
  set(static_default OFF)
endif()
option(TIDEMARK_STATIC "Link the program statically" ${static_default})

if(TIDEMARK_STATIC)
  set(Boost_USE_STATIC_LIBS ON)
  add_library(tidemark_fmt STATIC ${CMAKE_CURRENT_LIST_DIR}/fmt/fmt.cc)
  set_source_files_properties(${CMAKE_CURRENT_LIST_DIR}/fmt/fmt.cc PROPERTIES COMPILE_OPTIONS -fPIC)
else()
  add_library(tidemark_fmt INTERFACE)
  target_link_libraries(tidemark_fmt INTERFACE fmt::fmt)
endif()

# tidemark_static_archive(TARGET libx.a): an imported library that CMake's package knows as a shared object only.
function(tidemark_static_archive target archive)
  if(NOT TIDEMARK_STATIC)
    return()
  endif()
  find_library(path_of_${archive} ${archive} REQUIRED)
  foreach(property IMPORTED_LOCATION IMPORTED_LOCATION_NONE IMPORTED_LOCATION_RELEASE)
    set_target_properties(${target} PROPERTIES ${property} ${path_of_${archive}})
  endforeach()
endfunction()

# PCRE2::8BIT, which Debian's package brings no CMake package for: the archive where the program is linked statically.
find_path(PCRE2_INCLUDE_DIR pcre2.h REQUIRED)
if(TIDEMARK_STATIC)
  find_library(PCRE2_8BIT_LIBRARY libpcre2-8.a REQUIRED)
else()
  find_library(PCRE2_8BIT_LIBRARY pcre2-8 REQUIRED)
endif()
add_library(PCRE2::8BIT UNKNOWN IMPORTED)
set_target_properties(PCRE2::8BIT PROPERTIES IMPORTED_LOCATION ${PCRE2_8BIT_LIBRARY}
                      INTERFACE_INCLUDE_DIRECTORIES ${PCRE2_INCLUDE_DIR})

# The warnings of our own targets. Errors only where TIDEMARK_WERROR asks for it (the ci presets do).
add_library(tidemark_warnings INTERFACE)
target_compile_options(tidemark_warnings INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wold-style-cast
  -Wnon-virtual-dtor -Woverloaded-virtual -Wcast-align -Wformat=2 $<$<CXX_COMPILER_ID:Clang>:-Wreserved-identifier>
  $<$<BOOL:${TIDEMARK_WERROR}>:-Werror>>)
# GCC 12 at -O3 takes the number in a tagged union for a pointer (array-bounds), and sees uninitialised members in inlined std::shared_ptr and std::optional that are not there,
# and overlapping copies (restrict) and sizes beyond all memory (stringop-overflow, stringop-overread) in what std::string does inline (GCC bug 105651).
target_compile_options(tidemark_warnings INTERFACE
  $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized -Wno-array-bounds -Wno-restrict -Wno-stringop-overflow
     -Wno-stringop-overread>)

# The warnings of our own targets. Errors only where TIDEMARK_WERROR asks for it (the ci presets do).
add_library(tidemark_warnings INTERFACE)
target_compile_options(tidemark_warnings INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wold-style-cast
  -Wnon-virtual-dtor -Woverloaded-virtual -Wcast-align -Wformat=2 $<$<BOOL:${TIDEMARK_WERROR}>:-Werror>>)

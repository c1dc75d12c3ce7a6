# AddressSanitizer and UndefinedBehaviorSanitizer for every target of ours when TIDEMARK_SANITIZE is on.
add_library(tidemark_sanitizers INTERFACE)
if(TIDEMARK_SANITIZE)
  target_compile_options(tidemark_sanitizers INTERFACE -fsanitize=address,undefined -fno-sanitize-recover=all
                         -fno-omit-frame-pointer)
  target_link_options(tidemark_sanitizers INTERFACE -fsanitize=address,undefined)
endif()
if(TIDEMARK_FUZZ)
  target_compile_options(tidemark_sanitizers INTERFACE -fsanitize=fuzzer-no-link)
endif()

# Run by `cmake --install`: the manual page and the completions are what `program` prints; they pass through the folder `made`.
file(MAKE_DIRECTORY "${made}")

# print_to(FILE words...)
function(print_to file)
  execute_process(COMMAND "${program}" ${ARGN} OUTPUT_FILE "${made}/${file}" COMMAND_ERROR_IS_FATAL ANY)
endfunction()

print_to(tidemark.1 man)
execute_process(COMMAND gzip -9nc "${made}/tidemark.1" OUTPUT_FILE "${made}/tidemark.1.gz" COMMAND_ERROR_IS_FATAL ANY)
print_to(tidemark completion bash)
print_to(_tidemark completion zsh)
print_to(tidemark.fish completion fish)

# Debian's zsh keeps packages' functions and those of the machine apart.
set(zsh zsh/site-functions)
if(CMAKE_INSTALL_PREFIX MATCHES "/usr$")
  set(zsh zsh/vendor-completions)
endif()
file(INSTALL "${made}/tidemark.1.gz" DESTINATION "${CMAKE_INSTALL_PREFIX}/share/man/man1")
file(INSTALL "${made}/tidemark" DESTINATION "${CMAKE_INSTALL_PREFIX}/share/bash-completion/completions")
file(INSTALL "${made}/_tidemark" DESTINATION "${CMAKE_INSTALL_PREFIX}/share/${zsh}")
file(INSTALL "${made}/tidemark.fish" DESTINATION "${CMAKE_INSTALL_PREFIX}/share/fish/vendor_completions.d")

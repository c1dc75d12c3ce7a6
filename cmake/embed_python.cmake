# Writes OUTPUT, a C++ source that holds Python files: the INPUTS (joined by '|') below ROOT, by name, as HEADER declares FUNCTION.
# cmake -DINPUTS=... -DROOT=... -DHEADER=sim/run/zoo.h -DTYPE=ZooFile -DFUNCTION=zoo_files -DOUTPUT=... -P embed_python.cmake
string(REPLACE "|" ";" inputs "${INPUTS}")
list(SORT inputs)
set(entries "")
foreach(input IN LISTS inputs)
  file(READ "${input}" code)
  if(code MATCHES "\\)code\"")
    message(FATAL_ERROR "${input}: has what ends a C++ string")
  endif()
  file(RELATIVE_PATH module "${ROOT}" "${input}")
  string(REGEX REPLACE "\\.py$" "" module "${module}")
  string(APPEND entries "    {\"${module}\", R\"code(${code})code\"},\n")
endforeach()
set(fresh "${OUTPUT}.fresh")
file(WRITE "${fresh}" "// Made by cmake/embed_python.cmake.
#include \"${HEADER}\"

namespace tidemark {
namespace {
constexpr ${TYPE} kFiles[] = {
${entries}};
}  // namespace
std::span<const ${TYPE}> ${FUNCTION}() { return kFiles; }
}  // namespace tidemark
")
file(COPY_FILE "${fresh}" "${OUTPUT}" ONLY_IF_DIFFERENT)
file(REMOVE "${fresh}")

# Writes OUTPUT, a C++ source that holds the files of the model zoo: the INPUTS (joined by '|') below ROOT, by name.
# cmake -DINPUTS=... -DROOT=... -DOUTPUT=... -P embed_zoo.cmake
string(REPLACE "|" ";" inputs "${INPUTS}")
list(SORT inputs)
set(entries "")
foreach(input IN LISTS inputs)
  file(READ "${input}" code)
  if(code MATCHES "\\)zoo\"")
    message(FATAL_ERROR "${input}: has what ends a C++ string")
  endif()
  file(RELATIVE_PATH module "${ROOT}" "${input}")
  string(REGEX REPLACE "\\.py$" "" module "${module}")
  string(APPEND entries "    {\"${module}\", R\"zoo(${code})zoo\"},\n")
endforeach()
set(fresh "${OUTPUT}.fresh")
file(WRITE "${fresh}" "// Made from configs/models/ by sim/run/embed_zoo.cmake.
#include \"sim/run/zoo.h\"

namespace tidemark {
namespace {
constexpr ZooFile kFiles[] = {
${entries}};
}  // namespace
std::span<const ZooFile> zoo_files() { return kFiles; }
}  // namespace tidemark
")
file(COPY_FILE "${fresh}" "${OUTPUT}" ONLY_IF_DIFFERENT)
file(REMOVE "${fresh}")

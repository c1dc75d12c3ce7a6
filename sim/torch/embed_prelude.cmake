# Writes OUTPUT, a C++ source that holds the texts of the prelude files in INPUTS (joined by '|', below ROOT). Each begins with
#     # module: torch.nn
#     # defines: Linear Bilinear
string(REPLACE "|" ";" files "${INPUTS}")
list(SORT files)
set(rows "")
foreach(file IN LISTS files)
  file(READ "${file}" text)
  file(RELATIVE_PATH name "${ROOT}" "${file}")
  if(NOT text MATCHES "^# module: ([^\n]*)\n# defines: ([^\n]*)\n")
    message(FATAL_ERROR "${file}: must begin with '# module:' and '# defines:'")
  endif()
  set(module "${CMAKE_MATCH_1}")
  set(defines "${CMAKE_MATCH_2}")
  # Compilers limit the length of one literal: pieces are joined by the language.
  string(LENGTH "${text}" length)
  set(literal "")
  set(at 0)
  while(at LESS length)
    string(SUBSTRING "${text}" ${at} 8000 piece)
    string(APPEND literal "R\"prelude(${piece})prelude\"sv\n")
    math(EXPR at "${at} + 8000")
  endwhile()
  string(APPEND rows "    {\"${module}\", \"torch/${name}\", \"${defines}\",\n${literal}},\n")
endforeach()
file(WRITE "${OUTPUT}.new" "// Made from sim/torch/prelude/ by embed_prelude.cmake.
#include \"sim/torch/prelude.h\"

namespace tidemark::torch {
namespace {

using namespace std::string_view_literals;  // their lengths are known, not counted by the compiler

constexpr PreludeFile kFiles[] = {
${rows}};

}  // namespace

std::span<const PreludeFile> prelude() { return kFiles; }

}  // namespace tidemark::torch
")
file(COPY_FILE "${OUTPUT}.new" "${OUTPUT}" ONLY_IF_DIFFERENT)
file(REMOVE "${OUTPUT}.new")

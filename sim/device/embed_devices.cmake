# Writes OUTPUT, a C++ source that holds the texts of the device files in INPUTS (joined by '|'), sorted by name.
# cmake -DINPUTS=... -DOUTPUT=... -P embed_devices.cmake
string(REPLACE "|" ";" files "${INPUTS}")
list(SORT files)
set(rows "")
foreach(file IN LISTS files)
  file(READ "${file}" text)
  if(text MATCHES "\\)yaml\"")
    message(FATAL_ERROR "${file}: holds the text that ends a C++ string")
  endif()
  string(REGEX MATCH "(^|\n)id: ([^\n]*)\n" line "${text}")
  set(id "${CMAKE_MATCH_2}")
  get_filename_component(name "${file}" NAME_WE)
  if(NOT id STREQUAL name)
    message(FATAL_ERROR "${file}: the id is '${id}'")
  endif()
  string(REGEX MATCH "\naliases: .([^\n]*).\n" line "${text}")
  string(REPLACE "," " " aliases "${CMAKE_MATCH_1}")
  string(REGEX REPLACE " +" " " aliases "${aliases}")
  string(APPEND rows "    {\"${id}\", \"${aliases}\", R\"yaml(${text})yaml\"},\n")
endforeach()
file(WRITE "${OUTPUT}.new" "// Made from configs/devices/ by sim/device/embed_devices.cmake.
#include \"sim/device/embedded_devices.h\"

#include <array>

namespace tidemark {
namespace {

constexpr EmbeddedDevice kDevices[] = {
${rows}};

}  // namespace

std::span<const EmbeddedDevice> embedded_devices() { return kDevices; }

}  // namespace tidemark
")
file(COPY_FILE "${OUTPUT}.new" "${OUTPUT}" ONLY_IF_DIFFERENT)
file(REMOVE "${OUTPUT}.new")

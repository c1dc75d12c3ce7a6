// The reader of event traces: any bytes are read or refused, and what was read is written and read
// again unchanged.

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "sim/base/problem.h"
#include "sim/format/events_csv.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    const tidemark::EventTable table = tidemark::read_events_csv(text, "input");
    std::string written;
    tidemark::write_events_csv({table.events, {}, {}}, written);
    if (tidemark::read_events_csv(written, "written").events != table.events) std::abort();
  } catch (const tidemark::InputError&) {
    return 0;
  }
  return 0;
}

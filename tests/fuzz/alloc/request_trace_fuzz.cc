// The reader of request traces: any bytes are read or refused, and what was read is written and
// read again unchanged.

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "sim/base/problem.h"
#include "sim/format/request_trace.h"

namespace {

using namespace tidemark;

RequestTrace read(std::string_view text) {
  const auto source = unzipped(bytes_in_memory(text), "input");
  return read_request_trace(*source, "input");
}

bool same(const RequestTrace& a, const RequestTrace& b) {
  if (a.instructions.size() != b.instructions.size()) return false;
  for (std::size_t i = 0; i < a.instructions.size(); ++i) {
    const Instruction& x = a.instructions[i];
    const Instruction& y = b.instructions[i];
    if (x.verb != y.verb || x.id != y.id || x.bytes != y.bytes || x.stream != y.stream ||
        x.pool != y.pool)
      return false;
    if (a.labels.text(x.label) != b.labels.text(y.label)) return false;
  }
  return true;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const RequestTrace trace = read({reinterpret_cast<const char*>(data), size});
    std::string written;
    write_request_trace(trace.instructions, trace.labels, written);
    if (!same(trace, read(written))) std::abort();
  } catch (const InputError&) {
    return 0;
  }
  return 0;
}

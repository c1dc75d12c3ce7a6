// The reader of memory snapshots: any bytes are read or refused with one message; what was read can
// be turned into requests.

#include <cstdint>
#include <string>
#include <string_view>

#include "sim/base/problem.h"
#include "sim/format/snapshot.h"
#include "sim/format/snapshot_program.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tidemark;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  PickleLimits limits;
  limits.memory_bytes = std::size_t{256} << 20U;
  try {
    const auto source = unzipped(bytes_in_memory(bytes), "input");
    const Snapshot snapshot = read_snapshot(*source, "input", {}, limits);
    for (const std::uint8_t device : recorded_devices(snapshot)) {
      for (const bool exact : {false, true}) {
        SnapshotProgramOptions options;
        options.device = device;
        options.exact_start = exact;
        options.rounded = [](Bytes request) {
          return request < 512 ? Bytes{512} : round_up(request, 512);
        };
        (void)make_snapshot_program(snapshot, options);
      }
    }
  } catch (const InputError&) {
    return 0;
  }
  return 0;
}

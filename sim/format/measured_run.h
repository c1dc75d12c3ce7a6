#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/base/bytes.h"
#include "sim/format/events_csv.h"

namespace tidemark {

/// Where measured figures come from.
struct Provenance {
  std::string device;
  std::string compute_capability;  ///< "9.0"
  bool pretend = false;            ///< on the pretend GPU of validation/pretend
  std::string driver;
  std::string torch;  ///< "2.11.0+cu130"
  std::string cuda;
  std::string date;  ///< "2026-11-21"
  std::string command;
};

/// One device's figures at the end of a measured run.
struct MeasuredDevice {
  std::optional<Bytes> peak_allocated_bytes;  ///< a recording's events do not tell it
  Bytes peak_reserved_bytes = 0;
  std::optional<Bytes> device_total_bytes;  ///< reserved at its highest and what is outside it
};

/// What a real allocator did in a run. Schema: docs/formats/measured.md.
struct MeasuredRun {
  std::string name;
  Provenance provenance;
  bool ended_by_oom = false;
  std::string oom_message;
  bool warm = false;          ///< the events begin with a cache that was filled before
  bool is_recording = false;  ///< a snapshot: it holds what the program's own calls recorded
  std::vector<MeasuredDevice> devices;
  EventTable events;  ///< device by device
};

/// FOLDER/NAME.json and FOLDER/NAME.events.csv.gz. Errors: InputError with places; IoError.
MeasuredRun read_measured_run(const std::string& folder, const std::string& name);

}  // namespace tidemark

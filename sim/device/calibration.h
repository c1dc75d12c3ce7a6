#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/device_spec.h"
#include "sim/base/source.h"
#include "sim/device/cost_model.h"
#include "sim/device/kernel_times.h"
#include "sim/device/time_error.h"
#include "sim/format/json_reader.h"

namespace tidemark {

/// How a figure of a calibration was come by.
enum class Basis : std::uint8_t {
  kMeasured,      ///< on the device
  kInterpolated,  ///< by a rule between measured points
  kAssumed,       ///< the general default
};
inline constexpr std::array<std::string_view, 3> kBasisNames{"measured", "interpolated", "assumed"};

struct CalibrationEntry {
  std::string key;  ///< "context_bytes", "malloc_ns": those of calibration_keys()
  std::int64_t value = 0;
  Basis basis = Basis::kAssumed;
  /// Between what it lies, and how many measurements say so; 0 of an assumed one.
  std::int64_t low = 0;
  std::int64_t high = 0;
  std::int64_t count = 0;
  friend bool operator==(const CalibrationEntry&, const CalibrationEntry&) = default;
};

/// How well a rule foretells points that it was not fitted to, in millionths without sign.
struct FitQuality {
  std::string what;  ///< "cudaMalloc"
  std::int64_t held_out = 0;
  std::int64_t mean_error_ppm = 0;
  std::int64_t max_error_ppm = 0;
  friend bool operator==(const FitQuality&, const FitQuality&) = default;
};

/// What a class of kernels reached of the card's peak, in thousandths, by precision and size.
struct RatePoint {
  std::string kind;         ///< "matmul"
  std::string precision;    ///< "bf16"
  std::int64_t digits = 0;  ///< decimal digits of the operations, or of the bytes moved
  std::int64_t count = 0;
  std::int64_t share = 0;
  std::int64_t low = 0;
  std::int64_t high = 0;
  friend bool operator==(const RatePoint&, const RatePoint&) = default;
};

/// What cuDNN's heuristics asked for, for one convolution of 3 by 3 with as many channels out as
/// in.
struct WorkspacePoint {
  std::string pass;   ///< "forward", "input", "weight"
  std::string dtype;  ///< "float16"
  std::int64_t batch = 0;
  std::int64_t channels = 0;
  std::int64_t side = 0;  ///< of the picture
  std::int64_t bytes = 0;
  friend bool operator==(const WorkspacePoint&, const WorkspacePoint&) = default;
};

/// What was measured of one card, with its receipt.
struct Calibration {
  std::string device;  ///< as the driver names it
  int compute_capability = 0;
  Bytes total_bytes = 0;
  std::string driver;
  std::string cuda;
  std::string date;
  std::string pytorch;        ///< the machine's, as "2.11.0+cu130"; empty: none was found
  std::string by;             ///< "pytorch": inside its process; "probe": tidemark-probe; or empty
  std::string address_order;  ///< of cudaMalloc's answers: "down", "up", "mixed"
  bool pretend = false;  ///< on the pretend GPU, whose times are taken only where it was given some
  std::string idle;      ///< of other processes, before and after: "yes", "not told"
  std::int64_t repeats = 0;
  Nanoseconds took_ns = 0;
  std::vector<CalibrationEntry> entries;  ///< one a key, in the order of calibration_keys()
  std::vector<FitQuality> fits;
  std::vector<WorkspacePoint> workspaces;  ///< the table behind cudnn_workspace_bytes
  std::vector<RatePoint> rates;            ///< the table behind the shares
  std::vector<std::string> refused;        ///< measurements that are not believed, and why

  /// Requires: a key of calibration_keys().
  [[nodiscard]] const CalibrationEntry& entry(std::string_view key) const;
  [[nodiscard]] std::size_t count(Basis basis) const;
};

std::vector<std::string_view> calibration_keys();

/// A calibration from what tidemark-probe printed, for the card that `device` is. Entries that the
/// probe does not tell are the defaults, assumed. Errors: InputError with places in the probe's
/// text, or for another card.
Calibration calibrate(const JsonValue& probe, const DeviceSpec& device);

/// The defaults, for figures of a card that come from timed kernels alone.
Calibration assumed_calibration(const DeviceSpec& device);

/// What timed kernels tell: the shares of their classes. Errors: InputError where less than half of
/// those that count can be, on this card.
void calibrate_by_kernels(Calibration& calibration, const std::vector<KernelTime>& times,
                          const std::string& name, const DeviceSpec& device);

/// docs/formats/calibration.md.
std::string calibration_yaml(const Calibration& calibration);
/// Errors: InputError with all problems.
Calibration parse_calibration(const std::shared_ptr<const SourceText>& source);

/// The device and the costs as calibrated. Errors: InputError naming `name` when the calibration is
/// of another card, or holds what is not modelled or cannot be.
void apply_calibration(const Calibration& calibration, const std::string& name, DeviceSpec& device,
                       CostModel& costs);

/// Between which shares of a simulated time the true one is expected: the widest interval of the
/// measured shares and latencies. Where products or traffic are not measured, what published times
/// say.
TimeBand time_band_of(const Calibration& calibration);

}  // namespace tidemark

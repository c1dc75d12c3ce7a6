#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/study/trial/trial.h"

namespace tidemark {

/// How one value fared: whole steps, to the program's end.
struct FitProbe {
  std::int64_t value = 0;
  bool fits = false;  ///< no request refused, and the headroom kept
  std::int64_t retries = 0;
  Bytes peak_reserved = 0;
  Bytes spare = 0;
  std::string error;  ///< the scenario could not be run with it
  RunBasis basis;     ///< of that run
};

struct FitOptions {
  std::string over;                ///< what is varied, as require_varied() has it
  std::uint32_t headroom_ppm = 0;  ///< of the device's total, to stay free
  std::int64_t highest = 1 << 20;  ///< no value above is tried
  std::int64_t window = 2;         ///< values looked at on either side of the answer
};

struct FitResult {
  std::string path;                  ///< what was varied, Varied::shown: "train.batch"
  std::optional<std::int64_t> best;  ///< fits, and best + 1 does not; none: not even 1
  bool reached_highest = false;
  std::vector<FitProbe> probes;       ///< every run made, by value
  std::vector<std::int64_t> holes;    ///< below best, run, and do not fit
  std::vector<std::int64_t> islands;  ///< above best, run, and fit
};

/// The largest value with which the scenario fits: by bisection, then both neighbours run, then
/// `window` values on each side, since more may fit where less does not. Errors: InputError when
/// the scenario itself is wrong. Cost: some twenty runs.
FitResult fit(const ScenarioSource& source, const FitOptions& options);

/// The largest value of one quantity beside each of some values of another.
struct FitGrid {
  std::string path;         ///< of the one that is searched
  std::string beside_path;  ///< of the other
  struct Row {
    std::int64_t beside = 0;
    FitResult fit;  ///< without probes where the scenario cannot be run so
    std::string error;
  };
  std::vector<Row> rows;  ///< by `beside`
};
/// fit() beside a quarter, a half, once, twice, ... the given value of `beside`, until nothing fits
/// or eight times is reached. Errors: as fit(). Cost: some twenty runs a row.
FitGrid fit_grid(const ScenarioSource& source, const FitOptions& options,
                 const std::string& beside);

/// One device, with the scenario as it stands.
struct DeviceProbe {
  std::string device;
  std::string name;
  Bytes total_bytes = 0;
  FitProbe probe;
};
/// Every GPU known, the smallest first, until `after` larger ones than the smallest that fits have
/// been run too. Errors: InputError when the scenario itself is wrong.
std::vector<DeviceProbe> fit_devices(const ScenarioSource& source, const FitOptions& options,
                                     std::size_t after = 2);

}  // namespace tidemark

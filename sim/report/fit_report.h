#pragma once

#include <string>
#include <vector>

#include "sim/report/text.h"
#include "sim/study/advice/fit.h"
#include "sim/study/advice/fit_layouts.h"

namespace tidemark {

/// The answer, every value run, and the holes.
std::string fit_text(const FitResult& result, const FitOptions& options, const TextStyle& style);
/// The smallest GPU that fits, and every one that was run.
std::string fit_devices_text(const std::vector<DeviceProbe>& devices, const FitOptions& options,
                             const TextStyle& style);
/// The largest value beside each of the other's.
/// The fewest GPUs that fit, in which layout, and every one that was run.
std::string fit_layouts_text(const std::vector<LayoutProbe>& layouts, const FitOptions& options,
                             const TextStyle& style);
std::string fit_layouts_json(const std::vector<LayoutProbe>& layouts, const FitOptions& options);
std::string fit_grid_text(const FitGrid& grid, const FitOptions& options, const TextStyle& style);
/// Schema: docs/formats/json.md, "fit".
std::string fit_json(const FitResult& result, const FitOptions& options);
std::string fit_grid_json(const FitGrid& grid, const FitOptions& options);
std::string fit_devices_json(const std::vector<DeviceProbe>& devices, const FitOptions& options);

}  // namespace tidemark

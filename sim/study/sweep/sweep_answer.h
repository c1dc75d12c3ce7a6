#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/study/sweep/results.h"

namespace tidemark {

/// The cells of a results file, each with the places of its values.
struct SweepCells {
  struct Axis {
    std::string name;
    std::vector<SweepValue> values;  ///< in the order of the scenario's file
    bool is_number = false;          ///< all are integers
  };
  struct Cell {
    CellResult result;
    std::vector<int> at;  ///< one an axis: index into its values; -1: the cell does not set it
  };
  std::string name;  ///< of the scenario; may be empty
  std::vector<Axis> axes;
  std::vector<Cell> cells;  ///< by number
};

/// Reads the cells for which the SQL expression `where` holds; empty: all. Errors: InputError:
/// as ResultsFile::query(), and for more than `most` cells.
SweepCells load_cells(const ResultsFile& results, const std::string& where, std::uint64_t most);

/// How far the sweep's main axis goes for one model on one device.
struct ReachAnswer {
  std::string device;  ///< empty: the device is not varied
  std::string
      model;  ///< "model.class GPT2, variant large": values of the model's axes; may be empty
  std::uint64_t cells = 0;
  std::uint64_t fits = 0;
  /// Index into SweepCells::cells: of those that fit the farthest on the main axis, of these the
  /// one that reserves least.
  std::optional<std::size_t> best;
};

/// What one value of a text axis (a setting) does beside the axis' first one, over pairs of cells
/// that agree in all other axes.
struct SettingEffect {
  std::size_t axis = 0;
  std::size_t value = 0;
  std::uint64_t pairs = 0;       ///< in which both fit
  std::int64_t change = 0;       ///< of peak reserved, the mean over these, in millionths
  std::uint64_t fits_more = 0;   ///< pairs in which this one fits and the first does not
  std::uint64_t fits_fewer = 0;  ///< the other way round
};

struct SweepAnswer {
  std::uint64_t fits = 0;
  std::uint64_t ooms = 0;
  std::uint64_t errors = 0;
  /// The axis that people ask "how far": the batch, else the integer axis with most values.
  std::optional<std::size_t> main_axis;
  std::optional<std::size_t> device_axis;
  std::vector<std::size_t> model_axes;  ///< those that say which model it is, and the variant
  std::vector<ReachAnswer> reaches;     ///< one a model and device, in the order of their values
  std::vector<SettingEffect> effects;
};
SweepAnswer answer_of(const SweepCells& cells);

}  // namespace tidemark

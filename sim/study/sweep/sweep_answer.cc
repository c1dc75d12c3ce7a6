#include "sim/study/sweep/sweep_answer.h"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "sim/base/problem.h"
#include "sim/yaml/yaml.h"

namespace tidemark {
namespace {

constexpr std::string_view kDeviceAxis = "device";

/// What the file's cells were made of.
ScenarioSource source_of(const SweepOrigin& origin) {
  ScenarioSource source;
  source.text =
      std::make_shared<const SourceText>(SourceText{origin.scenario_path, origin.scenario_text});
  source.folder = ".";
  source.variant = origin.variant;
  source.overrides.reserve(origin.overrides.size());
  for (const std::string& text : origin.overrides) source.overrides.push_back(parse_override(text));
  return source;
}

int place_of(const SweepCells::Axis& axis, const ResultsValue& value) {
  if (value.kind == ResultsValue::Kind::kNull) return -1;
  const std::string shown =
      value.kind == ResultsValue::Kind::kInteger ? std::to_string(value.integer) : value.text;
  const auto found = std::find_if(axis.values.begin(), axis.values.end(),
                                  [&](const SweepValue& each) { return each.shown == shown; });
  return found == axis.values.end() ? -1 : static_cast<int>(found - axis.values.begin());
}

CellStatus status_of(std::string_view name) {
  const auto* const found =
      std::find(std::begin(kCellStatusNames), std::end(kCellStatusNames), name);
  return static_cast<CellStatus>(found - std::begin(kCellStatusNames));
}

std::optional<std::size_t> main_axis_of(const SweepCells& cells) {
  std::optional<std::size_t> best;
  const auto rank = [&](std::size_t axis) {
    return std::pair(cells.axes[axis].name.find("batch") != std::string::npos,
                     cells.axes[axis].values.size());
  };
  for (std::size_t i = 0; i < cells.axes.size(); ++i) {
    if (!cells.axes[i].is_number || cells.axes[i].values.size() < 2) continue;
    if (!best || rank(i) > rank(*best)) best = i;
  }
  return best;
}

bool is_better(const SweepCells::Cell& a, const SweepCells::Cell& b, const SweepCells& cells,
               std::optional<std::size_t> main_axis) {
  if (main_axis) {
    const auto number = [&](const SweepCells::Cell& cell) {
      const int at = cell.at[*main_axis];
      return at < 0 ? std::int64_t{0}
                    : std::stoll(cells.axes[*main_axis].values[static_cast<std::size_t>(at)].shown);
    };
    if (number(a) != number(b)) return number(a) > number(b);
  }
  return a.result.peak_reserved < b.result.peak_reserved;
}

bool is_model_axis(const std::string& name) {
  return name == "model" || name == "variant" || name.starts_with("model.");
}

/// The axes of model and device; each combination of their values has an answer of its own.
void add_reaches(const SweepCells& cells, SweepAnswer& answer) {
  std::vector<std::size_t> axes = answer.model_axes;
  if (answer.device_axis) axes.push_back(*answer.device_axis);
  std::map<std::vector<int>, ReachAnswer> reaches;
  for (std::size_t i = 0; i < cells.cells.size(); ++i) {
    const SweepCells::Cell& cell = cells.cells[i];
    std::vector<int> at;
    at.reserve(axes.size());
    for (const std::size_t axis : axes) at.push_back(cell.at[axis]);
    ReachAnswer& reach = reaches[std::move(at)];
    ++reach.cells;
    if (cell.result.status != CellStatus::kFits) continue;
    ++reach.fits;
    if (!reach.best || is_better(cell, cells.cells[*reach.best], cells, answer.main_axis))
      reach.best = i;
  }
  for (auto& [at, reach] : reaches) {
    for (std::size_t i = 0; i < axes.size(); ++i) {
      if (at[i] < 0) continue;
      const SweepCells::Axis& axis = cells.axes[axes[i]];
      const std::string& shown = axis.values[static_cast<std::size_t>(at[i])].shown;
      if (answer.device_axis == axes[i]) {
        reach.device = shown;
      } else {
        reach.model += fmt::format("{}{} {}", reach.model.empty() ? "" : ", ", axis.name,
                                   shown.empty() ? "\"\"" : shown);
      }
    }
    answer.reaches.push_back(std::move(reach));
  }
}

/// By all axes but one: which cell has which value there.
void add_effects(const SweepCells& cells, SweepAnswer& answer, std::size_t axis) {
  std::map<std::vector<int>, std::map<int, const SweepCells::Cell*>> alike;
  for (const SweepCells::Cell& cell : cells.cells) {
    std::vector<int> others = cell.at;
    others[axis] = -1;
    if (cell.at[axis] >= 0 && cell.result.status != CellStatus::kError)
      alike[std::move(others)][cell.at[axis]] = &cell;
  }
  for (std::size_t value = 1; value < cells.axes[axis].values.size(); ++value) {
    SettingEffect effect;
    effect.axis = axis;
    effect.value = value;
    std::int64_t sum = 0;
    for (const auto& [others, by_value] : alike) {
      const auto first = by_value.find(0);
      const auto ours = by_value.find(static_cast<int>(value));
      if (first == by_value.end() || ours == by_value.end()) continue;
      const CellResult& before = first->second->result;
      const CellResult& after = ours->second->result;
      const bool did_fit = before.status == CellStatus::kFits;
      const bool does_fit = after.status == CellStatus::kFits;
      effect.fits_more += does_fit && !did_fit ? 1 : 0;
      effect.fits_fewer += did_fit && !does_fit ? 1 : 0;
      if (!did_fit || !does_fit || before.peak_reserved == 0) continue;
      ++effect.pairs;
      const Wide share = Wide{after.peak_reserved} * 1'000'000U / before.peak_reserved;
      sum += static_cast<std::int64_t>(share) - 1'000'000;
    }
    if (effect.pairs > 0) effect.change = sum / static_cast<std::int64_t>(effect.pairs);
    if (effect.pairs + effect.fits_more + effect.fits_fewer > 0) answer.effects.push_back(effect);
  }
}

}  // namespace

SweepCells load_cells(const ResultsFile& results, const std::string& where, std::uint64_t most) {
  SweepCells out;
  const ScenarioSource source = source_of(results.origin());
  const yaml::Node root = yaml::parse(source.text);
  if (const yaml::Node* name = root.find("name")) out.name = name->text;
  for (const SweepAxis& axis : parse_sweep(source).axes) {
    for (std::size_t i = 0; i < axis.paths.size(); ++i) {
      const bool is_number = std::all_of(axis.values[i].begin(), axis.values[i].end(),
                                         [](const SweepValue& value) { return value.is_integer; });
      out.axes.push_back({axis.paths[i], axis.values[i], is_number});
    }
  }
  ResultsQuery query;
  query.where = where;
  query.limit = most;
  const ResultsTable table = results.query(query);
  if (table.left_out > 0) {
    throw InputError(Problem{{},
                             "--where",
                             fmt::format("leaves {} cells, and a page shows {} at most",
                                         table.rows.size() + table.left_out, most),
                             "choose some, \"batch % 8 = 0\" for instance"});
  }
  out.cells.reserve(table.rows.size());
  for (const std::vector<ResultsValue>& row : table.rows) {
    SweepCells::Cell cell;
    cell.at.reserve(out.axes.size());
    for (std::size_t i = 0; i < out.axes.size(); ++i)
      cell.at.push_back(place_of(out.axes[i], row[i + 1]));
    std::size_t at = out.axes.size() + 1;
    CellResult& result = cell.result;
    result.number = static_cast<std::uint64_t>(row[0].integer);
    result.status = status_of(row[at++].text);
    result.peak_allocated = static_cast<Bytes>(row[at++].integer);
    result.peak_reserved = static_cast<Bytes>(row[at++].integer);
    result.spare = static_cast<Bytes>(row[at++].integer);
    result.fragmentation = static_cast<std::uint64_t>(row[at++].integer);
    result.retries = row[at++].integer;
    result.ooms = row[at++].integer;
    result.device_calls = static_cast<std::uint64_t>(row[at++].integer);
    result.time_ns = row[at++].integer;
    result.message = row[at].text;
    out.cells.push_back(std::move(cell));
  }
  return out;
}

SweepAnswer answer_of(const SweepCells& cells) {
  SweepAnswer answer;
  for (const SweepCells::Cell& cell : cells.cells) {
    answer.fits += cell.result.status == CellStatus::kFits ? 1 : 0;
    answer.ooms += cell.result.status == CellStatus::kOom ? 1 : 0;
    answer.errors += cell.result.status == CellStatus::kError ? 1 : 0;
  }
  answer.main_axis = main_axis_of(cells);
  for (std::size_t i = 0; i < cells.axes.size(); ++i) {
    if (cells.axes[i].name == kDeviceAxis) answer.device_axis = i;
    if (is_model_axis(cells.axes[i].name)) answer.model_axes.push_back(i);
  }
  add_reaches(cells, answer);
  for (std::size_t i = 0; i < cells.axes.size(); ++i) {
    if (!cells.axes[i].is_number && answer.device_axis != i) add_effects(cells, answer, i);
  }
  return answer;
}

}  // namespace tidemark

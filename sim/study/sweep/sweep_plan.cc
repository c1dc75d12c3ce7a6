#include "sim/study/sweep/sweep_plan.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "sim/base/problem.h"
#include "sim/device/device.h"
#include "sim/run/scenario_fields.h"
#include "sim/yaml/yaml_fields.h"

namespace tidemark {
namespace {

constexpr std::string_view kVariant = "variant";
constexpr std::size_t kMostRangeValues = 100'000;

SweepValue value_of(const yaml::Node& node) {
  std::string yaml = yaml::text(node);
  std::string shown = node.is_text() ? node.text : yaml;
  return {std::move(yaml), std::move(shown), yaml::integer(node).has_value()};
}

bool is_allocator_path(std::string_view path) {
  return path == "allocator" || path.starts_with("allocator.");
}

class Reader {
 public:
  explicit Reader(const ScenarioSource& source) : source_(source) {}

  SweepPlan read() {
    yaml::Node root = yaml::parse(source_.text);
    const yaml::Node sweep = take_sweep(root);
    if (sweep.kind == yaml::Node::Kind::kNull) {
      throw InputError(Problem{{source_.text, 1, 1, 1, 1},
                               "sweep",
                               "the scenario has no sweep section",
                               "write sweep: {grid: {batch: [8, 16, 32]}}"});
    }
    yaml::Fields fields(sweep, "sweep", problems_, kSweepMap);
    if (const yaml::Node* grid = fields.get("grid")) read_grid(*grid, "sweep.grid", {});
    if (const yaml::Node* zip = fields.get("zip")) read_zips(*zip, "sweep.zip", {});
    if (const yaml::Node* when = fields.get("when")) read_when(*when);
    if (plan_.axes.empty() && problems_.empty())
      report(sweep, "sweep", "nothing varies", "give grid, zip, or both");
    // Conditions name axes by their place: exclusions are read when the places are final.
    order();
    if (const yaml::Node* exclude = fields.get("exclude")) read_exclude(*exclude);
    fields.done();
    check_size(sweep);
    try_paths();
    try_devices();
    try_overrides();
    if (!problems_.empty()) throw InputError(std::move(problems_));
    return std::move(plan_);
  }

 private:
  void report(const yaml::Node& at, std::string path, std::string message, std::string hint = {}) {
    problems_.push_back({at.at, std::move(path), std::move(message), std::move(hint)});
  }

  bool is_map(const yaml::Node& node, const std::string& path, std::string_view of) {
    if (node.kind == yaml::Node::Kind::kMap) return true;
    report(node, path, fmt::format("expected a map of {}, found {}", of, describe(node)));
    return false;
  }

  /// A list, or {from, to, step} or {from, to, times}.
  std::vector<SweepValue> read_values(const yaml::Node& node, const std::string& path) {
    std::vector<SweepValue> values;
    if (node.kind == yaml::Node::Kind::kList) {
      for (const yaml::Node& item : node.items) values.push_back(value_of(item));
      if (values.empty()) report(node, path, "expected at least one value");
      return values;
    }
    if (node.kind != yaml::Node::Kind::kMap) {
      report(node, path,
             fmt::format("expected a list of values or a range, found {}", describe(node)),
             "write [8, 16, 32], or {from: 8, to: 32, times: 2}");
      return values;
    }
    yaml::Fields range(node, path, problems_, kSweepRangeMap);
    range.require_all();
    const auto from = range.integer("from");
    const auto to = range.integer("to");
    const auto step = range.integer("step");
    const auto times = range.integer("times");
    range.done();
    if (!from || !to) return values;
    if (range.has("step") == range.has("times")) {
      report(node, path, "expected either step or times",
             "step: 8 adds, times: 2 multiplies from one value to the next");
      return values;
    }
    if ((!step && !times) || *from > *to || (times && *from < 1)) {
      if (*from > *to) report(node, path, fmt::format("from {} is above to {}", *from, *to));
      if (times && *from < 1) report(node, path, "from must be positive where the values multiply");
      return values;
    }
    for (std::int64_t value = *from; value <= *to;) {
      if (values.size() == kMostRangeValues) {
        report(node, path, fmt::format("more than {} values", kMostRangeValues));
        break;
      }
      values.push_back({std::to_string(value), std::to_string(value), true});
      const auto next = step ? checked_add(value, *step) : checked_multiply(value, *times);
      if (!next) break;
      value = *next;
    }
    return values;
  }

  /// Whether a path may be varied here: once in a sweep.
  void note_path(const yaml::Entry& entry, const std::string& path) {
    for (const SweepAxis& axis : plan_.axes) {
      if (std::find(axis.paths.begin(), axis.paths.end(), entry.key) == axis.paths.end()) continue;
      problems_.push_back({entry.key_at, path, "varied twice", {}});
      return;
    }
    places_.emplace_back(entry.key, entry.key_at);
  }

  void read_grid(const yaml::Node& grid, const std::string& path,
                 const std::vector<SweepAxis::Condition>& conditions) {
    if (!is_map(grid, path, "paths to values")) return;
    for (const yaml::Entry& entry : grid.entries) {
      const std::string at = fmt::format("{}.{}", path, entry.key);
      note_path(entry, at);
      std::vector<SweepValue> values = read_values(entry.value, at);
      if (values.empty()) continue;
      plan_.axes.push_back({{entry.key}, {std::move(values)}, conditions});
    }
  }

  void read_zips(const yaml::Node& zip, const std::string& path,
                 const std::vector<SweepAxis::Condition>& conditions) {
    if (zip.kind != yaml::Node::Kind::kList) {
      read_zip(zip, path, conditions);
      return;
    }
    for (std::size_t i = 0; i < zip.items.size(); ++i)
      read_zip(zip.items[i], fmt::format("{}[{}]", path, i), conditions);
  }

  void read_zip(const yaml::Node& zip, const std::string& path,
                const std::vector<SweepAxis::Condition>& conditions) {
    if (!is_map(zip, path, "paths to values")) return;
    SweepAxis axis;
    axis.conditions = conditions;
    for (const yaml::Entry& entry : zip.entries) {
      const std::string at = fmt::format("{}.{}", path, entry.key);
      note_path(entry, at);
      std::vector<SweepValue> values = read_values(entry.value, at);
      if (values.empty()) continue;
      if (!axis.values.empty() && values.size() != axis.size()) {
        report(entry.value, at,
               fmt::format("has {} values, '{}' has {}", values.size(), axis.paths.front(),
                           axis.size()),
               "what is zipped goes in step: lists of one length");
        continue;
      }
      axis.paths.push_back(entry.key);
      axis.values.push_back(std::move(values));
    }
    if (!axis.paths.empty()) plan_.axes.push_back(std::move(axis));
  }

  void read_when(const yaml::Node& when) {
    if (when.kind != yaml::Node::Kind::kList) {
      report(when, "sweep.when", fmt::format("expected a list, found {}", describe(when)),
             "write - {if: {PATH: VALUE}, grid: {PATH: [VALUES]}}");
      return;
    }
    for (std::size_t i = 0; i < when.items.size(); ++i) {
      const std::string path = fmt::format("sweep.when[{}]", i);
      yaml::Fields fields(when.items[i], path, problems_, kSweepWhenMap);
      fields.require_all();
      std::vector<SweepAxis::Condition> conditions;
      if (const yaml::Node* condition = fields.get("if"))
        conditions = read_conditions(*condition, path + ".if");
      if (!fields.has("grid") && !fields.has("zip"))
        report(when.items[i], path, "nothing varies", "give grid, zip, or both");
      if (const yaml::Node* grid = fields.get("grid")) read_grid(*grid, path + ".grid", conditions);
      if (const yaml::Node* zip = fields.get("zip")) read_zips(*zip, path + ".zip", conditions);
      fields.done();
    }
  }

  void read_exclude(const yaml::Node& exclude) {
    if (exclude.kind != yaml::Node::Kind::kList) {
      report(exclude, "sweep.exclude", fmt::format("expected a list, found {}", describe(exclude)),
             "write - {PATH: VALUE, PATH: VALUE}");
      return;
    }
    for (std::size_t i = 0; i < exclude.items.size(); ++i) {
      const std::string path = fmt::format("sweep.exclude[{}]", i);
      plan_.excluded.push_back(read_conditions(exclude.items[i], path));
      if (plan_.excluded.back().empty() && exclude.items[i].entries.empty())
        report(exclude.items[i], path, "leaves everything out");
    }
  }

  std::vector<SweepAxis::Condition> read_conditions(const yaml::Node& node,
                                                    const std::string& path) {
    std::vector<SweepAxis::Condition> conditions;
    if (!is_map(node, path, "paths to values")) return conditions;
    for (const yaml::Entry& entry : node.entries) {
      const std::string at = fmt::format("{}.{}", path, entry.key);
      SweepAxis::Condition condition;
      if (entry.value.kind == yaml::Node::Kind::kList) {
        for (const yaml::Node& item : entry.value.items) condition.values.push_back(value_of(item));
      } else {
        condition.values.push_back(value_of(entry.value));
      }
      if (!find_axis(entry.key, condition)) {
        std::vector<std::string_view> known;
        for (const SweepAxis& axis : plan_.axes)
          known.insert(known.end(), axis.paths.begin(), axis.paths.end());
        problems_.push_back({entry.key_at, at, "is not varied", did_you_mean(entry.key, known)});
        continue;
      }
      const std::vector<SweepValue>& values = plan_.axes[condition.axis].values[condition.path];
      for (const SweepValue& value : condition.values) {
        if (std::find(values.begin(), values.end(), value) != values.end()) continue;
        std::vector<std::string_view> known;
        known.reserve(values.size());
        for (const SweepValue& each : values) known.push_back(each.yaml);
        report(entry.value, at, fmt::format("{} is none of its values", value.yaml),
               fmt::format("they are {}", fmt::join(known, ", ")));
      }
      conditions.push_back(std::move(condition));
    }
    return conditions;
  }

  bool find_axis(std::string_view path, SweepAxis::Condition& condition) const {
    for (std::size_t a = 0; a < plan_.axes.size(); ++a) {
      for (std::size_t p = 0; p < plan_.axes[a].paths.size(); ++p) {
        if (plan_.axes[a].paths[p] != path) continue;
        condition.axis = a;
        condition.path = p;
        return true;
      }
    }
    return false;
  }

  /// Axes of `allocator` go last, with the conditions that name axes following them.
  void order() {
    std::vector<std::size_t> to(plan_.axes.size());
    std::vector<SweepAxis> ordered;
    for (const bool of_allocator : {false, true}) {
      for (std::size_t i = 0; i < plan_.axes.size(); ++i) {
        const SweepAxis& axis = plan_.axes[i];
        const bool is_conditional_on_allocator =
            std::any_of(axis.conditions.begin(), axis.conditions.end(),
                        [&](const auto& condition) { return is_last(plan_.axes[condition.axis]); });
        if ((is_last(axis) || is_conditional_on_allocator) != of_allocator) continue;
        to[i] = ordered.size();
        ordered.push_back(axis);
      }
    }
    for (SweepAxis& axis : ordered) {
      for (SweepAxis::Condition& condition : axis.conditions) condition.axis = to[condition.axis];
    }
    plan_.axes = std::move(ordered);
  }

  static bool is_last(const SweepAxis& axis) {
    return std::all_of(axis.paths.begin(), axis.paths.end(), is_allocator_path);
  }

  /// Going through more combinations would take longer than anybody waits, and what is left out by
  /// `exclude` or `when` is gone through too.
  void check_size(const yaml::Node& at) {
    std::uint64_t combinations = 1;
    for (const SweepAxis& axis : plan_.axes) {
      combinations *= axis.size();
      if (combinations <= kLargestSweep) continue;
      report(at, "sweep", fmt::format("has more than {} combinations", kLargestSweep),
             "vary fewer things at once: several sweeps, or zip instead of grid");
      return;
    }
  }

  /// Puts the first value of each path into the scenario, to find the paths that lead nowhere.
  void try_paths() {
    for (const SweepAxis& axis : plan_.axes) {
      for (std::size_t p = 0; p < axis.paths.size(); ++p) {
        try {
          yaml::Node root = yaml::parse(source_.text);
          const bool is_variant = axis.paths[p] == kVariant;
          apply_variant(root, is_variant ? axis.values[p].front().shown : source_.variant);
          take_sweep(root);
          if (!is_variant) apply_overrides(root, {{axis.paths[p], axis.values[p].front().yaml}});
        } catch (const InputError& error) {
          for (const Problem& problem : error.problems())
            problems_.push_back({place_of(axis.paths[p]), "sweep: " + axis.paths[p],
                                 problem.message, problem.hint});
        }
      }
    }
  }

  /// Looks up every device that is named, so that a mistyped one is told before anything runs.
  void try_devices() {
    for (const SweepAxis& axis : plan_.axes) {
      for (std::size_t p = 0; p < axis.paths.size(); ++p) {
        if (axis.paths[p] != "device" && axis.paths[p] != "device.name") continue;
        for (const SweepValue& value : axis.values[p]) {
          const bool is_name = value.shown.find_first_of("/{") == std::string::npos &&
                               !value.shown.ends_with(".yaml");
          if (!is_name) continue;
          try {
            load_device(value.shown);
          } catch (const InputError& error) {
            const Problem& problem = error.problems().front();
            problems_.push_back({place_of(axis.paths[p]), "sweep: " + axis.paths[p],
                                 problem.message, problem.hint});
          }
        }
      }
    }
  }

  /// Puts what was set into the scenario, so that a path that leads nowhere is told once and at the
  /// start.
  void try_overrides() {
    for (const Override& one : source_.overrides) {
      if (one.path == "sweep" || one.path.starts_with("sweep.")) {
        problems_.push_back({{},
                             fmt::format("--set {}", one.path),
                             "what is varied stands in the file",
                             "--set a key that the sweep does not vary, or edit the file"});
      }
    }
    // What a variant brings may be what a path leads to.
    const bool varies_variant =
        std::any_of(plan_.axes.begin(), plan_.axes.end(), [](const SweepAxis& axis) {
          return std::find(axis.paths.begin(), axis.paths.end(), kVariant) != axis.paths.end();
        });
    if (!problems_.empty() || varies_variant) return;
    yaml::Node root = yaml::parse(source_.text);
    try {
      apply_variant(root, source_.variant);
      take_sweep(root);
      apply_overrides(root, source_.overrides);
    } catch (const InputError& error) {
      problems_.insert(problems_.end(), error.problems().begin(), error.problems().end());
    }
  }

  [[nodiscard]] SourceSpan place_of(std::string_view path) const {
    const auto at = std::find_if(places_.begin(), places_.end(),
                                 [&](const auto& place) { return place.first == path; });
    return at == places_.end() ? SourceSpan{} : at->second;
  }

  const ScenarioSource& source_;
  SweepPlan plan_;
  std::vector<Problem> problems_;
  std::vector<std::pair<std::string, SourceSpan>> places_;
};

}  // namespace

std::vector<std::string> SweepPlan::columns() const {
  std::vector<std::string> columns;
  for (const SweepAxis& axis : axes)
    columns.insert(columns.end(), axis.paths.begin(), axis.paths.end());
  return columns;
}

SweepPlan parse_sweep(const ScenarioSource& source) { return Reader(source).read(); }

SweepCursor::SweepCursor(const SweepPlan& plan)
    : plan_(&plan), at_(plan.axes.size()), active_(plan.axes.size()) {}

bool SweepCursor::holds(const std::vector<SweepAxis::Condition>& conditions) const {
  return std::all_of(conditions.begin(), conditions.end(), [&](const auto& condition) {
    if (!active_[condition.axis]) return false;
    const SweepValue& value =
        plan_->axes[condition.axis].values[condition.path][at_[condition.axis]];
    return std::find(condition.values.begin(), condition.values.end(), value) !=
           condition.values.end();
  });
}

void SweepCursor::settle(std::size_t from) {
  for (std::size_t i = from; i < at_.size(); ++i) {
    at_[i] = 0;
    active_[i] = holds(plan_->axes[i].conditions) ? 1 : 0;
  }
}

bool SweepCursor::advance() {
  if (!begun_) {
    begun_ = true;
    settle(0);
    return true;
  }
  for (std::size_t i = at_.size(); i > 0; --i) {
    const SweepAxis& axis = plan_->axes[i - 1];
    if (!active_[i - 1] || at_[i - 1] + 1 == axis.size()) continue;
    ++at_[i - 1];
    settle(i);
    group_changed_ |= !std::all_of(axis.paths.begin(), axis.paths.end(), is_allocator_path);
    return true;
  }
  return false;
}

bool SweepCursor::find() {
  while (advance()) {
    const bool is_excluded = std::any_of(plan_->excluded.begin(), plan_->excluded.end(),
                                         [&](const auto& each) { return holds(each); });
    if (!is_excluded) return true;
  }
  return false;
}

bool SweepCursor::step() {
  if (!find()) return false;
  const bool is_other_group = std::exchange(group_changed_, false) && given_ > 0;
  if (is_other_group) ++group_;
  if (is_other_group || in_lot_ == kLargestLot) {
    ++lot_;
    in_lot_ = 0;
  }
  ++in_lot_;
  ++given_;
  return true;
}

std::optional<SweepCell> SweepCursor::next() {
  if (!step()) return std::nullopt;
  SweepCell cell;
  cell.number = given_ - 1;
  cell.group = group_;
  cell.lot = lot_;
  std::size_t column = 0;
  for (std::size_t i = 0; i < at_.size(); ++i) {
    const SweepAxis& axis = plan_->axes[i];
    for (std::size_t p = 0; p < axis.paths.size() && active_[i]; ++p)
      cell.settings.push_back({column + p, &axis.paths[p], &axis.values[p][at_[i]]});
    column += axis.paths.size();
  }
  return cell;
}

SweepSize sweep_size(const SweepPlan& plan) {
  SweepCursor cursor(plan);
  while (cursor.step()) {
  }
  return {cursor.given_, cursor.given_ == 0 ? 0 : cursor.lot_ + 1};
}

ScenarioSource cell_source(const ScenarioSource& source, const SweepCell& cell) {
  ScenarioSource changed = source;
  for (const SweepCell::Setting& setting : cell.settings) {
    if (*setting.path == kVariant) {
      changed.variant = setting.value->shown;
    } else {
      changed.overrides.push_back({*setting.path, setting.value->yaml});
    }
  }
  return changed;
}

}  // namespace tidemark

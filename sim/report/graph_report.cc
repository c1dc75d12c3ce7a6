#include "sim/report/graph_report.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "sim/base/problem.h"
#include "sim/report/text.h"
#include "sim/timeline/timeline.h"

namespace tidemark {

namespace {

using graph::DetailEdge;
using graph::Details;
using graph::DetailVertex;
using graph::EdgeKind;

/// The first `depth` parts of a module's path.
std::string_view cut_path(std::string_view path, std::uint32_t depth) {
  std::size_t end = 0;
  for (std::uint32_t i = 0; i < depth; ++i) {
    end = path.find('.', i == 0 ? 0 : end + 1);
    if (end == std::string_view::npos) return path;
  }
  return path.substr(0, end);
}

std::string_view fill_of(std::string_view phase) {
  if (phase.starts_with("forward") || phase.starts_with("inference")) return "#dbe9f6";
  if (phase.starts_with("backward")) return "#fbe3d4";
  if (phase.starts_with("optimizer")) return "#e0f0dd";
  return "#eeeeee";
}

class Drawing {
 public:
  Drawing(const Details& details, const GraphOptions& options)
      : details_(details), options_(options), is_shown_(details.phases.size(), false) {
    const bool has_steps = std::ranges::any_of(details.phases, [](const std::string& phase) {
      return !split_phase_name(phase).step.empty();
    });
    step_ = !options.step.empty() || !has_steps ? options.step : "0";
    bool any = false;
    for (std::size_t i = 0; i < details.phases.size(); ++i) {
      const PhaseName name = split_phase_name(details.phases[i]);
      const std::string_view step = name.step.substr(0, name.step.find('.'));
      is_shown_[i] = step == step_ && (options.phase.empty() || name.phase == options.phase);
      any = any || is_shown_[i];
    }
    if (!any) refuse();
  }

  std::string text() {
    if (options_.each_op) {
      group(std::nullopt);
    } else if (options_.depth) {
      group(*options_.depth);
    } else {
      for (std::uint32_t depth = deepest() + 1; depth-- > 0;) {
        group(depth);
        if (boxes_.size() <= GraphOptions::kLegible) break;
      }
    }
    std::vector<graph::DotVertex> vertices;
    for (const Box& box : boxes_)
      vertices.push_back({label_of(box), std::string(fill_of(box.phase))});
    return graph::graphviz(title(), vertices, arrows());
  }

 private:
  struct Box {
    std::string name;
    std::string_view phase;
    std::size_t ops = 0;
    Bytes bytes = 0;
    bool is_outside = false;
  };

  [[noreturn]] void refuse() const {
    std::vector<std::string> names;
    std::set<std::string> steps;
    for (const std::string& phase : details_.phases) {
      const PhaseName name = split_phase_name(phase);
      if (!name.step.empty()) steps.emplace(name.step);
      if (!phase.empty() && std::find(names.begin(), names.end(), name.phase) == names.end())
        names.emplace_back(name.phase);
    }
    std::string hint = fmt::format("phases: {}", fmt::join(names, ", "));
    if (!steps.empty()) hint += fmt::format("; steps: {} to {}", *steps.begin(), *steps.rbegin());
    throw InputError(Problem{{},
                             options_.phase.empty() ? "--step" : "--phase",
                             fmt::format("there is no phase '{}{}{}'", options_.phase,
                                         options_.phase.empty() ? "" : " ", step_),
                             hint});
  }

  [[nodiscard]] std::uint32_t deepest() const {
    std::uint32_t most = 0;
    for (const DetailVertex& vertex : details_.vertices) {
      const auto dots = std::count(vertex.module.begin(), vertex.module.end(), '.');
      most = std::max(most, static_cast<std::uint32_t>(dots) + 1);
    }
    return most;
  }

  /// Puts every vertex into a box; what is not shown into one of its phase.
  void group(std::optional<std::uint32_t> depth) {
    boxes_.clear();
    box_of_.assign(details_.vertices.size(), 0);
    std::map<std::pair<std::uint32_t, std::string>, std::uint32_t> known;
    std::map<std::uint32_t, std::uint32_t> outside;
    std::set<std::uint32_t> wanted;  // phases that give something to what is shown
    for (const DetailEdge& edge : details_.edges) {
      if (shows(edge.to) && !shows(edge.from)) wanted.insert(details_.vertices[edge.from].phase);
    }
    for (std::uint32_t v = 0; v < details_.vertices.size(); ++v) {
      const DetailVertex& vertex = details_.vertices[v];
      const std::string_view phase = details_.phases[vertex.phase];
      std::uint32_t at = 0;
      if (!shows(v)) {
        if (!wanted.contains(vertex.phase)) continue;
        at = outside.try_emplace(vertex.phase, static_cast<std::uint32_t>(boxes_.size()))
                 .first->second;
        if (at == boxes_.size()) boxes_.push_back({std::string(phase), phase, 0, 0, true});
      } else if (!depth) {
        at = static_cast<std::uint32_t>(boxes_.size());
        const std::string where = vertex.module.empty() ? "" : "\n" + vertex.module;
        boxes_.push_back({vertex.name + where, phase, 0, 0, false});
      } else {
        std::string name(cut_path(vertex.module, *depth));
        if (name.empty()) name = vertex.module.empty() ? vertex.name : "the model";
        at = known.try_emplace({vertex.phase, name}, static_cast<std::uint32_t>(boxes_.size()))
                 .first->second;
        if (at == boxes_.size()) boxes_.push_back({name, phase, 0, 0, false});
      }
      box_of_[v] = at;
      ++boxes_[at].ops;
      boxes_[at].bytes += vertex.bytes;
    }
  }
  [[nodiscard]] bool shows(std::uint32_t vertex) const {
    return is_shown_[details_.vertices[vertex].phase];
  }

  std::vector<graph::DotEdge> arrows() const {
    std::map<std::tuple<std::uint32_t, std::uint32_t, EdgeKind>, Bytes> sums;
    for (const DetailEdge& edge : details_.edges) {
      if (!shows(edge.to)) continue;
      const std::uint32_t from = box_of_[edge.from];
      const std::uint32_t to = box_of_[edge.to];
      if (from != to) sums[{from, to, edge.kind}] += edge.bytes;
    }
    std::vector<graph::DotEdge> arrows;
    for (const auto& [key, bytes] : sums) {
      const auto& [from, to, kind] = key;
      graph::DotEdge arrow{from, to, human_bytes(bytes), "solid", "#333333"};
      if (kind == EdgeKind::kSaved) {
        arrow.style = "dashed";
        arrow.colour = "#c0561f";
      } else if (kind == EdgeKind::kAlias) {
        arrow.style = "dotted";
      } else if (kind == EdgeKind::kControl) {
        arrow.style = "bold";
        arrow.colour = "#7a3fa0";
      }
      arrows.push_back(std::move(arrow));
    }
    return arrows;
  }

  [[nodiscard]] std::string label_of(const Box& box) const {
    std::string label = box.name;
    if (!box.is_outside && box.phase != box.name) label += fmt::format("\n{}", box.phase);
    if (box.ops > 1) label += fmt::format("\n{} ops", box.ops);
    if (box.bytes > 0) label += fmt::format("\n{}", human_bytes(box.bytes));
    return label;
  }
  [[nodiscard]] std::string title() const {
    return fmt::format(
        "{}{}{}\nboxes: bytes asked for; solid: data, dashed: saved for backward, dotted: "
        "the same memory, bold: written over",
        options_.title, step_.empty() ? "" : ", step " + step_,
        options_.phase.empty() ? "" : ", " + options_.phase);
  }

  const Details& details_;
  const GraphOptions& options_;
  std::string step_;            ///< empty: the program has none
  std::vector<bool> is_shown_;  ///< by phase
  std::vector<Box> boxes_;
  std::vector<std::uint32_t> box_of_;  ///< by vertex
};

}  // namespace

std::string graph_dot(const Details& details, const GraphOptions& options) {
  return Drawing(details, options).text();
}

}  // namespace tidemark

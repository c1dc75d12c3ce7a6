#include "sim/report/sweep_page.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "sim/device/published_band.h"
#include "sim/format/json_writer.h"
#include "sim/report/page_files.h"
#include "sim/report/page_text.h"
#include "sim/report/text.h"
#include "sim/report/time_text.h"
#include "sim/study/advice/remedy.h"
#include "sim/study/sweep/sweep_answer.h"

namespace tidemark {
namespace {

constexpr std::uint64_t kMostCells = 20'000;

/// What the page can draw of a cell.
struct Figure {
  std::string_view name;
  std::string_view unit;
  std::uint64_t (*of)(const CellResult&);
};
constexpr std::array<Figure, 8> kFigures{{
    {"peak_reserved", "bytes", [](const CellResult& r) { return r.peak_reserved; }},
    {"peak_allocated", "bytes", [](const CellResult& r) { return r.peak_allocated; }},
    {"spare", "bytes", [](const CellResult& r) { return r.spare; }},
    {"fragmentation", "millionths", [](const CellResult& r) { return r.fragmentation; }},
    {"retries", "",
     [](const CellResult& r) {
       return static_cast<std::uint64_t>(std::max<std::int64_t>(r.retries, 0));
     }},
    {"device_calls", "", [](const CellResult& r) { return r.device_calls; }},
    {"assumed", "", [](const CellResult& r) { return static_cast<std::uint64_t>(r.assumed); }},
    {"time_ns", "ns", [](const CellResult& r) { return static_cast<std::uint64_t>(r.time_ns); }},
}};

std::string value_name(const SweepValue& value) {
  return value.shown.empty() ? "\"\"" : value.shown;
}

const SweepValue* value_of(const SweepCells& cells, const SweepCells::Cell& cell,
                           std::size_t axis) {
  return cell.at[axis] < 0 ? nullptr
                           : &cells.axes[axis].values[static_cast<std::size_t>(cell.at[axis])];
}

/// Of an axis of numbers.
const SweepValue& largest_of(const SweepCells& cells, std::size_t axis) {
  const std::vector<SweepValue>& values = cells.axes[axis].values;
  return *std::max_element(values.begin(), values.end(),
                           [](const SweepValue& a, const SweepValue& b) {
                             return std::stoll(a.shown) < std::stoll(b.shown);
                           });
}

/// "seq_len 512, train.precision fp32": a cell's settings but those of the answer's own axes.
std::string other_settings(const SweepCells& cells, const SweepAnswer& answer,
                           const SweepCells::Cell& cell) {
  std::string text;
  for (std::size_t i = 0; i < cells.axes.size(); ++i) {
    const SweepValue* value = value_of(cells, cell, i);
    const bool is_told = answer.main_axis == i || answer.device_axis == i ||
                         std::ranges::find(answer.model_axes, i) != answer.model_axes.end();
    if (value == nullptr || is_told) continue;
    text +=
        fmt::format("{}{} {}", text.empty() ? "" : ", ", cells.axes[i].name, value_name(*value));
  }
  return text;
}

/// "batch_size goes up to 64 with variant large on h100, the largest tried (seq_len 512): ...".
std::string reach_sentence(const SweepCells& cells, const SweepAnswer& answer,
                           const ReachAnswer& reach) {
  const std::string where = (reach.model.empty() ? "" : " with " + reach.model) +
                            (reach.device.empty() ? "" : " on " + reach.device);
  if (!reach.best) return fmt::format("Nothing that was tried fits{}.", where);
  const SweepCells::Cell& best = cells.cells[*reach.best];
  const std::string others = other_settings(cells, answer, best);
  const std::string figures = fmt::format(
      "{}: {} reserved at the peak, {} spare.", others.empty() ? "" : " (" + others + ")",
      human_bytes(best.result.peak_reserved), human_bytes(best.result.spare));
  const SweepValue* value = answer.main_axis ? value_of(cells, best, *answer.main_axis) : nullptr;
  if (value == nullptr) return fmt::format("Least is needed{}{}", where, figures);
  return fmt::format(
      "{} goes up to {}{}{}{}", cells.axes[*answer.main_axis].name, value->shown, where,
      *value == largest_of(cells, *answer.main_axis) ? ", the largest that was tried" : "",
      figures);
}

std::string effect_sentence(const SweepCells& cells, const SettingEffect& effect) {
  const SweepCells::Axis& axis = cells.axes[effect.axis];
  std::string text =
      fmt::format("{} {} instead of {}:", axis.name, value_name(axis.values[effect.value]),
                  value_name(axis.values.front()));
  if (effect.pairs > 0) {
    const bool is_more = effect.change > 0;
    const auto size = static_cast<std::uint64_t>(is_more ? effect.change : -effect.change);
    text += size == 0 ? std::string(" the same peak")
                      : fmt::format(" {} {} reserved at the peak", percent(size),
                                    is_more ? "more" : "less");
    text += fmt::format(" on average of {} {}", grouped(effect.pairs),
                        effect.pairs == 1 ? "pair" : "pairs");
  }
  if (effect.fits_more > 0) {
    text += fmt::format("{} {} that did not fit {}", effect.pairs > 0 ? "," : "",
                        grouped(effect.fits_more), effect.fits_more == 1 ? "does" : "do");
  }
  if (effect.fits_fewer > 0) {
    text += fmt::format("{} {} that fitted {} not", effect.pairs + effect.fits_more > 0 ? "," : "",
                        grouped(effect.fits_fewer), effect.fits_fewer == 1 ? "does" : "do");
  }
  return text + ".";
}

std::string sweep_headline(const SweepAnswer& answer) {
  return fmt::format(
      "{} of {} combinations fit; {} run out of memory{}.", grouped(answer.fits),
      grouped(answer.fits + answer.ooms + answer.errors), grouped(answer.ooms),
      answer.errors == 0 ? "" : fmt::format(", {} cannot be run", grouped(answer.errors)));
}

/// How far the main axis goes: by model and device the farthest cell that fits, -1 for none.
void write_reach(const SweepCells& cells, const SweepAnswer& answer, JsonWriter& json) {
  json.key("reach").begin_array();
  for (const ReachAnswer& reach : answer.reaches) {
    const SweepValue* value = reach.best && answer.main_axis
                                  ? value_of(cells, cells.cells[*reach.best], *answer.main_axis)
                                  : nullptr;
    json.begin_object(true).member("model", reach.model).member("device", reach.device);
    json.member("cell", reach.best ? static_cast<std::int64_t>(*reach.best) : std::int64_t{-1});
    json.member("value", value == nullptr ? std::string() : value->shown);
    json.member("is_largest", value != nullptr && *value == largest_of(cells, *answer.main_axis));
    json.end_object();
  }
  json.end_array();
}

void write_answer(const SweepCells& cells, const SweepAnswer& answer, JsonWriter& json) {
  write_reach(cells, answer, json);
  const auto axis = [&](std::string_view name, std::optional<std::size_t> index) {
    index ? json.member(name, std::uint64_t{*index}) : json.key(name).null();
  };
  axis("main_axis", answer.main_axis);
  axis("device_axis", answer.device_axis);
}

void write_axes(const SweepCells& cells, JsonWriter& json) {
  json.key("axes").begin_array();
  for (const SweepCells::Axis& axis : cells.axes) {
    json.begin_object().member("name", axis.name).member("is_number", axis.is_number);
    json.key("values").begin_array(true);
    for (const SweepValue& value : axis.values)
      axis.is_number ? json.value(std::int64_t{std::stoll(value.shown)})
                     : json.value(value_name(value));
    json.end_array().key("options").begin_array(true);
    for (const SweepValue& value : axis.values) {
      if (axis.name != "variant") {
        json.value(change_options({{{axis.name, value.yaml}}, {}}));
      } else {
        json.value(value.shown.empty() ? std::string() : "--variant " + value.shown);
      }
    }
    json.end_array().end_object();
  }
  json.end_array();
}

void write_cells(const SweepCells& cells, JsonWriter& json) {
  const auto column = [&](std::string_view name, const auto& write) {
    json.key(name).begin_array(true);
    for (const SweepCells::Cell& cell : cells.cells) write(cell);
    json.end_array();
  };
  json.key("cells").begin_object();
  column("number", [&](const SweepCells::Cell& cell) { json.value(cell.result.number); });
  column("status", [&](const SweepCells::Cell& cell) {
    json.value(static_cast<std::uint32_t>(cell.result.status));
  });
  column("message", [&](const SweepCells::Cell& cell) { json.value(cell.result.message); });
  json.key("at").begin_array();
  for (std::size_t i = 0; i < cells.axes.size(); ++i) {
    json.begin_array(true);
    for (const SweepCells::Cell& cell : cells.cells) json.value(std::int64_t{cell.at[i]});
    json.end_array();
  }
  json.end_array().end_object().key("figures").begin_array();
  for (const Figure& figure : kFigures) {
    json.begin_object().member("name", figure.name).member("unit", figure.unit);
    if (figure.unit == std::string_view("ns")) write_time_band(json, published_band());
    column("values", [&](const SweepCells::Cell& cell) {
      json.value(std::uint64_t{figure.of(cell.result)});
    });
    json.end_object();
  }
  json.end_array();
}

}  // namespace

std::string sweep_page(const ResultsFile& results, const std::string& where) {
  const SweepOrigin& origin = results.origin();
  const SweepCells cells = load_cells(results, where, kMostCells);
  const SweepAnswer answer = answer_of(cells);
  std::string data;
  JsonWriter json(data);
  json.begin_object();
  write_answer(cells, answer, json);
  write_axes(cells, json);
  write_cells(cells, json);
  std::string again = "tidemark run " + origin.scenario_path;
  if (!origin.variant.empty()) again += " --variant " + origin.variant;
  for (const std::string& text : origin.overrides)
    again += " " + change_options({{parse_override(text)}, {}});
  json.member("again", again).end_object().finish();

  std::vector<std::string> reaches;
  for (const ReachAnswer& reach : answer.reaches)
    reaches.push_back(reach_sentence(cells, answer, reach));
  std::vector<std::string> effects;
  for (const SettingEffect& effect : answer.effects)
    effects.push_back(effect_sentence(cells, effect));
  std::vector<std::string> rests_on{
      fmt::format("Tidemark {} ran {}, each combination on its own.", origin.program_version,
                  origin.scenario_path),
      "Bytes are those that PyTorch's allocator would reserve, the CUDA context beside them; no "
      "GPU was used.",
      "Time is simulated, of the whole scenario: an estimate. Compare it between combinations that "
      "do the same work.",
      "Spare is what the device has free while the allocator holds its most."};
  if (!where.empty()) rests_on.push_back("Shown are the combinations with " + where + ".");
  std::string page = page_head(cells.name.empty() ? origin.scenario_path : cells.name);
  page += fmt::format("<p class=\"verdict{}\">{}</p>\n", answer.fits == 0 ? " failed" : "",
                      html_text(sweep_headline(answer)));
  page += html_list(reaches);
  if (!effects.empty()) page += "<h2>What the settings change</h2>\n" + html_list(effects);
  page += "<main></main>\n<h2>What this rests on</h2>\n" + html_list(rests_on);
  page += "<details><summary>The scenario</summary><pre>" + html_text(origin.scenario_text) +
          "</pre></details>\n";
  return page + data_element(std::move(data)) + "<script>\n" + std::string(kSweepScript) +
         "</script>\n</body>\n</html>\n";
}

}  // namespace tidemark

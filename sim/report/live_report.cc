#include "sim/report/live_report.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <tuple>
#include <vector>

#include <fmt/format.h>

#include "sim/base/problem.h"
#include "sim/report/headline.h"

namespace tidemark {

namespace {

using Align = Table::Align;

[[noreturn]] void refuse(std::string_view option, std::string message, std::string hint) {
  throw InputError(Problem{{}, std::string(option), std::move(message), std::move(hint)});
}

/// "2:backward" as the phase's name is: "backward 2".
std::string phase_name_of(std::string_view text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) return std::string(text);
  return fmt::format("{} {}", text.substr(colon + 1), text.substr(0, colon));
}

}  // namespace

std::uint32_t event_named(const DeviceResult& device, std::string_view text,
                          std::string_view option) {
  if (device.events.empty()) refuse(option, "the run has no events", {});
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc() && end == text.data() + text.size()) {
    if (number < device.events.size()) return number;
    refuse(option, fmt::format("there is no event {}", number),
           fmt::format("the last is {}", device.events.size() - 1));
  }
  const std::string wanted = phase_name_of(text);
  std::vector<std::string_view> names;
  for (const PhaseResult& phase : device.phases) {
    if (phase.name == wanted && phase.first_event + phase.events > 0)
      return phase.first_event + phase.events - 1;
    names.push_back(phase.name);
  }
  const std::string_view near = nearest_name(wanted, names);
  const PhaseName shown = split_phase_name(near);
  std::string hint = "an event's number, or STEP:PHASE";
  if (!near.empty()) {
    hint = fmt::format("did you mean '{}'?", shown.step.empty()
                                                 ? std::string(near)
                                                 : fmt::format("{}:{}", shown.step, shown.phase));
  }
  refuse(option, fmt::format("there is no event or phase '{}'", text), hint);
}

std::string live_text(const RunResult& result, const DeviceResult& device, std::uint32_t event,
                      std::size_t top, const TextStyle& style) {
  const std::vector<LiveBlock> live = live_at(device, result.program, event);
  struct Group {
    Bytes bytes = 0;
    std::uint64_t blocks = 0;
    std::uint32_t phase = 0;
    LabelId label = 0;
    Category category = Category::kUnknown;
  };
  std::map<std::tuple<std::uint32_t, LabelId, Category>, Group> groups;
  std::array<Group, kCategoryNames.size()> categories{};
  Bytes whole = 0;
  for (const LiveBlock& block : live) {
    const std::uint32_t phase = phase_of(device, block.alloc_event);
    Group& group = groups[{phase, block.label, block.category}];
    group = {group.bytes + block.block_bytes, group.blocks + 1, phase, block.label, block.category};
    Group& category = categories[static_cast<std::size_t>(block.category)];
    category.bytes += block.block_bytes;
    ++category.blocks;
    whole += block.block_bytes;
  }
  std::vector<Group> rows;
  rows.reserve(groups.size());
  for (const auto& [key, group] : groups) rows.push_back(group);
  std::stable_sort(rows.begin(), rows.end(),
                   [](const Group& a, const Group& b) { return a.bytes > b.bytes; });

  std::string out = fmt::format(
      "Live after event {} ({}): {} in {} blocks\n", event,
      moment_text(device, result.program, phase_of(device, event), device.labels[event]),
      exact_bytes(whole), live.size());
  Table by_category({Align::kLeft, Align::kRight, Align::kRight, Align::kRight, Align::kRight});
  by_category.add({"", "blocks", "", "bytes", ""});
  for (const Category category : kCategoryOrder) {
    const Group& group = categories[static_cast<std::size_t>(category)];
    if (group.blocks == 0) continue;
    by_category.add({"  " + std::string(kCategoryNames[static_cast<std::size_t>(category)]),
                     grouped(group.blocks), human_bytes(group.bytes), grouped(group.bytes),
                     percent(parts_per_million(group.bytes, whole))});
  }
  out += by_category.text(style.width) + "\n";
  const std::size_t shown = top == 0 ? rows.size() : std::min(top, rows.size());
  Table table({Align::kRight, Align::kRight, Align::kRight, Align::kLeft, Align::kLeft});
  table.add({"blocks", "", "bytes", "category", "made at"});
  Bytes rest = 0;
  std::uint64_t rest_blocks = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Group& group = rows[i];
    if (i >= shown) {
      rest += group.bytes;
      rest_blocks += group.blocks;
      continue;
    }
    table.add({grouped(group.blocks), human_bytes(group.bytes), grouped(group.bytes),
               std::string(kCategoryNames[static_cast<std::size_t>(group.category)]),
               moment_text(device, result.program, group.phase, group.label)});
  }
  if (rest_blocks > 0) {
    table.add(
        {grouped(rest_blocks), human_bytes(rest), grouped(rest), "",
         fmt::format("{} more places; --top {} shows all", rows.size() - shown, rows.size())});
  }
  return out + table.text(style.width);
}

}  // namespace tidemark

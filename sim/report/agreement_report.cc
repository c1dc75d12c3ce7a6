#include "sim/report/agreement_report.h"

#include <fmt/format.h>

#include <algorithm>

namespace tidemark {

namespace {

std::string event_text(const Event& event) {
  std::string out = fmt::format("{} of {} bytes", action_name(event.action), event.bytes);
  if (event.action != Action::kOom) out += fmt::format(" at 0x{:x}", event.address);
  if (event.stream != 0) out += fmt::format(", stream {}", event.stream);
  return out;
}

std::string figures_row(std::string_view name, std::uint64_t recorded, std::uint64_t simulated) {
  return fmt::format("  {:<16}{:>20}{:>20}{}\n", name, grouped(recorded), grouped(simulated),
                     recorded == simulated ? "" : "  differs");
}

std::string differences(const Agreement& agreement) {
  std::string out;
  const std::size_t shown =
      std::max(agreement.events.a_from_first.size(), agreement.events.b_from_first.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const auto side = [i](const std::vector<Event>& events) {
      return i < events.size() ? event_text(events[i]) : std::string("nothing more");
    };
    out += fmt::format("  event {}: recorded {}; simulated {}\n", *agreement.events.first + i,
                       side(agreement.events.a_from_first), side(agreement.events.b_from_first));
  }
  return out;
}

}  // namespace

std::string agreement_text(const Agreement& agreement, const TextStyle& style) {
  const RecordingFigures& recorded = agreement.recorded;
  const RecordingFigures& simulated = agreement.simulated;
  std::string out = fmt::format(
      "{} of device {}, {} events, allocator of PyTorch {}.{}, {}{}\n",
      agreement.is_run ? "Run" : "Recording", agreement.device, grouped(recorded.events),
      agreement.settings.version.major, agreement.settings.version.minor,
      agreement.settings.text.empty() ? "default settings" : "'" + agreement.settings.text + "'",
      agreement.warm ? ", begun with a filled cache" : "");
  if (agreement.complete()) {
    out += fmt::format("Re-simulated from its own settings: {} agrees, with {}.\n",
                       good("every event", style),
                       agreement.compares_end ? "every address, peak, segment and final block"
                                              : "every address and peak");
  } else {
    out += fmt::format(
        "Re-simulated from its own settings: {} of {} events {}, {} of {} allocations lie "
        "elsewhere, {} final blocks differ.\n",
        grouped(agreement.events.differing), grouped(recorded.events), bad("differ", style),
        grouped(agreement.placed_differently), grouped(agreement.allocations),
        grouped(agreement.differing_blocks));
  }
  out += fmt::format("  {:<16}{:>20}{:>20}\n", "", "recorded", "simulated");
  out += figures_row("peak reserved", recorded.peak_reserved_bytes, simulated.peak_reserved_bytes);
  out +=
      figures_row("peak requested", recorded.peak_requested_bytes, simulated.peak_requested_bytes);
  out += figures_row("end reserved", recorded.end_reserved_bytes, simulated.end_reserved_bytes);
  if (agreement.compares_end) {
    out += figures_row("segments", recorded.end_segments, simulated.end_segments);
    out += figures_row("blocks", recorded.end_blocks, simulated.end_blocks);
  }
  if (recorded.ooms + simulated.ooms > 0)
    out += figures_row("out of memory", recorded.ooms, simulated.ooms);
  if (agreement.events.first) out += differences(agreement);
  for (const std::string& line : agreement.block_differences) out += "  " + line + "\n";
  if (!agreement.complete() || agreement.start_blocks_of_unknown_size == 0) {
    for (const std::string& note : agreement.notes) out += "Note: " + note + ".\n";
  }
  if (agreement.late_frees > 0) {
    out += fmt::format(
        "Note: {} frees waited for another stream; frees that complete together are compared as a "
        "set.\n",
        agreement.late_frees);
  }
  return out;
}

void write_agreement(const Agreement& agreement, JsonWriter& json) {
  const auto figures = [&json](const char* name, const RecordingFigures& each) {
    json.key(name).begin_object(true).member("events", std::uint64_t{each.events});
    json.member("peak_reserved_bytes", each.peak_reserved_bytes)
        .member("peak_requested_bytes", each.peak_requested_bytes);
    json.member("end_reserved_bytes", each.end_reserved_bytes)
        .member("end_segments", std::uint64_t{each.end_segments});
    json.member("end_blocks", std::uint64_t{each.end_blocks})
        .member("ooms", std::uint64_t{each.ooms})
        .end_object();
  };
  json.begin_object().member("device", std::uint32_t{agreement.device});
  json.member("pytorch", fmt::format("{}.{}", agreement.settings.version.major,
                                     agreement.settings.version.minor));
  json.member("alloc_conf", agreement.settings.text).member("warm_start", agreement.warm);
  json.member("agrees", agreement.complete());
  figures("recorded", agreement.recorded);
  figures("simulated", agreement.simulated);
  json.member("events_differing", std::uint64_t{agreement.events.differing});
  json.key("first_difference");
  if (agreement.events.first) {
    json.value(std::uint64_t{*agreement.events.first});
  } else {
    json.null();
  }
  json.member("allocations", std::uint64_t{agreement.allocations});
  json.member("placed_differently", std::uint64_t{agreement.placed_differently});
  json.member("blocks_differing", std::uint64_t{agreement.differing_blocks});
  json.key("notes").begin_array();
  for (const std::string& note : agreement.notes) json.value(note);
  json.end_array().end_object();
}

std::string agreement_row(std::string_view name, const Agreement& agreement) {
  const auto pair = [](std::uint64_t recorded, std::uint64_t simulated) {
    return recorded == simulated ? fmt::format("{}", recorded)
                                 : fmt::format("{} / {}", recorded, simulated);
  };
  const RecordingFigures& a = agreement.recorded;
  const RecordingFigures& b = agreement.simulated;
  return fmt::format(
      "| {} | {} | {} | {} of {} | {} | {} | {} | {} of {} |\n", name, pair(a.events, b.events),
      agreement.events.differing, agreement.placed_differently, agreement.allocations,
      pair(a.peak_reserved_bytes, b.peak_reserved_bytes),
      pair(a.peak_requested_bytes, b.peak_requested_bytes), pair(a.end_segments, b.end_segments),
      agreement.differing_blocks, a.end_blocks);
}

}  // namespace tidemark

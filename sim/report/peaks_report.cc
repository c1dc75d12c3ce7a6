#include "sim/report/peaks_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/report/explain_report.h"

namespace tidemark {

namespace {

using Align = Table::Align;

std::string moments(const PeakPictures& peaks, const TextStyle& style) {
  Table table(
      {Align::kLeft, Align::kRight, Align::kRight, Align::kRight, Align::kRight, Align::kLeft});
  table.add({"Peaks", "", "in use", "event", "step", "reached by"});
  const auto row = [&](std::string name, Bytes bytes, const MemoryPicture& at) {
    table.add({std::move(name), human_bytes(bytes), human_bytes(at.active_bytes), grouped(at.event),
               std::to_string(at.step), std::string(maker_of(at.maker))});
  };
  row("  allocated", peaks.allocated.active_bytes, peaks.allocated);
  row("  reserved", peaks.reserved.reserved_bytes, peaks.reserved);
  return table.text(style.width);
}

std::string holders(const PeakPictures& peaks, const TextStyle& style) {
  Table table({Align::kLeft, Align::kRight, Align::kRight}, 2);
  table.add({"held at the peak of", "allocated", "reserved"});
  const auto row = [&](std::string name, Bytes at_allocated, Bytes at_reserved) {
    if (at_allocated + at_reserved == 0) return;
    table.add({std::move(name), human_bytes(at_allocated), human_bytes(at_reserved)});
  };
  for (std::size_t i = 0; i < kPurposeNames.size(); ++i) {
    row(std::string(kPurposeNames[i]), peaks.allocated.by_purpose[i], peaks.reserved.by_purpose[i]);
  }
  row("free in the cache", peaks.allocated.reserved_bytes - peaks.allocated.active_bytes,
      peaks.reserved.reserved_bytes - peaks.reserved.active_bytes);
  std::string out = table.text(style.width);
  const auto most = [&](std::string_view name, const MemoryPicture& at) {
    constexpr std::size_t kNamed = 3;
    std::string names;
    for (std::size_t i = 0; i < std::min(kNamed, at.sites.size()); ++i) {
      names += fmt::format("{}{} by {}", i == 0 ? "" : "; ", human_bytes(at.sites[i].bytes),
                           maker_of(at.sites[i].maker));
    }
    if (!names.empty())
      out += wrapped(fmt::format("most at the peak of {}: {}", name, names), style.width, 2);
  };
  most("allocated", peaks.allocated);
  most("reserved", peaks.reserved);
  return out;
}

std::string growth_text(const ReservedGrowth& growth, const TextStyle& style) {
  std::string parts;
  for (std::size_t i = 0; i < kUnservedNames.size(); ++i) {
    if (growth.unserved[i] == 0) continue;
    parts += fmt::format("{}{} {}", parts.empty() ? "" : ", ", human_bytes(growth.unserved[i]),
                         kUnservedNames[i]);
    if (i == static_cast<std::size_t>(Unserved::kTooSmall))
      parts += fmt::format(" (the largest {})", human_bytes(growth.largest_bytes));
  }
  return wrapped(fmt::format("+{} at event {}, step {}: {} asked for by {} while {} lay free: {}",
                             human_bytes(growth.grown_bytes), growth.event, growth.step,
                             human_bytes(growth.request_bytes), maker_of(growth.maker),
                             human_bytes(growth.free_bytes), parts),
                 style.width, 4);
}

std::string story_text(const ReservedStory& story, const TextStyle& style) {
  std::string out =
      fmt::format("Why reserved is {}: {} {} made it grow", human_bytes(story.peak_bytes),
                  story.growths, story.growths == 1 ? "request" : "requests");
  if (story.avoidable == 0) {
    out += "; beside none of them as much lay free\n";
  } else {
    out += fmt::format("; beside {} of them, {} in all, as much lay free. The largest:\n",
                       story.avoidable, human_bytes(story.avoidable_bytes));
    for (const ReservedGrowth& growth : story.largest) out += growth_text(growth, style);
    out += fmt::format("  empty_cache() before {}: a peak of {}, re-simulated\n",
                       story.largest.size() == 1 ? "this one" : "each of these",
                       human_bytes(*story.emptied_peak_bytes));
  }
  if (story.best_peak_bytes >= story.peak_bytes) {
    return out + fmt::format("  another setting: none of the {} tried needs less\n",
                             story.settings_tried);
  }
  return out + fmt::format("  another setting: of {} tried {} needs least, a peak of {}\n",
                           story.settings_tried, setting_name(story.best_setting),
                           human_bytes(story.best_peak_bytes));
}

void write_moment(const MemoryPicture& at, JsonWriter& json) {
  json.begin_object()
      .member("event", std::uint64_t{at.event})
      .member("step", std::uint64_t{at.step});
  json.member("made_by", at.maker)
      .member("active_bytes", at.active_bytes)
      .member("reserved_bytes", at.reserved_bytes);
  json.key("purposes").begin_object(true);
  for (std::size_t i = 0; i < kPurposeNames.size(); ++i)
    json.member(kPurposeNames[i], at.by_purpose[i]);
  json.end_object().end_object();
}

void write_story(const ReservedStory& story, JsonWriter& json) {
  json.begin_object().member("peak_bytes", story.peak_bytes);
  json.member("growths", std::uint64_t{story.growths})
      .member("avoidable", std::uint64_t{story.avoidable})
      .member("avoidable_bytes", story.avoidable_bytes);
  json.key("largest").begin_array();
  for (const ReservedGrowth& growth : story.largest) {
    json.begin_object(true).member("event", std::uint64_t{growth.event});
    json.member("step", std::uint64_t{growth.step}).member("made_by", growth.maker);
    json.member("request_bytes", growth.request_bytes).member("grown_bytes", growth.grown_bytes);
    json.member("free_bytes", growth.free_bytes);
    for (std::size_t i = 0; i < kUnservedNames.size(); ++i)
      json.member(kUnservedNames[i], growth.unserved[i]);
    json.member("largest_piece_bytes", growth.largest_bytes).end_object();
  }
  json.end_array().key("emptied_peak_bytes");
  story.emptied_peak_bytes ? json.value(std::uint64_t{*story.emptied_peak_bytes}) : json.null();
  json.member("settings_tried", std::uint64_t{story.settings_tried})
      .member("best_setting", story.best_setting)
      .member("best_peak_bytes", story.best_peak_bytes)
      .end_object();
}

}  // namespace

std::string devices_text(const Explanation& explanation) {
  if (explanation.devices.size() < 2) return {};
  std::string out;
  for (const RecordedDevice& each : explanation.devices) {
    out += fmt::format("GPU {}: peak reserved {}, {} refused{}\n", each.device,
                       human_bytes(each.peak_reserved_bytes), each.ooms,
                       each.device == explanation.device ? "; told of here" : "");
  }
  return out + "\n";
}

std::string peaks_text(const PeakPictures& peaks, const TextStyle& style) {
  return moments(peaks, style) + holders(peaks, style) + story_text(peaks.story, style) + "\n";
}

void write_peaks(const Explanation& explanation, JsonWriter& json) {
  json.member("device", std::uint32_t{explanation.device}).key("devices").begin_array();
  for (const RecordedDevice& each : explanation.devices) {
    json.begin_object(true).member("device", std::uint32_t{each.device});
    json.member("events", std::uint64_t{each.events})
        .member("refused", std::uint64_t{each.ooms})
        .member("peak_reserved_bytes", each.peak_reserved_bytes)
        .end_object();
  }
  json.end_array().key("peaks");
  if (!explanation.peaks) {
    json.null();
    return;
  }
  json.begin_object().key("allocated");
  write_moment(explanation.peaks->allocated, json);
  json.key("reserved");
  write_moment(explanation.peaks->reserved, json);
  json.key("why_reserved");
  write_story(explanation.peaks->story, json);
  json.end_object();
}

}  // namespace tidemark

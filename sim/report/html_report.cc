#include "sim/report/html_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/format/json_writer.h"
#include "sim/report/agreement_report.h"
#include "sim/report/explain_report.h"
#include "sim/report/headline.h"

namespace tidemark {

namespace {

constexpr std::size_t kPoints = kTimelinePoints;
constexpr std::size_t kMostBlocks = 20'000;
constexpr std::size_t kSites = 20;

/// The sample with the most in each of at most kPoints stretches.
template <class Sample, class Amount>
std::vector<std::size_t> highest_of_stretches(std::span<const Sample> samples, Amount amount) {
  std::vector<std::size_t> chosen;
  const std::size_t points = std::min(kPoints, samples.size());
  chosen.reserve(points);
  for (std::size_t point = 0; point < points; ++point) {
    const std::size_t first = samples.size() * point / points;
    const std::size_t end = samples.size() * (point + 1) / points;
    const auto best =
        std::max_element(samples.begin() + static_cast<std::ptrdiff_t>(first),
                         samples.begin() + static_cast<std::ptrdiff_t>(end),
                         [&](const Sample& a, const Sample& b) { return amount(a) < amount(b); });
    chosen.push_back(static_cast<std::size_t>(best - samples.begin()));
  }
  return chosen;
}

void write_timeline(const HtmlReport& report, JsonWriter& json) {
  const std::vector<RecordedAmounts::Point>& points = report.amounts->points;
  json.key("timeline").begin_object().key("event").begin_array(true);
  for (const RecordedAmounts::Point& point : points) json.value(std::uint64_t{point.event});
  json.end_array();
  using Member = Bytes MemorySample::*;
  for (const auto& [name, member] :
       {std::pair<std::string_view, Member>{"reserved", &MemorySample::reserved},
        {"active", &MemorySample::active},
        {"requested", &MemorySample::requested}}) {
    json.key(name).begin_array(true);
    for (const RecordedAmounts::Point& point : points)
      json.value(std::uint64_t{point.sample.*member});
    json.end_array();
  }
  json.key("label").begin_array(true);
  for (const RecordedAmounts::Point& point : points) json.value(point.label);
  json.end_array().end_object();
}

void write_host(const HtmlReport& report, JsonWriter& json) {
  json.key("host").begin_array();
  for (const HostPoint& point : report.host) {
    json.begin_object(true).member("event", point.event).member("held", point.held);
    json.member("pinned", point.pinned).member("maker", point.maker).end_object();
  }
  json.end_array();
}

/// A block has to be larger to be told by itself, so that at most kMostBlocks are.
Bytes most_left_out(const MemoryPicture& picture) {
  std::vector<Bytes> sizes;
  for (const SegmentInfo& segment : picture.segments) {
    for (const BlockInfo& block : segment.blocks) sizes.push_back(block.bytes);
  }
  if (sizes.size() <= kMostBlocks) return 0;
  const auto place = sizes.begin() + static_cast<std::ptrdiff_t>(kMostBlocks);
  std::ranges::nth_element(sizes, place, std::greater<>());
  return *place;
}

void write_blocks(const MemoryPicture& picture, JsonWriter& json) {
  const Bytes left_out = most_left_out(picture);
  json.key("blocks").begin_array();
  auto live = picture.live.begin();
  for (const SegmentInfo& segment : picture.segments) {
    const auto write = [&](std::uint64_t address, Bytes bytes, bool active,
                           const std::string& maker) {
      json.begin_object(true).member("segment", fmt::format("0x{:x}", segment.address));
      json.member("offset", address - segment.address)
          .member("bytes", bytes)
          .member("live", active);
      json.member("maker", maker).end_object();
    };
    // Small ones side by side are one, live where any of them is.
    Bytes rest = 0;
    std::size_t rest_blocks = 0;
    bool rest_live = false;
    const auto end_rest = [&](std::uint64_t end) {
      if (rest_blocks == 0) return;
      write(end - rest, rest, rest_live, fmt::format("{} small blocks", rest_blocks));
      rest = 0;
      rest_blocks = 0;
      rest_live = false;
    };
    for (const BlockInfo& block : segment.blocks) {
      const bool active = block.state != BlockState::kInactive;
      while (active && live != picture.live.end() && live->address < block.address) ++live;
      if (left_out > 0 && block.bytes <= left_out) {
        rest += block.bytes;
        ++rest_blocks;
        rest_live = rest_live || active;
        continue;
      }
      end_rest(block.address);
      write(block.address, block.bytes, active,
            active && live != picture.live.end() ? holder_text(*live) : std::string("free"));
    }
    end_rest(segment.address + segment.total_bytes);
  }
  json.end_array();
}

std::string setting_name(const std::string& text) {
  return text.empty() ? "the default settings" : "'" + text + "'";
}

/// How the run ended, and what it needs where it failed.
std::string ending(const HtmlReport& report) {
  const Explanation& explanation = *report.explanation;
  std::string out;
  if (report.verdict) {
    out = verdict_line(*report.verdict, explanation.devices.size()) + " ";
  } else {
    for (const RecordedDevice& each : explanation.devices) {
      if (each.ooms == 0) continue;
      out += fmt::format("OUT OF MEMORY: the recording of GPU {} has {} refused {}. ", each.device,
                         each.ooms, each.ooms == 1 ? "request" : "requests");
    }
  }
  if (!explanation.end) return out;
  const Need& need = explanation.end->need;
  return out + (need.reserved_bytes
                    ? fmt::format("To its end, played there, the program needs a device of {}. ",
                                  human_bytes(need.total_bytes))
                    : std::string("To its end the program needs more than 4 TiB. "));
}

/// What other settings come to, each played to the end of what is known.
std::string best_setting(const HtmlReport& report) {
  const std::string& own_text = report.agreement->settings.text;
  const auto own = std::ranges::find(report.settings, own_text, &SettingRow::setting);
  if (report.settings.empty() || own == report.settings.end()) return {};
  const SettingRow& best = report.settings.front();
  if (best.ooms > 0)
    return fmt::format(" Under none of {} settings is every request served.",
                       report.settings.size());
  if (own->ooms > 0) {
    return fmt::format(" Of {} settings {} serves every request{}: {} at the peak.",
                       report.settings.size(), setting_name(best.setting),
                       report.verdict ? "" : " of the recording", human_bytes(best.peak_reserved));
  }
  if (best.peak_reserved >= own->peak_reserved) {
    return fmt::format(" Of {} settings re-simulated none needs less than {}: {} at the peak.",
                       report.settings.size(), setting_name(own_text),
                       human_bytes(own->peak_reserved));
  }
  return fmt::format(
      " Of {} settings re-simulated {} needs least: {} at the peak, against {} with {}.",
      report.settings.size(), setting_name(best.setting), human_bytes(best.peak_reserved),
      human_bytes(own->peak_reserved), setting_name(own_text));
}

/// The page's first sentences.
std::string headline(const HtmlReport& report) {
  const MemoryPicture& picture = report.explanation->picture;
  return ending(report) +
         fmt::format("{} reserved after event {}, {} of it in use and {} free in the cache.",
                     human_bytes(picture.reserved_bytes), picture.event,
                     human_bytes(picture.active_bytes),
                     human_bytes(picture.reserved_bytes - picture.active_bytes)) +
         best_setting(report);
}

void write_purposes(const MemoryPicture& picture, JsonWriter& json) {
  json.key("purposes").begin_array();
  const auto purpose = [&json](std::string_view name, Bytes bytes) {
    if (bytes > 0) json.begin_object(true).member("name", name).member("bytes", bytes).end_object();
  };
  for (std::size_t i = 0; i < kPurposeNames.size(); ++i)
    purpose(kPurposeNames[i], picture.by_purpose[i]);
  purpose("free in the cache", picture.reserved_bytes - picture.active_bytes);
  json.end_array();
}

}  // namespace

std::vector<HostPoint> host_points(const RunResult& result) {
  constexpr Bytes kPage = 4 * kKiB;
  std::vector<HostPoint> points;
  if (result.host.peak.held() < kPage) return points;
  const std::span<const HostSample> samples(result.host.samples);
  const std::vector<std::size_t> chosen =
      highest_of_stretches(samples, [](const HostSample& s) { return s.held(); });
  points.reserve(chosen.size());
  for (const std::size_t at : chosen) {
    const HostSample& sample = samples[at];
    points.push_back(
        {sample.event, sample.held(), sample.pinned_held,
         moment_text(result.devices.front(), result.program, sample.phase, sample.label)});
  }
  return points;
}

std::string html_report_json(const HtmlReport& report) {
  std::string out;
  JsonWriter json(out);
  const TextStyle plain;
  json.begin_object()
      .member("title", report.title)
      .member("event", std::uint64_t{report.explanation->picture.event});
  json.member("headline", headline(report));
  json.member("answer", explain_text(*report.explanation, 5, plain));
  write_timeline(report, json);
  write_host(report, json);
  write_purposes(report.explanation->picture, json);
  write_blocks(report.explanation->picture, json);
  json.key("sites").begin_array();
  for (std::size_t i = 0; i < std::min(kSites, report.explanation->picture.sites.size()); ++i) {
    const CallSite& site = report.explanation->picture.sites[i];
    json.begin_object(true).member("maker", std::string(maker_of(site.maker)));
    json.member("purpose", kPurposeNames[static_cast<std::size_t>(site.purpose)])
        .member("bytes", site.bytes)
        .end_object();
  }
  json.end_array().key("settings").begin_array();
  for (const SettingRow& row : report.settings) {
    const std::string& text = row.setting;
    json.begin_object(true).member("name", text.empty() ? std::string("(default)") : text);
    json.member("peak_reserved", row.peak_reserved).member("ooms", row.ooms);
    json.member("own", text == report.agreement->settings.text).end_object();
  }
  json.end_array().key("assumptions").begin_array();
  json.value(agreement_text(*report.agreement, plain));
  for (const std::string& line : report.assumptions) json.value(line);
  json.end_array().end_object().finish();
  return out;
}

}  // namespace tidemark

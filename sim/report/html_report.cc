#include "sim/report/html_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/alloc/knob_values.h"
#include "sim/format/json_writer.h"
#include "sim/format/whole_file.h"
#include "sim/report/agreement_report.h"
#include "sim/report/explain_report.h"
#include "sim/report/headline.h"
#include "sim/report/page_events.h"
#include "sim/report/page_files.h"
#include "sim/report/page_text.h"

namespace tidemark {

namespace {

constexpr std::size_t kPoints = 2000;
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

void write_host(const HtmlReport& report, JsonWriter& json) {
  json.key("host").begin_array();
  for (const HostPoint& point : report.host) {
    json.begin_object(true).member("event", point.event).member("held", point.held);
    json.member("pinned", point.pinned).member("maker", point.maker).end_object();
  }
  json.end_array();
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
                    ? fmt::format("Played to its end, the program needs a device of {}. ",
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

/// A run as page.js reads it; returns the events.
std::string write_run(const HtmlReport& report, JsonWriter& json) {
  const MemoryPicture& picture = report.explanation->picture;
  const TextStyle plain;
  const std::string headline_text = headline(report);
  json.begin_object().member("title", report.title).member("headline", headline_text);
  json.member("failed", report.verdict ? !report.verdict->fits()
                                       : headline_text.starts_with("OUT OF MEMORY"));
  json.member("capacity", picture.capacity_bytes.value_or(0));
  json.member("event", std::uint64_t{picture.event});
  json.member("max_split", report.agreement->settings.knobs->max_split_bytes == kUnlimitedBytes
                               ? Bytes{0}
                               : report.agreement->settings.knobs->max_split_bytes);
  json.member("answer", explain_text(*report.explanation, 5, plain));
  std::string events = write_page_events(report, json);
  write_host(report, json);
  json.key("sites").begin_array();
  for (std::size_t i = 0; i < std::min(kSites, picture.sites.size()); ++i) {
    const CallSite& site = picture.sites[i];
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
  json.end_array().end_object();
  return events;
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

std::string html_report(std::span<const HtmlReport> runs) {
  std::string data;
  JsonWriter json(data);
  std::vector<std::string> events;
  json.begin_object().key("runs").begin_array();
  for (const HtmlReport& run : runs) events.push_back(base64(gzipped(write_run(run, json))));
  json.end_array().end_object().finish();
  std::string title = runs.front().title;
  if (runs.size() > 1) title += " and " + runs.back().title;
  std::string page = page_head(title);
  page += fmt::format("<noscript>{}</noscript>\n<main></main>\n<div id=\"tip\" hidden></div>\n",
                      html_text(headline(runs.front())));
  page += data_element(std::move(data));
  for (std::size_t i = 0; i < events.size(); ++i)
    page += fmt::format("<script type=\"text/plain\" id=\"events-{}\">{}</script>\n", i, events[i]);
  return page + "<script>\n" + std::string(kPageScript) + "</script>\n</body>\n</html>\n";
}

}  // namespace tidemark

#include <fmt/format.h>

#include <algorithm>

#include "sim/report/validation_report.h"
#include "sim/timeline/event_layout.h"

namespace tidemark {

namespace {

constexpr std::size_t kWidth = 880;
constexpr std::size_t kHeight = 160;

constexpr std::string_view kHead = R"(<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Tidemark: simulated against measured</title>
<style>
body { font: 15px/1.45 system-ui, sans-serif; max-width: 1000px; margin: 2em auto; color: #222; }
table { border-collapse: collapse; } td, th { padding: .25em .7em; text-align: right; }
th { border-bottom: 1px solid #888; font-weight: 600; } td:first-child, th:first-child { text-align: left; }
.bad { color: #b00020; font-weight: 600; } svg { background: #fafafa; border: 1px solid #ddd; }
.measured { fill: none; stroke: #c2410c; stroke-width: 3; opacity: .55; }
.simulated { fill: none; stroke: #1d4ed8; stroke-width: 1.2; }
.key { font-size: 13px; } .key b { font-weight: 600; } .free { stroke-dasharray: 3 3; }
</style>
)";

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

/// One curve as a line: the highest value of each stretch of events, in columns.
std::string line(const std::vector<EventAmounts>& amounts, Bytes EventAmounts::*field,
                 Bytes highest, std::size_t events, std::string_view classes) {
  if (amounts.empty() || highest == 0) return {};
  std::string points;
  const std::size_t columns = std::min(kWidth, events);
  for (std::size_t column = 0; column < columns; ++column) {
    const std::size_t first = column * events / columns;
    const std::size_t last = std::min((column + 1) * events / columns, amounts.size());
    Bytes value = 0;
    for (std::size_t i = first; i < last; ++i) value = std::max(value, amounts[i].*field);
    if (first >= amounts.size()) break;
    const auto y = kHeight - static_cast<std::size_t>(static_cast<Wide>(value) * kHeight / highest);
    points += fmt::format("{},{} ", column * kWidth / columns, y);
  }
  return fmt::format("<polyline class=\"{}\" points=\"{}\"/>\n", classes, points);
}

std::string picture(const ValidationCase& each) {
  const std::vector<EventAmounts> measured = event_amounts(each.measured.events);
  const std::vector<EventAmounts> simulated = event_amounts(each.simulated.events);
  Bytes highest = 0;
  for (const auto& side : {&measured, &simulated}) {
    for (const EventAmounts& amounts : *side) highest = std::max(highest, amounts.reserved);
  }
  const std::size_t events = std::max(measured.size(), simulated.size());
  std::string out = fmt::format("<svg viewBox=\"0 -4 {0} {1}\" width=\"{0}\" height=\"{1}\">\n",
                                kWidth, kHeight + 8);
  out += line(measured, &EventAmounts::reserved, highest, events, "measured");
  out += line(simulated, &EventAmounts::reserved, highest, events, "simulated");
  out += line(measured, &EventAmounts::largest_free, highest, events, "measured free");
  out += line(simulated, &EventAmounts::largest_free, highest, events, "simulated free");
  return out +
         fmt::format(
             "</svg>\n<p class=\"key\">reserved (solid) and largest free stretch (dashed) over {} "
             "events, to {}; <b style=\"color:#c2410c\">measured</b>, <b "
             "style=\"color:#1d4ed8\">simulated</b></p>\n",
             grouped(events), human_bytes(highest));
}

std::string row(const ValidationCase& each) {
  return fmt::format(
      "<tr><td>{}</td><td>{}</td><td{}>{}</td><td>{}</td><td>{}</td><td>{}</td><td{}>{}</td></"
      "tr>\n",
      escaped(each.name), grouped(each.events.a_events),
      each.events.equal() ? "" : " class=\"bad\"", grouped(each.events.differing),
      signed_percent(each.peak_allocated), signed_percent(each.peak_reserved),
      signed_percent(each.device_total), each.oom_right() ? "" : " class=\"bad\"",
      oom_verdict(each));
}

}  // namespace

std::string validation_html(const std::vector<ValidationCase>& cases, const std::string& against) {
  const ValidationSummary summary = summarise(cases);
  std::string out(kHead);
  out += fmt::format("<h1>Simulated against {}</h1>\n", escaped(against));
  out += fmt::format("<p>{} of {} cases exact; {} of {} events differ.</p>\n", summary.exact_cases,
                     summary.cases, grouped(summary.differing_events), grouped(summary.events));
  out +=
      "<table><tr><th>case</th><th>events</th><th>differing</th><th>peak allocated</th>"
      "<th>peak reserved</th><th>device total</th><th>out of memory</th></tr>\n";
  for (const ValidationCase& each : cases) out += row(each);
  out += "</table>\n";
  for (const ValidationCase& each : cases) {
    out += fmt::format("<h2>{}</h2>\n", escaped(each.name));
    const Provenance& origin = each.provenance;
    out += fmt::format("<p>{}{}; PyTorch {}; {}</p>\n", escaped(origin.device),
                       origin.pretend ? " (the pretend GPU)" : "", escaped(origin.torch),
                       escaped(origin.command));
    out += picture(each);
  }
  return out + "</html>\n";
}

}  // namespace tidemark

#include "sim/report/time_text.h"

#include <charconv>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "sim/base/bytes.h"
#include "sim/device/published_band.h"
#include "sim/report/duration.h"
#include "sim/report/text.h"
#include "sim/timeline/timeline.h"

namespace tidemark {
namespace {

/// Where no card was calibrated the published times say.
TimeBand known(const TimeBand& band) { return band.is_calibrated ? band : published_band(); }

Nanoseconds share_of(Nanoseconds ns, std::int64_t thousandths) {
  return static_cast<Nanoseconds>(static_cast<Wide>(ns) * static_cast<Wide>(thousandths) / 1000U);
}

void write_figure(JsonWriter& json, std::string_view name, Nanoseconds ns, const TimeBand& band) {
  json.key(name).begin_object(true).member("ns", std::int64_t{ns});
  json.member("low_ns", std::int64_t{share_of(ns, band.low)});
  json.member("high_ns", std::int64_t{share_of(ns, band.high)}).end_object();
}

}  // namespace

std::string banded_text(Nanoseconds ns, const TimeBand& of) {
  const TimeBand band = known(of);
  const std::string low = duration_text(share_of(ns, band.low));
  const std::string high = duration_text(share_of(ns, band.high));
  const std::size_t unit = low.rfind(' ');
  const bool is_same_unit = low.substr(unit) == high.substr(high.rfind(' '));
  return fmt::format("{} ({} to {})", duration_text(ns), is_same_unit ? low.substr(0, unit) : low,
                     high);
}

std::string band_basis(const TimeBand& band) {
  if (band.is_calibrated)
    return fmt::format("by the intervals of {} measurements of this card", band.count);
  return "8 of 10 published times lie so, docs/trust.md";
}

std::string band_text(const TimeBand& band) {
  const auto share = [](std::int64_t thousandths) {
    return fmt::format("{}.{:02}", thousandths / 1000, thousandths % 1000 / 10);
  };
  return fmt::format("the true time lies between {} and {} of what is told ({}).", share(band.low),
                     share(band.high), band_basis(band));
}

std::optional<Nanoseconds> step_ns(const RunResult& result) {
  if (!result.is_timed || result.devices.empty()) return std::nullopt;
  struct Begin {
    std::int64_t step = 0;
    Nanoseconds ns = 0;
  };
  std::vector<Begin> begins;
  for (const PhaseResult& phase : result.devices.front().phases) {
    const std::string_view name = split_phase_name(phase.name).step;
    const std::string_view text = name.substr(0, name.find('.'));
    Begin begin{0, phase.begin_ns};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), begin.step);
    if (error != std::errc() || end != text.data() + text.size()) continue;
    if (begins.empty() || begin.step > begins.back().step) begins.push_back(begin);
  }
  if (begins.size() < 2) return std::nullopt;
  const Begin& last = begins.back();
  if (begins.size() == 2) return result.end_ns - last.ns;
  // Steps between them that repeat others exactly were not simulated.
  const Begin& before = begins[begins.size() - 2];
  return (last.ns - before.ns) / (last.step - before.step);
}

std::string time_line(const RunResult& result, std::size_t width) {
  if (!result.is_timed) return {};
  const std::optional<Nanoseconds> step = step_ns(result);
  return wrapped(fmt::format("{} takes {}: {}", step ? "A step" : "It",
                             banded_text(step.value_or(result.end_ns), result.time_band),
                             band_basis(result.time_band)),
                 width, 0);
}

void write_time_band(JsonWriter& json, const TimeBand& of) {
  const TimeBand band = known(of);
  json.key("time_band").begin_object(true);
  json.member("low_thousandths", band.low).member("high_thousandths", band.high);
  json.member("basis", band.is_calibrated ? "calibrated" : "published");
  json.member("measurements", band.count).end_object();
}

void write_time(JsonWriter& json, const RunResult& result) {
  if (!result.is_timed) return;
  const TimeBand band = known(result.time_band);
  json.key("time").begin_object();
  write_figure(json, "end", result.end_ns, band);
  if (const std::optional<Nanoseconds> step = step_ns(result))
    write_figure(json, "step", *step, band);
  write_time_band(json, band);
  json.end_object();
}

}  // namespace tidemark

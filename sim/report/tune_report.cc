#include "sim/report/tune_report.h"

#include <algorithm>

#include <fmt/format.h>

#include "sim/format/json_writer.h"
#include "sim/report/duration.h"
#include "sim/report/run_report.h"
#include "sim/report/time_text.h"

namespace tidemark {

namespace {

using Align = Table::Align;

std::string setting_text(const TunedSetting& row) {
  return row.settings.text.empty() ? "(default)" : row.settings.text;
}

std::string times_text(std::int64_t count) {
  return count == 1 ? "1 request is" : fmt::format("{} requests are", count);
}

/// "+12.3 %": how far the worst order lies above the best.
std::string spread(const TunedSetting& row) {
  Bytes least = kUnlimitedBytes;
  for (const PlayFigures& figures : row.by_order) least = std::min(least, figures.peak_reserved);
  if (least == 0) return "-";
  const auto parts = static_cast<Wide>(row.worst_reserved() - least) * 1'000'000U / least;
  return "+" + percent(static_cast<std::uint64_t>(parts));
}

bool has_orders(const TuneResult& result) { return result.orders.size() > 1; }

/// What the best comes to beside the given.
std::string verdict(const TuneResult& result) {
  const TunedSetting& best = result.settings[result.best];
  const TunedSetting& given = result.settings[result.given];
  const std::string where =
      has_orders(result) ? fmt::format(" in the worst order ({})", result.orders[best.worst()])
                         : std::string();
  std::string text;
  if (result.is_refused) {
    text = fmt::format(
        "Under each of the {} settings tried a request is refused. On a device with room for all, "
        "{} needs least. ",
        result.tried, setting_text(best));
  }
  text += fmt::format("Peak reserved {}{}", human_bytes(best.worst_reserved()), where);
  if (result.best == result.given) {
    text += "; this is the setting given.";
  } else {
    text += fmt::format("; the setting given, {}, takes {}", setting_text(given),
                        human_bytes(given.worst_reserved()));
    if (has_orders(result)) text += fmt::format(" ({})", result.orders[given.worst()]);
    text += ".";
    if (given.ooms() > best.ooms())
      text += fmt::format(" Under it {} refused.", times_text(given.ooms()));
  }
  return text + fmt::format(" Live bytes alone need {}.", human_bytes(result.least));
}

std::string settings_table(const TuneResult& result, const TuneReportOptions& options,
                           const TextStyle& style) {
  std::vector<Align> columns{Align::kRight, Align::kRight};
  std::vector<std::string> names{"", result.orders.front()};
  if (has_orders(result)) {
    columns.insert(columns.end(), {Align::kRight, Align::kLeft, Align::kRight});
    names.insert(names.end(), {"worst", "in order", "spread"});
  }
  columns.insert(columns.end(),
                 {Align::kRight, Align::kRight, Align::kRight, Align::kRight, Align::kLeft});
  names.insert(names.end(), {"driver calls", "their time", "retries", "refused", "setting"});
  Table table(std::move(columns), 2);
  table.add(std::move(names));
  const std::size_t shown =
      options.limit == 0 ? result.settings.size() : std::min(options.limit, result.settings.size());
  for (std::size_t i = 0; i < result.settings.size(); ++i) {
    if (i >= shown && i != result.best && i != result.given) continue;
    const TunedSetting& setting = result.settings[i];
    const PlayFigures& first = setting.by_order.front();
    std::vector<std::string> row{i == result.best    ? result.is_refused ? "least" : "best"
                                 : i == result.given ? "given"
                                                     : "",
                                 human_bytes(first.peak_reserved)};
    if (has_orders(result)) {
      row.insert(row.end(), {human_bytes(setting.worst_reserved()), result.orders[setting.worst()],
                             spread(setting)});
    }
    row.insert(row.end(), {grouped(first.device_calls), duration_text(first.device_call_ns),
                           std::to_string(first.retries), std::to_string(setting.ooms()),
                           setting_text(setting)});
    table.add(std::move(row));
  }
  return table.text(style.width);
}

}  // namespace

std::string tune_text(const TuneResult& result, const TuneReportOptions& options,
                      const TextStyle& style) {
  const Version version = result.settings.front().settings.version;
  std::string out = fmt::format("{}\n{}; PyTorch {}.{}\n", bold(options.title, style),
                                options.device, version.major, version.minor);
  if (result.is_refused) {
    out += fmt::format("\n{}\n", bad("No setting makes it fit.", style));
  } else {
    const std::string line = environment_line(result.settings[result.best].settings);
    out += fmt::format("\n{} {}", bold("Best:", style), line);
  }
  out += wrapped(verdict(result), style.width, 2);
  const std::string in_orders =
      has_orders(result)
          ? fmt::format(", the most promising in all {} orders", result.orders.size())
          : std::string();
  out += fmt::format(
      "\n{} settings tried{}; {}\n", result.tried, in_orders,
      result.is_refused ? "with room for all, those that need least" : "the best of them");
  out += settings_table(result, options, style);
  out += wrapped(kDriverTimes, style.width, 0);
  if (has_orders(result)) {
    out += "\nOrder by order\n";
    Table table({Align::kLeft, Align::kRight, Align::kRight}, 2);
    table.add({"", result.is_refused ? "least" : "best", "given"});
    for (std::size_t i = 0; i < result.orders.size(); ++i) {
      table.add({result.orders[i],
                 human_bytes(result.settings[result.best].by_order[i].peak_reserved),
                 human_bytes(result.settings[result.given].by_order[i].peak_reserved)});
    }
    out += table.text(style.width);
  } else {
    out += fmt::format("Other orders were not tried: {}.\n", options.no_orders);
  }
  for (const std::string& note : options.notes) out += "Note: " + note + ".\n";
  return out;
}

std::string tune_json(const TuneResult& result, const TuneReportOptions& options) {
  std::string text;
  JsonWriter json(text);
  const Version version = result.settings.front().settings.version;
  json.begin_object().member("schema_version", kReportSchemaVersion).member("kind", "tuning");
  json.member("title", options.title);
  json.member("device", options.device);
  json.member("pytorch", fmt::format("{}.{}", version.major, version.minor));
  json.key("orders").begin_array();
  for (const std::string& order : result.orders) json.value(order);
  json.end_array();
  json.member("no_orders", options.no_orders);
  json.member("tried", std::uint64_t{result.tried});
  json.member("least_bytes", result.least);
  json.member("fits", !result.is_refused);
  json.member("best", std::uint64_t{result.best});
  json.member("given", std::uint64_t{result.given});
  json.key("settings").begin_array();
  for (const TunedSetting& row : result.settings) {
    json.begin_object();
    json.member("alloc_conf", row.settings.text);
    json.member("keys", std::uint64_t{row.keys});
    json.member("ooms", row.ooms());
    json.member("worst", std::uint64_t{row.worst()});
    json.member("worst_reserved_bytes", row.worst_reserved());
    json.key("by_order").begin_array();
    for (const PlayFigures& figures : row.by_order) {
      json.begin_object(true).member("peak_reserved_bytes", figures.peak_reserved);
      json.member("ooms", figures.ooms).member("retries", figures.retries);
      json.member("device_calls", figures.device_calls);
      json.member("device_call_ns", std::int64_t{figures.device_call_ns}).end_object();
    }
    json.end_array().end_object();
  }
  json.end_array();
  json.key("notes").begin_array();
  for (const std::string& note : options.notes) json.value(note);
  json.end_array().end_object().finish();
  return text;
}

}  // namespace tidemark

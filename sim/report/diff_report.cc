#include "sim/report/diff_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "sim/format/json_writer.h"
#include "sim/report/run_report.h"

namespace tidemark {

namespace {

using Align = Table::Align;

/// The totals by name, in the order of every format.
struct NamedTotal {
  std::string name;
  std::uint64_t a;
  std::uint64_t b;
  bool is_bytes;
};

std::vector<NamedTotal> named_totals(const EventDiff& diff) {
  std::vector<NamedTotal> totals{{"events", diff.a_events, diff.b_events, false}};
  for (std::size_t i = 0; i < kActionNames.size(); ++i) {
    if (diff.a.count[i] == 0 && diff.b.count[i] == 0) continue;
    totals.push_back({std::string(kActionNames[i]), diff.a.count[i], diff.b.count[i], false});
  }
  totals.push_back(
      {"peak_reserved_bytes", diff.a.peak_reserved_bytes, diff.b.peak_reserved_bytes, true});
  totals.push_back(
      {"peak_requested_bytes", diff.a.peak_requested_bytes, diff.b.peak_requested_bytes, true});
  totals.push_back(
      {"end_reserved_bytes", diff.a.end_reserved_bytes, diff.b.end_reserved_bytes, true});
  totals.push_back(
      {"end_requested_bytes", diff.a.end_requested_bytes, diff.b.end_requested_bytes, true});
  return totals;
}

/// "peak_reserved_bytes" -> "peak reserved"; an action's name stays as PyTorch writes it.
std::string title(const NamedTotal& total) {
  std::string text = total.name;
  if (total.is_bytes) {
    text.resize(text.size() - std::string_view("_bytes").size());
    std::replace(text.begin(), text.end(), '_', ' ');
  }
  return text;
}

std::string amount(const NamedTotal& total, std::uint64_t value) {
  return total.is_bytes ? human_bytes(value) : grouped(value);
}

std::string change(const NamedTotal& total) {
  if (total.a == total.b) return "=";
  const bool more = total.b > total.a;
  const std::uint64_t by = more ? total.b - total.a : total.a - total.b;
  return (more ? "+" : "-") + (total.is_bytes ? exact_bytes(by) : grouped(by));
}

std::vector<std::string> event_cells(std::string_view mark, std::size_t shown_at, std::size_t at,
                                     const EventTable& table) {
  const Event& event = table.events[at];
  const std::string where =
      table.ops.empty() ? std::string() : std::string(table.labels.text(table.ops[at]));
  const std::string phase =
      table.phases.empty() ? std::string() : std::string(table.labels.text(table.phases[at]));
  return {std::string(mark),
          std::to_string(shown_at),
          std::string(action_name(event.action)),
          std::to_string(event.bytes),
          std::to_string(event.address),
          std::to_string(event.stream),
          event.id == kNoRequest ? "-" : std::to_string(event.id),
          phase,
          where};
}

std::string differing_columns(const EventDifference& difference) {
  std::string names;
  const auto add = [&](bool differs, std::string_view name) {
    if (!differs) return;
    if (!names.empty()) names += ", ";
    names += name;
  };
  add(difference.action, "action");
  add(difference.bytes, "bytes");
  add(difference.address, "address");
  add(difference.stream, "stream");
  add(difference.id, "id");
  add(difference.device, "device");
  return names;
}

std::size_t ordered(const std::vector<std::size_t>& order, std::size_t i) {
  return order.empty() ? i : order[i];
}

std::string first_difference(const EventDiff& diff, const DiffSide& a, const DiffSide& b,
                             const DiffOptions& options, std::size_t context,
                             const TextStyle& style) {
  const std::size_t first = *diff.first;
  std::string what;
  if (first < diff.a_events && first < diff.b_events) {
    what = "differs in " + differing_columns(compare_events(
                               a.table->events[ordered(diff.a_order, first)],
                               b.table->events[ordered(diff.b_order, first)], options));
  } else {
    what = fmt::format("{} ends here", first >= diff.a_events ? "a" : "b");
  }
  std::string out = bold(fmt::format("First difference: event {}, {}", first, what), style) + "\n";
  Table table({Align::kLeft, Align::kRight, Align::kLeft, Align::kRight, Align::kRight,
               Align::kRight, Align::kRight, Align::kLeft, Align::kLeft},
              1);
  table.add({"", "event", "action", "bytes", "address", "stream", "id", "phase", "op"});
  for (std::size_t i = first - std::min(first, context); i < first; ++i) {
    table.add(event_cells("", i, ordered(diff.a_order, i), *a.table));
  }
  const auto side = [&](std::string_view mark, const EventTable& events,
                        const std::vector<std::size_t>& order) {
    const std::size_t end =
        std::min(events.events.size(), first + std::max<std::size_t>(context, 1));
    for (std::size_t i = first; i < end; ++i)
      table.add(event_cells(mark, i, ordered(order, i), events));
  };
  side("a", *a.table, diff.a_order);
  side("b", *b.table, diff.b_order);
  return out + table.text(style.width);
}

}  // namespace

std::string diff_text(const EventDiff& diff, const DiffSide& a, const DiffSide& b,
                      const DiffOptions& options, std::size_t context, const TextStyle& style) {
  if (diff.equal()) {
    return fmt::format("{} {} events, peak reserved {}\n", good("Equal:", style),
                       grouped(diff.a_events), exact_bytes(diff.a.peak_reserved_bytes));
  }
  std::string out = fmt::format("a  {}\nb  {}\n\n", a.name, b.name);
  out += first_difference(diff, a, b, options, context, style);
  out += fmt::format("\n{} of {} events differ, position by position", grouped(diff.differing),
                     grouped(std::max(diff.a_events, diff.b_events)));
  if (diff.equal_tail > 0) {
    out += fmt::format("; with both ends laid together the last {} are equal",
                       grouped(diff.equal_tail));
  }
  out += ".\n\n";
  Table table({Align::kLeft, Align::kRight, Align::kRight, Align::kRight}, 0);
  table.add({"Totals", "a", "b", "b - a"});
  for (const NamedTotal& total : named_totals(diff)) {
    table.add({"  " + title(total), amount(total, total.a), amount(total, total.b), change(total)});
  }
  return out + table.text(style.width);
}

std::string diff_json(const EventDiff& diff, const DiffSide& a, const DiffSide& b,
                      const DiffOptions& options) {
  std::string out;
  JsonWriter json(out);
  json.begin_object();
  json.member("schema_version", kReportSchemaVersion).member("kind", "diff");
  json.member("a", a.name).member("b", b.name).member("equal", diff.equal());
  json.member("unordered_frees", options.unordered_frees);
  json.member("differing_events", std::uint64_t{diff.differing});
  json.member("equal_tail_events", std::uint64_t{diff.equal_tail});
  json.key("first_difference");
  if (diff.first) {
    json.begin_object().member("index", std::uint64_t{*diff.first});
    const auto side = [&](std::string_view name, const EventTable& table,
                          const std::vector<std::size_t>& order) {
      json.key(name);
      if (*diff.first >= table.events.size()) {
        json.null();
        return;
      }
      const std::size_t at = ordered(order, *diff.first);
      const Event& event = table.events[at];
      json.begin_object(true).member("action", action_name(event.action));
      json.member("bytes", event.bytes).member("address", event.address);
      json.member("stream", std::uint64_t{event.stream}).key("id");
      if (event.id == kNoRequest) {
        json.null();
      } else {
        json.value(event.id);
      }
      if (!table.phases.empty()) json.member("phase", table.labels.text(table.phases[at]));
      if (!table.ops.empty()) json.member("op", table.labels.text(table.ops[at]));
      json.end_object();
    };
    side("a", *a.table, diff.a_order);
    side("b", *b.table, diff.b_order);
    json.end_object();
  } else {
    json.null();
  }
  json.key("totals").begin_object();
  for (const NamedTotal& total : named_totals(diff)) {
    json.key(total.name).begin_object(true).member("a", total.a).member("b", total.b).end_object();
  }
  json.end_object().end_object().finish();
  return out;
}

std::string diff_csv(const EventDiff& diff) {
  std::string out = "total,a,b\n";
  for (const NamedTotal& total : named_totals(diff))
    out += fmt::format("{},{},{}\n", total.name, total.a, total.b);
  out += fmt::format("differing_events,{},{}\n", diff.differing, diff.differing);
  return out;
}

}  // namespace tidemark

#include "sim/report/assumptions_report.h"

#include <algorithm>

#include <fmt/format.h>

#include "sim/report/job_report.h"

namespace tidemark {

namespace {

std::string line_of(const AssumptionResult& each) {
  return fmt::format("{}:{}:{}: {}: {}, {} time{}", each.file, each.line, each.column, each.text,
                     each.direction ? "true" : "false", grouped(each.times),
                     each.times == 1 ? "" : "s");
}

std::string times_text(std::uint64_t times) {
  return times == 1 ? std::string() : fmt::format(", {} times", grouped(times));
}

std::string line_of(const NoteResult& each) {
  if (each.line == 0) return each.text + times_text(each.times);
  return fmt::format("{}:{}:{}: {}{}", each.file, each.line, each.column, each.text,
                     times_text(each.times));
}

/// At most twenty of the lines below their heading.
std::string listed(std::string_view heading, const std::vector<std::string>& lines) {
  constexpr std::size_t kMost = 20;
  if (lines.empty()) return {};
  std::string out = fmt::format("{}\n", heading);
  for (std::size_t i = 0; i < std::min(lines.size(), kMost); ++i)
    out += fmt::format("  {}\n", lines[i]);
  if (lines.size() > kMost) out += fmt::format("  and {} more\n", lines.size() - kMost);
  return out;
}

/// "does not fit", of what a rank or an alternative came to.
template <class One>
std::string ending_of(const One& one) {
  if (one.ended_by_oom) return "does not fit";
  return one.refused > 0 ? "out of memory, handled" : "fits";
}

std::string verdict_of(const AlternativeResult& one) {
  if (!one.error.empty()) return one.error;
  return ending_of(one);
}

std::string joined(const std::vector<std::string>& texts) {
  std::string out;
  for (const std::string& text : texts) out += (out.empty() ? "" : ", ") + text;
  return out;
}

/// "1.00 GiB", or "1.00 GiB to 3.00 GiB", of the alternatives that could be run.
std::string interval(const std::vector<AlternativeResult>& all, Bytes AlternativeResult::*field) {
  Bytes least = ~Bytes{0};
  Bytes most = 0;
  for (const AlternativeResult& one : all) {
    if (!one.error.empty()) continue;
    least = std::min(least, one.*field);
    most = std::max(most, one.*field);
  }
  if (least >= most) return human_bytes(most);
  return fmt::format("{} to {}", human_bytes(least), human_bytes(most));
}

std::string ranks_text(const RunBasis& basis, const TextStyle& style) {
  using Align = Table::Align;
  std::size_t count = 0;
  for (const RankResult& one : basis.ranks) count += one.ranks.size();
  const auto world = static_cast<std::size_t>(basis.rank->world);
  Table table({Align::kLeft, Align::kRight, Align::kRight, Align::kLeft});
  table.add({fmt::format("Ranks, {} of {}", count, world), "allocated", "reserved", ""});
  for (const RankResult& one : basis.ranks) {
    table.add({"  " + rank_numbers(one.ranks), human_bytes(one.peak_allocated),
               human_bytes(one.peak_reserved), ending_of(one)});
  }
  std::string said =
      fmt::format("  Those of a line do the same. The rest is about rank {}", basis.rank->index);
  if (basis.ranks.size() > 1) said += ", the worst";
  if (count < world) said += "; --rank all runs the others too";
  return table.text(style.width) + wrapped(said, style.width, 2);
}

/// Whether they are the two ends of what PyTorch leaves to chance, of which the earliest is shown
/// unless the latest alone does not fit.
bool are_ends_of_chance(const std::vector<AlternativeResult>& all) {
  return all.size() == 2 && all.front().assume == std::vector<std::string>{"chance=early"} &&
         all.back().assume == std::vector<std::string>{"chance=late"};
}

std::string alternatives_text(const std::vector<AlternativeResult>& all, const TextStyle& style) {
  using Align = Table::Align;
  Table table({Align::kLeft, Align::kRight, Align::kRight, Align::kLeft, Align::kLeft});
  const bool ends_of_chance = are_ends_of_chance(all);
  const char* const shown = ends_of_chance ? "shown" : "worst";
  table.add({ends_of_chance ? "Left to chance" : "Alternatives", "allocated", "reserved", "", ""});
  for (const AlternativeResult& one : all) {
    const bool has_run = one.error.empty();
    table.add({"  " + joined(one.assume), has_run ? human_bytes(one.peak_allocated) : "-",
               has_run ? human_bytes(one.peak_reserved) : "-", one.is_shown ? shown : "",
               verdict_of(one)});
  }
  return table.text(style.width) +
         wrapped(fmt::format("  Between them: allocated {}, reserved {}; the rest is about the {}",
                             interval(all, &AlternativeResult::peak_allocated),
                             interval(all, &AlternativeResult::peak_reserved),
                             ends_of_chance ? "one shown" : "worst"),
                 style.width, 2);
}

/// Empty where all operators are.
std::string unproven_line(const RunBasis& basis) {
  if (basis.unproven_operators.empty()) return {};
  return fmt::format("Not yet known to be exact under PyTorch {}: {}", to_string(basis.pytorch),
                     joined(basis.unproven_operators));
}

void write_ranks(const RunBasis& basis, JsonWriter& json) {
  if (basis.rank) {
    json.member("rank", static_cast<std::uint64_t>(basis.rank->index));
    json.member("world", static_cast<std::uint64_t>(basis.rank->world));
  }
  if (basis.ranks.empty()) return;
  json.key("ranks").begin_array();
  for (const RankResult& one : basis.ranks) {
    json.begin_object().key("ranks").begin_array(true);
    for (const int rank : one.ranks) json.value(static_cast<std::uint64_t>(rank));
    json.end_array().member("peak_allocated_bytes", one.peak_allocated);
    json.member("peak_reserved_bytes", one.peak_reserved).member("refused", one.refused);
    json.member("ended_by_oom", one.ended_by_oom).end_object();
  }
  json.end_array();
}

}  // namespace

std::vector<std::string> assumption_lines(const RunBasis& basis) {
  std::vector<std::string> lines;
  if (std::string line = unproven_line(basis); !line.empty()) lines.push_back(std::move(line));
  for (const AssumptionResult& each : basis.assumptions) {
    if (!each.is_given) lines.push_back("Assumed, since values are not known: " + line_of(each));
  }
  for (const NoteResult& each : basis.notes) lines.push_back("Rests on: " + line_of(each));
  for (const AlternativeResult& one : basis.alternatives) {
    lines.push_back(fmt::format("{}: reserved {}, {}{}", joined(one.assume),
                                human_bytes(one.peak_reserved), verdict_of(one),
                                !one.is_shown ? ""
                                : are_ends_of_chance(basis.alternatives)
                                    ? "; shown here"
                                    : "; shown here, the worst"));
  }
  for (const RankResult& one : basis.ranks) {
    lines.push_back(fmt::format("Ranks {} of {}: reserved {}, {}{}", rank_numbers(one.ranks),
                                basis.rank->world, human_bytes(one.peak_reserved), ending_of(one),
                                &one == &basis.ranks.front() ? "; shown here, the worst" : ""));
  }
  return lines;
}

std::string assumptions_text(const RunBasis& basis, const TextStyle& style) {
  std::vector<std::string> conditions;
  for (const AssumptionResult& each : basis.assumptions)
    if (!each.is_given) conditions.push_back(line_of(each));
  std::vector<std::string> notes;
  for (const NoteResult& each : basis.notes) notes.push_back(line_of(each));
  std::string out = unproven_line(basis);
  if (!out.empty()) out = wrapped(out, style.width, 2);
  if (!notes.empty()) out += (out.empty() ? "" : "\n") + listed("Rests on", notes);
  if (!conditions.empty()) {
    out += (out.empty() ? "" : "\n") + listed("Assumed, since values are not known", conditions);
    out += "  Each may be set: --assume FILE:LINE=true, false or both\n";
  }
  if (!basis.alternatives.empty())
    out += (out.empty() ? "" : "\n") + alternatives_text(basis.alternatives, style);
  if (basis.ranks.empty()) return out;
  std::string ranks = ranks_text(basis, style);
  if (const std::string times = job_text(basis, style); !times.empty()) ranks += "\n" + times;
  return ranks + (out.empty() ? "" : "\n") + out;
}

void write_assumptions(const RunBasis& basis, JsonWriter& json) {
  if (!basis.unproven_operators.empty()) {
    json.key("unproven_operators").begin_array(true);
    for (const std::string& name : basis.unproven_operators) json.value(name);
    json.end_array();
  }
  if (!basis.assumptions.empty()) {
    json.key("assumptions").begin_array();
    for (const AssumptionResult& each : basis.assumptions) {
      json.begin_object().member("file", each.file).member("line", std::uint64_t{each.line});
      json.member("column", std::uint64_t{each.column}).member("text", each.text);
      json.member("direction", each.direction);
      json.member("kind", each.is_given ? "given" : each.is_check ? "check" : "branch");
      json.member("times", each.times).end_object();
    }
    json.end_array();
  }
  if (!basis.notes.empty()) {
    json.key("notes").begin_array();
    for (const NoteResult& each : basis.notes) {
      json.begin_object();
      if (each.line > 0) {
        json.member("file", each.file).member("line", std::uint64_t{each.line});
        json.member("column", std::uint64_t{each.column});
      }
      json.member("text", each.text).member("times", each.times).end_object();
    }
    json.end_array();
  }
  write_ranks(basis, json);
  write_job(basis, json);
  if (basis.alternatives.empty()) return;
  json.key("alternatives").begin_array();
  for (const AlternativeResult& one : basis.alternatives) {
    json.begin_object().key("assume").begin_array(true);
    for (const std::string& text : one.assume) json.value(text);
    json.end_array();
    if (!one.error.empty()) json.member("error", one.error);
    json.member("peak_allocated_bytes", one.peak_allocated);
    json.member("peak_reserved_bytes", one.peak_reserved).member("refused", one.refused);
    json.member("ended_by_oom", one.ended_by_oom).member("is_shown", one.is_shown).end_object();
  }
  json.end_array();
}

}  // namespace tidemark

#include "sim/report/job_report.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "sim/report/duration.h"

namespace tidemark {

namespace {

constexpr std::size_t kMostLines = 32;

/// "24.3 %", in whole tenths, so that every build prints the same.
std::string share(Nanoseconds part, Nanoseconds whole) {
  const auto tenths =
      whole > 0 ? static_cast<std::uint64_t>(part) * 1000 / static_cast<std::uint64_t>(whole) : 0;
  return fmt::format("{}.{} %", tenths / 10, tenths % 10);
}

Nanoseconds length(const RankTimes& one) { return one.end_ns - one.begin_ns; }

std::string stuck_text(const JobTimes& times, const TextStyle& style) {
  std::string out = "Ranks that seem to wait for each other for ever\n";
  for (const std::string& line : times.stuck) out += wrapped("  " + line, style.width, 4);
  return out + wrapped(
                   "  A send is taken to last until it is received. NCCL's buffers may let a short "
                   "one end before",
                   style.width, 2);
}

}  // namespace

std::string rank_numbers(const std::vector<int>& ranks, std::string_view between) {
  std::string out;
  for (std::size_t i = 0; i < ranks.size();) {
    std::size_t end = i + 1;
    while (end < ranks.size() && ranks[end] == ranks[end - 1] + 1) ++end;
    out += fmt::format("{}{}", out.empty() ? "" : between, ranks[i]);
    if (end - i > 1) out += fmt::format("-{}", ranks[end - 1]);
    i = end;
  }
  return out;
}

std::string job_text(const RunBasis& basis, const TextStyle& style) {
  if (!basis.times) return {};
  const JobTimes& times = *basis.times;
  if (!times.stuck.empty()) return stuck_text(times, style);
  if (!times.has_pipeline || times.ranks.empty()) return {};
  Table table({Table::Align::kLeft, Table::Align::kRight, Table::Align::kRight,
               Table::Align::kRight, Table::Align::kRight, Table::Align::kRight,
               Table::Align::kRight});
  table.add({times.window.empty() ? "Time, of the whole run" : "Time, of " + times.window, "in all",
             "computes", "moves", "bubble", "lags", "idle"});
  const RankTimes* longest = nullptr;
  for (std::size_t i = 0; i < times.ranks.size(); ++i) {
    const RankTimes& one = times.ranks[i];
    if (one.longest_ns > 0 && (longest == nullptr || one.longest_ns > longest->longest_ns))
      longest = &one;
    if (i >= kMostLines) continue;
    const auto of = [&](RankState state) { return share(times.of(i, state), length(one)); };
    table.add({"  " + rank_numbers(one.ranks), duration_text(length(one)),
               of(RankState::kComputing), of(RankState::kMoving), of(RankState::kBubble),
               of(RankState::kLagging), of(RankState::kIdle)});
  }
  std::string out = table.text(style.width);
  if (times.ranks.size() > kMostLines)
    out += fmt::format("  and {} more; --rank-timeline has all\n", times.ranks.size() - kMostLines);
  if (longest != nullptr) {
    out += wrapped(
        fmt::format("  The longest bubble: {}, rank {}: {}", duration_text(longest->longest_ns),
                    longest->ranks.front(), longest->longest),
        style.width, 2);
  }
  out += wrapped(
      "  An estimate, of which no memory depends. Kernels by the device's figures; "
      "transfers " +
          fmt::format("{}", fmt::join(times.links, "; ")),
      style.width, 2);
  return out;
}

void write_job(const RunBasis& basis, JsonWriter& json) {
  if (!basis.times) return;
  const JobTimes& times = *basis.times;
  json.key("times").begin_object();
  if (!times.missing.empty()) json.member("missing", times.missing);
  if (!times.ranks.empty()) {
    json.member("window", times.window).member("has_pipeline", times.has_pipeline);
    json.key("ranks").begin_array();
    for (std::size_t i = 0; i < times.ranks.size(); ++i) {
      const RankTimes& one = times.ranks[i];
      json.begin_object().key("ranks").begin_array(true);
      for (const int rank : one.ranks) json.value(static_cast<std::uint64_t>(rank));
      json.end_array();
      json.member("begin_ns", one.begin_ns).member("end_ns", one.end_ns);
      for (std::size_t state = 0; state < kRankStateNames.size(); ++state)
        json.member(fmt::format("{}_ns", kRankStateNames[state]), one.by_state[state]);
      if (one.longest_ns > 0) {
        json.key("longest_bubble").begin_object(true).member("ns", one.longest_ns);
        json.member("transfer", one.longest).end_object();
      }
      json.end_object();
    }
    json.end_array();
  }
  const auto texts = [&](std::string_view name, const std::vector<std::string>& lines) {
    if (lines.empty()) return;
    json.key(name).begin_array();
    for (const std::string& line : lines) json.value(line);
    json.end_array();
  };
  texts("stuck", times.stuck);
  texts("links", times.links);
  json.end_object();
}

std::string job_csv(const JobTimes& times) {
  std::string out = "ranks,begin_ns,end_ns,state,phase,allocated_bytes\n";
  for (const RankTimes& one : times.ranks) {
    const std::string ranks = rank_numbers(one.ranks, " ");
    for (const RankSpan& span : one.spans) {
      fmt::format_to(std::back_inserter(out), "{},{},{},{},{},{}\n", ranks, span.begin_ns,
                     span.end_ns, kRankStateNames[static_cast<std::size_t>(span.state)],
                     one.phases[span.phase], span.allocated);
    }
  }
  return out;
}

}  // namespace tidemark

#include "sim/run/alternatives.h"

#include <algorithm>
#include <exception>
#include <optional>
#include <string_view>
#include <tuple>

#include <fmt/format.h>

#include "sim/base/problem.h"
#include "sim/lang/runtime/unknown.h"
#include "sim/run/verdict.h"

namespace tidemark {

namespace {

/// The ends of chance that a text names.
std::vector<std::string> ends_of_chance(const std::string& text) {
  if (text == kChanceEarly || text == kChanceLate) return {text};
  if (text == "chance=both") return {std::string(kChanceEarly), std::string(kChanceLate)};
  throw InputError(Problem{{},
                           {},
                           fmt::format("assume: '{}': neither early, late nor both", text),
                           fmt::format("write {}, {} or chance=both", kChanceEarly, kChanceLate)});
}

constexpr std::string_view kOfRouting = "routing=";
constexpr std::string_view kFalling = ",falling";
constexpr std::string_view kRising = ",rising";

/// The same of a routing.
std::vector<std::string> ends_of_routing(const std::string& text) {
  const std::string how = text.substr(kOfRouting.size());
  if (how.ends_with(kFalling) || how.ends_with(kRising)) {
    parse_routing(how.substr(0, how.rfind(',')));
    return {text};
  }
  parse_routing(how);
  return {text + std::string(kFalling), text + std::string(kRising)};
}

/// The texts that one stands for.
std::vector<std::string> expanded(const std::string& text) {
  if (text == lang::kAssumeZeros) return {text};
  if (is_of_chance(text)) return ends_of_chance(text);
  if (is_of_routing(text)) return ends_of_routing(text);
  const std::size_t equals = text.rfind('=');
  if (equals != std::string::npos) {
    const std::string place = text.substr(0, equals + 1);
    const std::string value = text.substr(equals + 1);
    if (value == "both") return {place + "true", place + "false"};
    if (const std::size_t dots = value.find(".."); dots != std::string::npos) {
      std::vector<std::string> ends{place + value.substr(0, dots), place + value.substr(dots + 2)};
      const double low = lang::parse_given_value(ends[0]).number;
      const double high = lang::parse_given_value(ends[1]).number;
      if (low <= high) return ends;
      throw InputError(
          Problem{{}, {}, fmt::format("assume: '{}': LOW is above HIGH", text), "write LOW..HIGH"});
    }
  }
  lang::parse_given_value(text);
  return {text};
}

auto badness(const AlternativeResult& one) {
  return std::tuple(one.error.empty(), one.ended_by_oom, one.refused, one.peak_reserved,
                    one.peak_allocated);
}

}  // namespace

bool is_of_chance(std::string_view text) { return text.starts_with("chance="); }
bool is_of_routing(std::string_view text) { return text.starts_with(kOfRouting); }

std::optional<Routing> routing_of(const std::vector<std::string>& way) {
  for (const std::string& text : way) {
    if (!is_of_routing(text)) continue;
    const std::size_t end = text.rfind(',');
    Routing routing = parse_routing(text.substr(kOfRouting.size(), end - kOfRouting.size()));
    routing.is_rising = text.ends_with(kRising);
    return routing;
  }
  return std::nullopt;
}

AlternativeResult told_of(const std::vector<std::string>& assume, const RunResult& result) {
  AlternativeResult out;
  out.assume = assume;
  const Verdict verdict = verdict_of(result);
  out.ended_by_oom = verdict.ending == Ending::kOutOfMemory;
  out.refused = verdict.refused;
  out.peak_allocated = verdict.peak_allocated;
  out.peak_reserved = verdict.peak_reserved;
  return out;
}

std::vector<std::vector<std::string>> ways_of(const std::vector<std::string>& assume) {
  std::vector<std::vector<std::string>> ways(1);
  for (const std::string& text : assume) {
    const std::vector<std::string> texts = expanded(text);
    std::vector<std::vector<std::string>> more;
    for (const std::vector<std::string>& way : ways) {
      for (const std::string& one : texts) {
        more.push_back(way);
        more.back().push_back(one);
      }
    }
    ways = std::move(more);
    if (ways.size() > kMostAlternatives) {
      throw InputError(Problem{{},
                               {},
                               fmt::format("assume: more than {} alternatives", kMostAlternatives),
                               "give some of them one value"});
    }
  }
  return ways;
}

std::size_t worst_of(const std::vector<std::vector<std::string>>& ways,
                     const std::function<RunResult(const std::vector<std::string>&)>& run,
                     std::vector<AlternativeResult>& told) {
  std::exception_ptr first_error;
  for (const std::vector<std::string>& way : ways) {
    try {
      told.push_back(told_of(way, run(way)));
    } catch (const InputError& error) {
      if (!first_error) first_error = std::current_exception();
      told.push_back({});
      told.back().assume = way;
      told.back().error = error.problems().front().message;
    }
  }
  const auto worst = std::max_element(told.begin(), told.end(), [](const auto& a, const auto& b) {
    return badness(a) < badness(b);
  });
  if (!worst->error.empty()) std::rethrow_exception(first_error);
  worst->is_shown = true;
  return static_cast<std::size_t>(worst - told.begin());
}

}  // namespace tidemark

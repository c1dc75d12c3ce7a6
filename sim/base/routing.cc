#include "sim/base/routing.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "sim/base/check.h"
#include "sim/base/problem.h"

namespace tidemark {
namespace {

constexpr std::string_view kUniform = "uniform";
constexpr std::string_view kZipf = "zipf:";
constexpr std::string_view kShares = "shares:";
constexpr double kLargestExponent = 10;

/// Whether a number fills a whole text.
bool read_number(std::string_view text, double& number) {
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  return !text.empty() && read.ec == std::errc() && read.ptr == text.data() + text.size() &&
         std::isfinite(number);
}

/// Below which a normal number lies with that probability. Source: Abramowitz and Stegun, 26.2.23.
double normal_quantile(double probability) {
  const double tail = std::min(probability, 1 - probability);
  const double t = std::sqrt(-2 * std::log(tail));
  const double above = t - (2.515517 + t * (0.802853 + t * 0.010328)) /
                               (1 + t * (1.432788 + t * (0.189269 + t * 0.001308)));
  return probability < 0.5 ? -above : above;
}

/// What part of all choices each expert gets.
std::vector<double> shares_of(const Routing& routing, std::size_t experts) {
  std::vector<double> shares = routing.shares;
  if (shares.empty()) {
    for (std::size_t i = 0; i < experts; ++i)
      shares.push_back(std::pow(static_cast<double>(i + 1), -routing.exponent));
    if (routing.is_rising) std::ranges::reverse(shares);
  }
  const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
  for (double& each : shares) each /= sum;
  return shares;
}

/// Brings the sum of the amounts to `sum`, each between 0 and `most`.
void fill_up(std::vector<double>& amounts, double sum, double most) {
  constexpr int kRounds = 64;  // each fills an expert at least, or ends
  for (int round = 0; round < kRounds; ++round) {
    for (double& each : amounts) each = std::clamp(each, 0.0, most);
    const double rest = sum - std::accumulate(amounts.begin(), amounts.end(), 0.0);
    if (std::abs(rest) < 1e-9 * (sum + 1)) return;
    // By their shares; where none of those that have room has one, by their room.
    const auto has_room = [&](double each) { return rest < 0 || each < most; };
    double weights = 0;
    for (const double each : amounts) weights += has_room(each) ? each : 0;
    const bool is_by_room = weights <= 0;
    for (const double each : amounts) weights += is_by_room ? most - each : 0;
    if (weights <= 0) return;
    for (double& each : amounts) {
      if (has_room(each)) each += rest * (is_by_room ? most - each : each) / weights;
    }
  }
}

}  // namespace

bool names_distribution(const std::string& text) {
  return text == kUniform || text.starts_with(kZipf) || text.starts_with(kShares);
}

Routing parse_routing(const std::string& text) {
  Routing routing;
  routing.text = text;
  const std::string_view said = text;
  if (said == kUniform) return routing;
  if (said.starts_with(kZipf) && read_number(said.substr(kZipf.size()), routing.exponent) &&
      routing.exponent >= 0 && routing.exponent <= kLargestExponent)
    return routing;
  bool is_right = said.starts_with(kShares);
  for (std::size_t at = kShares.size(); is_right && at <= said.size();) {
    const std::size_t end = std::min(said.find(',', at), said.size());
    is_right = read_number(said.substr(at, end - at), routing.shares.emplace_back()) &&
               routing.shares.back() >= 0;
    at = end + 1;
  }
  if (is_right && std::accumulate(routing.shares.begin(), routing.shares.end(), 0.0) > 0)
    return routing;
  throw InputError(Problem{{},
                           {},
                           fmt::format("routing: '{}' is no distribution", text),
                           "write uniform, zipf:S with S from 0 to 10, or a file of shares"});
}

std::string shares_text(const std::string& name, const std::string& text) {
  std::string out;
  std::size_t line = 1;
  bool is_comment = false;
  std::string word;
  double sum = 0;
  const auto end_word = [&] {
    if (word.empty()) return;
    double share = 0;
    if (!read_number(word, share) || share < 0) {
      throw InputError(
          Problem{{},
                  {},
                  fmt::format("{}:{}: '{}' is no share of an expert", name, line, word),
                  "write a number that is not negative for each expert"});
    }
    sum += share;
    out += (out.empty() ? std::string(kShares) : ",") + std::exchange(word, {});
  };
  for (const char c : text) {
    const bool is_end = c == '\n';
    if (is_end || c == ' ' || c == '\t' || c == '\r' || c == ',' || c == '#') {
      end_word();
      is_comment = (is_comment || c == '#') && !is_end;
      line += is_end ? 1 : 0;
    } else if (!is_comment) {
      word += c;
    }
  }
  end_word();
  if (sum > 0) return out;
  throw InputError(Problem{{},
                           {},
                           fmt::format("{}: no expert has a share", name),
                           "write a number for each expert, one of them above 0"});
}

std::vector<std::int64_t> tokens_of_experts(const Routing& routing, std::int64_t tokens,
                                            std::int64_t chosen, std::int64_t experts) {
  const auto count = static_cast<std::size_t>(experts);
  TIDEMARK_CHECK(chosen > 0 && chosen <= experts, "experts that a token chooses");
  TIDEMARK_CHECK(routing.shares.empty() || routing.shares.size() == count, "shares of experts");
  const auto most = static_cast<double>(tokens);
  const double sum = most * static_cast<double>(chosen);
  std::vector<double> amounts = shares_of(routing, count);
  for (double& each : amounts) each *= sum;
  fill_up(amounts, sum, most);
  for (std::size_t i = 0; i < count && count > 1; ++i) {
    // The expected extremes of as many draws. Source: Blom's approximation of order statistics.
    const double place = static_cast<double>(routing.is_rising ? i : count - 1 - i) + 1;
    const double draw = normal_quantile((place - 0.375) / (static_cast<double>(count) + 0.25));
    amounts[i] +=
        draw * std::sqrt(amounts[i] * std::max(0.0, 1 - amounts[i] / std::max(most, 1.0)));
  }
  fill_up(amounts, sum, most);
  std::vector<std::int64_t> whole;
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::int64_t rest = tokens * chosen;
  for (double& each : amounts) {
    whole.push_back(std::min(static_cast<std::int64_t>(each), tokens));
    each -= static_cast<double>(whole.back());
    rest -= whole.back();
  }
  std::ranges::stable_sort(order,
                           [&](std::size_t a, std::size_t b) { return amounts[a] > amounts[b]; });
  while (rest > 0) {
    for (const std::size_t i : order) {
      if (rest == 0) break;
      if (whole[i] == tokens) continue;
      ++whole[i];
      --rest;
    }
  }
  return whole;
}

std::vector<std::int64_t> choices_of_tokens(const Routing& routing, std::int64_t tokens,
                                            std::int64_t chosen, std::int64_t experts) {
  const std::vector<std::int64_t> counts = tokens_of_experts(routing, tokens, chosen, experts);
  std::vector<std::int64_t> choices(static_cast<std::size_t>(tokens * chosen));
  // One after another down the tokens: none gets an expert twice, as no expert has more of them.
  std::int64_t next = 0;
  for (std::size_t expert = 0; expert < counts.size(); ++expert) {
    for (std::int64_t i = 0; i < counts[expert]; ++i, ++next)
      choices[static_cast<std::size_t>(next % tokens * chosen + next / tokens)] =
          static_cast<std::int64_t>(expert);
  }
  return choices;
}

}  // namespace tidemark

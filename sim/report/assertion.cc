#include "sim/report/assertion.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include <fmt/format.h>

#include "sim/base/problem.h"
#include "sim/report/headline.h"

namespace tidemark {

namespace {

/// A figure that claims can be about: one row to add another.
struct Figure {
  std::string_view name;
  bool is_bytes;
  std::uint64_t (*of)(const DeviceResult&);
};

constexpr std::array<Figure, 14> kFigures{{
    {"peak_allocated", true,
     [](const DeviceResult& device) { return device.peak_allocated.bytes; }},
    {"peak_reserved", true, [](const DeviceResult& device) { return device.peak_reserved.bytes; }},
    {"device_total", true,
     [](const DeviceResult& device) { return headline_of(device).device_peak_bytes; }},
    {"device_peak", true,
     [](const DeviceResult& device) { return headline_of(device).device_peak_bytes; }},
    {"total", true, [](const DeviceResult& device) { return device.spec.total_bytes; }},
    {"context", true, [](const DeviceResult& device) { return device.spec.context_bytes; }},
    {"outside", true, [](const DeviceResult& device) { return headline_of(device).outside_bytes; }},
    {"spare", true, [](const DeviceResult& device) { return headline_of(device).spare_bytes; }},
    {"end_allocated", true,
     [](const DeviceResult& device) {
       return static_cast<std::uint64_t>(device.statistics.allocated_bytes.all.current);
     }},
    {"end_reserved", true,
     [](const DeviceResult& device) {
       return static_cast<std::uint64_t>(device.statistics.reserved_bytes.all.current);
     }},
    {"ooms", false,
     [](const DeviceResult& device) { return static_cast<std::uint64_t>(device.ooms.size()); }},
    {"retries", false,
     [](const DeviceResult& device) {
       return static_cast<std::uint64_t>(device.statistics.num_alloc_retries);
     }},
    {"segments", false,
     [](const DeviceResult& device) { return static_cast<std::uint64_t>(device.segments.size()); }},
    {"device_calls", false, [](const DeviceResult& device) { return device.device_calls; }},
}};

constexpr std::array<std::string_view, 6> kRelations{"<=", ">=", "==", "!=", "<", ">"};

__extension__ using Signed = __int128;

bool holds(Signed value, std::string_view relation, Signed bound) {
  if (relation == "<") return value < bound;
  if (relation == "<=") return value <= bound;
  if (relation == ">") return value > bound;
  if (relation == ">=") return value >= bound;
  return (value == bound) == (relation == "==");
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

std::optional<std::uint64_t> parse_count(std::string_view text) {
  std::uint64_t count = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return count;
}

/// "0.9" in millionths. std::nullopt: no such number, or more than six decimals.
std::optional<std::int64_t> parse_factor(std::string_view text) {
  constexpr std::int64_t kMost = 1'000'000'000'000;
  std::int64_t millionths = 0;
  std::int64_t unit = 1'000'000;
  bool has_point = false;
  if (text.empty() || text == ".") return std::nullopt;
  for (const char c : text) {
    const bool is_digit = c >= '0' && c <= '9';
    if (!is_digit && (c != '.' || has_point)) return std::nullopt;
    if (!is_digit) {
      has_point = true;
      continue;
    }
    if (has_point) {
      unit /= 10;
      millionths += (c - '0') * unit;
    } else {
      millionths = millionths * 10 + (c - '0') * unit;
    }
    if (unit == 0 || millionths > kMost) return std::nullopt;
  }
  return millionths;
}

std::string amount(std::uint64_t value, bool is_bytes) {
  return is_bytes ? format_bytes_exact(value) : fmt::format("{}", value);
}

std::string_view without_unit(std::string_view name) {
  for (const std::string_view ending : {"_bytes", ".bytes"}) {
    if (name.size() > ending.size() && name.ends_with(ending))
      return name.substr(0, name.size() - ending.size());
  }
  return name;
}

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  Assertion read() {
    const std::size_t at = text_.find_first_of("<>=!");
    const std::string_view rest = at == std::string_view::npos ? "" : text_.substr(at);
    const auto relation =
        std::find_if(kRelations.begin(), kRelations.end(),
                     [&](std::string_view sign) { return rest.starts_with(sign); });
    if (relation == kRelations.end())
      refuse("no comparison in it", "such as 'peak_reserved < 70GiB'");
    Assertion assertion;
    assertion.text = text_;
    assertion.relation = *relation;
    std::vector<std::string_view> numbers[2];
    assertion.left = sum(text_.substr(0, at), numbers[0]);
    assertion.right = sum(rest.substr(relation->size()), numbers[1]);
    if (!has_figure_) refuse("no figure in it", "such as 'peak_reserved < 70GiB'");
    // What a number is follows from the figures beside it.
    std::vector<Assertion::Term>* sums[2] = {&assertion.left, &assertion.right};
    for (std::size_t side = 0; side < 2; ++side) {
      auto number = numbers[side].begin();
      for (Assertion::Term& term : *sums[side]) {
        if (!term.figure) term.number = constant(*number++);
      }
    }
    return assertion;
  }

 private:
  [[noreturn]] void refuse(std::string message, std::string hint) const {
    Problem problem;
    problem.path = fmt::format("--assert '{}'", text_);
    problem.message = std::move(message);
    problem.hint = std::move(hint);
    throw InputError(std::move(problem));
  }

  /// The terms; numbers that are none of figures in order, to be read when all figures are known.
  std::vector<Assertion::Term> sum(std::string_view text, std::vector<std::string_view>& numbers) {
    std::vector<Assertion::Term> terms;
    std::int64_t sign = 1;
    while (true) {
      const std::size_t end = std::min(text.find_first_of("+-"), text.size());
      std::string_view word = trimmed(text.substr(0, end));
      Assertion::Term term;
      if (const std::size_t times = word.find('*'); times != std::string_view::npos) {
        const std::string_view factor = trimmed(word.substr(0, times));
        const auto millionths = parse_factor(factor);
        if (!millionths) refuse(fmt::format("'{}' is no factor", factor), "such as 0.9 * total");
        term.millionths = *millionths;
        word = trimmed(word.substr(times + 1));
      }
      term.millionths *= sign;
      const bool is_name = !word.empty() && ((word[0] >= 'a' && word[0] <= 'z') || word[0] == '_');
      if (is_name) {
        term.figure = figure(word);
      } else {
        numbers.push_back(word);
      }
      terms.push_back(term);
      if (end == text.size()) return terms;
      sign = text[end] == '-' ? -1 : 1;
      text.remove_prefix(end + 1);
    }
  }

  std::size_t figure(std::string_view name) {
    const auto found = std::find_if(kFigures.begin(), kFigures.end(), [&](const Figure& row) {
      return row.name == name || row.name == without_unit(name);
    });
    if (found == kFigures.end()) {
      const std::string hint = did_you_mean(without_unit(name), assertion_figures());
      refuse(fmt::format("there is no figure '{}'", name),
             hint.empty() ? fmt::format("the figures are {}", fmt::join(assertion_figures(), ", "))
                          : hint);
    }
    if (has_figure_ && is_bytes_ != found->is_bytes)
      refuse("counts and amounts of memory cannot be compared", {});
    has_figure_ = true;
    is_bytes_ = found->is_bytes;
    return static_cast<std::size_t>(found - kFigures.begin());
  }

  std::uint64_t constant(std::string_view text) const {
    const std::optional<std::uint64_t> value = is_bytes_ ? parse_bytes(text) : parse_count(text);
    if (value) return *value;
    refuse(fmt::format("'{}' is no {}", text, is_bytes_ ? "amount of memory" : "count"),
           is_bytes_ ? "such as 70GiB, 512MiB or plain bytes" : "such as 0");
  }

  std::string_view text_;
  bool has_figure_ = false;
  bool is_bytes_ = false;  ///< what the figures so far are
};

/// In millionths.
Signed value_of(const std::vector<Assertion::Term>& terms, const DeviceResult& device) {
  Signed sum = 0;
  for (const Assertion::Term& term : terms) {
    const std::uint64_t value = term.figure ? kFigures[*term.figure].of(device) : term.number;
    sum += static_cast<Signed>(value) * term.millionths;
  }
  return sum;
}

/// "peak_reserved is 110.00 MiB (115343360 bytes), total is ...": each figure once.
std::string found_text(const Assertion& assertion, const DeviceResult& device) {
  std::vector<std::size_t> told;
  std::string text;
  for (const std::vector<Assertion::Term>* terms : {&assertion.left, &assertion.right}) {
    for (const Assertion::Term& term : *terms) {
      if (!term.figure || std::find(told.begin(), told.end(), *term.figure) != told.end()) continue;
      told.push_back(*term.figure);
      const Figure& figure = kFigures[*term.figure];
      text += fmt::format("{}{} is {}", text.empty() ? "" : ", ", figure.name,
                          amount(figure.of(device), figure.is_bytes));
    }
  }
  return text;
}

}  // namespace

std::vector<std::string_view> assertion_figures() {
  std::vector<std::string_view> names;
  names.reserve(std::size(kFigures));
  for (const Figure& figure : kFigures) names.push_back(figure.name);
  return names;
}

Assertion parse_assertion(std::string_view text) { return Reader(text).read(); }

std::vector<std::string> failed_assertions(const std::vector<Assertion>& assertions,
                                           const RunResult& result) {
  std::vector<std::string> lines;
  for (const Assertion& assertion : assertions) {
    for (std::size_t i = 0; i < result.devices.size(); ++i) {
      const DeviceResult& device = result.devices[i];
      if (holds(value_of(assertion.left, device), assertion.relation,
                value_of(assertion.right, device)))
        continue;
      const std::string where = result.devices.size() > 1 ? fmt::format(" on cuda:{}", i) : "";
      lines.push_back(fmt::format("assertion failed: {}: {}{}", assertion.text,
                                  found_text(assertion, device), where));
    }
  }
  return lines;
}

}  // namespace tidemark

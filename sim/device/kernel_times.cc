#include "sim/device/kernel_times.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <tuple>

#include "sim/base/problem.h"
#include "sim/device/cost_model.h"
#include "sim/device/kernel_names.h"

namespace tidemark {

namespace {

constexpr double kPossible = 1.05;   ///< of the peak: clocks are published rounded
constexpr double kBelievable = 3.0;  ///< times slower than the middle
constexpr double kThousand = 1000;

[[noreturn]] void fail(std::string_view name, std::size_t line, std::string message) {
  throw InputError(Problem{{}, fmt::format("{}:{}", name, line), std::move(message), {}});
}

/// The fields of one line of CSV; quotes are undone.
std::vector<std::string> fields_of(std::string_view line) {
  std::vector<std::string> fields(1);
  bool is_quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == '"' && is_quoted && i + 1 < line.size() && line[i + 1] == '"') {
      fields.back() += c;
      ++i;
    } else if (c == '"') {
      is_quoted = !is_quoted;
    } else if (c == ',' && !is_quoted) {
      fields.emplace_back();
    } else if (c != '\r') {
      fields.back() += c;
    }
  }
  return fields;
}

class Table {
 public:
  Table(std::string_view text, std::string_view name) : text_(text), name_(name) { next(); }

  /// The next line; false: there is none.
  bool next() {
    if (text_.empty()) return false;
    const std::size_t end = std::min(text_.find('\n'), text_.size());
    row_ = fields_of(text_.substr(0, end));
    text_.remove_prefix(std::min(end + 1, text_.size()));
    if (line_++ == 0) columns_ = row_;
    return true;
  }

  [[nodiscard]] const std::string& text(std::string_view column) const {
    const auto at = std::ranges::find(columns_, column);
    if (at == columns_.end()) fail(name_, 1, fmt::format("has no column '{}'", column));
    const auto index = static_cast<std::size_t>(at - columns_.begin());
    if (index >= row_.size()) fail(name_, line_, fmt::format("has no '{}'", column));
    return row_[index];
  }

  template <class Number>
  [[nodiscard]] Number number(std::string_view column) const {
    const std::string& word = text(column);
    Number value{};
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error != std::errc{} || end != word.data() + word.size())
      fail(name_, line_, fmt::format("'{}' is no {}", word, column));
    return value;
  }

  template <std::size_t N>
  [[nodiscard]] std::size_t choice(std::string_view column,
                                   const std::array<std::string_view, N>& names) const {
    const auto at = std::ranges::find(names, text(column));
    if (at == names.end())
      fail(name_, line_, fmt::format("'{}' is no known {}", text(column), column));
    return static_cast<std::size_t>(at - names.begin());
  }

 private:
  std::string_view text_;
  std::string_view name_;
  std::vector<std::string> columns_;
  std::vector<std::string> row_;
  std::size_t line_ = 0;
};

bool moves_bytes(CostClass kind) {
  return kind == CostClass::kElementwise || kind == CostClass::kReduction ||
         kind == CostClass::kCopyDeviceToDevice;
}

bool does_arithmetic(CostClass kind) {
  return kind == CostClass::kMatmul || kind == CostClass::kConvolution ||
         kind == CostClass::kAttention;
}

int digits(std::uint64_t number) { return static_cast<int>(std::to_string(number).size()); }

struct Sample {
  const KernelTime* time;
  double share;   ///< of the peak
  double weight;  ///< what it takes at the peak
};

}  // namespace

std::string_view cost_class_name(CostClass kind) {
  return kKernelKinds[static_cast<std::size_t>(kind)];
}
std::string_view cost_precision_name(CostPrecision precision) {
  return kKernelPrecisions[static_cast<std::size_t>(precision)];
}

std::vector<KernelTime> read_kernel_times(std::string_view text, std::string_view name) {
  Table table(text, name);
  std::vector<KernelTime> times;
  while (table.next()) {
    KernelTime each;
    each.cost.kind = static_cast<CostClass>(table.choice("kind", kKernelKinds));
    each.cost.precision = static_cast<CostPrecision>(table.choice("precision", kKernelPrecisions));
    each.cost.flops = table.number<std::uint64_t>("flops");
    each.cost.bytes_moved = table.number<std::uint64_t>("bytes");
    each.op = table.text("op");
    each.by = table.text("by");
    each.ns = table.number<std::int64_t>("ns");
    times.push_back(std::move(each));
  }
  return times;
}

ClassShares shares_of(const std::vector<KernelTime>& times, const DeviceSpec& device) {
  CostModel peak;
  peak.kernel_floor_ns = 0;
  peak.matmul_share = peak.convolution_share = peak.attention_share = peak.plain_share =
      peak.memory_share = 1000;
  const Nanoseconds floor = CostModel{}.kernel_floor_ns;
  ClassShares found;
  std::map<CostClass, std::vector<Sample>> samples;
  for (const KernelTime& each : times) {
    const bool is_library =
        each.by == "cublas" || each.by == "cublaslt" || each.by == "cudnn" || each.by == "pytorch";
    if (!is_library || each.ns < 2 * floor) continue;
    Cost arithmetic = each.cost;
    arithmetic.bytes_moved = 0;
    Cost traffic = each.cost;
    traffic.flops = 0;
    const Nanoseconds computing = kernel_ns(peak, device, arithmetic);
    const Nanoseconds moving = kernel_ns(peak, device, traffic);
    const bool counts = (does_arithmetic(each.cost.kind) && computing > moving) ||
                        (moves_bytes(each.cost.kind) && moving >= computing);
    if (!counts) continue;
    const auto least = static_cast<double>(std::max(computing, moving));
    const double share = least / static_cast<double>(each.ns);
    if (least <= 0) continue;
    if (share > kPossible) {
      found.refused.push_back(fmt::format("{} in {} ns is {:.1f} times as fast as the card's peak",
                                          each.op, each.ns, share));
      continue;
    }
    samples[each.cost.kind].push_back({&each, share, least});
  }
  const auto middle_of = [](const std::vector<Sample>& of) {
    std::vector<WeightedValue> values;
    values.reserve(of.size());
    for (const Sample& each : of) values.push_back({each.share * kThousand, each.weight});
    return weighted_middle(std::move(values));
  };
  for (auto& [kind, all] : samples) {
    const double least = middle_of(all).value / kThousand / kBelievable;
    std::erase_if(all, [&](const Sample& each) {
      if (each.share >= least) return false;
      found.refused.push_back(
          fmt::format("{} in {} ns is {:.1f} times slower than the others of its class",
                      each.time->op, each.time->ns, least * kBelievable / each.share));
      return true;
    });
    const auto count = [](const std::vector<Sample>& of) {
      return static_cast<std::int64_t>(of.size());
    };
    found.by_class.push_back({kind, CostPrecision::kFp32, 0, count(all), middle_of(all)});
    std::map<std::tuple<CostPrecision, int>, std::vector<Sample>> parts;
    for (const Sample& each : all) {
      const Cost& cost = each.time->cost;
      parts[{cost.precision, digits(moves_bytes(kind) ? cost.bytes_moved : cost.flops)}].push_back(
          each);
    }
    for (const auto& [key, part] : parts) {
      found.by_size.push_back(
          {kind, std::get<0>(key), std::get<1>(key), count(part), middle_of(part)});
    }
  }
  return found;
}

}  // namespace tidemark

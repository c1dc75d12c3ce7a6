#include "sim/format/pickle_memo.h"

#include <algorithm>
#include <array>
#include <utility>

namespace tidemark {

namespace {

/// The texts and frames that later entries name lie here.
constexpr std::size_t kFirstPages = 16;
constexpr std::size_t kByteCodes = 256;
/// As many different values and codes of two bytes are hardly less than the values themselves.
constexpr std::size_t kMostDifferent = 700;

std::uint64_t bits_of(PickleValue value) {
  return (static_cast<std::uint64_t>(value.payload()) << 8U) | value.kind();
}

/// Numbers values in the order in which they first come.
class Numbers {
 public:
  /// `most` when there are more than that.
  std::size_t of(PickleValue value, std::vector<PickleValue>& values, std::size_t most) {
    std::size_t slot = static_cast<std::size_t>((bits_of(value) * 0x9e3779b97f4a7c15U) >> 52U);
    for (; slots_[slot] != 0; slot = (slot + 1) % slots_.size()) {
      const std::size_t number = slots_[slot] - 1U;
      if (bits_of(values[number]) == bits_of(value)) return number;
    }
    if (values.size() == most) return most;
    values.push_back(value);
    slots_[slot] = static_cast<std::uint16_t>(values.size());
    return values.size() - 1;
  }

 private:
  std::array<std::uint16_t, 4096> slots_{};  ///< number + 1; 0: empty
};

struct Packed {
  std::vector<PickleValue> values;
  std::vector<std::uint16_t> codes;
};

/// Empty codes: there are more than `most` different values. `series`: the kind that counts up.
Packed packed_values(const std::vector<PickleValue>& given, std::size_t most, int series) {
  Packed out;
  Numbers numbers;
  if (series >= 0) {
    const auto first = std::ranges::find(given, series, &PickleValue::kind);
    out.values.push_back(*first);
  }
  out.codes.reserve(given.size());
  for (const PickleValue value : given) {
    if (value.kind() == series) {
      out.codes.push_back(0);
      continue;
    }
    const std::size_t number = numbers.of(value, out.values, most);
    if (number == most) return {};
    out.codes.push_back(static_cast<std::uint16_t>(number));
  }
  return out;
}

/// The kind of which there are most, all counting up by one; -1: none.
int series_of(const std::vector<PickleValue>& values) {
  struct Seen {
    std::size_t count = 0;
    std::int64_t next = 0;
    bool counts_up = true;
  };
  std::array<Seen, 256> kinds{};
  for (const PickleValue value : values) {
    Seen& seen = kinds[value.kind()];
    seen.counts_up = seen.counts_up && (seen.count == 0 || value.payload() == seen.next);
    seen.next = value.payload() + 1;
    ++seen.count;
  }
  int best = -1;
  for (std::size_t kind = PickleValue::kConsumer; kind < kinds.size(); ++kind) {
    const Seen& seen = kinds[kind];
    if (seen.count > 0 && seen.counts_up &&
        (best < 0 || seen.count > kinds[static_cast<std::size_t>(best)].count)) {
      best = static_cast<int>(kind);
    }
  }
  return best;
}

}  // namespace

std::size_t PickleMemo::code_of(const Page& page, std::size_t at) {
  if (page.codes.size() == kPage) return page.codes[at];
  return page.codes[2 * at] | static_cast<std::size_t>(page.codes[2 * at + 1]) << 8U;
}

void PickleMemo::put_code(Page& page, std::size_t at, std::size_t code) {
  if (page.codes.size() == kPage) {
    page.codes[at] = static_cast<std::uint8_t>(code);
    return;
  }
  page.codes[2 * at] = static_cast<std::uint8_t>(code);
  page.codes[2 * at + 1] = static_cast<std::uint8_t>(code >> 8U);
}

PickleValue PickleMemo::packed(const Page& page, std::size_t at) {
  const std::size_t code = code_of(page, at);
  if (code != 0 || !page.series) return page.values[code];
  const auto until = page.codes.begin() + static_cast<std::ptrdiff_t>(at);
  return {page.values[0].kind(),
          page.values[0].payload() + std::count(page.codes.begin(), until, std::uint8_t{0})};
}

void PickleMemo::set(std::size_t slot, PickleValue value) {
  Page& page = pages_[slot / kPage];
  const std::size_t at = slot % kPage;
  if (page.codes.empty()) {
    page.values[at] = value;
    return;
  }
  if (!page.series || code_of(page, at) != 0) {
    const auto first = page.values.begin() + (page.series ? 1 : 0);
    const auto same = std::find_if(first, page.values.end(), [value](PickleValue each) {
      return bits_of(each) == bits_of(value);
    });
    if (same != page.values.end()) {
      put_code(page, at, static_cast<std::size_t>(same - page.values.begin()));
      return;
    }
  }
  unpack(page);
  page.values[at] = value;
}

void PickleMemo::begin_page() {
  // The last page may still hold containers that are being filled.
  if (pages_.size() > kFirstPages + 1) pack(pages_[pages_.size() - 2]);
  pages_.emplace_back();
  pages_.back().values.reserve(kPage);
  bytes_ += kPage * sizeof(PickleValue) + sizeof(Page);
}

void PickleMemo::pack(Page& page) {
  if (!page.codes.empty()) return;
  Packed packed = packed_values(page.values, kMostDifferent, -1);
  bool series = false;
  if (packed.codes.empty()) {
    const int kind = series_of(page.values);
    if (kind >= 0) packed = packed_values(page.values, kByteCodes, kind);
    if (packed.codes.empty()) return;
    series = true;
  }
  const std::size_t width = packed.values.size() <= kByteCodes ? 1 : 2;
  page.codes.resize(width * kPage);
  page.series = series;
  for (std::size_t i = 0; i < kPage; ++i) put_code(page, i, packed.codes[i]);
  packed.values.shrink_to_fit();
  page.values = std::move(packed.values);
  bytes_ += page.codes.size() + page.values.size() * sizeof(PickleValue);
  bytes_ -= kPage * sizeof(PickleValue);
}

void PickleMemo::unpack(Page& page) {
  std::vector<PickleValue> values;
  values.reserve(kPage);
  for (std::size_t i = 0; i < kPage; ++i) values.push_back(packed(page, i));
  bytes_ -= page.codes.size() + page.values.size() * sizeof(PickleValue);
  bytes_ += kPage * sizeof(PickleValue);
  page = {std::move(values), {}, false};
}

}  // namespace tidemark

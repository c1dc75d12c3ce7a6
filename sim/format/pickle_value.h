#pragma once

#include <cstdint>

namespace tidemark {

/// A value of a pickle while it is being read, eight bytes: plain values themselves, texts by
/// number, and what a PickleConsumer made of a container.
class PickleValue {
 public:
  enum Kind : std::uint8_t {
    kNone,
    kBool,
    kInt,      ///< 56 bits with sign
    kWideInt,  ///< outside 56 bits: the value is not kept
    kFloat,    ///< index for PickleReader::number()
    kText,     ///< index into the Texts
    kDict,     ///< a dict without items (yet)
    kList,     ///< a list or tuple without items (yet)
    kConsumer  ///< from here on: the consumer's own kinds
  };
  constexpr PickleValue() = default;
  constexpr PickleValue(std::uint8_t kind, std::int64_t payload)
      : bits_((static_cast<std::uint64_t>(payload) << 8U) | kind) {}
  [[nodiscard]] constexpr std::uint8_t kind() const {
    return static_cast<std::uint8_t>(bits_ & 0xffU);
  }
  [[nodiscard]] constexpr std::int64_t payload() const {
    return static_cast<std::int64_t>(bits_) >> 8U;
  }
  [[nodiscard]] constexpr bool fresh_container() const {
    return kind() == kDict || kind() == kList;
  }

 private:
  std::uint64_t bits_ = 0;
};
static_assert(sizeof(PickleValue) == 8);

}  // namespace tidemark

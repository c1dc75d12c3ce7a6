#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tidemark {

/// What decides how a run goes on, as a stream of words of which a fingerprint of 128 bits is kept.
/// Things that have an identity are written as numbers in the order in which they are first
/// mentioned, so that states that differ in addresses and request numbers alone have equal images.
class StateImage {
 public:
  struct Digest {
    std::uint64_t low = 0;
    std::uint64_t high = 0;
    friend bool operator==(const Digest&, const Digest&) = default;
  };

  StateImage() : keys_(kFirstSlots), numbers_(kFirstSlots) {}

  void put(std::uint64_t word) {
    low_ = (low_ ^ word) * 0x9e3779b97f4a7c15U;
    low_ ^= low_ >> 32U;
    high_ = std::rotl(high_ + word * 0xbf58476d1ce4e5b9U, 31) * 0x94d049bb133111ebU;
  }
  void put_signed(std::int64_t number) { put(static_cast<std::uint64_t>(number)); }
  void put_real(double number) { put(std::bit_cast<std::uint64_t>(number)); }
  void put_text(std::string_view text) {
    put(text.size());
    for (; !text.empty(); text.remove_prefix(std::min<std::size_t>(8, text.size()))) {
      std::uint64_t word = 0;
      std::memcpy(&word, text.data(), std::min<std::size_t>(8, text.size()));
      put(word);
    }
  }

  /// Writes the number of a thing; true where this is its first mention. Requires: `thing` is not
  /// null and lives as long as the image is written.
  bool mention(const void* thing) { return mention_key(reinterpret_cast<std::uintptr_t>(thing)); }
  /// The same for a request that the program holds.
  bool mention_request(std::uint32_t id) { return mention_key((std::uint64_t{id} << 1U) | 1U); }
  /// Writes the number of a request that the program was to mention; gives up where it did not.
  void put_request(std::uint32_t id) {
    const std::uint32_t number = numbers_[slot_of((std::uint64_t{id} << 1U) | 1U)];
    if (number == 0) give_up("memory that no variable leads to");
    put(number);
  }

  /// There is something that cannot be written: the image equals no other.
  void give_up(std::string_view reason) {
    if (obstacle_.empty()) obstacle_ = reason;
  }
  [[nodiscard]] bool is_whole() const { return obstacle_.empty(); }
  /// What could not be written; empty for a whole image.
  [[nodiscard]] const std::string& obstacle() const { return obstacle_; }
  [[nodiscard]] Digest digest() const { return {low_, high_}; }
  /// The digest of what is written from here on; the numbers of things stay.
  void begin_digest() { low_ = high_ = 0; }
  [[nodiscard]] std::size_t mentioned() const { return count_; }

 private:
  static constexpr std::size_t kFirstSlots = 1024;

  [[nodiscard]] std::size_t slot_of(std::uint64_t key) const {
    const std::size_t mask = keys_.size() - 1;
    std::size_t slot = (key * 0x9e3779b97f4a7c15U >> 20U) & mask;
    while (numbers_[slot] != 0 && keys_[slot] != key) slot = (slot + 1) & mask;
    return slot;
  }
  bool mention_key(std::uint64_t key) {
    const std::size_t slot = slot_of(key);
    const bool is_new = numbers_[slot] == 0;
    if (is_new) {
      keys_[slot] = key;
      numbers_[slot] = ++count_;
    }
    put(numbers_[slot]);
    if (is_new && std::size_t{count_} * 2 > keys_.size()) grow();
    return is_new;
  }
  void grow() {
    std::vector<std::uint64_t> keys(keys_.size() * 4);
    std::vector<std::uint32_t> numbers(keys.size());
    keys.swap(keys_);
    numbers.swap(numbers_);
    for (std::size_t i = 0; i < keys.size(); ++i) {
      if (numbers[i] == 0) continue;
      const std::size_t slot = slot_of(keys[i]);
      keys_[slot] = keys[i];
      numbers_[slot] = numbers[i];
    }
  }

  std::vector<std::uint64_t> keys_;     ///< open addressing
  std::vector<std::uint32_t> numbers_;  ///< from 1; 0: a free slot
  std::uint32_t count_ = 0;
  std::uint64_t low_ = 0;
  std::uint64_t high_ = 0;
  std::string obstacle_;
};

}  // namespace tidemark

#include <algorithm>
#include <cstring>

#include "sim/format/pickle.h"

namespace tidemark {

namespace {

std::uint32_t hash_of(std::string_view text) {
  std::uint64_t hash = 0x9e3779b97f4a7c15U ^ text.size();
  const char* data = text.data();
  std::size_t left = text.size();
  const auto mix = [&hash](std::uint64_t word) {
    const Wide product = static_cast<Wide>(hash ^ word) * 0xd6e8feb86659fd93U;
    hash = static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64U);
  };
  for (; left >= 8; left -= 8, data += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, data, 8);
    mix(word);
  }
  std::uint64_t word = 0;
  std::memcpy(&word, data, left);
  mix(word);
  return static_cast<std::uint32_t>(hash ^ (hash >> 32U));
}

/// Length of the valid UTF-8 character at the front of `text`, 0 when there is none.
std::size_t utf8_length(std::string_view text) {
  const auto byte = [&text](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return 1;
  const std::size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0U) != 0x80) return 0;
  }
  if ((first == 0xe0 && byte(1) < 0xa0) || (first == 0xed && byte(1) > 0x9f) ||
      (first == 0xf0 && byte(1) < 0x90) || (first == 0xf4 && byte(1) > 0x8f)) {
    return 0;
  }
  return length;
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

std::string made_utf8(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    out += length == 0 ? std::string_view("\xef\xbf\xbd") : text.substr(0, length);
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return out;
}

}  // namespace

std::string printable(std::string_view text) {
  constexpr std::size_t kShown = 80;
  std::string out;
  for (const char c : text.substr(0, kShown)) out += c >= ' ' && c < 0x7f ? c : '?';
  if (text.size() > kShown) out += "...";
  return out;
}

Texts::Texts() : slots_(1024) { intern(""); }

std::uint32_t Texts::intern(std::string_view text) {
  const std::uint32_t hash = hash_of(text);
  std::size_t slot = hash & (slots_.size() - 1);
  for (; slots_[slot] != 0; slot = (slot + 1) & (slots_.size() - 1)) {
    const Entry& entry = texts_[slots_[slot] - 1];
    if (entry.hash == hash && std::string_view(entry.data, entry.size) == text)
      return slots_[slot] - 1;
  }
  if (!is_utf8(text)) return intern(made_utf8(text));
  return insert(text, hash, slot);
}

std::uint32_t Texts::insert(std::string_view text, std::uint32_t hash, std::size_t slot) {
  constexpr std::size_t kPageBytes = std::size_t{64} << 10U;
  if (text.size() > page_room_) {
    page_room_ = std::max(kPageBytes, text.size());
    pages_.push_back(std::make_unique<char[]>(page_room_));
    stored_bytes_ += page_room_;
    page_end_ = pages_.back().get() + page_room_;
  }
  char* const place = page_end_ - page_room_;
  std::copy(text.begin(), text.end(), place);
  page_room_ -= text.size();
  const auto id = static_cast<std::uint32_t>(texts_.size());
  texts_.push_back({place, static_cast<std::uint32_t>(text.size()), hash});
  slots_[slot] = id + 1;
  if (texts_.size() * 2 > slots_.size()) grow();
  return id;
}

void Texts::grow() {
  std::vector<std::uint32_t> slots(slots_.size() * 2);
  for (std::uint32_t id = 0; id < texts_.size(); ++id) {
    std::size_t slot = texts_[id].hash & (slots.size() - 1);
    while (slots[slot] != 0) slot = (slot + 1) & (slots.size() - 1);
    slots[slot] = id + 1;
  }
  slots_ = std::move(slots);
}

std::size_t Texts::memory_bytes() const {
  return stored_bytes_ + texts_.capacity() * sizeof(Entry) +
         slots_.capacity() * sizeof(std::uint32_t);
}

}  // namespace tidemark

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

namespace tidemark {

/// Writes a pickle of plain data (protocol 4) with the opcodes that memory_viz understands, each
/// different text once. Containers are written from the outside in; begin and end must pair up.
class PickleWriter {
 public:
  /// Appends to `out`, which must outlive the writer.
  explicit PickleWriter(std::string& out);

  void begin_dict() { open('}'); }
  void end_dict() { out_ += 'u'; }
  void begin_list() { open(']'); }
  void end_list() { out_ += 'e'; }
  void empty_list() { out_ += ']'; }
  void value(std::string_view text);
  void value(const char* text) { value(std::string_view(text)); }
  void value(std::int64_t number);
  void value(std::uint64_t number) { value(static_cast<std::int64_t>(number)); }
  void value(std::uint32_t number) { value(std::int64_t{number}); }
  void value(double number);
  void value(bool claim) { out_ += claim ? '\x88' : '\x89'; }
  void pair(std::uint64_t first, std::uint64_t second);
  template <class T>
  void member(std::string_view key, const T& content) {
    value(key);
    value(content);
  }
  /// Remembers the value just written, a complete container; again() writes it once more, as the
  /// same object.
  [[nodiscard]] std::uint32_t remember();
  void again(std::uint32_t slot);
  void finish() { out_ += '.'; }

 private:
  void open(char opcode) {
    out_ += opcode;
    out_ += '(';
  }
  void little(std::uint64_t number, unsigned bytes);

  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>{}(text);
    }
  };
  std::string& out_;
  std::unordered_map<std::string, std::uint32_t, Hash, std::equal_to<>> texts_;
  std::uint32_t slots_ = 0;
};

}  // namespace tidemark

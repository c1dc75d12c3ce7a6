#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tidemark {

/// Writes JSON as it is told, one value after the other, indented by a space a level. Integers are
/// written exactly; there are no floating-point values, so every build writes the same bytes.
class JsonWriter {
 public:
  /// Appends to `out`, which must outlive the writer.
  explicit JsonWriter(std::string& out) : out_(out) {}

  /// `in_line`: all of it on one line.
  JsonWriter& begin_object(bool in_line = false);
  JsonWriter& end_object();
  JsonWriter& begin_array(bool in_line = false);
  JsonWriter& end_array();
  /// Requires: inside an object; a value follows.
  JsonWriter& key(std::string_view name);
  JsonWriter& value(std::string_view text);
  JsonWriter& value(const char* text) { return value(std::string_view(text)); }
  JsonWriter& value(const std::string& text) { return value(std::string_view(text)); }
  JsonWriter& value(std::uint64_t number);
  JsonWriter& value(std::uint32_t number) { return value(std::uint64_t{number}); }
  JsonWriter& value(std::int64_t number);
  JsonWriter& value(bool claim);
  JsonWriter& null();
  template <class T>
  JsonWriter& member(std::string_view name, const T& content) {
    return key(name).value(content);
  }
  /// Ends the document with a line break. Requires: everything begun was ended.
  void finish();

 private:
  struct Level {
    bool in_line;
    bool empty;
  };
  void separate();
  void end(char bracket);
  void quote(std::string_view text);
  std::string& out_;
  std::vector<Level> levels_;
  bool after_key_ = false;
};

}  // namespace tidemark

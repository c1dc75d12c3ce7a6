#include "sim/format/json_writer.h"

#include <fmt/format.h>

#include "sim/base/check.h"

namespace tidemark {

void JsonWriter::separate() {
  if (after_key_) {
    after_key_ = false;
    return;
  }
  if (levels_.empty()) return;
  Level& level = levels_.back();
  if (!level.empty) out_ += level.in_line ? ", " : ",";
  level.empty = false;
  if (!level.in_line) {
    out_ += '\n';
    out_.append(levels_.size(), ' ');
  }
}

JsonWriter& JsonWriter::begin_object(bool in_line) {
  separate();
  out_ += '{';
  levels_.push_back({in_line || (!levels_.empty() && levels_.back().in_line), true});
  return *this;
}

JsonWriter& JsonWriter::begin_array(bool in_line) {
  separate();
  out_ += '[';
  levels_.push_back({in_line || (!levels_.empty() && levels_.back().in_line), true});
  return *this;
}

void JsonWriter::end(char bracket) {
  TIDEMARK_CHECK(!levels_.empty(), "nothing to end");
  const Level level = levels_.back();
  levels_.pop_back();
  if (!level.in_line && !level.empty) {
    out_ += '\n';
    out_.append(levels_.size(), ' ');
  }
  out_ += bracket;
}

JsonWriter& JsonWriter::end_object() {
  end('}');
  return *this;
}
JsonWriter& JsonWriter::end_array() {
  end(']');
  return *this;
}

JsonWriter& JsonWriter::key(std::string_view name) {
  separate();
  quote(name);
  out_ += ": ";
  after_key_ = true;
  return *this;
}

JsonWriter& JsonWriter::value(std::string_view text) {
  separate();
  quote(text);
  return *this;
}
JsonWriter& JsonWriter::value(std::uint64_t number) {
  separate();
  out_ += fmt::format_int(number).str();
  return *this;
}
JsonWriter& JsonWriter::value(std::int64_t number) {
  separate();
  out_ += fmt::format_int(number).str();
  return *this;
}
JsonWriter& JsonWriter::value(bool claim) {
  separate();
  out_ += claim ? "true" : "false";
  return *this;
}
JsonWriter& JsonWriter::null() {
  separate();
  out_ += "null";
  return *this;
}

void JsonWriter::quote(std::string_view text) {
  out_ += '"';
  for (const char c : text) {
    switch (c) {
      case '"':
        out_ += "\\\"";
        break;
      case '\\':
        out_ += "\\\\";
        break;
      case '\n':
        out_ += "\\n";
        break;
      case '\t':
        out_ += "\\t";
        break;
      case '\r':
        out_ += "\\r";
        break;
      default:
        if (static_cast<unsigned char>(c) < 0x20) {
          out_ += fmt::format("\\u{:04x}", static_cast<unsigned char>(c));
        } else {
          out_ += c;
        }
    }
  }
  out_ += '"';
}

void JsonWriter::finish() {
  TIDEMARK_CHECK(levels_.empty() && !after_key_, "the document is not complete");
  out_ += '\n';
}

}  // namespace tidemark

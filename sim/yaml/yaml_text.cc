#include <fmt/format.h>

#include "sim/yaml/quoted.h"
#include "sim/yaml/yaml.h"

namespace tidemark::yaml {
std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    } else {
      out += c;
    }
  }
  return out + '"';
}

std::string text(const Node& node) {
  std::string out;
  switch (node.kind) {
    case Node::Kind::kNull:
      return "null";
    case Node::Kind::kScalar:
      return node.is_plain() ? node.text : quoted(node.text);
    case Node::Kind::kList:
      for (const Node& item : node.items) out += (out.empty() ? "" : ", ") + text(item);
      return "[" + out + "]";
    case Node::Kind::kMap:
      for (const Entry& entry : node.entries)
        out += (out.empty() ? "" : ", ") + quoted(entry.key) + ": " + text(entry.value);
      return "{" + out + "}";
  }
  return out;
}

}  // namespace tidemark::yaml

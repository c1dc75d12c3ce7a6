#include <fmt/format.h>

#include "sim/yaml/quoted.h"
#include "sim/yaml/yaml.h"

namespace tidemark::lang {
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

std::string yaml_text(const YamlNode& node) {
  std::string out;
  switch (node.kind) {
    case YamlNode::Kind::kNull:
      return "null";
    case YamlNode::Kind::kScalar:
      return node.is_plain() ? node.text : quoted(node.text);
    case YamlNode::Kind::kList:
      for (const YamlNode& item : node.items) out += (out.empty() ? "" : ", ") + yaml_text(item);
      return "[" + out + "]";
    case YamlNode::Kind::kMap:
      for (const YamlEntry& entry : node.entries)
        out += (out.empty() ? "" : ", ") + quoted(entry.key) + ": " + yaml_text(entry.value);
      return "{" + out + "}";
  }
  return out;
}

}  // namespace tidemark::lang

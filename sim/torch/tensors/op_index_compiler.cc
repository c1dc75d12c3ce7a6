// Writes the index of the op table as C++: op_index_compiler OUTPUT.cc. A part of the build: a
// program that starts makes none.
#include <bit>
#include <exception>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "sim/ops/registry.h"
#include "sim/torch/tensors/op_index_table.h"

namespace tidemark::torch {
namespace {

/// The first word of `words`, which keeps the others. Words are apart by one blank.
std::string_view take_word(std::string_view& words) {
  const std::size_t end = words.find(' ');
  const std::string_view word = words.substr(0, end);
  words.remove_prefix(end == std::string_view::npos ? words.size() : end + 1);
  return word;
}

struct Entry {
  std::string_view name;
  std::string_view where;
  std::vector<OpIndexLink> links;
};

class Index {
 public:
  void add(std::string_view where, std::string_view name, const OpIndexLink& link) {
    const std::size_t slot = op_index_slot(entries_, slots_, where, name);
    if (slots_[slot] == 0) {
      entries_.push_back({name, where, {}});
      slots_[slot] = static_cast<std::uint16_t>(entries_.size());
      if (entries_.size() * 2 > kSlots) throw std::length_error("the op table outgrew its index");
    }
    entries_[slots_[slot] - 1U].links.push_back(link);
  }

  [[nodiscard]] std::string code() const {
    std::string links;
    std::string entries;
    std::size_t count = 0;
    for (const Entry& entry : entries_) {
      entries += fmt::format("    {{\"{}\", \"{}\", {}, {}}},\n", entry.name, entry.where, count,
                             entry.links.size());
      count += entry.links.size();
      for (const OpIndexLink& link : entry.links) {
        links += fmt::format("    {{{}, {}, {{{{{}, {}}}, {{{}, {}}}}}}},\n", link.family, link.def,
                             link.releases.from.major, link.releases.from.minor,
                             link.releases.to.major, link.releases.to.minor);
      }
    }
    return fmt::format(
        "// Made from the op table by sim/torch/tensors/op_index_compiler.cc.\n"
        "#include \"sim/torch/tensors/op_index_table.h\"\n\n"
        "namespace tidemark::torch {{\nnamespace {{\n\n"
        "constexpr OpIndexEntry kEntries[] = {{\n{}}};\n"
        "constexpr OpIndexLink kLinks[] = {{\n{}}};\n"
        "constexpr std::uint16_t kSlots[] = {{{}}};\n"
        "constexpr OpIndexTable kTable{{kEntries, kLinks, kSlots}};\n\n"
        "}}  // namespace\n\n"
        "const OpIndexTable& op_index_table() {{ return kTable; }}\n\n"
        "}}  // namespace tidemark::torch\n",
        entries, links, fmt::join(slots_, ", "));
  }

 private:
  static constexpr std::size_t kSlots = 8192;
  std::vector<Entry> entries_;
  std::vector<std::uint16_t> slots_ = std::vector<std::uint16_t>(kSlots, 0);
};

std::string index_code() {
  Index index;
  const auto families = ops::op_families();
  for (std::size_t family = 0; family < families.size(); ++family) {
    for (std::size_t i = 0; i < families[family].size(); ++i) {
      const ops::OpDef& def = families[family][i];
      const std::string_view name = def.signature.substr(0, def.signature.find('('));
      for (std::string_view places = def.where; !places.empty();) {
        index.add(take_word(places), name,
                  {static_cast<std::uint8_t>(family), static_cast<std::uint16_t>(i), def.releases});
      }
    }
  }
  return index.code();
}

}  // namespace
}  // namespace tidemark::torch

int main(int argc, char** argv) {
  if (argc != 2) {
    fmt::print(stderr, "op_index_compiler OUTPUT.cc\n");
    return 2;
  }
  try {
    std::ofstream(argv[1], std::ios::binary) << tidemark::torch::index_code();
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}

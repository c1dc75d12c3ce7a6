#include "sim/yaml/plain_reader.h"

#include <catch2/catch.hpp>
#include <string>

namespace tidemark::yaml {
namespace {

bool same(const SourceSpan& a, const SourceSpan& b) {
  return a.line == b.line && a.column == b.column && a.end_line == b.end_line &&
         a.end_column == b.end_column;
}

bool same(const Node& a, const Node& b) {
  if (a.kind != b.kind || a.style != b.style || a.text != b.text || !same(a.at, b.at) ||
      a.items.size() != b.items.size() || a.entries.size() != b.entries.size())
    return false;
  for (std::size_t i = 0; i < a.items.size(); ++i) {
    if (!same(a.items[i], b.items[i])) return false;
  }
  for (std::size_t i = 0; i < a.entries.size(); ++i) {
    const Entry& x = a.entries[i];
    const Entry& y = b.entries[i];
    if (x.key != y.key || !same(x.key_at, y.key_at) || !same(x.value, y.value)) return false;
  }
  return true;
}

class Nothing final : public PlainSink {
 public:
  void scalar(const PlainMark& /*at*/, std::string_view /*text*/, bool /*is_quoted*/) override {}
  void open(const PlainMark& /*at*/, bool /*is_map*/, bool /*is_flow*/) override {}
  void close() override {}
};

bool is_plain(std::string_view text) {
  Nothing nothing;
  return read_plain(text, nothing);
}

/// What a text is read as, or what is wrong with it.
struct Read {
  Node node;
  std::string problem;
};
template <class Parse>
Read read(const std::string& text, const Parse& parse) {
  Read out;
  try {
    out.node = parse(std::make_shared<const SourceText>(SourceText{"file.yaml", text}));
  } catch (const InputError& error) {
    out.problem = error.what();
  }
  return out;
}

void check_reads_as_the_library(const std::string& text) {
  INFO(text);
  const Read fast = read(text, [](auto source) { return parse(source); });
  const Read whole = read(text, [](auto source) { return parse_whole(source); });
  CHECK(fast.problem == whole.problem);
  CHECK(same(fast.node, whole.node));
}

const std::string kScenario =
    "# A small network.\n"
    "schema_version: 1\n"
    "name: SimpleConv, batches of 64, 8, 32 and 4   # four\n"
    "pytorch: \"2.11\"\n"
    "model: {file: ../models/simple_conv.py, class: SimpleConv, args: {image: 32, x: -1.5}}\n"
    "\n"
    "train:\n"
    "  batch: [64, 8, 32, 4]\n"
    "  # nested\n"
    "  loss: F.cross_entropy(out.view(-1, vocab), y.view(-1))\n"
    "  more:\n"
    "    - 1\n";

}  // namespace

TEST_CASE("a plain document is read without the library, to the same values and places") {
  const std::string plain = kScenario.substr(0, kScenario.find("  more:"));
  CHECK(is_plain(plain));
  check_reads_as_the_library(plain);
  for (const char* text :
       {"\"expandable_segments:True\"", "[1, two, {a: \"b\"}]", "{}", "a: []",
        "a: [Linear(784, 512), ReLU()]\n", "a.b: x y  \n", "a:\n   b: 1\nc: 2"}) {
    CHECK(is_plain(text));
    check_reads_as_the_library(text);
  }
}

TEST_CASE("what is more than plain, or a mistake, is left to the library") {
  for (const char* text : {"a: *b\n",        "a: &b 1\n",          "a: 'b'\n",
                           "a: |\n  text\n", "a: 1\n b: 2\n",      "a: x\n  y\n",
                           "- 1\n",          "a: 1\n---\nb: 2\n",  "a: b: c\n",
                           "a: [1\n",        "a: \"1\" 2\n",       "a: {b}\n",
                           "a:\n",           "a: null\n",          "a: \"\\n\"\n",
                           "a: \xc3\xa4\n",  "\ta: 1\n",           "a: [1, ]\n",
                           "a:1\n",          "a: x#y\n",           "a: 1\nb\n",
                           "\"a\": 1\n",     "a:\n  b: 1\n c: 2\n"}) {
    INFO(text);
    CHECK_FALSE(is_plain(text));
    check_reads_as_the_library(text);
  }
}

TEST_CASE("a text that is broken anywhere is read, or refused, as the library does it") {
  for (std::size_t at = 0; at < kScenario.size(); ++at) {
    for (const char* bit : {" ", "\n", ":", "#", "\"", "{", "]", ", ", "- ", "x: y\n", "'"}) {
      std::string with = kScenario;
      with.insert(at, bit);
      check_reads_as_the_library(with);
    }
    std::string without = kScenario;
    without.erase(at, 1);
    check_reads_as_the_library(without);
  }
}

}  // namespace tidemark::yaml

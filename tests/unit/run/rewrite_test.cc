#include "sim/run/rewrite.h"

#include <fmt/format.h>
#include <catch2/catch.hpp>

using namespace tidemark;

namespace {

std::string rewritten(const std::string& text, const std::vector<Override>& overrides,
                      const std::string& variant = {}, const std::string& folder = "a",
                      const std::string& new_folder = "a") {
  return rewritten_scenario(std::make_shared<const SourceText>(SourceText{"s.yaml", text}),
                            overrides, variant, folder, new_folder);
}

constexpr std::string_view kText = R"yaml(# A comment that stays.
schema_version: 1
device: h100   # this one too
params: {batch_size: 8,
         width: 16}   # over two lines
train:
  batch: batch_size
  optimizer: "AdamW(lr=1e-3)"
  # the loss
  loss: cross_entropy
loop: |
  for step in range(3):
      x = 1

  # the end
)yaml";
constexpr std::string_view kReplaced = R"yaml(# A comment that stays.
schema_version: 1
device: t4   # this one too
params: {batch_size: 8,
         width: 32}   # over two lines
train:
  batch: batch_size
  optimizer: "SGD(lr=0.1)"
  # the loss
  loss: cross_entropy
loop: |
  for step in range(3):
      x = 1

  # the end
)yaml";
constexpr std::string_view kInserted = R"yaml(# A comment that stays.
schema_version: 1
device: {name: h100, total: 24GiB}   # this one too
params: {batch_size: 8,
         width: 16, depth: 4}   # over two lines
allocator: {conf: "expandable_segments:True"}
train:
  batch: batch_size
  optimizer: "AdamW(lr=1e-3)"
  # the loss
  loss: cross_entropy
  accumulate: 2
loop: |
  for step in range(3):
      x = 1

  # the end
)yaml";

}  // namespace

TEST_CASE("A value is replaced where it stands, with all around it left as it is") {
  CHECK(rewritten(std::string(kText),
                  {{"params.width", "32"}, {"optimizer", "\"SGD(lr=0.1)\""}, {"device", "t4"}}) ==
        kReplaced);
}

TEST_CASE("A new key gets a line or a place between the braces, a name becomes a map") {
  CHECK(rewritten(std::string(kText), {{"device.total", "24GiB"},
                                       {"params.depth", "4"},
                                       {"train.accumulate", "2"},
                                       {"allocator.conf", "\"expandable_segments:True\""}}) ==
        kInserted);
}

TEST_CASE("A loop's text stays a block") {
  const std::string out =
      rewritten(std::string(kText), {{"loop", R"("for step in range(9):\n    y = \"two\"\n")"}});
  CHECK(out.substr(out.find("loop:")) == "loop: |\n  for step in range(9):\n      y = \"two\"\n");
}

TEST_CASE("A map in lines of its own moves up beside its key") {
  CHECK(rewritten("device:\n  name: h100\n  total: 24GiB\n\n# below\nname: s\n",
                  {{"device", "a100-sxm-40gb"}}) == "device: a100-sxm-40gb\n\n# below\nname: s\n");
}

TEST_CASE("A variant is put in, variants and sweep stay") {
  CHECK(
      rewritten("device: t4\nparams: {kib: 1}\nvariants: {big: {kib: 64}}\nsweep: {grid: {kib: [1, "
                "2]}}\n",
                {}, "big") ==
      "device: t4\nparams: {kib: 64}\nvariants: {big: {kib: 64}}\nsweep: {grid: {kib: [1, 2]}}\n");
}

TEST_CASE("A value that an alias shares is written anew, leading comments kept") {
  CHECK(rewritten("# mine\na: &x {conf: 1}\nname: *x\n", {{"name.conf", "2"}}) ==
        "# mine\na:\n  conf: 1\nname:\n  conf: 2\n");
}

TEST_CASE("Relative paths lead to the same files from another folder") {
  CHECK(rewritten("device: my/gpu.yaml\nmodel: {file: ../m.py, path: [lib, /abs]}\n", {}, {}, "a/b",
                  "c") ==
        "device: ../a/b/my/gpu.yaml\nmodel: {file: ../a/m.py, path: [../a/b/lib, /abs]}\n");
  CHECK(rewritten("device: h100\nscript: train.py\n", {}, {}, "a", ".") ==
        "device: h100\nscript: a/train.py\n");
  CHECK(rewritten("device: h100\nscript: train.py\n", {}, {}, "a/", "./a") ==
        "device: h100\nscript: train.py\n");
}

TEST_CASE("Every way of writing a value is found again") {
  for (const std::string_view value :
       {"8", "'8'", "'it''s'", "\"a \\\" b\"", "[8, {a: '}'}]", "{a: 1, b: \"#\"}",
        ">\n    folded\n    text", "\n    - 1\n    - 2", "\n    a: 1\n    b: 2", "a plain text"}) {
    const std::string_view blank = value.front() == '\n' ? "" : " ";
    const std::string text =
        fmt::format("# top\ntrain:\n  batch:{}{}\n  # after\n  steps: 3\n", blank, value);
    INFO(text);
    CHECK(rewritten(text, {{"train.batch", "7"}}) ==
          "# top\ntrain:\n  batch: 7\n  # after\n  steps: 3\n");
  }
}

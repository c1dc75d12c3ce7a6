#include <catch2/catch.hpp>

#include <string>

#include "sim/program/event.h"
#include "sim/program/instruction.h"

using namespace tidemark;

TEST_CASE("Label 0 is the empty text, and equal texts have one label") {
  Labels labels;
  CHECK(labels.text(0).empty());
  CHECK(labels.intern("") == 0);
  const LabelId relu = labels.intern("layers.0: relu");
  CHECK(relu == 1);
  CHECK(labels.intern("layers.1: relu") == 2);
  CHECK(labels.intern(std::string("layers.0: ") + "relu") == relu);
  CHECK(labels.size() == 3);
}

TEST_CASE("A label's text stays where it is while others are added") {
  Labels labels;
  const LabelId first = labels.intern("first");
  const std::string_view text = labels.text(first);
  for (int i = 0; i < 10'000; ++i) labels.intern("more " + std::to_string(i));
  CHECK(labels.text(first).data() == text.data());
  CHECK(labels.text(labels.intern("more 9999")) == "more 9999");
}

TEST_CASE("An instruction without a request or a label says so") {
  const Instruction mark;
  CHECK(mark.id == kNoRequest);
  CHECK(mark.label == 0);
  CHECK(mark.pool == 0);
}

TEST_CASE("Every category and every action has a name of its own") {
  CHECK(kCategoryNames[static_cast<std::size_t>(Category::kParameter)] == "parameters");
  CHECK(kCategoryNames[static_cast<std::size_t>(Category::kUnknown)] == "unknown");
  CHECK(action_name(Action::kSegmentAlloc) == "segment_alloc");
  CHECK(action_name(Action::kFreeCompleted) == "free_completed");
  CHECK(action_name(Action::kSnapshot) == "snapshot");
}

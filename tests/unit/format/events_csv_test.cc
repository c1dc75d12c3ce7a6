#include "sim/format/events_csv.h"

#include "sim/base/problem.h"

namespace tidemark {
namespace {

std::string refusal(std::string_view text) {
  try {
    read_events_csv(text, "events.csv");
  } catch (const InputError& e) {
    return render_problems(e.problems());
  }
  return "accepted";
}

TEST_CASE("an event trace is read and written back byte for byte") {
  const std::string text =
      "index,action,address,bytes,stream,id,phase,op\n"
      "0,segment_alloc,35423782961152,2097152,0,,model,to\n"
      "1,alloc,35423782961152,3456,0,0,model,\"fc: linear>addmm [a, \"\"b\"\"]\"\n"
      "2,oom,1024,18446744073709551615,3,1,forward 0,\n";
  const EventTable table = read_events_csv(text, "events.csv");
  REQUIRE(table.events.size() == 3);
  CHECK(table.events[0].id == kNoRequest);
  CHECK(table.events[1].address == 35423782961152U);
  CHECK(table.events[2].action == Action::kOom);
  CHECK(table.events[2].stream == 3);
  CHECK(table.labels.text(table.ops[1]) == "fc: linear>addmm [a, \"b\"]");
  CHECK(table.labels.text(table.phases[2]) == "forward 0");

  EventColumns columns{table.events, {}, {}};
  for (const LabelId id : table.phases) columns.phases.push_back(table.labels.text(id));
  for (const LabelId id : table.ops) columns.ops.push_back(table.labels.text(id));
  std::string written;
  write_events_csv(columns, written);
  CHECK(written == text);
}

TEST_CASE("columns are found by name, unknown ones skipped, and a trace without phases has none") {
  const EventTable table = read_events_csv(
      "id,extra,bytes,action,stream,address,device\r\n7,x,512,alloc,1,4096,2\r\n\r\n",
      "events.csv");
  REQUIRE(table.events.size() == 1);
  CHECK(table.events[0] == Event{.address = 4096,
                                 .bytes = 512,
                                 .id = 7,
                                 .stream = 1,
                                 .action = Action::kAlloc,
                                 .device = 2});
  CHECK(table.phases.empty());
  std::string written;
  write_events_csv({table.events, {}, {}}, written);
  CHECK(written == "index,action,address,bytes,stream,id,device\n0,alloc,4096,512,1,7,2\n");
}

TEST_CASE("an empty table is a header") {
  CHECK(read_events_csv("index,action,address,bytes,stream,id\n", "e").events.empty());
}

TEST_CASE("a file that is no event trace is refused at its first line") {
  CHECK(refusal("") ==
        "events.csv:1:1: error: the file is empty; expected the header line "
        "index,action,address,bytes,stream,id\n");
  CHECK(refusal("action,bytes\nalloc,1\n") ==
        "events.csv:1:1: error: no column 'address' in the header; an event trace starts with "
        "index,action,address,bytes,stream,id\n"
        "    action,bytes\n"
        "    ^~~~~~~~~~~~\n");
  CHECK(refusal("action,action,address,bytes,stream,id\n") ==
        "events.csv:1:8: error: column 'action' stands twice in the header\n"
        "    action,action,address,bytes,stream,id\n"
        "           ^~~~~~\n");
}

TEST_CASE("every bad row is told with its place") {
  CHECK(refusal("index,action,address,bytes,stream,id\n"
                "0,aloc,1,2,0,0\n"
                "1,alloc,1,-2,0,0\n"
                "2,alloc,1,2,70000,0\n"
                "2,alloc,1,2\n"
                "2,\"alloc,1,2,0,0\n"
                "3,alloc,1,2,0,0\n") ==
        "events.csv:2:3: error: action: unknown action 'aloc'; did you mean 'alloc'?\n"
        "    0,aloc,1,2,0,0\n"
        "      ^~~~\n"
        "events.csv:3:11: error: bytes: expected a whole number up to 18446744073709551615, found "
        "'-2'\n"
        "    1,alloc,1,-2,0,0\n"
        "              ^~\n"
        "events.csv:4:13: error: stream: expected a whole number up to 65535, found '70000'\n"
        "    2,alloc,1,2,70000,0\n"
        "                ^~~~~\n"
        "events.csv:5:1: error: expected 6 fields, found 4\n"
        "    2,alloc,1,2\n"
        "    ^~~~~~~~~~~\n"
        "events.csv:6:3: error: this quote has no end on its line\n"
        "    2,\"alloc,1,2,0,0\n"
        "      ^~~~~~~~~~~~~~\n");
}

TEST_CASE("an index out of step is refused: a line is missing or doubled") {
  CHECK(refusal("index,action,address,bytes,stream,id\n1,alloc,1,2,0,0\n") ==
        "events.csv:2:1: error: index: expected 0, found '1'\n"
        "    1,alloc,1,2,0,0\n"
        "    ^\n");
}

}  // namespace
}  // namespace tidemark

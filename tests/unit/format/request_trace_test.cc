#include "sim/format/request_trace.h"

#include <catch2/catch.hpp>

#include "sim/base/problem.h"
#include "sim/format/whole_file.h"

namespace tidemark {
namespace {

RequestTrace read(std::string_view text) {
  const auto source = unzipped(bytes_in_memory(text), "t.tmt");
  return read_request_trace(*source, "t.tmt");
}

std::string problems(std::string_view text) {
  try {
    read(text);
  } catch (const InputError& error) {
    return render_problems(error.problems());
  }
  return "none";
}

constexpr std::string_view kAll =
    "tidemark-trace 1\n"
    "mark step 1, forward\n"
    "alloc 0 1048576\n"
    "alloc 7 4096 stream=1 pool=2\n"
    "use 7 stream=3\n"
    "free 7\n"
    "sync stream=3\n"
    "sync\n"
    "empty_cache\n"
    "reset_peak\n"
    "alloc 7 0\n";

TEST_CASE("a request trace is read and written back") {
  const RequestTrace trace = read(kAll);
  REQUIRE(trace.instructions.size() == 10);
  CHECK(trace.labels.text(trace.instructions[0].label) == "step 1, forward");
  const Instruction& alloc = trace.instructions[2];
  CHECK(alloc.verb == Verb::kAlloc);
  CHECK(alloc.id == 7);
  CHECK(alloc.bytes == 4096);
  CHECK(alloc.stream == 1);
  CHECK(alloc.pool == 2);
  CHECK(trace.instructions[5].verb == Verb::kSync);
  CHECK(trace.instructions[5].stream == 3);
  CHECK(trace.instructions[6].verb == Verb::kSyncDevice);
  std::string text;
  write_request_trace(trace.instructions, trace.labels, text);
  CHECK(text == kAll);
}

TEST_CASE(
    "gzip, comments, blank lines, carriage returns and a missing last line break are accepted") {
  const RequestTrace trace =
      read(gzipped("# made by hand\n\ntidemark-trace 1\r\nalloc 1 5 # five\r\n\r\nfree 1"));
  REQUIRE(trace.instructions.size() == 2);
  CHECK(trace.instructions[0].bytes == 5);
}

TEST_CASE("lines across the reader's buffer are whole") {
  std::string text = "tidemark-trace 1\n";
  for (int id = 0; id < 60000; ++id) text += fmt::format("alloc {} {}\n", id, 1000 + id);
  const RequestTrace trace = read(text);
  REQUIRE(trace.instructions.size() == 60000);
  for (RequestId id = 0; id < 60000; ++id) {
    REQUIRE(trace.instructions[id].id == id);
    REQUIRE(trace.instructions[id].bytes == 1000 + id);
  }
}

TEST_CASE("every problem is told with its place") {
  CHECK(
      problems("tidemark-trace 1\nallok 1 2\nalloc x 2\nalloc 1\nalloc 1 2 stream=70000\nfree 1 "
               "2\nuse 1\n") ==
      "t.tmt:2:1: error: unknown request 'allok'; did you mean 'alloc'?\n    allok 1 2\n    ^~~~~\n"
      "t.tmt:3:7: error: expected ID, an unsigned number, found 'x'\n    alloc x 2\n          ^\n"
      "t.tmt:4:8: error: expected BYTES\n    alloc 1\n           ^\n"
      "t.tmt:5:18: error: a stream is more than 65535\n    alloc 1 2 stream=70000\n                "
      "     ^~~~~\n"
      "t.tmt:6:8: error: unexpected '2'\n    free 1 2\n           ^\n"
      "t.tmt:7:6: error: expected stream=S after the ID\n    use 1\n         ^\n");
  CHECK(problems("tidemark-trace 1\nalloc 1 2\nalloc 1 2\n") ==
        "t.tmt:3:7: error: request 1 is live already; an ID may be used again only after its "
        "free\n    alloc 1 2\n"
        "          ^\n");
  CHECK(problems("tidemark-trace 1\nalloc 1 2 pool=0\n") ==
        "t.tmt:2:11: error: pools count from 1\n    alloc 1 2 pool=0\n              ^~~~~~\n");
}

TEST_CASE("what is no trace is refused") {
  // One problem, however many lines there are.
  CHECK(problems("alloc 1 2\n\nimport torch\nfree x\n") ==
        "t.tmt:1:1: error: this is no recording but text; expected a snapshot that "
        "torch.cuda.memory._dump_snapshot wrote, or a request trace with the first line "
        "'tidemark-trace 1'\n    alloc 1 2\n    ^~~~~~~~~\n");
  // Bytes that are no text are named, and not shown.
  const std::string binary = problems(std::string("\x89\x01\x02\xff\n", 5));
  CHECK(binary.find("binary data of another kind (bytes 89 01 02 ff)") != std::string::npos);
  CHECK(binary.find('\xff') == std::string::npos);
  CHECK(problems(std::string("PK\x03\x04", 4)).find("torch.save()") != std::string::npos);
  CHECK(problems("version https://git-lfs.github.com/spec/v1\n").find("`git lfs pull`") !=
        std::string::npos);
  CHECK(problems("{\"a\": 1}\n").find("no recording but JSON") != std::string::npos);
  CHECK(problems("").find("the file has no first line 'tidemark-trace 1'") != std::string::npos);
  CHECK(problems("tidemark-trace 1\n" + std::string(300000, 'a'))
            .find("the line is longer than 64 KiB: this is no request trace") != std::string::npos);
}

TEST_CASE("ids far apart cost no memory between them") {
  const RequestTrace trace =
      read("tidemark-trace 1\nalloc 4294967294 1\nfree 4294967294\nalloc 4294967294 1\n");
  CHECK(trace.instructions.size() == 3);
  CHECK(problems("tidemark-trace 1\nalloc 4294967295 1\n").find("ID is more than 4294967294") !=
        std::string::npos);
}

}  // namespace
}  // namespace tidemark

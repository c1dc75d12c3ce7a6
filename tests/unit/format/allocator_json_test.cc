#include "sim/format/allocator_json.h"

#include <catch2/catch.hpp>

#include "sim/base/problem.h"
#include "sim/format/json_reader.h"

namespace tidemark {
namespace {

std::string problem_of(std::string_view text) {
  try {
    read_segments_json(text, "s.json");
  } catch (const InputError& error) {
    return error.problems().front().message;
  }
  return "none";
}

TEST_CASE("statistics keep their order and values") {
  const FlatStatistics statistics{{"a.current", -1}, {"b.peak", 85017755648}};
  std::string text;
  write_stats_json(statistics, text);
  CHECK(text == "{\n \"a.current\": -1,\n \"b.peak\": 85017755648\n}\n");
  CHECK(read_stats_json(text, "s.json") == statistics);
  CHECK_THROWS_AS(read_stats_json("{\"a\": 1.5}", "s.json"), InputError);
}

TEST_CASE("the flattened statistics have the keys of their release") {
  AllocatorStatistics statistics;
  statistics.reserved_bytes_by_private_pools.emplace_back(PoolKey{0, 3}, StatArray{});
  CHECK(flatten(statistics, Version{2, 11}).size() == 122);
  CHECK(flatten(statistics, Version{2, 12}).size() == 123);
  CHECK(flatten(statistics, Version{2, 13}).size() == 135);
}

TEST_CASE("segments are one a line, as Python writes them") {
  SegmentInfo segment;
  segment.address = 35423782961152;
  segment.total_bytes = 2097152;
  segment.allocated_bytes = segment.active_bytes = 1024;
  segment.requested_bytes = 1000;
  segment.pool = {0, 2};
  segment.blocks = {
      {35423782961152, 1024, 1000, kNoRequest, BlockState::kActiveAllocated},
      {35423782962176, 2096128, 0, kNoRequest, BlockState::kInactive},
  };
  std::string text;
  write_segments_json(std::vector{segment}, text);
  CHECK(text ==
        "[\n{\"device\": 0, \"address\": 35423782961152, \"total_size\": 2097152, "
        "\"allocated_size\": 1024, \"active_size\": 1024, \"requested_size\": 1000, \"stream\": 0, "
        "\"segment_type\": \"small\", \"segment_pool_id\": [0, 2], \"is_expandable\": false, "
        "\"blocks\": [{\"address\": 35423782961152, \"size\": 1024, \"requested_size\": 1000, "
        "\"state\": \"active_allocated\"}, {\"address\": 35423782962176, \"size\": 2096128, "
        "\"requested_size\": 0, \"state\": \"inactive\"}]}\n]\n");
  CHECK(read_segments_json(text, "s.json") == std::vector{segment});
  std::string none;
  write_segments_json({}, none);
  CHECK(none == "[\n\n]\n");
  CHECK(read_segments_json(none, "s.json").empty());
}

TEST_CASE("segments that lack something are refused") {
  CHECK(problem_of("{}") == "expected an array");
  CHECK(problem_of("[{}]") == "the key 'device' is missing");
  CHECK(problem_of("[{\"device\": true}]") == "'device' is of the wrong kind");
  CHECK(problem_of("[{\"device\": 300}]") == "'device' is out of range");
}

TEST_CASE("JSON is read strictly") {
  const JsonValue value =
      read_json(R"({"a": [1, -2, 18446744073709551615, 1.5e3, true, null, "x\u00e9\n"]})", "j");
  const auto& items = value.find("a")->items;
  REQUIRE(items.size() == 7);
  CHECK(items[1].integer == -2);
  CHECK(items[2].unsigned_integer == 18446744073709551615U);
  CHECK(items[3].real == 1500);
  CHECK(items[6].text == "x\xc3\xa9\n");
  for (const char* bad :
       {"", "{", "[1,]", "{\"a\" 1}", "[01x]", "\"\\q\"", "nul", "[1] 2", "\"a\nb\""}) {
    INFO(bad);
    CHECK_THROWS_AS(read_json(bad, "j"), InputError);
  }
  CHECK_THROWS_AS(read_json(std::string(100, '['), "j"), InputError);
}

}  // namespace
}  // namespace tidemark

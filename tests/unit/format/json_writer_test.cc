#include "sim/format/json_writer.h"

namespace tidemark {
namespace {

TEST_CASE("objects and arrays nest, in lines or on one line") {
  std::string out;
  JsonWriter json(out);
  json.begin_object();
  json.member("a", std::uint64_t{18446744073709551615U});
  json.key("list").begin_array(true).value(true).null().value(std::int64_t{-1}).end_array();
  json.key("rows").begin_array();
  json.begin_object(true).member("x", "1").member("y", std::uint32_t{2}).end_object();
  json.begin_object(true).end_object();
  json.end_array();
  json.key("none").begin_array().end_array();
  json.end_object().finish();
  CHECK(out == R"({
 "a": 18446744073709551615,
 "list": [true, null, -1],
 "rows": [
  {"x": "1", "y": 2},
  {}
 ],
 "none": []
}
)");
}

TEST_CASE("texts are escaped") {
  std::string out;
  JsonWriter(out).value("a\"b\\c\n\t\x01é");
  CHECK(out == "\"a\\\"b\\\\c\\n\\t\\u0001é\"");
}

}  // namespace
}  // namespace tidemark

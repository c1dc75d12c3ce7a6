#include "sim/run/json_schema.h"

#include <array>

namespace tidemark {
namespace {

namespace form = yaml::form;

constexpr std::array<std::string_view, 2> kColours{"red", "blue"};
constexpr yaml::Form kName = form::text("^[a-z]+$");
constexpr yaml::Form kParameter = form::name("^[a-z]+$");
constexpr yaml::Form kCount = form::integer(1).either(kParameter);
constexpr yaml::Field kInnerFields[] = {{"size", form::bytes(), "how large", true}};
constexpr yaml::Map kInner{kInnerFields};
constexpr yaml::Field kFields[] = {
    {"version", form::integer(1, 2), "of the format", true},
    {"share", form::number(0, 1), "a part"},
    {"colour", form::choice(kColours), "of all"},
    {"counts", form::list_of(kCount, 1), "how many"},
    {"inner", form::map(kInner), "more of it"},
    {"names", form::map_of(kName, "^[A-Z]$"), "by letter"},
};
constexpr yaml::Map kMap{kFields};

TEST_CASE("a table of keys becomes a schema: what is not required may be null, as for the reader") {
  CHECK(json_schema(kMap, "Sample") == R"json({
 "$schema": "http://json-schema.org/draft-07/schema#",
 "title": "Sample",
 "type": "object",
 "properties": {
  "version": {
   "description": "of the format",
   "type": "integer",
   "minimum": 1,
   "maximum": 2
  },
  "share": {
   "description": "a part",
   "type": ["number", "null"],
   "minimum": 0,
   "maximum": 1
  },
  "colour": {
   "description": "of all",
   "enum": ["red", "blue", null]
  },
  "counts": {
   "description": "how many",
   "type": ["array", "null"],
   "minItems": 1,
   "items": {
    "anyOf": [
     {
      "type": "integer",
      "minimum": 1
     },
     {
      "type": "string",
      "pattern": "^[a-z]+$"
     }
    ]
   }
  },
  "inner": {
   "description": "more of it",
   "type": ["object", "null"],
   "properties": {
    "size": {
     "description": "how large",
     "type": ["integer", "string"],
     "minimum": 0,
     "pattern": "^[0-9._]+ *([KMGT]iB|[kKMGT]?B)?$"
    }
   },
   "required": ["size"],
   "additionalProperties": false
  },
  "names": {
   "description": "by letter",
   "type": ["object", "null"],
   "propertyNames": {"pattern": "^[A-Z]$"},
   "additionalProperties": {
    "type": ["string", "number", "boolean", "null"],
    "pattern": "^[a-z]+$"
   }
  }
 },
 "required": ["version"],
 "additionalProperties": false
}
)json");
}

}  // namespace
}  // namespace tidemark

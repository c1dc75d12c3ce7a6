#include "sim/base/bytes.h"

#include "sim/base/sim_time.h"

using namespace tidemark;

TEST_CASE("sizes are read in bytes, binary and decimal units") {
  CHECK(parse_bytes("85017755648") == 85017755648U);
  CHECK(parse_bytes("24GiB") == 24U * kGiB);
  CHECK(parse_bytes("24 GiB") == 24U * kGiB);
  CHECK(parse_bytes("1.5GiB") == 1610612736U);
  CHECK(parse_bytes("80GB") == 80000000000U);
  CHECK(parse_bytes("0.5KiB") == 512U);
  CHECK(parse_bytes("21.6GiB") == 23192823398U);  // of 23192823398.4
}

TEST_CASE("sizes that are not whole bytes, negative or too large are refused") {
  for (const char* text :
       {"", "GiB", "-1", "0.3B", "1.2.3", "12 parsecs", "99999999999999999999", "20000000TiB"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_bytes(text).has_value());
  }
}

TEST_CASE("sizes print as PyTorch's messages print them") {
  CHECK(format_bytes(512) == "512 bytes");
  CHECK(format_bytes(1024) == "1024 bytes");
  CHECK(format_bytes(1536) == "1.50 KiB");
  CHECK(format_bytes(20 * kMiB) == "20.00 MiB");
  CHECK(format_bytes(85017755648) == "79.18 GiB");
}

TEST_CASE("a duration at a rate is rounded up and does not overflow") {
  CHECK(duration_at_rate(1, 1'000'000'000) == 1);
  CHECK(duration_at_rate(1024, 3'350'000'000'000) == 1);  // a third of a nanosecond
  CHECK(duration_at_rate(85017755648, 3'350'000'000'000) == 25378435);
}

#include "sim/report/assertion.h"

#include "sim/base/problem.h"

using namespace tidemark;

namespace {

RunResult two_devices() {
  RunResult result;
  result.devices.resize(2);
  for (DeviceResult& device : result.devices) device.spec.total_bytes = 16 * kGiB;
  result.devices[0].peak_reserved.bytes = 3 * kGiB;
  result.devices[1].peak_reserved.bytes = 4 * kGiB;
  result.devices[1].ooms.resize(1);
  return result;
}

std::vector<std::string> failed(const std::string& claim) {
  return failed_assertions({parse_assertion(claim)}, two_devices());
}

std::string refusal(const std::string& claim) {
  try {
    parse_assertion(claim);
  } catch (const InputError& error) {
    return error.what();
  }
  return {};
}

}  // namespace

TEST_CASE("a claim holds where every device meets it") {
  CHECK(failed("peak_reserved <= 4GiB").empty());
  CHECK(failed("peak_reserved<5 GiB").empty());
  CHECK(failed("peak_reserved > 3221225471").empty());
  CHECK(failed("peak_allocated == 0").empty());
  CHECK(failed("retries != 1").empty());
  CHECK(failed("ooms < 2").empty());
}

TEST_CASE("a false claim names the device and what was found") {
  CHECK(failed("peak_reserved < 4GiB") ==
        std::vector<std::string>{"assertion failed: peak_reserved < 4GiB: peak_reserved is 4.00 "
                                 "GiB (4294967296 bytes) on cuda:1"});
  CHECK(failed("ooms == 0") ==
        std::vector<std::string>{"assertion failed: ooms == 0: ooms is 1 on cuda:1"});
  CHECK(failed("peak_reserved >= 5GiB").size() == 2);
}

TEST_CASE("what is no claim is refused with what would be one") {
  CHECK(refusal("peak_reserved 70GiB") ==
        "error: --assert 'peak_reserved 70GiB': no comparison in it; such as 'peak_reserved < "
        "70GiB'\n");
  CHECK(refusal("peak_resrved < 70GiB") ==
        "error: --assert 'peak_resrved < 70GiB': there is no figure 'peak_resrved'; did you mean "
        "'peak_reserved'?\n");
  CHECK(refusal("x < 1") ==
        "error: --assert 'x < 1': there is no figure 'x'; the figures are peak_allocated, "
        "peak_reserved, device_total, device_peak, total, context, outside, spare, end_allocated, "
        "end_reserved, ooms, retries, segments, device_calls\n");
  CHECK(refusal("peak_reserved < 70 lots") ==
        "error: --assert 'peak_reserved < 70 lots': '70 lots' is no amount of memory; such as "
        "70GiB, 512MiB or plain bytes\n");
  CHECK(refusal("ooms == 1KiB") ==
        "error: --assert 'ooms == 1KiB': '1KiB' is no count; such as 0\n");
}

TEST_CASE("both sides may be sums with factors, figures as JSON names them") {
  // Reserved is 3 GiB on one device and 4 on the other, of 16.
  CHECK(failed("peak_reserved.bytes <= 0.25 * total_bytes").empty());
  CHECK(failed("peak_reserved + 12GiB <= total").empty());
  CHECK(failed("2*peak_reserved - peak_reserved < 5GiB + 1").empty());
  CHECK(failed("peak_reserved < 0.25 * total - 512MiB") ==
        std::vector<std::string>{
            "assertion failed: peak_reserved < 0.25 * total - 512MiB: peak_reserved is 4.00 GiB "
            "(4294967296 bytes), total is 16.00 GiB (17179869184 bytes) on cuda:1"});
  CHECK(failed("retries == ooms") ==
        std::vector<std::string>{
            "assertion failed: retries == ooms: retries is 0, ooms is 1 on cuda:1"});
}

TEST_CASE("sums that mean nothing are refused") {
  CHECK(refusal("peak_reserved < 10 * retries") ==
        "error: --assert 'peak_reserved < 10 * retries': counts and amounts of memory cannot be "
        "compared\n");
  CHECK(refusal("half * total > peak_reserved") ==
        "error: --assert 'half * total > peak_reserved': 'half' is no factor; such as 0.9 * "
        "total\n");
  CHECK(refusal("1GiB < 2GiB") ==
        "error: --assert '1GiB < 2GiB': no figure in it; such as 'peak_reserved < 70GiB'\n");
  CHECK(refusal("peak_reserved - < 1") ==
        "error: --assert 'peak_reserved - < 1': '' is no amount of memory; such as 70GiB, 512MiB "
        "or plain bytes\n");
  CHECK(refusal("totl_bytes > 1") ==
        "error: --assert 'totl_bytes > 1': there is no figure 'totl_bytes'; did you mean "
        "'total'?\n");
}

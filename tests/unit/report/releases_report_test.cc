#include "sim/report/releases_report.h"

namespace tidemark {
namespace {

TEST_CASE("releases stand under one another, each against the first") {
  // 110 of 100 MiB is 10 % more; 75 of 100 MiB 25 % less.
  const std::vector<ReleasePeaks> peaks{{{2, 11}, true, 100 * kMiB, 100 * kMiB},
                                        {{2, 6}, false, 110 * kMiB, 100 * kMiB},
                                        {{2, 15}, true, 100 * kMiB, 75 * kMiB}};
  CHECK(releases_text(peaks, {}) ==
        "PyTorch                peak allocated           peak reserved\n"
        "2.11     fits                 100 MiB                 100 MiB\n"
        "2.6      does not fit         110 MiB  +10.0 %        100 MiB        =\n"
        "2.15     fits                 100 MiB        =       75.0 MiB  -25.0 %\n");
}

}  // namespace
}  // namespace tidemark

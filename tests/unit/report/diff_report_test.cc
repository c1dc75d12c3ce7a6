#include "sim/report/diff_report.h"

namespace tidemark {
namespace {

constexpr const char* kA =
    "index,action,address,bytes,stream,id,phase,op\n"
    "0,segment_alloc,4096,2097152,0,,model,to\n"
    "1,alloc,4096,100,0,0,model,to\n"
    "2,alloc,4608,200,0,1,forward 0,fc: linear>addmm\n"
    "3,free_requested,4096,100,0,0,forward 0,Python drops\n";
constexpr const char* kB =
    "index,action,address,bytes,stream,id\n"
    "0,segment_alloc,4096,2097152,0,\n"
    "1,alloc,4096,100,0,0\n"
    "2,alloc,4608,300,0,1\n";

struct Compared {
  EventTable a;
  EventTable b;
  EventDiff diff;
  DiffSide a_side;
  DiffSide b_side;
  Compared(const char* a_text, const char* b_text)
      : a(read_events_csv(a_text, "a")),
        b(read_events_csv(b_text, "b")),
        diff(diff_events(a.events, b.events, {})),
        a_side{"a.csv", &a},
        b_side{"b.csv", &b} {}
};

TEST_CASE("equal traces are one line") {
  const Compared c(kA, kA);
  CHECK(diff_text(c.diff, c.a_side, c.b_side, {}, 4, {}) ==
        "Equal: 4 events, peak reserved 2.00 MiB (2,097,152 bytes)\n");
}

TEST_CASE("the first difference stands between the events around it, totals follow") {
  const Compared c(kA, kB);
  CHECK(diff_text(c.diff, c.a_side, c.b_side, {}, 1, {}) == R"(a  a.csv
b  b.csv

First difference: event 2, differs in bytes
    event  action  bytes  address  stream  id  phase      op
        1  alloc     100     4096       0   0  model      to
 a      2  alloc     200     4608       0   1  forward 0  fc: linear>addmm
 b      2  alloc     300     4608       0   1

2 of 4 events differ, position by position.

Totals                   a         b   b - a
  events                 4         3      -1
  segment_alloc          1         1       =
  alloc                  2         2       =
  free_requested         1         0      -1
  peak reserved   2.00 MiB  2.00 MiB       =
  peak requested     300 B     400 B  +100 B
  end reserved    2.00 MiB  2.00 MiB       =
  end requested      300 B     400 B  +100 B
)");
}

TEST_CASE("where one trace ends, the other's next event is shown") {
  const Compared c(kB, "action,address,bytes,stream,id\nsegment_alloc,4096,2097152,0,\n");
  const std::string text = diff_text(c.diff, c.a_side, c.b_side, {}, 0, {});
  CHECK(text.find("First difference: event 1, b ends here\n") != std::string::npos);
  CHECK(text.find(" a      1  alloc     100     4096       0   0\n") != std::string::npos);
}

TEST_CASE("the JSON form holds both events and every total") {
  const Compared c(kA, kB);
  const std::string json = diff_json(c.diff, c.a_side, c.b_side, {});
  CHECK(json.starts_with("{\n \"schema_version\": 1,\n \"kind\": \"diff\",\n \"a\": \"a.csv\",\n"));
  CHECK(
      json.find(R"("a": {"action": "alloc", "bytes": 200, "address": 4608, "stream": 0, "id": 1, )"
                R"("phase": "forward 0", "op": "fc: linear>addmm"})") != std::string::npos);
  CHECK(json.find(R"("peak_requested_bytes": {"a": 300, "b": 400})") != std::string::npos);
}

TEST_CASE("the CSV form is one row a total") {
  const Compared c(kA, kA);
  CHECK(diff_csv(c.diff).starts_with("total,a,b\nevents,4,4\nsegment_alloc,1,1\n"));
  CHECK(diff_csv(c.diff).ends_with("differing_events,0,0\n"));
}

}  // namespace
}  // namespace tidemark

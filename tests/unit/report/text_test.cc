#include "sim/report/text.h"

namespace tidemark {
namespace {

TEST_CASE("a sparkline shows anything above zero, and the highest value full") {
  const std::vector<Bytes> values{0, 1, 50, 100};
  CHECK(sparkline(values, 100) == " ▁▄█");
  CHECK(sparkline(values, 0) == "    ");
}

TEST_CASE("a share is printed to a tenth of a percent, rounded half up") {
  CHECK(percent(0) == "0.0 %");
  CHECK(percent(123'449) == "12.3 %");
  CHECK(percent(123'500) == "12.4 %");
  CHECK(percent(1'000'000) == "100.0 %");
}

TEST_CASE("amounts have three or four digits, rounded to nearest in whole numbers") {
  CHECK(human_bytes(0) == "0 B");
  CHECK(human_bytes(1023) == "1023 B");
  CHECK(human_bytes(kKiB) == "1.00 KiB");
  CHECK(human_bytes(kMiB - 1) == "1024 KiB");
  CHECK(human_bytes(kMiB) == "1.00 MiB");
  CHECK(human_bytes(20 * kMiB) == "20.0 MiB");
  CHECK(human_bytes(85017755648U) == "79.2 GiB");  // 79.1788
  CHECK(human_bytes(110 * kMiB) == "110 MiB");
  CHECK(human_bytes(~Bytes{0}) == "16.0 EiB");
  CHECK(exact_bytes(20 * kMiB) == "20.0 MiB (20,971,520 bytes)");
  CHECK(exact_bytes(300) == "300 B");
}

TEST_CASE("numbers are grouped by threes") {
  CHECK(grouped(0) == "0");
  CHECK(grouped(999) == "999");
  CHECK(grouped(1000) == "1,000");
  CHECK(grouped(1234567) == "1,234,567");
}

TEST_CASE("texts are cut by characters, not bytes") {
  CHECK(display_width("é→x") == 3);
  CHECK(cut("é→x", 3) == "é→x");
  CHECK(cut("é→xy", 3) == "é→…");
  CHECK(cut("abc", 0).empty());
}

TEST_CASE("a text is wrapped at its words") {
  CHECK(wrapped("one two  three", 10, 2) == "  one two\n  three\n");
  CHECK(wrapped("unbreakable-word x", 6, 1) == " unbreakable-word\n x\n");
  CHECK(wrapped("", 6, 1).empty());
}

TEST_CASE("columns align and lines have no trailing spaces") {
  Table table({Table::Align::kLeft, Table::Align::kRight, Table::Align::kLeft}, 1);
  table.add({"a line of its own that widens no column"});
  table.add({"ab", "1", "x"});
  table.add({"c", "100"});
  table.add({"d", "7", "too long to fit"});
  CHECK(table.text(20) ==
        " a line of its own\n"
        " that widens no\n"
        " column\n"
        " ab    1  x\n"
        " c   100\n"
        " d     7  too long\n"
        "          to fit\n");
}

TEST_CASE("the widest text gives way first, and no number is broken") {
  Table table({Table::Align::kLeft, Table::Align::kRight, Table::Align::kLeft});
  table.add({"change", "peak reserved", "where"});
  table.add({"  one two three four", "1.38 GiB", "configs/models/gpt2.yaml"});
  // The head of a column of numbers breaks between its words: 13 columns become 8.
  CHECK(table.text(40) ==
        "change              peak  where\n"
        "                reserved\n"
        "  one two       1.38 GiB  configs/\n"
        "  three four              models/\n"
        "                          gpt2.yaml\n");
  CHECK(table.text(80) ==
        "change                peak reserved  where\n"
        "  one two three four       1.38 GiB  configs/models/gpt2.yaml\n");
}

TEST_CASE("columns that do not fit follow, each row with its first cell again") {
  Table table({Table::Align::kLeft, Table::Align::kRight, Table::Align::kRight});
  table.add({"name", "bytes", "address"});
  table.add({"weight", "1,024", "35,423,782,961,152"});
  table.add({"bias", "4"});
  CHECK(table.text(28) ==
        "name    bytes\n"
        "weight  1,024\n"
        "bias        4\n"
        "\n"
        "name               address\n"
        "weight  35,423,782,961,152\n");
}

TEST_CASE("colour is only where it is wanted") {
  CHECK(bold("x", {80, false}) == "x");
  CHECK(bold("x", {80, true}) == "\x1b[1mx\x1b[0m");
}

TEST_CASE("a terminal is given nothing that acts on it but our own styles") {
  TextStyle colour;
  colour.colour = true;
  CHECK(for_terminal(bad("no", colour) + "\tfits\n") == bad("no", colour) + "\tfits\n");
  CHECK(for_terminal("\x1b]0;title\x07 \x1b[8m") == "\\x1b]0;title\\x07 \\x1b[8m");
  CHECK(for_terminal("\xc2\x9b"
                     "31m") == "\\u009b31m");
  CHECK(for_terminal("a\xe2\x80\xae"
                     "b") == "a\\u202eb");
  CHECK(for_terminal("fits\room\n") == "fits\\x0doom\n");
  CHECK(for_terminal("\rreading: 3 %\r") == "\rreading: 3 %\r");
  CHECK(for_terminal("größe … 形") == "größe … 形");
}

}  // namespace
}  // namespace tidemark

#include "sim/study/catalogue/catalogue.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <string>
#include <vector>

#include "sim/base/problem.h"
#include "sim/study/catalogue/describe.h"

using namespace tidemark;

namespace {

std::vector<std::string> first_column(const ResultsTable& table) {
  std::vector<std::string> names;
  for (const auto& row : table.rows) names.push_back(row.front().text);
  return names;
}

}  // namespace

TEST_CASE("A catalogue's rows have a cell a column, and a part of a name chooses among them") {
  const auto tables = {device_table, op_table, release_table, optimizer_table, model_table};
  for (const auto table : tables) {
    for (const bool is_for_people : {true, false}) {
      const ResultsTable all = table("", is_for_people);
      REQUIRE(!all.rows.empty());
      for (const auto& row : all.rows) CHECK(row.size() == all.columns.size());
      CHECK_THROWS_AS(table("no such entry", is_for_people), InputError);
    }
  }
  const ResultsTable rtx = device_table("rtx-40", false);
  CHECK(rtx.rows.size() > 5);
  CHECK(rtx.rows.size() < device_table("", false).rows.size());
  for (const std::string& name : first_column(rtx)) CHECK(name.find("rtx-40") != std::string::npos);
}

TEST_CASE("An optimizer is one row for people and a row an option else") {
  CHECK(optimizer_table("AdamW", true).rows.size() == 1);
  CHECK(optimizer_table("AdamW", false).rows.size() > 5);
}

TEST_CASE("A model file's scenario calls it once, and its problems name the options") {
  const auto text = scenario_of_model({.path = "net.py",
                                       .type = "Net",
                                       .arguments = {"width=512"},
                                       .inputs = {"64,3,32,32", "8,128:long"}});
  CHECK(text->text.find("net.py") != std::string::npos);
  CHECK(text->text.find("width") != std::string::npos);
  CHECK(text->text.find("128") != std::string::npos);
  ModelFile wrong{.path = "net.py", .type = "Net", .arguments = {}, .inputs = {"64,three"}};
  CHECK_THROWS_AS(scenario_of_model(wrong), InputError);
}

TEST_CASE("Every model of the zoo is called, and has parameters") {
  const std::vector<ZooModel> zoo = describe_zoo();
  REQUIRE(zoo.size() > 10);
  for (const ZooModel& model : zoo) {
    INFO(model.name);
    CHECK_FALSE(model.model.layers.empty());
    CHECK(model.model.layers.front().module.parameters > 0);
  }
}

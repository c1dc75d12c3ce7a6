#include "sim/run/declared_data.h"

#include "sim/run/literals.h"

namespace tidemark {

void read_declared_data(yaml::Fields& fields, Scenario& scenario) {
  const yaml::Node* node = fields.get("data");
  if (node == nullptr) return;
  if (fields.get("script") == nullptr) {
    fields.report(*node, "data", "it is read by a script, and there is none");
    return;
  }
  scenario.script_env.emplace_back("TIDEMARK_DATA", literal_of(*node, scenario.params));
}

}  // namespace tidemark

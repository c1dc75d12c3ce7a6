#pragma once

#include "sim/cli/command.h"
#include "sim/report/results_report.h"

namespace tidemark::cli {

/// A command that prints a table of what the program knows: devices, models, operators.
struct Catalogue {
  std::string_view name;
  std::string_view summary;
  std::string_view about;
  std::string_view part;  ///< what a word after the command picks
  std::vector<ExampleSpec> examples;
  ResultsTable (*table)(std::string_view part, bool is_for_people);
  /// What people read below the table about one thing, by its whole name; null: nothing.
  std::string (*about_one)(std::string_view name) = nullptr;
};

std::unique_ptr<Command> catalogue_command(Catalogue catalogue);

}  // namespace tidemark::cli

#pragma once

#include <string>
#include <vector>

#include "sim/study/advice/player.h"
#include "sim/study/trial/trial.h"

namespace tidemark {

/// What a program that runs out of memory needs to its end. Nothing here ends at the refused
/// request: each answer comes from playing the whole program.
struct ProgramEnd {
  Need need;
  /// The settings of the grid, the given one among them, in the grid's order.
  struct Played : PlayFigures {
    std::string setting;
  };
  std::vector<Played> settings;
  /// The first of them under which no request is refused to the end.
  [[nodiscard]] const Played* helps() const;
};

/// Errors: as record(). Cost: some thirty plays.
ProgramEnd program_end(const ScenarioSource& source);

}  // namespace tidemark

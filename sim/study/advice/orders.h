#pragma once

#include <string>
#include <vector>

#include "sim/study/trial/trial.h"

namespace tidemark {

/// The steps of a scenario in some order.
struct StepOrder {
  std::string name;                 ///< "as given", "largest first", "shuffled 1"
  std::vector<Override> overrides;  ///< that make the scenario's steps so
};

/// The orders that a scenario's steps can come in, as given first: smallest first, largest first,
/// and `shuffles` drawn ones, always the same; without those that do the same. Steps differ where
/// `train:` lists batches, lengths or image sides, or where a loop or script of the user's goes
/// through a list of at least three numbers: one in `params`, a script's constant, or one that the
/// loop's text spells out. Lists of one length change places together; a step's size is the product
/// of its numbers. Only the first order: no such list, or all its numbers are equal. Errors: as
/// read_scenario().
std::vector<StepOrder> step_orders(const ScenarioSource& source, unsigned shuffles);

}  // namespace tidemark

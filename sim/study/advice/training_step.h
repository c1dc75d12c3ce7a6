#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "sim/study/advice/user_files.h"

namespace tidemark {

/// A place of the user's code that calls backward, with the statements that come to the loss.
struct TrainingStep {
  const UserFile* file = nullptr;
  lang::Seq<lang::Stmt*> body;  ///< the block that all of it stands in
  std::size_t first = 0;        ///< where the forward pass begins; `last` where that is one with it
  std::size_t last = 0;         ///< the statement with the call, or round it
  std::vector<const lang::Expr*> losses;  ///< whose gradients are asked for
  /// The loop or function around the block; null: the module.
  const lang::Stmt* around = nullptr;
};

/// What models are called: X of X.parameters(), X.train() and the like, what wraps one, and what a
/// library's trainer is given. As the text has them: "model", "self.net".
std::set<std::string> model_names(const std::vector<UserFile>& files);

/// All of them, in the order of the text. Requires: `files` outlives what is returned.
std::vector<TrainingStep> training_steps(const std::vector<UserFile>& files);

/// The forward passes within a `with` statement: "torch.autocast(...)". Empty: none can be.
std::vector<FileEdits> forwards_within(const std::vector<UserFile>& files, std::string_view header,
                                       std::string_view import = {});

/// The step taken in `parts` parts of the batch, one after the other, whose gradients add up: each
/// part's loss is divided by their number. Empty: it is not told what the batch is.
std::vector<FileEdits> step_in_parts(const std::vector<UserFile>& files, unsigned parts);

}  // namespace tidemark

#include "sim/cli/catalogue.h"
#include "sim/study/catalogue/catalogue.h"

namespace tidemark::cli {

std::unique_ptr<Command> make_optimizers_command() {
  return catalogue_command(
      {"optimizers",
       "the classes of torch.optim, with their options and defaults",
       "What `optimizer:` of a scenario and torch.optim in code may name. Optimizers of one's "
       "own are classes of the model's text.",
       "only those with this in their name",
       {{"tidemark optimizers", "all"},
        {"tidemark optimizers Adam --format json", "an option a row, for scripts"}},
       &optimizer_table});
}

}  // namespace tidemark::cli

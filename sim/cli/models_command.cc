#include "sim/cli/catalogue.h"
#include "sim/study/catalogue/catalogue.h"

namespace tidemark::cli {

std::unique_ptr<Command> make_models_command() {
  return catalogue_command(
      {"models",
       "the model zoo: what there is, and how many parameters",
       "The models of configs/models, a family a file, as plain torch.nn code that runs "
       "under PyTorch and Tidemark alike. Parameters are those of the arguments shown, which "
       "are the models' own defaults. `tidemark init` makes a scenario of one.",
       "only those with this in their name",
       {{"tidemark models", "the list"},
        {"tidemark models resnet --format csv", "one family, for scripts"}},
       &model_table});
}

}  // namespace tidemark::cli

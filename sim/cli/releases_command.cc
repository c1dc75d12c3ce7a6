#include "sim/cli/catalogue.h"
#include "sim/study/catalogue/catalogue.h"

namespace tidemark::cli {

std::unique_ptr<Command> make_releases_command() {
  return catalogue_command(
      {"releases",
       "what PyTorch's releases do differently",
       "What an operator or library asks of memory in one release and not in another. A scenario "
       "says its release with `pytorch:`; --set pytorch=2.15 tries another. docs/releases.md tells "
       "more.",
       "only those with this in their name",
       {{"tidemark releases", "all"},
        {"tidemark releases cuBLAS", "how the workspaces of products changed"},
        {"tidemark releases --format csv", "a behaviour a row, with its source"}},
       &release_table});
}

}  // namespace tidemark::cli

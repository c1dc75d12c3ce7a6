#include "sim/cli/catalogue.h"
#include "sim/study/catalogue/catalogue.h"

namespace tidemark::cli {

std::unique_ptr<Command> make_devices_command() {
  return catalogue_command(
      {"devices",
       "the GPUs that scenarios may name",
       "Total is what the driver gives programs, context what is gone once a CUDA context "
       "exists, granularity what memory is handed out in. A file of one's own may stand for "
       "a device, or a map that changes one (docs/scenario.md).",
       "only those with this in their id, name or aliases",
       {{"tidemark devices", "all"},
        {"tidemark devices rtx", "those with rtx in their names"},
        {"tidemark devices --format json", "with bandwidth and caches, for scripts"}},
       &device_table});
}

}  // namespace tidemark::cli

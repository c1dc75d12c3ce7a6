#include "sim/cli/catalogue.h"
#include "sim/study/catalogue/catalogue.h"

namespace tidemark::cli {

std::unique_ptr<Command> make_devices_command() {
  return catalogue_command(
      {"devices",
       "the GPUs that scenarios may name",
       "Total is what the driver gives programs: less than what the card is sold with, by "
       "what the driver keeps. Context is what is gone once a CUDA context exists. --device and "
       "scenarios take ids, names as nvidia-smi prints them or as people say them (3090, A100 "
       "80GB) and machines of the clouds (p4d.24xlarge). A file of one's own may stand for a "
       "device, or a map that changes one (docs/scenario.md).",
       "only those that are called so: by id, name, alias, or a cloud's machine",
       {{"tidemark devices", "all"},
        {"tidemark devices rtx", "those with rtx in their names"},
        {"tidemark devices p4d", "the GPUs of a cloud's machines"},
        {"tidemark devices --format json", "with bandwidth, machines and basis, for scripts"}},
       &device_table});
}

}  // namespace tidemark::cli
